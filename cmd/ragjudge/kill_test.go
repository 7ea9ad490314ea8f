package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// child is the program itself, as the test's binary runs it under its name: see
// TestMain. dir holds its configuration, its cache and its runs.
func child(t *testing.T, dir, url, out string, concurrency int) *exec.Cmd {
	t.Helper()
	name := filepath.Join(dir, "ragjudge")
	if _, err := os.Stat(name); err != nil {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, name); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(name, "run", "--input", "s.jsonl", "--metrics", "faithfulness,answer_relevance,context_precision,context_recall",
		"--model", "judge-1", "--base-url", url, "--out", out, "--concurrency", fmt.Sprint(concurrency), "--progress", "none")
	c.Dir = dir
	c.Env = []string{"HOME=" + dir, "OPENAI_API_KEY=" + secretKey, "RAGJUDGE_CACHE=" + filepath.Join(dir, "cache-"+out)}
	return c
}

// A run that is killed again and again, at random moments, ends with the bytes
// of one that was left alone, and pays only for what was in flight.
func TestKillNine(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts the program many times")
	}
	const rows, concurrency, most = 60, 8, 12
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), testSamples(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	came := make(chan struct{}, 1<<16)
	server := llmtest.New(llmtest.Options{
		Answer: judge.LexicalAnswer, Key: secretKey, Latency: 2 * time.Millisecond,
		Fault: func(int, *llmtest.Request) llmtest.Fault { came <- struct{}{}; return llmtest.Fault{} },
	})
	defer server.Close()

	if out, err := child(t, dir, server.URL(), "calm", concurrency).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	calm := server.Paid()
	for len(came) > 0 {
		<-came
	}

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	kills := 0
	for kills < most {
		c := child(t, dir, server.URL(), "killed", concurrency)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		ended := false
		// Half of the kills come at a moment of the provider's, the others at one
		// of the clock's: in the scan, between files, at the end.
		if kills%2 == 1 {
			select {
			case <-time.After(time.Duration(rng.IntN(120)) * time.Millisecond):
			case err := <-done:
				if err != nil {
					t.Fatalf("%v\n%s", err, out.String())
				}
				ended = true
			}
		} else {
			ended = afterCalls(t, came, done, rng.IntN(2*calm/most))
		}
		if ended {
			break
		}
		if err := c.Process.Signal(syscall.SIGKILL); err != nil && c.ProcessState == nil {
			t.Log("it ended by itself: ", err)
		}
		<-done
		kills++
	}
	if kills < 3 {
		t.Errorf("it was killed only %d times", kills)
	}
	if out, err := child(t, dir, server.URL(), "killed", concurrency).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "calm", "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "killed", "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("after %d kills the results are others", kills)
	}
	again := server.Paid() - 2*calm
	t.Logf("%d calls in a calm run; %d kills cost %d calls more", calm, kills, again)
	if again > kills*concurrency {
		t.Errorf("%d calls were paid again after %d kills with %d in flight", again, kills, concurrency)
	}
}

// afterCalls waits for n calls, and reports whether the program ended before.
func afterCalls(t *testing.T, came <-chan struct{}, done <-chan error, n int) bool {
	t.Helper()
	for ; n >= 0; n-- {
		select {
		case <-came:
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return true
		}
	}
	return false
}
