package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var recallFamily = Family{
	Name: "recall", CutOff: NeedsCutOff, Aliases: []string{"r", "recallatk"}, Options: matchingOptions,
	build: func(k int, opt Options) eval.Metric {
		o := opt.Ranking
		m := newRankingMetric("recall", k, o,
			"relevant ids within k / all relevant ids; "+o.choose("1 with flag vacuous if there is none", "0 if there is none"),
			"How much of what is relevant was retrieved.",
			func(l *ranking.List) float64 { return l.Recall(k) })
		m.vacuous = true
		return m
	},
}
