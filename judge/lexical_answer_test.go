package judge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// FuzzLexicalAnswer: whatever a request holds, also one that no template of
// ours gives, there is an answer in the form asked for or a row error, the same
// each time; never a panic, and never a verdict on what was not asked.
func FuzzLexicalAnswer(f *testing.F) {
	const item = "<context-0a1b2c3d n=\"1\">\nParis is big.\n</context-0a1b2c3d>\n<item-0a1b2c3d n=\"7\">\nParis is big.\n</item-0a1b2c3d>"
	f.Add("", "", `verdict: one of "supported", "not_found". {"verdicts":[]}`, item)
	f.Add("claims", `{}`, "", "<text-0a1b2c3d>\nParis is big. Rome is old.\n</text-0a1b2c3d>")
	f.Add("verdicts", `{"properties":{"verdicts":{"items":{"properties":{"verdict":{"enum":["supported","not_found"]}}}}}}`, "", item)
	f.Add("rating", `{"properties":{"rating":{"minimum":1,"maximum":5}}}`, "", "<question-0a1b2c3d>\nHow big?\n</question-0a1b2c3d>\n<response-0a1b2c3d>\nBig.\n</response-0a1b2c3d>")
	f.Add("rating", `{"properties":{"rating":{"minimum":5,"maximum":1}}}`, "", item)
	f.Add("verdicts", `[`, "rating: 1 to 5", "<item-0a1b2c3d n=\"99999999999\">\n\n</item-0a1b2c3d>")
	f.Add("", "", "rating: a whole number from 9 to 2", "<text-0a1b2c3d>")
	f.Fuzz(func(t *testing.T, name, schema, system, user string) {
		req := &llm.Request{Messages: []llm.Message{{Role: llm.System, Content: system}, {Role: llm.User, Content: user}}}
		if name != "" {
			req.Schema = &llm.Schema{Name: name, JSON: json.RawMessage(schema)}
		}
		answer := judge.LexicalAnswer(req)
		if again := judge.LexicalAnswer(req); again != answer {
			t.Fatalf("the same request gave %q, then %q", answer, again)
		}
		resp, err := judge.Lexical{}.Complete(t.Context(), req)
		if err != nil {
			if e := llm.AsError(err); e == nil || e.Kind != llm.Row {
				t.Fatalf("error %v, want a row error", err)
			}
			if json.Valid([]byte(answer)) {
				t.Fatalf("no answer, but the text %q", answer)
			}
			return
		}
		if resp.Content != answer {
			t.Fatalf("Complete gave %q, LexicalAnswer %q", resp.Content, answer)
		}
		checkForm(t, answer, user)
	})
}

// checkForm checks a reply's form, and that it speaks of the items of the
// request, each once.
func checkForm(t *testing.T, answer, user string) {
	t.Helper()
	var r struct {
		Claims   []string `json:"claims"`
		Verdicts []struct {
			ID      int    `json:"id"`
			Reason  string `json:"reason"`
			Verdict string `json:"verdict"`
		} `json:"verdicts"`
		Reason string `json:"reason"`
		Rating *int   `json:"rating"`
	}
	d := json.NewDecoder(strings.NewReader(answer))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("the answer %q: %v", answer, err)
	}
	if r.Claims == nil && r.Verdicts == nil && r.Rating == nil {
		t.Fatalf("the answer %q has none of the forms", answer)
	}
	if r.Verdicts == nil {
		return
	}
	var asked, got []int
	for _, it := range judge.ParseFenced(user).Items {
		asked = append(asked, it.N)
	}
	for _, v := range r.Verdicts {
		got = append(got, v.ID)
	}
	if !slices.Equal(got, asked) {
		t.Fatalf("verdicts on %v, asked about %v", got, asked)
	}
}

// TestLexicalAskedAgain: the data of the last message counts, since a later one
// may ask again for a part of the items; what the judge itself said before is
// no data.
func TestLexicalAskedAgain(t *testing.T) {
	fenced := func(n string) string {
		return "<context-0a1b2c3d n=\"1\">\nParis is big.\n</context-0a1b2c3d>\n<item-0a1b2c3d n=\"" + n + "\">\nParis is big.\n</item-0a1b2c3d>\n"
	}
	const form = `{"verdicts":[{"id":1,"reason":"...","verdict":"..."}]}` + "\nverdict: one of \"supported\", \"not_found\"\n"
	got := judge.LexicalAnswer(&llm.Request{Messages: []llm.Message{
		{Role: llm.System, Content: form},
		{Role: llm.User, Content: fenced("1")},
		{Role: llm.User, Content: fenced("4")},
		{Role: llm.Assistant, Content: fenced("9")},
		{Role: llm.User, Content: "Again, please."},
	}})
	if !strings.Contains(got, `"id":4,`) || strings.Count(got, `"id"`) != 1 || !strings.Contains(got, `"supported"`) {
		t.Errorf("got %s, want supported for item 4 alone", got)
	}
}
