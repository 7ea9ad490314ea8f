package llmtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// Key is the key that the clients of TestClient must send.
const Key = "sk-conf-2nX7qKd94hVbTz0RmWcY"

// prompt is how long TestClient lets a client take to notice that its context
// has ended: long, since the machine may be busy, but no server's timeout.
const prompt = 5 * time.Second

// TestClient is what every backend that speaks to a server must pass. Make
// returns a new client for the base URL, which ends in /v1 (Azure's wants it
// without); it must send Key, make one call for one request (no retries: they
// are another link of the chain), and have a timeout of at least 10 s.
//
// A backend passes if
//
//   - a reply's content, finish reason, refusal, model, fingerprint and usage
//     come back, and usage that is not told is Unknown;
//   - the server gets the request as it is, and the request is not changed;
//   - 64 callers at once each get their own reply;
//   - a context that ends stops the call at once, with the context's error, and
//     one that has ended costs no call;
//   - each failure is an *llm.Error of the right Kind, with the server's wait,
//     and without any part of the key, also where the server echoes it.
//
// A completion whose content is null, without a refusal, may be a Response with
// empty Content or an error of kind Transient. A completion without choices
// must be an error.
func TestClient(t *testing.T, make func(baseURL string) llm.Client) {
	c := conformance{make}
	t.Run("reply", c.reply)
	t.Run("request", c.request)
	t.Run("finish", c.finish)
	t.Run("usage not told", c.noUsage)
	t.Run("null content", c.nullContent)
	t.Run("concurrent", c.concurrent)
	t.Run("cancelled", c.cancelled)
	t.Run("cancelled before", c.cancelledBefore)
	t.Run("deadline", c.deadline)
	for _, e := range failures() {
		t.Run(e.fault.String(), func(t *testing.T) { c.failure(t, e) })
	}
	t.Run("wrong key", c.wrongKey)
	t.Run("server is gone", c.gone)
	t.Run("reset of a used connection", c.resetAfterUse)
}

type conformance struct {
	make func(baseURL string) llm.Client
}

// start returns a server, which ends with the test, and a client of it.
func (c conformance) start(t *testing.T, o Options) (*Server, llm.Client) {
	t.Helper()
	if o.Key == "" {
		o.Key = Key
	}
	s := New(o)
	t.Cleanup(s.Close)
	return s, c.make(s.URL())
}

// sample is a request with everything in it that goes over the wire.
func sample(text string) *llm.Request {
	temperature, seed := 0.0, 7
	return &llm.Request{
		Endpoint: "llmtest", Model: "judge", Temperature: &temperature, MaxTokens: 256, Seed: &seed,
		Messages: []llm.Message{{Role: llm.System, Content: "Reply in JSON."}, {Role: llm.User, Content: text}},
		Schema:   &llm.Schema{Name: "claims", JSON: []byte(`{"type":"object","properties":{"claims":{"type":"array","items":{"type":"string"}}},"required":["claims"],"additionalProperties":false}`)},
		Tag:      llm.Tag{Metric: "m", Step: "s"},
	}
}

// must returns the reply to a request.
func must(t *testing.T, client llm.Client, req *llm.Request) *llm.Response {
	t.Helper()
	resp, err := client.Complete(t.Context(), req)
	if err != nil {
		t.Fatalf("complete: %v", err)
	}
	if resp == nil {
		t.Fatal("neither a reply nor an error")
	}
	return resp
}

func (c conformance) reply(t *testing.T) {
	const content = "{\"claims\":[\"<b> & \u00e9 \\\"quoted\\\"\"]}\n"
	s, client := c.start(t, Options{Answer: func(*llm.Request) string { return content }})
	req := sample("Text.")
	got := must(t, client, req)
	want := llm.Response{
		Content: content, FinishReason: llm.FinishStop, Model: DatedModel(req.Model), Fingerprint: Fingerprint,
		Usage: llm.Usage{PromptTokens: PromptTokens(req.Messages), CompletionTokens: Tokens(content)},
	}
	if *got != want {
		t.Errorf("the reply is %+v, want %+v", *got, want)
	}
	if s.Requests() != 1 || s.Paid() != 1 {
		t.Errorf("%d requests, %d paid for one reply", s.Requests(), s.Paid())
	}
}

func (c conformance) request(t *testing.T) {
	var mu sync.Mutex
	var seen *llm.Request
	_, client := c.start(t, Options{Answer: func(r *llm.Request) string {
		mu.Lock()
		defer mu.Unlock()
		seen = r
		return "{}"
	}})
	text := "\u00e9 <tag> & {{braces}} \\n \"quoted\"\n\ttab \U0001F600"
	req, same := sample(text), sample(text)
	must(t, client, req)
	if !reflect.DeepEqual(req, same) {
		t.Errorf("the request was changed: %+v", req)
	}
	mu.Lock()
	defer mu.Unlock()
	same.Endpoint, same.Tag = "", llm.Tag{} // not on the wire
	if !reflect.DeepEqual(seen, same) {
		t.Errorf("the server got %+v, want %+v", seen, same)
	}
}

func (c conformance) finish(t *testing.T) {
	for _, f := range []struct {
		fault  Fault
		reason llm.FinishReason
		said   string
	}{{Truncated(), llm.FinishLength, ""}, {FilteredReply(), llm.FinishContentFilter, ""}, {Refusal(), llm.FinishStop, RefusalText}} {
		s, client := c.start(t, Options{Fault: Always(f.fault)})
		if got := must(t, client, sample("Text.")); got.FinishReason != f.reason || got.Refusal != f.said || got.Usage.Unknown != 0 || s.Requests() != 1 {
			t.Errorf("%v: %+v after %d requests, want finish reason %q and refusal %q", f.fault, *got, s.Requests(), f.reason, f.said)
		}
	}
}

func (c conformance) noUsage(t *testing.T) {
	_, client := c.start(t, Options{Fault: Always(NoUsage())})
	if got := must(t, client, sample("Text.")).Usage; got != (llm.Usage{Unknown: 1}) {
		t.Errorf("usage is %+v, want it unknown", got)
	}
}

func (c conformance) nullContent(t *testing.T) {
	s, client := c.start(t, Options{Fault: Always(NullContent())})
	resp, err := client.Complete(t.Context(), sample("Text."))
	switch e := llm.AsError(err); {
	case err == nil && (resp == nil || resp.Content != ""):
		t.Errorf("the reply is %+v", resp)
	case err != nil && (e == nil || e.Kind != llm.Transient):
		t.Errorf("the error is %v", err)
	}
	if s.Requests() != 1 {
		t.Errorf("%d requests", s.Requests())
	}
}

func (c conformance) concurrent(t *testing.T) {
	const callers, each = 64, 4
	s, client := c.start(t, Options{
		Answer:  func(r *llm.Request) string { return r.Messages[len(r.Messages)-1].Content },
		Latency: time.Millisecond,
	})
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for k := range each {
				text := fmt.Sprintf("caller %d, request %d", i, k)
				resp, err := client.Complete(t.Context(), sample(text))
				if err != nil {
					t.Errorf("%s: %v", text, err)
				} else if resp.Content != text {
					t.Errorf("%s got the reply to %s", text, resp.Content)
				}
			}
		})
	}
	all.Wait()
	if s.Paid() != callers*each || len(s.Repeats()) != 0 || s.MaxInFlight() > callers {
		t.Errorf("%d paid, %d more than once, %d at once", s.Paid(), len(s.Repeats()), s.MaxInFlight())
	}
}

// ended checks that a call ended by its context, and at once.
func ended(t *testing.T, client llm.Client, ctx context.Context, want error) {
	t.Helper()
	result := make(chan error, 1)
	go func() {
		_, err := client.Complete(ctx, sample("Text."))
		result <- err
	}()
	<-ctx.Done()
	select {
	case err := <-result:
		if !errors.Is(err, want) || !llm.StopsRun(err) {
			t.Errorf("the error is %v, want %v and one that stops the run", err, want)
		}
	case <-time.After(prompt):
		t.Errorf("no end within %v of the context's", prompt)
	}
}

func (c conformance) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, client := c.start(t, Options{Fault: func(int, *Request) Fault { cancel(); return Hang() }})
	ended(t, client, ctx, context.Canceled)
}

func (c conformance) cancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, client := c.start(t, Options{})
	ended(t, client, ctx, context.Canceled)
	if s.Requests() != 0 {
		t.Errorf("%d requests were sent", s.Requests())
	}
}

func (c conformance) deadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, client := c.start(t, Options{Fault: Always(Hang())})
	ended(t, client, ctx, context.DeadlineExceeded)
}

// failure is a fault and what a client must make of it.
type failure struct {
	fault  Fault
	kind   llm.Kind
	status int
	wait   time.Duration
}

func failures() []failure {
	named := func(name string, f Fault) Fault { f.name = name; return f }
	return []failure{
		{Unauthorized(), llm.Fatal, 401, 0},
		{UnauthorizedEcho(), llm.Fatal, 401, 0},
		{PaymentRequired(), llm.Fatal, 402, 0},
		{InsufficientQuota(), llm.Fatal, 429, 0},
		{ModelNotFound(), llm.Fatal, 404, 0},
		{RateLimit("7"), llm.RateLimited, 429, 7 * time.Second},
		{named("rate limit in milliseconds", RateLimitHeaders(map[string]string{"Retry-After-Ms": "1500", "Retry-After": "2"})), llm.RateLimited, 429, 1500 * time.Millisecond},
		{RateLimitBare(), llm.RateLimited, 429, 0},
		{Status(500), llm.Transient, 500, 0},
		{Status(502), llm.Transient, 502, 0},
		{ServiceUnavailableHTML(), llm.Transient, 503, 0},
		{Reset(), llm.Transient, 0, 0},
		{CutBody(), llm.Transient, 0, 0},
		{EmptyChoices(), llm.Transient, 0, 0},
		{ErrorIn200(), llm.Transient, 0, 0},
		{ContentFilter(), llm.Row, 400, 0},
		{ContextTooLong(), llm.Row, 400, 0},
	}
}

func (c conformance) failure(t *testing.T, want failure) {
	s, client := c.start(t, Options{Fault: Always(want.fault)})
	_, err := client.Complete(t.Context(), sample("Text."))
	e := failed(t, err, want.kind)
	if want.status != 0 && e.Status != want.status || e.RetryAfter != want.wait {
		t.Errorf("status %d and wait %v, want %d and %v", e.Status, e.RetryAfter, want.status, want.wait)
	}
	if s.Requests() != 1 {
		t.Errorf("%d requests for one call", s.Requests())
	}
}

// failed checks that an error is of a kind, and tells nothing of the key.
func failed(t *testing.T, err error, kind llm.Kind) *llm.Error {
	t.Helper()
	e := llm.AsError(err)
	if e == nil {
		t.Fatalf("%v (%T) is no *llm.Error", err, err)
	}
	if e.Kind != kind || e.Code == "" {
		t.Errorf("kind %v, code %q, want %v: %v", e.Kind, e.Code, kind, err)
	}
	texts := []string{err.Error(), e.Message, e.Hint, fmt.Sprintf("%+v", *e)}
	for inner := e.Err; inner != nil; inner = errors.Unwrap(inner) {
		texts = append(texts, fmt.Sprintf("%+v", inner))
	}
	if slices.ContainsFunc(texts, tellsKey) {
		t.Errorf("the error tells the key: %q", texts)
	}
	return e
}

// tellsKey reports whether a text holds six letters of Key in a row, but for
// what every key starts with.
func tellsKey(text string) bool {
	const start, run = len("sk-conf-"), 6
	for i := start; i+run <= len(Key); i++ {
		if strings.Contains(text, Key[i:i+run]) {
			return true
		}
	}
	return false
}

func (c conformance) wrongKey(t *testing.T) {
	s, client := c.start(t, Options{Key: "another"})
	_, err := client.Complete(t.Context(), sample("Text."))
	failed(t, err, llm.Fatal)
	if s.Paid() != 0 {
		t.Error("a wrong key was let in")
	}
}

func (c conformance) gone(t *testing.T) {
	s, client := c.start(t, Options{})
	s.Close()
	_, err := client.Complete(t.Context(), sample("Text."))
	failed(t, err, llm.Transient)
}

// On a connection that was used before, net/http may send a request anew by
// itself; a POST that may have been paid for must not be.
func (c conformance) resetAfterUse(t *testing.T) {
	s, client := c.start(t, Options{Fault: Script(Fault{}, Reset())})
	must(t, client, sample("One."))
	_, err := client.Complete(t.Context(), sample("Two."))
	failed(t, err, llm.Transient)
	if s.Requests() != 2 {
		t.Errorf("%d requests for two calls", s.Requests())
	}
	must(t, client, sample("Three."))
}
