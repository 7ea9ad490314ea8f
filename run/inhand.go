package run

import (
	"sync"
	"time"
)

// bookEvery is how often it is looked for rows in hand that have spent more, and
// bookAgain how long one row is left alone afterwards, so that a row of many
// calls does not fill the journal.
const (
	bookEvery = 500 * time.Millisecond
	bookAgain = 2 * time.Second
)

// inHand holds the rows that were begun and are not finished. What they have
// spent goes into the journal now and then: a process that is killed has paid for
// it, and the next one finds their replies in the cache and sees no cost there.
// With batches that is the greater part of all that is spent.
type inHand struct {
	mu   sync.Mutex
	rows map[int]*begun
}

// begun is a row in hand.
type begun struct {
	cost   func() Usage
	parts  func() []Part
	booked int       // attempts and calls, when it was last booked
	at     time.Time // of that
}

func (h *inHand) begin(row int, cost func() Usage, parts func() []Part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows[row] = &begun{cost: cost, parts: parts}
}

func (h *inHand) end(row int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.rows, row)
}

// book writes what rows have spent so far to the journal, those that have spent
// more since they were booked.
func (h *inHand) book(j *journal, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	some := false
	for row, b := range h.rows {
		if now.Sub(b.at) < bookAgain {
			continue
		}
		u := b.cost()
		n := u.Attempts + u.Calls
		if n == b.booked {
			continue
		}
		b.booked, b.at, some = n, now, true
		parts := b.parts()
		if len(parts) > 0 { // a call may have ended since
			u = Usage{}
			for _, p := range parts {
				u = u.Add(p.Usage)
			}
		}
		if err := j.line(entry{Row: row, Usage: &u, Parts: parts, SoFar: true}); err != nil {
			return j.wrap(err)
		}
	}
	if !some {
		return nil
	}
	if err := j.w.Flush(); err != nil {
		return j.wrap(err)
	}
	return nil
}
