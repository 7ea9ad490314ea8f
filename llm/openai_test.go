package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

func newOpenAI(t *testing.T, cfg llm.OpenAIConfig) *llm.OpenAI {
	t.Helper()
	if cfg.APIKey == "" {
		cfg.APIKey = llmtest.Key
	}
	o, err := llm.NewOpenAI(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func ratingRequest(text string) *llm.Request {
	zero, seed := 0.0, 7
	return &llm.Request{
		Model: "judge-1", Temperature: &zero, Seed: &seed, MaxTokens: 100,
		Messages: []llm.Message{{Role: llm.System, Content: `Rate it. Reply in JSON: {"rating":1}`}, {Role: llm.User, Content: text}},
		Schema:   &llm.Schema{Name: "rating", JSON: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"},"rating":{"type":"integer","enum":[1,2,3,4,5]}},"required":["reason","rating"],"additionalProperties":false}`)},
	}
}

func TestOpenAIPassesTheSuite(t *testing.T) {
	llmtest.TestClient(t, func(base string) llm.Client {
		return newOpenAI(t, llm.OpenAIConfig{BaseURL: base})
	})
}

func TestAzurePassesTheSuite(t *testing.T) {
	llmtest.TestClient(t, func(base string) llm.Client {
		return newOpenAI(t, llm.OpenAIConfig{Provider: llm.ProviderAzure, BaseURL: strings.TrimSuffix(base, "/v1")})
	})
}

// What goes over the wire: a temperature of 0 is sent and not left out.
func TestWireForm(t *testing.T) {
	s := llmtest.New(llmtest.Options{})
	defer s.Close()
	o := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL()})
	if _, err := o.Complete(t.Context(), ratingRequest("a < b")); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(s.Bodies()[0]), &body); err != nil {
		t.Fatal(err)
	}
	if v, ok := body["temperature"]; !ok || v != 0.0 {
		t.Errorf("temperature is %v, %t", v, ok)
	}
	if body["max_tokens"] != 100.0 || body["seed"] != 7.0 {
		t.Errorf("max_tokens %v, seed %v", body["max_tokens"], body["seed"])
	}
	if f, ok := body["response_format"].(map[string]any); !ok || f["type"] != "json_schema" {
		t.Errorf("response_format %v", body["response_format"])
	}
}

// What a server refuses costs one call, whatever the number of workers, and is
// remembered.
func TestRefusedPartsAreLearntOnce(t *testing.T) {
	for _, c := range []struct {
		rejects []string
		learnt  string
	}{
		{[]string{"json_schema"}, "replies are asked for as json_object"},
		{[]string{"json_schema", "json_object"}, "replies are asked for as plain"},
		{[]string{"max_tokens"}, "the reply is bounded by max_completion_tokens"},
		{[]string{"max_tokens", "max_completion_tokens"}, "the reply is bounded by nothing"},
		{[]string{"temperature"}, "temperature is not sent"},
		{[]string{"seed"}, "seed is not sent"},
		{[]string{"system"}, "the system message is sent with the user's"},
	} {
		t.Run(strings.Join(c.rejects, "+"), func(t *testing.T) {
			s := llmtest.New(llmtest.Options{Rejects: c.rejects})
			defer s.Close()
			o := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL()})
			const workers = 32
			var wg sync.WaitGroup
			for i := range workers {
				wg.Go(func() {
					if _, err := o.Complete(t.Context(), ratingRequest(fmt.Sprint("text ", i))); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got, want := s.Requests(), workers+len(c.rejects); got != want {
				t.Errorf("%d requests, want %d", got, want)
			}
			if got := strings.Join(o.Learnt(), "; "); !strings.Contains(got, c.learnt) {
				t.Errorf("learnt %q, want %q", got, c.learnt)
			}
		})
	}
}

// A wrong key costs one call, not one for each worker, and stands nowhere.
func TestWrongKey(t *testing.T) {
	s := llmtest.New(llmtest.Options{Key: "the-right-one"})
	defer s.Close()
	const key = "Zq8vT3mW0pL5xR7nKd2yB"
	var log bytes.Buffer
	o := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL(), APIKey: key, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			_, err := o.Complete(t.Context(), ratingRequest(fmt.Sprint("text ", i)))
			if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || e.Code != "invalid_api_key" {
				t.Errorf("error %v", err)
				return
			}
			for cause := err; cause != nil; cause = errors.Unwrap(cause) {
				if strings.Contains(cause.Error(), key[:8]) {
					t.Errorf("the key is in %q", cause)
				}
			}
		})
	}
	wg.Wait()
	if s.Requests() != 1 {
		t.Errorf("%d requests, want 1", s.Requests())
	}
	if strings.Contains(log.String(), key[:8]) {
		t.Errorf("the key is in the log: %s", log.String())
	}
}

func TestAttemptDeadline(t *testing.T) {
	s := llmtest.New(llmtest.Options{Fault: llmtest.Always(llmtest.Hang())})
	defer s.Close()
	o := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL(), Timeout: 30 * time.Millisecond})
	_, err := o.Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Transient || e.Code != "timeout" {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Complete(ctx, ratingRequest("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestBaseURLs(t *testing.T) {
	for _, c := range []struct{ provider, base, want string }{
		{"openai", "", "openai https://api.openai.com/v1"},
		{"openai", "http://localhost:11434/v1/", "openai http://localhost:11434/v1"},
		{"openai", "https://x.example/v1/chat/completions", "openai https://x.example/v1"},
		{"azure", "https://n.openai.azure.com/openai/deployments/d/chat/completions", "azure https://n.openai.azure.com"},
		{"azure", "https://n.openai.azure.com/openai/v1", "azure https://n.openai.azure.com"},
	} {
		if got := newOpenAI(t, llm.OpenAIConfig{Provider: c.provider, BaseURL: c.base}).Endpoint(); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.provider, c.base, got, c.want)
		}
	}
	for _, base := range []string{"localhost:8080", "ftp://x", "https://user:pw@x/v1", "https://x/v1?key=1", "http://%zz"} {
		if _, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: base}); err == nil {
			t.Errorf("%q is taken", base)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("the password is in %q", err)
		}
	}
	if _, err := llm.NewOpenAI(llm.OpenAIConfig{APIKey: "two\nlines"}); err == nil || strings.Contains(err.Error(), "lines") {
		t.Errorf("error %v", err)
	}
}

// A server that takes calls and never answers must not make all workers wait
// for one: after the first deadline they go together.
func TestSilentServerHoldsUpOneCall(t *testing.T) {
	s := llmtest.New(llmtest.Options{Fault: llmtest.Always(llmtest.Hang())})
	defer s.Close()
	o := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL(), Timeout: 200 * time.Millisecond})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if e := llm.AsError(second(o.Complete(t.Context(), ratingRequest(fmt.Sprint("text ", i))))); e == nil || e.Code != "timeout" {
				t.Errorf("error %v", e)
			}
		})
	}
	wg.Wait()
	if s.Requests() != 8 || s.MaxInFlight() < 2 {
		t.Errorf("%d requests, %d at once at most", s.Requests(), s.MaxInFlight())
	}
}

func second(_ *llm.Response, err error) error { return err }

// An error that stands beside an answer, or in it, is an error.
func TestErrorBesideChoices(t *testing.T) {
	for _, body := range []string{
		`{"error":{"code":429,"message":"slow down"},"choices":[{"message":{"content":"{\"rating\":5}"}}]}`,
		`{"choices":[{"error":{"code":429,"message":"slow down"},"message":{"content":""}}]}`,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		resp, err := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL}).Complete(t.Context(), ratingRequest("x"))
		if e := llm.AsError(err); e == nil || e.Kind != llm.RateLimited {
			t.Errorf("%s: %+v, %v", body, resp, err)
		}
		s.Close()
	}
}

// A certificate that is not trusted is no passing fault.
func TestUntrustedCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	_, err := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL}).Complete(t.Context(), ratingRequest("x"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.Fatal || e.Code != "tls" {
		t.Errorf("error %v", err)
	}
}
