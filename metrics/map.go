package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var mapFamily = Family{
	Name: "map", CutOff: OptionalCutOff, Options: matchingOptions,
	Aliases: []string{"ap", "averageprecision", "meanaverageprecision", "mapatk"},
	build: func(k int, opt Options) eval.Metric {
		o := opt.Ranking
		return newRankingMetric("map", k, o,
			"sum over the relevant ids within k of (relevant ids up to its rank / its rank), divided by "+
				o.choose("min(k, all relevant ids)", "all relevant ids")+"; 0 if nothing is relevant",
			"Whether the relevant chunks stand before the others. A sample's value is its average precision; the mean over samples is the MAP. "+o.choose(
				"The denominator min(k, R) lets a perfect list reach 1 when k is smaller than the number R of relevant ids, as the average precision at k of information retrieval contests does; trec_eval's map_cut divides by R.",
				"The denominator is the number R of relevant ids, so that a perfect list stays below 1 where k is smaller than R.")+
				" Without a cut-off the two are the same.",
			func(l *ranking.List) float64 { return l.AveragePrecision(k) })
	},
}
