package bench_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// buildDir is where build has put the program; empty if no benchmark wanted it.
var buildDir string

// build compiles the program once for all benchmarks.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(os.Getenv("RAGJUDGE_BENCH_DIR"), "ragjudge-bench-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	bin := filepath.Join(dir, "ragjudge")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	c := exec.Command("go", "build", "-trimpath", "-o", bin, "../cmd/ragjudge")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ragjudge: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir) // what is left there is the system's to clean
	}
	os.Exit(code)
}

func program(b *testing.B) string {
	b.Helper()
	bin, err := build()
	if err != nil {
		b.Fatal(err)
	}
	return bin
}

// folder is a new folder that is removed at the end.
func folder(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp(os.Getenv("RAGJUDGE_BENCH_DIR"), "ragjudge-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			b.Error(err)
		}
	})
	return dir
}

// outcome is what one execution of the program took and did.
type outcome struct {
	wall time.Duration
	// cpu is the time that it had a processor, in all its threads.
	cpu time.Duration
	// peak is the largest resident size in bytes; 0 where it can't be seen.
	peak    int64
	summary struct {
		Complete bool
		RowsDone int `json:"rows_done"`
		Metrics  map[string]struct{ Scored, Rows int }
		Last     struct {
			Calls     int
			CacheHits int `json:"cache_hits"`
		} `json:"last_execution"`
	}
}

// score runs "ragjudge run" with arguments into a new run directory, and
// insists that every sample got every score.
func score(b *testing.B, rows int, args ...string) outcome {
	b.Helper()
	var o outcome
	out := filepath.Join(folder(b), "run")
	c := exec.Command(program(b), append([]string{"run", "--progress", "none", "--out", out}, args...)...)
	c.Env = append(os.Environ(), "OPENAI_API_KEY=sk-bench", "NO_PROXY=127.0.0.1")
	var said bytes.Buffer
	c.Stderr = &said
	start := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { o.peak = peakOf(c.Process.Pid, done) })
	err := c.Wait()
	o.wall = time.Since(start)
	o.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	close(done)
	watch.Wait()
	if err != nil {
		b.Fatalf("ragjudge %s: %v\n%s", strings.Join(c.Args[1:], " "), err, said.Bytes())
	}
	text, err := os.ReadFile(filepath.Join(out, "summary.json"))
	if err := cmp.Or(err, json.Unmarshal(text, &o.summary)); err != nil {
		b.Fatal(err)
	}
	if s := o.summary; !s.Complete || s.RowsDone != rows {
		b.Fatalf("%d of %d rows are done", s.RowsDone, rows)
	}
	for name, m := range o.summary.Metrics {
		if m.Scored != rows {
			b.Fatalf("%s is scored for %d of %d rows", name, m.Scored, rows)
		}
	}
	if err := os.RemoveAll(filepath.Dir(out)); err != nil {
		b.Fatal(err)
	}
	return o
}

// peakOf follows the high-water mark of a process's resident size. (What wait
// tells of a child is no good: it starts at the size of the parent.)
func peakOf(pid int, done <-chan struct{}) int64 {
	var peak int64
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		peak = max(peak, highWater(fmt.Sprintf("/proc/%d/status", pid)))
		select {
		case <-done:
			return peak
		case <-tick.C:
		}
	}
}

func highWater(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// words are what samples are made of.
var words = strings.Fields(`plan covers preventive care network deductible employee leave days handbook member
	services complaint office writing phone page rate paid after other claims provider visit annual limit dental
	vision emergency room referral premium benefit policy coverage health standard plus year carry over`)

// generate writes samples of about 4 KB, always the same ones: five chunks with
// ids and text, a response of two sentences that stand in a chunk, a reference.
func generate(b *testing.B, rows int) string {
	b.Helper()
	path := filepath.Join(folder(b), "samples.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	state := uint64(1)
	sentence := func(n int) string {
		var s strings.Builder
		for range n {
			state = state*6364136223846793005 + 1442695040888963407
			s.WriteString(words[state>>33%uint64(len(words))])
			s.WriteByte(' ')
		}
		return s.String()
	}
	type chunk struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	enc := json.NewEncoder(w)
	for i := range rows {
		said := fmt.Sprintf("The %sis in case %d. The %sis not.", sentence(8), i, sentence(8))
		s := struct {
			ID         string   `json:"id"`
			Category   string   `json:"category"`
			UserInput  string   `json:"user_input"`
			Response   string   `json:"response"`
			Reference  string   `json:"reference"`
			Contexts   []chunk  `json:"retrieved_contexts"`
			References []string `json:"reference_context_ids"`
		}{
			fmt.Sprintf("sample-%d", i), fmt.Sprintf("category-%d", i%7), "What is " + sentence(8) + "?", said, said,
			nil, []string{fmt.Sprintf("doc-%d-1", i), fmt.Sprintf("doc-%d-3", i)},
		}
		for k := range 5 {
			c := chunk{fmt.Sprintf("doc-%d-%d", i, k), sentence(93)}
			if k == 1 {
				c.Text = said + " " + c.Text
			}
			s.Contexts = append(s.Contexts, c)
		}
		if err := enc.Encode(s); err != nil {
			b.Fatal(err)
		}
	}
	if err := cmp.Or(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}
