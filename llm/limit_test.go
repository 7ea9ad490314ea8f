package llm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// enforcing is a server that enforces limits: it refuses what is above them.
type enforcing struct {
	admit   func(now time.Time, tokens float64) (wait time.Duration)
	tokens  func(*llm.Request) (in, out int)
	latency func() time.Duration
	silent  bool // no Retry-After
	// aboutTokens makes refusals say what they are about.
	aboutTokens bool
	observe     func(llm.RateInfo)                             // gets headers, if set
	info        func(now time.Time, refused bool) llm.RateInfo // makes them

	mu       sync.Mutex
	start    time.Time
	accepted []event
	refused  []event
	flight   int
	most     int // in flight
}

type event struct {
	at     time.Duration
	tokens float64
	tag    string
}

func (s *enforcing) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	// The way there takes up to 30 ms, so that calls arrive at other distances
	// than they left.
	if err := sleep(ctx, time.Duration(rand.Int64N(int64(30*time.Millisecond)))); err != nil {
		return nil, err
	}
	in, out := 100, 20
	if s.tokens != nil {
		in, out = s.tokens(req)
	}
	s.mu.Lock()
	now := time.Now()
	wait := s.admit(now, float64(in+out))
	e := event{now.Sub(s.start), float64(in + out), req.Tag.Step}
	if wait > 0 {
		s.refused = append(s.refused, e)
	} else {
		s.accepted = append(s.accepted, e)
	}
	s.flight++
	s.most = max(s.most, s.flight)
	var info llm.RateInfo
	if s.info != nil {
		info = s.info(now, wait > 0)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.flight--
		s.mu.Unlock()
	}()
	if s.observe != nil {
		s.observe(info)
	}
	if wait > 0 {
		err := &llm.Error{Kind: llm.RateLimited, Code: "rate_limit_exceeded", Status: 429, RetryAfter: wait}
		if s.silent {
			err.RetryAfter = 0
		}
		if s.aboutTokens {
			err.Message = "Rate limit reached on tokens per min (TPM)."
		}
		return nil, err
	}
	if s.latency != nil {
		if err := sleep(ctx, s.latency()); err != nil {
			return nil, err
		}
	}
	return &llm.Response{Content: "ok", Usage: llm.Usage{PromptTokens: in, CompletionTokens: out}}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// slidingWindow admits at most so many requests and tokens within any minute;
// 0 for no limit.
func slidingWindow(requests, tokens float64) func(time.Time, float64) time.Duration {
	type entry struct {
		at time.Time
		n  float64
	}
	var log []entry
	return func(now time.Time, n float64) time.Duration {
		for len(log) > 0 && now.Sub(log[0].at) >= time.Minute {
			log = log[1:]
		}
		count, sum := 0.0, 0.0
		for _, e := range log {
			count, sum = count+1, sum+e.n
		}
		if (requests > 0 && count+1 > requests) || (tokens > 0 && sum+n > tokens) {
			return max(time.Minute-now.Sub(log[0].at), time.Millisecond)
		}
		log = append(log, entry{now, n})
		return 0
	}
}

// fixedWindow is slidingWindow by the minute of the clock.
func fixedWindow(requests float64) func(time.Time, float64) time.Duration {
	var minute time.Time
	count := 0.0
	return func(now time.Time, _ float64) time.Duration {
		if m := now.Truncate(time.Minute); m != minute {
			minute, count = m, 0
		}
		if count+1 > requests {
			return minute.Add(time.Minute).Sub(now)
		}
		count++
		return 0
	}
}

// tokenBucket refills evenly up to capacity, given in seconds.
func tokenBucket(requests, tokens, seconds float64) func(time.Time, float64) time.Duration {
	type bucket struct{ rate, level, limit float64 }
	mk := func(perMinute float64) *bucket {
		l := max(perMinute/60*seconds, 1)
		return &bucket{perMinute / 60, l, l}
	}
	r, t := mk(requests), mk(tokens)
	var last time.Time
	return func(now time.Time, n float64) time.Duration {
		if !last.IsZero() {
			d := now.Sub(last).Seconds()
			r.level = min(r.limit, r.level+d*r.rate)
			t.level = min(t.limit, t.level+d*t.rate)
		}
		last = now
		var lack float64 // seconds
		if requests > 0 && r.level < 1-1e-9 {
			lack = max(lack, (1-r.level)/r.rate)
		}
		if tokens > 0 && t.level < n {
			lack = max(lack, (n-t.level)/t.rate)
		}
		if lack > 0 {
			return max(time.Duration(lack*1e9), time.Millisecond)
		}
		if requests > 0 {
			r.level--
		}
		if tokens > 0 {
			t.level -= n
		}
		return 0
	}
}

// load sends calls through retry and limiter from so many workers, for a time
// or until rows are done, and returns how many rows failed.
func load(t *testing.T, cfg llm.LimitConfig, s *enforcing, workers int, d time.Duration, rows int, mk func(i int) *llm.Request) (done, failed int) {
	t.Helper()
	s.start = time.Now()
	l := llm.NewLimiter(cfg)
	if s.info != nil {
		s.observe = l.Observe
	}
	chain := llm.NewRetry(llm.RetryConfig{Stop: cfg.Stop}, l.Wrap(s))
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var mu sync.Mutex
	next := 0
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if ctx.Err() != nil || (rows > 0 && i >= rows) {
					return
				}
				_, err := chain.Complete(ctx, mk(i))
				mu.Lock()
				if err == nil {
					done++
				} else if ctx.Err() == nil {
					failed++
					t.Logf("row %d: %v", i, err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return done, failed
}

func request(i, size int) *llm.Request {
	return &llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Content: fmt.Sprintf("%d %s", i, strings.Repeat("x", size))}}}
}

// between counts what happened within the given minutes of a run.
func between(es []event, from, to time.Duration) (n, tokens float64) {
	for _, e := range es {
		if e.at >= from && e.at < to {
			n++
			tokens += e.tokens
		}
	}
	return n, tokens
}

// told makes the headers of a server that tells only the sizes of its limits.
func told(requests, tokens float64) func(time.Time, bool) llm.RateInfo {
	var info llm.RateInfo
	if requests > 0 {
		info.LimitRequests = &requests
	}
	if tokens > 0 {
		info.LimitTokens = &tokens
	}
	return func(time.Time, bool) llm.RateInfo { return info }
}

// Against servers of every kind at least 97 % of the limit is used and at most
// 0.5 % is refused after the first minute.
func TestLimiterUsesTheLimit(t *testing.T) {
	const minutes = 10
	evenTokens := func(*llm.Request) (int, int) { return 1800, 200 }
	// Twice 40 % apart in length, and tokens that the length foretells only roughly.
	roughTokens := func(req *llm.Request) (int, int) {
		n := float64(len(req.Messages[0].Content))
		return int(n / 3.1 * (0.85 + 0.3*rand.Float64())), 60 + rand.IntN(120)
	}
	type testCase struct {
		name             string
		requests, tokens float64
		learn            bool
		admit            func(r, t float64) func(time.Time, float64) time.Duration
		use              func(*llm.Request) (int, int)
		latency          time.Duration
	}
	window := func(r, t float64) func(time.Time, float64) time.Duration { return slidingWindow(r, t) }
	fixed := func(r, _ float64) func(time.Time, float64) time.Duration { return fixedWindow(r) }
	bucket := func(r, t float64) func(time.Time, float64) time.Duration { return tokenBucket(r, t, 60) }
	second := func(r, t float64) func(time.Time, float64) time.Duration { return tokenBucket(r, t, 1) }
	twoSeconds := func(r, t float64) func(time.Time, float64) time.Duration { return tokenBucket(r, t, 2) }
	cases := []testCase{
		{"600 requests, window", 600, 0, false, window, nil, time.Second},
		{"600 requests, window, learnt", 600, 0, true, window, nil, time.Second},
		{"600 requests, fixed window", 600, 0, false, fixed, nil, time.Second},
		{"600 requests, bucket", 600, 0, false, bucket, nil, time.Second},
		{"600 requests, bucket, learnt", 600, 0, true, bucket, nil, time.Second},
		{"600 requests, by the second", 600, 0, false, second, nil, time.Second},
		{"60 requests, window", 60, 0, false, window, nil, 2 * time.Second},
		{"60 requests, by two seconds", 60, 0, false, twoSeconds, nil, 2 * time.Second},
		{"60 requests, learnt", 60, 0, true, window, nil, 2 * time.Second},
		{"7.5 requests, bucket", 7.5, 0, false, bucket, nil, 2 * time.Second},
		{"3 requests, window", 3, 0, false, window, nil, 2 * time.Second},
		{"3 requests, bucket", 3, 0, false, bucket, nil, 2 * time.Second},
		{"3 requests, fixed window", 3, 0, false, fixed, nil, 2 * time.Second},
		{"200k even tokens, window", 0, 200_000, false, window, evenTokens, 2 * time.Second},
		{"200k rough tokens, window", 0, 200_000, false, window, roughTokens, 2 * time.Second},
		{"200k rough tokens, window, learnt", 0, 200_000, true, window, roughTokens, 2 * time.Second},
		{"200k rough tokens, bucket", 0, 200_000, false, bucket, roughTokens, 2 * time.Second},
		{"200k rough tokens, bucket, learnt", 0, 200_000, true, bucket, roughTokens, 2 * time.Second},
		{"both, requests tighter", 60, 200_000, false, window, roughTokens, 2 * time.Second},
		{"both, tokens tighter", 600, 200_000, false, bucket, roughTokens, 2 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &enforcing{admit: c.admit(c.requests, c.tokens), tokens: c.use,
					latency: func() time.Duration { return c.latency/2 + time.Duration(rand.Int64N(int64(c.latency))) }}
				cfg := llm.LimitConfig{RequestsPerMinute: c.requests, TokensPerMinute: c.tokens}
				if c.learn {
					cfg.RequestsPerMinute, cfg.TokensPerMinute = 0, 0
					s.info = told(c.requests, c.tokens)
				}
				end := (minutes + 1) * time.Minute
				if c.requests > 0 && c.requests < 10 {
					end = 21 * time.Minute // enough for a share of a percent to show
				}
				_, failed := load(t, cfg, s, 64, end, 0, func(i int) *llm.Request {
					return request(i, 3000+rand.IntN(5000))
				})
				if failed > 0 {
					t.Errorf("%d rows failed", failed)
				}
				n, tokens := between(s.accepted, time.Minute, end)
				refused, _ := between(s.refused, time.Minute, end)
				span := (end - time.Minute).Minutes()
				used := 0.0
				if c.requests > 0 {
					used = n / (c.requests * span)
				}
				if c.tokens > 0 {
					used = max(used, tokens/(c.tokens*span))
				}
				t.Logf("used %.2f %%, refused %.0f of %.0f after the first minute", 100*used, refused, n+refused)
				if used < 0.97 {
					t.Errorf("used %.2f %% of the limit, want 97", 100*used)
				}
				if refused > 0.005*(n+refused) {
					t.Errorf("%.0f of %.0f refused, want at most 0.5 %%", refused, n+refused)
				}
			})
		})
	}
}
