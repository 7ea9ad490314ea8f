package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// relevantStatements is answer_relevance by the statements of the response.
type relevantStatements struct {
	info  eval.Info
	panel Panel
	// positive is how many of the labels of relevance count.
	positive int
	// none is the score of a response that states nothing.
	none float64
}

func newRelevantStatements(opt Options) eval.Metric {
	m := relevantStatements{panel: opt.panel(), positive: 1, info: eval.Info{
		Name: "answer_relevance", Version: 1, Judged: true, Note: compatNote(opt.Compat),
		Needs:   []eval.Field{eval.FieldUserInput, eval.FieldResponse},
		Calls:   "2: split into statements, one verdict for each",
		Asks:    []string{askResponseClaims, "claims of the response against the question: relevant"},
		Formula: "statements relevant to the question / statements asked; 0 where there are none",
		Doc:     "How much of what the response says serves the question. A low score means that it digresses or answers something else; whether what it says is true is not its matter. A response that states nothing (\"I don't know\") answers nothing and is 0; so is one that says nothing or only gives the question back, without a call.",
	}}
	if opt.Compat == CompatDeepEval {
		m.positive, m.none = 2, 1
		m.info.Formula = "statements that are not irrelevant / statements asked; 1 where there are none"
		m.info.Doc = "How much of what the response says is not beside the question. What is unclear counts as relevant, and a response that states nothing is 1."
	}
	return m
}

// Info describes the metric.
func (m relevantStatements) Info() eval.Info { return m.info }

// Score asks for the statements, and for a verdict on each.
func (m relevantStatements) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.info), err
}

func (m relevantStatements) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	detail := func(v []judge.Verdict, b *Bounds) any { return ClaimsDetail{Claims: v, Bounds: b} }
	if why := settled(s.UserInput, s.Response); why != "" {
		return eval.Value(m.none).Because(why).WithDetail(detail([]judge.Verdict{}, nil)), nil
	}
	claims, err := m.panel.claims(ctx, judge.Ask{Metric: m.info.Name, Prompt: promptSplit, Text: s.Response})
	if err != nil {
		return unjudged(ctx, err, nil)
	}
	if len(claims) == 0 {
		return eval.Value(m.none).Because(reasonNoClaims).WithDetail(detail([]judge.Verdict{}, nil)), nil
	}
	return m.panel.relevance(ctx, judge.Ask{
		Metric: m.info.Name, Prompt: "answer_relevance/statements", UserInput: s.UserInput, Response: s.Response, Items: claims,
	}, m.positive, detail)
}
