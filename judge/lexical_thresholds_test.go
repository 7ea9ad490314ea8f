package judge_test

import (
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// TestLexicalThresholds stands on both sides of each threshold.
func TestLexicalThresholds(t *testing.T) {
	const fee = "The yearly fee of the dental plan is 250 dollars."
	for _, c := range []struct {
		name, claim string
		contexts    []string
		want        string
	}{
		{"7 of 10 words", "Red green blue white black pink grey brown gold silver.",
			[]string{"Red green blue white black pink grey."}, judge.Supported},
		{"6 of 10 words", "Red green blue white black pink grey brown gold silver.",
			[]string{"Red green blue white black pink."}, judge.NotFound},
		{"another number, 5 of the other 6 words", "The yearly dental plan fee costs 300 dollars.", []string{fee}, judge.Contradicted},
		{"another number, 3 of the other 6 words", "The monthly vision plan fee costs 300 dollars.", []string{fee}, judge.NotFound},
		{"no number there to contradict", "The yearly fee of the dental plan is 300 dollars.",
			[]string{"The yearly fee of the dental plan is in dollars."}, judge.NotFound},
		{"negated right before the passage", "There is a dental plan for children.",
			[]string{"There is no dental plan for children."}, judge.Contradicted},
		{"negated far from the passage", "There is a dental plan for children.",
			[]string{"Smoking is not allowed in the whole house, in the garden or anywhere near. There is a dental plan for children."}, judge.Supported},
		{"a no that answers", "No, there is a dental plan for children.", []string{"There is a dental plan for children."}, judge.Supported},
		{"a supporting chunk behind one that holds more words", "The plan covers dental care for children.",
			[]string{"The plan never covers dental care for children.", "The plan covers dental care for infants."}, judge.Supported},
		{"words far apart are no contradiction", "The plan covers dental care for children.",
			[]string{"Plan. " + strings.Repeat("Other words stand here. ", 20) + "Dental care. " + strings.Repeat("Other words stand here. ", 20) + "Children never covers."}, judge.Supported},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := lexicalJudge().Verdicts(t.Context(), judge.Ask{
				Prompt: "faithfulness/verdict", Labels: judge.FaithfulnessLabels(), Contexts: c.contexts, Items: []string{c.claim},
			})
			if err != nil || got[0].Label != c.want {
				t.Errorf("verdict %+v, %v; want %s", got, err, c.want)
			}
		})
	}
	for reference, want := range map[string]string{
		"Dental, vision, hearing.":         judge.Useful,    // a third
		"Dental, vision, hearing, travel.": judge.NotUseful, // a quarter
	} {
		got, err := lexicalJudge().Verdicts(t.Context(), judge.Ask{
			Prompt: "context_precision/verdict", Labels: judge.PrecisionLabels(),
			UserInput: "What is covered?", Reference: reference, Items: []string{"Dental care is good."},
		})
		if err != nil || got[0].Label != want {
			t.Errorf("a chunk with one word of %q: %+v, %v; want %s", reference, got, err, want)
		}
	}
}

// TestLexicalFormOfOthers: what the judge said before does not say the form.
func TestLexicalFormOfOthers(t *testing.T) {
	got := judge.LexicalAnswer(&llm.Request{Messages: []llm.Message{
		{Role: llm.Assistant, Content: `rating: a whole number from 1 to 5`},
		{Role: llm.System, Content: `{"claims":["...","..."]}`},
		{Role: llm.User, Content: "<text-0a1b2c3d>\nParis is big.\n</text-0a1b2c3d>"},
	}})
	if got != `{"claims":["Paris is big."]}` {
		t.Errorf("got %s", got)
	}
}
