package llm_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// Thirty workers that are told the same wait don't come back together: no more
// than four calls arrive in any tenth of a second, every row succeeds, and
// waiting takes no attempt.
func TestLimiterNoHerd(t *testing.T) {
	for _, c := range []struct {
		name  string
		admit func(time.Time, float64) time.Duration
	}{
		{"bucket of a second", tokenBucket(120, 0, 1)},
		{"windows of a second", perSecond(2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &enforcing{latency: func() time.Duration { return 200 * time.Millisecond }}
				s.admit = func(now time.Time, n float64) time.Duration {
					if c.admit(now, n) > 0 {
						return 3 * time.Second
					}
					return 0
				}
				done, failed := load(t, llm.LimitConfig{Concurrency: 30}, s, 30, time.Hour, 60, func(i int) *llm.Request { return request(i, 10) })
				if failed > 0 || done != 60 {
					t.Errorf("%d rows failed, %d of 60 done", failed, done)
				}
				pause := s.refused[0].at + 500*time.Millisecond
				var after []time.Duration
				for _, e := range append(s.accepted, s.refused...) {
					if e.at > pause {
						after = append(after, e.at)
					}
				}
				for _, from := range after {
					n := 0
					for _, at := range after {
						if at >= from && at < from+100*time.Millisecond {
							n++
						}
					}
					if n > 4 {
						t.Fatalf("%d requests within 100 ms from %v on", n, from)
					}
				}
				t.Logf("%v for 60 rows, %d refusals", time.Since(s.start).Round(time.Second), len(s.refused))
			})
		})
	}
}

// perSecond admits n in each second of the clock.
func perSecond(n int) func(time.Time, float64) time.Duration {
	var second time.Time
	count := 0
	return func(now time.Time, _ float64) time.Duration {
		if s := now.Truncate(time.Second); s != second {
			second, count = s, 0
		}
		if count++; count > n {
			return second.Add(time.Second).Sub(now)
		}
		return 0
	}
}

// A limit may be a fraction: 0.05 a second is 3 a minute, 0.5 a minute one in
// two minutes.
func TestLimiterFractionalRates(t *testing.T) {
	for _, perMinute := range []float64{0.05 * 60, 0.5, 7.5} {
		synctest.Test(t, func(t *testing.T) {
			s := &enforcing{admit: tokenBucket(perMinute, 0, 60)}
			done, failed := load(t, llm.LimitConfig{RequestsPerMinute: perMinute}, s, 8, 24*time.Hour, 9, func(i int) *llm.Request { return request(i, 10) })
			if done != 9 || failed > 0 || len(s.refused) > 0 {
				t.Errorf("%v a minute: %d rows done, %d failed, %d refused; want 9, 0, 0", perMinute, done, failed, len(s.refused))
			}
			least := time.Duration(8 / perMinute * float64(time.Minute))
			if d := time.Since(s.start); d < least || d > least*11/10 {
				t.Errorf("%v a minute: 9 calls took %v, want %v and at most a tenth more", perMinute, d, least)
			}
		})
	}
}

// A storm in which nothing is accepted says nothing of the pace: after it the
// run goes on as fast as before.
func TestLimiterAfterAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := slidingWindow(60, 0)
		s := &enforcing{silent: true, latency: func() time.Duration { return time.Second }}
		start := time.Now()
		s.admit = func(now time.Time, n float64) time.Duration {
			if at := now.Sub(start); at > 20*time.Minute && at < 24*time.Minute {
				return time.Second
			}
			return limit(now, n)
		}
		_, failed := load(t, llm.LimitConfig{}, s, 64, 30*time.Minute, 0, func(i int) *llm.Request { return request(i, 10) })
		if failed > 0 {
			t.Errorf("%d rows failed", failed)
		}
		storm, _ := between(s.refused, 20*time.Minute, 24*time.Minute)
		if storm > 12 {
			t.Errorf("%.0f calls went into the storm of 4 minutes", storm)
		}
		if n, _ := between(s.accepted, 26*time.Minute, 30*time.Minute); n < 0.95*4*60 {
			t.Errorf("%.0f calls in the four minutes after it, of 240 that the server takes", n)
		}
	})
}
