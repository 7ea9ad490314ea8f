package llm_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// A refusal that has nothing to do with the rate does not slow the run for long.
func TestLimiterRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s := &enforcing{latency: func() time.Duration { return time.Second }}
		s.admit = func(now time.Time, _ float64) time.Duration {
			n++
			if n == 20 || n == 21 {
				return 2 * time.Second
			}
			return 0
		}
		load(t, llm.LimitConfig{Concurrency: 64}, s, 64, 5*time.Minute, 0, func(i int) *llm.Request { return request(i, 10) })
		n1, _ := between(s.accepted, 2*time.Minute, 3*time.Minute)
		n2, _ := between(s.accepted, 4*time.Minute, 5*time.Minute)
		t.Logf("%.0f calls in the third minute, %.0f in the fifth", n1, n2)
		if n2 < 0.95*64*60/1.015 {
			t.Errorf("%.0f calls in the fifth minute; 64 slots allow %d", n2, 64*60)
		}
	})
}

// Headers that say what remains keep a run within a limit that others use too.
func TestLimiterReadsHeaders(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	d := func(v time.Duration) *time.Duration { return &v }
	cases := []struct {
		name     string
		cfg      llm.LimitConfig
		info     llm.RateInfo
		rpm, tpm float64
	}{
		{"nothing told", llm.LimitConfig{}, llm.RateInfo{}, 0, 0},
		{"both told", llm.LimitConfig{}, llm.RateInfo{LimitRequests: f(500), LimitTokens: f(30000), ResetRequests: d(120 * time.Millisecond)}, 500, 30000},
		{"configured wins", llm.LimitConfig{RequestsPerMinute: 100}, llm.RateInfo{LimitRequests: f(500), LimitTokens: f(30000)}, 100, 30000},
		{"a day's quota is no pace", llm.LimitConfig{}, llm.RateInfo{LimitRequests: f(200), RemainingRequests: f(199), ResetRequests: d(432 * time.Second)}, 0, 0},
		{"zero and below mean nothing", llm.LimitConfig{}, llm.RateInfo{LimitRequests: f(0), LimitTokens: f(-1)}, 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := llm.NewLimiter(c.cfg)
			l.Observe(c.info)
			if s := l.State(); s.RequestsPerMinute != c.rpm || s.TokensPerMinute != c.tpm {
				t.Errorf("limits in force: %v requests, %v tokens; want %v, %v", s.RequestsPerMinute, s.TokensPerMinute, c.rpm, c.tpm)
			}
		})
	}
}

func TestLimiterKeepsToWhatRemains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := llm.NewLimiter(llm.LimitConfig{})
		limit, none := 60.0, 0.0
		var at []time.Duration
		start := time.Now()
		c := l.Wrap(llm.ClientFunc(func(_ context.Context, _ *llm.Request) (*llm.Response, error) {
			at = append(at, time.Since(start))
			l.Observe(llm.RateInfo{LimitRequests: &limit, RemainingRequests: &none})
			return &llm.Response{Content: "ok"}, nil
		}))
		for i := range 3 {
			if _, err := c.Complete(t.Context(), request(i, 1)); err != nil {
				t.Fatal(err)
			}
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < time.Second || gap > 1100*time.Millisecond {
				t.Errorf("call %d came %v after the one before, want about 1 s: nothing remained", i, gap)
			}
		}
	})
}

// Every change is logged with its reason.
func TestLimiterLogsReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s := &enforcing{admit: slidingWindow(3, 0), silent: true, latency: func() time.Duration { return time.Second }}
		load(t, llm.LimitConfig{Log: log}, s, 16, time.Hour, 60, func(i int) *llm.Request { return request(i, 10) })
		told := &enforcing{admit: slidingWindow(60, 0), latency: func() time.Duration { return time.Second }}
		load(t, llm.LimitConfig{Log: log, Concurrency: 256}, told, 256, 3*time.Minute, 0, func(i int) *llm.Request { return request(i, 10) })
		l := llm.NewLimiter(llm.LimitConfig{Log: log})
		limit := 500.0
		l.Observe(llm.RateInfo{LimitRequests: &limit})
		for _, want := range []string{"all calls wait", "slots lowered", "slots restored", "own pace of requests lowered", "own pace set lower", "own pace of requests raised", "limit of requests changed"} {
			found := false
			for line := range strings.Lines(b.String()) {
				found = found || (strings.Contains(line, want) && strings.Contains(line, "reason="))
			}
			if !found {
				t.Errorf("the log has no line %q with a reason:\n%s", want, b.String())
			}
		}
	})
}
