package llm

import "math"

// slots bounds how many calls are in flight, by additive increase and
// multiplicative decrease as TCP does: it starts small and doubles with each
// round of replies until the first refusal, then probes slowly. What counts as
// evidence for more is only a first try that was answered while all slots were
// taken.
//
// It is not safe for concurrent use.
type slots struct {
	limit  float64 // the configured maximum
	n      float64 // the slots of now; the whole part counts
	slow   float64 // the number above which growth is slow
	active int
	before float64 // the slots before the last decrease; 0 for none
}

const (
	// startSlots is where a run starts, unless many calls are allowed: who allows
	// manySlots or more expects a server that stands half of them, up to mostStart.
	// What the first call's headers tell is known by then.
	startSlots = 8
	manySlots  = 128
	mostStart  = 128
	// decrease is what a refusal leaves of the calls that were in flight.
	decrease = 0.7
	// probe is the growth of a round, as a share of the slots.
	probe = 0.05
)

func newSlots(limit int) slots {
	l := float64(limit)
	start := min(startSlots, l)
	if limit >= manySlots {
		start = min(math.Floor(l/2), mostStart)
	}
	return slots{limit: l, n: start, slow: l}
}

func (s *slots) count() int { return int(s.n) }

func (s *slots) full() bool { return s.active >= s.count() }

// grow is called at each reply that shows that there is room, and reports
// whether the number of slots changed.
func (s *slots) grow() bool {
	before := s.count()
	if s.n < s.slow {
		s.n += max(1, s.limit/manySlots)
	} else {
		s.n += max(1, s.slow*probe) / s.n
	}
	s.n = min(s.n, s.limit)
	return s.count() != before
}

// fewSlots is a number of calls in flight that says nothing about the server:
// from one slot it is reached after a few answers.
const fewSlots = 4

// canShrink reports whether fewer calls in flight may be the answer to a
// refusal. They are not where there is only one, or where there was only one
// after the last refusal and that did not help.
func (s *slots) canShrink(flight int) bool {
	return flight > 1 && (flight > fewSlots || s.slow >= 2)
}

// shrink is called once per burst of refusals, with the number of calls that
// were in flight.
func (s *slots) shrink(flight int) {
	s.before = s.n
	s.n = max(1, min(s.n, float64(flight))*decrease)
	s.slow = s.n
}

// restore undoes the last decrease: it was not the number of calls in flight
// that was refused. It reports whether the number of slots changed.
func (s *slots) restore() bool {
	before := s.count()
	s.n = max(s.n, s.before)
	s.slow = max(s.slow, s.n)
	return s.count() != before
}
