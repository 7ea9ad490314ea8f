package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var hitRateFamily = Family{
	Name: "hit_rate", CutOff: NeedsCutOff, Aliases: []string{"hit", "hits", "hitratio", "success", "hitrateatk"}, Options: matchingOptions,
	build: func(k int, opt Options) eval.Metric {
		return newRankingMetric("hit_rate", k, opt.Ranking,
			"1 if any relevant id stands within k, else 0",
			"Whether anything relevant was retrieved at all.",
			func(l *ranking.List) float64 { return l.Success(k) })
	},
}
