package metrics

import (
	"context"
	"errors"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// FlagByResponse: there is no reference, so that the chunks were held against
// the response.
const FlagByResponse = "judged_by_response"

var contextPrecisionFamily = Family{
	Name: "context_precision", CutOff: NoCutOff, Judged: true, Options: []string{optPerChunk, optUndecided, optCompat},
	Aliases: []string{"contextualprecision", "llmcontextprecision", "llmcontextprecisionwithreference", "contextprecisionwithreference"},
	Compats: []Compat{CompatRagas, CompatDeepEval, CompatRAGChecker},
	build: func(_ int, opt Options) eval.Metric {
		if opt.Compat == CompatRAGChecker {
			return byTable(claimContextPrecisionFamily, "context_precision", opt)
		}
		return contextPrecision{panel: opt.panel(), perChunk: opt.PerChunk, compat: opt.Compat}
	},
}

// ChunksDetail is the detail of context_precision.
type ChunksDetail struct {
	// Against is "reference" or "response": what the chunks were useful for.
	Against string `json:"against"`
	// Chunks are the verdicts on the retrieved chunks, best first.
	Chunks []ChunkVerdict `json:"chunks"`
	// Bounds are those of the score where several judges left it open.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// ChunkVerdict is the verdict on one chunk; its text is in the sample.
type ChunkVerdict struct {
	// Rank is the chunk's rank, from 1.
	Rank int `json:"rank"`
	// Verdict is one of the labels; with several judges the majority's, or
	// VerdictSplit.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	// Said is as in judge.Verdict.
	Said string `json:"said,omitempty"`
}

type contextPrecision struct {
	panel    Panel
	perChunk bool
	compat   Compat
	// name is another name than its own, under which it is context_utilization of
	// Ragas: by the response even where there is a reference.
	name       string
	byResponse bool
}

// Info describes the metric.
func (m contextPrecision) Info() eval.Info {
	calls := "1 for all chunks"
	if m.perChunk {
		calls = "1 for each chunk"
	}
	info := m.described(calls)
	if m.compat == CompatRagas {
		info.Formula = "sum over ranks i of P@i * v_i / (sum of v + 1e-10), v_i being 1 for a useful chunk"
	}
	if m.byResponse {
		info.Name, info.Needs, info.Asks = m.name, append(info.Needs, eval.FieldResponse), []string{askChunksResponse}
		info.Doc = "Whether the chunks that the response uses stand at the top: context_precision with the response in place of the reference, as Ragas calls it. Where nothing was retrieved it is 0."
	}
	info.Note = compatNote(m.compat)
	return info
}

const (
	askChunksReference = "chunks against the reference, or without one the response: useful"
	askChunksResponse  = "chunks against the response: useful"
)

func (m contextPrecision) described(calls string) eval.Info {
	return eval.Info{
		Name: "context_precision", Version: 1, Judged: true,
		Needs:   []eval.Field{eval.FieldUserInput, eval.FieldRetrievedContexts},
		Asks:    []string{askChunksReference},
		Calls:   calls,
		Formula: "average precision: sum over ranks i of P@i * v_i / sum of v, v_i being 1 for a useful chunk; 0 if none is useful",
		Doc:     "Whether the chunks that are useful to reach the reference stand at the top. Without a reference the response takes its place, and the score says so; one that says nothing, or only gives the question back, leaves nothing to hold the chunks against: undefined, without a call. A low score means that useful chunks stand below useless ones, or that there are none. Where nothing was retrieved it is 0.",
	}
}

// Score asks the judge for a verdict on each chunk.
func (m contextPrecision) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.Info()), err
}

func (m contextPrecision) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.Info().Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	ask := judge.Ask{
		Metric: m.Info().Name, Prompt: "context_precision/verdict", UserInput: s.UserInput, Reference: s.Reference,
		Items: s.RetrievedContexts, Labels: judge.PrecisionLabels(),
	}
	against := "reference"
	if m.byResponse || !s.Has(eval.FieldReference) {
		ask.Reference = ""
		if !s.Has(eval.FieldResponse) {
			return eval.SkippedFor(eval.FieldReference), nil
		}
		ask.Prompt, ask.Response, against = "context_precision/verdict_by_response", s.Response, "response"
	}
	if noContexts(s) {
		return eval.Value(0).Because(reasonNoContexts), nil
	}
	if against == "response" {
		// No chunk is useful to reach an answer that is none, and that says
		// nothing about the chunks.
		if why := settled(s.UserInput, s.Response); why != "" {
			return eval.Without(eval.Undefined, "%s", why).Flagged(FlagByResponse), nil
		}
	}
	score, err := m.panel.verdicts(ctx, ask.Items, nil, m.formula(ask.Labels, against), func(ctx context.Context, j Judge) ([]judge.Verdict, error) {
		return m.verdicts(ctx, j, ask)
	})
	if against == "response" && score.Status == eval.Scored {
		score = score.Flagged(FlagByResponse)
	}
	return score, err
}

// verdicts asks one judge about all chunks at once, or about each by itself.
func (m contextPrecision) verdicts(ctx context.Context, j Judge, ask judge.Ask) ([]judge.Verdict, error) {
	if !m.perChunk {
		return j.Verdicts(ctx, ask)
	}
	verdicts := make([]judge.Verdict, len(ask.Items))
	errs := make([]error, len(ask.Items))
	together(len(ask.Items), func(i int) {
		one := ask
		one.Items = ask.Items[i : i+1]
		got, err := j.Verdicts(ctx, one)
		if err == nil {
			err = complete(got, one.Items)
		}
		if errs[i] = err; err == nil {
			verdicts[i] = got[0]
		}
	})
	return verdicts, worstOf(errs)
}

// worstOf returns the first error that stops the run, else the first one: by
// rank and not by time, so that the same replies give the same reason.
func worstOf(errs []error) error {
	var first error
	for _, err := range errs {
		var unusable *judge.UnusableError
		if err != nil && !errors.As(err, &unusable) && llm.StopsRun(err) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// formula is average precision over chunks, best first.
func (m contextPrecision) formula(labels []string, against string) verdictFormula {
	value := chunkPrecision
	if m.compat == CompatRagas {
		value = ragasChunkPrecision
	}
	return verdictFormula{
		labels: labels, value: value, bounds: chunkBounds,
		detail: func(verdicts []judge.Verdict, b *Bounds) any { return chunksDetail(against, verdicts, b) },
	}
}

// chunksDetail shows verdicts on chunks, best first.
func chunksDetail(against string, verdicts []judge.Verdict, b *Bounds) ChunksDetail {
	d := ChunksDetail{Against: against, Bounds: b}
	for i, v := range verdicts {
		d.Chunks = append(d.Chunks, ChunkVerdict{Rank: i + 1, Verdict: v.Label, Reason: v.Reason, Said: v.Said})
	}
	return d
}

// chunkPrecision is the mean of P@i over the ranks i of the useful chunks.
func chunkPrecision(useful []bool) float64 {
	found, sum := 0, 0.0
	for i, u := range useful {
		if u {
			found++
			sum += float64(found) / float64(i+1)
		}
	}
	if found == 0 {
		return 0
	}
	return sum / float64(found)
}

// ragasChunkPrecision is chunkPrecision with Ragas' guard against a division by
// zero, which it adds to every denominator: a perfect ranking is not quite 1.
func ragasChunkPrecision(useful []bool) float64 {
	found := 0.0
	for _, u := range useful {
		if u {
			found++
		}
	}
	return chunkPrecision(useful) * found / (found + 1e-10)
}

// chunkBounds are those of chunkPrecision. One more useful chunk far down can
// make it lower, so that the ends are not where all open chunks are useless or
// useful: for each number of useful chunks so far, the least and the greatest sum
// of their P@i are followed down the ranks.
func chunkBounds(sides []side) Bounds {
	least, most := []float64{0}, []float64{0} // by number found; below 0: can't be
	for i, s := range sides {
		nextLeast, nextMost := make([]float64, i+2), make([]float64, i+2)
		for found := range nextLeast {
			nextLeast[found], nextMost[found] = -1, -1
			if s != yes && found <= i && least[found] >= 0 {
				nextLeast[found], nextMost[found] = least[found], most[found]
			}
			if s == no || found == 0 || least[found-1] < 0 {
				continue
			}
			p := float64(found) / float64(i+1)
			if low := least[found-1] + p; nextLeast[found] < 0 || low < nextLeast[found] {
				nextLeast[found] = low
			}
			nextMost[found] = max(nextMost[found], most[found-1]+p)
		}
		least, most = nextLeast, nextMost
	}
	b := Bounds{Low: 1}
	for found := range least {
		if least[found] >= 0 {
			n := float64(max(found, 1))
			b.Low, b.High = min(b.Low, least[found]/n), max(b.High, most[found]/n)
		}
	}
	return b
}
