package judge_test

import (
	"encoding/json"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
)

func lexicalRate(tb testing.TB, question, response string, lo, hi int) judge.Rating {
	tb.Helper()
	r, err := lexicalJudge().Rate(tb.Context(), judge.Ask{
		Prompt: "answer_relevance/rubric", UserInput: question, Response: response, Min: lo, Max: hi,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// TestLexicalRatingScale: every rating of a scale is given to something.
func TestLexicalRatingScale(t *testing.T) {
	const question = "How does the dental insurance plan pay?" // four content words
	for _, c := range []struct {
		name, response string
		lo, hi, want   int
	}{
		{"no answer", "I don't know.", 1, 5, 1},
		{"no answer in the sources", "The dental insurance plan is not specified in the given sources.", 1, 5, 1},
		{"a question back", "Which dental insurance plan?", 1, 5, 1},
		{"the question again", "How does the dental insurance plan pay", 1, 5, 1},
		{"a short answer", "250 dollars.", 1, 5, 2},
		{"another topic", "Lakes are wet.", 1, 5, 2},
		{"one word of four", "That plan is old.", 1, 5, 3},
		{"two words of four", "The dental plan is old.", 1, 5, 4},
		{"three words of four", "The dental plan pays 250 dollars.", 1, 5, 5},
		{"all words", "The dental insurance plan pays monthly.", 1, 5, 5},
		{"yes or no: no answer", "I don't know.", 0, 1, 0},
		{"yes or no: half", "The dental plan is old.", 0, 1, 0},
		{"yes or no: yes", "The dental plan pays 250 dollars.", 0, 1, 1},
		{"0 to 10: no answer", "I don't know.", 0, 10, 0},
		{"0 to 10: half", "The dental plan is old.", 0, 10, 7},
		{"0 to 10: all", "The dental insurance plan pays monthly.", 0, 10, 10},
		{"below zero", "The dental insurance plan pays monthly.", -2, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lexicalRate(t, question, c.response, c.lo, c.hi)
			if got.Rating != c.want || got.Reason == "" {
				t.Errorf("rating of %q: %+v, want %d with a reason", c.response, got, c.want)
			}
		})
	}
}

// TestLexicalRatingTellsAnswersApart: on recorded questions about one field, the
// answer to the question is told from the answer to another question about the
// same field. That is the figure that the floors hold, since a recorded judge
// found nearly every answer to the point (192 of 200 have its highest rating).
func TestLexicalRatingTellsAnswersApart(t *testing.T) {
	type row struct {
		Question, Answer string
		Relevance        float64 `json:"gpt_relevance"`
	}
	var rows []row
	for _, line := range lines(t, openShared(t, "azure_rag/baseline.eval_results.jsonl")) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	const away = 37 // far enough that the other question is about another chunk
	var better, near, sumOwn, sumOther float64
	seen := map[int]int{}
	for i, r := range rows {
		own := lexicalRate(t, r.Question, r.Answer, 1, 5).Rating
		other := lexicalRate(t, r.Question, rows[(i+away)%len(rows)].Answer, 1, 5).Rating
		seen[own]++
		seen[other]++
		switch {
		case own > other:
			better++
		case own == other:
			better += 0.5
		}
		if d := float64(own) - r.Relevance; d >= -1 && d <= 1 {
			near++
		}
		sumOwn, sumOther = sumOwn+float64(own), sumOther+float64(other)
	}
	n := float64(len(rows))
	t.Logf("%d questions: own answer %.2f, another's %.2f, told apart %.3f, within 1 of the recorded judge %.3f; ratings %v",
		len(rows), sumOwn/n, sumOther/n, better/n, near/n, seen)
	if len(rows) != 200 {
		t.Fatalf("read %d rows, want 200", len(rows))
	}
	if better/n < 0.95 || near/n < 0.96 {
		t.Errorf("told apart %.3f, within 1 %.3f: below the floor of 0.95 and 0.96", better/n, near/n)
	}
	for rating := 1; rating <= 5; rating++ {
		if seen[rating] == 0 {
			t.Errorf("no answer has the rating %d", rating)
		}
	}
}
