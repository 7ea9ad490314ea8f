package llm

import (
	"math"
	"time"
)

const (
	// pacing is the share of a limit that is used. The rest is room for what
	// can't be known here: how long each request travels, so how close together
	// they arrive, and how many tokens those in flight will take.
	pacing = 0.985
	// burst is the part of a limit per minute that may be caught up with in one
	// instant, after the callers were slower than the limit: what half a second
	// gives, because servers often enforce such a limit by the second.
	burst = 0.5 / 60
	// windowSpan is the time in which a limit holds: a minute, and a little
	// because a request arrives later than it was let go.
	windowSpan = 60*time.Second + 500*time.Millisecond
	// windowShare is the share of a limit of tokens that a window may hold: what
	// the calls in flight take is only estimated.
	windowShare = 0.995
)

// rate keeps one amount (requests or tokens) within a limit per minute, for a
// server of any kind: it spreads the amount evenly, as a server with a bucket
// asks, and never lets more than the limit go within any minute, as one with a
// fixed or sliding window does.
//
// It is not safe for concurrent use.
type rate struct {
	// limit is the amount per minute; 0 for no limit.
	limit float64
	// whole says that the amount comes in units, so that a window may hold the
	// next whole number: 2.5 a minute is 3 in some minutes.
	whole bool
	// level is what may be taken at the time at. It falls below 0 when more is
	// taken than a burst, and has to be made up for before the next.
	level  float64
	at     time.Time
	recent window
}

// set changes the limit. What was taken before still counts.
func (r *rate) set(limit float64, now time.Time) {
	r.refill(now)
	if r.limit == 0 {
		r.limit, r.level = limit, math.Inf(1)
	}
	r.limit = limit
	r.level = min(r.level, r.burst())
}

// burst returns the most that may have been saved up.
func (r *rate) burst() float64 {
	if r.whole {
		return max(1, r.limit*burst)
	}
	return 2 * r.limit * burst // requests of uneven size need more room
}

func (r *rate) perSecond() float64 { return r.limit * pacing / 60 }

func (r *rate) refill(now time.Time) {
	if d := now.Sub(r.at); d > 0 {
		r.level = min(r.level+d.Seconds()*r.perSecond(), r.burst())
		r.at = now
	}
}

// wait returns how long n must wait; 0 if it may go. An n above the whole
// limit may go once nothing else went for a minute.
func (r *rate) wait(n float64, now time.Time) time.Duration {
	if r.limit == 0 {
		return 0
	}
	r.refill(now)
	limit := r.limit * windowShare
	if r.whole {
		limit = math.Ceil(r.limit - 1e-9)
	}
	d := r.recent.wait(n, limit, now)
	if lack := min(n, r.burst()) - r.level; lack > 1e-9 {
		d = max(d, time.Duration(math.Ceil(lack/r.perSecond()*1e9)))
	}
	return d
}

// take takes n and returns its number for correct.
func (r *rate) take(n float64, now time.Time) uint64 {
	if r.limit > 0 {
		r.refill(now)
		r.level -= n
	}
	return r.recent.add(n, now)
}

// correct says that what was taken as n is really m.
func (r *rate) correct(id uint64, n, m float64) {
	if r.limit > 0 {
		r.level = min(r.level+n-m, r.burst())
	}
	r.recent.change(id, m)
}

// forget takes a refused request out of the window, where the server doesn't
// have it either, but gives nothing back: the server had less left than thought.
func (r *rate) forget(id uint64) { r.recent.change(id, 0) }

// admit makes room for one at a time when the server said that there will be
// some: its windows may begin at another moment than ours.
func (r *rate) admit(at time.Time) {
	limit := math.Ceil(r.limit - 1e-9)
	w := &r.recent
	sum := w.sum
	for i := w.head; i < len(w.entries) && sum > limit-1; i++ {
		e := &w.entries[i]
		sum -= e.n
		if at.Sub(e.at) < windowSpan {
			w.sum -= e.n
			e.n = 0
		}
	}
}

// atMost lowers what may be taken now to what the server says remains.
func (r *rate) atMost(remaining float64, now time.Time) {
	r.refill(now)
	r.level = min(r.level, remaining)
}

// window holds what was taken within the last windowSpan, oldest first.
type window struct {
	entries []taken
	head    int    // index of the oldest entry that still counts
	first   uint64 // number of entries[0]
	sum     float64
}

type taken struct {
	at time.Time
	n  float64
}

func (w *window) add(n float64, now time.Time) uint64 {
	w.prune(now)
	w.entries = append(w.entries, taken{now, n})
	w.sum += n
	return w.first + uint64(len(w.entries)) - 1
}

// change sets the amount of an entry, unless it is too old to count.
func (w *window) change(id uint64, n float64) {
	if id < w.first+uint64(w.head) {
		return
	}
	e := &w.entries[id-w.first]
	w.sum += n - e.n
	e.n = n
}

func (w *window) prune(now time.Time) {
	for w.head < len(w.entries) && now.Sub(w.entries[w.head].at) >= windowSpan {
		w.sum -= w.entries[w.head].n
		w.head++
	}
	if w.head == len(w.entries) {
		w.sum = 0 // also drops the rounding errors
	}
	if w.head > 64 && w.head > len(w.entries)/2 {
		w.first += uint64(w.head)
		w.entries = w.entries[:copy(w.entries, w.entries[w.head:])]
		w.head = 0
	}
}

// wait returns how long n must wait until it fits limit together with what
// went before it.
func (w *window) wait(n, limit float64, now time.Time) time.Duration {
	w.prune(now)
	room := max(limit-n, 0) * (1 + 1e-9)
	sum := w.sum
	var d time.Duration
	for _, e := range w.entries[w.head:] {
		if sum <= room+1e-6 {
			break
		}
		sum -= e.n
		d = windowSpan - now.Sub(e.at)
	}
	return d
}
