package metrics

import "github.com/ragjudge/ragjudge/eval"

var contextUtilizationFamily = Family{
	Name: "context_utilization", CutOff: NoCutOff, Judged: true, Options: claimOptions, Compats: []Compat{CompatRagas, CompatRAGChecker},
	Aliases: []string{"contextutilisation"},
	build: func(_ int, opt Options) eval.Metric {
		if opt.Compat == CompatRagas {
			return contextPrecision{panel: opt.panel(), name: "context_utilization", compat: CompatRagas, byResponse: true}
		}
		return newClaimMetric(opt, eval.Info{
			Name:    "context_utilization",
			Needs:   []eval.Field{eval.FieldResponse, eval.FieldReference, eval.FieldRetrievedContexts},
			Formula: "claims of the reference that a chunk and the response entail / claims of the reference that a chunk entails",
			Doc:     "How much of what was retrieved and right the response uses. A low value means that the system overlooks what it was given; what retrieval missed is not its matter. Undefined where no claim of the reference was retrieved, since then there was nothing to use.",
		}, referenceChunks|referenceMatch, claimReport.contextUtilization, reasonNothingRecalled).
			emptyIs(eval.Without(eval.Undefined, "%s", reasonNoContexts))
	},
}
