package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

// lexicalOverlap is the share of a sentence's words above which it counts as
// taken from the contexts.
const lexicalOverlap = 0.4

var lexicalFaithfulnessFamily = Family{
	Name: "lexical_faithfulness", CutOff: NoCutOff,
	build: func(_ int, _ Options) eval.Metric { return lexicalFaithfulness{} },
}

// SentencesDetail is the detail of lexical_faithfulness.
type SentencesDetail struct {
	// Overlaps holds, for each sentence of the response that has words, the
	// share of its distinct words that stand in the contexts, 0..1.
	Overlaps []float64 `json:"overlaps"`
}

type lexicalFaithfulness struct{}

// Info describes the metric.
func (lexicalFaithfulness) Info() eval.Info {
	return eval.Info{
		Name: "lexical_faithfulness", Version: 1,
		Needs:   []eval.Field{eval.FieldResponse, eval.FieldRetrievedContexts},
		Calls:   "none",
		Formula: "sentences of the response of whose distinct words more than 0.4 stand in the contexts / sentences",
		Doc:     "How much of the response is in the words of the contexts. A sudden fall says that responses have moved away from their contexts; the level itself says little, since a negated or mixed-up sentence overlaps as well as a true one. Citation marks don't count.",
		Note:    "a drift alarm, not a judge",
	}
}

// Score compares words. Its error is always nil.
func (m lexicalFaithfulness) Score(_ context.Context, s *eval.Sample) (eval.Score, error) {
	info := m.Info()
	if f := s.Missing(info.Needs); f != "" {
		return eval.SkippedFor(f).Of(info), nil
	}
	if noContexts(s) {
		return eval.Value(0).Because(reasonNoContexts).Of(info), nil
	}
	set := text.SetOf(s.RetrievedContexts...)
	var d SentencesDetail
	over := 0
	for _, sentence := range text.Sentences(text.StripCitations(s.Response)) {
		share, ok := set.Overlap(text.Words(sentence))
		if !ok {
			continue
		}
		d.Overlaps = append(d.Overlaps, share)
		if share > lexicalOverlap {
			over++
		}
	}
	if len(d.Overlaps) == 0 {
		return eval.Without(eval.Undefined, "no_sentences: the response holds no words").Of(info), nil
	}
	return eval.Value(ratio(over, len(d.Overlaps))).WithDetail(d).Of(info), nil
}
