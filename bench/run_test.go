package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// BenchmarkLatency200ms is the wall time of a whole run, from the start of the
// program to its end, against a server that takes 200 ms for each answer. The
// ideal is 256 calls in flight at every moment: calls x 0.2 s / 256.
func BenchmarkLatency200ms(b *testing.B) {
	// 40 full waves. Fewer would make the preflight weigh more, which goes alone
	// because nothing is known of the server yet.
	const inFlight, rows, latency = 256, 256 * 40, 200 * time.Millisecond
	s := serve(b, ratingReply, latency)
	path := generate(b, rows)
	program(b) // built before the clock runs
	for b.Loop() {
		s.calls.Store(0)
		start := time.Now()
		o := score(b, rows, "--input", path, "--metrics", "answer_relevance", "--base-url", s.URL+"/v1", "--model", model,
			"--concurrency", strconv.Itoa(inFlight), "--cache-dir", folder(b))
		if calls := s.calls.Load(); calls != rows+1 { // the preflight is one
			b.Fatalf("%d calls for %d rows and the preflight", calls, rows)
		}
		ideal := latency * rows / inFlight
		figure(b, o.wall.Seconds(), "s-wall")
		figure(b, ideal.Seconds(), "s-ideal")
		figure(b, s.began.Load().Sub(start).Seconds(), "s-before-first-call")
		figure(b, s.ended.Load().Sub(*s.began.Load()).Seconds(), "s-calls")
		figure(b, perCall(o.cpu, rows), "µs-cpu/call")
		atMost(b, "wall time at 200 ms latency, of the ideal", o.wall.Seconds()/ideal.Seconds(), 1.05, "ratio")
	}
}

// BenchmarkWarmRerun is how many judged calls a second a run answers from a full
// cache: the whole program into a new run directory, reading of the samples and
// writing of the results included.
func BenchmarkWarmRerun(b *testing.B) {
	const rows = 20_000
	path, cached := generate(b, rows), folder(b)
	args := []string{"--input", path, "--metrics", "faithfulness,answer_relevance,context_recall", "--provider", "lexical", "--cache-dir", cached}
	cold := score(b, rows, args...)
	for b.Loop() {
		var rates, cpu []float64
		for range 3 {
			o := score(b, rows, args...)
			if o.summary.Last.Calls != 0 || o.summary.Last.CacheHits < cold.summary.Last.Calls {
				b.Fatalf("%d calls were made, %d were hits, of %d", o.summary.Last.Calls, o.summary.Last.CacheHits, cold.summary.Last.Calls)
			}
			rates = append(rates, float64(o.summary.Last.CacheHits)/o.wall.Seconds())
			cpu = append(cpu, perCall(o.cpu, o.summary.Last.CacheHits))
		}
		figure(b, float64(cold.summary.Last.Calls+cold.summary.Last.CacheHits)/cold.wall.Seconds(), "cold-calls/s")
		figure(b, median(cpu), "µs-cpu/hit")
		atLeast(b, "rerun from a full cache", median(rates), 20_000, "hits/s")
	}
}

// BenchmarkMemory is the largest resident size of the program over a run of
// samples of 4 KB, and over a file with a tenth of them, beside which it shows
// whether the size is flat.
func BenchmarkMemory(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("the peak of another process is read from /proc")
	}
	rows := 100_000
	if text := os.Getenv("RAGJUDGE_BENCH_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 10 {
			b.Fatalf("RAGJUDGE_BENCH_ROWS must be a number of at least 10, not %q", text)
		}
		rows = n
	}
	path, tenth := generate(b, rows), generate(b, rows/10)
	measure := func(name string, args ...string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				part := score(b, rows/10, append(args, "--input", tenth, "--cache-dir", folder(b))...)
				whole := score(b, rows, append(args, "--input", path, "--cache-dir", folder(b))...)
				figure(b, float64(rows)/whole.wall.Seconds(), "samples/s")
				figure(b, float64(part.peak)/1e6, "MB-tenth")
				atMost(b, "peak over "+strconv.Itoa(rows)+" samples", float64(whole.peak)/1e6, 200, "MB-peak")
			}
		})
	}
	measure("deterministic", "--metrics", "precision@5,recall@5,mrr,map@5,ndcg@5", "--provider", "lexical", "--no-cache")
	measure("judged", "--metrics", "faithfulness,answer_relevance,precision@5", "--provider", "lexical")
}

// BenchmarkStart is the time from the start of the program to its end for the
// command that does nothing.
func BenchmarkStart(b *testing.B) {
	bin := program(b)
	for b.Loop() {
		var took []float64
		for range 20 {
			start := time.Now()
			if err := exec.Command(bin, "version").Run(); err != nil {
				b.Fatal(err)
			}
			took = append(took, float64(time.Since(start).Microseconds())/1000)
		}
		atMost(b, "start, median of 20", median(took), 30, "ms")
	}
	if st, err := os.Stat(filepath.Clean(bin)); err == nil {
		figure(b, float64(st.Size())/1e6, "MB-binary")
	}
}

func perCall(d time.Duration, calls int) float64 {
	return float64(d.Microseconds()) / float64(calls)
}
