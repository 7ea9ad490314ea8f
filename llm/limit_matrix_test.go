package llm_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// windows are the ways in which servers enforce a limit a minute.
var windows = []struct {
	name  string
	admit func(requests, tokens float64) func(time.Time, float64) time.Duration
}{
	{"sliding window", slidingWindow},
	{"fixed window", fixedWindows},
	{"bucket", func(r, t float64) func(time.Time, float64) time.Duration { return tokenBucket(r, t, 60) }},
}

// fixedWindows enforces limits by the minute of the clock.
func fixedWindows(requests, tokens float64) func(time.Time, float64) time.Duration {
	var minute time.Time
	var count, sum float64
	return func(now time.Time, n float64) time.Duration {
		if m := now.Truncate(time.Minute); m != minute {
			minute, count, sum = m, 0, 0
		}
		if requests > 0 && count+1 > requests || tokens > 0 && sum+n > tokens {
			return minute.Add(time.Minute).Sub(now)
		}
		count, sum = count+1, sum+n
		return 0
	}
}

// trial is one run against a server with a limit.
type trial struct {
	limit, tokens float64 // of the server, per minute
	window        int     // index into windows
	cfg           llm.LimitConfig
	headers       bool // the server tells its limits
	silent        bool // and no wait
	aboutTokens   bool // its refusals say that they are about tokens
	minutes       int
}

// run returns what share of the limit was used and what share of requests was
// refused, both after the first minute.
func (c trial) run(t *testing.T) (used, refused float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(rand.N(time.Minute)) // fixed windows don't begin when we do
		s := &enforcing{admit: windows[c.window].admit(c.limit, c.tokens), silent: c.silent, aboutTokens: c.aboutTokens,
			latency: func() time.Duration { return 500*time.Millisecond + rand.N(time.Second) }}
		if c.tokens > 0 {
			s.tokens = func(req *llm.Request) (int, int) {
				n := float64(len(req.Messages[0].Content))
				return int(n / 3.1 * (0.85 + 0.3*rand.Float64())), 60 + rand.IntN(120)
			}
		}
		if c.headers {
			s.info = told(c.limit, c.tokens)
		}
		end := time.Duration(c.minutes) * time.Minute
		size := func() int { return 100 }
		if c.tokens > 0 {
			size = func() int { return 3000 + rand.IntN(5000) }
		}
		c.cfg.Concurrency = 256
		_, failed := load(t, c.cfg, s, 300, end, 0, func(i int) *llm.Request { return request(i, size()) })
		if failed > 0 {
			t.Errorf("%d rows failed", failed)
		}
		n, tokens := between(s.accepted, time.Minute, end)
		r, _ := between(s.refused, time.Minute, end)
		used = n / c.limit
		if c.tokens > 0 {
			used = tokens / c.tokens
		}
		used /= float64(c.minutes - 1)
		refused = r / (n + r)
		t.Logf("used %.2f %%, refused %.3f %% (%.0f of %.0f) after the first minute", 100*used, 100*refused, r, n+r)
	})
	return used, refused
}

// minutesFor is long enough for a share of a percent to show, and no longer.
func minutesFor(limit float64) int {
	switch {
	case limit < 10:
		return 61
	case limit < 1000:
		return 11
	}
	return 3
}

// What must hold: of a limit that is configured or told at least 97 % is used,
// and at most 0.5 % of the requests are refused, whatever kind of window the
// server has.
func TestLimiterMatrix(t *testing.T) {
	for _, headers := range []bool{false, true} {
		for w, window := range windows {
			for _, limit := range []float64{3, 60, 600, 6000} {
				t.Run(fmt.Sprintf("%v requests, %s, told=%v", limit, window.name, headers), func(t *testing.T) {
					c := trial{limit: limit, window: w, headers: headers, minutes: minutesFor(limit)}
					if !headers {
						c.cfg.RequestsPerMinute = limit
					}
					check(t, c)
				})
			}
			for _, tokens := range []float64{200_000, 2_000_000} {
				t.Run(fmt.Sprintf("%v tokens, %s, told=%v", tokens, window.name, headers), func(t *testing.T) {
					c := trial{tokens: tokens, window: w, headers: headers, minutes: minutesFor(tokens / 1500)}
					if !headers {
						c.cfg.TokensPerMinute = tokens
					}
					check(t, c)
				})
			}
		}
	}
}

func check(t *testing.T, c trial) {
	t.Helper()
	used, refused := c.run(t)
	if used < 0.97 {
		t.Errorf("used %.2f %% of the limit, want 97", 100*used)
	}
	if refused > 0.005 {
		t.Errorf("refused %.2f %%, want at most 0.5", 100*refused)
	}
}

// A server that tells no number, with and without a wait in its refusals, is
// learnt from them: every row succeeds, and refusals stay few. Each try for
// more is one refused call, so that of a limit of 3 a minute 0.5 % can't be
// kept within an hour; the tries become rarer and rarer. In the mean of 10 runs
// 97 to 109 % of the limit were used (a bucket is full at first), of 6000 a minute
// within 4 minutes 92 to 105 %, and were refused at 3 a minute 1.7 to 3.2 % of the first
// hour, at 60 a minute 0.2 to 2 % of ten minutes, above 0.01 to 0.3 %. The
// bounds lie beyond the worst runs.
func TestLimiterMatrixUntold(t *testing.T) {
	bounds := []struct{ limit, used, refused float64 }{
		{3, 0.93, 0.06}, {60, 0.90, 0.035}, {600, 0.88, 0.012}, {6000, 0.50, 0.01},
	}
	for _, silent := range []bool{false, true} {
		for w, window := range windows {
			for _, b := range bounds {
				t.Run(fmt.Sprintf("%v requests, %s, silent=%v", b.limit, window.name, silent), func(t *testing.T) {
					used, refused := trial{limit: b.limit, window: w, silent: silent, minutes: minutesFor(b.limit)}.run(t)
					if used < b.used {
						t.Errorf("used %.2f %% of the limit, want %.0f", 100*used, 100*b.used)
					}
					if refused > b.refused {
						t.Errorf("refused %.2f %%, want at most %.1f", 100*refused, 100*b.refused)
					}
				})
			}
			for _, about := range []bool{false, true} {
				t.Run(fmt.Sprintf("200000 tokens, %s, silent=%v, said=%v", window.name, silent, about), func(t *testing.T) {
					used, refused := trial{tokens: 200_000, window: w, silent: silent, aboutTokens: about, minutes: 11}.run(t)
					if used < 0.8 {
						t.Errorf("used %.2f %% of the limit, want 80", 100*used)
					}
					if refused > 0.06 {
						t.Errorf("refused %.2f %%, want at most 6", 100*refused)
					}
				})
			}
		}
	}
}
