package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// relevance asks every seat whether texts are relevant to the question and makes
// the share of those that are. Of the labels of the ask, what counts beside
// "relevant" is said by positive: 2 takes in "unclear".
func (p Panel) relevance(ctx context.Context, a judge.Ask, positive int, detail func([]judge.Verdict, *Bounds) any) (eval.Score, error) {
	a.Labels = judge.RelevanceLabels()
	formula := shareFormula(a.Labels, detail)
	formula.positive = positive
	return p.verdicts(ctx, a.Items, nil, formula, func(ctx context.Context, j Judge) ([]judge.Verdict, error) {
		return j.Verdicts(ctx, a)
	})
}
