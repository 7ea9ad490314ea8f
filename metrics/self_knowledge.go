package metrics

import "github.com/ragjudge/ragjudge/eval"

var selfKnowledgeFamily = Family{
	Name: "self_knowledge", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRAGChecker},
	Aliases: []string{},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name: "self_knowledge", LowerIsBetter: true,
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference, eval.FieldRetrievedContexts},
			Formula: "claims of the response that no chunk entails and the reference does / claims asked",
			Doc:     "How much of the response is right without having been retrieved: what the model knew by itself. Where answers are to rest on the documents a low value is good. It is high where retrieval misses what the model can make up for; the other claims that no chunk entails are hallucination. Where nothing was retrieved every claim is one or the other.",
		}, responseChunks|responseMatch, claimReport.selfKnowledge, "")
	},
}
