package metrics

import "github.com/ragjudge/ragjudge/eval"

var claimRecallFamily = Family{
	Name: "claim_recall", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRAGChecker},
	Aliases: []string{},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name:    "claim_recall",
			Needs:   []eval.Field{eval.FieldReference, eval.FieldRetrievedContexts},
			Formula: "claims of the reference that a chunk entails by itself / claims asked",
			Doc:     "How much of the reference answer was retrieved, claim by claim and chunk by chunk. It differs from context_recall in that a claim must stand in one chunk. The response plays no part: for how much of the reference it holds see response_recall. Where nothing was retrieved it is 0.",
		}, referenceChunks, claimReport.claimRecall, "").emptyIs(eval.Value(0).Because(reasonNoContexts))
	},
}

var claimContextPrecisionFamily = Family{
	Name: "claim_context_precision", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRAGChecker},
	Aliases: []string{"ragcheckercontextprecision"},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name:    "claim_context_precision",
			Needs:   []eval.Field{eval.FieldReference, eval.FieldRetrievedContexts},
			Formula: "chunks that entail a claim of the reference / chunks retrieved",
			Doc:     "How many of the retrieved chunks hold something of the reference answer, whatever their order; for the order see context_precision. A blank chunk counts as one that holds nothing. Where nothing was retrieved it is 0.",
		}, referenceChunks, claimReport.contextPrecision, "").emptyIs(eval.Value(0).Because(reasonNoContexts))
	},
}
