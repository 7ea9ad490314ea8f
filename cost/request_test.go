package cost_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/llm"
)

func request(model, system, user string) *llm.Request {
	return &llm.Request{Model: model, Messages: []llm.Message{{Role: llm.System, Content: system}, {Role: llm.User, Content: user}}}
}

func TestCountRequest(t *testing.T) {
	schema := &llm.Schema{Name: "claims", JSON: json.RawMessage(`{"type":"object"}`)}
	for _, c := range []struct {
		name   string
		req    *llm.Request
		schema *llm.Schema
		want   cost.RequestTokens
		exact  bool
	}{
		// "tiktoken is great!" has 6 tokens in both vocabularies, "2 + 2 = 4" has 7;
		// each message takes 3 and its role 1, the reply 3.
		{"own vocabulary", request("gpt-4.1-mini", "tiktoken is great!", "2 + 2 = 4"), nil,
			cost.RequestTokens{Total: 24, Text: 13, Form: 11, Prefix: 10, Encoding: "o200k_base", Own: true}, true},
		{"older model", request("gpt-4", "tiktoken is great!", "お誕生日おめでとう"), nil,
			cost.RequestTokens{Total: 26, Text: 15, Form: 11, Prefix: 10, Encoding: "cl100k_base", Own: true}, true},
		{"another's vocabulary", request("llama3.1:8b", "tiktoken is great!", "2 + 2 = 4"), nil,
			cost.RequestTokens{Total: 24, Text: 13, Form: 11, Prefix: 10, Encoding: "o200k_base"}, false},
		// {"type":"object"} has 5 tokens: {" type ":" object "}; claims has 1.
		{"schema", request("gpt-4.1-mini", "tiktoken is great!", "2 + 2 = 4"), schema,
			cost.RequestTokens{Total: 38, Text: 13, Form: 11, Schema: 14, Prefix: 24, Encoding: "o200k_base", Own: true}, false},
		{"nothing", &llm.Request{Model: "gpt-4o"}, nil,
			cost.RequestTokens{Total: 3, Form: 3, Encoding: "o200k_base", Own: true}, true},
	} {
		c.req.Schema = c.schema
		var counter cost.Counter
		for range 2 { // the second time from what was kept
			if got := counter.CountRequest(c.req); got != c.want || got.Exact() != c.exact {
				t.Errorf("%s: %+v (exact %t), want %+v", c.name, got, got.Exact(), c.want)
			}
		}
	}
}

// TestCounterKeepsApart holds that kept counts are those of the vocabulary, and
// that a Counter can be shared.
func TestCounterKeepsApart(t *testing.T) {
	var counter cost.Counter
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				a := counter.CountRequest(request("gpt-4o", "お誕生日おめでとう", ""))
				b := counter.CountRequest(request("gpt-4", "お誕生日おめでとう", ""))
				if a.Text != 8 || b.Text != 9 {
					t.Errorf("text of %d and %d tokens, want 8 and 9", a.Text, b.Text)
				}
			}
		})
	}
	wg.Wait()
}

func TestCountText(t *testing.T) {
	if a, b := cost.CountText("gpt-4o", "お誕生日おめでとう"), cost.CountText("gpt-4", "お誕生日おめでとう"); a != 8 || b != 9 {
		t.Errorf("%d and %d tokens, want 8 and 9", a, b)
	}
}

func BenchmarkCountRequest(b *testing.B) {
	var counter cost.Counter
	req := request("gpt-4.1-mini", strings.Repeat("You judge whether each claim is supported by the contexts. ", 80), strings.Repeat("The contract ends in 2025. ", 20))
	for b.Loop() {
		counter.CountRequest(req)
	}
}
