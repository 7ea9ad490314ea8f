package llm

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
)

// DefaultMaxOutput is the longest reply that Budget reckons with, in tokens,
// for a request that does not bound its reply.
const DefaultMaxOutput = 16384

// Spend is an amount of what a budget bounds.
type Spend struct {
	// CostUSD is money, in US dollars at list price.
	CostUSD float64 `json:"cost_usd"`
	// Calls is the number of attempts that may be charged for.
	Calls int64 `json:"calls"`
	// Tokens is input and output together.
	Tokens int64 `json:"tokens"`
}

// BudgetConfig says what may be spent.
type BudgetConfig struct {
	// Max is the most that may be spent in all; a field that is 0 sets no bound.
	Max Spend
	// Spent is what earlier parts of the run have spent already.
	Spent Spend
	// Price is needed if Max.CostUSD is set.
	Price PriceFunc
	// Models are the names of all models that will be called; with a bound on
	// money each must have a price.
	Models []string
	// MaxOutput is the longest reply to reckon with where a request has no
	// MaxTokens; 0 means DefaultMaxOutput.
	MaxOutput int
	// MaxPerSample is the most money that the calls of one sample, those that
	// share a Tally, may cost, in US dollars; 0 sets no bound. It needs Price. A
	// call beyond it fails with an Error of kind Row and code CodeOverSample.
	MaxPerSample float64
	// Lease, if not nil, is asked before more money is set aside than it has
	// granted. It is told what this process has spent and what it would have
	// spent at most with the next call, in US dollars, and returns up to where
	// it may go: less than most if that is too far. It is called under a lock.
	Lease func(spent, most float64) (upTo float64)
	// Log is told when a call took more than was reserved for it; nil for none.
	Log *slog.Logger
}

// Budget is a hard cap on money, calls and tokens. Before each attempt it
// reserves the most that the attempt can take, and settles afterwards for what
// it took, so that calls side by side can't overshoot together. An
// attempt that doesn't fit only because of what others have reserved waits until they
// are done, first come first served; one that can't fit any more fails with an
// Error of kind OverBudget.
//
// The most that an attempt can take is its input (PromptTokens, or one token
// per byte of text where that is not known; one per byte of the schema; and a few
// for each message) with MaxTokens of output. An attempt whose usage is not
// told, or that may be charged for though it brought no reply, costs what was
// reserved. Only a server that takes more than MaxTokens can break the cap; that is logged.
type Budget struct {
	cfg  BudgetConfig
	next Client
	max  amount

	perSample int64

	mu       sync.Mutex
	base     int64 // money that was spent before this process
	leased   int64 // up to where this process may go
	spent    amount
	reserved amount
	line     []*claim
	refused  int64 // calls that their sample had no money for
}

// amount is a Spend in whole numbers, so that sums are exact: money is in
// units of 10^-12 dollars (the cheapest token costs some 10^4 of them).
type amount struct{ money, calls, tokens int64 }

const moneyUnit = 1e12

// maxUSD and maxCallUSD are the most that a budget and a call may cost, so that
// sums can't overflow.
const (
	maxUSD     = 1e6
	maxCallUSD = 1e4
)

func (a amount) plus(b amount) amount {
	return amount{a.money + b.money, a.calls + b.calls, a.tokens + b.tokens}
}

func (a amount) minus(b amount) amount {
	return amount{a.money - b.money, a.calls - b.calls, a.tokens - b.tokens}
}

// above names the first bound of limit that a is above, or returns "".
func (a amount) above(limit amount) string {
	switch {
	case limit.money > 0 && a.money > limit.money:
		return "money"
	case limit.calls > 0 && a.calls > limit.calls:
		return "calls"
	case limit.tokens > 0 && a.tokens > limit.tokens:
		return "tokens"
	}
	return ""
}

// claim is an attempt that waits for others to settle.
type claim struct {
	need  amount
	ready chan error // buffered; nil for granted
}

// NewBudget returns a Budget in front of next. It is an error to bound the
// money for a model without a known price, or to give a bound that is no
// amount.
func NewBudget(cfg BudgetConfig, next Client) (*Budget, error) {
	cfg.MaxOutput = cmp.Or(max(cfg.MaxOutput, 0), DefaultMaxOutput)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	for _, s := range []struct {
		what string
		v    float64
	}{
		{"maximum cost", cfg.Max.CostUSD}, {"maximum number of calls", float64(cfg.Max.Calls)}, {"maximum number of tokens", float64(cfg.Max.Tokens)},
		{"cost so far", cfg.Spent.CostUSD}, {"number of calls so far", float64(cfg.Spent.Calls)}, {"number of tokens so far", float64(cfg.Spent.Tokens)},
	} {
		if !(s.v >= 0) || math.IsInf(s.v, 0) {
			return nil, fmt.Errorf("set a budget: the %s is %v; it must be 0 or more", s.what, s.v)
		}
	}
	if cfg.Max.CostUSD > maxUSD || cfg.Spent.CostUSD > maxUSD {
		return nil, fmt.Errorf("set a budget: a cost above %g US dollars is not supported", maxUSD)
	}
	b := &Budget{cfg: cfg, next: next}
	b.max = amount{int64(cfg.Max.CostUSD * moneyUnit), cfg.Max.Calls, cfg.Max.Tokens}
	if !(cfg.MaxPerSample >= 0) || cfg.MaxPerSample > maxUSD {
		return nil, fmt.Errorf("set a budget: the maximum cost of a sample is %v; it must be from 0 to %g", cfg.MaxPerSample, maxUSD)
	}
	if cfg.Max.CostUSD > 0 {
		b.max.money = max(b.max.money, 1)
	}
	if b.perSample = int64(cfg.MaxPerSample * moneyUnit); cfg.MaxPerSample > 0 {
		b.perSample = max(b.perSample, 1)
	}
	if b.needsPrice() {
		for _, m := range cfg.Models {
			if _, ok := b.price(m, Usage{PromptTokens: 1, CompletionTokens: 1}); !ok {
				return nil, fmt.Errorf("bound the cost: no price is known for model %q; give its price, or bound calls or tokens instead", m)
			}
		}
	}
	b.base = int64(math.Ceil(cfg.Spent.CostUSD * moneyUnit))
	b.spent = amount{int64(math.Ceil(cfg.Spent.CostUSD * moneyUnit)), cfg.Spent.Calls, cfg.Spent.Tokens}
	return b, nil
}

// needsPrice reports that money is bounded in some way.
func (b *Budget) needsPrice() bool { return b.max.money > 0 || b.perSample > 0 || b.cfg.Lease != nil }

// SampleRefusals returns how many calls were not made because their sample had
// spent what one sample may.
func (b *Budget) SampleRefusals() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// granted reports that this process may have spent so much in all.
func (b *Budget) granted(money int64) bool {
	if b.cfg.Lease == nil || money-b.base <= b.leased {
		return true
	}
	upTo := b.cfg.Lease(float64(b.spent.money-b.base)/moneyUnit, float64(money-b.base)/moneyUnit)
	b.leased = max(b.leased, int64(min(upTo, maxUSD)*moneyUnit))
	return money-b.base <= b.leased
}

// price returns the cost of a usage, rounded up.
func (b *Budget) price(model string, u Usage) (int64, bool) {
	if b.cfg.Price == nil {
		return 0, false
	}
	usd, ok := b.cfg.Price(model, u)
	if !ok || !(usd >= 0) || usd > maxCallUSD {
		return 0, false
	}
	return int64(math.Ceil(usd * moneyUnit)), true
}

// Spent returns what was spent so far, with what was spent before this run was
// resumed, and without reservations. Money is counted where the price is known.
func (b *Budget) Spent() Spend {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent.spend()
}

func (a amount) spend() Spend {
	return Spend{CostUSD: float64(a.money) / moneyUnit, Calls: a.calls, Tokens: a.tokens}
}

// Complete makes the call if it fits the budget.
func (b *Budget) Complete(ctx context.Context, req *Request) (*Response, error) {
	need, err := b.worst(req)
	if err != nil {
		return nil, err
	}
	sample := tallyFrom(ctx)
	if err := sample.hold(ctx, need.money, b.perSample); err != nil {
		if e := AsError(err); e != nil {
			b.mu.Lock()
			b.refused++
			b.mu.Unlock()
		}
		return nil, err
	}
	if err := b.reserve(ctx, need); err != nil {
		sample.release(need.money, 0, b.perSample)
		return nil, err
	}
	took := need // also if next panics
	defer func() {
		b.settle(need, took)
		sample.release(need.money, took.money, b.perSample)
	}()
	resp, err := b.next.Complete(ctx, req)
	took = b.took(req, resp, err, need)
	return resp, err
}

const (
	// perMessage and perRequest bound the tokens by which chat formats
	// separate messages and start a reply.
	perMessage = 8
	perRequest = 16
)

// worst returns the most that the request can take.
func (b *Budget) worst(req *Request) (amount, error) {
	in := max(req.PromptTokens, req.MostPromptTokens)
	if in <= 0 {
		for _, m := range req.Messages {
			in += len(m.Content)
		}
		for _, text := range req.Embed {
			in += len(text)
		}
	}
	if req.Schema != nil {
		in += len(req.Schema.JSON)
	}
	in += perMessage*(len(req.Messages)+len(req.Embed)) + perRequest
	out := req.MaxTokens
	if out <= 0 && len(req.Embed) == 0 {
		out = b.cfg.MaxOutput
	}
	need := amount{calls: 1, tokens: int64(in) + int64(out)}
	usd, ok := b.price(req.Model, Usage{PromptTokens: in, CompletionTokens: out})
	// Where writing to the provider's prompt cache is charged apart it costs more.
	if write, known := b.price(req.Model, Usage{PromptTokens: in, CacheWriteTokens: in, CompletionTokens: out}); known {
		usd = max(usd, write)
	}
	need.money = usd
	if !ok && b.needsPrice() {
		return amount{}, &Error{Kind: OverBudget, Code: "unknown_price",
			Message: fmt.Sprintf("no price is known for model %q, so its calls can't be kept within the cost allowed", req.Model),
			Hint:    "give the model's price, or bound calls or tokens instead of money"}
	}
	return need, nil
}

// took returns what an attempt is charged.
func (b *Budget) took(req *Request, resp *Response, err error, need amount) amount {
	if err != nil || resp == nil {
		if mayCost(err) {
			return need
		}
		return amount{}
	}
	if !resp.Usage.known() {
		return need
	}
	usd, ok := b.price(req.Model, resp.Usage)
	if !ok {
		usd = need.money
	}
	return amount{usd, 1, int64(resp.Usage.total())}
}

// reserve sets need aside, or waits until it can.
func (b *Budget) reserve(ctx context.Context, need amount) error {
	b.mu.Lock()
	if len(b.line) == 0 && b.fits(need) {
		b.reserved = b.reserved.plus(need)
		b.mu.Unlock()
		return nil
	}
	c := &claim{need: need, ready: make(chan error, 1)}
	b.line = append(b.line, c)
	b.serve()
	b.mu.Unlock()
	select {
	case err := <-c.ready:
		return err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.line, c); i >= 0 {
		b.line = slices.Delete(b.line, i, i+1)
	} else if <-c.ready == nil {
		b.reserved = b.reserved.minus(need)
	}
	b.serve()
	return ctx.Err()
}

func (b *Budget) fits(need amount) bool {
	sum := b.spent.plus(b.reserved).plus(need)
	return sum.above(b.max) == "" && b.granted(sum.money)
}

// serve answers the claims that can be answered, in order.
func (b *Budget) serve() {
	for len(b.line) > 0 {
		c := b.line[0]
		if what := b.spent.plus(c.need).above(b.max); what != "" {
			c.ready <- b.over(what, c.need)
		} else if !b.granted(b.spent.money + c.need.money) {
			c.ready <- b.over("day", c.need)
		} else if b.fits(c.need) {
			b.reserved = b.reserved.plus(c.need)
			c.ready <- nil
		} else {
			return
		}
		b.line = slices.Delete(b.line, 0, 1)
	}
}

// settle replaces a reservation by what was taken.
func (b *Budget) settle(need, took amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved = b.reserved.minus(need)
	b.spent = b.spent.plus(took)
	b.serve()
	if took.money > need.money || took.tokens > need.tokens {
		b.cfg.Log.Warn("a call took more than its request allows", "tokens", took.tokens, "reserved_tokens", need.tokens,
			"cost_usd", took.spend().CostUSD, "reserved_usd", need.spend().CostUSD)
	}
}

func (b *Budget) over(what string, need amount) *Error {
	var have, next string
	hint := "raise the limit and start the same command again; what is finished stays"
	switch s, n, limit := b.spent.spend(), need.spend(), b.cfg.Max; what {
	case "money":
		have = fmt.Sprintf("$%.4f of $%.4f are spent", s.CostUSD, limit.CostUSD)
		next = fmt.Sprintf("the next call may cost up to $%.4f", n.CostUSD)
	case "day":
		have = "what may be spent on one day is spent, here and by other runs"
		next = fmt.Sprintf("the next call may cost up to $%.4f", n.CostUSD)
		hint = "start the same command again when the next day has begun (UTC), or raise the limit; what is finished stays"
	case "calls":
		have = fmt.Sprintf("%d of %d calls are made", s.Calls, limit.Calls)
		next = "the next would be one too many"
	default:
		have = fmt.Sprintf("%d of %d tokens are used", s.Tokens, limit.Tokens)
		next = fmt.Sprintf("the next call may use up to %d", n.Tokens)
	}
	return &Error{Kind: OverBudget, Code: "over_budget_" + what, Message: have + "; " + next,
		Hint: hint}
}
