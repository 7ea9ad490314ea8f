package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// FlagNotWeighted: the metric is to be weighted by probabilities, and the
// endpoint told none that could be used; the value is that of the rating alone.
const FlagNotWeighted = "not_weighted"

// rated is a metric of the user's own that asks for one rating: a rubric, or a
// binary one, whose scale is 0 and 1.
type rated struct {
	def   Definition
	panel Panel
}

// Info describes the metric.
func (m rated) Info() eval.Info { return m.def.Info() }

// Score asks each seat once.
func (m rated) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.Info()), err
}

func (m rated) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if lack := m.def.lacks(s); lack != nil {
		return *lack, nil
	}
	ask := m.def.ask(s)
	ask.Min, ask.Max = m.def.Scale()
	ask.Weighted = m.def.Logprobs
	return m.panel.rating(ctx, ask, func(rating int) float64 {
		v := float64(rating-ask.Min) / float64(ask.Max-ask.Min)
		if m.def.ExpectNo {
			return 1 - v
		}
		return v
	})
}

// lacks is the score of a sample that the judge could see nothing of.
func (d Definition) lacks(s *eval.Sample) *eval.Score {
	if f := s.Missing(d.Needs); f != "" {
		score := eval.SkippedFor(f)
		return &score
	}
	if len(d.Needs) == 1 && d.Needs[0] == eval.FieldRetrievedContexts && noContexts(s) {
		score := eval.Without(eval.Undefined, reasonNoContexts)
		return &score
	}
	return nil
}

// ask is the question about a sample. Of what is filled in here the template
// shows what the metric needs.
func (d Definition) ask(s *eval.Sample) judge.Ask {
	return judge.Ask{
		Metric: d.Name, Prompt: d.Template(), UserInput: s.UserInput, Response: s.Response, Reference: s.Reference, Contexts: s.RetrievedContexts,
	}
}
