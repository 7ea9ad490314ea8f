package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/report"
	"github.com/ragjudge/ragjudge/run"
)

// stopReason gives the error that ended an execution before its end the exit
// code and the hint for it; nil if the execution went through.
func (x *scoring) stopReason(ctx context.Context, stats run.Stats, err error) error {
	resume := "the same command resumes the run; what is finished is kept"
	var coded *exitError
	e := llm.AsError(err)
	switch {
	case errors.As(err, &coded):
		return err
	case e != nil && e.Kind == llm.Fatal:
		return &exitError{code: exitJudge, err: fmt.Errorf("the judge is unusable: %w", err), hint: join(e.Hint, resume)}
	case e != nil && e.Kind.StopsRun():
		return &exitError{code: exitStopped, err: fmt.Errorf("stopped: %w", err), hint: join(e.Hint, resume)}
	case ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)):
		if !stats.Drained && stats.Abandoned == 0 {
			return nil // the signal came when everything was done
		}
		return &exitError{code: exitInterrupted, err: errors.New("interrupted"), hint: resume}
	case err != nil && isInput(err):
		return inputError(err)
	case err != nil:
		return &exitError{code: exitInternal, err: err, hint: resume}
	}
	if x.chain != nil && x.chain.budget != nil {
		if n := x.chain.budget.SampleRefusals(); n > 0 {
			return &exitError{code: exitStopped, err: fmt.Errorf("stopped: %d calls were not made, because their samples had spent what one sample may (limits.max_cost_per_sample)", n),
				hint: "their samples have no score and stay to be done; raise the bound and start the same command again"}
		}
	}
	return nil
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}

// outcome is the word for how an execution ended.
func outcome(stop error) string {
	var e *exitError
	switch {
	case stop == nil:
		return "done"
	case !errors.As(stop, &e):
		return "error"
	}
	switch e.code {
	case exitInterrupted:
		return "interrupted"
	case exitStopped:
		return "stopped"
	case exitJudge:
		return "judge_unusable"
	}
	return "error"
}

// verdict gives the exit code of a run that went through: the gates, and
// where none stands guard, a judge that left a metric without any score.
func verdict(sum *report.Summary) error {
	if !sum.Complete {
		return &exitError{code: exitInternal, err: fmt.Errorf("%d of %d rows have a result, and nothing says why the others have none: a fault of ragjudge; please report it", sum.RowsDone, *sum.Rows)}
	}
	var bad []string
	for _, g := range sum.Gates {
		if g.Outcome != report.Pass {
			bad = append(bad, g.Sentence)
		}
	}
	switch code := report.ExitCode(sum.Gates); code {
	case report.ExitPass:
	case report.ExitLowCoverage:
		return &exitError{code: exitCoverage, err: errors.New("too few samples have a score: " + strings.Join(bad, " "))}
	default:
		return &exitError{code: code, err: errors.New("a gate failed: " + strings.Join(bad, " "))}
	}
	for _, m := range sum.Metrics {
		lost := m.Failed + m.Unscored
		hint := "the summary lists the reasons; the same command tries failed rows again"
		switch {
		case m.Failed > 0:
		case m.Unscored > 0:
			hint = "the summary lists the reasons; with --retry unscored the judge is asked again"
		default:
			hint = "the summary lists the reasons"
		}
		switch {
		case m.Judged && m.Scored == 0 && lost+m.Undefined > 0:
			return &exitError{code: exitCoverage, hint: hint, err: fmt.Errorf("%s has no score at all: %d samples failed, %d are unscored, %d are undefined",
				m.Metric, m.Failed, m.Unscored, m.Undefined)}
		case float64(lost) > mostLost*float64(m.Rows) && !gated(sum, m.Metric):
			return &exitError{code: exitCoverage, hint: hint + "; a gate with a min_coverage of its own sets another bound",
				err: fmt.Errorf("%s has no score for %d of %d samples: %d failed, %d are unscored", m.Metric, lost, m.Rows, m.Failed, m.Unscored)}
		}
	}
	return nil
}

// mostLost is the share of samples that may fail or be unscored where no gate
// of the metric says how many: with more, the mean is that of another dataset.
const mostLost = 0.2

func gated(sum *report.Summary, metric string) bool {
	return slices.ContainsFunc(sum.Gates, func(g report.GateResult) bool { return g.Metric == metric })
}
