package metrics

import "github.com/ragjudge/ragjudge/eval"

var precisionFamily = Family{
	Name: "precision", CutOff: NeedsCutOff, Aliases: []string{"p", "prec", "precisionatk"},
	build: func(k int, _ Options) eval.Metric {
		return newRankingMetric("precision", k,
			"relevant ids within k / ids returned within k; 0 if nothing was returned",
			"How much of what was retrieved is relevant. The denominator is what was returned, not k: a system that returns three right chunks is not marked down for not returning five.",
			func(r ranking) float64 { return precisionAt(r, k) })
	},
}

func precisionAt(r ranking, k int) float64 { return ratio(r.hits(k), len(r.top(k))) }
