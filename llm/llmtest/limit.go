package llmtest

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Limit is a rate limit. Each reply, also a refusal, tells it in the headers
// x-ratelimit-limit-requests, -remaining-requests, -reset-requests and the same
// for tokens; what is above is a 429 with Retry-After (seconds, rounded up) and
// retry-after-ms.
//
// A request takes its PromptTokens when it arrives, and its completion's when it
// is replied to. A refused request takes nothing.
type Limit struct {
	// Requests and Tokens are the most per minute; 0 for no limit.
	Requests, Tokens int
	// Window makes the limit hold in fixed windows of this length, from the
	// server's start, each with its share of a minute. 0 for a bucket that is
	// refilled all the time.
	Window time.Duration
	// BurstSeconds is the size of the bucket: for how many seconds of the limit
	// what was not used is saved up. It is full at the start. 0 for 60.
	BurstSeconds float64
}

// enforcer keeps a Limit.
type enforcer struct {
	mu               sync.Mutex
	requests, tokens allowance
}

// allowance is one amount of a limit.
type allowance struct {
	perMinute float64 // 0 for no limit
	size      float64 // of the bucket, or of a window
	window    time.Duration
	left      float64
	at        time.Time // up to when left is right; the start of the window
}

func newEnforcer(l Limit, now time.Time) *enforcer {
	allow := func(perMinute int) allowance {
		seconds := l.BurstSeconds
		if seconds <= 0 {
			seconds = 60
		}
		if l.Window > 0 {
			seconds = l.Window.Seconds()
		}
		size := max(1, float64(max(perMinute, 0))*seconds/60)
		return allowance{perMinute: float64(max(perMinute, 0)), size: size, window: l.Window, left: size, at: now}
	}
	return &enforcer{requests: allow(l.Requests), tokens: allow(l.Tokens)}
}

func (a *allowance) refill(now time.Time) {
	d := now.Sub(a.at)
	switch {
	case a.window > 0:
		if n := d / a.window; n > 0 {
			a.left, a.at = a.size, a.at.Add(n*a.window)
		}
	case d > 0:
		a.left = min(a.size, a.left+d.Seconds()*a.perMinute/60)
		a.at = now
	}
}

// wait is how long it takes until there is n.
func (a *allowance) wait(n float64, now time.Time) time.Duration {
	if a.perMinute == 0 || n <= a.left+1e-9 {
		return 0
	}
	if a.window > 0 {
		return a.window - now.Sub(a.at)
	}
	return time.Duration(math.Ceil((n - a.left) / a.perMinute * 60 * float64(time.Second)))
}

// take takes n, unless there is not enough: then it says how long to wait, and
// for what.
func (e *enforcer) take(tokens int, now time.Time) (wait time.Duration, of string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests.refill(now)
	e.tokens.refill(now)
	if wait, of = e.requests.wait(1, now), "requests"; wait > 0 {
		return wait, of
	}
	if wait, of = e.tokens.wait(float64(tokens), now), "tokens"; wait > 0 {
		return wait, of
	}
	e.requests.left--
	e.tokens.left -= float64(tokens)
	return 0, ""
}

// tooLarge reports a request that no wait helps.
func (e *enforcer) tooLarge(tokens int) bool {
	return e.tokens.perMinute > 0 && float64(tokens) > e.tokens.size
}

func (e *enforcer) spend(tokens int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tokens.left -= float64(tokens)
}

func (e *enforcer) headers(h http.Header, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range []struct {
		name string
		a    *allowance
	}{{"requests", &e.requests}, {"tokens", &e.tokens}} {
		if k.a.perMinute == 0 {
			continue
		}
		k.a.refill(now)
		h.Set("x-ratelimit-limit-"+k.name, strconv.Itoa(int(k.a.perMinute)))
		h.Set("x-ratelimit-remaining-"+k.name, strconv.Itoa(int(max(k.a.left, 0))))
		h.Set("x-ratelimit-reset-"+k.name, k.a.wait(k.a.size, now).Round(time.Millisecond).String())
	}
}

// withinLimit takes from the rate limit, or refuses the request.
func (x *exchange) withinLimit() bool {
	e := x.s.limit
	if e == nil {
		return true
	}
	tokens, now := PromptTokens(x.req.Messages), x.s.opts.Now()
	if e.tooLarge(tokens) {
		e.headers(x.header, now)
		x.refuse(http.StatusTooManyRequests, apiError{message: "Request too large for " + x.req.Model + " in organization org-llmtest on tokens per min (TPM): Limit " +
			strconv.Itoa(int(e.tokens.perMinute)) + ", Requested " + strconv.Itoa(tokens) + ". The input or output tokens must be reduced in order to run successfully.",
			kind: "tokens", code: "rate_limit_exceeded"}.String())
		return false
	}
	wait, of := e.take(tokens, now)
	e.headers(x.header, now)
	if wait == 0 {
		return true
	}
	x.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	x.header.Set("Retry-After-Ms", strconv.Itoa(int(math.Ceil(wait.Seconds()*1000))))
	x.refuse(http.StatusTooManyRequests, rateLimited(x.req.Model, of, wait.Round(time.Millisecond).String()))
	return false
}

// spent takes what a completion took.
func (s *Server) spent(tokens int) {
	if s.limit != nil {
		s.limit.spend(tokens)
	}
}
