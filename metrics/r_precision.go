package metrics

import "github.com/ragjudge/ragjudge/eval"

var rPrecisionFamily = Family{
	Name: "r_precision", CutOff: NoCutOff, Aliases: []string{"rprec"},
	build: func(_ int, _ Options) eval.Metric {
		return newRankingMetric("r_precision", 0,
			"relevant ids within the first R / R, R = the number of relevant ids; 0 if R is 0",
			"Precision at the rank at which a perfect list would have found everything.",
			func(r ranking) float64 {
				if r.relevant == 0 {
					return 0
				}
				return ratio(r.hits(r.relevant), r.relevant)
			})
	},
}
