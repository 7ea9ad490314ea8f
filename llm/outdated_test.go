package llm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/ragjudge/ragjudge/llm"
)

// What was kept of a server may be wrong the next day. Where its refusals don't
// say how, the form is found out anew, once, and kept; where the fault is the
// sample's, it stays the sample's.
func TestAKeptFormThatIsOutdated(t *testing.T) {
	known := map[string]llm.Form{"judge-1": {Structured: llm.StructuredObject, NoTemperature: true, MergeSystem: true}}
	for _, c := range []struct {
		name    string
		refuses func(body map[string]any, first string) string
		calls   int
		code    string
	}{
		{"wants a temperature again", func(body map[string]any, _ string) string {
			if _, ok := body["temperature"]; !ok {
				return "temperature: Field required"
			}
			return ""
		}, 3, ""},
		{"wants a system message", func(_ map[string]any, first string) string {
			if first != "system" {
				return "conversation lacks its preamble"
			}
			return ""
		}, 3, ""},
		{"takes nothing", func(map[string]any, string) string { return "no" }, 3, "bad_request"},
		{"takes all", func(map[string]any, string) string { return "" }, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				var body map[string]any
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				first := body["messages"].([]any)[0].(map[string]any)["role"].(string)
				if m := c.refuses(body, first); m != "" {
					w.WriteHeader(400)
					fmt.Fprintf(w, `{"error":{"message":%q}}`, m)
					return
				}
				fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":"{\"rating\":4}"}}]}`)
			}))
			defer s.Close()
			var kept []llm.Form
			o := newOpenAI(t, llm.OpenAIConfig{BaseURL: s.URL + "/v1", Known: known, OnLearn: func(_ string, f llm.Form) { kept = append(kept, f) }})
			for range 2 {
				_, err := o.Complete(t.Context(), ratingRequest("x"))
				code := ""
				if err != nil {
					code = llm.AsError(err).Code
				}
				if code != c.code {
					t.Fatalf("%v, want code %q", err, c.code)
				}
			}
			if calls != c.calls {
				t.Errorf("%d calls, want %d", calls, c.calls)
			}
			if c.calls == 3 && !slices.Equal(kept, []llm.Form{{}}) {
				t.Errorf("kept: %+v", kept)
			}
		})
	}
}
