package judge

import (
	"encoding/json"
	"sync/atomic"
)

// Counts says how well a Judge kept to the form that it was asked for. A model
// whose replies have to be repaired often is one step from giving none at all.
type Counts struct {
	// Replies are those that gave an answer, also those from a cache.
	Replies int64
	// Repaired are those of Replies that were not JSON as they stood: fences,
	// thinking, Python's literals, words around and the like had to be
	// understood.
	Repaired int64
	// AskedAgain are the replies that gave no answer, so that the judge was
	// told what was wrong, and the replies that left out items.
	AskedAgain int64
	// Undecided are the verdicts in which the judge did not decide; see
	// Verdict.Said.
	Undecided int64
	// Extra are the verdicts on numbers that were not asked for.
	Extra int64
	// Split are the times that a sample was too long for one call and was judged
	// in two halves.
	Split int64
}

// counters are Counts on their way.
type counters struct {
	replies, repaired, askedAgain, undecided, extra, split atomic.Int64
}

// Counts returns what has been counted so far.
func (j *Judge) Counts() Counts {
	c := &j.counts
	return Counts{
		Replies: c.replies.Load(), Repaired: c.repaired.Load(), AskedAgain: c.askedAgain.Load(),
		Undecided: c.undecided.Load(), Extra: c.extra.Load(), Split: c.split.Load(),
	}
}

// Plus returns the sum of both, for a judge that is asked several times.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		Replies: c.Replies + d.Replies, Repaired: c.Repaired + d.Repaired, AskedAgain: c.AskedAgain + d.AskedAgain,
		Undecided: c.Undecided + d.Undecided, Extra: c.Extra + d.Extra, Split: c.Split + d.Split,
	}
}

// answered counts a reply that gave an answer.
func (c *counters) answered(content string, answer any) {
	c.replies.Add(1)
	if !json.Valid([]byte(content)) {
		c.repaired.Add(1)
	}
	v, ok := answer.(verdicts)
	if !ok {
		return
	}
	c.extra.Add(int64(v.extra))
	for _, one := range v.by {
		if one.Said != "" {
			c.undecided.Add(1)
		}
	}
}
