package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/text"
)

var contextRelevanceFamily = Family{
	Name: "context_relevance", CutOff: NoCutOff, Judged: true, Options: []string{optUndecided, optCompat},
	Compats: []Compat{CompatRagas, CompatDeepEval},
	Aliases: []string{"contextualrelevancy", "nvcontextrelevance"},
	build: func(_ int, opt Options) eval.Metric {
		m := contextRelevance{panel: opt.panel(), info: eval.Info{
			Name: "context_relevance", Version: 1, Judged: true, Note: compatNote(opt.Compat),
			Needs:   []eval.Field{eval.FieldUserInput, eval.FieldRetrievedContexts},
			Calls:   "1 for all chunks",
			Asks:    []string{"chunks against the question: relevant"},
			Formula: "chunks relevant to the question / chunks retrieved",
			Doc:     "How many of the retrieved chunks serve the question at all; neither a reference nor the response plays a part. A low value means that the system retrieves much that it has no use for. For whether the useful chunks stand at the top see context_precision. Where nothing was retrieved it is 0.",
		}}
		m.ask = m.chunks
		switch opt.Compat {
		case CompatDeepEval:
			m.ask = m.statements
			m.info.Calls, m.info.Asks = "1 for each chunk, to split it, and 1 for all statements", []string{"statements of each chunk", "statements of the chunks against the question: relevant"}
			m.info.Formula = "statements of the chunks that are relevant to the question / statements of all chunks; 0 where there are none"
			m.info.Doc = "How much of what the retrieved chunks say serves the question, statement by statement over all chunks. Where nothing was retrieved it is 0."
		case CompatRagas:
			m.ask = m.ratings
			m.info.Calls, m.info.Asks = "2: two ratings by two wordings", []string{"chunks against the question: rating", "chunks against the question: second rating"}
			m.info.Formula = "mean of rating / 2 over two ratings from 0 to 2; 0 where nothing was retrieved or the chunks are only words of the question"
			m.info.Doc = "How much of what the question needs is in the retrieved chunks together, rated twice. Chunks without use do not lower it. Where nothing was retrieved it is 0."
		}
		return m
	},
}

type contextRelevance struct {
	info  eval.Info
	panel Panel
	ask   func(context.Context, *eval.Sample) (eval.Score, error)
}

// Info describes the metric.
func (m contextRelevance) Info() eval.Info { return m.info }

// Score asks each seat once, about all chunks; a peer's formula asks otherwise.
func (m contextRelevance) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f).Of(m.info), nil
	}
	if noContexts(s) {
		return eval.Value(0).Because(reasonNoContexts).Of(m.info), nil
	}
	score, err := m.ask(ctx, s)
	return score.Of(m.info), err
}

func (m contextRelevance) chunks(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	return m.panel.relevance(ctx, judge.Ask{
		Metric: m.info.Name, Prompt: "context_relevance/verdict", UserInput: s.UserInput, Items: s.RetrievedContexts,
	}, 1, func(v []judge.Verdict, b *Bounds) any { return chunksDetail("question", v, b) })
}

// statements is DeepEval's: the chunks are split, and the statements of all of
// them are counted together.
func (m contextRelevance) statements(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	split, errs := make([][]string, len(s.RetrievedContexts)), make([]error, len(s.RetrievedContexts))
	together(len(split), func(i int) {
		split[i], errs[i] = m.panel.claims(ctx, judge.Ask{Metric: m.info.Name, Prompt: promptSplit, Text: s.RetrievedContexts[i]})
	})
	if err := worstOf(errs); err != nil {
		return unjudged(ctx, err, nil)
	}
	var all []string
	for _, statements := range split {
		all = append(all, statements...)
	}
	if len(all) == 0 {
		return eval.Value(0).Because(reasonNoClaims), nil
	}
	return m.panel.relevance(ctx, judge.Ask{
		Metric: m.info.Name, Prompt: "context_relevance/statements", UserInput: s.UserInput, Items: all,
	}, 1, func(v []judge.Verdict, b *Bounds) any { return ClaimsDetail{Claims: v, Bounds: b} })
}

// ratings is Ragas' (NVIDIA's): two ratings by two wordings, and their mean. Each
// seat gives both; what is voted on, and kept as the rating, is their sum.
func (m contextRelevance) ratings(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	question := text.Fold(s.UserInput)
	asks := func(c string) bool {
		c = strings.TrimSpace(c)
		return c != "" && !strings.Contains(question, text.Fold(c))
	}
	if !slices.ContainsFunc(s.RetrievedContexts, asks) {
		return eval.Value(0).Because(reasonCopied), nil
	}
	p := m.panel
	p.Seats = slices.Clone(p.Seats)
	for i := range p.Seats {
		p.Seats[i].Judge = twoRatings{p.Seats[i].Judge}
	}
	return p.rating(ctx, judge.Ask{
		Metric: m.info.Name, Prompt: promptRating, UserInput: s.UserInput, Contexts: s.RetrievedContexts, Min: 0, Max: maxContextRating,
	}, func(sum int) float64 { return float64(sum) / (2 * maxContextRating) })
}

const (
	promptRating      = "context_relevance/rating"
	promptRatingAgain = "context_relevance/rating_again"
	maxContextRating  = 2
)

// twoRatings is a judge that rates twice, by two wordings, and gives the sum.
type twoRatings struct{ Judge }

// Rate asks both at the same time.
func (j twoRatings) Rate(ctx context.Context, a judge.Ask) (judge.Rating, error) {
	var got [2]judge.Rating
	errs := make([]error, len(got))
	together(len(got), func(i int) {
		one := a
		if i == 1 {
			one.Prompt = promptRatingAgain
		}
		got[i], errs[i] = j.Judge.Rate(ctx, one)
	})
	if err := worstOf(errs); err != nil {
		return judge.Rating{}, err
	}
	return judge.Rating{
		Rating: got[0].Rating + got[1].Rating,
		Reason: fmt.Sprintf("%d: %s / %d: %s", got[0].Rating, got[0].Reason, got[1].Rating, got[1].Reason),
	}, nil
}
