package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var mrrFamily = Family{
	Name: "mrr", CutOff: OptionalCutOff, Options: matchingOptions,
	Aliases: []string{"rr", "reciprank", "reciprocalrank", "meanreciprocalrank", "mrratk"},
	build: func(k int, opt Options) eval.Metric {
		return newRankingMetric("mrr", k, opt.Ranking,
			"1 / rank of the first relevant id (within k, if given); 0 if there is none",
			"How far down the first relevant chunk stands. A sample's value is its reciprocal rank; the mean over samples is the MRR (Voorhees, TREC-8, 1999).",
			func(l *ranking.List) float64 { return l.ReciprocalRank(k) })
	},
}
