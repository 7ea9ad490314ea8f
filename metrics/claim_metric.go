package metrics

import (
	"context"
	"fmt"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// reasonNothingRecalled: no chunk entails a claim of the reference, so that there
// was nothing to use.
const reasonNothingRecalled = "nothing_recalled"

// claimMetric is a metric over the table of claims and chunks.
type claimMetric struct {
	info     eval.Info
	panel    Panel
	noClaims NoClaims
	parts    parts
	value    func(claimReport) float64
	// lacks is the reason where the formula has no value though there are claims.
	lacks string
	// empty is the score of a sample for which nothing was retrieved; nil where
	// the formula holds all the same.
	empty *eval.Score
	// zero makes 0 of every sample without a value by formula or by claims, as
	// RAGChecker does.
	zero bool
	// vacuous makes value apply where a side has no claims, as Ragas does.
	vacuous bool
}

// tableDoc is what every metric over the table has in common.
const tableDoc = " One table of claims and chunks gives this and the metrics that share its calls; within it claim_faithfulness + hallucination + self_knowledge = 1, and 1 - response_precision = both noise sensitivities + hallucination. A side without claims (\"I don't know\") is undefined unless no_claims says otherwise."

// newClaimMetric makes a metric over parts of the table. The info lacks what
// follows from the parts; lacks is the reason of a sample without a value.
func newClaimMetric(opt Options, info eval.Info, p parts, value func(claimReport) float64, lacks string) claimMetric {
	info.Version, info.Judged, info.Asks = 1, true, p.asks()
	info.Calls = fmt.Sprintf("%d: %s", len(info.Asks), strings.Join(info.Asks, ", "))
	info.Doc += tableDoc
	m := claimMetric{info: info, panel: opt.panel(), noClaims: opt.NoClaims, parts: p, value: value, lacks: lacks}
	m.info.Note = compatNote(opt.Compat)
	if opt.Compat == CompatRAGChecker {
		m.zero = true
		if p&(responseChunks|referenceChunks) != 0 {
			m = m.emptyIs(eval.Value(0).Because(reasonNoContexts))
		}
	}
	return m
}

// emptyIs sets the score of a sample for which nothing was retrieved.
func (m claimMetric) emptyIs(score eval.Score) claimMetric {
	if m.empty == nil {
		m.empty = &score
	}
	return m
}

// compatNote says beside the figures of a metric that they are by a peer's
// formula.
func compatNote(c Compat) string {
	if c == "" {
		return ""
	}
	return fmt.Sprintf("by the formula of %s (compat = %q)", map[Compat]string{CompatRagas: "Ragas", CompatDeepEval: "DeepEval", CompatRAGChecker: "RAGChecker"}[c], string(c))
}

// claimOptions are the options of every metric over the table.
var claimOptions = []string{optNoClaims, optUndecided, optCompat}

// Info describes the metric.
func (m claimMetric) Info() eval.Info { return m.info }

// Score asks for the claims of the sides that it needs, and for the parts of the
// table.
func (m claimMetric) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.info), err
}

func (m claimMetric) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	if m.empty != nil && noContexts(s) {
		return *m.empty, nil
	}
	t := &claimTable{parts: m.parts, sample: s, metric: m.info.Name, silent: settled(s.UserInput, s.Response)}
	why, err := m.split(ctx, t)
	if err != nil {
		return unjudged(ctx, err, nil)
	}
	if why != "" && !m.vacuous {
		if m.zero {
			return eval.Value(0).Because(why).WithDetail(t.detail(nil, nil)), nil
		}
		return byPolicy(m.noClaims, why).WithDetail(t.detail(nil, nil)), nil
	}
	formula := t.formula(m.value, m.lacks)
	if m.zero {
		formula = t.formula(func(r claimReport) float64 { return zeroForNone(m.value(r)) }, m.lacks)
	}
	score, err := m.panel.verdicts(ctx, t.cells(), t.claims(), formula, t.ask)
	if err == nil && score.Status == eval.Scored {
		switch {
		case noContexts(s) && m.parts&(responseChunks|referenceChunks) != 0:
			score = score.Because(reasonNoContexts)
		case m.parts&referenceMatch != 0:
			score = score.Because(t.silent)
		}
	}
	return score, err
}

func zeroForNone(v float64) float64 {
	if v != v { // NaN
		return 0
	}
	return v
}

// claims are those that are asked about, for a reply that can't be used.
func (t *claimTable) claims() []string {
	if t.parts&referenceSide == 0 {
		return t.response
	}
	if t.parts&responseSide == 0 {
		return t.reference
	}
	return append(t.response[:len(t.response):len(t.response)], t.reference...)
}

// split fills in the claims of both sides, as far as they are needed. Why is the
// reason if a side that is needed makes none; the table then has no cells.
func (m claimMetric) split(ctx context.Context, t *claimTable) (why string, err error) {
	sides := []struct {
		needed parts
		name   string
		text   string
		into   *[]string
		why    string
	}{
		{responseSide, "response", t.sample.Response, &t.response, ""},
		{referenceSide, "reference", t.sample.Reference, &t.reference, ""},
	}
	if why := settled(t.sample.UserInput, t.sample.Reference); why != "" && t.parts&responseMatch != 0 && !m.vacuous {
		t.parts, t.response, t.reference = 0, []string{}, []string{}
		return reasonNoClaims + ": the reference: " + why, nil // there is nothing to hold the response against
	}
	errs := make([]error, len(sides))
	together(len(sides), func(i int) {
		side := &sides[i]
		*side.into = []string{}
		if t.parts&side.needed == 0 {
			return
		}
		if why := settled(t.sample.UserInput, side.text); why != "" {
			side.why = reasonNoClaims + ": " + why
			return
		}
		claims, err := m.panel.claims(ctx, judge.Ask{Metric: m.info.Name, Prompt: promptSplit, Text: side.text})
		if errs[i] = err; err == nil && len(claims) == 0 {
			side.why = reasonNoClaims + ": the " + side.name + " makes none"
		}
		if err == nil {
			*side.into = claims
		}
	})
	if err := worstOf(errs); err != nil {
		return "", err
	}
	if why = sides[0].why; why == "" {
		why = sides[1].why
	}
	if why != "" && !m.vacuous {
		t.parts = 0
	}
	return why, nil
}

// byPolicy is the score of a text without claims.
func byPolicy(p NoClaims, reason string) eval.Score {
	switch p {
	case NoClaimsOne:
		return eval.Value(1).Because(reason)
	case NoClaimsZero:
		return eval.Value(0).Because(reason)
	}
	return eval.Without(eval.Undefined, "%s", reason)
}
