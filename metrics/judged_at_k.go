package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var judgedFamily = Family{
	Name: "judged", CutOff: NeedsCutOff, Aliases: []string{"judgedatk"}, Options: rankingOptions,
	build: func(k int, opt Options) eval.Metric {
		return newRankingMetric("judged", k, opt.Ranking,
			"ids within k that have a grade / ids returned within k; undefined if nothing was returned",
			"How much of what was retrieved was ever judged. Where it is low, an id counts as wrong because nobody looked at it, and the other metrics over ids say little.",
			func(l *ranking.List) float64 { return l.Judged(k) })
	},
}
