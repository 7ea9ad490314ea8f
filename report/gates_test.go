package report_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/report"
)

// run is a complete summary with one metric.
func run(mean *float64, ci *report.Interval, scored, rows int) *report.Summary {
	m := report.Metric{Metric: "faithfulness", Mean: mean, CI95: ci, Scored: scored, Failed: rows - scored, Rows: rows}
	if rows > 0 {
		m.Coverage = ptr(float64(scored) / float64(rows))
	}
	return &report.Summary{Complete: true, Rows: &rows, RowsDone: rows, Metrics: report.Metrics{m}}
}

func TestGates(t *testing.T) {
	ci := &report.Interval{Lo: 0.81, Hi: 0.89}
	partial := run(ptr(0.99), ci, 60, 60)
	partial.Complete, partial.Rows = false, ptr(100)
	unknown := run(ptr(0.99), ci, 60, 60)
	unknown.Complete, unknown.Rows = false, nil
	for _, c := range []struct {
		name     string
		run      *report.Summary
		min, cov *float64
		want     report.Outcome
		exit     int
		sentence string
	}{
		{"above", run(ptr(0.9), ci, 58, 60), ptr(0.85), nil, report.Pass, 0,
			"faithfulness: mean 0.900 (95 % interval 0.810 to 0.890, 58 of 60 rows scored) is at least the minimum of 0.85."},
		{"equal", run(ptr(0.85), ci, 60, 60), ptr(0.85), nil, report.Pass, 0,
			"faithfulness: mean 0.850 (95 % interval 0.810 to 0.890, 60 of 60 rows scored) is at least the minimum of 0.85."},
		{"just below", run(ptr(0.84996), ci, 60, 60), ptr(0.85), nil, report.Fail, 3,
			"faithfulness: mean 0.84996 (95 % interval 0.810 to 0.890, 60 of 60 rows scored) is below the minimum of 0.85."},
		{"one ulp below", run(ptr(math.Nextafter(0.85, 0)), ci, 60, 60), ptr(0.85), nil, report.Fail, 3,
			"faithfulness: mean 0.8499999999999999 (95 % interval 0.810 to 0.890, 60 of 60 rows scored) is below the minimum of 0.85."},
		{"just above", run(ptr(0.85001), ci, 60, 60), ptr(0.85), nil, report.Pass, 0,
			"faithfulness: mean 0.85001 (95 % interval 0.810 to 0.890, 60 of 60 rows scored) is at least the minimum of 0.85."},
		{"the interval decides nothing", run(ptr(0.86), ci, 60, 60), ptr(0.85), nil, report.Pass, 0, ""},
		{"no interval", run(ptr(0.5), nil, 1, 1), ptr(0.85), nil, report.Fail, 3,
			"faithfulness: mean 0.500 (no 95 % interval, 1 of 1 rows scored) is below the minimum of 0.85."},
		{"default coverage", run(ptr(0.9), ci, 47, 60), ptr(0.85), nil, report.LowCoverage, 4,
			"faithfulness: coverage 0.783 (47 of 60 rows scored) is below the minimum of 0.8; mean 0.900 (95 % interval 0.810 to 0.890, 47 of 60 rows scored) is at least the minimum of 0.85."},
		{"coverage just there", run(ptr(0.9), ci, 48, 60), ptr(0.85), nil, report.Pass, 0, ""},
		{"coverage first", run(ptr(0.1), ci, 30, 60), ptr(0.85), nil, report.LowCoverage, 4, ""},
		{"coverage asked for", run(ptr(0.9), ci, 59, 60), ptr(0.85), ptr(1.0), report.LowCoverage, 4, ""},
		{"coverage narrowly missed", run(ptr(0.9), ci, 79999, 100000), nil, ptr(0.8), report.LowCoverage, 4,
			"faithfulness: coverage 0.79999 (79,999 of 100,000 rows scored) is below the minimum of 0.8; mean 0.900 (95 % interval 0.810 to 0.890, 79,999 of 100,000 rows scored), no minimum is set."},
		{"little coverage allowed", run(ptr(0.9), ci, 1, 60), ptr(0.85), ptr(0.0), report.Pass, 0, ""},
		{"nothing scored, none asked", run(nil, nil, 0, 60), nil, ptr(0.0), report.LowCoverage, 4,
			"faithfulness: none of 60 rows is scored, and the gate asks for a coverage of 0; there is no mean and no interval, and the gate sets no minimum."},
		{"nothing scored", run(nil, nil, 0, 60), ptr(0.85), nil, report.LowCoverage, 4,
			"faithfulness: none of 60 rows is scored, and the gate asks for a coverage of 0.8; there is no mean and no interval to hold against the minimum of 0.85."},
		{"no rows", run(nil, nil, 0, 0), ptr(0.85), nil, report.LowCoverage, 4, ""},
		{"partial", partial, ptr(0.85), nil, report.PartialRun, 4,
			"faithfulness: the run is not complete (60 of 100 rows done), so the gate can't pass; mean so far 0.990 (95 % interval 0.810 to 0.890, 60 of 60 rows scored) is at least the minimum of 0.85."},
		{"partial of unknown", unknown, ptr(0.85), nil, report.PartialRun, 4,
			"faithfulness: the run is not complete (60 rows done, of a number not known yet), so the gate can't pass; mean so far 0.990 (95 % interval 0.810 to 0.890, 60 of 60 rows scored) is at least the minimum of 0.85."},
	} {
		rs, err := report.Evaluate(c.run, []report.Gate{{Metric: "faithfulness", Min: c.min, MinCoverage: c.cov}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r := rs[0]
		if r.Outcome != c.want {
			t.Errorf("%s: outcome %s, want %s", c.name, r.Outcome, c.want)
		}
		if c.sentence != "" && r.Sentence != c.sentence {
			t.Errorf("%s: sentence\n %s\nwant\n %s", c.name, r.Sentence, c.sentence)
		}
		if exit := report.ExitCode(rs); exit != c.exit {
			t.Errorf("%s: exit %d, want %d", c.name, exit, c.exit)
		}
	}
}

func TestExitCodeLowCoverageWins(t *testing.T) {
	of := func(outcomes ...report.Outcome) int {
		var rs []report.GateResult
		for _, o := range outcomes {
			rs = append(rs, report.GateResult{Outcome: o})
		}
		return report.ExitCode(rs)
	}
	for _, c := range []struct{ got, want int }{
		{of(), 0},
		{of(report.Pass, report.Fail, report.Pass), 3},
		{of(report.LowCoverage, report.Fail), 4},
		{of(report.Fail, report.LowCoverage, report.Fail), 4},
		{of(report.Pass, report.PartialRun), 4},
		{of("something new"), 4},
	} {
		if c.got != c.want {
			t.Errorf("exit %d, want %d", c.got, c.want)
		}
	}
}

func TestGatesThatCannotBeEvaluated(t *testing.T) {
	rs, err := report.Evaluate(run(ptr(0.9), nil, 1, 1), []report.Gate{
		{Metric: "faithfulness", Min: ptr(0.5)},
		{Metric: "faithfulnes", Min: ptr(0.5)},
		{Metric: "faithfulness", Min: ptr(math.NaN())},
		{Metric: "faithfulness", MinCoverage: ptr(80.0)},
		{Metric: "faithfulness", MinCoverage: ptr(math.NaN())},
	})
	if err == nil || len(rs) != 0 {
		t.Fatalf("results %v, error %v", rs, err)
	}
	for _, want := range []string{`"faithfulnes": the run has no such metric (it has faithfulness)`, "min is NaN", "min_coverage is 80 and must be from 0 to 1", "min_coverage is NaN"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if rs, err := report.Evaluate(&report.Summary{}, nil); err != nil || rs == nil || len(rs) != 0 {
		t.Errorf("no gates: %v, %v", rs, err)
	}
}

var stated = regexp.MustCompile(`mean ([0-9.e+-]+) .* is (at least|below) the minimum of ([0-9.e+-]+)[.]$`)

// What a sentence prints is true of the printed figures.
func TestSentenceIsTrueAsPrinted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		threshold := rapid.Float64Range(0, 1).Draw(rt, "min")
		v := rapid.OneOf(rapid.Float64Range(0, 1),
			rapid.Map(rapid.IntRange(-50, 50), func(n int) float64 { return threshold + float64(n)*1e-17 }),
			rapid.Map(rapid.IntRange(-50, 50), func(n int) float64 { return threshold + float64(n)*1e-5 })).Draw(rt, "mean")
		rs, err := report.Evaluate(run(&v, nil, 1, 1), []report.Gate{{Metric: "faithfulness", Min: &threshold}})
		if err != nil {
			rt.Fatal(err)
		}
		m := stated.FindStringSubmatch(rs[0].Sentence)
		if m == nil {
			rt.Fatalf("can't read %q", rs[0].Sentence)
		}
		value, _ := strconv.ParseFloat(m[1], 64)
		limit, _ := strconv.ParseFloat(m[3], 64)
		if pass := rs[0].Outcome == report.Pass; pass != (v >= threshold) || (value < limit) != (m[2] == "below") || pass == (m[2] == "below") {
			rt.Fatalf("%v against %v: %s", v, threshold, rs[0].Sentence)
		}
	})
}

// Gates see the counts that the summarizer made.
func TestGateOverSummarizedResults(t *testing.T) {
	s := summarizer(t, report.Options{}, faithfulness)
	for i := range 10 {
		sc := eval.Value(0.9)
		if i >= 7 {
			sc = eval.Without(eval.Failed, "timeout")
		}
		add(t, s, result(i+1, "", sc.Of(faithfulness)))
	}
	sum := s.Summary()
	sum.Complete = true
	rs, err := report.Evaluate(sum, []report.Gate{{Metric: "faithfulness", Min: ptr(0.85)}})
	if err != nil || rs[0].Outcome != report.LowCoverage || *rs[0].Coverage != 0.7 {
		t.Errorf("%+v, %v", rs, err)
	}
}

// TestMaximum: a gate on a metric of which less is better.
func TestMaximum(t *testing.T) {
	for _, c := range []struct {
		value    float64
		outcome  report.Outcome
		sentence string
	}{
		{0.04, report.Pass, "is at most the maximum of 0.05"},
		{0.05, report.Pass, "is at most the maximum of 0.05"},
		{0.0501, report.Fail, "is above the maximum of 0.05"},
	} {
		rs, err := report.Evaluate(run(ptr(c.value), nil, 1, 1), []report.Gate{{Metric: "faithfulness", Max: ptr(0.05)}})
		if err != nil || rs[0].Outcome != c.outcome || !strings.Contains(rs[0].Sentence, c.sentence) {
			t.Errorf("%v: %+v, %v", c.value, rs, err)
		}
	}
	if _, err := report.Evaluate(run(ptr(0.5), nil, 1, 1), []report.Gate{{Metric: "faithfulness", Max: ptr(math.NaN())}}); err == nil {
		t.Error("a maximum that is no number")
	}
}
