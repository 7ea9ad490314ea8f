package bench_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/cache"
	"github.com/ragjudge/ragjudge/llm"
)

// BenchmarkLayers says where the time of BenchmarkCalls goes: the processor time
// of one call, the server's share included, with one layer more at a time. It
// holds nothing, and depends less on what else the machine does than a rate.
func BenchmarkLayers(b *testing.B) {
	s := serve(b, verdictReply, 0)
	client, endpoint, _ := newChain(b, s)
	j := newJudge(client, endpoint)
	plain := newPlain(b, s, j)
	backend, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.URL + "/v1", APIKey: "sk-bench", Concurrency: workers})
	if err != nil {
		b.Fatal(err)
	}
	meter, stop := llm.NewMeter(free), llm.NewStop()
	limit := llm.NewLimiter(llm.LimitConfig{Concurrency: workers, Stop: stop}).Wrap(meter.Attempts(backend))
	retry := &llm.Outage{Stop: stop, Next: llm.NewRetry(llm.RetryConfig{Stop: stop}, limit)}
	disk, err := cache.Open(filepath.Join(b.TempDir(), cache.FileName), cache.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = disk.Close() })
	var n atomic.Int64
	through := func(c llm.Client) func(context.Context) error {
		do := newComplete(b, c, endpoint)
		return func(ctx context.Context) error { return do(ctx, n.Add(1)) }
	}
	layers := []struct {
		name string
		call func(context.Context) error
	}{
		{"net/http", func(ctx context.Context) error { return plain.post(ctx, n.Add(1)) }},
		{"openai", through(backend)},
		{"limit+retry", through(retry)},
		{"memory-cache", through(meter.Calls(&llm.Cached{Mode: llm.CacheOff, Next: retry}))},
		{"disk-cache", through(meter.Calls(&llm.Cached{Store: disk, Next: retry}))},
		{"judge", func(ctx context.Context) error { _, err := j.Verdicts(ctx, question(n.Add(1))); return err }},
	}
	for b.Loop() {
		taken := make([][]float64, len(layers))
		for range 5 {
			for i, l := range layers {
				before := cpuTime(b)
				spread(b, roundCalls/2, l.call)
				taken[i] = append(taken[i], perCall(cpuTime(b)-before, roundCalls/2))
			}
		}
		for i, l := range layers {
			figure(b, median(taken[i]), fmt.Sprintf("µs-%s", l.name))
		}
	}
}

func free(string, llm.Usage) (float64, bool) { return 0, true }

// cpuTime is the processor time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
