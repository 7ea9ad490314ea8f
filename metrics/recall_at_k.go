package metrics

import "github.com/ragjudge/ragjudge/eval"

var recallFamily = Family{
	Name: "recall", CutOff: NeedsCutOff, Aliases: []string{"r", "recallatk"},
	build: func(k int, _ Options) eval.Metric {
		m := newRankingMetric("recall", k,
			"relevant ids within k / all relevant ids; 1 with flag vacuous if there is none",
			"How much of what is relevant was retrieved.",
			func(r ranking) float64 { return recallAt(r, k) })
		m.vacuous = true
		return m
	},
}

func recallAt(r ranking, k int) float64 {
	if r.relevant == 0 {
		return 1
	}
	return ratio(r.hits(k), r.relevant)
}
