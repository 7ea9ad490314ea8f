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
	// ExitGateFailed: a mean is below its minimum.
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
	// Fail: the mean is below the minimum.
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
// A gate on a metric that the summary lacks, a minimum that is not finite and a
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
	r := GateResult{
		Metric: g.Metric, Value: m.Mean, CI95: m.CI95, Min: g.Min,
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
	case r.Min != nil && *r.Value < *r.Min:
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

// figures tells the mean, its interval and how it stands to the minimum.
func (r *GateResult) figures() string {
	if r.Value == nil {
		if r.Min == nil {
			return "there is no mean and no interval, and the gate sets no minimum"
		}
		return fmt.Sprintf("there is no mean and no interval to hold against the minimum of %s", number(*r.Min))
	}
	interval := "no 95 % interval"
	if r.CI95 != nil {
		interval = fmt.Sprintf("95 %% interval %s to %s", fixed(r.CI95.Lo), fixed(r.CI95.Hi))
	}
	counts := fmt.Sprintf("%s of %s rows scored", commas(r.Scored), commas(r.Rows))
	if r.Min == nil {
		return fmt.Sprintf("mean %s (%s, %s), no minimum is set", fixed(*r.Value), interval, counts)
	}
	relation := "is at least"
	if *r.Value < *r.Min {
		relation = "is below"
	}
	verb := ""
	if r.Outcome == PartialRun {
		verb = " so far"
	}
	return fmt.Sprintf("mean%s %s (%s, %s) %s the minimum of %s", verb, apart(*r.Value, *r.Min), interval, counts, relation, number(*r.Min))
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
