package metrics

import "github.com/ragjudge/ragjudge/eval"

var factualCorrectnessFamily = Family{
	Name: "factual_correctness", CutOff: NoCutOff, Judged: true,
	Options: append([]string{optMode, optBeta}, claimOptions...),
	Modes:   []Mode{ModeF1, ModePrecision, ModeRecall}, Compats: []Compat{CompatRagas, CompatRAGChecker},
	Aliases: []string{"factualaccuracy"},
	build: func(_ int, opt Options) eval.Metric {
		info := eval.Info{
			Name:  "factual_correctness",
			Needs: []eval.Field{eval.FieldResponse, eval.FieldReference},
			Doc:   "How far the response agrees with the reference answer, claim by claim. P is the share of the response's claims that the reference entails: what is wrong or made up lowers it. R is the share of the reference's claims that the response entails: what is missing lowers it. Each is counted among the claims of its own side, so that one error never passes for the other. mode = \"precision\" or \"recall\" gives the one alone and spares the calls of the other; beta above 1 makes R count more.",
		}
		p, value := responseMatch|referenceMatch, func(r claimReport) float64 { return r.fBeta(opt.Beta) }
		info.Formula = "(1 + beta^2) P R / (beta^2 P + R); 0 if both are 0"
		switch opt.Mode {
		case ModePrecision:
			info.Formula, p, value = "P: claims of the response that the reference entails / claims asked", responseMatch, claimReport.precision
		case ModeRecall:
			info.Formula, p, value = "R: claims of the reference that the response entails / claims asked", referenceMatch, claimReport.recall
		}
		if opt.Compat != CompatRagas {
			return newClaimMetric(opt, info, p, value, "")
		}
		if opt.Mode == ModeRecall { // Ragas counts what is right on the other side
			p |= responseMatch
		}
		info.Formula = "of TP and FP among the response's claims and FN among the reference's: P = TP / (TP + FP), R = TP / (TP + FN), rounded to two places; 0 where there are no claims"
		m := newClaimMetric(opt, info, p, func(r claimReport) float64 { return ragasFactual(r, opt.Mode, opt.Beta) }, "")
		m.vacuous = true
		return m
	},
}

// fBeta is the F score of both directions.
func (r claimReport) fBeta(beta float64) float64 { return fScore(r.precision(), r.recall(), beta) }

// f1 is fBeta with equal weights.
func (r claimReport) f1() float64 { return r.fBeta(1) }
