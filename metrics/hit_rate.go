package metrics

import "github.com/ragjudge/ragjudge/eval"

var hitRateFamily = Family{
	Name: "hit_rate", CutOff: NeedsCutOff, Aliases: []string{"hit", "hits", "hitratio", "success", "hitrateatk"},
	build: func(k int, _ Options) eval.Metric {
		return newRankingMetric("hit_rate", k,
			"1 if any relevant id stands within k, else 0",
			"Whether anything relevant was retrieved at all.",
			func(r ranking) float64 { return min(1, float64(r.hits(k))) })
	},
}
