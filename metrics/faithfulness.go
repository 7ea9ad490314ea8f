package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

var faithfulnessFamily = Family{
	Name: "faithfulness", CutOff: NoCutOff, Judged: true, Options: []string{optNoClaims},
	build: func(_ int, opt Options) eval.Metric {
		return claimCheck{
			panel: opt.panel(), noClaims: opt.NoClaims, prompt: "faithfulness/verdict", labels: judge.FaithfulnessLabels(),
			text: func(s *eval.Sample) string { return s.Response },
			info: eval.Info{
				Name: "faithfulness", Version: 1, Judged: true,
				Needs:   []eval.Field{eval.FieldResponse, eval.FieldRetrievedContexts},
				Calls:   "2: split into claims, one verdict for each claim",
				Formula: "claims with verdict supported / claims asked",
				Doc:     "How much of what the response claims is supported by the retrieved contexts. A low score means that the system makes things up, or uses knowledge that was not retrieved; whether the contexts are right is not its matter. A response without claims (\"I don't know\") is undefined unless no_claims says otherwise; one that says nothing, or only gives the question back, makes none and needs no call. Where nothing was retrieved it is 0.",
			},
		}
	},
}
