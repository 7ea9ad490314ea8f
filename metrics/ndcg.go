package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
)

var ndcgFamily = Family{
	Name: "ndcg", CutOff: OptionalCutOff, Options: []string{optGain},
	Aliases: []string{"ndcgatk", "normalizeddcg", "normalizeddiscountedcumulativegain"},
	build: func(k int, opt Options) eval.Metric {
		gain, formula := linearGain, "the grade"
		if opt.Gain == GainExponential {
			gain, formula = exponentialGain, "2^grade - 1"
		}
		return newRankingMetric("ndcg", k,
			"DCG / DCG of the best possible order, DCG = sum over ranks i (within k, if given) of gain / log2(i+1), gain = "+formula+"; 0 if no grade is above 0",
			"Whether the chunks stand in the order of their grades (Järvelin and Kekäläinen, 2002). A grade of 0 or less, and an id without a grade, gain nothing.",
			func(r ranking) float64 { return ndcg(r, k, gain) })
	},
}

func linearGain(grade float64) float64 { return grade }

// exponentialGain is 2^grade - 1. A grade near 0 would be lost in the
// subtraction, and the best order would seem to gain nothing.
func exponentialGain(grade float64) float64 {
	if grade < 1e-3 {
		return math.Expm1(grade * math.Ln2)
	}
	return math.Exp2(grade) - 1
}

func ndcg(r ranking, k int, gain func(float64) float64) float64 {
	ideal := make([]float64, 0, r.relevant)
	for _, g := range r.grades {
		if g > 0 {
			ideal = append(ideal, g)
		}
	}
	if len(ideal) == 0 {
		return 0
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	if k > 0 {
		ideal = ideal[:min(k, len(ideal))]
	}
	best := 0.0
	for i, g := range ideal {
		best += discounted(gain(g), i)
	}
	got := 0.0
	for i, id := range r.top(k) {
		if g := r.grades[id]; g > 0 {
			got += discounted(gain(g), i)
		}
	}
	// Rounding must not lift a perfect order above 1. An overflow (infinite
	// grades) stays one, and gives an undefined score.
	if q := got / best; !(q > 1) || math.IsInf(q, 1) {
		return q
	}
	return 1
}

func discounted(gain float64, i int) float64 { return gain / math.Log2(float64(i+2)) }
