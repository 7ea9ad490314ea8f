package llm

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// The settings of Retry where RetryConfig leaves them at zero.
const (
	DefaultMaxAttempts = 6
	DefaultMaxWait     = 5 * time.Minute
	// DefaultBackoff and MaxBackoff bound the waits that we choose ourselves:
	// about 1 s at first, doubled each time, never above 60 s.
	DefaultBackoff = time.Second
	MaxBackoff     = 60 * time.Second
)

// RetryConfig says how often and how long Retry tries.
type RetryConfig struct {
	// Bound is shared by all Retry clients of a run; nil for none.
	Bound *RetryBound
	// MaxAttempts is how many times a call is tried that fails with Transient,
	// the first try included; 0 means DefaultMaxAttempts, 1 means no retry.
	MaxAttempts int
	// MaxWait bounds, per call, the waits after RateLimited taken together, and
	// every single wait that the server asks for; 0 means DefaultMaxWait.
	MaxWait time.Duration
	// Stop is set by the first error that ends all calls; nil for a switch of
	// its own. Share it with the Limiter.
	Stop *Stop
	// Log gets a line for each retry, at debug level; nil for none.
	Log *slog.Logger
}

// Retry tries a call again where that may help.
//
//   - Transient: after a wait, up to MaxAttempts tries in all.
//   - RateLimited: after a wait; these tries are not counted, but the waits add
//     up to MaxWait at most.
//   - Row, OverBudget and errors that are no *Error: never.
//   - Fatal, WaitTooLong: never, and every later call returns the same error
//     without going further down the chain.
//
// The wait is the one that the server asked for, else an exponential backoff.
// Chance only lengthens a wait that the server asked for. A single one
// above MaxWait is not waited for: it becomes a WaitTooLong that says until
// when. A waiting call holds nothing: neither slot nor reservation. The error
// that is returned in the end tells in Attempts how many tries there were.
type Retry struct {
	cfg  RetryConfig
	next Client
}

// NewRetry returns a Retry in front of next.
func NewRetry(cfg RetryConfig, next Client) *Retry {
	cfg.MaxAttempts = cmp.Or(max(cfg.MaxAttempts, 0), DefaultMaxAttempts)
	cfg.MaxWait = cmp.Or(max(cfg.MaxWait, 0), DefaultMaxWait)
	if cfg.Stop == nil {
		cfg.Stop = NewStop()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Retry{cfg: cfg, next: next}
}

// attempt travels down the chain with each try of one call. It is used by one
// goroutine at a time.
type attempt struct {
	// n numbers the tries of the call, from 1.
	n int
	// ticket is the call's place in the limiter's queue; 0 before it was there.
	// A retry keeps it, so that a refused call goes before younger ones.
	ticket uint64
}

type attemptKey struct{}

// attemptFrom returns the attempt of the context, or nil.
func attemptFrom(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// Complete calls the next client until there is a reply, an error that a retry
// can't mend, or no try left.
func (r *Retry) Complete(ctx context.Context, req *Request) (*Response, error) {
	var (
		try    attempt
		failed int           // tries that ended with Transient
		waited time.Duration // after RateLimited
		waits  waits
	)
	tryCtx := context.WithValue(ctx, attemptKey{}, &try)
	for {
		if err := r.cfg.Stop.Err(); err != nil {
			return nil, err
		}
		if try.n++; try.n == 1 {
			r.cfg.Bound.call()
		}
		resp, err := r.next.Complete(tryCtx, req)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := AsError(err)
		if e == nil || err == r.cfg.Stop.Err() {
			return nil, err
		}
		e = counted(e, err, try.n)
		if e.Kind.StopsRun() {
			r.stop(e)
			return nil, e
		}
		if e.Kind != Transient && e.Kind != RateLimited {
			return nil, e
		}
		if e.RetryAfter > r.cfg.MaxWait {
			e = tooLong(e, r.cfg.MaxWait)
			r.stop(e)
			return nil, e
		}
		wait := waits.next(e.RetryAfter)
		if e.Kind == Transient {
			failed++
			if failed >= r.cfg.MaxAttempts {
				return nil, e
			}
			if over := r.cfg.Bound.again(e); over != nil {
				return nil, over
			}
		} else {
			waited += cmp.Or(e.RetryAfter, wait)
			if waited > r.cfg.MaxWait {
				return nil, e
			}
		}
		r.cfg.Log.Debug("call is tried again", "cause", e.Code, "status", e.Status, "wait", wait, "attempt", try.n,
			"metric", req.Tag.Metric, "step", req.Tag.Step)
		if err := r.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// stop ends all calls, unless the error is about money: whether the next call
// fits the budget is for the budget to say, and it needs no call for that.
func (r *Retry) stop(e *Error) {
	if e.Kind != OverBudget {
		r.cfg.Stop.Set(e)
	}
}

// sleep waits for d, or until the context or all calls end.
func (r *Retry) sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.cfg.Stop.Done():
		return r.cfg.Stop.Err()
	}
}

// counted returns e with its number of attempts. It copies: an error may be
// shared by several calls.
func counted(e *Error, wrapped error, n int) *Error {
	if e.Kind == OverBudget {
		n-- // refused before the try was made
	}
	c := *e
	c.Attempts = n
	if wrapped != error(e) {
		c.Err = wrapped
	}
	if e.Kind == WaitTooLong && e.RetryAfter > 0 && !strings.Contains(e.Message, untilWord) {
		c.Message = strings.TrimSuffix(e.Message, ".") + "; the server asks to wait " + waitWords(e.RetryAfter)
	}
	return &c
}

const untilWord = ", until "

// waitWords tells a wait that begins now, for people: how long, and until when.
func waitWords(d time.Duration) string {
	return d.Round(time.Second).String() + untilWord + time.Now().Add(d).Format("2006-01-02 15:04:05 MST")
}

// tooLong turns an error whose wait is above limit into one that stops the run.
func tooLong(e *Error, limit time.Duration) *Error {
	return &Error{
		Kind: WaitTooLong, Code: "wait_too_long", Status: e.Status,
		Message: fmt.Sprintf("the server asks to wait %s, which is more than the %s allowed (%s: %s)",
			waitWords(e.RetryAfter), limit, e.Code, e.Message),
		Hint:       "start the same command again after that time, or allow a longer wait",
		RetryAfter: e.RetryAfter, Attempts: e.Attempts, Err: e,
	}
}

// waits gives the waits of one call.
type waits struct{ policy *backoff.ExponentialBackOff }

// next returns the next wait: what the server told, else the backoff's.
func (w *waits) next(told time.Duration) time.Duration {
	if told > 0 {
		return told + jitter(told)
	}
	if w.policy == nil {
		w.policy = backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(DefaultBackoff),
			backoff.WithMultiplier(2),
			backoff.WithRandomizationFactor(0.5),
			backoff.WithMaxInterval(MaxBackoff),
			backoff.WithMaxElapsedTime(0), // tries and waits are bounded by Retry
		)
	}
	// The library applies chance after the cap; the cap is to hold.
	return min(w.policy.NextBackOff(), MaxBackoff)
}

// jitter returns a time to add to a wait of d, so that those who were told the
// same wait don't all return in one instant: up to a tenth of it, 2 s at most.
func jitter(d time.Duration) time.Duration {
	return time.Duration(rand.Float64() * float64(min(d/10, 2*time.Second)))
}
