package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var rPrecisionFamily = Family{
	Name: "r_precision", CutOff: NoCutOff, Aliases: []string{"rprec"}, Options: matchingOptions,
	build: func(_ int, opt Options) eval.Metric {
		return newRankingMetric("r_precision", 0, opt.Ranking,
			"relevant ids within the first R / R, R = the number of relevant ids; 0 if R is 0",
			"Precision at the rank at which a perfect list would have found everything.",
			(*ranking.List).RPrecision)
	},
}
