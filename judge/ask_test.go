package judge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/prompts"
)

// script is a client that gives its replies in order, and keeps the requests
// and what their Check said of the reply.
type script struct {
	t       *testing.T
	replies []any // a string is content, a *llm.Response or an error itself
	got     []*llm.Request
	stored  []bool
}

func (s *script) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	if len(s.got) == len(s.replies) {
		s.t.Fatalf("call %d was not expected: %s", len(s.got)+1, req.Messages[len(req.Messages)-1].Content)
	}
	reply := s.replies[len(s.got)]
	s.got = append(s.got, req)
	var resp *llm.Response
	switch r := reply.(type) {
	case error:
		return nil, r
	case string:
		resp = &llm.Response{Content: r, FinishReason: llm.FinishStop}
	case *llm.Response:
		resp = r
	}
	s.stored = append(s.stored, req.Check(resp) == nil)
	return resp, nil
}

// scripted returns a judge that answers with the replies.
func scripted(t *testing.T, replies ...any) (*judge.Judge, *script) {
	s := &script{t: t, replies: replies}
	t.Cleanup(func() {
		if len(s.got) != len(replies) {
			t.Errorf("%d calls were made, want %d", len(s.got), len(replies))
		}
	})
	return judge.New(judge.Config{Client: s, Endpoint: "e", Model: "m"}), s
}

func cutReply(content string) *llm.Response {
	return &llm.Response{Content: content, FinishReason: llm.FinishLength}
}

func faithfulness(items ...string) judge.Ask {
	return judge.Ask{
		Metric: "faithfulness", Prompt: "faithfulness/verdict", UserInput: "Which colour?", Response: "Red and blue.",
		Contexts: []string{"The ball is red.", "The sky is blue."}, Items: items, Labels: judge.FaithfulnessLabels(),
	}
}

func relevance() judge.Ask {
	return judge.Ask{Metric: "answer_relevance", Prompt: "answer_relevance/rubric", UserInput: "Which colour?", Response: "Red.", Min: 1, Max: 5}
}

func split(metric, text string) judge.Ask {
	return judge.Ask{Metric: metric, Prompt: "claims/split", Text: text}
}

// unusable checks that err is an UnusableError with the code.
func unusable(t *testing.T, err error, code string) *judge.UnusableError {
	t.Helper()
	var u *judge.UnusableError
	if !errors.As(err, &u) || u.Code != code {
		t.Fatalf("got error %v, want an unusable reply with code %s", err, code)
	}
	return u
}

func TestRequest(t *testing.T) {
	zero, seed := 0.0, 7
	client := &script{t: t, replies: []any{`{"verdicts":[{"id":1,"reason":"r","verdict":"supported"}]}`}}
	j := judge.New(judge.Config{Client: client, Endpoint: "openai https://x", Model: "m-1", Temperature: &zero, Seed: &seed})
	if _, err := j.Verdicts(t.Context(), faithfulness("The ball is red.")); err != nil {
		t.Fatal(err)
	}
	req := client.got[0]
	if req.Endpoint != "openai https://x" || req.Model != "m-1" || *req.Temperature != 0 || *req.Seed != 7 || req.MaxTokens != judge.DefaultMaxTokens {
		t.Errorf("the request lacks what was configured: %+v", req)
	}
	if req.Tag != (llm.Tag{Metric: "faithfulness", Step: "verdict"}) {
		t.Errorf("tag %+v", req.Tag)
	}
	if req.Schema == nil || req.Schema.Name != judge.SchemaVerdicts || !cmp.Equal(judge.Labels(req.Schema), judge.FaithfulnessLabels()) {
		t.Errorf("schema %+v", req.Schema)
	}
	if len(req.Messages) != 2 || req.Messages[0].Role != llm.System || req.Messages[1].Role != llm.User {
		t.Fatalf("messages %+v", req.Messages)
	}
	system := req.Messages[0].Content
	for _, want := range []string{`{"verdicts":[{"id":1,"reason":"...","verdict":"supported"}]}`, `exactly one of "supported", "contradicted", "not_found"`} {
		if !strings.Contains(system, want) {
			t.Errorf("the system message lacks %s", want)
		}
	}
	got := judge.ParseFenced(req.Messages[1].Content)
	want := judge.Fenced{
		Nonce:    got.Nonce,
		Fields:   map[string]string{judge.TagQuestion: "Which colour?"},
		Contexts: []string{"The ball is red.", "The sky is blue."},
		Items:    []judge.Item{{N: 1, Text: "The ball is red."}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The system message is the same for every sample: what providers cache.
func TestSystemMessageNeverChanges(t *testing.T) {
	one := `{"verdicts":[{"id":1,"verdict":"supported"}]}`
	j, s := scripted(t, one, one)
	other := faithfulness("x")
	other.UserInput, other.Contexts = "Another?", []string{"more"}
	for _, a := range []judge.Ask{faithfulness("y"), other} {
		if _, err := j.Verdicts(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if s.got[0].Messages[0] != s.got[1].Messages[0] {
		t.Error("two samples have different system messages")
	}
	if s.got[0].Key() == s.got[1].Key() {
		t.Error("two samples have the same key")
	}
}

// A split is one request, whoever asks and whatever else is known.
func TestSplitIsShared(t *testing.T) {
	reply := `{"claims":["The ball is red."]}`
	j, s := scripted(t, reply, reply)
	first, second := split("faithfulness", "It is red."), split("context_recall", "It is red.")
	second.UserInput, second.Contexts, second.Response = "Which colour?", []string{"c"}, "It is red."
	for _, a := range []judge.Ask{first, second} {
		claims, err := j.Claims(t.Context(), a)
		if err != nil || !cmp.Equal(claims, []string{"The ball is red."}) {
			t.Fatalf("got %v, %v", claims, err)
		}
	}
	if s.got[0].Key() != s.got[1].Key() {
		t.Error("two metrics split the same text with different requests")
	}
	if s.got[0].Tag.Metric != "faithfulness" || s.got[1].Tag.Metric != "context_recall" {
		t.Errorf("tags %+v and %+v", s.got[0].Tag, s.got[1].Tag)
	}
}

func TestNoCallForNothing(t *testing.T) {
	j, _ := scripted(t)
	if v, err := j.Verdicts(t.Context(), faithfulness()); err != nil || v == nil || len(v) != 0 {
		t.Errorf("no items gave %v, %v", v, err)
	}
	if c, err := j.Claims(t.Context(), split("faithfulness", " \n")); err != nil || c == nil || len(c) != 0 {
		t.Errorf("no text gave %v, %v", c, err)
	}
}

func TestFaultsOfTheCaller(t *testing.T) {
	j, _ := scripted(t)
	a := faithfulness("x")
	a.Labels = []string{"only"}
	if _, err := j.Verdicts(t.Context(), a); err == nil {
		t.Error("one label was taken")
	}
	a = relevance()
	a.Max = a.Min
	if _, err := j.Rate(t.Context(), a); err == nil {
		t.Error("a scale of one step was taken")
	}
	a = relevance()
	a.Prompt = "answer_relevance/rubrik"
	if _, err := j.Rate(t.Context(), a); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("an unknown template gave %v", err)
	}
}

func TestVerdictsInTheOrderOfTheItems(t *testing.T) {
	j, s := scripted(t, `{"verdicts":[{"id":2,"reason":"two","verdict":"NOT FOUND"},{"id":1,"reason":"one","verdict":"yes"},{"id":9,"verdict":"yes"}]}`)
	got, err := j.Verdicts(t.Context(), faithfulness("a", "b"))
	want := []judge.Verdict{{Item: "a", Label: judge.Supported, Reason: "one"}, {Item: "b", Label: judge.NotFound, Reason: "two"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if !s.stored[0] {
		t.Error("a whole reply isn't worth keeping")
	}
}

func TestMissingItemsAreAskedAlone(t *testing.T) {
	for name, first := range map[string]string{
		"missing":  `{"verdicts":[{"id":1,"reason":"one","verdict":"supported"}]}`,
		"unusable": `{"verdicts":[{"id":1,"reason":"one","verdict":"supported"},{"id":2,"verdict":"purple"},{"id":3,"verdict":null}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			j, s := scripted(t, first, `{"verdicts":[{"id":3,"verdict":"no"},{"id":2,"verdict":"contradicted"}]}`)
			got, err := j.Verdicts(t.Context(), faithfulness("a", "b", "c"))
			if err != nil {
				t.Fatal(err)
			}
			want := []judge.Verdict{{Item: "a", Label: judge.Supported, Reason: "one"}, {Item: "b", Label: judge.Contradicted}, {Item: "c", Label: judge.NotFound}}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			again := judge.ParseFenced(s.got[1].Messages[1].Content)
			if d := cmp.Diff([]judge.Item{{N: 2, Text: "b"}, {N: 3, Text: "c"}}, again.Items); d != "" {
				t.Error(d)
			}
			if len(again.Contexts) != 2 || len(s.got[1].Messages) != 2 {
				t.Error("the missing items aren't asked in a request of their own with the same contexts")
			}
			if !s.stored[0] || !s.stored[1] {
				t.Errorf("kept %v, want both replies, so that a rerun pays nothing", s.stored)
			}
		})
	}
}

func TestStillMissing(t *testing.T) {
	first := `{"verdicts":[{"id":1,"verdict":"supported"}]}`
	for name, second := range map[string]string{
		"some":          `{"verdicts":[{"id":2,"verdict":"supported"}]}`,
		"other numbers": `{"verdicts":[{"id":1,"verdict":"supported"},{"id":4,"verdict":"supported"}]}`,
		"none":          `{"verdicts":[]}`,
		"prose":         `They are all supported.`,
		"contradiction": `{"verdicts":[{"id":2,"verdict":"yes"},{"id":2,"verdict":"no"},{"id":3,"verdict":"no"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := scripted(t, first, second)
			_, err := j.Verdicts(t.Context(), faithfulness("a", "b", "c"))
			if u := unusable(t, err, judge.CodeMissing); u.Reply != second {
				t.Errorf("kept %q, want the last reply", u.Reply)
			}
		})
	}
}

// After a repair nothing is asked any more.
func TestOneRepeatInAll(t *testing.T) {
	j, _ := scripted(t, "They are fine.", `{"verdicts":[{"id":1,"verdict":"supported"}]}`)
	_, err := j.Verdicts(t.Context(), faithfulness("a", "b"))
	unusable(t, err, judge.CodeMissing)
}

func TestRepair(t *testing.T) {
	tests := []struct{ name, bad, told string }{
		{"prose", "It would PASS.", "no JSON with a rating"},
		{"out of scale", `{"rating":7}`, `"7" is no whole number from 1 to 5`},
		{"between", `{"rating":3.5}`, `"3.5" is no whole number`},
		{"not finite", `{"rating":NaN}`, `"NaN" is no whole number`},
		{"contradiction", `{"rating":1,"Rating":5}`, "two different ratings, 1 and 5"},
		{"broken", `{"rating":4/5}`, "can't be read"},
		{"breaks off, though it ended", `{"rating":4`, "breaks off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, s := scripted(t, tt.bad, `{"reason":"r","rating":4}`)
			got, err := j.Rate(t.Context(), relevance())
			if err != nil || got != (judge.Rating{Rating: 4, Reason: "r"}) {
				t.Fatalf("got %+v, %v", got, err)
			}
			chat := s.got[1].Messages
			if len(chat) != 4 || chat[2] != (llm.Message{Role: llm.Assistant, Content: tt.bad}) || chat[3].Role != llm.User {
				t.Fatalf("the repair isn't the chat with the reply and a correction: %+v", chat)
			}
			if !strings.Contains(chat[3].Content, tt.told) || !strings.Contains(chat[3].Content, "from 1 to 5") {
				t.Errorf("the correction doesn't say what is wrong (%s) and what is wanted: %s", tt.told, chat[3].Content)
			}
			if !cmp.Equal(s.stored, []bool{false, true}) {
				t.Errorf("kept %v, want the second reply only", s.stored)
			}
		})
	}
}

func TestRepairFails(t *testing.T) {
	for _, tt := range []struct{ second, code string }{
		{"Really, 5.", judge.CodeUndecodable},
		{`{"rating":6}`, judge.CodeOutOfScale},
		{`{"rating":1}{"rating":2}`, judge.CodeAmbiguous},
		{"", judge.CodeEmpty},
	} {
		j, _ := scripted(t, "5", tt.second)
		_, err := j.Rate(t.Context(), relevance())
		if u := unusable(t, err, tt.code); u.Reply != tt.second {
			t.Errorf("kept %q, want %q", u.Reply, tt.second)
		}
	}
}

// Servers refuse a message without content, so that an empty reply can't be
// sent back.
func TestRepairOfAnEmptyReply(t *testing.T) {
	j, s := scripted(t, " \n", `{"claims":[]}`)
	if c, err := j.Claims(t.Context(), split("faithfulness", "Hello.")); err != nil || len(c) != 0 {
		t.Fatalf("got %v, %v", c, err)
	}
	chat := s.got[1].Messages
	if len(chat) != 2 || !strings.HasPrefix(chat[1].Content, s.got[0].Messages[1].Content) || !strings.Contains(chat[1].Content, "the reply is empty") {
		t.Errorf("got %+v", chat)
	}
}

func TestCutReply(t *testing.T) {
	whole := `{"verdicts":[{"id":1,"verdict":"supported"},{"id":2,"verdict":"no"}]}`
	t.Run("doubled once", func(t *testing.T) {
		// Even a reply that looks whole is not taken if it was cut.
		j, s := scripted(t, cutReply(whole), whole)
		if v, err := j.Verdicts(t.Context(), faithfulness("a", "b")); err != nil || len(v) != 2 {
			t.Fatalf("got %v, %v", v, err)
		}
		if s.got[0].MaxTokens != judge.DefaultMaxTokens || s.got[1].MaxTokens != 2*judge.DefaultMaxTokens || !cmp.Equal(s.got[0].Messages, s.got[1].Messages) {
			t.Error("the second request isn't the first one with twice the tokens")
		}
		if !cmp.Equal(s.stored, []bool{false, true}) {
			t.Errorf("kept %v", s.stored)
		}
	})
	t.Run("cut again", func(t *testing.T) {
		part := `{"verdicts":[{"id":1,"verdict":"supported"},{"id":2,"verd`
		j, _ := scripted(t, cutReply(part[:20]), cutReply(part))
		_, err := j.Verdicts(t.Context(), faithfulness("a", "b"))
		if u := unusable(t, err, judge.CodeTruncated); u.Reply != part {
			t.Errorf("kept %q", u.Reply)
		}
	})
	t.Run("all of it reasoning", func(t *testing.T) {
		spent := &llm.Response{Reasoning: whole, FinishReason: llm.FinishLength}
		j, _ := scripted(t, spent, spent)
		_, err := j.Verdicts(t.Context(), faithfulness("a", "b"))
		if u := unusable(t, err, judge.CodeTruncated); !strings.Contains(u.Message, "reasoning") {
			t.Errorf("says %s", u.Message)
		}
	})
	t.Run("in another provider's words", func(t *testing.T) {
		j, _ := scripted(t, &llm.Response{Content: whole, FinishReason: "MAX_TOKENS"}, whole)
		if _, err := j.Verdicts(t.Context(), faithfulness("a", "b")); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("the missing ones are still asked for", func(t *testing.T) {
		j, s := scripted(t, cutReply(""), `{"verdicts":[{"id":1,"verdict":"supported"}]}`, `{"verdicts":[{"id":2,"verdict":"no"}]}`)
		if _, err := j.Verdicts(t.Context(), faithfulness("a", "b")); err != nil {
			t.Fatal(err)
		}
		if s.got[2].MaxTokens != 2*judge.DefaultMaxTokens {
			t.Error("the doubled limit was forgotten")
		}
	})
	t.Run("doubled once in all", func(t *testing.T) {
		j, _ := scripted(t, cutReply(""), "x", cutReply(whole))
		_, err := j.Verdicts(t.Context(), faithfulness("a", "b"))
		unusable(t, err, judge.CodeTruncated)
	})
}

func TestRefusal(t *testing.T) {
	refusal := &llm.Response{Content: `{"rating":5}`, Refusal: "I can't help with rating this text.", FinishReason: llm.FinishStop}
	j, s := scripted(t, refusal)
	_, err := j.Rate(t.Context(), relevance())
	if u := unusable(t, err, judge.CodeRefusal); u.Reply != refusal.Refusal || !strings.Contains(u.Message, refusal.Refusal) {
		t.Errorf("got %+v", u)
	}
	if s.stored[0] {
		t.Error("a refusal was worth keeping")
	}
	j, s = scripted(t, &llm.Response{Content: `{"rating":5}`, FinishReason: llm.FinishContentFilter})
	_, err = j.Rate(t.Context(), relevance())
	unusable(t, err, judge.CodeContentFilter)
	if s.stored[0] {
		t.Error("a filtered reply was worth keeping")
	}
}

func TestErrorsComeBackAsTheyAre(t *testing.T) {
	fatal := &llm.Error{Kind: llm.Fatal, Code: "invalid_api_key"}
	verdict := `{"verdicts":[{"id":1,"verdict":"supported"}]}`
	for name, replies := range map[string][]any{
		"first call": {fatal}, "repair": {"x", fatal}, "missing items": {verdict, fatal}, "doubled": {cutReply(""), fatal},
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := scripted(t, replies...)
			if _, err := j.Verdicts(t.Context(), faithfulness("a", "b")); err != error(fatal) {
				t.Errorf("got %v", err)
			}
		})
	}
	j, _ := scripted(t, context.Canceled)
	if _, err := j.Rate(t.Context(), relevance()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLongRepliesAreCut(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	j, s := scripted(t, long, long)
	_, err := j.Rate(t.Context(), relevance())
	u := unusable(t, err, judge.CodeUndecodable)
	if len(u.Reply) > 5000 || !strings.HasPrefix(long, strings.TrimSuffix(u.Reply, "...")) {
		t.Errorf("kept %d bytes", len(u.Reply))
	}
	if n := len(s.got[1].Messages[2].Content); n > 5000 {
		t.Errorf("sent %d bytes back", n)
	}
}

func TestOwnTemplates(t *testing.T) {
	set, err := prompts.Load(prompts.Options{Domain: "Braces {{items}} stay.", Rubric: map[string]string{"answer_relevance": "Be strict."}})
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, replies: []any{`{"reason":"","rating":1}`}}
	if _, err := judge.New(judge.Config{Client: s, Prompts: set, MaxTokens: 50}).Rate(t.Context(), relevance()); err != nil {
		t.Fatal(err)
	}
	if system := s.got[0].Messages[0].Content; !strings.Contains(system, "Braces {{items}} stay.\n\nBe strict.\n\n") || s.got[0].MaxTokens != 50 {
		t.Errorf("got %d tokens and %s", s.got[0].MaxTokens, system)
	}
}

func ExampleJudge_Verdicts() {
	// A client is the chain of package llm; this one always says the same.
	client := llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
		return &llm.Response{Content: `{"verdicts":[{"id":1,"reason":"stated in passage 1","verdict":"supported"}]}`}, nil
	})
	j := judge.New(judge.Config{Client: client, Model: "some-model"})
	verdicts, err := j.Verdicts(context.Background(), judge.Ask{
		Metric:   "faithfulness",
		Prompt:   "faithfulness/verdict",
		Contexts: []string{"The ball is red."},
		Items:    []string{"The ball is red."},
		Labels:   judge.FaithfulnessLabels(),
	})
	fmt.Println(verdicts, err)
	// Output: [{The ball is red. supported stated in passage 1 }] <nil>
}

// TestCutWhereTheServerBounds makes no second call for a reply that was cut at
// the server's own bound: it would end in the same place.
func TestCutWhereTheServerBounds(t *testing.T) {
	cut := cutReply(`{"verdicts":[{"id":1,"verdi`)
	cut.Shortened = true
	j, _ := scripted(t, cut) // a second call fails the test
	_, err := j.Verdicts(t.Context(), faithfulness("one"))
	var u *judge.UnusableError
	if !errors.As(err, &u) || u.Code != judge.CodeTruncated || strings.Contains(u.Message, "twice") {
		t.Errorf("%v", err)
	}
}
