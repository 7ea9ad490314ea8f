package llm_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// TestEmbed: one request goes to /embeddings and nothing of a chat with it; the
// vectors come back in the order of the texts, with what they took.
func TestEmbed(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		want       [][]float32
		kind       llm.Kind
		code       string
		usage      llm.Usage
	}{
		{"by index", `{"model":"e-1","data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[0.1,-2.5e-7]}],"usage":{"prompt_tokens":7,"total_tokens":7}}`, 200,
			[][]float32{{0.1, -2.5e-7}, {0, 1}}, 0, "", llm.Usage{PromptTokens: 7}},
		{"no index", `{"data":[{"embedding":[1]},{"embedding":[2]}]}`, 200, [][]float32{{1}, {2}}, 0, "", llm.Usage{Unknown: 1}},
		{"one too few", `{"data":[{"index":0,"embedding":[1]}]}`, 200, nil, llm.Transient, "unreadable_reply", llm.Usage{}},
		{"one twice", `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}`, 200, nil, llm.Transient, "unreadable_reply", llm.Usage{}},
		{"out of range", `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[2]}]}`, 200, nil, llm.Transient, "unreadable_reply", llm.Usage{}},
		{"of two lengths", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[2,3]}]}`, 200, nil, llm.Transient, "unreadable_reply", llm.Usage{}},
		{"empty vectors", `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, 200, nil, llm.Transient, "unreadable_reply", llm.Usage{}},
		{"no JSON", `<html>`, 200, nil, llm.Transient, "unreadable_reply", llm.Usage{}},
		{"cut", `{"data":[{"index":0,"embedding":[1`, 200, nil, llm.Transient, "", llm.Usage{}},
		{"a wrong key", `{"error":{"message":"Incorrect API key provided: sk-very-secret-key.","code":"invalid_api_key"}}`, 401, nil, llm.Fatal, "invalid_api_key", llm.Usage{}},
		{"a limit", `{"error":{"message":"slow down"}}`, 429, nil, llm.RateLimited, "", llm.Usage{}},
		{"down", `oops`, 503, nil, llm.Transient, "", llm.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var path, sent string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				path, sent = r.URL.Path, string(b)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer srv.Close()
			b, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: srv.URL + "/v1", APIKey: "sk-very-secret-key"})
			if err != nil {
				t.Fatal(err)
			}
			resp, err := b.Complete(t.Context(), &llm.Request{Endpoint: b.Endpoint(), Model: "e-1", Embed: []string{"a <b>", "c"}})
			if path != "/v1/embeddings" || sent != `{"input":["a \u003cb\u003e","c"],"model":"e-1"}` && sent != `{"input":["a <b>","c"],"model":"e-1"}` {
				t.Errorf("sent %s to %s", sent, path)
			}
			if c.want == nil {
				e := llm.AsError(err)
				if e == nil || e.Kind != c.kind || c.code != "" && e.Code != c.code || strings.Contains(e.Error(), "very-secret") {
					t.Fatalf("error %v of kind %v, want %v %s", err, e, c.kind, c.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := llm.DecodeVectors(resp.Content, 2)
			if d := cmp.Diff(c.want, got); err != nil || d != "" || resp.Usage != c.usage {
				t.Errorf("%v, %+v\n%s", err, resp.Usage, d)
			}
		})
	}
}

// TestEmbedIsCachedApart: the same texts are asked for once, and no chat has
// their key.
func TestEmbedIsCachedApart(t *testing.T) {
	s := llmtest.New(llmtest.Options{})
	defer s.Close()
	b, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	meter := llm.NewMeter(func(model string, u llm.Usage) (float64, bool) { return float64(u.PromptTokens) / 1e6, model == "e-1" })
	budget, err := llm.NewBudget(llm.BudgetConfig{Max: llm.Spend{CostUSD: 1, Calls: 2}, Models: []string{"e-1"},
		Price: func(_ string, u llm.Usage) (float64, bool) {
			return float64(u.PromptTokens)/1e6 + float64(u.CompletionTokens), true
		}}, meter.Attempts(b))
	if err != nil {
		t.Fatal(err)
	}
	client := meter.Calls(&llm.Cached{Next: budget})
	req := llm.Request{Endpoint: b.Endpoint(), Model: "e-1", Embed: []string{"a", "b"}}
	other := req
	other.Embed = []string{"ab"}
	chat := req
	chat.Embed, chat.Messages = nil, []llm.Message{{Role: llm.User, Content: "a"}}
	if keys := map[llm.Key]bool{req.Key(): true, other.Key(): true, chat.Key(): true}; len(keys) != 3 {
		t.Fatal("two requests have one key")
	}
	var first string
	for i := range 3 {
		resp, err := client.Complete(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := llm.DecodeVectors(resp.Content, 2); err != nil || i > 0 && (resp.Content != first || !resp.Cached) {
			t.Errorf("reply %d: %v, cached %t", i, err, resp.Cached)
		}
		first = resp.Content
	}
	// An embedding has no output: nothing is reserved for one, or the money
	// would not do.
	if _, err := client.Complete(t.Context(), &other); err != nil {
		t.Fatal(err)
	}
	c := meter.Snapshot().Total
	if c.Calls != 4 || c.Attempts != 2 || c.Usage.PromptTokens == 0 || c.CostUSD != float64(c.Usage.PromptTokens)/1e6 || c.UnknownPrice != 0 {
		t.Errorf("counted %+v", c)
	}
	if spent := budget.Spent(); spent.Calls != 2 || spent.CostUSD < c.CostUSD || spent.CostUSD > c.CostUSD+1e-5 {
		t.Errorf("the budget spent %+v, the meter %v", spent, c.CostUSD)
	}
	third := req
	third.Embed = []string{"c"}
	if _, err := client.Complete(t.Context(), &third); llm.AsError(err) == nil || llm.AsError(err).Kind != llm.OverBudget {
		t.Errorf("a third call: %v", err)
	}
}

func FuzzDecodeVectors(f *testing.F) {
	for _, s := range []string{"[[1,2],[3,4]]", "[[],[]]", "[[1],[1,2]]", "[[1e99],[1]]", "[1]", "", "[[null],[1]]", llm.EncodeVectors([][]float32{{0.1}, {-3e-12}})} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		got, err := llm.DecodeVectors(content, 2)
		if err != nil {
			return
		}
		if len(got) != 2 || len(got[0]) == 0 || len(got[0]) != len(got[1]) {
			t.Fatalf("%q gave %v", content, got)
		}
		again, err := llm.DecodeVectors(llm.EncodeVectors(got), 2)
		if err != nil || !cmp.Equal(got, again) {
			t.Errorf("%v is read back as %v, %v", got, again, err)
		}
	})
}
