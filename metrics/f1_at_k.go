package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var f1Family = Family{
	Name: "f1", CutOff: NeedsCutOff, Aliases: []string{"f1score", "fscore", "f1atk"}, Options: matchingOptions,
	build: func(k int, opt Options) eval.Metric {
		return newRankingMetric("f1", k, opt.Ranking,
			"2 x precision@k x recall@k / (precision@k + recall@k); 0 if both are 0",
			"The harmonic mean of precision@k and recall@k: high only if both are.",
			func(l *ranking.List) float64 { return l.F1(k) })
	},
}
