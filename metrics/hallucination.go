package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

var hallucinationFamily = Family{
	Name: "hallucination", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatDeepEval, CompatRAGChecker},
	Aliases: []string{"hallucinationrate"},
	build: func(_ int, opt Options) eval.Metric {
		if opt.Compat == CompatDeepEval {
			return contextAgreement{panel: opt.panel()}
		}
		return newClaimMetric(opt, eval.Info{
			Name: "hallucination", LowerIsBetter: true,
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference, eval.FieldRetrievedContexts},
			Formula: "claims of the response that neither a chunk nor the reference entails / claims asked",
			Doc:     "How much of what the response claims is made up: it was not retrieved, and is not right either. Lower is better. A claim that is wrong but stands in a chunk is noise (noise_sensitivity_relevant, noise_sensitivity_irrelevant), one that is right but stands in none is self_knowledge. Where nothing was retrieved every claim that the reference does not entail is made up.",
		}, responseChunks|responseMatch, claimReport.hallucination, "")
	},
}

// contextAgreement is DeepEval's hallucination: the share of chunks that the
// response contradicts.
type contextAgreement struct{ panel Panel }

// Info describes the metric.
func (contextAgreement) Info() eval.Info {
	return eval.Info{
		Name: "hallucination", Version: 1, Judged: true, LowerIsBetter: true, Note: compatNote(CompatDeepEval),
		Needs:   []eval.Field{eval.FieldResponse, eval.FieldRetrievedContexts},
		Calls:   "1: each chunk against the response",
		Asks:    []string{"chunks against the response: contradicted"},
		Formula: "chunks that the response contradicts / chunks retrieved; 0 where nothing was retrieved",
		Doc:     "How many of the retrieved chunks the response contradicts. Lower is better. A response that is made up but contradicts nothing is at its best here. Where nothing was retrieved, or the response says nothing, it is 0 without a call.",
	}
}

// Score asks each seat once, about all chunks.
func (m contextAgreement) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.Info()), err
}

func (m contextAgreement) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.Info().Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	if noContexts(s) {
		return eval.Value(0).Because(reasonNoContexts), nil
	}
	if why := settled(s.UserInput, s.Response); why != "" {
		return eval.Value(0).Because(why), nil
	}
	// The verdict that counts is the first label of a formula, and the last of the
	// ask's, where the positive one stands first.
	labels := []string{judge.Contradicted, judge.Consistent}
	ask := judge.Ask{
		Metric: "hallucination", Prompt: "hallucination/agreement", UserInput: s.UserInput, Response: s.Response,
		Items: s.RetrievedContexts, Labels: judge.AgreementLabels(),
	}
	formula := shareFormula(labels, func(v []judge.Verdict, b *Bounds) any { return chunksDetail("response", v, b) })
	return m.panel.verdicts(ctx, ask.Items, nil, formula, func(ctx context.Context, j Judge) ([]judge.Verdict, error) {
		return j.Verdicts(ctx, ask)
	})
}
