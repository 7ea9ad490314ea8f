package metrics

import (
	"slices"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var ndcgFamily = Family{
	Name: "ndcg", CutOff: OptionalCutOff, Options: slices.Concat([]string{optGain}, matchingOptions),
	Aliases: []string{"ndcgatk", "normalizeddcg", "normalizeddiscountedcumulativegain"},
	build: func(k int, opt Options) eval.Metric {
		gain, formula := ranking.Linear, "the grade"
		if opt.Gain == GainExponential {
			gain, formula = ranking.Exponential, "2^grade - 1"
		}
		return newRankingMetric("ndcg", k, opt.Ranking,
			"DCG / DCG of the best possible order, DCG = sum over ranks i (within k, if given) of gain / log2(i+1), gain = "+formula+"; 0 if no grade is above 0",
			"Whether the chunks stand in the order of their grades (Järvelin and Kekäläinen, 2002). A grade of 0 or less, and an id without a grade, gain nothing; the relevance level has no say.",
			func(l *ranking.List) float64 { return l.NDCG(k, gain) })
	},
}
