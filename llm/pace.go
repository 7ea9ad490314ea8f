package llm

import (
	"math"
	"time"
)

// pace is a limit per minute that the limiter finds by itself, for a server
// that refuses and tells no number. It keeps a bracket: lo was kept for a whole
// minute without a refusal, hi was refused. Between them it halves the distance;
// when they are close it stays at lo, and tries a little more than hi only after
// a quiet time that doubles with each try that is refused, since at three
// requests a minute every such refusal is a call in a minute.
//
// It is not safe for concurrent use.
type pace struct {
	// unit is the least step worth taking: a request, or the tokens of one.
	unit  float64
	limit float64 // 0: no limit of our own
	lo    float64 // 0: not known
	hi    float64 // 0: not known
	// seen is what was taken in the minute before the refusal that set limit
	// alone; 0 where something else did.
	seen     float64
	kept     bool          // lo was known once
	begun    time.Time     // when the pace was first set
	since    time.Time     // of the last change
	quietAt  time.Time     // of the last refusal, or try that went well
	quiet    time.Duration // from quietAt to the next try above hi
	answered float64       // amount answered since the last change
	climbAt  time.Time     // of a try that goes on; zero for none
	grownAt  time.Time
	noted    float64 // limit when it was last logged as raised
}

const (
	// minPace bounds what refusals alone can lower the pace to: a storm of them
	// says that the server is down, not that it takes a call an hour.
	minPace = 1
	// close is the width of the bracket, as a share, that is left as it is. With
	// pacing it keeps the use above 97 %.
	closeShare = 0.03
	// A refusal soon after a change shows a larger excess than one that was
	// long in coming: a bucket that is emptied slowly.
	soonDecrease, lateDecrease = 0.93, 0.97
	searchDecrease             = 0.8
	lateAfter                  = 3 * time.Minute
	// holdTime is how long a pace is kept before it counts as safe, in which
	// most of what it allows has to be used.
	holdTime  = time.Minute
	holdShare = 0.7
	// The quiet time before the first try above hi: long enough that its
	// refusal is one call of quietCalls, within bounds.
	quietCalls         = 400
	minQuiet, maxQuiet = time.Minute, 4 * time.Hour
	firstQuiet         = 4 * time.Minute
	// searchDoubles is the time in which the pace doubles where no bound above
	// is known.
	searchDoubles = 30 * time.Second
)

// begin sets the first pace: what was taken in the last minute. Exact says that
// the refusal shows that one more was too many; otherwise the bound above is
// still to be found.
func (p *pace) begin(now time.Time, seen float64, exact bool) {
	*p = pace{unit: p.unit, limit: max(seen, p.least()), begun: now, since: now, quietAt: now, grownAt: now}
	if exact {
		p.seen, p.hi = seen, p.limit+p.unit
	}
	p.quiet = min(max(time.Duration(quietCalls*p.unit/p.limit*float64(time.Minute)), minQuiet), firstQuiet)
}

func (p *pace) least() float64 { return minPace * p.unit }

// lower sets a lower pace after a refusal of what was in force; seen is what
// was taken in the last minute.
func (p *pace) lower(now time.Time, seen float64) {
	was, climbed := p.limit, !p.climbAt.IsZero()
	step := was * soonDecrease
	if now.Sub(p.since) > lateAfter {
		step = was * lateDecrease
	}
	p.seen = 0
	if p.hi == 0 { // it rose too fast for the last minute to say much
		seen = max(seen, was*searchDecrease)
	}
	switch lower := max(min(seen, step), was/2); {
	case climbed: // the server may take more than before, if not that much
		p.limit = max(p.lo, lower)
		p.quiet = min(2*p.quiet, maxQuiet)
		if p.limit > p.lo || p.hi == 0 {
			p.hi = was
		}
	case p.lo > 0 && was > p.lo*(1+1e-9):
		p.limit = p.lo
		p.hi = was
	default:
		p.lo, p.hi = 0, was
		p.limit = lower
	}
	p.limit = max(p.limit, p.least())
	p.hi = max(p.hi, p.limit+p.unit)
	p.climbAt = time.Time{}
	p.since, p.quietAt, p.answered = now, now, 0
}

// settle takes n, which was refused too, out of what the first pace was made of.
func (p *pace) settle(n float64) bool {
	if p.seen == 0 || p.lo > 0 {
		return false
	}
	p.seen -= n
	p.limit = max(p.seen, p.least())
	p.hi = p.limit + p.unit
	return true
}

// grow is called when n was answered at the first try while others wait, and
// raises the pace if it is time. It returns why, or "".
func (p *pace) grow(now time.Time, n float64) (why string) {
	if p.limit == 0 {
		return ""
	}
	p.answered += n
	d := min(now.Sub(p.grownAt), searchDoubles)
	p.grownAt = now
	switch {
	case !p.climbAt.IsZero():
		return p.climb(now, d)
	case p.hi == 0:
		p.limit *= math.Exp2(float64(d) / float64(searchDoubles))
		p.since = now
		return "no refusal yet tells the limit"
	case now.Sub(p.since) < holdTime || p.answered < holdShare*p.limit:
		return ""
	}
	p.lo, p.seen, p.kept = max(p.lo, p.limit), 0, true
	switch {
	case p.hi-p.lo > max(p.lo*closeShare, p.unit*1.01):
		p.limit = (p.lo + p.hi) / 2
		p.since, p.answered = now, 0
		return "kept for a minute without a refusal"
	case now.Sub(p.quietAt) >= p.quiet:
		p.limit = max(p.hi, p.lo*(1+closeShare))
		p.climbAt, p.since, p.answered = now, now, 0
		return "a try, after " + p.quiet.String() + " without a refusal"
	}
	return ""
}

// climb raises the pace faster and faster during a try that is not refused.
func (p *pace) climb(now time.Time, d time.Duration) string {
	factors := []float64{1, 1.1, 1.3, 2}
	i := min(int(now.Sub(p.climbAt)/holdTime), len(factors)-1)
	if i == 0 || p.answered < holdShare*p.limit*float64(i) {
		return ""
	}
	p.limit *= math.Pow(factors[i], d.Minutes())
	p.since = now
	return "the try is not refused"
}

// beyond reports that the pace holds nothing back any more: it is above the
// known limit, or far above what is used though nothing bounds it. Before two
// minutes what is used is mostly what was taken before the pace was set.
func (p *pace) beyond(now time.Time, base, used float64) bool {
	if base > 0 {
		return p.limit >= base
	}
	return now.Sub(p.begun) > 2*holdTime && p.limit > 4*max(used, 60*p.unit)
}
