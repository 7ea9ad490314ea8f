package llm

import (
	"cmp"
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"time"
)

// DefaultConcurrency is the most calls in flight where LimitConfig says nothing.
const DefaultConcurrency = 64

// LimitConfig says what a Limiter starts from.
type LimitConfig struct {
	// Concurrency is the most calls in flight; 0 means DefaultConcurrency.
	Concurrency int
	// RequestsPerMinute may be fractional; 0 to learn it from the server.
	RequestsPerMinute float64
	// TokensPerMinute counts input and output; 0 to learn it from the server.
	TokensPerMinute float64
	// Stop ends the calls that wait here; nil for a switch that is never set.
	// An error that no request can escape sets it before the next call is let
	// go. Share it with Retry.
	Stop *Stop
	// Log gets every change of a limit with its reason; nil for none.
	Log *slog.Logger
}

// RateInfo is what a reply's headers say about the server's limits. A nil
// field was not told.
type RateInfo struct {
	// LimitRequests and LimitTokens are the sizes of the server's budgets.
	LimitRequests, LimitTokens *float64
	// RemainingRequests and RemainingTokens are what is left of them.
	RemainingRequests, RemainingTokens *float64
	// ResetRequests and ResetTokens are the times until the budgets are whole
	// again.
	ResetRequests, ResetTokens *time.Duration
}

// Limiter keeps all calls to one endpoint, key and model within the server's
// limits: calls in flight, requests per minute and tokens per minute, taken
// together or not at all. Make one per endpoint, key and model, and Wrap every
// client that shares them.
//
// Calls are let go in the order in which they first came; a call that was
// refused and is tried again keeps its place before younger ones. The first in
// line is never passed by a smaller one, so that a big request does not starve;
// one that is above the whole limit of tokens goes alone.
//
// Requests and tokens are spread over the minute at 98.5 % of the limit, and
// no minute, wherever it starts, holds more than the limit. Limits that are not
// configured are learnt from headers by Observe. After a refusal (RateLimited) all
// calls wait as long as the server says; then fewer are let go at a time, and
// where that can't go lower, fewer per minute (see pace). A call that waits
// here holds neither a slot nor any goroutine but its own.
type Limiter struct {
	cfg LimitConfig

	mu       sync.Mutex
	queue    lineup
	tickets  uint64
	timer    *time.Timer
	slots    slots
	requests rate
	tokens   rate
	learnt   struct{ requests, tokens float64 }
	pace     pace
	brake    brake
	guess    estimator
}

// NewLimiter returns a Limiter that nothing has gone through yet.
func NewLimiter(cfg LimitConfig) *Limiter {
	cfg.Concurrency = cmp.Or(max(cfg.Concurrency, 0), DefaultConcurrency)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	now := time.Now()
	l := &Limiter{cfg: cfg, slots: newSlots(cfg.Concurrency)}
	l.requests.whole = true
	l.requests.set(max(cfg.RequestsPerMinute, 0), now)
	l.tokens.set(max(cfg.TokensPerMinute, 0), now)
	return l
}

// Wrap returns a client that calls next within the limits.
func (l *Limiter) Wrap(next Client) Client {
	return ClientFunc(func(ctx context.Context, req *Request) (*Response, error) {
		return l.call(ctx, req, next)
	})
}

func (l *Limiter) call(ctx context.Context, req *Request, next Client) (resp *Response, err error) {
	p, err := l.enter(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { l.leave(p, req, resp, err) }()
	resp, err = next.Complete(ctx, req)
	if e := AsError(err); e != nil && (e.Kind == Fatal || e.Kind == WaitTooLong) {
		// Set here and not only in Retry, so that the slot of this call is not
		// given to one that is bound to fail too.
		if p.try != nil {
			e = counted(e, err, p.try.n)
		}
		l.cfg.Stop.Set(e)
		err = e
	}
	return resp, err
}

// enter waits until the call may go.
func (l *Limiter) enter(ctx context.Context, req *Request) (*place, error) {
	p := &place{try: attemptFrom(ctx)}
	l.mu.Lock()
	p.tokens = l.guess.tokens(req)
	p.ticket = l.ticket(p.try)
	heap.Push(&l.queue, p)
	l.pump()
	if !p.granted {
		p.ready = make(chan struct{})
	}
	l.mu.Unlock()
	if p.ready != nil {
		select {
		case <-p.ready:
		case <-ctx.Done():
		case <-l.cfg.Stop.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		l.giveUp(p)
		return nil, notSent{err}
	}
	if err := l.cfg.Stop.Err(); err != nil {
		l.giveUp(p)
		return nil, err
	}
	return p, nil
}

// notSent is a context's error that came before the call was made, so that it
// is not taken for a call that may be charged for.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// ticket returns the call's place in line: the one it had at its first try.
func (l *Limiter) ticket(try *attempt) uint64 {
	if try != nil && try.ticket != 0 {
		return try.ticket
	}
	l.tickets++
	if try != nil {
		try.ticket = l.tickets
	}
	return l.tickets
}

// pump lets go as many as may go now, and sets the timer for the next.
func (l *Limiter) pump() {
	now := time.Now()
	for len(l.queue) > 0 && !l.slots.full() {
		p := l.queue[0]
		if d := l.delay(p, now); d > 0 {
			if l.timer == nil {
				l.timer = time.AfterFunc(d, l.wake)
			} else {
				l.timer.Reset(d)
			}
			return
		}
		heap.Pop(&l.queue)
		l.grant(p, now)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *Limiter) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pump()
}

func (l *Limiter) delay(p *place, now time.Time) time.Duration {
	return max(l.brake.wait(now), l.requests.wait(1, now), l.tokens.wait(p.tokens, now))
}

func (l *Limiter) grant(p *place, now time.Time) {
	l.slots.active++
	p.granted, p.at = true, now
	p.requestID = l.requests.take(1, now)
	p.tokensID = l.tokens.take(p.tokens, now)
	l.brake.passed(now, l.requests.limit == 0)
	if p.ready != nil {
		close(p.ready)
	}
}

// giveUp takes back a call that will not be made.
func (l *Limiter) giveUp(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.granted {
		l.slots.active--
		l.requests.correct(p.requestID, 1, 0)
		l.tokens.correct(p.tokensID, p.tokens, 0)
	} else {
		heap.Remove(&l.queue, p.index)
	}
	l.pump()
}

// leave takes in how a call ended and lets the next go.
func (l *Limiter) leave(p *place, req *Request, resp *Response, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch e := AsError(err); {
	case resp != nil:
		l.answered(p, req, resp, now)
	case e != nil && e.Kind == RateLimited:
		l.refused(p, e, now)
	}
	l.slots.active--
	l.pump()
}

func (l *Limiter) answered(p *place, req *Request, resp *Response, now time.Time) {
	l.brake.strikes = 0
	if resp.Usage.known() {
		l.guess.learn(req, resp.Usage)
		l.tokens.correct(p.tokensID, p.tokens, float64(resp.Usage.total()))
	}
	if p.try != nil && p.try.n > 1 {
		return // it waited first: no evidence that there is room
	}
	if l.slots.full() && l.slots.grow() {
		l.cfg.Log.Debug("slots raised", "slots", l.slots.count(), "reason", "all were in use and a call was answered")
	}
	if len(l.queue) > 0 && l.pace.grow(now, l.base()) {
		l.apply(now)
		if l.pace.limit == 0 {
			l.cfg.Log.Info("own pace lifted", "requests_per_minute", l.requests.limit, "reason", "no refusal while it rose")
		}
	}
}

func (l *Limiter) refused(p *place, e *Error, now time.Time) {
	l.requests.forget(p.requestID)
	l.tokens.forget(p.tokensID)
	until := l.brake.pull(now, e.RetryAfter, l.slots.count())
	if !p.at.After(l.brake.last) {
		return // let go before the last decrease: it says nothing new
	}
	l.brake.strikes++
	l.brake.last = now
	l.cfg.Log.Info("all calls wait", "wait", until.Sub(now).Round(time.Millisecond), "reason", "refused: "+e.Code, "told", e.RetryAfter)
	if flight := l.slots.active; l.pace.limit == 0 && l.slots.canShrink(flight) {
		l.slots.shrink(flight)
		l.cfg.Log.Info("slots lowered", "slots", l.slots.count(), "in_flight", flight, "reason", "refused: "+e.Code)
		return
	}
	l.requests.recent.prune(now)
	l.pace.slow(now, l.requests.recent.sum)
	l.apply(now)
	l.cfg.Log.Info("own pace lowered", "requests_per_minute", l.requests.limit, "reason", "refused with the fewest calls in flight: "+e.Code)
}

// base returns the limit of requests that is configured or learnt, or 0.
func (l *Limiter) base() float64 {
	return cmp.Or(max(l.cfg.RequestsPerMinute, 0), l.learnt.requests)
}

// apply sets the limit of requests to the lower of the known one and our pace.
func (l *Limiter) apply(now time.Time) {
	limit := l.base()
	if p := l.pace.limit; p > 0 && (limit == 0 || p < limit) {
		limit = p
	}
	l.requests.set(limit, now)
}

// Observe takes in what a reply's headers say. A limit that is configured
// is kept; one that is not is taken to be per minute, unless its reset shows
// that it is about a longer time (a day's quota is not a pace).
func (l *Limiter) Observe(info RateInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.cfg.RequestsPerMinute <= 0 {
		if l.learn("requests", &l.learnt.requests, info.LimitRequests, info.ResetRequests) {
			l.apply(now)
		}
		if info.RemainingRequests != nil && l.learnt.requests > 0 {
			l.requests.atMost(*info.RemainingRequests, now)
		}
	}
	if l.cfg.TokensPerMinute <= 0 {
		if l.learn("tokens", &l.learnt.tokens, info.LimitTokens, info.ResetTokens) {
			l.tokens.set(l.learnt.tokens, now)
		}
		if info.RemainingTokens != nil && l.learnt.tokens > 0 {
			l.tokens.atMost(*info.RemainingTokens, now)
		}
	}
	l.pump()
}

// longestReset is the longest time in which a limit per minute is whole again.
const longestReset = 75 * time.Second

// learn stores a limit told by the server and reports whether it changed.
func (l *Limiter) learn(what string, have, told *float64, reset *time.Duration) bool {
	if told == nil || !(*told > 0) || *told > 1e12 {
		return false
	}
	limit, reason := *told, "told by the server's headers"
	if reset != nil && *reset > longestReset {
		limit, reason = 0, "the server's limit is not per minute: whole again in "+reset.String()
	}
	if limit == *have {
		return false
	}
	l.cfg.Log.Info("limit of "+what+" changed", "per_minute", limit, "before", *have, "reason", reason)
	*have = limit
	return true
}

// LimitState is what a Limiter does at one moment.
type LimitState struct {
	// Slots is the most calls in flight at present, Active how many there are,
	// Waiting how many stand in line.
	Slots, Active, Waiting int
	// RequestsPerMinute and TokensPerMinute are the limits in force; 0 for none.
	RequestsPerMinute, TokensPerMinute float64
	// Cooldown is how long all calls still wait after a refusal.
	Cooldown time.Duration
}

// State returns what the limiter does now.
func (l *Limiter) State() LimitState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return LimitState{
		Slots: l.slots.count(), Active: l.slots.active, Waiting: len(l.queue),
		RequestsPerMinute: l.requests.limit, TokensPerMinute: l.tokens.limit,
		Cooldown: max(time.Until(l.brake.until), 0),
	}
}

// place is a call's place in line, and what it was given when it came first.
type place struct {
	ticket uint64
	index  int
	tokens float64
	try    *attempt
	ready  chan struct{}

	granted             bool
	at                  time.Time
	requestID, tokensID uint64
}

// lineup is a heap of places, lowest ticket first.
type lineup []*place

func (q lineup) Len() int           { return len(q) }
func (q lineup) Less(i, j int) bool { return q[i].ticket < q[j].ticket }
func (q lineup) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *lineup) Push(x any) {
	p := x.(*place)
	p.index = len(*q)
	*q = append(*q, p)
}

func (q *lineup) Pop() any {
	old := *q
	p := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return p
}
