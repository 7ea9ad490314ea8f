package metrics

import "github.com/ragjudge/ragjudge/eval"

var responsePrecisionFamily = Family{
	Name: "response_precision", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRAGChecker},
	Aliases: []string{"claimprecision", "overallprecision"},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name:    "response_precision",
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference},
			Formula: "claims of the response that the reference entails / claims asked",
			Doc:     "How much of what the response claims is right, as the reference answer knows it. A claim that the reference contradicts and one of which it does not speak both count against it; the detail tells them apart. factual_correctness makes one number of this and response_recall.",
		}, responseMatch, claimReport.precision, "")
	},
}

var responseRecallFamily = Family{
	Name: "response_recall", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRAGChecker},
	Aliases: []string{"responseclaimrecall", "overallrecall"},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name:    "response_recall",
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference},
			Formula: "claims of the reference that the response entails / claims asked",
			Doc:     "How much of the reference answer the response gives. It is not claim_recall, which asks how much of it was retrieved. A response that says nothing, or only gives the question back, gives none of it and needs no call for that.",
		}, referenceMatch, claimReport.recall, "")
	},
}

var responseF1Family = Family{
	Name: "response_f1", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRAGChecker},
	Aliases: []string{"claimf1", "overallf1"},
	build: func(_ int, opt Options) eval.Metric {
		return newClaimMetric(opt, eval.Info{
			Name:    "response_f1",
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference},
			Formula: "2 P R / (P + R) of response_precision P and response_recall R; 0 if both are 0",
			Doc:     "How right and how complete the response is in one number. What is wrong is counted among the claims of the response, what is missing among those of the reference; the two are never mixed.",
		}, responseMatch|referenceMatch, claimReport.f1, "")
	},
}
