package llm_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// flights records what reaches the client behind a Preflight, and fails the
// probes as told.
type flights struct {
	mu    sync.Mutex
	calls []string
	fail  []error // of the probes, in order
}

func (f *flights) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, req.Model+" "+req.Messages[0].Content)
	if req.Messages[0].Content == "probe" && len(f.fail) > 0 {
		err := f.fail[0]
		f.fail = f.fail[1:]
		if err != nil {
			return nil, err
		}
	}
	return &llm.Response{Content: "ok", Model: req.Model}, nil
}

func asking(model, text string) *llm.Request {
	return &llm.Request{Endpoint: "e", Model: model, Messages: []llm.Message{{Role: llm.User, Content: text}}}
}

func preflight(f *flights, done func(*llm.Request, *llm.Response, error)) *llm.Preflight {
	return &llm.Preflight{Next: f, Done: done, Probe: func(first *llm.Request) *llm.Request { return asking(first.Model, "probe") }}
}

// TestPreflightGoesFirst starts many calls to two models at once: each model's
// probe is made once, and before any of them.
func TestPreflightGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flights{}
		var told atomic.Int32
		p := preflight(f, func(_ *llm.Request, resp *llm.Response, err error) {
			if told.Add(1); err != nil || resp.Content != "ok" {
				t.Errorf("the probe ended with %v, %v", resp, err)
			}
		})
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if _, err := p.Complete(t.Context(), asking([]string{"a", "b"}[i%2], "row")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if told.Load() != 2 || len(f.calls) != 22 {
			t.Fatalf("%d probes told, %d calls", told.Load(), len(f.calls))
		}
		if first := slices.Sorted(slices.Values(f.calls[:2])); !slices.Equal(first, []string{"a probe", "b probe"}) {
			t.Errorf("the first calls were %q", first)
		}
	})
}

// TestPreflightFails: what stops the run is told instead of a reply; a row's
// failure and one that may pass are left to the calls.
func TestPreflightFails(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int // after two rows
	}{
		"fatal":      {&llm.Error{Kind: llm.Fatal, Code: "invalid_api_key"}, 1},
		"quota":      {&llm.Error{Kind: llm.WaitTooLong, Code: "daily_quota"}, 1},
		"row":        {&llm.Error{Kind: llm.Row, Code: "context_too_long"}, 3},
		"transient":  {&llm.Error{Kind: llm.Transient, Code: "timeout"}, 3},
		"nothing is": {nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &flights{fail: []error{c.err}}
				p := preflight(f, nil)
				_, err := p.Complete(t.Context(), asking("m", "row"))
				if llm.StopsRun(c.err) {
					if !errors.Is(err, c.err) || len(f.calls) != c.calls {
						t.Errorf("%v after %q", err, f.calls)
					}
					return
				}
				if _, again := p.Complete(t.Context(), asking("m", "row")); err != nil || again != nil || len(f.calls) != c.calls {
					t.Errorf("%v, %v after %q", err, again, f.calls)
				}
			})
		})
	}
}

// TestPreflightOfACallerWhoGaveUp: the next caller makes it.
func TestPreflightOfACallerWhoGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flights{}
		p := preflight(f, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := p.Complete(ctx, asking("m", "row")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if _, err := p.Complete(t.Context(), asking("m", "row")); err != nil || !slices.Equal(f.calls, []string{"m probe", "m row"}) {
			t.Errorf("%v after %q", err, f.calls)
		}
	})
}

// TestNoProbeNeeded: nothing but the call itself is made.
func TestNoProbeNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flights{}
		p := &llm.Preflight{Next: f, Probe: func(*llm.Request) *llm.Request { return nil }}
		if _, err := p.Complete(t.Context(), asking("m", "row")); err != nil || len(f.calls) != 1 {
			t.Errorf("%v after %q", err, f.calls)
		}
	})
}
