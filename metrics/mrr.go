package metrics

import "github.com/ragjudge/ragjudge/eval"

var mrrFamily = Family{
	Name: "mrr", CutOff: OptionalCutOff,
	Aliases: []string{"rr", "reciprank", "reciprocalrank", "meanreciprocalrank", "mrratk"},
	build: func(k int, _ Options) eval.Metric {
		return newRankingMetric("mrr", k,
			"1 / rank of the first relevant id (within k, if given); 0 if there is none",
			"How far down the first relevant chunk stands. A sample's value is its reciprocal rank; the mean over samples is the MRR (Voorhees, TREC-8, 1999).",
			func(r ranking) float64 {
				for i, id := range r.top(k) {
					if r.isRelevant(id) {
						return 1 / float64(i+1)
					}
				}
				return 0
			})
	},
}
