package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ragjudge/ragjudge/cache"
	"github.com/ragjudge/ragjudge/config"
)

// leaseShare is the part of the day's bound by which a process books ahead, so
// that not every call has to: what a process that is killed has booked ahead
// counts as spent.
const leaseShare = 0.01

// bookAhead is the same in US dollars where there is no bound.
const bookAhead = 0.05

// dayBook books what this process spends in the ledger that all runs with one
// cache folder share. Its amounts are in US dollars, of this process alone. It is
// safe for concurrent use.
type dayBook struct {
	ledger *cache.Ledger
	holder string
	most   float64 // of the day; 0 sets no bound
	log    *slog.Logger
	now    func() time.Time

	mu     sync.Mutex
	day    string
	base   float64 // spent before the day began
	booked float64 // of the day
	failed bool
}

// openDayBook opens the ledger. Without a bound on the day a ledger that can't be
// opened is no error: there is none then, and nil is returned.
func (a *app) openDayBook(cfg *config.Config, dir string, log *slog.Logger) (*dayBook, error) {
	folder, from := a.cacheDir(cfg)
	l, err := cache.OpenLedger(filepath.Join(folder, cache.LedgerName))
	if err != nil {
		if cfg.Limits.MaxCostPerDay > 0 {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("keep what is spent in a day (%s): %w", from, err),
				hint: "name a folder that can be written with --cache-dir, or leave --max-cost-per-day out"}
		}
		log.Debug("what is spent in a day is not kept", "error", err)
		return nil, nil
	}
	now := time.Now()
	return &dayBook{ledger: l, most: cfg.Limits.MaxCostPerDay, log: log, now: time.Now,
		holder: fmt.Sprintf("%s %d %s", dir, os.Getpid(), now.UTC().Format(time.RFC3339Nano))}, nil
}

// lease fits llm.BudgetConfig.
func (d *dayBook) lease(spent, most float64) float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn(spent)
	want := most - d.base
	for _, ahead := range []float64{d.ahead(), 0} {
		if d.book(want + ahead) {
			break
		}
	}
	return d.base + d.booked
}

// note books what was spent where no bound asks for a lease.
func (d *dayBook) note(spent float64) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn(spent)
	if spent-d.base > d.booked {
		d.book(spent - d.base + d.ahead())
	}
}

func (d *dayBook) ahead() float64 {
	if d.most > 0 {
		return d.most * leaseShare
	}
	return bookAhead
}

// turn begins a new day, if it is one: the old one is settled.
func (d *dayBook) turn(spent float64) {
	today := d.now().UTC().Format(time.DateOnly)
	if today == d.day {
		return
	}
	if d.day != "" {
		d.book(spent - d.base)
		d.base = spent
	}
	d.day, d.booked = today, 0
}

// book sets this process's amount of the day. A ledger that fails grants nothing
// where there is a bound.
func (d *dayBook) book(usd float64) bool {
	_, ok, err := d.ledger.Book(context.Background(), d.day, d.holder, max(usd, 0), d.most)
	if err != nil && !d.failed {
		d.failed = true
		d.log.Warn("what is spent in a day can't be kept", "error", err)
	}
	if ok {
		d.booked = max(usd, 0)
	}
	return ok
}

// settle books what was really spent, and lets go of the ledger.
func (d *dayBook) settle(spent float64) error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn(spent)
	if spent > d.base || d.booked > 0 {
		d.book(spent - d.base)
	}
	return d.ledger.Close()
}
