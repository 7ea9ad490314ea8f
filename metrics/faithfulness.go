package metrics

import (
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

var faithfulnessFamily = Family{
	Name: "faithfulness", CutOff: NoCutOff, Judged: true, Options: []string{optNoClaims, optUndecided, optCompat},
	Compats:  []Compat{CompatRagas, CompatDeepEval, CompatRAGChecker},
	noClaims: map[Compat]NoClaims{CompatDeepEval: NoClaimsOne},
	build: func(_ int, opt Options) eval.Metric {
		if opt.Compat == CompatRAGChecker {
			return byTable(claimFaithfulnessFamily, "faithfulness", opt)
		}
		m := claimCheck{
			panel: opt.panel(), noClaims: opt.NoClaims, prompt: "faithfulness/verdict", labels: judge.FaithfulnessLabels(),
			text: func(s *eval.Sample) string { return s.Response },
			info: eval.Info{
				Name: "faithfulness", Version: 1, Judged: true,
				Needs:   []eval.Field{eval.FieldResponse, eval.FieldRetrievedContexts},
				Calls:   "2: split into claims, one verdict for each claim",
				Asks:    []string{askResponseClaims, "claims of the response against all chunks together: supported"},
				Note:    compatNote(opt.Compat),
				Formula: "claims with verdict supported / claims asked",
				Doc:     "How much of what the response claims is supported by the retrieved contexts. A low score means that the system makes things up, or uses knowledge that was not retrieved; whether the contexts are right is not its matter. A response without claims (\"I don't know\") is undefined unless no_claims says otherwise; one that says nothing, or only gives the question back, makes none and needs no call. Where nothing was retrieved it is 0.",
			},
		}
		if opt.Compat == CompatDeepEval { // what no chunk speaks of counts as faithful
			m.counting, m.positive = []string{judge.Supported, judge.NotFound, judge.Contradicted}, 2
			m.info.Formula = "claims that the contexts don't contradict / claims asked; 1 where there are no claims"
		}
		return m
	},
}

// byTable is a metric of the table under the name of one that has its own way to
// ask.
func byTable(f Family, name string, opt Options) eval.Metric {
	m := f.build(0, opt).(claimMetric)
	m.info.Name = name
	return m
}
