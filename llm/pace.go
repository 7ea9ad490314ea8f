package llm

import (
	"math"
	"math/rand/v2"
	"time"
)

// pace is a limit of requests per minute that the limiter gives itself, when
// refusals go on with the fewest calls in flight: a server that takes three
// requests a minute and has no header for it. It starts below what was answered in
// the last minute and rises slowly at first, so that such a server refuses
// one call every few minutes, then quickly, in case the refusal meant nothing.
//
// It is not safe for concurrent use.
type pace struct {
	limit    float64 // 0: no limit of our own
	slowedAt time.Time
	grownAt  time.Time
	ceiling  float64 // what was answered in the minute before the first refusal
	answered int     // calls answered since slowedAt
}

const (
	minPace = 0.1
	// slowGrowth is by how much pace rises in the first minute after a
	// refusal; it rises by twice that in the second, and by three times in each
	// further one. After slowMinutes it doubles each minute, but not before
	// slowAnswers calls were answered: few calls are little evidence.
	slowGrowth  = 0.03
	slowMinutes = 3
	slowAnswers = 30
)

// slow lowers the pace after a refusal; answered is the number of requests
// that were taken within the last minute.
func (p *pace) slow(now time.Time, answered float64) {
	limit := answered * 0.9
	if p.limit > 0 {
		limit = max(min(limit, p.limit*0.9), p.limit/2)
	} else {
		p.ceiling = max(answered, minPace)
	}
	p.limit = max(limit, minPace)
	p.slowedAt, p.grownAt, p.answered = now, now, 0
}

// grow is called when a call was answered while others wait. It raises the pace
// for the time that passed, lifts it where it no longer matters (above base, the
// limit that is known, or far above what it started from), and reports whether
// it changed.
func (p *pace) grow(now time.Time, base float64) bool {
	if p.limit == 0 {
		return false
	}
	p.answered++
	minutes := min(now.Sub(p.grownAt).Minutes(), 1)
	if since := math.Floor(now.Sub(p.slowedAt).Minutes()); since < slowMinutes || p.answered < slowAnswers {
		p.limit *= 1 + slowGrowth*min(1+since, slowMinutes)*minutes
	} else {
		p.limit *= math.Exp2(minutes)
	}
	p.grownAt = now
	if (base > 0 && p.limit >= base) || (base == 0 && p.limit > 10*max(p.ceiling, 60)) {
		p.limit = 0
	}
	return true
}

const (
	// firstCooldown is the wait after a refusal that doesn't say how long;
	// it doubles with each further one until a call is answered.
	firstCooldown = 5 * time.Second
	maxCooldown   = 60 * time.Second
)

// brake is the one wait of all calls after a refusal.
//
// It is not safe for concurrent use.
type brake struct {
	until   time.Time
	last    time.Time // when the limits were last lowered
	strikes int       // decreases since the last answered call
	spread  int       // calls that are still to be let go one by one
	gap     time.Duration
}

// pull makes all calls wait for what the server told, or longer each time if it
// told nothing, and a little more by chance: others may share the key.
func (b *brake) pull(now time.Time, told time.Duration, slots int) time.Time {
	wait := told
	if wait <= 0 {
		wait = min(firstCooldown<<min(b.strikes, 10), maxCooldown)
	}
	if until := now.Add(wait + jitter(wait)); until.After(b.until) {
		b.until = until
		b.spread = slots
		b.gap = min(wait/5, 2*time.Second) / time.Duration(max(slots, 1))
	}
	return b.until
}

// passed is called for each call that is let go. After a wait the first ones
// go one by one, at random distances, unless a known rate spreads them anyway.
func (b *brake) passed(now time.Time, unpaced bool) {
	if b.spread == 0 {
		return
	}
	b.spread--
	if unpaced {
		b.until = now.Add(time.Duration(rand.Float64() * 2 * float64(b.gap)))
	}
}

func (b *brake) wait(now time.Time) time.Duration { return b.until.Sub(now) }
