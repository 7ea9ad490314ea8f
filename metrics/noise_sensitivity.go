package metrics

import "github.com/ragjudge/ragjudge/eval"

var relevantNoiseFamily = Family{
	Name: "noise_sensitivity_relevant", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRagas, CompatRAGChecker},
	Aliases: []string{"noisesensitivity", "noisesensitivityinrelevant", "relevantnoisesensitivity"},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name: "noise_sensitivity_relevant", LowerIsBetter: true,
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference, eval.FieldRetrievedContexts},
			Formula: "claims of the response that the reference does not entail and a relevant chunk does / claims asked; a chunk is relevant that entails a claim of the reference",
			Doc:     "How much of the response is wrong because the system took it from chunks that also hold what was right: noise inside useful chunks. Lower is better. A wrong claim that a relevant and an irrelevant chunk entail counts here and not for noise_sensitivity_irrelevant. Where nothing was retrieved it is 0.",
		}, responseChunks|referenceChunks|responseMatch, claimReport.relevantNoise, "").emptyIs(eval.Value(0).Because(reasonNoContexts))
	},
}

var irrelevantNoiseFamily = Family{
	Name: "noise_sensitivity_irrelevant", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRagas, CompatRAGChecker},
	Aliases: []string{"noisesensitivityinirrelevant", "irrelevantnoisesensitivity"},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name: "noise_sensitivity_irrelevant", LowerIsBetter: true,
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference, eval.FieldRetrievedContexts},
			Formula: "claims of the response that the reference does not entail and irrelevant chunks alone do / claims asked; a chunk is relevant that entails a claim of the reference",
			Doc:     "How much of the response is wrong because the system took it from chunks that hold nothing of the right answer. Lower is better. Where nothing was retrieved it is 0.",
		}, responseChunks|referenceChunks|responseMatch, claimReport.irrelevantNoise, "").emptyIs(eval.Value(0).Because(reasonNoContexts))
	},
}
