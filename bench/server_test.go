package bench_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// verdictReply is what the judge says to every ask for three verdicts.
const verdictReply = `{"verdicts":[` +
	`{"id":1,"reason":"The second passage says that in-network care is paid at the higher rate, as the claim does.","verdict":"supported"},` +
	`{"id":2,"reason":"The first passage gives another number of days than the claim, so that both can't hold.","verdict":"contradicted"},` +
	`{"id":3,"reason":"No passage says anything about the time until a complaint is answered.","verdict":"not_found"}]}`

// ratingReply is what it says to every ask for a rating.
const ratingReply = `{"reason":"The response answers the question, with one detail too many.","rating":4}`

// judgeServer is an endpoint that does the least that a server can do: it reads
// the request and writes one and the same reply.
type judgeServer struct {
	*httptest.Server
	calls atomic.Int64
	first atomic.Pointer[[]byte] // the first body that came
	// When the first call came, and the last was answered; for one client only.
	began, ended atomic.Pointer[time.Time]
}

// serve starts a server that replies with content after a latency.
func serve(b *testing.B, content string, latency time.Duration) *judgeServer {
	b.Helper()
	said, err := json.Marshal(content)
	if err != nil {
		b.Fatal(err)
	}
	body := []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1764633600,"model":"gpt-4.1-mini-2025-04-14",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":` + string(said) + `},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":1400,"completion_tokens":90,"total_tokens":1490}}`)
	s := &judgeServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		if s.calls.Add(1) == 1 {
			text, _ := io.ReadAll(r.Body) // a broken body shows in the comparison
			s.first.Store(&text)
			now := time.Now()
			s.began.Store(&now)
		} else {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		if latency > 0 {
			time.Sleep(latency)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
		now := time.Now()
		s.ended.Store(&now)
	}))
	b.Cleanup(s.Close)
	return s
}
