package bench_test

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

// BenchmarkLimit is how much of a limit of 600 requests a minute is used, and
// how many requests are refused, after the first minute of two and a half, in
// real time and over HTTP. Each case has a server of its own, and all run at once.
func BenchmarkLimit(b *testing.B) {
	const (
		perMinute = 600
		first     = time.Minute
		span      = 90 * time.Second
	)
	cases := []struct {
		name       string
		configured float64
		limit      llmtest.Limit
	}{
		{"configured-bucket", perMinute, llmtest.Limit{Requests: perMinute}},
		{"configured-window", perMinute, llmtest.Limit{Requests: perMinute, Window: time.Minute}},
		{"configured-second", perMinute, llmtest.Limit{Requests: perMinute, BurstSeconds: 1}},
		{"told-bucket", 0, llmtest.Limit{Requests: perMinute}},
		{"told-window", 0, llmtest.Limit{Requests: perMinute, Window: time.Minute}},
	}
	for b.Loop() {
		used, refused := make([]float64, len(cases)), make([]float64, len(cases))
		var all sync.WaitGroup
		for i, c := range cases {
			all.Go(func() {
				used[i], refused[i] = withinLimit(b, c.limit, c.configured, first, span)
				used[i] /= perMinute * span.Minutes()
			})
		}
		all.Wait()
		for i, c := range cases {
			atLeast(b, "use of the limit, "+c.name, used[i], 0.97, c.name+"-used")
			atMost(b, "share of requests refused, "+c.name, refused[i], 0.005, c.name+"-refused")
		}
	}
}

// withinLimit sends calls for first and span, and returns how many were
// answered in span and what share of its requests was refused.
func withinLimit(b *testing.B, limit llmtest.Limit, configured float64, first, span time.Duration) (answered, refusedShare float64) {
	s := llmtest.New(llmtest.Options{Limit: &limit, Latency: 200 * time.Millisecond, KeepBodies: 1})
	defer s.Close()
	stop := llm.NewStop()
	limiter := llm.NewLimiter(llm.LimitConfig{Concurrency: workers, RequestsPerMinute: configured, Stop: stop})
	backend, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.URL(), Concurrency: workers, OnHeaders: limiter.Observe})
	if err != nil {
		b.Error(err)
		return 0, 0
	}
	chain := llm.NewRetry(llm.RetryConfig{Stop: stop}, limiter.Wrap(backend))
	ctx, cancel := context.WithTimeout(context.Background(), first+span)
	defer cancel()
	var n atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				req := &llm.Request{Endpoint: backend.Endpoint(), Model: model, Messages: []llm.Message{{Role: llm.User, Content: fmt.Sprint("row ", n.Add(1))}}}
				if _, err := chain.Complete(ctx, req); err != nil && ctx.Err() == nil {
					b.Errorf("a row failed: %v", err)
				}
			}
		})
	}
	time.Sleep(first)
	before := s.Statuses()
	wg.Wait()
	after := s.Statuses()
	answered = float64(after[200] - before[200])
	refused := float64(after[429] - before[429])
	return answered, refused / (answered + refused)
}
