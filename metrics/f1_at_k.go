package metrics

import "github.com/ragjudge/ragjudge/eval"

var f1Family = Family{
	Name: "f1", CutOff: NeedsCutOff, Aliases: []string{"f1score", "fscore", "f1atk"},
	build: func(k int, _ Options) eval.Metric {
		return newRankingMetric("f1", k,
			"2 x precision@k x recall@k / (precision@k + recall@k); 0 if both are 0",
			"The harmonic mean of precision@k and recall@k: high only if both are.",
			func(r ranking) float64 {
				p, c := precisionAt(r, k), recallAt(r, k)
				if p+c == 0 {
					return 0
				}
				return 2 * p * c / (p + c)
			})
	},
}
