package llm

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// Meter counts calls and what they take, in all and for each metric and step.
// It has two taps on the chain: Calls outermost, which sees every call and
// whether it was a hit, and Attempts right above the backend, which sees every
// try and so everything that is paid, replies that turn out unusable included.
//
// It is safe for concurrent use.
type Meter struct {
	price PriceFunc

	mu     sync.Mutex
	steps  map[Tag]Counts
	served map[Served]int64
}

// Served is what a judge was answered by: the model as the server named it, and
// its system_fingerprint where it gave one.
type Served struct {
	Judge       string `json:"judge,omitempty"`
	Model       string `json:"model"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// NewMeter returns a Meter; price may be nil if no price is known.
func NewMeter(price PriceFunc) *Meter {
	if price == nil {
		price = func(string, Usage) (float64, bool) { return 0, false }
	}
	return &Meter{price: price, steps: map[Tag]Counts{}, served: map[Served]int64{}}
}

// answeredBy says where a reply that took no call of its own came from. Cached
// tells it to the Meter through the context.
type answeredBy int

const (
	byStore answeredBy = iota + 1
	byTwin             // an identical call of this run
)

type answeredByKey struct{}

// noteAnsweredBy tells the Meter, if there is one, where the reply came from.
func noteAnsweredBy(ctx context.Context, by answeredBy) {
	if p, ok := ctx.Value(answeredByKey{}).(*answeredBy); ok {
		*p = by
	}
}

// Calls returns the outermost client of a chain: it counts every call of next.
func (m *Meter) Calls(next Client) Client {
	return ClientFunc(func(ctx context.Context, req *Request) (*Response, error) {
		var by answeredBy
		resp, err := next.Complete(context.WithValue(ctx, answeredByKey{}, &by), req)
		var c Counts
		switch e := AsError(err); {
		case err == nil && resp != nil:
			c = m.reply(req, resp, by)
		case e != nil:
			c.Failed = map[string]int64{e.Kind.String(): 1}
		default:
			c.Interrupted = 1
		}
		m.add(ctx, req.Tag, c, resp)
		return resp, err
	})
}

func (m *Meter) reply(req *Request, resp *Response, by answeredBy) Counts {
	c := Counts{Calls: 1}
	if !resp.Cached {
		return c
	}
	if by == byTwin {
		c.Shared = 1
	} else {
		c.Hits = 1
	}
	if resp.Usage.known() {
		c.SavedUsage = resp.Usage
		c.SavedUSD, _ = m.cost(req, resp)
	} else {
		c.SavedUsage.Unknown = 1
	}
	return c
}

// cost returns the price under the name that was asked for, else under the one
// that the server gave.
func (m *Meter) cost(req *Request, resp *Response) (float64, bool) {
	if usd, ok := m.price(req.Model, resp.Usage); ok {
		return usd, true
	}
	if resp.Model == "" {
		return 0, false
	}
	return m.price(resp.Model, resp.Usage)
}

// Attempts returns the client right above the backend: it counts every try.
func (m *Meter) Attempts(next Client) Client {
	return ClientFunc(func(ctx context.Context, req *Request) (*Response, error) {
		resp, err := next.Complete(ctx, req)
		var unsent notSent
		if errors.As(err, &unsent) {
			return resp, err
		}
		c := Counts{Attempts: 1}
		if a := attemptFrom(ctx); a != nil && a.n > 1 {
			c.Retries = 1
		}
		if err == nil && resp != nil {
			m.paid(&c, req, resp)
		} else {
			if e := AsError(err); e != nil && (e.Kind == RateLimited || e.Status == 429) {
				c.RateLimited = 1
			}
			if mayCost(err) {
				c.Unclear = 1
			}
		}
		m.add(ctx, req.Tag, c, nil)
		return resp, err
	})
}

func (m *Meter) paid(c *Counts, req *Request, resp *Response) {
	c.Paid = 1
	c.Usage = resp.Usage
	if !resp.Usage.known() {
		c.Usage.Unknown = max(c.Usage.Unknown, 1)
		c.UnknownUsage = 1
		return
	}
	usd, ok := m.cost(req, resp)
	c.CostUSD = usd
	if !ok {
		c.CostUSD, c.UnknownPrice = 0, 1
	}
}

// maxServed bounds the memory for the names that servers give.
const maxServed = 1000

func (m *Meter) add(ctx context.Context, tag Tag, c Counts, resp *Response) {
	tallyFrom(ctx).add(tag, c)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps[tag] = m.steps[tag].Add(c)
	if resp == nil || resp.Model == "" {
		return
	}
	by := Served{tag.Judge, resp.Model, resp.Fingerprint}
	if _, seen := m.served[by]; seen || len(m.served) < maxServed {
		m.served[by]++
	}
}

// Snapshot is what a Meter counted up to one moment.
type Snapshot struct {
	// Total is the sum of all steps.
	Total Counts `json:"total"`
	// Steps holds the counts of each metric and step, in the order of their
	// names.
	Steps []StepCounts `json:"steps"`
	// Models maps each name under which the server answered to the number of
	// calls; replies from the cache count too.
	Models map[string]int64 `json:"models"`
	// Served lists the same by judge and fingerprint, in their order.
	Served []ServedCalls `json:"served,omitempty"`
}

// ServedCalls is a number of calls that got their reply from one model.
type ServedCalls struct {
	Served
	Calls int64 `json:"calls"`
}

// StepCounts is what was counted for one step of a metric, for one judge.
type StepCounts struct {
	Metric string `json:"metric"`
	Step   string `json:"step"`
	Judge  string `json:"judge,omitempty"`
	Counts
}

// Judge returns what was counted for one judge.
func (s Snapshot) Judge(name string) Counts {
	var c Counts
	for _, step := range s.Steps {
		if step.Judge == name {
			c = c.Add(step.Counts)
		}
	}
	return c
}

// Snapshot returns what was counted so far.
func (m *Meter) Snapshot() Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Snapshot{Models: map[string]int64{}}
	for by, n := range m.served {
		s.Models[by.Model] += n
		s.Served = append(s.Served, ServedCalls{by, n})
	}
	slices.SortFunc(s.Served, func(a, b ServedCalls) int {
		return cmp.Or(cmp.Compare(a.Judge, b.Judge), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	for tag, c := range m.steps {
		s.Steps = append(s.Steps, StepCounts{Metric: tag.Metric, Step: tag.Step, Judge: tag.Judge, Counts: c})
	}
	slices.SortFunc(s.Steps, func(a, b StepCounts) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Judge, b.Judge))
	})
	for _, c := range s.Steps { // in a fixed order: the sum of money is a float
		s.Total = s.Total.Add(c.Counts)
	}
	return s
}
