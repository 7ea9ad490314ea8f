package metrics

import (
	"context"
	"math"

	"github.com/ragjudge/ragjudge/eval"
)

// reasonZeroVector: the embedding of a text is nothing but zeros, so that no
// angle to it exists.
const reasonZeroVector = "zero_vector: the embedding of a text is zero"

// askSimilarity is the one request of all metrics that compare response and
// reference by embeddings.
const askSimilarity = "embeddings of reference and response"

var semanticSimilarityFamily = Family{
	Name: "semantic_similarity", CutOff: NoCutOff, Judged: true, Options: []string{optThreshold, optCompat}, Compats: []Compat{CompatRagas},
	Aliases: []string{"answersimilarity", "answersemanticsimilarity", "embeddingsimilarity"},
	embeds:  func(Options) bool { return true },
	build: func(_ int, opt Options) eval.Metric {
		m := semanticSimilarity{embedder: opt.Embedder, threshold: opt.Threshold, compat: opt.Compat, info: eval.Info{
			Name: "semantic_similarity", Version: 1, Judged: true, Note: compatNote(opt.Compat),
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference},
			Calls:   "1 for embeddings",
			Asks:    []string{askSimilarity},
			Formula: "max(0, cosine) of the embeddings of response and reference; with a threshold 1 from there on and 0 below",
			Doc:     "How close response and reference are in the eyes of an embedding model. It is cheap and coarse: two texts that contradict each other in one word are near to it. What number is high hangs on the model: compare values of one model only, and choose a threshold by labelled samples.",
		}}
		if opt.Compat == CompatRagas {
			m.info.Formula = "cosine of the embeddings of response and reference; with a threshold 1 from there on and 0 below. It may lie below 0"
		}
		return m
	},
}

// SimilarityDetail is the detail of semantic_similarity.
type SimilarityDetail struct {
	// Cosine is that of the two embeddings, -1 to 1.
	Cosine float64 `json:"cosine"`
}

type semanticSimilarity struct {
	info      eval.Info
	embedder  Embedder
	threshold float64
	compat    Compat
}

// Info describes the metric.
func (m semanticSimilarity) Info() eval.Info { return m.info }

// Score asks for two vectors.
func (m semanticSimilarity) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.info), err
}

func (m semanticSimilarity) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	c, err := similarity(ctx, m.embedder, m.info.Name, s)
	switch {
	case err != nil:
		return unjudged(ctx, err, nil)
	case math.IsNaN(c):
		return eval.Without(eval.Undefined, "%s", reasonZeroVector), nil
	}
	v := c
	switch {
	case m.threshold > 0 && c >= m.threshold:
		v = 1
	case m.threshold > 0:
		v = 0
	case m.compat == "":
		v = max(c, 0)
	}
	return eval.Value(v).WithDetail(SimilarityDetail{c}), nil
}

// similarity is the cosine of response and reference; NaN where there is none.
func similarity(ctx context.Context, e Embedder, metric string, s *eval.Sample) (float64, error) {
	vectors, err := e.Embed(ctx, metric, []string{s.Reference, s.Response})
	if err != nil {
		return 0, err
	}
	return cosine(vectors[0], vectors[1]), nil
}

// cosine is that of the angle between two vectors, -1 to 1; NaN if one is zero.
func cosine(a, b []float32) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return math.NaN()
	}
	return min(max(dot/math.Sqrt(aa)/math.Sqrt(bb), -1), 1)
}
