package metrics

import (
	"context"
	"fmt"
	"math"

	"github.com/ragjudge/ragjudge/eval"
)

var answerCorrectnessFamily = Family{
	Name: "answer_correctness", CutOff: NoCutOff, Judged: true,
	Options: []string{optNoClaims, optUndecided, optWeight, optBeta, optCompat}, Compats: []Compat{CompatRagas},
	Aliases: []string{"responsecorrectness"},
	embeds:  func(opt Options) bool { return opt.Weight.Value < 1 },
	build: func(_ int, opt Options) eval.Metric {
		w := opt.Weight.Value
		info := eval.Info{
			Name:    "answer_correctness",
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference},
			Formula: fmt.Sprintf("%g F + %g S of factual correctness F, (1 + beta^2) P R / (beta^2 P + R), and semantic similarity S, max(0, cosine)", w, 1-w),
			Doc:     "How right the response is, by its claims and by its likeness to the reference in one number: factual_correctness and semantic_similarity, weighted by factuality_weight (0.75 by default; 1 needs no embeddings). It is for a ranking of systems; to know what is wrong, look at the two it is made of.",
		}
		m := answerCorrectness{embedder: opt.Embedder, weight: w, beta: opt.Beta, compat: opt.Compat}
		m.claimMetric = newClaimMetric(opt, info, responseMatch|referenceMatch, nil, "")
		if w < 1 {
			m.info.Asks = append(m.info.Asks, askSimilarity)
			m.info.Calls = fmt.Sprintf("%s, and 1 for embeddings", m.info.Calls)
		}
		if opt.Compat == CompatRagas {
			m.vacuous = true
			m.info.Formula = fmt.Sprintf("%g F + %g S; F of TP and FP among the response's claims and FN among the reference's, 1 where a side makes no claims; S the cosine", w, 1-w)
		}
		return m
	},
}

// answerCorrectness is factual correctness weighed with similarity.
type answerCorrectness struct {
	claimMetric
	embedder Embedder
	weight   float64
	beta     float64
	compat   Compat
}

// Score asks for the vectors and then as a metric over the table does.
func (m answerCorrectness) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.info), err
}

func (m answerCorrectness) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	like := 0.0
	if m.weight < 1 {
		c, err := similarity(ctx, m.embedder, m.info.Name, s)
		switch {
		case err != nil:
			return unjudged(ctx, err, nil)
		case math.IsNaN(c):
			return eval.Without(eval.Undefined, "%s", reasonZeroVector), nil
		}
		if like = c; m.compat == "" {
			like = max(c, 0)
		}
	}
	m.value = func(r claimReport) float64 {
		f := r.fBeta(m.beta)
		if m.compat == CompatRagas {
			f = ragasF(r, m.beta)
		}
		return m.weight*f + (1-m.weight)*like
	}
	return m.claimMetric.score(ctx, s)
}

// ragasF is the F score of Ragas' answer_correctness, which counts what is right
// among the response's claims alone, and takes a side without claims for right.
func ragasF(r claimReport, beta float64) float64 {
	if len(r.correct) == 0 || len(r.said) == 0 {
		return 1
	}
	tp, fn := 0, 0
	for _, c := range r.correct {
		if c {
			tp++
		}
	}
	for _, in := range r.said {
		if !in {
			fn++
		}
	}
	return fScore(r.precision(), ratio(tp, tp+fn), beta)
}
