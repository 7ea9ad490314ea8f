package metrics_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// told is a judge of defined metrics that says what it is told.
type told struct {
	metrics.Judge
	rating judge.Rating
	labels []string
	asked  []judge.Ask
}

func (j *told) Rate(_ context.Context, a judge.Ask) (judge.Rating, error) {
	j.asked = append(j.asked, a)
	return j.rating, nil
}

func (j *told) Verdicts(_ context.Context, a judge.Ask) ([]judge.Verdict, error) {
	j.asked = append(j.asked, a)
	var out []judge.Verdict
	for i, it := range a.Items {
		out = append(out, judge.Verdict{Item: it, Label: j.labels[i]})
	}
	return out, nil
}

func define(t testing.TB, name string, keys map[string]any) metrics.Definition {
	t.Helper()
	d, errs := metrics.Define(name, keys)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return d
}

func scoreDefined(t testing.TB, d metrics.Definition, j metrics.Judge, s *eval.Sample) eval.Score {
	t.Helper()
	m, err := d.Metric(metrics.Options{Judge: j})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Score(t.Context(), s)
	if err != nil || got.Check() != nil || got.Metric != d.Name {
		t.Fatal(got, err, got.Check())
	}
	return got
}

var full = &eval.Sample{UserInput: "q", Response: "r", Reference: "ref", RetrievedContexts: []string{"c"}}

func TestRubric(t *testing.T) {
	scale := map[string]any{"kind": "rubric", "question": "How good?", "levels": map[string]any{"0": "bad", "2": "so so", "4": "good"}}
	half := 2.5
	for name, c := range map[string]struct {
		change map[string]any
		rating judge.Rating
		value  float64
		flags  []string
	}{
		"lowest":       {nil, judge.Rating{Rating: 0}, 0, nil},
		"between":      {nil, judge.Rating{Rating: 3}, 0.75, nil},
		"highest":      {nil, judge.Rating{Rating: 4}, 1, nil},
		"weighted":     {map[string]any{"logprobs": true}, judge.Rating{Rating: 3, Weighted: &half}, 0.625, nil},
		"not weighted": {map[string]any{"logprobs": true}, judge.Rating{Rating: 3}, 0.75, []string{metrics.FlagNotWeighted}},
	} {
		keys := map[string]any{}
		for _, m := range []map[string]any{scale, c.change} {
			for k, v := range m {
				keys[k] = v
			}
		}
		j := &told{rating: c.rating}
		got := scoreDefined(t, define(t, "quality", keys), j, full)
		if got.Value == nil || *got.Value != c.value || !slices.Equal(got.Flags, c.flags) {
			t.Errorf("%s: %v %v, want %v %v", name, got.Value, got.Flags, c.value, c.flags)
		}
		if !strings.Contains(string(got.Detail), fmt.Sprintf(`"rating":%d`, c.rating.Rating)) {
			t.Errorf("%s: the rating is not kept: %s", name, got.Detail)
		}
		if a := j.asked[0]; a.Min != 0 || a.Max != 4 || a.Prompt != "quality/rubric" || a.Weighted != (c.change != nil) {
			t.Errorf("%s: asked %+v", name, a)
		}
	}
}

func TestBinary(t *testing.T) {
	for _, c := range []struct {
		expect string
		rating int
		value  float64
	}{{"", 1, 1}, {"yes", 0, 0}, {"no", 1, 0}, {"no", 0, 1}} {
		keys := map[string]any{"kind": "binary", "question": "Is it?"}
		if c.expect != "" {
			keys["expect"] = c.expect
		}
		if got := scoreDefined(t, define(t, "is_it", keys), &told{rating: judge.Rating{Rating: c.rating}}, full); *got.Value != c.value {
			t.Errorf("expect %q, answer %d: %v, want %v", c.expect, c.rating, *got.Value, c.value)
		}
	}
}

func TestChecklist(t *testing.T) {
	d := define(t, "list", map[string]any{"kind": "checklist", "items": []any{"a", map[string]any{"check": "b", "weight": 2.5}, map[string]any{"check": "c", "critical": true, "weight": int64(1)}}})
	for labels, c := range map[string]struct {
		value  float64
		reason string
	}{
		"yes yes yes": {1, ""},
		"no yes yes":  {3.5 / 4.5, ""},
		"yes no yes":  {2 / 4.5, ""},
		"yes yes no":  {0, "critical_item: item 3 doesn't hold"},
		"no no no":    {0, "critical_item: item 3 doesn't hold"},
	} {
		j := &told{labels: strings.Fields(labels)}
		got := scoreDefined(t, d, j, full)
		if *got.Value != c.value || got.Reason != c.reason || (len(got.Flags) > 0) != (c.reason != "") {
			t.Errorf("%s: %v %q %v, want %v %q", labels, *got.Value, got.Reason, got.Flags, c.value, c.reason)
		}
		if d := cmp.Diff([]string{"a", "b", "c"}, j.asked[0].Items); d != "" {
			t.Error(d)
		}
	}
}

// TestDefinedNeeds: a needed field that is missing skips, without a call.
func TestDefinedNeeds(t *testing.T) {
	d := define(t, "x", map[string]any{"kind": "binary", "question": "?", "needs": []any{"reference", "response"}})
	j := &told{}
	if got := scoreDefined(t, d, j, &eval.Sample{Response: "r"}); got.Status != eval.Skipped || got.Reason != "missing_field: reference" || len(j.asked) > 0 {
		t.Errorf("%+v, %d calls", got, len(j.asked))
	}
	only := define(t, "x", map[string]any{"kind": "binary", "question": "?", "needs": []any{"retrieved_contexts"}})
	if got := scoreDefined(t, only, j, &eval.Sample{RetrievedContexts: []string{}}); got.Status != eval.Undefined || len(j.asked) > 0 {
		t.Errorf("%+v, %d calls", got, len(j.asked))
	}
}

// TestDefinedByPanel: three seats vote on ratings and on items.
func TestDefinedByPanel(t *testing.T) {
	panel := func(vote metrics.Vote, seats ...*told) metrics.Options {
		var p metrics.Panel
		for i, s := range seats {
			p.Seats = append(p.Seats, metrics.Seat{Name: fmt.Sprint("j", i), Judge: s})
		}
		p.Vote, p.MaxDisagreement = vote, 1
		return metrics.Options{Panel: p}
	}
	rubric := define(t, "quality", map[string]any{"kind": "rubric", "question": "?", "logprobs": true, "levels": map[string]any{"1": "a", "5": "b"}})
	w1, w2, w3 := 4.5, 4.0, 1.5
	seats := []*told{{rating: judge.Rating{Rating: 4, Weighted: &w1}}, {rating: judge.Rating{Rating: 4, Weighted: &w2}}, {rating: judge.Rating{Rating: 1, Weighted: &w3}}}
	for vote, want := range map[metrics.Vote]float64{metrics.VoteMajority: 0.8125, metrics.VoteMedian: 0.75, metrics.VoteMean: (0.875 + 0.75 + 0.125) / 3} {
		m, err := rubric.Metric(panel(vote, seats...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Score(t.Context(), full)
		if err != nil || got.Value == nil || math.Abs(*got.Value-want) > 1e-12 || got.Panel == nil {
			t.Errorf("%s: %+v %v, want %v", vote, got, err, want)
		}
	}
	list := define(t, "list", map[string]any{"kind": "checklist", "items": []any{"a", map[string]any{"check": "b", "critical": true}}})
	m, err := list.Metric(panel(metrics.VoteMajority, &told{labels: []string{"yes", "no"}}, &told{labels: []string{"no", "yes"}}, &told{labels: []string{"yes", "yes"}}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Score(t.Context(), full); err != nil || got.Value == nil || *got.Value != 1 || len(got.Flags) > 0 {
		t.Errorf("%+v %v, want 1", got, err)
	}
	if _, err := rubric.Metric(metrics.Options{}); err == nil {
		t.Error("made without a judge")
	}
}

// TestChecklistBounds: the value lies within its bounds, whatever the open items
// turn out to be, and only rises with what holds.
func TestChecklistBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		var items []any
		for i := range n {
			items = append(items, map[string]any{"check": fmt.Sprint("item ", i), "critical": rapid.Bool().Draw(rt, "critical"), "weight": rapid.Float64Range(0.001, 1000).Draw(rt, "weight")})
		}
		d := define(t, "list", map[string]any{"kind": "checklist", "items": items})
		labels := make([]string, n)
		for i := range labels {
			labels[i] = []string{"yes", "no"}[rapid.IntRange(0, 1).Draw(rt, "label")]
		}
		got := *scoreDefined(t, d, &told{labels: labels}, full).Value
		if got < 0 || got > 1 {
			rt.Fatalf("%v", got)
		}
		i := rapid.IntRange(0, n-1).Draw(rt, "i")
		more := slices.Clone(labels)
		more[i] = "yes"
		if *scoreDefined(t, d, &told{labels: more}, full).Value < got {
			rt.Fatalf("one more that holds lowers %v", got)
		}
	})
}

// TestDefinitionHash: the hash follows what can change a score, and nothing else.
func TestDefinitionHash(t *testing.T) {
	keys := func() map[string]any {
		return map[string]any{"kind": "rubric", "question": "How?", "needs": []any{"response", "user_input"}, "levels": map[string]any{"1": "a", "2": "b"}, "doc": "d"}
	}
	base := define(t, "x", keys()).Hash()
	for name, c := range map[string]struct {
		key   string
		value any
		same  bool
	}{
		"doc": {"doc", "another", true}, "order of needs": {"needs", []any{"user_input", "response"}, true},
		"question": {"question", "How so?", false}, "levels": {"levels", map[string]any{"1": "a", "2": "c"}, false},
		"scale": {"levels", map[string]any{"1": "a", "3": "b"}, false}, "steps": {"steps", []any{"look"}, false},
		"logprobs": {"logprobs", true, false}, "needs": {"needs", []any{"response"}, false},
	} {
		k := keys()
		k[c.key] = c.value
		if got := define(t, "x", k).Hash(); (got == base) != c.same {
			t.Errorf("%s: the same hash is %t", name, got == base)
		}
	}
}

// FuzzDefine: no keys of any kind make it panic, and what it takes has a scale,
// criteria and something to show.
func FuzzDefine(f *testing.F) {
	f.Add("tone", "rubric", "How?", "1", "a", 2.0, true)
	f.Add("x", "checklist", "", "-1", "", -1.0, false)
	f.Add("faithfulness", "binary", "?", "99999999999999999999", "b", math.Inf(1), true)
	f.Fuzz(func(t *testing.T, name, kind, question, level, text string, weight float64, flag bool) {
		for _, keys := range []map[string]any{
			{"kind": kind, "question": question, "levels": map[string]any{level: text, "3": "x"}, "logprobs": flag, "steps": []any{text}},
			{"kind": kind, "items": []any{text, map[string]any{"check": question, "weight": weight, "critical": flag}, weight, nil}, "needs": []any{text, "response"}},
			{"kind": kind, "question": text, "expect": level, "needs": []any{}, question: flag, "levels": []any{level}},
			{"kind": flag, "items": level, "steps": text, "needs": text},
		} {
			d, errs := metrics.Define(name, keys)
			if len(errs) > 0 {
				continue
			}
			lo, hi := d.Scale()
			if len(d.Needs) == 0 || d.Criteria() == "" || len(d.Hash()) != 64 || (d.Kind != metrics.KindChecklist) != (lo < hi) || d.Info().Name != name {
				t.Errorf("%v gave %+v", keys, d)
			}
		}
	})
}
