package llmtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

func TestErrorFaults(t *testing.T) {
	for _, c := range []struct {
		fault  llmtest.Fault
		status int
		code   any
		says   string
	}{
		{llmtest.RateLimit("7"), 429, "rate_limit_exceeded", "Rate limit reached for m"},
		{llmtest.Status(500), 500, nil, "server had an error"},
		{llmtest.Status(529), 529, nil, "server had an error"},
		{llmtest.Unauthorized(), 401, "invalid_api_key", "sk-abcde****************wxyz."},
		{llmtest.UnauthorizedEcho(), 401, nil, "sk-abcdefghijklmnopqrstuvwxyz"},
		{llmtest.PaymentRequired(), 402, nil, "Insufficient credits"},
		{llmtest.InsufficientQuota(), 429, "insufficient_quota", "exceeded your current quota"},
		{llmtest.ErrorIn200(), 200, 502.0, "Provider returned error"},
		{llmtest.UnsupportedParameter("temperature"), 400, "unsupported_parameter", "'temperature' is not supported"},
		{llmtest.UnsupportedParameter("max_tokens"), 400, "unsupported_parameter", "Use 'max_completion_tokens' instead"},
		{llmtest.ContentFilter(), 400, "content_filter", "content management policy"},
		{llmtest.ContextTooLong(), 400, "context_length_exceeded", "maximum context length is 3 tokens. However, your messages resulted in 4"},
		{llmtest.ModelNotFound(), 404, "model_not_found", "`m` does not exist"},
	} {
		s := start(t, llmtest.Options{Fault: llmtest.Script(c.fault)})
		r := chat(t, s, hello, "Authorization", "Bearer sk-abcdefghijklmnopqrstuvwxyz")
		if r.status != c.status || r.Error == nil || r.Error.Code != c.code || !strings.Contains(r.Error.Message, c.says) {
			t.Errorf("%v: %d %s", c.fault, r.status, r.raw)
		}
		if s.Paid() != 0 || s.Records()[0].Fault != c.fault.String() {
			t.Errorf("%v: %d paid, recorded as %+v", c.fault, s.Paid(), s.Records()[0])
		}
		if r := chat(t, s, hello); r.status != 200 || r.content() != "ok" || s.Paid() != 1 {
			t.Errorf("after %v: %s", c.fault, r.raw)
		}
	}
}

func TestRateLimitFaults(t *testing.T) {
	s := start(t, llmtest.Options{Fault: llmtest.Script(
		llmtest.RateLimit("7"), llmtest.RateLimitHeaders(map[string]string{"x-ratelimit-reset-requests": "1m2s"}), llmtest.RateLimitBare(), llmtest.ServiceUnavailableHTML())})
	if r := chat(t, s, hello); r.header.Get("Retry-After") != "7" {
		t.Errorf("%v", r.header)
	}
	if r := chat(t, s, hello); r.status != 429 || r.header.Get("X-Ratelimit-Reset-Requests") != "1m2s" || r.header.Get("Retry-After") != "" {
		t.Errorf("%d %v", r.status, r.header)
	}
	if r := chat(t, s, hello); r.status != 429 || r.raw != "" || r.header.Get("Retry-After") != "" {
		t.Errorf("%d %q %v", r.status, r.raw, r.header)
	}
	if r := chat(t, s, hello); r.status != 503 || !strings.HasPrefix(r.raw, "<html>") || r.header.Get("Content-Type") != "text/html" {
		t.Errorf("%d %q", r.status, r.raw)
	}
}

func TestModelFaults(t *testing.T) {
	const two = `{"verdicts":[{"id":1,"reason":"It is so.","verdict":"yes"},{"id":2,"reason":"It is so.","verdict":"yes"}]}`
	for _, c := range []struct {
		fault  llmtest.Fault
		want   string
		finish string
	}{
		{llmtest.FencedJSON(), "```json\n" + two + "\n```", "stop"},
		{llmtest.Thinking(), "<think>\nLet me look at each of them. {\"verdicts\":[]} would be too easy.\n</think>\n\n" + two, "stop"},
		{llmtest.ThinkingUnclosed(), "<think>\nPerhaps this would do:\n" + two, "stop"},
		{llmtest.FewerVerdicts(), `{"verdicts":[{"id":1,"reason":"It is so.","verdict":"yes"}]}`, "stop"},
		{llmtest.MoreVerdicts(), two[:len(two)-2] + `,{"id":3,"reason":"It is so.","verdict":"yes"}]}`, "stop"},
		{llmtest.DuplicateVerdicts(), two[:len(two)-2] + `,{"id":1,"reason":"On second thoughts it is otherwise.","verdict":"no"}]}`, "stop"},
		{llmtest.Truncated(), two[:len(two)/2], "length"},
		{llmtest.FilteredReply(), "", "content_filter"},
		{llmtest.NullContent(), "(none)", "stop"},
		{llmtest.Refusal(), "(none)", "stop"},
		{llmtest.NoUsage(), two, "stop"},
	} {
		s := start(t, llmtest.Options{Fault: llmtest.Always(c.fault)})
		r := chat(t, s, ask(t, 2, true))
		if r.status != 200 || r.content() != c.want || r.Choices[0].Finish != c.finish || s.Paid() != 1 {
			t.Errorf("%v: %s, %d paid", c.fault, r.raw, s.Paid())
		}
		refusal := r.Choices[0].Message.Refusal
		if want := c.fault.String() == "refusal"; (refusal != nil) != want || want && *refusal != llmtest.RefusalText {
			t.Errorf("%v: %s", c.fault, r.raw)
		}
		if (r.Usage == nil) != (c.fault.String() == "no usage") {
			t.Errorf("%v: usage %+v", c.fault, r.Usage)
		}
	}
	s := start(t, llmtest.Options{Fault: llmtest.Always(llmtest.EmptyChoices())})
	if r := chat(t, s, hello); r.status != 200 || len(r.Choices) != 0 || !strings.Contains(r.raw, `"choices":[]`) {
		t.Errorf("%s", r.raw)
	}
	// There is nothing to leave out of another answer.
	s = start(t, llmtest.Options{Fault: llmtest.Always(llmtest.FewerVerdicts())})
	for _, body := range []string{hello, ask(t, 0, true)} {
		if r := chat(t, s, body); r.content() != "ok" && r.content() != `{"verdicts":[]}` {
			t.Errorf("%s", r.raw)
		}
	}
	// Contradiction needs no schema.
	s = start(t, llmtest.Options{Fault: llmtest.Always(llmtest.DuplicateVerdicts())})
	if r := chat(t, s, ask(t, 1, false)); !strings.Contains(r.content(), `"verdict":"bad"`) {
		t.Errorf("%s", r.raw)
	}
}

func TestTruncatedCutsBetweenCharacters(t *testing.T) {
	s := start(t, llmtest.Options{Answer: always("aé"), Fault: llmtest.Always(llmtest.Truncated())})
	if got := chat(t, s, hello).content(); got != "a" {
		t.Errorf("%q", got)
	}
}

func TestConnectionFaults(t *testing.T) {
	for _, c := range []struct {
		fault llmtest.Fault
		is    error
		paid  int
	}{
		{llmtest.CutBody(), io.ErrUnexpectedEOF, 1},
		{llmtest.Reset(), syscall.ECONNRESET, 0},
	} {
		s := start(t, llmtest.Options{Fault: llmtest.Script(c.fault)})
		if r, err := post(t, s.URL()+"/chat/completions", hello); !errors.Is(err, c.is) {
			t.Errorf("%v: %+v %v", c.fault, r, err)
		}
		if s.Paid() != c.paid || s.Requests() != 1 {
			t.Errorf("%v: %d paid of %d", c.fault, s.Paid(), s.Requests())
		}
		// To pay again for what was lost is no waste.
		if r := chat(t, s, hello); r.status != 200 || len(s.Wasted()) != 0 || len(s.Repeats()) != c.paid {
			t.Errorf("after %v: %d, wasted %v, repeats %v", c.fault, r.status, s.Wasted(), s.Repeats())
		}
	}
}

func TestHangAndSlowEndWithTheClient(t *testing.T) {
	for _, f := range []llmtest.Fault{llmtest.Hang(), llmtest.Slow(time.Hour)} {
		here := make(chan struct{})
		s := start(t, llmtest.Options{Fault: func(int, *llmtest.Request) llmtest.Fault { close(here); return f }})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-here; cancel() }()
		req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+"/chat/completions", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := http.DefaultClient.Do(req); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", f, err)
		}
		s.Close()
		if s.Paid() != 0 || s.Statuses()[0] != 1 {
			t.Errorf("%v: %d paid, %v", f, s.Paid(), s.Statuses())
		}
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	for _, f := range []llmtest.Fault{llmtest.Hang(), llmtest.Slow(time.Hour)} {
		here := make(chan struct{})
		s := start(t, llmtest.Options{Fault: func(int, *llmtest.Request) llmtest.Fault { close(here); return f }})
		failed := make(chan error)
		go func() {
			_, err := post(t, s.URL()+"/chat/completions", hello)
			failed <- err
		}()
		<-here
		s.Close()
		s.Close()
		if err := <-failed; err == nil {
			t.Errorf("%v: the client got a reply", f)
		}
	}
}

func TestSlowAnswers(t *testing.T) {
	const d = 20 * time.Millisecond
	s := start(t, llmtest.Options{Fault: llmtest.Script(llmtest.Slow(d)), Latency: d})
	for _, least := range []time.Duration{2 * d, d} {
		began := time.Now()
		if r := chat(t, s, hello); r.content() != "ok" || time.Since(began) < least {
			t.Errorf("%s after %v, want %v", r.raw, time.Since(began), least)
		}
	}
}

func TestScripts(t *testing.T) {
	bad := llmtest.Status(500)
	req := func(attempt int, body string) *llmtest.Request {
		return &llmtest.Request{Attempt: attempt, Body: []byte(body)}
	}
	pattern := func(f llmtest.FaultFunc) string {
		var b strings.Builder
		for n := 1; n <= 6; n++ {
			if f(n, req((n+1)/2, []string{"even", "odd"}[n%2])).String() != "" {
				b.WriteByte('x')
			} else {
				b.WriteByte('.')
			}
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		f    llmtest.FaultFunc
		want string
	}{
		{"script", llmtest.Script(bad, llmtest.Fault{}, bad), "x.x..."},
		{"every 3", llmtest.Every(3, bad), "..x..x"},
		{"every 0", llmtest.Every(0, bad), "......"},
		{"always", llmtest.Always(bad), "xxxxxx"},
		{"first try", llmtest.OnFirstTryOf("odd", bad), "x....."},
		{"each try", llmtest.On("even", bad), ".x.x.x"},
		{"first of", llmtest.FirstOf(llmtest.Script(bad), llmtest.Every(4, bad)), "x..x.."},
		{"seeded, certain", llmtest.Seeded(1, 1, bad), "xxxxxx"},
		{"seeded, never", llmtest.Seeded(1, 0, bad), "......"},
		{"seeded, without faults", llmtest.Seeded(1, 1), "......"},
	} {
		if got := pattern(c.f); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSeededDependsOnBodyAndAttemptOnly(t *testing.T) {
	f, other := llmtest.Seeded(7, 0.3, llmtest.Status(500), llmtest.Reset()), llmtest.Seeded(8, 0.3, llmtest.Status(500), llmtest.Reset())
	count, differ := map[string]int{}, 0
	for i := range 2000 {
		r := &llmtest.Request{Attempt: 1 + i%3, Body: []byte(strings.Repeat("x", i/3))}
		got := f(i, r).String()
		if again := f(5000-i, r).String(); again != got {
			t.Fatalf("%d: %q, then %q", i, got, again)
		}
		if other(i, r).String() != got {
			differ++
		}
		count[got]++
	}
	if n := count[""]; n < 1300 || n > 1500 || count["reset"] < 200 || count["status 500"] < 200 || differ < 400 {
		t.Errorf("%v, %d differ", count, differ)
	}
}

func always(text string) func(*llm.Request) string {
	return func(*llm.Request) string { return text }
}
