package llmtest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// clock is a clock that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// want posts a chat and checks status and headers; a header "-" must be absent.
func want(t *testing.T, s *llmtest.Server, body string, status int, header ...string) {
	t.Helper()
	r := chat(t, s, body)
	if r.status != status {
		t.Errorf("status %d, want %d: %s", r.status, status, r.raw)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if got := r.header.Get(header[i]); got != strings.TrimPrefix(header[i+1], "-") {
			t.Errorf("%s is %q, want %q", header[i], got, header[i+1])
		}
	}
}

func TestBucketOfRequests(t *testing.T) {
	c := newClock()
	s := start(t, llmtest.Options{Now: c.now, Limit: &llmtest.Limit{Requests: 60, BurstSeconds: 2}})
	want(t, s, hello, 200, "x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "1", "x-ratelimit-reset-requests", "1s", "Retry-After", "-", "x-ratelimit-limit-tokens", "-")
	want(t, s, hello, 200, "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "2s")
	c.add(400 * time.Millisecond)
	want(t, s, hello, 429, "Retry-After", "1", "Retry-After-Ms", "600", "x-ratelimit-remaining-requests", "0")
	c.add(600 * time.Millisecond)
	want(t, s, hello, 200)
	want(t, s, hello, 429, "Retry-After", "1")
	c.add(time.Hour)
	want(t, s, hello, 200, "x-ratelimit-remaining-requests", "1")
	if s.Paid() != 4 || s.Statuses()[429] != 2 {
		t.Errorf("%d paid, %v", s.Paid(), s.Statuses())
	}
}

func TestFixedWindow(t *testing.T) {
	c := newClock()
	s := start(t, llmtest.Options{Now: c.now, Limit: &llmtest.Limit{Requests: 12, Window: 10 * time.Second}})
	want(t, s, hello, 200)
	c.add(9 * time.Second)
	want(t, s, hello, 200)
	want(t, s, hello, 429, "Retry-After", "1")
	c.add(time.Second)
	want(t, s, hello, 200)
	want(t, s, hello, 200)
	want(t, s, hello, 429, "Retry-After", "10")
	c.add(25 * time.Second) // half into a window
	want(t, s, hello, 200)
	want(t, s, hello, 200)
	want(t, s, hello, 429, "Retry-After", "5")
}

func TestLimitOfTokens(t *testing.T) {
	c := newClock()
	// 4 tokens of prompt and 1 of completion each.
	s := start(t, llmtest.Options{Now: c.now, Limit: &llmtest.Limit{Tokens: 12}})
	want(t, s, hello, 200, "x-ratelimit-limit-tokens", "12", "x-ratelimit-remaining-tokens", "8", "x-ratelimit-limit-requests", "-")
	want(t, s, hello, 200, "x-ratelimit-remaining-tokens", "3") // the completion counts later
	want(t, s, hello, 429, "Retry-After", "10", "x-ratelimit-remaining-tokens", "2")
	c.add(10 * time.Second)
	want(t, s, hello, 200)
	long := strings.Replace(hello, "Now.", strings.Repeat("x", 100), 1)
	if r := chat(t, s, long); r.status != 429 || !strings.Contains(r.raw, "Request too large") || r.header.Get("Retry-After") != "" {
		t.Errorf("%d %s", r.status, r.raw)
	}
}

func TestRejects(t *testing.T) {
	const msgs = `"messages":[{"role":"user","content":"JSON"}]`
	for _, c := range []struct{ rejects, with, without, param string }{
		{"temperature", `"temperature":0,` + msgs, msgs, "temperature"},
		{"seed", `"seed":1,` + msgs, msgs, "seed"},
		{"max_tokens", `"max_tokens":5,` + msgs, `"max_completion_tokens":5,` + msgs, "max_tokens"},
		{"max_completion_tokens", `"max_completion_tokens":5,` + msgs, `"max_tokens":5,` + msgs, "max_completion_tokens"},
		{"json_schema", `"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}},` + msgs, `"response_format":{"type":"json_object"},` + msgs, "response_format"},
		{"json_object", `"response_format":{"type":"json_object"},` + msgs, msgs, "response_format"},
		{"response_format", `"response_format":{"type":"text"},` + msgs, msgs, "response_format"},
		{"system", `"messages":[{"role":"system","content":"x"}]`, msgs, ""},
	} {
		s := start(t, llmtest.Options{Rejects: []string{"nothing", c.rejects}})
		r := chat(t, s, `{"model":"m",`+c.with+`}`)
		if r.status != 400 || r.Error == nil || r.Error.Message == "" || (c.param != "" && r.Error.Param != c.param) {
			t.Errorf("%s: %d %s", c.rejects, r.status, r.raw)
		}
		if r := chat(t, s, `{"model":"m",`+c.without+`}`); r.status != 200 || s.Paid() != 1 {
			t.Errorf("without %s: %d %s", c.rejects, r.status, r.raw)
		}
	}
}

// Limits hold, and counts are right, when many ask at once.
func TestConcurrentRequests(t *testing.T) {
	c := newClock()
	s := start(t, llmtest.Options{Now: c.now, Limit: &llmtest.Limit{Requests: 40}, Fault: llmtest.Seeded(1, 0.2, llmtest.Status(500), llmtest.Truncated())})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for k := range 5 {
				chat(t, s, strings.Replace(hello, "Now.", fmt.Sprint(i, k), 1))
			}
		})
	}
	all.Wait()
	st := s.Statuses()
	if s.Requests() != 80 || st[429] != 40 || st[200]+st[500] != 40 || st[500] == 0 || st[200] != s.Paid() || s.MaxInFlight() > 16 || len(s.Repeats()) != 0 || len(s.Bodies()) != 80 {
		t.Errorf("%d requests, %v, %d paid, %d at once", s.Requests(), st, s.Paid(), s.MaxInFlight())
	}
}

func FuzzChat(f *testing.F) {
	s := llmtest.New(llmtest.Options{Fault: llmtest.Every(2, llmtest.DuplicateVerdicts())})
	f.Cleanup(s.Close)
	f.Add(hello)
	f.Add(`{"model":"m","messages":[{"role":"user","content":"<item-0 n=\"99999999999999999999\">"}],"response_format":{"type":"json_schema","json_schema":{"name":"verdicts","schema":{"properties":[]}}}}`)
	f.Add(`{"model":"m","messages":[{"role":"user","content":null}],"response_format":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		r, err := post(t, s.URL()+"/chat/completions", body)
		if err != nil || (r.status != 200 && r.status != 400) {
			t.Fatalf("%+v %v", r, err)
		}
	})
}
