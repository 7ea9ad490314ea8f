package llm_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/ragjudge/ragjudge/llm"
)

func TestPromptCut(t *testing.T) {
	for _, c := range []struct {
		counted, read int
		cut           bool
	}{
		{10000, 2048, true}, {10000, 4999, true}, {10000, 5000, false}, {10000, 9000, false}, {10000, 12000, false},
		{6000, 4096, true}, {6000, 4095, true}, {6000, 4100, false}, {4300, 4096, false}, {2000, 999, true}, {2000, 1024, true}, {1281, 1024, true}, {1270, 1024, false},
		{1000, 100, false}, {0, 100, false}, {5000, 0, false}, {-1, 5, false},
	} {
		if got := llm.PromptCut(c.counted, llm.Usage{PromptTokens: c.read, CompletionTokens: 5}); got != c.cut {
			t.Errorf("%d of %d: %t", c.read, c.counted, got)
		}
	}
}

// A reply to a cut prompt is an error of the row, warned of once, and never in
// the store; others pass, and are not even counted.
func TestWholePrompt(t *testing.T) {
	long := strings.Repeat("The policy covers damage by hail. ", 1000) // 34,000 bytes
	for _, c := range []struct {
		name    string
		counted int // by the chain; 0 for not
		text    string
		usage   llm.Usage
		cut     bool
		counts  int
	}{
		{"counted before", 8000, long, llm.Usage{PromptTokens: 2048, CompletionTokens: 9}, true, 0},
		{"counted when in doubt", 0, long, llm.Usage{PromptTokens: 2048, CompletionTokens: 9}, true, 1},
		{"whole", 0, long, llm.Usage{PromptTokens: 9000, CompletionTokens: 9}, false, 0},
		{"whole, though with fewer tokens", 0, long, llm.Usage{PromptTokens: 5000, CompletionTokens: 9}, false, 1},
		{"cut at the size of a context", 0, long, llm.Usage{PromptTokens: 6144, CompletionTokens: 9}, true, 1},
		{"short", 0, "hail?", llm.Usage{PromptTokens: 1, CompletionTokens: 9}, false, 0},
		{"usage not told", 8000, long, llm.Usage{Unknown: 1}, false, 0},
		{"usage told in part", 8000, long, llm.Usage{PromptTokens: 2048, Unknown: 1}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			counts := 0
			store := &mapStore{}
			whole := &llm.WholePrompt{Log: slog.New(slog.NewTextHandler(&log, nil)),
				Count: func(*llm.Request) int { counts++; return 8000 },
				Next: llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
					return &llm.Response{Content: "{}", Usage: c.usage}, nil
				})}
			client := &llm.Cached{Store: store, Next: whole}
			req := ask(c.text)
			req.PromptTokens = c.counted
			for range 2 {
				resp, err := client.Complete(t.Context(), req)
				e := llm.AsError(err)
				if c.cut && (e == nil || e.Kind != llm.Row || e.Code != "prompt_truncated" || resp != nil || !strings.Contains(e.Hint, "num_ctx")) {
					t.Errorf("%v, %v", resp, err)
				}
				if !c.cut && err != nil {
					t.Error(err)
				}
			}
			if kept := len(store.m); c.cut == (kept > 0) {
				t.Errorf("%d replies are kept", kept)
			}
			if got := strings.Count(log.String(), "cuts long prompts"); c.cut != (got == 1) {
				t.Errorf("warned %d times: %s", got, log.String())
			}
			if c.cut {
				c.counts *= 2 // nothing was kept
			}
			if counts != c.counts {
				t.Errorf("counted %d times, want %d", counts, c.counts)
			}
		})
	}
}

func TestWholePromptWarnsOnceForAll(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	w := &llm.WholePrompt{Log: slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil)),
		Next: llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
			return &llm.Response{Content: "{}", Usage: llm.Usage{PromptTokens: 2048, CompletionTokens: 9}}, nil
		})}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			req := ask("x")
			req.PromptTokens = 9000
			if _, err := w.Complete(t.Context(), req); err == nil {
				t.Error("no error")
			}
		})
	}
	wg.Wait()
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
