package metrics_test

import (
	"context"
	"fmt"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// Three samples are scored with the offline lexical judge. For a real judge
// put another llm.Client into judge.Config.
func Example() {
	j := judge.New(judge.Config{Client: judge.Lexical{}, Endpoint: "lexical", Model: judge.LexicalModel})
	var all []eval.Metric
	for _, name := range []string{"faithfulness", "answer_relevance", "context_precision", "context_recall", "precision@5"} {
		m, err := metrics.New(name, metrics.Options{Judge: j})
		if err != nil {
			fmt.Println(err)
			return
		}
		all = append(all, m)
	}
	samples := []eval.Sample{{
		ID:                  "good",
		UserInput:           "What does the dental plan cost?",
		Response:            "The dental plan costs 250 dollars a year.",
		Reference:           "The plan costs 250 dollars a year.",
		RetrievedContexts:   []string{"The dental plan costs 250 dollars a year.", "The office is closed on Sundays."},
		RetrievedContextIDs: []string{"plan", "office"},
		ReferenceContextIDs: map[string]float64{"plan": 1},
	}, {
		ID:                  "wrong number",
		UserInput:           "What does the dental plan cost?",
		Response:            "The dental plan costs 300 dollars a year.",
		Reference:           "The plan costs 250 dollars a year.",
		RetrievedContexts:   []string{"The office is closed on Sundays.", "The dental plan costs 250 dollars a year."},
		RetrievedContextIDs: []string{"office", "plan"},
		ReferenceContextIDs: map[string]float64{"plan": 1},
	}, {
		ID:                "no answer",
		UserInput:         "Who founded the company?",
		Response:          "I don't know.",
		RetrievedContexts: []string{"The office is closed on Sundays."},
	}}
	for _, s := range samples {
		fmt.Println(s.ID)
		for _, m := range all {
			score, err := m.Score(context.Background(), &s)
			if err != nil {
				fmt.Println(err) // the judge can't be used at all: stop
				return
			}
			if score.Value == nil {
				fmt.Printf("  %s: %s (%s)\n", score.Metric, score.Status, score.Reason)
				continue
			}
			fmt.Printf("  %s: %.2f\n", score.Metric, *score.Value)
		}
	}
	// Output:
	// good
	//   faithfulness: 1.00
	//   answer_relevance: 1.00
	//   context_precision: 1.00
	//   context_recall: 1.00
	//   precision@5: 0.50
	// wrong number
	//   faithfulness: 0.00
	//   answer_relevance: 1.00
	//   context_precision: 0.50
	//   context_recall: 1.00
	//   precision@5: 0.50
	// no answer
	//   faithfulness: undefined (no_claims)
	//   answer_relevance: 0.00
	//   context_precision: 0.00
	//   context_recall: skipped (missing_field: reference)
	//   precision@5: skipped (missing_field: retrieved_context_ids)
}
