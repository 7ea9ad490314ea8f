package llm

import (
	"math/rand/v2"
	"time"
)

const (
	// firstCooldown is the wait after a refusal that doesn't say how long;
	// it doubles with each further one until a call is answered.
	// With a pace it starts lower: one call more than that is soon made up for.
	firstCooldown = 5 * time.Second
	pacedCooldown = 2 * time.Second
	maxCooldown   = 60 * time.Second
	// testTime is how long the first call after such a wait stays alone, if it is
	// not answered before: a refusal comes quickly, an answer need not.
	testTime = 2 * time.Second
	// minGap is the least distance of calls that are let go one by one after a
	// wait: three in a tenth of a second.
	minGap = 40 * time.Millisecond
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
	alone   bool   // the next call is let go alone
	test    *place // that call, until it is answered
	since   int    // calls let go after last
}

// pull makes all calls wait for what the server told, or longer each time if it
// told nothing, but no longer than most, and a little more by chance: others
// may share the key.
func (b *brake) pull(now time.Time, told time.Duration, slots int, paced bool, most time.Duration) time.Time {
	if most <= 0 || most > maxCooldown {
		most = maxCooldown
	}
	first := firstCooldown
	if paced {
		first = pacedCooldown
	}
	wait := told
	if wait <= 0 {
		wait = min(first<<min(b.strikes, 10), most)
	} else if b.strikes > 1 { // what it told was too little
		wait = max(wait, min(first<<min(b.strikes-2, 10), most))
	}
	if until := now.Add(wait + jitter(wait)); until.After(b.until) {
		b.until = until
		b.spread = slots
		b.gap = max(min(wait/5, 2*time.Second)/time.Duration(max(slots, 1)), minGap)
	}
	return b.until
}

// passed is called for each call that is let go. After a wait the first ones
// go one by one, at distances of the pace if there is one, and a little more by
// chance.
func (b *brake) passed(p *place, now time.Time, perSecond float64) {
	if b.spread == 0 {
		return
	}
	b.spread--
	gap := b.gap
	if perSecond > 0 {
		gap = max(time.Duration(float64(time.Second)/perSecond), time.Millisecond)
		if gap > minGap {
			return // the pace spreads them anyway
		}
	}
	if b.alone {
		b.alone, b.test = false, p
		gap = max(gap, testTime)
	}
	b.until = now.Add(gap + time.Duration(rand.Float64()*float64(gap)/4))
}

// ended is called for each call that comes back, before its end is taken in.
// It reports whether the call was let go alone.
func (b *brake) ended(p *place, now time.Time) (alone bool) {
	if b.test != p {
		return false
	}
	b.test, b.until = nil, now
	return true
}

func (b *brake) wait(now time.Time) time.Duration { return b.until.Sub(now) }
