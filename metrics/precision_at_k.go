package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var precisionFamily = Family{
	Name: "precision", CutOff: NeedsCutOff, Aliases: []string{"p", "prec", "precisionatk"}, Options: matchingOptions,
	build: func(k int, opt Options) eval.Metric {
		o := opt.Ranking
		return newRankingMetric("precision", k, o,
			o.choose("relevant ids within k / ids returned within k; 0 if nothing was returned", "relevant ids within k / k"),
			"How much of what was retrieved is relevant."+o.choose(
				" The denominator is what was returned, not k: a system that returns three right chunks is not marked down for not returning five.",
				" The denominator is k, however little was returned."),
			func(l *ranking.List) float64 { return l.Precision(k) })
	},
}
