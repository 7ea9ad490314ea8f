package metrics

import "github.com/ragjudge/ragjudge/eval"

var mapFamily = Family{
	Name: "map", CutOff: OptionalCutOff,
	Aliases: []string{"ap", "averageprecision", "meanaverageprecision", "mapatk"},
	build: func(k int, _ Options) eval.Metric {
		return newRankingMetric("map", k,
			"sum over the relevant ids within k of (relevant ids up to its rank / its rank), divided by min(k, all relevant ids); 0 if nothing is relevant",
			"Whether the relevant chunks stand before the others. A sample's value is its average precision; the mean over samples is the MAP. "+
				"The denominator min(k, R) lets a perfect list reach 1 when k is smaller than the number R of relevant ids, as the average precision at k of information retrieval contests does; trec_eval's map_cut divides by R. Without a cut-off the two are the same.",
			func(r ranking) float64 { return averagePrecision(r, k) })
	},
}

func averagePrecision(r ranking, k int) float64 {
	best := r.relevant
	if k > 0 {
		best = min(k, best)
	}
	if best == 0 {
		return 0
	}
	hits, sum := 0, 0.0
	for i, id := range r.top(k) {
		if r.isRelevant(id) {
			hits++
			sum += float64(hits) / float64(i+1)
		}
	}
	return sum / float64(best)
}
