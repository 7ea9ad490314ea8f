package ranking_test

import (
	"math"
	"testing"

	"github.com/ragjudge/ragjudge/ranking"
)

func list(c ranking.Convention, level float64, judged []float64, grades ...float64) *ranking.List {
	var l ranking.List
	l.Set(c, level, c.Judge(judged, level), grades)
	return &l
}

// TestWorkedValues: A B C D E were retrieved, A and C are relevant, then F too,
// which was not retrieved.
func TestWorkedValues(t *testing.T) {
	none := ranking.Unjudged()
	two := list(ranking.RAG, ranking.AboveZero, []float64{1, 1}, 1, none, 1, none, none)
	three := list(ranking.RAG, ranking.AboveZero, []float64{1, 1, 1}, 1, none, 1, none, none)
	late := list(ranking.RAG, ranking.AboveZero, []float64{1}, none, none, 1)
	for name, c := range map[string]struct{ got, want float64 }{
		"P@5":                 {two.Precision(5), 0.4},
		"recall@5":            {three.Recall(5), 2.0 / 3},
		"RR":                  {late.ReciprocalRank(0), 1.0 / 3},
		"RR@2":                {late.ReciprocalRank(2), 0},
		"AP":                  {three.AveragePrecision(0), (1 + 2.0/3) / 3},
		"judged@3":            {two.Judged(3), 2.0 / 3},
		"R-precision":         {two.RPrecision(), 0.5},
		"nDCG":                {two.NDCG(0, ranking.Linear), 1.5 / (1 + 1/math.Log2(3))},
		"success@2":           {late.Success(2), 0},
		"11 points":           {two.ElevenPoint(), (6*1 + 5*2.0/3) / 11},
		"relative P@1":        {two.RelativePrecision(1), 1},
		"set F":               {two.SetF(), 4.0 / 7},
		"utility":             {two.Utility(), -1},
		"Rprec x 2":           {two.RPrecisionMultiple(2), 0.5},
		"gain of a low grade": {ranking.Exponential(1e-12), 1e-12 * math.Ln2},
	} {
		if math.Abs(c.got-c.want) > 1e-15+1e-12*math.Abs(c.want) {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
}

// TestNothing: no measure of an empty list, of no judgements, or of grades at
// the edge of numbers panics or leaves 0..1.
func TestNothing(t *testing.T) {
	odd := []float64{math.NaN(), -1, 0, math.SmallestNonzeroFloat64, 1}
	for _, c := range []ranking.Convention{ranking.RAG, ranking.TrecEval} {
		for _, l := range []*ranking.List{
			{Convention: c}, list(c, 1, nil), list(c, 1, []float64{1}), list(c, 1, nil, ranking.Unjudged()),
			list(c, 0, odd, odd...), list(c, ranking.AboveZero, odd, odd...), list(c, 9, odd, odd...),
		} {
			for k := range 4 {
				for name, v := range map[string]float64{
					"precision": l.Precision(k), "recall": l.Recall(k), "f1": l.F1(k), "success": l.Success(k), "rr": l.ReciprocalRank(k),
					"ap": l.AveragePrecision(k), "rprec": l.RPrecision(), "ndcg": l.NDCG(k, ranking.Linear), "exp": l.NDCG(k, ranking.Exponential),
					"bpref": l.BPref(), "infap": l.InferredAP(), "11pt": l.ElevenPoint(), "binG": l.BinaryG(), "setF": l.SetF(), "setMAP": l.SetMAP(),
					"relative": l.RelativePrecision(k), "mult": l.RPrecisionMultiple(float64(k)), "iprec": l.InterpolatedPrecision(float64(k) / 3),
				} {
					if !(v >= 0 && v <= 1) {
						t.Errorf("%s, %s at %d of %+v is %v", c, name, k, l, v)
					}
				}
				if v := l.Judged(k); len(l.Grades) > 0 && !(v >= 0 && v <= 1) || len(l.Grades) == 0 && !math.IsNaN(v) {
					t.Errorf("judged at %d of %+v is %v", k, l, v)
				}
			}
		}
	}
}
