package report

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// DefaultMinCoverage is the coverage that a gate asks for if it names none.
const DefaultMinCoverage = 0.8

// Exit codes of a command that evaluates gates.
const (
	// ExitPass: every gate passed, or there is none.
	ExitPass = 0
	// ExitGateFailed: a mean is below its minimum, or above its maximum.
	ExitGateFailed = 3
	// ExitLowCoverage: too many samples have no score to judge a gate at all.
	ExitLowCoverage = 4
)

// Gate is a condition on one metric.
type Gate struct {
	// Metric is the canonical name of the metric.
	Metric string
	// Min is the least mean that passes; nil for a gate on coverage alone. The
	// mean itself is compared, not its interval, and a mean equal to Min passes.
	Min *float64
	// Max is the highest mean that passes, for a metric of which less is better;
	// nil for none. A mean equal to Max passes.
	Max *float64
	// MinCoverage is the least share of rows, 0 to 1, that must be scored for
	// the mean to count; nil for [DefaultMinCoverage].
	MinCoverage *float64
}

// Outcome is what became of a gate.
type Outcome string

// The outcomes of a gate, in the order in which they are looked at.
const (
	// PartialRun: the run isn't complete, so the gate can't pass.
	PartialRun Outcome = "partial_run"
	// LowCoverage: too few rows are scored, or none.
	LowCoverage Outcome = "low_coverage"
	// Fail: the mean is below the minimum or above the maximum.
	Fail Outcome = "fail"
	// Pass: the coverage and the mean suffice.
	Pass Outcome = "pass"
)

// GateResult is a gate with what it was held against.
type GateResult struct {
	Metric  string  `json:"metric"`
	Outcome Outcome `json:"outcome"`
	// Value is the mean; nil if nothing was scored.
	Value *float64 `json:"value"`
	// CI95 is the interval of the mean; it informs and decides nothing.
	CI95 *Interval `json:"ci95"`
	// Min is the threshold for the mean; nil if the gate has none.
	Min *float64 `json:"min"`
	// Max is the bound above; nil if the gate has none.
	Max *float64 `json:"max,omitempty"`
	// Coverage is Scored / Rows; nil if there are no rows.
	Coverage *float64 `json:"coverage"`
	// MinCoverage is the threshold for the coverage.
	MinCoverage float64 `json:"min_coverage"`
	Scored      int     `json:"scored"`
	Rows        int     `json:"rows"`
	// Sentence says all of this in one sentence, with its full stop and without a
	// line break.
	Sentence string `json:"sentence"`
}

// Evaluate holds a summary against gates and returns one result per gate, in
// their order. A run that isn't complete is looked at first, then the coverage,
// then the mean: a mean over too few rows is no evidence either way.
//
// A gate on a metric that the summary lacks, a bound that is not finite and a
// coverage outside 0..1 are errors, all told at once; there are no results then.
func Evaluate(s *Summary, gates []Gate) ([]GateResult, error) {
	results := make([]GateResult, 0, len(gates))
	var problems []error
	for _, g := range gates {
		r, err := evaluate(s, g)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		results = append(results, r)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return results, nil
}

func evaluate(s *Summary, g Gate) (GateResult, error) {
	m := s.Metrics.Get(g.Metric)
	if m == nil {
		return GateResult{}, fmt.Errorf("evaluate gate %q: the run has no such metric (it has %s)", g.Metric, metricNames(s.Metrics))
	}
	if g.Min != nil && (math.IsNaN(*g.Min) || math.IsInf(*g.Min, 0)) {
		return GateResult{}, fmt.Errorf("evaluate gate %q: min is %v and must be a number", g.Metric, *g.Min)
	}
	if g.Max != nil && (math.IsNaN(*g.Max) || math.IsInf(*g.Max, 0)) {
		return GateResult{}, fmt.Errorf("evaluate gate %q: max is %v and must be a number", g.Metric, *g.Max)
	}
	r := GateResult{
		Metric: g.Metric, Value: m.Mean, CI95: m.CI95, Min: g.Min, Max: g.Max,
		Coverage: m.Coverage, MinCoverage: DefaultMinCoverage, Scored: m.Scored, Rows: m.Rows,
	}
	if g.MinCoverage != nil {
		r.MinCoverage = *g.MinCoverage
	}
	if !(r.MinCoverage >= 0 && r.MinCoverage <= 1) {
		return GateResult{}, fmt.Errorf("evaluate gate %q: min_coverage is %v and must be from 0 to 1", g.Metric, r.MinCoverage)
	}
	switch {
	case !s.Complete:
		r.Outcome = PartialRun
	case r.Value == nil || r.Coverage == nil || *r.Coverage < r.MinCoverage:
		r.Outcome = LowCoverage
	case r.Min != nil && *r.Value < *r.Min, r.Max != nil && *r.Value > *r.Max:
		r.Outcome = Fail
	default:
		r.Outcome = Pass
	}
	r.Sentence = r.sentence(s)
	return r, nil
}

// sentence names metric, value, interval and thresholds, and the outcome.
func (r *GateResult) sentence(s *Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", r.Metric)
	switch r.Outcome {
	case PartialRun:
		fmt.Fprintf(&b, "the run is not complete (%s), so the gate can't pass; ", rowsDone(s))
	case LowCoverage:
		if r.Value == nil {
			fmt.Fprintf(&b, "none of %s rows is scored, and the gate asks for a coverage of %s; ", commas(r.Rows), number(r.MinCoverage))
			break
		}
		fmt.Fprintf(&b, "coverage %s (%s of %s rows scored) is below the minimum of %s; ",
			apart(*r.Coverage, r.MinCoverage), commas(r.Scored), commas(r.Rows), number(r.MinCoverage))
	}
	b.WriteString(r.figures() + ".")
	return b.String()
}

// figures tells the mean, its interval and how it stands to its bounds.
func (r *GateResult) figures() string {
	bounds := r.bounds()
	if r.Value == nil {
		if len(bounds) == 0 {
			return "there is no mean and no interval, and the gate sets no minimum"
		}
		names := make([]string, len(bounds))
		for i, b := range bounds {
			names[i] = fmt.Sprintf("the %s of %s", b.name, number(b.at))
		}
		return "there is no mean and no interval to hold against " + strings.Join(names, " and ")
	}
	interval := "no 95 % interval"
	if r.CI95 != nil {
		interval = fmt.Sprintf("95 %% interval %s to %s", fixed(r.CI95.Lo), fixed(r.CI95.Hi))
	}
	counts := fmt.Sprintf("%s of %s rows scored", commas(r.Scored), commas(r.Rows))
	if len(bounds) == 0 {
		return fmt.Sprintf("mean %s (%s, %s), no minimum is set", fixed(*r.Value), interval, counts)
	}
	verb := ""
	if r.Outcome == PartialRun {
		verb = " so far"
	}
	relations := make([]string, len(bounds))
	for i, b := range bounds {
		relations[i] = fmt.Sprintf("%s the %s of %s", b.relation, b.name, number(b.at))
	}
	return fmt.Sprintf("mean%s %s (%s, %s) %s", verb, apart(*r.Value, bounds[0].at), interval, counts, strings.Join(relations, " and "))
}

// bound is a threshold of a gate, and how the mean stands to it.
type bound struct {
	name, relation string
	at             float64
}

func (r *GateResult) bounds() []bound {
	var list []bound
	if r.Min != nil {
		b := bound{"minimum", "is at least", *r.Min}
		if r.Value != nil && *r.Value < *r.Min {
			b.relation = "is below"
		}
		list = append(list, b)
	}
	if r.Max != nil {
		b := bound{"maximum", "is at most", *r.Max}
		if r.Value != nil && *r.Value > *r.Max {
			b.relation = "is above"
		}
		list = append(list, b)
	}
	return list
}

// ExitCode returns the exit code for the results of the gates: [ExitPass],
// [ExitGateFailed] or [ExitLowCoverage]. Low coverage wins over a failed gate,
// because it says that the means can't be trusted either way. A partial run
// counts as low coverage: its missing rows have no score. A command that
// knows why the run stopped prefers the code for that.
func ExitCode(results []GateResult) int {
	exit := ExitPass
	for _, r := range results {
		switch r.Outcome {
		case Pass:
		case Fail:
			exit = max(exit, ExitGateFailed)
		default:
			exit = ExitLowCoverage
		}
	}
	return exit
}

// metricNames lists the metrics for an error message.
func metricNames(ms Metrics) string {
	if len(ms) == 0 {
		return "none"
	}
	names := make([]string, len(ms))
	for i, m := range ms {
		names[i] = m.Metric
	}
	return strings.Join(names, ", ")
}
