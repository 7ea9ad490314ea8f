package llm

import (
	"cmp"
	"container/heap"
	"context"
	"log/slog"
	"net/http"
	"strings"
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
	// MaxWait bounds the waits that the limiter makes up where the server told
	// none, or one that was too short; 0 for a minute.
	MaxWait time.Duration
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
// configured are learnt from headers by Observe, and where a server tells none,
// from its refusals (see pace): 97 % or so of 60 a minute and more, with 1 % of
// refusals at first and fewer later; at 3 a minute a try for more costs one call
// of three, and such tries become rare.
//
// After a refusal (RateLimited) all calls wait as long as the server says, and
// then go one by one. If the refusal says that it is the rest of a window, or
// comes again soon, fewer are let go per minute; otherwise fewer at a time. What
// a server says about tokens (in its message) bounds tokens, anything else
// requests. A call that waits here holds neither a slot nor any goroutine but
// its own.
type Limiter struct {
	cfg LimitConfig

	mu       sync.Mutex
	queue    lineup
	tickets  uint64
	timer    *time.Timer
	began    time.Time // when the first call was let go
	slots    slots
	requests rate
	tokens   rate
	learnt   struct{ requests, tokens float64 }
	pace     pace // of requests
	volume   pace // of tokens
	brake    brake
	guess    estimator
	notes    notes
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
	l.pace.unit = 1
	l.notes.log = cfg.Log
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
	if l.began.IsZero() {
		l.began = now
	}
	p.granted, p.at, p.nth = true, now, l.brake.since
	l.brake.since++
	p.requestID = l.requests.take(1, now)
	p.tokensID = l.tokens.take(p.tokens, now)
	l.brake.passed(p, now, l.requests.perSecond())
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
		l.brake.ended(p, now)
		l.answered(p, req, resp, now)
	case e != nil && e.Kind == RateLimited:
		l.refused(p, e, now)
	default:
		l.brake.ended(p, now)
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
	if len(l.queue) == 0 {
		return // the pace holds nobody back
	}
	l.rise("requests", &l.pace, &l.requests, 1, l.base(), now)
	l.rise("tokens", &l.volume, &l.tokens, p.tokens, l.baseTokens(), now)
}

// rise lets a pace grow after n was answered.
func (l *Limiter) rise(what string, p *pace, r *rate, n, base float64, now time.Time) {
	why := p.grow(now, n)
	if why == "" {
		return
	}
	if p.beyond(now, base, r.recent.sum) {
		*p = pace{unit: p.unit}
		l.apply(now)
		l.notes.info(now, "own pace of "+what+" lifted", "per_minute", r.limit, "reason", "no refusal while it rose")
		return
	}
	l.apply(now)
	if p.limit > p.noted*1.1 || p.limit < p.noted {
		p.noted = p.limit
		l.cfg.Log.Debug("own pace of "+what+" raised", "per_minute", r.limit, "reason", why)
	}
}

// secondSoon is the time in which a second refusal, with fewer calls in flight,
// shows that it is not their number that is refused.
const secondSoon = 90 * time.Second

// longTold is a wait that no server asks for because of the number of calls in
// flight, but for the rest of a window.
const longTold = 10 * time.Second

func (l *Limiter) refused(p *place, e *Error, now time.Time) {
	l.requests.forget(p.requestID)
	l.tokens.forget(p.tokensID)
	alone := l.brake.ended(p, now)
	until := l.brake.pull(now, e.RetryAfter, l.slots.count(), l.pace.limit+l.volume.limit > 0, l.cfg.MaxWait)
	if !p.at.After(l.brake.last) { // let go before the last decrease: part of the same burst
		if l.pace.settle(1) || l.volume.settle(p.tokens) {
			l.apply(now)
			l.cfg.Log.Debug("own pace set lower", "requests_per_minute", l.requests.limit, "tokens_per_minute", l.tokens.limit, "reason", "one more of the same burst was refused: "+e.Code)
		}
		return
	}
	l.brake.strikes++
	soon := !l.brake.last.IsZero() && now.Sub(l.brake.last) < max(secondSoon, 2*e.RetryAfter)
	answered := p.nth // those before it were not refused, or that would be known
	pace := float64(answered) / max(now.Sub(l.brake.last).Minutes(), 1./60)
	l.brake.last, l.brake.since = now, 0
	l.notes.info(now, "all calls wait", "wait", until.Sub(now).Round(time.Millisecond), "reason", "refused: "+e.Code, "told", e.RetryAfter)

	what, own, r, base := "requests", &l.pace, &l.requests, l.base()
	if l.aboutTokens(e, now) {
		what, own, r, base = "tokens", &l.volume, &l.tokens, l.baseTokens()
		own.unit = max(p.tokens, 1)
	}
	r.recent.prune(now)
	flight, seen := l.slots.active, r.recent.sum
	exact := alone && answered == 0 || base == 0 && e.RetryAfter >= longTold
	switch {
	case busy(e):
		l.shrink(flight, e, now)
		return
	case own.limit > 0 && answered == 0:
		// Nothing was taken meanwhile: the wait was too short. It says something of
		// the pace only if none was ever kept.
		if own.kept || e.RetryAfter > 0 || seen == 0 || seen >= own.limit {
			return
		}
		own.begin(now, seen, true)
	case own.limit > 0:
		own.lower(now, seen)
	case base > 0 && seen >= base*holdShare:
		l.shrink(flight, e, now)
		return
	case exact && seen > 0, soon && answered > 0, !l.slots.canShrink(flight) && seen > 0:
		if !exact {
			seen = max(seen, pace*own.unit)
		}
		if base > 0 && now.Sub(l.began) < holdTime { // what was taken in half a minute says nothing of a whole one
			seen = max(seen, base*soonDecrease)
		}
		own.begin(now, seen, exact)
		if l.slots.restore() {
			l.cfg.Log.Debug("slots restored", "slots", l.slots.count(), "reason", "it is the pace that is refused, not the number of calls at once")
		}
	default:
		l.brake.alone = e.RetryAfter <= 0
		l.shrink(flight, e, now)
		return
	}
	l.apply(now)
	if e.RetryAfter > 0 {
		l.requests.admit(until)
	}
	l.notes.info(now, "own pace of "+what+" lowered", "per_minute", r.limit, "taken_in_the_last_minute", seen, "reason", "refused: "+e.Code)
}

// shrink lowers the number of calls in flight.
func (l *Limiter) shrink(flight int, e *Error, now time.Time) {
	if !l.slots.canShrink(flight) {
		return
	}
	l.slots.shrink(flight)
	l.notes.info(now, "slots lowered", "slots", l.slots.count(), "in_flight", flight, "reason", "refused: "+e.Code)
}

// busy reports a refusal that is about the server's state, not about our pace.
func busy(e *Error) bool {
	return e.Code == "overloaded" || e.Status == http.StatusServiceUnavailable || e.Status == 529
}

// aboutTokens reports a refusal that says that it is about tokens, or that can
// be about nothing else: where it names neither, and the only limit that is known
// is one of tokens that is nearly used up.
func (l *Limiter) aboutTokens(e *Error, now time.Time) bool {
	m := strings.ToLower(e.Message)
	if strings.Contains(m, "request") {
		return false
	}
	if strings.Contains(m, "token") {
		return true
	}
	l.tokens.recent.prune(now)
	known := l.baseTokens()
	return l.base() == 0 && known > 0 && l.tokens.recent.sum >= known*holdShare
}

// base returns the limit of requests that is configured or learnt, or 0.
func (l *Limiter) base() float64 {
	return cmp.Or(max(l.cfg.RequestsPerMinute, 0), l.learnt.requests)
}

// baseTokens returns the same of tokens.
func (l *Limiter) baseTokens() float64 {
	return cmp.Or(max(l.cfg.TokensPerMinute, 0), l.learnt.tokens)
}

// apply sets the limits to the lower of the known one and our own pace.
func (l *Limiter) apply(now time.Time) {
	l.requests.set(lower(l.base(), l.pace.limit), now)
	l.tokens.set(lower(l.baseTokens(), l.volume.limit), now)
}

// lower returns the lower of two limits, of which 0 is none.
func lower(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
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
			l.apply(now)
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
