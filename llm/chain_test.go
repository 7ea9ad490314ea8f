package llm_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ragjudge/ragjudge/llm"
)

// fullChain assembles the chain as a run does.
func fullChain(t testing.TB, m *llm.Meter, store llm.Store, max llm.Spend, limit llm.LimitConfig, backend llm.Client) llm.Client {
	t.Helper()
	stop := llm.NewStop()
	limit.Stop = stop
	budget := mustBudget(t, llm.BudgetConfig{Max: max, Price: cents, Models: []string{"m"}}, llm.NewLimiter(limit).Wrap(m.Attempts(backend)))
	return m.Calls(&llm.Cached{Store: store, Next: llm.NewRetry(llm.RetryConfig{Stop: stop}, budget)})
}

// The whole chain against a server that refuses, fails and is slow: every row
// gets its own reply, is paid once, and no goroutine is left.
func TestChain(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		admit := slidingWindow(300, 0)
		var mu sync.Mutex
		served, tried := map[string]int{}, map[string]int{}
		broken := int64(0)
		backend := llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			if err := sleep(ctx, 300*time.Millisecond); err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			// Every tenth row fails twice. (Failing every tenth call instead hits
			// the same row again and again: the oldest goes first after each
			// cooldown, and calls per minute are a multiple of ten.)
			q := req.Messages[0].Content
			if tried[q]++; q[len(q)-1] == '7' && tried[q] <= 2 {
				broken++
				return nil, transient("http_503")
			}
			if wait := admit(time.Now(), 0); wait > 0 {
				return nil, refusal(wait)
			}
			served[q]++
			return &llm.Response{Content: q, Usage: llm.Usage{PromptTokens: 10, CompletionTokens: 5}}, nil
		})
		m := llm.NewMeter(cents)
		store := &mapStore{}
		chain := fullChain(t, m, store, llm.Spend{CostUSD: 1000}, llm.LimitConfig{Concurrency: 16}, backend)
		var wg sync.WaitGroup
		var next atomic.Int64
		for range 64 {
			wg.Go(func() {
				for i := next.Add(1); i <= 2000; i = next.Add(1) {
					q := fmt.Sprint(i / 2) // everything twice
					req := ask(q)
					req.PromptTokens, req.MaxTokens = 10, 20
					if got := must(t, chain, req); got.Content != q {
						t.Errorf("asked %s, got %s", q, got.Content)
					}
				}
			})
		}
		wg.Wait()
		for q, times := range served {
			if times != 1 {
				t.Errorf("%s was paid %d times", q, times)
			}
		}
		s := m.Snapshot().Total
		if s.Calls != 2000 || s.Paid != int64(len(served)) || s.Shared != 2000-s.Paid || len(s.Failed) > 0 {
			t.Errorf("counted %+v for %d requests served", s, len(served))
		}
		if broken != 200 || s.Attempts != s.Paid+s.RateLimited+broken {
			t.Errorf("%d attempts are not %d paid, %d refused and %d (want 200) failed", s.Attempts, s.Paid, s.RateLimited, broken)
		}
	})
}

// When the money is spent the run stops, and what was paid is in the store.
func TestChainOverBudget(t *testing.T) {
	store, m := &mapStore{}, llm.NewMeter(cents)
	backend := &counting{}
	chain := fullChain(t, m, store, llm.Spend{CostUSD: 5}, llm.LimitConfig{}, backend) // 14 cents each
	var over atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			req := ask(fmt.Sprint(i))
			req.PromptTokens, req.MaxTokens = 10, 2
			if _, err := chain.Complete(t.Context(), req); err != nil {
				if e := llm.AsError(err); e == nil || e.Kind != llm.OverBudget {
					t.Errorf("error %v", err)
				}
				over.Add(1)
			}
		})
	}
	wg.Wait()
	s := m.Snapshot().Total
	// The last reservation that fits is 14 cents and 24 for the chat format.
	if s.CostUSD > 5 || s.CostUSD < 5-0.38 {
		t.Errorf("$%.2f spent of $5", s.CostUSD)
	}
	if s.Paid+over.Load() != 200 || int64(len(store.m)) != s.Paid || backend.n.Load() != s.Paid {
		t.Errorf("%d paid, %d over budget, %d stored, %d served", s.Paid, over.Load(), len(store.m), backend.n.Load())
	}
}

// BenchmarkChain shows what the chain costs per call: 64 workers, a backend
// that answers at once, distinct requests of 1 KB, no disk. "key" is the part
// of it that hashes the request, "bare" the backend alone.
func BenchmarkChain(b *testing.B) {
	usage := llm.Usage{PromptTokens: 250, CompletionTokens: 50}
	backend := llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Content: `{"reason":"it does","rating":4}`, Usage: usage}, nil
	})
	text := string(make([]byte, 0, 1024))
	for len(text) < 1000 {
		text += "The policy covers damage by hail. "
	}
	mk := func(i int64) *llm.Request {
		return &llm.Request{Endpoint: "e", Model: "m", PromptTokens: 250, MaxTokens: 100, Messages: []llm.Message{
			{Role: llm.System, Content: text}, {Role: llm.User, Content: fmt.Sprint(i)}}}
	}
	run := func(b *testing.B, do func(*llm.Request)) {
		b.ReportAllocs()
		var next atomic.Int64
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
					do(mk(i))
				}
			})
		}
		wg.Wait()
	}
	client := func(b *testing.B, c llm.Client) func(*llm.Request) {
		return func(req *llm.Request) {
			if _, err := c.Complete(b.Context(), req); err != nil {
				b.Error(err)
			}
		}
	}
	price := func(string, llm.Usage) (float64, bool) { return 1e-6, true }
	mkChain := func(b *testing.B, backend llm.Client) llm.Client {
		m, stop := llm.NewMeter(price), llm.NewStop()
		l := llm.NewLimiter(llm.LimitConfig{Concurrency: 64, RequestsPerMinute: 1e9, TokensPerMinute: 1e12, Stop: stop})
		budget := mustBudget(b, llm.BudgetConfig{Max: llm.Spend{CostUSD: 1e6}, Price: price, Models: []string{"m"}}, l.Wrap(m.Attempts(backend)))
		return m.Calls(&llm.Cached{Mode: llm.CacheOff, Next: llm.NewRetry(llm.RetryConfig{Stop: stop}, budget)})
	}
	b.Run("bare", func(b *testing.B) { run(b, client(b, backend)) })
	b.Run("key", func(b *testing.B) { run(b, func(req *llm.Request) { req.Key() }) })
	b.Run("chain", func(b *testing.B) { run(b, client(b, mkChain(b, backend))) })
	b.Run("memory hit", func(b *testing.B) {
		c := mkChain(b, backend)
		run(b, func(*llm.Request) { client(b, c)(mk(0)) })
	})
}
