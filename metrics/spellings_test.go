package metrics_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"faithfulness": "faithfulness", "Faithfulness": "faithfulness",
		"answer_relevance": "answer_relevance", "answer_relevancy": "answer_relevance", "AnswerRelevancy": "answer_relevance",
		"response_relevancy": "answer_relevance", "ResponseRelevancy": "answer_relevance",
		"contextual_recall": "context_recall", "llm_context_recall": "context_recall", "LLMContextRecall": "context_recall",
		"contextual_precision": "context_precision", "context-precision": "context_precision",
		"precision@5": "precision@5", "P@5": "precision@5", "P_5": "precision@5", "precision_5": "precision@5",
		"precision_at_5": "precision@5", "Precision@05": "precision@5", " precision@5 ": "precision@5",
		"recall@10": "recall@10", "recall_10": "recall@10", "R@10": "recall@10",
		"hit@3": "hit_rate@3", "hits@3": "hit_rate@3", "HitRate@3": "hit_rate@3", "hit_rate_3": "hit_rate@3", "success_3": "hit_rate@3",
		"f1@5": "f1@5", "f1_5": "f1@5", "F1_score@5": "f1@5",
		"MRR": "mrr", "mrr@10": "mrr@10", "recip_rank": "mrr", "reciprocal rank": "mrr",
		"map": "map", "MAP@10": "map@10", "map_cut_10": "map@10", "average_precision": "map",
		"ndcg": "ndcg", "nDCG@10": "ndcg@10", "ndcg_cut_10": "ndcg@10", "NDCG_10": "ndcg@10",
		"Rprec": "r_precision", "R-precision": "r_precision", "lexical_faithfulness": "lexical_faithfulness",
	} {
		if got, err := metrics.Canonical(name); err != nil || got != want {
			t.Errorf("Canonical(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestBadNames(t *testing.T) {
	for name, says := range map[string]string{
		"precision":                      "cut-off",
		"precision@":                     "whole number",
		"precision@0":                    "whole number",
		"precision@-1":                   "whole number",
		"precision@+5":                   "whole number",
		"precision@5.5":                  "whole number",
		"precision@k":                    "whole number",
		"precision@5@5":                  "whole number",
		"precision@9999999":              "whole number",
		"precision@99999999999999999999": "whole number",
		"precision_at_k":                 "cut-off",
		"f1":                             "cut-off",
		"faithfulness@5":                 "no cut-off",
		"r_precision@5":                  "no cut-off",
		"faithfullness":                  `"faithfulness"`,
		"recal@5":                        `"recall@5"`,
		"ndgc@5":                         `"ndcg"`,
		"context_recal":                  `"context_recall"`,
		"":                               "no such metric",
		"@5":                             "no such metric",
		"précision@5":                    "no such metric",
		"context_relevancy":              "no such metric", // another tool's other metric
		"llm_context_precision_without_reference": "no such metric",
		strings.Repeat("x", 1<<16):                "no such metric",
	} {
		_, err := metrics.New(name, metrics.Options{Judge: &fakeJudge{}, Embedder: vectors{}})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), name) {
			t.Errorf("New(%.40q): %.200v, want an error that names it and says %q", name, err, says)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"precision@5", "P_5", "@", "ndcg_cut_10", "f1", "\xff@5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := metrics.Canonical(name)
		if err != nil {
			return
		}
		if again, err := metrics.Canonical(got); err != nil || again != got {
			t.Fatalf("Canonical(%q) = %q, whose own canonical name is %q, %v", name, got, again, err)
		}
		m, err := metrics.New(name, metrics.Options{Judge: &fakeJudge{}, Embedder: vectors{}})
		if err != nil || m.Info().Name != got {
			t.Fatalf("New(%q) gave %v, %v, want %s", name, m, err, got)
		}
	})
}

// TestFamilies holds what every family owes: a manual entry, names that no
// other family has, and a skipped score for each field that it needs.
func TestFamilies(t *testing.T) {
	owner := map[string]string{}
	for i, f := range metrics.All {
		for _, a := range append([]string{strings.ReplaceAll(f.Name, "_", "")}, f.Aliases...) {
			if strings.Trim(a, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
				t.Errorf("%s: the alias %q is not in lower-case letters and digits, and so never found", f.Name, a)
			}
			if other, taken := owner[a]; taken {
				t.Errorf("%q names %s and %s", a, other, f.Name)
			}
			owner[a] = f.Name
		}
		info := metrics.Infos()[i]
		if info.Version < 1 || info.Doc == "" || info.Formula == "" || info.Calls == "" || len(info.Needs) == 0 || info.Judged != f.Judged {
			t.Errorf("%s: the description is not complete: %+v", f.Name, info)
		}
		m := made(t, info.Name, metrics.Options{Judge: &fakeJudge{}, Embedder: vectors{}})
		for _, field := range info.Needs {
			s := fullSample()
			without(s, field)
			got := scored(t, m, s)
			if got.Status != eval.Skipped || got.Reason != "missing_field: "+string(field) {
				t.Errorf("%s without %s: %s, %q", f.Name, field, got.Status, got.Reason)
			}
		}
	}
	if f, err := metrics.FamilyOf("P@5"); err != nil || f.Name != "precision" || f.CutOff != metrics.NeedsCutOff {
		t.Errorf("FamilyOf(P@5) = %+v, %v", f, err)
	}
	if note := made(t, "lexical_faithfulness", metrics.Options{}).Info().Note; !strings.Contains(note, "a drift alarm, not a judge") {
		t.Errorf("lexical_faithfulness must say what it is, not %q", note)
	}
}

func fullSample() *eval.Sample {
	return &eval.Sample{
		UserInput: "What is the fee?", Response: "The fee is 5 dollars.", Reference: "It is 5 dollars.",
		RetrievedContexts: []string{"The fee is 5 dollars."}, RetrievedContextIDs: []string{"A"},
		ReferenceContextIDs: map[string]float64{"A": 1},
	}
}

func without(s *eval.Sample, f eval.Field) {
	switch f {
	case eval.FieldUserInput:
		s.UserInput = " "
	case eval.FieldResponse:
		s.Response = "\n"
	case eval.FieldReference:
		s.Reference = ""
	case eval.FieldRetrievedContexts:
		s.RetrievedContexts = nil
	case eval.FieldRetrievedContextIDs:
		s.RetrievedContextIDs = nil
	case eval.FieldReferenceContextIDs:
		s.ReferenceContextIDs = nil
	}
}

func TestOptions(t *testing.T) {
	names := metrics.OptionNames()
	if len(names) != len(metrics.All) || !slices.Equal(names["faithfulness"], []string{"no_claims", "undecided", "compat"}) || len(names["lexical_faithfulness"]) != 0 {
		t.Errorf("OptionNames() = %v", names)
	}
	opt, err := metrics.Options{}.With("context_precision", map[string]any{"per_chunk": true})
	if err != nil || !opt.PerChunk {
		t.Errorf("per_chunk: %+v, %v", opt, err)
	}
	opt, err = metrics.Options{}.With("answer_relevancy", map[string]any{"mode": "rubric"})
	if err != nil || opt.Mode != metrics.ModeRubric {
		t.Errorf("an alias: %+v, %v", opt, err)
	}
	// [metric.ndcg] has no cut-off, [metric."ndcg@5"] has one.
	for _, name := range []string{"ndcg", "ndcg@5"} {
		if opt, err = (metrics.Options{}).With(name, map[string]any{"gain": "exponential"}); err != nil || opt.Gain != metrics.GainExponential {
			t.Errorf("%s: %+v, %v", name, opt, err)
		}
	}
	if _, err = (metrics.Options{}).With("precision", nil); err != nil {
		t.Errorf("a family that needs a cut-off: %v", err)
	}
	for _, c := range []struct {
		metric, key string
		value       any
	}{
		{"faithfulness", "per_chunk", true}, // another metric's
		{"faithfulness", "no_claim", "one"},
		{"faithfulness", "no_claims", "maybe"},
		{"faithfulness", "no_claims", 1},
		{"context_precision", "per_chunk", "yes"},
		{"ndcg", "gain", "cubic"},
		{"answer_relevance", "mode", "precision"}, // another metric's
		{"answer_relevance", "compat", "ragchecker"},
		{"factual_correctness", "mode", "rubric"},
		{"factual_correctness", "beta", 0.0},
		{"factual_correctness", "beta", "2"},
		{"answer_correctness", "factuality_weight", 1.5},
		{"semantic_similarity", "threshold", -0.1},
	} {
		_, err := metrics.Options{}.With(c.metric, map[string]any{c.key: c.value})
		if err == nil || !strings.Contains(err.Error(), c.metric) || !strings.Contains(err.Error(), c.key) {
			t.Errorf("%s.%s = %v: %v, want an error that names metric and key", c.metric, c.key, c.value, err)
		}
	}
	if _, err := (metrics.Options{}).With("nonsense", nil); err == nil {
		t.Error("an unknown metric is an error")
	}
	if _, err := metrics.New("ndcg@5", metrics.Options{Gain: "cubic"}); err == nil || !strings.Contains(err.Error(), "gain") {
		t.Errorf("New with a bad option: %v", err)
	}
	if _, err := metrics.New("faithfulness", metrics.Options{}); err == nil || !strings.Contains(err.Error(), "judge") {
		t.Errorf("a judged metric without a judge: %v", err)
	}
}

// fakeJudge answers what a test lays down, and keeps what it was asked.
type fakeJudge struct {
	noTable
	claims   []string
	labels   map[string]string // item -> label; the last label for any other
	rating   int
	claimErr error
	err      error // of Verdicts and Rate
	asks     []judge.Ask
}

func (f *fakeJudge) Claims(_ context.Context, a judge.Ask) ([]string, error) {
	f.asks = append(f.asks, a)
	return f.claims, f.claimErr
}

func (f *fakeJudge) Verdicts(_ context.Context, a judge.Ask) ([]judge.Verdict, error) {
	f.asks = append(f.asks, a)
	if f.err != nil {
		return nil, f.err
	}
	var all []judge.Verdict
	for _, it := range a.Items {
		label := f.labels[it]
		if label == "" {
			label = a.Labels[len(a.Labels)-1]
		}
		all = append(all, judge.Verdict{Item: it, Label: label, Reason: "because"})
	}
	return all, nil
}

func (f *fakeJudge) Rate(_ context.Context, a judge.Ask) (judge.Rating, error) {
	f.asks = append(f.asks, a)
	return judge.Rating{Rating: f.rating, Reason: "because"}, f.err
}
