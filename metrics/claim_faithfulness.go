package metrics

import "github.com/ragjudge/ragjudge/eval"

var claimFaithfulnessFamily = Family{
	Name: "claim_faithfulness", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRAGChecker},
	Aliases: []string{},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name:    "claim_faithfulness",
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldRetrievedContexts},
			Formula: "claims of the response that a chunk entails by itself / claims asked",
			Doc:     "How much of what the response claims stands in a retrieved chunk. It differs from faithfulness in that each claim is held against each chunk by itself: a claim that only follows from two chunks together is supported there and not here. Use this one beside hallucination and self_knowledge, with which it makes 1. Where nothing was retrieved it is 0.",
		}, responseChunks, claimReport.faithfulness, "").emptyIs(eval.Value(0).Because(reasonNoContexts))
	},
}
