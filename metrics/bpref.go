package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

var bprefFamily = Family{
	Name: "bpref", CutOff: NoCutOff, Aliases: []string{"binarypreference"}, Options: rankingOptions,
	build: func(_ int, opt Options) eval.Metric {
		return newRankingMetric("bpref", 0, opt.Ranking,
			"mean over the R relevant ids of 1 - min(n, R) / min(N, R), n = judged ids before it that are not relevant, N = all of them; 0 for an id that was not retrieved, and if R is 0",
			"Whether relevant chunks stand before those that were judged not to be (Buckley and Voorhees, 2004). Ids without a judgement are passed over, so that it holds where few were judged; it needs judgements of what is not relevant.",
			(*ranking.List).BPref)
	},
}
