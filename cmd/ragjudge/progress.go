package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// plainEvery is the time between two progress lines where there is no terminal.
const plainEvery = 30 * time.Second

// spending is what progress shows beside the rows.
type spending struct {
	calls, hits, limited int
	costUSD              float64
	priced               bool // false: some of the cost is not known
}

// progress shows how far a run is: a bar on a terminal, lines elsewhere.
// Whatever else is written to the terminal meanwhile goes through Write.
type progress struct {
	total   int // rows to do in this execution
	started time.Time
	rows    atomic.Int64
	spent   func() spending

	w    io.Writer
	bars *mpb.Progress // nil: plain lines, or none
	bar  *mpb.Bar
	quit chan struct{}
	wg   sync.WaitGroup
}

// startProgress shows progress on w until Stop. The mode is auto, bar, plain or
// none; auto is a bar if w is a terminal.
func startProgress(w io.Writer, mode string, total int, spent func() spending) *progress {
	p := &progress{total: total, started: time.Now(), spent: spent, w: w, quit: make(chan struct{})}
	if mode == "auto" {
		mode = "plain"
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			mode = "bar"
		}
	}
	switch mode {
	case "bar":
		p.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(200*time.Millisecond), mpb.WithAutoRefresh())
		// A bar that is made with a total ends by itself when it is reached, and
		// what is written above it after that is lost.
		p.bar = p.bars.New(0, mpb.BarStyle().Rbound("|").Lbound("|"),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d rows ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + p.status() })))
		p.bar.SetTotal(int64(total), false)
	case "plain":
		p.wg.Go(p.lines)
	}
	return p
}

// Row counts one finished row.
func (p *progress) Row() {
	p.rows.Add(1)
	if p.bar != nil {
		p.bar.Increment()
	}
}

// Stop ends the display and waits for it.
func (p *progress) Stop() {
	close(p.quit)
	if p.bars != nil {
		p.bar.Abort(false)
		p.bars.Wait()
	}
	p.wg.Wait()
}

// Write puts text, such as a log line, above the bar.
func (p *progress) Write(b []byte) (int, error) {
	if p.bars != nil {
		if n, err := p.bars.Write(b); err == nil {
			return n, nil
		}
	}
	return p.w.Write(b)
}

func (p *progress) lines() {
	tick := time.NewTicker(plainEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			fmt.Fprintf(p.w, "%d of %d rows, %s\n", p.rows.Load(), p.total, p.status())
		}
	}
}

// status is the text beside the count: rate, time left, calls and money.
func (p *progress) status() string {
	s, done := p.spent(), p.rows.Load()
	elapsed := time.Since(p.started)
	out := fmt.Sprintf("%.1f rows/s", float64(done)/max(elapsed.Seconds(), 0.001))
	if done > 0 {
		left := time.Duration(float64(elapsed) / float64(done) * float64(int64(p.total)-done))
		out += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	out += fmt.Sprintf(", %d calls, %d cache hits", s.calls, s.hits)
	switch {
	case !s.priced:
		out += ", cost not known"
	case s.costUSD > 0:
		out += fmt.Sprintf(", $%.4f", s.costUSD)
		if done > 0 {
			out += fmt.Sprintf(" of about $%.4f", s.costUSD/float64(done)*float64(p.total))
		}
	}
	if s.limited > 0 {
		out += fmt.Sprintf(", %d times rate-limited", s.limited)
	}
	return out
}
