package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

func transient(code string) *llm.Error {
	return &llm.Error{Kind: llm.Transient, Code: code, Status: 503}
}

func TestRetry(t *testing.T) {
	ok := func(int) error { return nil }
	always := func(err error) func(int) error { return func(int) error { return err } }
	until := func(n int, err error) func(int) error {
		return func(i int) error {
			if i < n {
				return err
			}
			return nil
		}
	}
	cases := []struct {
		name     string
		cfg      llm.RetryConfig
		fn       func(try int) error
		kind     llm.Kind // 0: a reply
		tries    int
		min, max time.Duration
	}{
		{"a reply", llm.RetryConfig{}, ok, 0, 1, 0, 0},
		{"transient, then a reply", llm.RetryConfig{}, until(3, transient("http_503")), 0, 3, 1500 * time.Millisecond, 4500 * time.Millisecond},
		{"transient for ever", llm.RetryConfig{}, always(transient("http_503")), llm.Transient, 6, 15 * time.Second, 47 * time.Second},
		{"transient, 2 tries", llm.RetryConfig{MaxAttempts: 2}, always(transient("timeout")), llm.Transient, 2, 500 * time.Millisecond, 1500 * time.Millisecond},
		{"no retry", llm.RetryConfig{MaxAttempts: 1}, always(transient("timeout")), llm.Transient, 1, 0, 0},
		{"transient that tells a wait", llm.RetryConfig{}, until(2, &llm.Error{Kind: llm.Transient, Code: "http_503", RetryAfter: 20 * time.Second}), 0, 2, 20 * time.Second, 22 * time.Second},
		{"row", llm.RetryConfig{}, always(&llm.Error{Kind: llm.Row, Code: "context_too_long"}), llm.Row, 1, 0, 0},
		{"fatal", llm.RetryConfig{}, always(&llm.Error{Kind: llm.Fatal, Code: "invalid_api_key"}), llm.Fatal, 1, 0, 0},
		{"over budget", llm.RetryConfig{}, always(&llm.Error{Kind: llm.OverBudget, Code: "over_budget_money"}), llm.OverBudget, 0, 0, 0},
		{"refused ten times, told 20 s", llm.RetryConfig{}, until(11, refusal(20*time.Second)), 0, 11, 200 * time.Second, 220 * time.Second},
		{"refused for ever, told 20 s", llm.RetryConfig{}, always(refusal(20 * time.Second)), llm.RateLimited, 16, 280 * time.Second, 330 * time.Second},
		{"refused for ever, told nothing", llm.RetryConfig{}, always(refusal(0)), llm.RateLimited, 0, 200 * time.Second, 300 * time.Second},
		{"told as much as allowed", llm.RetryConfig{}, until(2, refusal(5*time.Minute)), 0, 2, 5 * time.Minute, 5*time.Minute + 2*time.Second},
		{"told more than allowed", llm.RetryConfig{}, always(refusal(5*time.Minute + time.Second)), llm.WaitTooLong, 1, 0, 0},
		{"told more than allowed, 503", llm.RetryConfig{MaxWait: time.Minute}, always(&llm.Error{Kind: llm.Transient, Code: "http_503", RetryAfter: time.Hour}), llm.WaitTooLong, 1, 0, 0},
		{"wrapped", llm.RetryConfig{}, until(2, fmt.Errorf("call: %w", transient("reset"))), 0, 2, 500 * time.Millisecond, 1500 * time.Millisecond},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				r := llm.NewRetry(c.cfg, llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
					tries++
					if err := c.fn(tries); err != nil {
						return nil, err
					}
					return &llm.Response{Content: "ok"}, nil
				}))
				start := time.Now()
				resp, err := r.Complete(t.Context(), &llm.Request{})
				took := time.Since(start)
				if c.kind == 0 {
					if err != nil || resp == nil {
						t.Fatalf("error %v, want a reply", err)
					}
				} else {
					e := llm.AsError(err)
					if e == nil || e.Kind != c.kind {
						t.Fatalf("error %v, want kind %v", err, c.kind)
					}
					want := tries
					if c.kind == llm.OverBudget {
						want = 0 // it was never tried
					}
					if e.Attempts != want {
						t.Errorf("the error tells %d attempts, want %d", e.Attempts, want)
					}
				}
				if c.tries > 0 && tries != c.tries {
					t.Errorf("%d tries, want %d", tries, c.tries)
				}
				if took < c.min || took > c.max {
					t.Errorf("took %v, want %v to %v", took, c.min, c.max)
				}
			})
		})
	}
}

// Chance only adds to a wait that the server told, and no wait of our own is
// above a minute.
func TestRetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last, n := time.Now(), 0
		r := llm.NewRetry(llm.RetryConfig{MaxAttempts: 200, MaxWait: time.Hour}, llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
			gap := time.Since(last)
			last = time.Now()
			n++
			switch {
			case n == 1:
			case n%2 == 0 && (gap < 7*time.Second || gap > 7700*time.Millisecond):
				t.Errorf("waited %v where 7 s were told", gap)
			case n%2 == 1 && gap > time.Minute:
				t.Errorf("waited %v", gap)
			}
			if n%2 == 1 {
				return nil, refusal(7 * time.Second)
			}
			return nil, transient("http_500")
		}))
		if _, err := r.Complete(t.Context(), &llm.Request{}); err == nil {
			t.Error("no error")
		}
		if n != 400 {
			t.Errorf("%d tries, want 400", n)
		}
	})
}

// The message of a wait that is too long says until when, and what to do.
func TestRetryWaitTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		stop := llm.NewStop()
		r := llm.NewRetry(llm.RetryConfig{Stop: stop}, llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
			calls++
			return nil, refusal(3 * time.Hour)
		}))
		_, err := r.Complete(t.Context(), &llm.Request{})
		until := time.Now().Add(3 * time.Hour).Format("2006-01-02 15:04:05")
		e := llm.AsError(err)
		if e == nil || e.Kind != llm.WaitTooLong || !strings.Contains(e.Message, until) || e.Hint == "" || e.RetryAfter != 3*time.Hour {
			t.Fatalf("error %#v, want one that says until %s", e, until)
		}
		_, again := r.Complete(t.Context(), &llm.Request{})
		if again != err || stop.Err() != err || calls != 1 {
			t.Errorf("the next call gave %v after %d calls, want the same error and no call", again, calls)
		}
	})
}

// A daily quota says until when too, if the server told it, on whichever way it
// reaches the caller.
func TestQuotaSaysUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quota := llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
			return nil, &llm.Error{Kind: llm.WaitTooLong, Code: "daily_quota", Status: 429, Message: "Daily quota used.", RetryAfter: 45256 * time.Second}
		})
		until := "12h34m16s, until " + time.Now().Add(45256*time.Second).Format("2006-01-02 15:04:05")
		for name, next := range map[string]llm.Client{"without": quota, "with": llm.NewLimiter(llm.LimitConfig{}).Wrap(quota)} {
			_, err := llm.NewRetry(llm.RetryConfig{}, next).Complete(t.Context(), &llm.Request{})
			if e := llm.AsError(err); e == nil || strings.Count(e.Message, until) != 1 {
				t.Errorf("%s a limiter: %v; want it to say once %q", name, err, until)
			}
		}
	})
}

// A context that ends, or a switch that is set, ends a wait at once.
func TestRetryWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := llm.NewStop()
		r := llm.NewRetry(llm.RetryConfig{Stop: stop}, llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
			return nil, refusal(time.Minute)
		}))
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := r.Complete(ctx, &llm.Request{})
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("error %v after %v, want the context's after 1 s", err, time.Since(start))
			}
		})
		wg.Go(func() {
			_, err := r.Complete(t.Context(), &llm.Request{})
			if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || time.Since(start) != 2*time.Second {
				t.Errorf("error %v after %v, want the switch's after 2 s", err, time.Since(start))
			}
		})
		time.Sleep(2 * time.Second)
		stop.Set(&llm.Error{Kind: llm.Fatal, Code: "insufficient_quota"})
		stop.Set(&llm.Error{Kind: llm.Fatal, Code: "later"})
		wg.Wait()
		if e := llm.AsError(stop.Err()); e.Code != "insufficient_quota" {
			t.Errorf("the switch holds %v, want the first error", e)
		}
	})
}

// An error shared by several calls is not changed by any of them.
func TestRetryCopiesErrors(t *testing.T) {
	one := &llm.Error{Kind: llm.Row, Code: "bad_request"}
	r := llm.NewRetry(llm.RetryConfig{}, llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) { return nil, one }))
	_, err := r.Complete(t.Context(), &llm.Request{})
	if one.Attempts != 0 || llm.AsError(err).Attempts != 1 {
		t.Errorf("the shared error tells %d attempts, the returned %d; want 0 and 1", one.Attempts, llm.AsError(err).Attempts)
	}
}

// A waiting retry holds no slot.
func TestRetryHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArrivals(func(n int, req *llm.Request) (*llm.Response, error) {
			if n == 1 {
				return nil, transient("http_500")
			}
			return reply(req), nil
		})
		chain := llm.NewRetry(llm.RetryConfig{}, llm.NewLimiter(llm.LimitConfig{Concurrency: 1}).Wrap(a))
		var wg sync.WaitGroup
		wg.Go(func() { chain.Complete(t.Context(), named("failing", 1)) })
		synctest.Wait()
		if _, err := chain.Complete(t.Context(), named("other", 1)); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(a.t0); d != 0 {
			t.Errorf("the other call waited %v for the one slot", d)
		}
		wg.Wait()
	})
}

func TestNilStop(t *testing.T) {
	var s *llm.Stop
	s.Set(errors.New("x"))
	if s.Err() != nil || s.Done() != nil {
		t.Error("a nil switch is set")
	}
}
