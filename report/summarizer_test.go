package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/report"
)

func TestCountsAndMeans(t *testing.T) {
	sum := sample(t)
	f := sum.Metrics.Get("faithfulness")
	if f.Rows != 7 || f.Scored != 5 || f.Undefined != 1 || f.Failed != 1 || f.Skipped != 0 || f.Unscored != 0 {
		t.Errorf("faithfulness: wrong counts: %+v", f)
	}
	// (1 + 0.5 + 0 + 2/3 + 1) / 5, and with the failed row as 0 over 6.
	near(t, "mean", f.Mean, (1+0.5+0+2.0/3+1)/5)
	near(t, "worst case", f.WorstCase, (1+0.5+0+2.0/3+1)/6)
	near(t, "coverage", f.Coverage, 5.0/7)
	near(t, "min", f.Min, 0)
	near(t, "max", f.Max, 1)
	want := report.Reasons{
		Scored:    []report.Count{{Code: "no_contexts", N: 1}},
		Undefined: []report.Count{{Code: "no_claims", N: 1}},
		Failed:    []report.Count{{Code: "http_500", N: 1}},
	}
	if d := cmp.Diff(want, f.Reasons); d != "" {
		t.Errorf("faithfulness: reasons (-want +got):\n%s", d)
	}

	a := sum.Metrics.Get("answer_relevance")
	if a.Rating == nil || a.Rating.N != 6 {
		t.Fatalf("answer_relevance: rating is %v, want 6 of them", a.Rating)
	}
	near(t, "mean rating", &a.Rating.Mean, 22.0/6)
	if a.Version != 2 || a.Unscored != 1 {
		t.Errorf("answer_relevance: %+v", a)
	}

	r := sum.Metrics.Get("recall@5")
	if d := cmp.Diff([]report.Count{{Code: "vacuous", N: 1}}, r.Flags); d != "" {
		t.Errorf("recall@5: flags (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]report.Count{{Code: "missing_field: reference_context_ids", N: 1}}, r.Reasons.Skipped); d != "" {
		t.Errorf("recall@5: skipped (-want +got):\n%s", d)
	}
	if sum.RowsDone != 7 || sum.Metrics.Get("nothing") != nil {
		t.Errorf("rows done %d", sum.RowsDone)
	}
}

func TestNothingScoredIsNullAndNeverZero(t *testing.T) {
	s := summarizer(t, report.Options{}, faithfulness)
	empty := s.Summary().Metrics.Get("faithfulness")
	if empty.Mean != nil || empty.Coverage != nil || empty.WorstCase != nil || empty.Method != report.MethodNone {
		t.Errorf("no rows: %+v", empty)
	}
	add(t, s, result(1, "", eval.Without(eval.Undefined, "no_claims").Of(faithfulness)))
	m := s.Summary().Metrics.Get("faithfulness")
	if m.Mean != nil || m.CI95 != nil || m.SD != nil || m.Min != nil || m.Max != nil || m.WorstCase != nil || m.Rating != nil {
		t.Errorf("nothing scored, but there are figures: %+v", m)
	}
	near(t, "coverage", m.Coverage, 0)
	add(t, s, result(2, "", eval.Without(eval.Failed, "timeout").Of(faithfulness)))
	near(t, "worst case of failures alone", s.Summary().Metrics.Get("faithfulness").WorstCase, 0)
}

func TestNegativeValuesHaveNoWorstCase(t *testing.T) {
	if m := values(t, report.Options{}, -0.5, 1); m.WorstCase != nil {
		t.Errorf("0 isn't the worst, but worst case is %v", *m.WorstCase)
	}
}

func TestRejectsResultsThatWouldMakeAWrongNumber(t *testing.T) {
	good := eval.Value(1).Of(faithfulness)
	other := eval.Value(1).Of(relevance)
	old := other
	old.Version = 1
	bad := other
	bad.Value = ptr(math.NaN())
	for name, c := range map[string]struct {
		scores []eval.Score
		want   string
	}{
		"missing metric": {[]eval.Score{good}, "no score of answer_relevance"},
		"no scores":      {nil, "no score of faithfulness"},
		"twice":          {[]eval.Score{good, other, good}, "two scores of faithfulness"},
		"unknown":        {[]eval.Score{good, other, eval.Value(1).Of(recallAt5)}, `unknown metric "recall@5"`},
		"other version":  {[]eval.Score{good, old}, "version 1 of the metric, and this summary is of version 2"},
		"not finite":     {[]eval.Score{good, bad}, "not finite"},
		"unknown status": {[]eval.Score{good, eval.Without("odd", "x").Of(relevance)}, `unknown status "odd"`},
		"null but score": {[]eval.Score{good, eval.Without(eval.Scored, "x").Of(relevance)}, "value present is false"},
	} {
		s := summarizer(t, report.Options{}, faithfulness, relevance)
		err := s.Add(result(5, "c", c.scores...))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "row 5") {
			t.Errorf("%s: error %v, want one on row 5 with %q", name, err, c.want)
		}
		if sum := s.Summary(); sum.RowsDone != 0 || sum.Metrics[0].Rows != 0 || len(sum.Categories) != 0 {
			t.Errorf("%s: the rejected result was counted", name)
		}
	}
	s := summarizer(t, report.Options{}, faithfulness, relevance)
	if err := s.Add(result(1, "", other, good)); err != nil {
		t.Errorf("scores in another order: %v", err)
	}
	for _, metrics := range [][]eval.Info{{faithfulness, faithfulness}, {{}}} {
		if _, err := report.NewSummarizer(metrics, report.Options{}); err == nil {
			t.Errorf("metrics %v: no error", metrics)
		}
	}
}

func TestWorstSamples(t *testing.T) {
	s := summarizer(t, report.Options{List: 3}, faithfulness, relevance, recallAt5)
	row := func(n int, f, a eval.Score) {
		add(t, s, result(n, "", f.Of(faithfulness), a.Of(relevance), eval.Value(0).Of(recallAt5)))
	}
	row(1, eval.Value(1), eval.Value(1))
	row(2, eval.Value(0.5), eval.Value(0.5))
	row(3, eval.Without(eval.Failed, "timeout"), eval.Without(eval.Unscored, "empty"))
	row(4, eval.Value(0.25), eval.Value(0.75))
	row(5, eval.Without(eval.Undefined, "no_claims"), eval.Value(0.25).WithDetail(map[string]any{"reason": "evasive", "rating": 2}))
	row(6, eval.Value(0.5), eval.Value(0.5))
	w := s.Summary().Worst
	var got []string
	for _, l := range w.Samples {
		got = append(got, fmt.Sprintf("%s:%v", l.ID, *l.Mean))
	}
	// The deterministic recall@5 does not rank; row 3 has nothing to rank by.
	if d := cmp.Diff([]string{"q5:0.25", "q2:0.5", "q4:0.5"}, got); d != "" {
		t.Errorf("worst (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"faithfulness", "answer_relevance"}, w.By); d != "" || w.Ranked != 5 {
		t.Errorf("ranked %d by (-want +got):\n%s", w.Ranked, d)
	}
	if sc := w.Samples[0].Scores[1]; sc.Reason != "evasive" || *sc.Value != 0.25 {
		t.Errorf("reason of the worst: %+v", sc)
	}
	if l := s.Summary().Lacking; l.Total != 1 || len(l.Samples) != 1 || len(l.Samples[0].Scores) != 2 || l.Samples[0].Scores[0].Reason != "timeout" {
		t.Errorf("lacking: %+v", l)
	}

	none := summarizer(t, report.Options{List: -1}, recallAt5)
	add(t, none, result(1, "", eval.Value(0).Of(recallAt5)), result(2, "", eval.Without(eval.Failed, "x").Of(recallAt5)))
	if sum := none.Summary(); len(sum.Worst.Samples) != 0 || sum.Worst.Ranked != 1 || sum.Lacking.Total != 1 || len(sum.Lacking.Samples) != 0 || sum.Worst.By[0] != "recall@5" {
		t.Errorf("no listing asked for: %+v %+v", sum.Worst, sum.Lacking)
	}
}

// The list of the worst is what sorting everything would give.
func TestWorstIsASort(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vs := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.75, 1}), 1, 60).Draw(rt, "values")
		limit := rapid.IntRange(1, 8).Draw(rt, "limit")
		s := summarizer(t, report.Options{List: limit}, faithfulness)
		for i, v := range vs {
			add(t, s, result(i+1, "", eval.Value(v).Of(faithfulness)))
		}
		var want []int
		for _, level := range []float64{0, 0.25, 0.5, 0.75, 1} {
			for i, v := range vs {
				if v == level && len(want) < limit {
					want = append(want, i+1)
				}
			}
		}
		var got []int
		for _, l := range s.Summary().Worst.Samples {
			got = append(got, l.Row)
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatalf("worst rows (-want +got):\n%s", d)
		}
	})
}

func TestCategoriesAreBounded(t *testing.T) {
	s := summarizer(t, report.Options{}, faithfulness)
	for i := range 3 * report.MaxCategories {
		add(t, s, result(i+1, fmt.Sprintf("c%03d", 999-i), eval.Value(1).Of(faithfulness)))
	}
	add(t, s, result(9000, "", eval.Value(0).Of(faithfulness)),
		result(9001, strings.Repeat("x", 1<<20), eval.Value(0).Of(faithfulness)))
	cs := s.Summary().Categories
	if len(cs) != report.MaxCategories+2 {
		t.Fatalf("%d categories", len(cs))
	}
	if cs[0].Category != "c800" || cs[199].Category != "c999" {
		t.Errorf("order: %s to %s", cs[0].Category, cs[199].Category)
	}
	if b := cs[200]; b.Category != "" || b.Rows != 1 || b.Other {
		t.Errorf("rows without a category: %+v", b)
	}
	if o := cs[201]; !o.Other || o.Category != report.OtherCategories || o.Rows != 2*report.MaxCategories+1 {
		t.Errorf("other categories: %+v", o)
	}
}

func TestReasonsAreBoundedAndOrdered(t *testing.T) {
	s := summarizer(t, report.Options{}, faithfulness)
	for i := range 1000 {
		add(t, s, result(i, "", eval.Without(eval.Failed, "code%d: %s", i, strings.Repeat("x", 1000)).Of(faithfulness)))
	}
	for _, code := range []string{"b: 1", "b: 2", "a", "a: 2"} {
		add(t, s, result(1, "", eval.Without(eval.Unscored, "%s", code).Of(faithfulness)))
	}
	add(t, s, result(1, "", eval.Without(eval.Unscored, "").Of(faithfulness)))
	m := s.Summary().Metrics[0]
	want := []report.Count{{Code: "a", N: 2}, {Code: "b", N: 2}, {Code: "(no reason)", N: 1}}
	if d := cmp.Diff(want, m.Reasons.Unscored); d != "" {
		t.Errorf("unscored (-want +got):\n%s", d)
	}
	if f := m.Reasons.Failed; len(f) != report.TopReasons || f[0] != (report.Count{Code: "(others)", N: 900}) {
		t.Errorf("failed: %v", f)
	}
}

// A rating is read from the detail's own key, not from text that mentions it.
func TestRating(t *testing.T) {
	for detail, want := range map[string]float64{
		`{"rating":4,"reason":"x"}`:              4,
		`{"reason":"a \"rating\" of 5"}`:         0,
		`{"verdicts":[{"rating":3}]}`:            0,
		`{"rating":"4"}`:                         0,
		`{"rating":null}`:                        0,
		`{"rating":1e999}`:                       0,
		`{"rating":`:                             0,
		`["rating"]`:                             0,
		`{"reason":"rating","x":"\"rating\":1"}`: 0,
	} {
		s := summarizer(t, report.Options{}, relevance)
		sc := eval.Value(0.75).Of(relevance)
		sc.Detail = json.RawMessage(detail)
		add(t, s, result(1, "", sc))
		got := 0.0
		if r := s.Summary().Metrics[0].Rating; r != nil {
			got = r.Mean
		}
		if got != want {
			t.Errorf("%s: rating %v, want %v", detail, got, want)
		}
	}
}

// Neither the order of the results nor a look in between changes a digit.
func TestSummaryDoesNotDependOnOrderOrChunks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vs := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(rt, "values")
		looks := summarizer(t, report.Options{Seed: 7}, faithfulness)
		for i, v := range vs {
			add(t, looks, result(i, "", eval.Value(v).Of(faithfulness)))
			if i%10 == 0 {
				looks.Summary()
			}
		}
		a := looks.Summary().Metrics[0]
		shuffled := append([]float64{}, vs...)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		b := *values(t, report.Options{Seed: 7}, shuffled...)
		a.SD, b.SD = nil, nil // the one figure whose last digits may differ
		if d := cmp.Diff(a, b); d != "" {
			rt.Fatalf("in another order:\n%s", d)
		}
	})
}

func FuzzSummarizer(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08"), uint64(1))
	f.Add(bytes.Repeat([]byte{0xff, 0x7f, 0xef, 0, 9}, 30), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		s := summarizer(t, report.Options{Seed: seed, List: 3}, faithfulness, relevance, lexical)
		next := func() uint64 {
			var v uint64
			for range 8 {
				if len(data) == 0 {
					break
				}
				v, data = v<<8|uint64(data[0]), data[1:]
			}
			return v
		}
		for row := 0; len(data) > 0 && row < 200; row++ {
			var scores []eval.Score
			for _, info := range []eval.Info{faithfulness, relevance, lexical} {
				st := eval.Statuses[next()%5]
				sc := eval.Without(st, "%s", string(data[:min(len(data), 9)])).Of(info)
				if st == eval.Scored {
					sc = eval.Value(math.Float64frombits(next())).Of(info)
					sc.Detail = json.RawMessage(`{"rating":` + string(data[:min(len(data), 3)]) + `}`)
				}
				scores = append(scores, sc)
			}
			if err := s.Add(result(row, string(data[:min(len(data), 2)]), scores...)); err != nil {
				t.Fatal(err)
			}
		}
		sum := s.Summary()
		check := func(m report.Metric) {
			if m.Scored == 0 {
				if m.Mean != nil || m.CI95 != nil {
					t.Errorf("%s: a mean of nothing", m.Metric)
				}
				return
			}
			if !(*m.Mean >= *m.Min && *m.Mean <= *m.Max) {
				t.Errorf("%s: mean %v is not within %v to %v", m.Metric, *m.Mean, *m.Min, *m.Max)
			}
			if iv := m.CI95; iv != nil && !(iv.Lo >= *m.Min && iv.Lo <= iv.Hi && iv.Hi <= *m.Max) {
				t.Errorf("%s: interval %v is not within %v to %v", m.Metric, *iv, *m.Min, *m.Max)
			}
		}
		for _, m := range sum.Metrics {
			check(m)
		}
		for _, c := range sum.Categories {
			for _, m := range c.Metrics {
				check(m)
			}
		}
		for _, format := range report.Formats {
			if err := report.Render(&bytes.Buffer{}, sum, format, 80); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	})
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-12 {
		t.Errorf("%s: %v, want %v", what, optional(got), want)
	}
}

func optional(v *float64) any {
	if v == nil {
		return "null"
	}
	return *v
}
