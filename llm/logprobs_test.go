package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/llm"
)

// logprobServer answers {"rating":4} with the alternatives of its tokens, and
// keeps the bodies that came. Most is the number of alternatives that it gives;
// -1 refuses to give any, by the message.
type logprobServer struct {
	most   int
	tokens string
	bodies []map[string]any
}

func (s *logprobServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	s.bodies = append(s.bodies, body)
	w.Header().Set("Content-Type", "application/json")
	n, asks := body["top_logprobs"].(float64)
	switch {
	case asks && s.most < 0:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"Unsupported parameter: 'logprobs' is not supported with this model.","type":"invalid_request_error","param":"logprobs","code":"unsupported_parameter"}}`)
	case asks && int(n) > s.most:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"top_logprobs must be between 0 and %d","type":"invalid_request_error"}}`, s.most)
	default:
		lp := "null"
		if asks {
			lp = s.tokens
		}
		fmt.Fprintf(w, `{"model":"m-1","choices":[{"finish_reason":"stop","message":{"content":"{\"rating\": 4}"},"logprobs":%s}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`, lp)
	}
}

const ratingTokens = `{"content":[
	{"token":"{\"","logprob":0,"top_logprobs":[{"token":"{\"","logprob":0}]},
	{"token":"rating","logprob":0,"top_logprobs":[]},
	{"token":"\":","logprob":0,"top_logprobs":[]},
	{"token":" ","logprob":0,"top_logprobs":[]},
	{"token":"4","logprob":-0.5,"top_logprobs":[{"token":"4","logprob":-0.5},{"token":"5","logprob":-1},{"token":"x","logprob":-9999}]},
	{"token":"}","logprob":0,"top_logprobs":[]}]}`

func logprobRequest(b *llm.OpenAI) *llm.Request {
	return &llm.Request{Endpoint: b.Endpoint(), Model: "m", Messages: []llm.Message{{Role: llm.User, Content: "Rate."}}, TopLogprobs: 20, LogprobsOf: []string{"1", "2", "3", "4", "5"}}
}

// TestLogprobs: probabilities are asked for, those that are of use are kept with
// their place, and a server that gives fewer, or none, is met.
func TestLogprobs(t *testing.T) {
	want := &llm.Alternatives{Tokens: []llm.TokenLogprobs{{Offset: 11, Token: "4", Top: []llm.Logprob{{Token: "4", Logprob: -0.5}, {Token: "5", Logprob: -1}, {Token: "x", Logprob: -9999}}}}}
	for _, c := range []struct {
		name   string
		server logprobServer
		want   *llm.Alternatives
		asked  []any // top_logprobs of each request
	}{
		{"given", logprobServer{most: 20, tokens: ratingTokens}, want, []any{20.0}},
		{"five at most", logprobServer{most: 5, tokens: ratingTokens}, want, []any{20.0, 5.0}},
		{"three at most", logprobServer{most: 3, tokens: ratingTokens}, nil, []any{20.0, 5.0, nil}},
		{"none", logprobServer{most: -1}, nil, []any{20.0, 5.0, nil}},
		{"silently none", logprobServer{most: 20, tokens: "null"}, nil, []any{20.0}},
		{"of another text", logprobServer{most: 20, tokens: `{"content":[{"token":"Hello","logprob":0,"top_logprobs":[{"token":"4","logprob":0}]}]}`}, nil, []any{20.0}},
		{"of a part of it", logprobServer{most: 20, tokens: `{"content":[{"token":"{\"","logprob":0,"top_logprobs":[{"token":"4","logprob":0}]}]}`}, nil, []any{20.0}},
		{"of another form", logprobServer{most: 20, tokens: `{"tokens":["4"],"token_logprobs":[-1]}`}, nil, []any{20.0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(&c.server)
			defer srv.Close()
			b, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: srv.URL + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			resp, err := b.Complete(t.Context(), logprobRequest(b))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, resp.Logprobs); d != "" || resp.Content != `{"rating": 4}` {
				t.Errorf("%s\ncontent %q", d, resp.Content)
			}
			var asked []any
			for _, body := range c.server.bodies {
				asked = append(asked, body["top_logprobs"])
				if (body["logprobs"] == true) != (body["top_logprobs"] != nil) {
					t.Errorf("logprobs and top_logprobs don't go together: %v", body)
				}
			}
			if d := cmp.Diff(c.asked, asked); d != "" {
				t.Error(d)
			}
			// What was learnt is kept: the next call needs no refusal.
			before := len(c.server.bodies)
			if _, err := b.Complete(t.Context(), logprobRequest(b)); err != nil || len(c.server.bodies) != before+1 {
				t.Errorf("the second call: %v, %d requests", err, len(c.server.bodies)-before)
			}
		})
	}
}

// TestLogprobsAreInTheKey: who asks for them has an answer of its own, and it is
// the same after it was stored.
func TestLogprobsAreInTheKey(t *testing.T) {
	r := &llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Content: "x"}}}
	plain := r.Key()
	r.TopLogprobs = 20
	if r.Key() == plain {
		t.Error("the key doesn't tell")
	}
	in := llm.Response{Content: "4", Logprobs: &llm.Alternatives{Tokens: []llm.TokenLogprobs{{Token: "4", Top: []llm.Logprob{{"4", -0.25}}}}}}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out llm.Response
	if err := json.Unmarshal(b, &out); err != nil || !cmp.Equal(in, out) {
		t.Errorf("%v: %s", err, b)
	}
	if b, err = json.Marshal(llm.Response{Content: "4"}); err != nil || strings.Contains(string(b), "logprobs") {
		t.Errorf("a reply without any changed its form: %s", b)
	}
}
