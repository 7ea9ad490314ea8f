package llm_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// In real time and over HTTP: a server that takes 20 requests a second, with
// next to nothing saved up, is used and hardly refuses. Only counts are
// asserted, since a busy machine may be slow; how much of the limit was used is
// logged. BenchmarkLimit in bench has the minutes that this test has not.
func TestLimiterOverHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds of real time")
	}
	const perMinute, rows = 1200, 80
	for name, configured := range map[string]float64{"configured": perMinute, "told by headers": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(llmtest.Options{Limit: &llmtest.Limit{Requests: perMinute, BurstSeconds: 0.5}, Latency: 100 * time.Millisecond})
			defer s.Close()
			stop := llm.NewStop()
			limiter := llm.NewLimiter(llm.LimitConfig{Concurrency: 32, RequestsPerMinute: configured, Stop: stop})
			backend, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.URL(), Concurrency: 32, OnHeaders: limiter.Observe})
			if err != nil {
				t.Fatal(err)
			}
			chain := llm.NewRetry(llm.RetryConfig{Stop: stop}, limiter.Wrap(backend))
			start := time.Now()
			var next atomic.Int64
			var wg sync.WaitGroup
			for range 32 {
				wg.Go(func() {
					for i := next.Add(1); i <= rows; i = next.Add(1) {
						req := &llm.Request{Endpoint: backend.Endpoint(), Model: "m", Messages: []llm.Message{{Role: llm.User, Content: fmt.Sprint("row ", i)}}}
						if _, err := chain.Complete(context.Background(), req); err != nil {
							t.Errorf("row %d: %v", i, err)
						}
					}
				})
			}
			wg.Wait()
			took, refused := time.Since(start), s.Statuses()[429]
			t.Logf("%d rows in %v: %.1f %% of the limit, %d refused", rows, took.Round(time.Millisecond), 100*rows/(took.Minutes()*perMinute), refused)
			if s.Paid() != rows {
				t.Errorf("%d requests were answered, want %d", s.Paid(), rows)
			}
			// Before the first reply tells the limit, calls go at once.
			if refused > rows/10 {
				t.Errorf("%d of %d requests were refused", refused, s.Requests())
			}
		})
	}
}
