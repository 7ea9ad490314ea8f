package llm_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// arrivals is a backend that notes when calls arrive, and answers by fn.
type arrivals struct {
	mu sync.Mutex
	at []time.Duration
	by []string // Tag.Step
	t0 time.Time
	fn func(n int, req *llm.Request) (*llm.Response, error)
}

func newArrivals(fn func(n int, req *llm.Request) (*llm.Response, error)) *arrivals {
	return &arrivals{t0: time.Now(), fn: fn}
}

func (a *arrivals) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	a.mu.Lock()
	a.at = append(a.at, time.Since(a.t0))
	a.by = append(a.by, req.Tag.Step)
	n := len(a.at)
	a.mu.Unlock()
	return a.fn(n, req)
}

func (a *arrivals) seen() ([]time.Duration, []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.at), slices.Clone(a.by)
}

func named(step string, tokens int) *llm.Request {
	return &llm.Request{Model: "m", PromptTokens: tokens, MaxTokens: 1, Tag: llm.Tag{Step: step}}
}

func reply(req *llm.Request) *llm.Response {
	return &llm.Response{Content: "ok", Usage: llm.Usage{PromptTokens: req.PromptTokens, CompletionTokens: 1}}
}

func refusal(d time.Duration) error {
	return &llm.Error{Kind: llm.RateLimited, Code: "rate_limit_exceeded", Status: 429, RetryAfter: d}
}

// A big request is served in its turn though small ones keep coming, and one
// that is above the whole limit goes alone.
func TestLimiterBigRequests(t *testing.T) {
	for _, size := range []int{5_000, 9_900, 25_000} {
		synctest.Test(t, func(t *testing.T) {
			a := newArrivals(func(_ int, req *llm.Request) (*llm.Response, error) { return reply(req), nil })
			c := llm.NewLimiter(llm.LimitConfig{TokensPerMinute: 10_000}).Wrap(a)
			var wg sync.WaitGroup
			send := func(step string, tokens int) {
				wg.Go(func() {
					if _, err := c.Complete(t.Context(), named(step, tokens)); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
			}
			for range 5 {
				send("before", 500)
			}
			send("big", size)
			for range 5 {
				send("after", 500)
			}
			wg.Wait()
			at, by := a.seen()
			i := slices.Index(by, "big")
			if i != 5 {
				t.Errorf("size %d: the big request came as number %d, want 6 (its turn)", size, i+1)
			}
			if at[i] > 3*time.Minute {
				t.Errorf("size %d: the big request waited %v", size, at[i])
			}
			if size > 10_000 {
				if d := at[i] - at[i-1]; d < time.Minute {
					t.Errorf("size %d: a request above the limit came %v after another", size, d)
				}
				if d := at[i+1] - at[i]; d < 2*time.Minute {
					t.Errorf("size %d: the next came after %v; the tokens were not made up for", size, d)
				}
			}
		})
	}
}

// One refusal holds back every worker for as long as the server says, no
// longer than a tenth more, and then they don't come all at once.
func TestLimiterSharedCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = 30 * time.Second
		a := newArrivals(nil)
		a.fn = func(n int, req *llm.Request) (*llm.Response, error) {
			if n == 100 {
				return nil, refusal(wait)
			}
			time.Sleep(time.Second)
			return reply(req), nil
		}
		chain := llm.NewRetry(llm.RetryConfig{}, llm.NewLimiter(llm.LimitConfig{Concurrency: 32}).Wrap(a))
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				for range 10 {
					if _, err := chain.Complete(t.Context(), named("", 10)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		at, _ := a.seen()
		refused := at[99]
		var after []time.Duration
		for _, d := range at[100:] {
			if d > refused {
				after = append(after, d-refused)
			}
		}
		if after[0] < wait {
			t.Errorf("a call came %v after the refusal, want none before %v", after[0], wait)
		}
		if after[0] > wait*11/10 {
			t.Errorf("the first call came only %v after the refusal", after[0])
		}
		instant := map[time.Duration]int{}
		for _, d := range after[:10] {
			instant[d]++
		}
		if len(instant) < 10 {
			t.Errorf("the first ten calls after the wait came at %d different times: a herd", len(instant))
		}
	})
}

// A refused call keeps its place: it goes before calls that came after it.
func TestLimiterRefusedKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArrivals(func(n int, req *llm.Request) (*llm.Response, error) {
			if n == 1 {
				return nil, refusal(10 * time.Second)
			}
			return reply(req), nil
		})
		// 1 a minute: when the refused call is back in line, the others wait.
		chain := llm.NewRetry(llm.RetryConfig{}, llm.NewLimiter(llm.LimitConfig{RequestsPerMinute: 1}).Wrap(a))
		var wg sync.WaitGroup
		for _, name := range []string{"first", "second", "third"} {
			wg.Go(func() { chain.Complete(t.Context(), named(name, 1)) })
			synctest.Wait()
		}
		wg.Wait()
		if _, by := a.seen(); !slices.Equal(by, []string{"first", "first", "second", "third"}) {
			t.Errorf("calls came in the order %v", by)
		}
	})
}

// A caller that gives up leaves at once and takes nothing from the others.
func TestLimiterGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArrivals(func(_ int, req *llm.Request) (*llm.Response, error) { return reply(req), nil })
		l := llm.NewLimiter(llm.LimitConfig{RequestsPerMinute: 6})
		c := l.Wrap(a)
		if _, err := c.Complete(t.Context(), named("a", 1)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := c.Complete(ctx, named("gone", 1)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v, want the context's", err)
				}
			})
		}
		synctest.Wait()
		if s := l.State(); s.Waiting != 50 {
			t.Errorf("%d wait, want 50", s.Waiting)
		}
		wg.Wait()
		if d := time.Since(a.t0); d != time.Second {
			t.Errorf("they left after %v, want 1 s", d)
		}
		if _, err := c.Complete(t.Context(), named("b", 1)); err != nil {
			t.Fatal(err)
		}
		if at, _ := a.seen(); len(at) != 2 || at[1] > 10300*time.Millisecond {
			t.Errorf("calls came at %v, want the second at about 10 s", at)
		}
		if s := l.State(); s.Active != 0 || s.Waiting != 0 {
			t.Errorf("state %+v after all calls ended", s)
		}
	})
}

// The calls in flight start few, grow while all slots are used, and never
// exceed what is configured.
func TestLimiterSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &enforcing{admit: func(time.Time, float64) time.Duration { return 0 }, latency: func() time.Duration { return time.Second }}
		s.start = time.Now()
		c := llm.NewLimiter(llm.LimitConfig{Concurrency: 50}).Wrap(s)
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() { c.Complete(t.Context(), request(i, 1)) })
		}
		time.Sleep(500 * time.Millisecond)
		s.mu.Lock()
		if s.most != 8 {
			t.Errorf("%d in flight in the first round, want 8", s.most)
		}
		s.mu.Unlock()
		wg.Wait()
		if s.most != 50 {
			t.Errorf("%d in flight at most, want 50", s.most)
		}
	})
}

// A wrong key, or a quota that lasts for hours, costs the calls that were in
// flight, and no more; nobody waits.
func TestLimiterStop(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind llm.Kind
	}{
		{&llm.Error{Kind: llm.Fatal, Code: "invalid_api_key", Status: 401}, llm.Fatal},
		{&llm.Error{Kind: llm.WaitTooLong, Code: "daily_quota", Status: 429}, llm.WaitTooLong},
		{refusal(3 * time.Hour), llm.WaitTooLong},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newArrivals(func(int, *llm.Request) (*llm.Response, error) {
				time.Sleep(100 * time.Millisecond)
				return nil, c.err
			})
			stop := llm.NewStop()
			chain := llm.NewRetry(llm.RetryConfig{Stop: stop}, llm.NewLimiter(llm.LimitConfig{Stop: stop}).Wrap(a))
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					for range 5 {
						_, err := chain.Complete(t.Context(), named("", 1))
						if e := llm.AsError(err); e == nil || e.Kind != c.kind || e.Attempts != 1 {
							t.Errorf("error %v, want one of kind %v after 1 attempt", err, c.kind)
						}
					}
				})
			}
			wg.Wait()
			if at, _ := a.seen(); len(at) != 8 {
				t.Errorf("%v: %d calls reached the server, want the 8 that were in flight", c.err, len(at))
			}
			if d := time.Since(a.t0); d != 100*time.Millisecond {
				t.Errorf("%v: the calls ended after %v, want 100 ms", c.err, d)
			}
		})
	}
}
