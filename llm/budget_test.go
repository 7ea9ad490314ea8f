package llm_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/llm"
)

// cents prices a model at 1 cent per input and 2 cents per output token.
func cents(model string, u llm.Usage) (float64, bool) {
	return 0.01 * float64(u.PromptTokens+2*u.CompletionTokens), model == "m"
}

func mustBudget(t testing.TB, cfg llm.BudgetConfig, next llm.Client) *llm.Budget {
	t.Helper()
	b, err := llm.NewBudget(cfg, next)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// However many calls are made side by side, and whatever becomes of them, what
// the server charges never exceeds the cap; and a call is turned away only
// if it really no longer fits.
func TestBudgetNeverOvershoots(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		maxTokens := rapid.SampledFrom([]int64{0, 500, 2000, 20000}).Draw(rt, "max tokens")
		maxCalls := rapid.SampledFrom([]int64{0, 1, 7, 100}).Draw(rt, "max calls")
		maxCost := rapid.SampledFrom([]float64{0, 3, 29.99, 200}).Draw(rt, "max cost")
		spent := rapid.Float64Range(0, 5).Draw(rt, "spent")
		type job struct {
			in, out  int // told to the budget
			realIn   int
			realOut  int
			end      int
			duration time.Duration
		}
		jobs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) job {
			in, out := rapid.IntRange(1, 300).Draw(rt, "in"), rapid.IntRange(1, 200).Draw(rt, "out")
			return job{in, out, rapid.IntRange(0, in).Draw(rt, "real in"), rapid.IntRange(0, out).Draw(rt, "real out"),
				rapid.IntRange(0, 5).Draw(rt, "end"), time.Duration(rapid.IntRange(0, 20).Draw(rt, "duration")) * time.Millisecond}
		}), 1, 60).Draw(rt, "jobs")

		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var cost float64
			var tokens, calls int64
			charge := func(in, out int) {
				mu.Lock()
				defer mu.Unlock()
				cost += 0.01 * float64(in+2*out)
				tokens += int64(in + out)
				calls++
			}
			next := llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
				j := jobs[*req.Seed]
				time.Sleep(j.duration)
				switch j.end {
				case 0:
					return nil, refusal(0) // free
				case 1: // charged in full, though it timed out
					charge(j.in, j.out)
					return nil, &llm.Error{Kind: llm.Transient, Code: "timeout"}
				case 2: // charged in full, but the server doesn't say
					charge(j.in, j.out)
					return &llm.Response{Content: "ok", Usage: llm.Usage{Unknown: 1}}, nil
				case 3:
					return nil, &llm.Error{Kind: llm.Row, Status: 400, Code: "bad_request"} // free
				}
				charge(j.realIn, j.realOut)
				return &llm.Response{Content: "ok", Usage: llm.Usage{PromptTokens: j.realIn, CompletionTokens: j.realOut}}, nil
			})
			b := mustBudget(t, llm.BudgetConfig{Max: llm.Spend{CostUSD: maxCost, Calls: maxCalls, Tokens: maxTokens},
				Spent: llm.Spend{CostUSD: spent, Calls: 1, Tokens: 100}, Price: cents, Models: []string{"m"}}, next)
			var wg sync.WaitGroup
			var over []job
			for i, j := range jobs {
				wg.Go(func() {
					_, err := b.Complete(t.Context(), &llm.Request{Model: "m", PromptTokens: j.in, MaxTokens: j.out, Seed: &i})
					if e := llm.AsError(err); e != nil && e.Kind == llm.OverBudget {
						mu.Lock()
						over = append(over, j)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			const eps = 1e-9
			if maxCost > 0 && spent <= maxCost && cost+spent > maxCost+eps {
				rt.Errorf("$%.4f charged of $%.4f", cost+spent, maxCost)
			}
			if maxTokens > 0 && tokens+100 > maxTokens {
				rt.Errorf("%d tokens charged of %d", tokens+100, maxTokens)
			}
			if maxCalls > 0 && calls+1 > max(maxCalls, 1) {
				rt.Errorf("%d calls charged of %d", calls+1, maxCalls)
			}
			// Reservations hold some tokens for the chat format beside the text.
			s := b.Spent()
			if s.CostUSD < cost+spent-eps || s.Tokens < tokens+100 || s.Calls < calls+1 {
				rt.Errorf("budget says %+v, charged were $%v, %d tokens, %d calls", s, cost+spent, tokens+100, calls+1)
			}
			for _, j := range over {
				in := j.in + 16
				fits := (maxCost == 0 || s.CostUSD+0.01*float64(in+2*j.out) <= maxCost-eps) &&
					(maxTokens == 0 || s.Tokens+int64(in+j.out) <= maxTokens) && (maxCalls == 0 || s.Calls+1 <= maxCalls)
				if fits {
					rt.Errorf("a call of %d + %d tokens was turned away at %+v", j.in, j.out, s)
				}
			}
		})
	})
}

// A call that fits only when others are done waits for them.
func TestBudgetWaitsForReservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		inFlight, most := 0, 0
		enter := func(d int) {
			mu.Lock()
			defer mu.Unlock()
			inFlight += d
			most = max(most, inFlight)
		}
		b := mustBudget(t, llm.BudgetConfig{Max: llm.Spend{Tokens: 1000}}, llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
			enter(1)
			time.Sleep(time.Second)
			enter(-1)
			return &llm.Response{Usage: llm.Usage{PromptTokens: 84, CompletionTokens: 6}}, nil
		}))
		start := time.Now()
		var wg sync.WaitGroup
		for range 5 { // each reserves 84 + 16 + 400 and takes 90
			wg.Go(func() {
				if _, err := b.Complete(t.Context(), &llm.Request{PromptTokens: 84, MaxTokens: 400}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if s := b.Spent(); s.Tokens != 450 || s.Calls != 5 {
			t.Errorf("spent %+v, want 450 tokens in 5 calls", s)
		}
		if d := time.Since(start); most != 2 || d != 4*time.Second {
			t.Errorf("%d at a time in %v; 2 fit at first and 1 later: want 4 s", most, d)
		}
		_, err := b.Complete(t.Context(), &llm.Request{PromptTokens: 84, MaxTokens: 500})
		if e := llm.AsError(err); e == nil || e.Kind != llm.OverBudget || e.Code != "over_budget_tokens" || !strings.Contains(e.Message, "450 of 1000") {
			t.Errorf("error %v, want over budget", err)
		}
	})
}

// A caller that gives up while it waits leaves no reservation behind, and one
// whose call was never sent pays nothing.
func TestBudgetGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.NewLimiter(llm.LimitConfig{RequestsPerMinute: 1})
		a := newArrivals(func(_ int, req *llm.Request) (*llm.Response, error) { return reply(req), nil })
		b := mustBudget(t, llm.BudgetConfig{Max: llm.Spend{Calls: 3}}, l.Wrap(a))
		if _, err := b.Complete(t.Context(), named("", 1)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 10 { // two wait for the limiter, eight for those two
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := b.Complete(ctx, named("", 1)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v, want the context's", err)
				}
			})
		}
		wg.Wait()
		for range 2 {
			if _, err := b.Complete(t.Context(), named("", 1)); err != nil {
				t.Error(err)
			}
		}
		if s := b.Spent(); s.Calls != 3 {
			t.Errorf("spent %+v, want 3 calls", s)
		}
	})
}

func TestBudgetErrors(t *testing.T) {
	none := llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) { return &llm.Response{}, nil })
	for _, c := range []struct {
		name string
		cfg  llm.BudgetConfig
		want string
	}{
		{"no price list", llm.BudgetConfig{Max: llm.Spend{CostUSD: 1}, Models: []string{"m"}}, `"m"`},
		{"unknown model", llm.BudgetConfig{Max: llm.Spend{CostUSD: 1}, Price: cents, Models: []string{"m", "other"}}, `"other"`},
		{"below zero", llm.BudgetConfig{Max: llm.Spend{Calls: -1}}, "-1"},
		{"not a number", llm.BudgetConfig{Max: llm.Spend{CostUSD: math.NaN()}, Price: cents}, "NaN"},
		{"infinite", llm.BudgetConfig{Max: llm.Spend{CostUSD: math.Inf(1)}, Price: cents}, "Inf"},
		{"too much to count", llm.BudgetConfig{Max: llm.Spend{CostUSD: 1e9}, Price: cents}, "not supported"},
		{"spent below zero", llm.BudgetConfig{Spent: llm.Spend{Tokens: -5}}, "-5"},
	} {
		if _, err := llm.NewBudget(c.cfg, none); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	b := mustBudget(t, llm.BudgetConfig{Max: llm.Spend{CostUSD: 1}, Price: cents, Models: []string{"m"}}, none)
	if _, err := b.Complete(t.Context(), &llm.Request{Model: "other", MaxTokens: 1}); llm.AsError(err) == nil || llm.AsError(err).Code != "unknown_price" {
		t.Errorf("error %v for a model without a price, want unknown_price", err)
	}
	if _, err := mustBudget(t, llm.BudgetConfig{}, none).Complete(t.Context(), &llm.Request{}); err != nil {
		t.Errorf("error %v without any bound", err)
	}
}

// Without a bound on the reply, or a count of the input, the budget reckons
// with the most that there can be.
func TestBudgetWorstCase(t *testing.T) {
	req := &llm.Request{Model: "m", Messages: []llm.Message{{Content: strings.Repeat("字", 100)}}, Schema: &llm.Schema{JSON: []byte(`{"a":1}`)}}
	next := llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) { return &llm.Response{}, nil })
	const need = 300 + 7 + 8 + 16 + 1000
	for _, c := range []struct {
		max int64
		ok  bool
	}{{need, true}, {need - 1, false}} {
		b := mustBudget(t, llm.BudgetConfig{Max: llm.Spend{Tokens: c.max}, MaxOutput: 1000}, next)
		if _, err := b.Complete(t.Context(), req); (err == nil) != c.ok {
			t.Errorf("with %d tokens allowed: error %v", c.max, err)
		}
		if s := b.Spent(); c.ok && s.Tokens != need {
			t.Errorf("a reply of unknown usage was charged %d tokens, want %d", s.Tokens, need)
		}
	}
}
