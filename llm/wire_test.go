package llm_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// serve starts a fake provider and a client of it.
func serve(t *testing.T, o llmtest.Options, cfg llm.OpenAIConfig) (*llmtest.Server, *llm.OpenAI) {
	t.Helper()
	s := llmtest.New(o)
	t.Cleanup(s.Close)
	cfg.BaseURL = s.URL()
	return s, newOpenAI(t, cfg)
}

// members are those of the body of the nth request, from 0.
func members(t *testing.T, s *llmtest.Server, n int) map[string]any {
	t.Helper()
	var m map[string]any
	bodies := s.Bodies()
	if n >= len(bodies) {
		t.Fatalf("there are %d requests", len(bodies))
	}
	if err := json.Unmarshal([]byte(bodies[n]), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func asksFor(tokens int, text string) *llm.Request {
	req := ratingRequest(text)
	req.MaxTokens = tokens
	return req
}

// A request that fits with a shorter reply is sent once more with one; no other
// request is touched by it.
func TestReplyIsShortenedToFit(t *testing.T) {
	for name, c := range map[string]struct {
		fault llmtest.FaultFunc
		limit int
	}{
		"tokens a minute":    {llmtest.TokensPerRequest(1500), 1500},
		"length of contexts": {llmtest.ContextOf(1500), 1500},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t, llmtest.Options{Fault: c.fault}, llm.OpenAIConfig{})
			req := asksFor(1400, strings.Repeat("hail ", 200))
			prompt := llmtest.PromptTokens(req.Messages)
			if _, err := o.Complete(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if s.Requests() != 2 || members(t, s, 1)["max_tokens"] != float64(c.limit-prompt) {
				t.Errorf("%d requests, the second for %v tokens, want %d", s.Requests(), members(t, s, 1)["max_tokens"], c.limit-prompt)
			}
			if _, err := o.Complete(t.Context(), asksFor(1400, "short")); err != nil || members(t, s, 2)["max_tokens"] != 1400.0 {
				t.Errorf("another request asks for %v tokens: %v", members(t, s, 2)["max_tokens"], err)
			}
			if len(o.Learnt()) != 0 {
				t.Errorf("learnt %q", o.Learnt())
			}
		})
	}
}

// Where a useful reply has no room the row fails, with one call.
func TestNoRoomForAReply(t *testing.T) {
	for _, c := range []struct {
		fault llmtest.FaultFunc
		code  string
	}{{llmtest.TokensPerRequest(1200), "request_above_token_limit"}, {llmtest.ContextOf(1200), "context_too_long"}, {llmtest.ContextOf(500), "context_too_long"}} {
		s, o := serve(t, llmtest.Options{Fault: c.fault}, llm.OpenAIConfig{})
		_, err := o.Complete(t.Context(), asksFor(1000, strings.Repeat("hail ", 800)))
		if e := llm.AsError(err); e == nil || e.Kind != llm.Row || e.Code != c.code || s.Requests() != 1 {
			t.Errorf("%v after %d requests, want a row's %s", err, s.Requests(), c.code)
		}
	}
}

// A server that asks for less each time gets one more try and not ten.
func TestRoomIsTriedOnce(t *testing.T) {
	s, o := serve(t, llmtest.Options{Fault: func(_ int, r *llmtest.Request) llmtest.Fault {
		return llmtest.Reply(413, nil, fmt.Sprintf(`{"error":{"message":"Request too large on tokens per minute (TPM): Limit 1000, Requested %d"}}`, 1000+r.Ask.MaxTokens/10))
	}}, llm.OpenAIConfig{})
	_, err := o.Complete(t.Context(), asksFor(2000, "x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Row || s.Requests() != 2 {
		t.Errorf("%v after %d requests", err, s.Requests())
	}
}

// The longest reply of a model is learnt, for all calls.
func TestLongestReplyIsLearnt(t *testing.T) {
	s, o := serve(t, llmtest.Options{Fault: llmtest.LongestReply(512)}, llm.OpenAIConfig{})
	for i := range 3 {
		if _, err := o.Complete(t.Context(), asksFor(2048, fmt.Sprint("text ", i))); err != nil {
			t.Fatal(err)
		}
	}
	if s.Requests() != 4 || members(t, s, 3)["max_tokens"] != 512.0 || !slices.Contains(o.Learnt(), "judge-1: a reply has at most 512 tokens") {
		t.Errorf("%d requests, the last for %v tokens, learnt %q", s.Requests(), members(t, s, 3)["max_tokens"], o.Learnt())
	}
	if _, err := o.Complete(t.Context(), asksFor(300, "x")); err != nil || members(t, s, 4)["max_tokens"] != 300.0 {
		t.Errorf("a shorter one is asked for as %v: %v", members(t, s, 4)["max_tokens"], err)
	}
}

// What was learnt comes back in another process and costs no call; what has
// become wrong is learnt anew.
func TestFormsAreRestored(t *testing.T) {
	var mu sync.Mutex
	told := map[string]llm.Form{}
	onLearn := func(model string, f llm.Form) { mu.Lock(); defer mu.Unlock(); told[model] = f }
	rejects := []string{"json_schema", "temperature", "seed", "max_tokens", "system"}
	s, o := serve(t, llmtest.Options{Rejects: rejects}, llm.OpenAIConfig{OnLearn: onLearn})
	if _, err := o.Complete(t.Context(), ratingRequest("x")); err != nil {
		t.Fatal(err)
	}
	want := llm.Form{Structured: llm.StructuredObject, MaxTokens: "max_completion_tokens", NoTemperature: true, NoSeed: true, MergeSystem: true}
	if got := o.Forms()["judge-1"]; got != want || told["judge-1"] != want || s.Requests() != 1+len(rejects) {
		t.Errorf("learnt %+v, told %+v, in %d requests", got, told["judge-1"], s.Requests())
	}
	b, err := json.Marshal(o.Forms())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"judge-1":{"structured":"json_object","max_tokens":"max_completion_tokens","no_temperature":true,"no_seed":true,"merge_system":true}}`; got != want {
		t.Errorf("kept as %s, want %s", got, want)
	}
	var known map[string]llm.Form
	if err := json.Unmarshal(b, &known); err != nil {
		t.Fatal(err)
	}
	s2, o2 := serve(t, llmtest.Options{Rejects: rejects}, llm.OpenAIConfig{Known: known})
	if _, err := o2.Complete(t.Context(), ratingRequest("x")); err != nil || s2.Requests() != 1 {
		t.Errorf("%d requests with what is known: %v", s2.Requests(), err)
	}
	if !reflect.DeepEqual(o2.Learnt(), o.Learnt()) || !reflect.DeepEqual(o2.Forms(), o.Forms()) {
		t.Errorf("restored as %q", o2.Learnt())
	}
	// The server was updated: the other way round.
	s3, o3 := serve(t, llmtest.Options{Rejects: []string{"json_object", "max_completion_tokens"}}, llm.OpenAIConfig{Known: known})
	if _, err := o3.Complete(t.Context(), ratingRequest("x")); err != nil || s3.Requests() != 3 {
		t.Errorf("%d requests with what is known to be wrong: %v", s3.Requests(), err)
	}
	if f := o3.Forms()["judge-1"]; f.Structured != "" || f.MaxTokens != "" {
		t.Errorf("learnt %+v", f)
	}
	// What was kept may be damaged.
	s4, o4 := serve(t, llmtest.Options{}, llm.OpenAIConfig{Known: map[string]llm.Form{"judge-1": {Structured: "xml", MaxTokens: "\x00", MaxOutput: -5}}})
	if _, err := o4.Complete(t.Context(), ratingRequest("x")); err != nil || s4.Requests() != 1 || members(t, s4, 0)["max_tokens"] != 100.0 {
		t.Errorf("%d requests with damaged knowledge: %v", s4.Requests(), err)
	}
}

// A server with json_object only, which wants the word, and a prompt without it.
func TestJSONObjectGetsItsWord(t *testing.T) {
	s, o := serve(t, llmtest.Options{Rejects: []string{"json_schema"}}, llm.OpenAIConfig{})
	req := ratingRequest("x")
	req.Messages[0].Content = "Bewerte es."
	if _, err := o.Complete(t.Context(), req); err != nil || s.Requests() != 2 {
		t.Fatalf("%d requests: %v", s.Requests(), err)
	}
	if !strings.Contains(s.Bodies()[1], "Reply in JSON.") {
		t.Errorf("sent %s", s.Bodies()[1])
	}
}

// A form of reply that the user insists on, and the server does not have, ends
// the run; a server that fails at the form with a 500 is met by another.
func TestFormsOfReply(t *testing.T) {
	s, o := serve(t, llmtest.Options{Rejects: []string{"json_schema"}}, llm.OpenAIConfig{Structured: llm.StructuredSchema})
	_, err := o.Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || e.Code != "format_refused" || !strings.Contains(e.Hint, "judge.structured") || s.Requests() != 1 {
		t.Errorf("%v after %d requests", err, s.Requests())
	}
	grammar := llmtest.Refuses(500, "Failed to initialize samplers: failed to parse grammar", func(_ *llmtest.Request, m map[string]string) bool {
		return strings.Contains(m["response_format"], "json_schema")
	})
	s, o = serve(t, llmtest.Options{Fault: grammar}, llm.OpenAIConfig{})
	for i := range 3 {
		if _, err := o.Complete(t.Context(), ratingRequest(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if s.Requests() != 4 {
		t.Errorf("%d requests for 3 calls", s.Requests())
	}
	template := llmtest.Refuses(500, "Jinja Exception: Conversation roles must alternate user/assistant/...", func(*llmtest.Request, map[string]string) bool { return true })
	s, o = serve(t, llmtest.Options{Fault: template}, llm.OpenAIConfig{})
	_, err = o.Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Row || s.Requests() != 2 {
		t.Errorf("a template that fails each time: %v after %d requests", err, s.Requests())
	}
}

// Extra members go over the wire and into the key; top_p beside a temperature
// is dropped where the model takes but one; any other that is refused ends the
// run.
func TestExtraBody(t *testing.T) {
	both := llmtest.Refuses(400, "`temperature` and `top_p` cannot both be specified for this model.", func(_ *llmtest.Request, m map[string]string) bool {
		return m["temperature"] != "" && m["top_p"] != ""
	})
	s, o := serve(t, llmtest.Options{Fault: both}, llm.OpenAIConfig{ExtraBody: map[string]any{"top_p": 0.9, "top_k": 1, "chat_template_kwargs": map[string]any{"enable_thinking": false, "a<b": 1}}})
	if got, want := string(o.Extra()), `{"chat_template_kwargs":{"a<b":1,"enable_thinking":false},"top_k":1,"top_p":0.9}`; got != want {
		t.Errorf("extra is %s, want %s", got, want)
	}
	req := ratingRequest("x")
	plain := req.Key()
	req.Extra = o.Extra()
	if req.Key() == plain {
		t.Error("the key does not hold the extra members")
	}
	for i := range 2 {
		req := ratingRequest(fmt.Sprint(i))
		req.Extra = o.Extra()
		if _, err := o.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if m := members(t, s, 0); m["top_p"] != 0.9 || m["top_k"] != 1.0 || m["model"] != "judge-1" || m["max_tokens"] != 100.0 || m["messages"] == nil || !strings.Contains(fmt.Sprint(m["chat_template_kwargs"]), "enable_thinking:false") {
		t.Errorf("sent %v", m)
	}
	if m := members(t, s, 2); s.Requests() != 3 || m["top_p"] != nil || m["temperature"] != 0.0 || !slices.Contains(o.Learnt(), "judge-1: top_p is not sent") {
		t.Errorf("%d requests, then sent %v, learnt %q", s.Requests(), m, o.Learnt())
	}
	s, o = serve(t, llmtest.Options{Rejects: []string{"top_k"}}, llm.OpenAIConfig{ExtraBody: map[string]any{"top_k": 1}})
	_, err := o.Complete(t.Context(), ratingRequest("x")) // without Extra: the endpoint's are sent
	if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || e.Code != "extra_body_refused" || !strings.Contains(e.Hint, "top_k") || s.Requests() != 1 {
		t.Errorf("%v after %d requests", err, s.Requests())
	}
	for _, name := range []string{"model", "messages", "stream", "n", "max_tokens"} {
		if _, err := llm.NewOpenAI(llm.OpenAIConfig{ExtraBody: map[string]any{name: 1}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := llm.NewOpenAI(llm.OpenAIConfig{ExtraBody: map[string]any{"x": func() {}}}); err == nil {
		t.Error("a function is taken for JSON")
	}
}

// A preview is what is sent, byte for byte, and sends nothing.
func TestPreview(t *testing.T) {
	for _, provider := range []string{llm.ProviderOpenAI, llm.ProviderAzure} {
		s, o := serve(t, llmtest.Options{Rejects: []string{"json_schema", "seed"}}, llm.OpenAIConfig{Provider: provider, Project: "p", ExtraBody: map[string]any{"top_k": 1},
			Headers: map[string]string{"X-Team": "a-secret-of-the-team"}})
		if provider == llm.ProviderAzure {
			o = newOpenAI(t, llm.OpenAIConfig{Provider: provider, BaseURL: s.AzureURL(), Headers: map[string]string{"X-Team": "a-secret-of-the-team"}})
		}
		req := ratingRequest("x")
		if _, err := o.Preview(req); err != nil || s.Requests() != 0 {
			t.Fatalf("%d requests: %v", s.Requests(), err)
		}
		if _, err := o.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		n := s.Requests()
		p, err := o.Preview(req)
		if err != nil || s.Requests() != n {
			t.Fatal(err)
		}
		if last := s.Bodies()[n-1]; string(p.Body) != last {
			t.Errorf("previewed %s, sent %s", p.Body, last)
		}
		key := "Authorization"
		if provider == llm.ProviderAzure {
			key = "Api-Key"
		}
		if p.Method != "POST" || !strings.Contains(p.URL, "/chat/completions") || !slices.Contains(p.Headers, key) || !slices.Contains(p.Headers, "X-Team") {
			t.Errorf("%+v", p)
		}
		if text := fmt.Sprintf("%+v %s", p, p.Body); strings.Contains(text, llmtest.Key) || strings.Contains(text, "a-secret") {
			t.Errorf("it tells a secret: %s", text)
		}
	}
}

// Odd forms of a good reply are read; a cut one is none.
func TestOddRepliesAreRead(t *testing.T) {
	for _, f := range []llmtest.Fault{llmtest.BlankLines(), llmtest.Gzip(true), llmtest.Gzip(false), llmtest.EventStream(false)} {
		s, o := serve(t, llmtest.Options{Fault: llmtest.Always(f)}, llm.OpenAIConfig{})
		resp, err := o.Complete(t.Context(), ratingRequest("x"))
		if err != nil || resp.Content != `{"reason":"It is good.","rating":4}` || resp.FinishReason != llm.FinishStop || resp.Usage.PromptTokens == 0 || resp.Usage.CompletionTokens == 0 || resp.Model == "" {
			t.Errorf("%v: %+v, %v", f, resp, err)
		}
		if s.Requests() != 1 {
			t.Errorf("%v: %d requests", f, s.Requests())
		}
	}
	_, o := serve(t, llmtest.Options{Fault: llmtest.Always(llmtest.EventStream(true))}, llm.OpenAIConfig{})
	_, err := o.Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Transient || e.Code != "cut_stream" {
		t.Errorf("a cut stream: %v", err)
	}
}

// Thoughts are kept apart from a content that is empty, and an empty reply to a
// long prompt is told for what it probably is.
func TestRepliesWithoutContent(t *testing.T) {
	for _, field := range []string{"reasoning", "reasoning_content"} {
		_, o := serve(t, llmtest.Options{Fault: llmtest.Always(llmtest.ReasoningOnly(field))}, llm.OpenAIConfig{})
		resp, err := o.Complete(t.Context(), ratingRequest(strings.Repeat("long ", 2000)))
		if err != nil || resp.Content != "" || resp.Reasoning != `{"reason":"It is good.","rating":4}` {
			t.Errorf("%+v, %v", resp, err)
		}
	}
	_, o := serve(t, llmtest.Options{Fault: llmtest.Always(llmtest.EmptyContent())}, llm.OpenAIConfig{})
	store := &mapStore{}
	_, err := (&llm.Cached{Store: store, Next: o}).Complete(t.Context(), ratingRequest(strings.Repeat("long ", 2000)))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Row || e.Code != "suspected_context_overflow" || len(store.m) != 0 {
		t.Errorf("%v, %d kept", err, len(store.m))
	}
	if resp, err := o.Complete(t.Context(), ratingRequest("short")); err != nil || resp.Content != "" {
		t.Errorf("an empty reply to a short prompt: %+v, %v", resp, err)
	}
	// What a model wrote and its server could not read is looked at.
	_, o = serve(t, llmtest.Options{Fault: llmtest.Always(llmtest.Reply(400, nil,
		`{"error":{"message":"Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"json_validate_failed","failed_generation":"{\"rating\": five}"}}`))}, llm.OpenAIConfig{})
	if resp, err := o.Complete(t.Context(), ratingRequest("x")); err != nil || resp.Content != `{"rating": five}` || resp.Usage.Unknown != 1 {
		t.Errorf("%+v, %v", resp, err)
	}
}

// A server that cuts prompts gives no score, through the chain.
func TestCutPromptOverTheWire(t *testing.T) {
	_, o := serve(t, llmtest.Options{Fault: llmtest.CutsPrompts(2048)}, llm.OpenAIConfig{})
	client := &llm.WholePrompt{Next: o, Count: func(r *llm.Request) int { return llmtest.PromptTokens(r.Messages) }}
	if _, err := client.Complete(t.Context(), ratingRequest(strings.Repeat("hail ", 1000))); err != nil {
		t.Errorf("a prompt that fits: %v", err)
	}
	_, err := client.Complete(t.Context(), ratingRequest(strings.Repeat("hail ", 9000)))
	if e := llm.AsError(err); e == nil || e.Code != "prompt_truncated" || e.Kind != llm.Row {
		t.Errorf("a prompt that was cut: %v", err)
	}
}

// Azure says little about what is wrong with an address; the error does.
func TestWrongAzureAddress(t *testing.T) {
	s := llmtest.New(llmtest.Options{Models: []string{"mini"}})
	defer s.Close()
	o := newOpenAI(t, llm.OpenAIConfig{Provider: llm.ProviderAzure, BaseURL: s.AzureURL() + "/openai/deployments/mini/chat/completions?api-version=2024-06-01"})
	_, err := o.Complete(t.Context(), ratingRequest("x"))
	e := llm.AsError(err)
	if e == nil || e.Kind != llm.Fatal || e.Code != "deployment_not_found" || s.Requests() != 1 {
		t.Fatalf("%v after %d requests", err, s.Requests())
	}
	for _, want := range []string{s.AzureURL() + "/openai/deployments/judge-1/chat/completions?api-version=2024-06-01", "host", "deployment", "api_version", `"mini"`} {
		if !strings.Contains(e.Hint, want) {
			t.Errorf("the hint lacks %s: %s", want, e.Hint)
		}
	}
	if strings.Contains(e.Hint+e.Error(), llmtest.Key) {
		t.Error("the key is told")
	}
	_, o = serve(t, llmtest.Options{Fault: llmtest.Always(llmtest.Reply(404, nil, `{"error":{"code":"404","message":"Resource not found"}}`))}, llm.OpenAIConfig{})
	_, err = o.Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || e.Code != "not_found" || !strings.Contains(e.Hint, "/v1/chat/completions") {
		t.Errorf("%v", err)
	}
}

// A redirect is not followed: the key would go elsewhere.
func TestRedirect(t *testing.T) {
	_, o := serve(t, llmtest.Options{Fault: llmtest.Always(llmtest.Reply(307, map[string]string{"Location": "https://elsewhere.example/v1"}, ""))}, llm.OpenAIConfig{})
	_, err := o.Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || e.Code != "redirected" || !strings.Contains(e.Message, "elsewhere.example") {
		t.Errorf("%v", err)
	}
}

// Certificates: a file of one's own, or none looked at, but only when asked.
func TestCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"choices":[{"message":{"content":"{\"rating\":4}"},"finish_reason":"stop"}]}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]llm.OpenAIConfig{"file": {CAFile: file}, "insecure": {Insecure: true}} {
		cfg.BaseURL = s.URL
		if resp, err := newOpenAI(t, cfg).Complete(t.Context(), ratingRequest("x")); err != nil || resp.Content != `{"rating":4}` {
			t.Errorf("%s: %+v, %v", name, resp, err)
		}
	}
	_, err := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL}).Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || e.Code != "tls" || !strings.Contains(e.Hint, "ca_file") {
		t.Errorf("without either: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(none, []byte("not a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{none, file + ".gone"} {
		if _, err := llm.NewOpenAI(llm.OpenAIConfig{CAFile: path}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestHeadersAreChecked(t *testing.T) {
	for _, h := range []map[string]string{{"X Y": "1"}, {"": "1"}, {"X-A": "secret\r\nX-B: 2"}} {
		if _, err := llm.NewOpenAI(llm.OpenAIConfig{Headers: h}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", h, err)
		}
	}
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		fmt.Fprint(w, `{"choices":[{"message":{"content":"{}"}}]}`)
	}))
	defer s.Close()
	o := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL, Organization: "org-1", Project: "proj-1", Headers: map[string]string{"X-Team": "t"}})
	if _, err := o.Complete(t.Context(), ratingRequest("x")); err != nil {
		t.Fatal(err)
	}
	if got.Get("OpenAI-Organization") != "org-1" || got.Get("OpenAI-Project") != "proj-1" || got.Get("X-Team") != "t" || got.Get("Authorization") != "Bearer "+llmtest.Key {
		t.Errorf("sent %v", got)
	}
}

// A learnt form is told in the log, once, without anything of the sample.
func TestLearningIsLogged(t *testing.T) {
	var buf bytes.Buffer
	_, o := serve(t, llmtest.Options{Rejects: []string{"seed"}}, llm.OpenAIConfig{Logger: slog.New(slog.NewTextHandler(&buf, nil))})
	for range 2 {
		if _, err := o.Complete(t.Context(), ratingRequest("the sample's text")); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(buf.String(), "\n") != 1 || !strings.Contains(buf.String(), "seed is not sent") || strings.Contains(buf.String(), "sample's") {
		t.Errorf("logged %s", buf.String())
	}
}
