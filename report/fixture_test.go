package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/report"
)

var (
	faithfulness = eval.Info{Name: "faithfulness", Version: 1, Judged: true}
	relevance    = eval.Info{Name: "answer_relevance", Version: 2, Judged: true}
	recallAt5    = eval.Info{Name: "recall@5", Version: 1}
	lexical      = eval.Info{Name: "lexical_faithfulness", Version: 1, Note: "a drift alarm, not a judge"}
)

func ptr[T any](v T) *T { return &v }

// result makes a result of scores, each already under its metric's name.
func result(row int, category string, scores ...eval.Score) *eval.Result {
	return &eval.Result{Schema: eval.ResultSchema, Row: row, ID: fmt.Sprintf("q%d", row), Category: category, Scores: scores}
}

func summarizer(t testing.TB, opts report.Options, metrics ...eval.Info) *report.Summarizer {
	t.Helper()
	s, err := report.NewSummarizer(metrics, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, s *report.Summarizer, results ...*eval.Result) {
	t.Helper()
	for _, r := range results {
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
}

// values summarizes one metric over scored values.
func values(t testing.TB, opts report.Options, vs ...float64) *report.Metric {
	t.Helper()
	s := summarizer(t, opts, faithfulness)
	for i, v := range vs {
		add(t, s, result(i+1, "", eval.Value(v).Of(faithfulness)))
	}
	return s.Summary().Metrics.Get("faithfulness")
}

// sample is a summary with a bit of everything, hostile text included.
func sample(t testing.TB) *report.Summary {
	t.Helper()
	s := summarizer(t, report.Options{List: 4, Seed: 1}, faithfulness, relevance, recallAt5, lexical)
	rate := func(n int, why string) eval.Score {
		return eval.Value(float64(n-1) / 4).Of(relevance).WithDetail(map[string]any{"rating": n, "reason": why})
	}
	f := func(v float64) eval.Score { return eval.Value(v).Of(faithfulness) }
	r := func(v float64) eval.Score { return eval.Value(v).Of(recallAt5) }
	l := func(v float64) eval.Score { return eval.Value(v).Of(lexical) }
	add(t, s,
		result(1, "benefits", f(1), rate(5, "to the point"), r(1), l(0.75)),
		result(2, "benefits", f(0.5), rate(3, "half of it | and <b>\x1b[31mred\x1b[0m</b>"), r(0.5), l(0.5)),
		result(3, "job roles", eval.Without(eval.Undefined, "no_claims").Of(faithfulness), rate(4, "fine"), r(1).Flagged("vacuous"), l(1)),
		result(4, "job roles", f(0).Because("no_contexts"), rate(1, "off topic"), r(0), eval.SkippedFor(eval.FieldRetrievedContexts).Of(lexical)),
		result(5, "", eval.Without(eval.Failed, "http_500: server error (after 4 attempts)").Of(faithfulness), rate(5, "yes"), eval.SkippedFor(eval.FieldReferenceContextIDs).Of(recallAt5), l(1)),
		result(6, "\u202eevil\n|category|", f(2.0/3), eval.Without(eval.Unscored, "truncated: the reply ends in the middle").Of(relevance), r(1), l(0.25)),
		result(7, "保険の質問", f(1), rate(4, "ok"), r(1), l(1)),
	)
	sum := s.Summary()
	sum.Complete = true
	sum.Rows = ptr(7)
	sum.Dataset = report.Dataset{Name: "samples.jsonl", Hash: "sha256:00ff"}
	sum.Judge = &report.Judge{Provider: "lexical", Model: "lexical", Served: []string{"lexical"}, Offline: true}
	sum.Usage = report.Usage{Calls: 1234, CacheHits: 5, Tokens: report.Tokens{Prompt: 1234567, Completion: 2345, Cached: 100, Reasoning: 7, Unknown: 1}, CostUSD: ptr(1.5)}
	sum.LastExecution = &report.Execution{
		Usage:      report.Usage{CostReason: "no price for this <model>"},
		RowsReused: 7,
		Started:    time.Date(2026, 8, 1, 2, 0, 0, 0, time.UTC),
		Finished:   time.Date(2026, 8, 1, 2, 0, 1, 0, time.UTC),
		Exit:       "done",
	}
	gates, err := report.Evaluate(sum, []report.Gate{
		{Metric: "faithfulness", Min: ptr(0.85)},
		{Metric: "answer_relevance", Min: ptr(0.5)},
		{Metric: "recall@5", Min: ptr(0.8), MinCoverage: ptr(0.8)},
	})
	if err != nil {
		t.Fatal(err)
	}
	sum.Gates = gates
	return sum
}
