package llm

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"sync"
)

// PriceFunc returns what a usage of a model costs, in US dollars at list price,
// and whether that is known. An unknown price is never 0 dollars.
type PriceFunc func(model string, u Usage) (usd float64, known bool)

// Counts says what calls were made, and what they took. What was spent and
// what was saved are kept apart.
type Counts struct {
	// Calls is the number of calls that got a reply, from wherever. It is the
	// sum of Hits, Shared and the calls that were answered by the judge.
	Calls int64 `json:"calls"`
	// Hits is the number of calls answered from the store.
	Hits int64 `json:"cache_hits"`
	// Shared is the number of calls answered by the reply to an identical
	// call of this run, in flight or just before.
	Shared int64 `json:"shared"`
	// Attempts is the number of tries sent to the judge, whatever came of them.
	Attempts int64 `json:"attempts"`
	// Paid is the number of attempts that brought a reply, usable or not.
	Paid int64 `json:"paid"`
	// Unclear is the number of attempts without a reply that the judge may
	// charge for nevertheless: cut off, or timed out. They are not in CostUSD.
	Unclear int64 `json:"unclear,omitempty"`
	// Retries is the number of attempts that were not a call's first.
	Retries int64 `json:"retries"`
	// RateLimited is the number of attempts that were refused to slow us down.
	RateLimited int64 `json:"rate_limited"`
	// Failed is the number of calls that ended with an Error, by its Kind.
	Failed map[string]int64 `json:"failed,omitempty"`
	// Interrupted is the number of calls ended by their context.
	Interrupted int64 `json:"interrupted,omitempty"`
	// Usage is what the paid attempts took, as told by the judge.
	Usage Usage `json:"usage"`
	// CostUSD is the list price of Usage where it is known.
	CostUSD float64 `json:"cost_usd"`
	// UnknownPrice and UnknownUsage are the numbers of paid attempts that are
	// missing from CostUSD because the price, or what they took, is not known.
	UnknownPrice int64 `json:"unknown_price,omitempty"`
	UnknownUsage int64 `json:"unknown_usage,omitempty"`
	// SavedUsage and SavedUSD are what Hits and Shared would have taken.
	SavedUsage Usage   `json:"saved_usage"`
	SavedUSD   float64 `json:"saved_usd"`
}

// Add returns the sum of two counts.
func (c Counts) Add(d Counts) Counts {
	c.Calls += d.Calls
	c.Hits += d.Hits
	c.Shared += d.Shared
	c.Attempts += d.Attempts
	c.Paid += d.Paid
	c.Unclear += d.Unclear
	c.Retries += d.Retries
	c.RateLimited += d.RateLimited
	c.Interrupted += d.Interrupted
	c.Usage = c.Usage.Add(d.Usage)
	c.CostUSD += d.CostUSD
	c.UnknownPrice += d.UnknownPrice
	c.UnknownUsage += d.UnknownUsage
	c.SavedUsage = c.SavedUsage.Add(d.SavedUsage)
	c.SavedUSD += d.SavedUSD
	if len(d.Failed) > 0 {
		c.Failed = maps.Clone(c.Failed)
		if c.Failed == nil {
			c.Failed = map[string]int64{}
		}
		for k, n := range d.Failed {
			c.Failed[k] += n
		}
	}
	return c
}

// Tally counts the calls of one part of the work, such as one sample. Put it in
// the context with WithTally; the Meter adds to it what it counts. The attempts
// of a call that several samples share are in the tally of the one that made
// it, so that tallies add up to the meter. The zero Tally is ready to use, by
// several goroutines at once.
type Tally struct {
	mu    sync.Mutex
	c     Counts
	parts map[Part]Counts

	// What a Budget with a bound for one sample has counted, in its units, and a
	// channel that is closed when a call is settled; nil while nobody waits.
	money, held int64
	settled     chan struct{}
}

// Part is what a Tally attributes calls to.
type Part struct{ Metric, Judge string }

// Parts returns what was counted so far by metric and judge.
func (t *Tally) Parts() map[Part]Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.parts)
}

// Counts returns what was counted so far.
func (t *Tally) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.c // Add never changes a map that was handed out
}

func (t *Tally) add(tag Tag, c Counts) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c = t.c.Add(c)
	if t.parts == nil {
		t.parts = map[Part]Counts{}
	}
	part := Part{tag.Metric, tag.Judge}
	t.parts[part] = t.parts[part].Add(c)
}

// TallyParts returns the Parts of the context's Tally; nil if it has none.
func TallyParts(ctx context.Context) map[Part]Counts {
	t := tallyFrom(ctx)
	if t == nil {
		return nil
	}
	return t.Parts()
}

type tallyKey struct{}

// WithTally returns a context whose calls are counted in t as well.
func WithTally(ctx context.Context, t *Tally) context.Context {
	return context.WithValue(ctx, tallyKey{}, t)
}

func tallyFrom(ctx context.Context) *Tally {
	t, _ := ctx.Value(tallyKey{}).(*Tally)
	return t
}

// mayCost reports whether an attempt that ended with err may be charged for:
// one whose request can have reached the model, without an answer that says
// that it was not served. Meter counts these, Budget pays for them.
func mayCost(err error) bool {
	var unsent notSent
	var op *net.OpError
	var dns *net.DNSError
	if errors.As(err, &unsent) || (errors.As(err, &op) && op.Op == "dial") || errors.As(err, &dns) {
		return false
	}
	e := AsError(err)
	if e == nil {
		return true // the context ended, or worse: nobody knows
	}
	// An HTTP error is a refusal to serve. No answer, or a 200 whose body can't
	// be used, is not; and behind a gateway's timeout the model may well go on.
	if e.Status == 0 || e.Status == http.StatusGatewayTimeout {
		return e.Kind == Transient
	}
	return e.Status < 300 && (e.Kind == Transient || e.Kind == Row)
}
