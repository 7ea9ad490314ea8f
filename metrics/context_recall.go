package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

var contextRecallFamily = Family{
	Name: "context_recall", CutOff: NoCutOff, Judged: true, Options: []string{optNoClaims, optUndecided, optCompat},
	Aliases:  []string{"contextualrecall", "llmcontextrecall"},
	Compats:  []Compat{CompatRagas, CompatDeepEval, CompatRAGChecker},
	noClaims: map[Compat]NoClaims{CompatDeepEval: NoClaimsZero},
	build: func(_ int, opt Options) eval.Metric {
		if opt.Compat == CompatRAGChecker {
			return byTable(claimRecallFamily, "context_recall", opt)
		}
		return claimCheck{
			panel: opt.panel(), noClaims: opt.NoClaims, prompt: "context_recall/verdict", labels: judge.RecallLabels(),
			text: func(s *eval.Sample) string { return s.Reference },
			info: eval.Info{
				Name: "context_recall", Version: 1, Judged: true,
				Needs:   []eval.Field{eval.FieldReference, eval.FieldRetrievedContexts},
				Calls:   "2: split the reference into claims, one verdict for each claim",
				Asks:    []string{askReferenceClaims, "claims of the reference against all chunks together: attributable"},
				Note:    compatNote(opt.Compat),
				Formula: "claims of the reference with verdict attributable / claims asked",
				Doc:     "How much of the reference answer can be found in the retrieved contexts. A low score means that retrieval misses what is needed; the response plays no part. A reference without claims is undefined unless no_claims says otherwise. Where nothing was retrieved it is 0.",
			},
		}
	},
}
