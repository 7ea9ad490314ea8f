package metrics_test

import (
	"context"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
)

// TestSettledWithoutACall: a response that says nothing, or only gives the
// question back, is settled by each metric in its own way, and nobody is asked.
func TestSettledWithoutACall(t *testing.T) {
	const question = "Which colour does the ball have?"
	for _, c := range []struct{ response, why string }{
		{"...", "no_words"},
		{"[1][2]", "no_words"},
		{"<p></p>\n```\n```", "no_words"},
		{"🙂", "no_words"},
		{"\u200b.", "no_words"},
		{question, "copied_question"},
		{"which colour  does the BALL have", "copied_question"},
		{question + " " + question, "copied_question"},
		{"Question: " + question + "\nAnswer:", "copied_question"},
	} {
		f := &fakeJudge{rating: 5, claims: []string{"a"}}
		s := fullSample()
		s.UserInput, s.Response, s.Reference = question, c.response, ""
		score := func(name string, opt metrics.Options) eval.Score {
			opt.Judge = f
			return scored(t, made(t, name, opt), s)
		}

		got := score("answer_relevance", metrics.Options{})
		wantScore(t, got, 0)
		if d := decoded[metrics.RatingDetail](t, got.Detail); got.Reason != c.why || d.Rating != 1 {
			t.Errorf("answer_relevance of %q: reason %q, detail %s", c.response, got.Reason, got.Detail)
		}
		got = score("faithfulness", metrics.Options{})
		if got.Status != eval.Undefined || got.Reason != "no_claims: "+c.why {
			t.Errorf("faithfulness of %q: %s, %q", c.response, got.Status, got.Reason)
		}
		wantScore(t, score("faithfulness", metrics.Options{NoClaims: metrics.NoClaimsOne}), 1)
		got = score("context_precision", metrics.Options{})
		if got.Status != eval.Undefined || got.Reason != c.why || len(got.Flags) != 1 {
			t.Errorf("context_precision of %q: %s, %q, flags %q", c.response, got.Status, got.Reason, got.Flags)
		}
		if len(f.asks) != 0 {
			t.Errorf("%q cost %d calls", c.response, len(f.asks))
		}
	}
}

// TestAnswersAreNotSettled: what may be an answer goes to the judge.
func TestAnswersAreNotSettled(t *testing.T) {
	for _, response := range []string{"Red.", "✅", "5", "Which colour? Red.", "Which colour does the ball have? Red.", "∞"} {
		f := &fakeJudge{rating: 3}
		s := fullSample()
		s.UserInput, s.Response = "Which colour does the ball have?", response
		wantScore(t, scored(t, made(t, "answer_relevance", metrics.Options{Judge: f}), s), 0.5)
		if len(f.asks) != 1 {
			t.Errorf("%q made %d calls", response, len(f.asks))
		}
	}
	// With a reference the response plays no part in context_precision.
	f := &fakeJudge{}
	s := fullSample()
	s.Response = "..."
	if got := scored(t, made(t, "context_precision", metrics.Options{Judge: f}), s); got.Status != eval.Scored || len(f.asks) != 1 {
		t.Errorf("%s after %d calls", got.Status, len(f.asks))
	}
}

// TestUndecidedVerdictsAreFlagged: what a judge leaves open doesn't count, and
// the score says that something was left open.
func TestUndecidedVerdictsAreFlagged(t *testing.T) {
	for _, tt := range []struct {
		word  string
		value float64
		flags int
	}{{"idk", 0.5, 1}, {"partially", 0.5, 1}, {"no", 0.5, 0}, {"yes", 1, 0}} {
		for _, name := range []string{"faithfulness", "context_recall"} {
			replies := []string{`{"claims":["a","b"]}`, `{"verdicts":[{"id":1,"verdict":"yes"},{"id":2,"verdict":"` + tt.word + `"}]}`}
			n := 0
			j := judge.New(judge.Config{Client: llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
				n++
				return &llm.Response{Content: replies[n-1], FinishReason: llm.FinishStop}, nil
			})})
			got := scored(t, made(t, name, metrics.Options{Judge: j}), fullSample())
			wantScore(t, got, tt.value)
			if len(got.Flags) != tt.flags || tt.flags > 0 && got.Flags[0] != metrics.FlagUndecided {
				t.Errorf("%s with %q has the flags %q", name, tt.word, got.Flags)
			}
			if c := j.Counts(); c.Undecided != int64(tt.flags) || c.Replies != 2 || c.Repaired != 0 {
				t.Errorf("%s with %q counts %+v", name, tt.word, c)
			}
		}
	}
}
