package llm_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/llm"
)

// Whatever the concurrency, with retries, with several calls for a sample and
// with a budget for the day that two processes share, no bound on money, tokens,
// calls, a sample or the day is overshot by what the server charges.
func TestNoBoundIsOvershot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		maxCost := rapid.SampledFrom([]float64{0, 4, 40}).Draw(rt, "max cost")
		maxTokens := rapid.SampledFrom([]int64{0, 900, 6000}).Draw(rt, "max tokens")
		maxCalls := rapid.SampledFrom([]int64{0, 9}).Draw(rt, "max calls")
		perSample := rapid.SampledFrom([]float64{0, 2.5, 9}).Draw(rt, "per sample")
		perDay := rapid.SampledFrom([]float64{0, 7, 60}).Draw(rt, "per day")
		seed := rapid.Uint64().Draw(rt, "seed")
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			rng := rand.New(rand.NewPCG(seed, 1))
			charged := map[int]float64{} // by sample
			var day float64
			var granted [2]float64
			var calls, tokens [2]int64
			var cost [2]float64
			server := func(process int) llm.Client {
				return llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					out := 1 + rng.IntN(req.MaxTokens)
					wait, fate := time.Duration(rng.IntN(30))*time.Millisecond, rng.IntN(5)
					if fate == 0 {
						return nil, &llm.Error{Kind: llm.RateLimited, Status: 429, Code: "rate_limited"} // free
					}
					if fate == 1 {
						out = req.MaxTokens // charged in full, and lost on the way
					}
					usd := 0.01 * float64(req.PromptTokens+2*out)
					charged[*req.Seed] += usd
					cost[process] += usd
					day += usd
					calls[process]++
					tokens[process] += int64(req.PromptTokens + out)
					mu.Unlock()
					time.Sleep(wait)
					mu.Lock()
					if fate == 1 {
						return nil, &llm.Error{Kind: llm.Transient, Code: "connection_reset"}
					}
					return &llm.Response{Content: "ok", Usage: llm.Usage{PromptTokens: req.PromptTokens, CompletionTokens: out}}, nil
				})
			}
			lease := func(process int) func(float64, float64) float64 {
				if perDay == 0 {
					return nil
				}
				return func(_, most float64) float64 {
					mu.Lock()
					defer mu.Unlock()
					if granted[1-process]+most <= perDay {
						granted[process] = max(granted[process], most)
					}
					return granted[process]
				}
			}
			var wg sync.WaitGroup
			for process := range 2 {
				b := mustBudget(t, llm.BudgetConfig{Max: llm.Spend{CostUSD: maxCost, Calls: maxCalls, Tokens: maxTokens},
					MaxPerSample: perSample, Lease: lease(process), Price: cents, Models: []string{"m"}}, server(process))
				chain := llm.NewRetry(llm.RetryConfig{MaxAttempts: 3, MaxWait: time.Minute}, b)
				for n := range 8 {
					sample := process*100 + n
					ctx := llm.WithTally(t.Context(), new(llm.Tally))
					for call := range 4 { // the last one is a re-ask, with twice the reply
						wg.Go(func() {
							_, _ = chain.Complete(ctx, &llm.Request{Model: "m", PromptTokens: 20 + 5*call, MaxTokens: 20 + 10*call, Seed: &sample})
						})
					}
				}
			}
			wg.Wait()
			const eps = 1e-9
			for p := range 2 {
				if maxCost > 0 && cost[p] > maxCost+eps || maxTokens > 0 && tokens[p] > maxTokens || maxCalls > 0 && calls[p] > maxCalls {
					rt.Errorf("process %d: $%v, %d tokens, %d calls of $%v, %d, %d", p, cost[p], tokens[p], calls[p], maxCost, maxTokens, maxCalls)
				}
			}
			for sample, usd := range charged {
				if perSample > 0 && usd > perSample+eps {
					rt.Errorf("sample %d took $%v of $%v", sample, usd, perSample)
				}
			}
			if perDay > 0 && day > perDay+eps {
				rt.Errorf("the day took $%v of $%v", day, perDay)
			}
		})
	})
}

// A sample that has spent its share has no further call; the others go on.
func TestSampleBound(t *testing.T) {
	next := llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		return &llm.Response{Usage: llm.Usage{PromptTokens: req.PromptTokens, CompletionTokens: 10}}, nil
	})
	b := mustBudget(t, llm.BudgetConfig{MaxPerSample: 2, Price: cents, Models: []string{"m"}}, next)
	ask := func(ctx context.Context) error {
		_, err := b.Complete(ctx, &llm.Request{Model: "m", PromptTokens: 60, MaxTokens: 30})
		return err
	}
	one, two := llm.WithTally(t.Context(), new(llm.Tally)), llm.WithTally(t.Context(), new(llm.Tally))
	if err := ask(one); err != nil { // sets $1.36 aside, takes $0.80
		t.Fatal(err)
	}
	err := ask(one)
	if e := llm.AsError(err); e == nil || e.Kind != llm.Row || e.Code != llm.CodeOverSample || !strings.Contains(e.Message, "$0.8000 of the $2.0000") {
		t.Errorf("error %v, want one about the sample", err)
	}
	if err := ask(two); err != nil {
		t.Errorf("another sample: %v", err)
	}
	if n := b.SampleRefusals(); n != 1 {
		t.Errorf("%d refusals, want 1", n)
	}
	if _, err := llm.NewBudget(llm.BudgetConfig{MaxPerSample: 1, Price: cents, Models: []string{"other"}}, next); err == nil {
		t.Error("a bound on money for a model without a price")
	}
}

// A server that only fails is not asked all night: the run stops when retries
// are out of proportion, whatever the number of rows.
func TestRetryBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		attempts := 0
		next := llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			attempts++
			return nil, &llm.Error{Kind: llm.Transient, Status: 500, Code: "http_500"}
		})
		r := llm.NewRetry(llm.RetryConfig{MaxAttempts: 10, Bound: &llm.RetryBound{Ratio: 1.5}}, next)
		var over *llm.Error
		calls := 0
		for over == nil && calls < 1000 {
			calls++
			_, err := r.Complete(t.Context(), &llm.Request{})
			if e := llm.AsError(err); e.Kind == llm.OverBudget {
				over = e
			}
		}
		// Nine retries a call: 200 are free, and half a retry a call beyond.
		if over == nil || over.Code != "too_many_attempts" || calls != 24 {
			t.Errorf("%d calls, error %v", calls, over)
		}
		if most := calls + 200 + calls/2 + 1; attempts > most {
			t.Errorf("%d attempts, at most %d", attempts, most)
		}
	})
}
