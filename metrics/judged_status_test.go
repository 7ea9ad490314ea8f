package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
)

// claimMetrics are the two metrics over claims, with the label that counts.
var claimMetrics = map[string]string{"faithfulness": judge.Supported, "context_recall": judge.Attributable}

func TestClaimMetrics(t *testing.T) {
	for name, positive := range claimMetrics {
		t.Run(name, func(t *testing.T) {
			f := &fakeJudge{claims: []string{"a", "b", "c"}, labels: map[string]string{"a": positive, "c": positive}}
			s := fullSample()
			got := scored(t, made(t, name, metrics.Options{Judge: f}), s)
			wantScore(t, got, 2.0/3)
			if len(f.asks) != 2 || f.asks[0].Prompt != "claims/split" || f.asks[1].Prompt != name+"/verdict" {
				t.Fatalf("asked %+v", f.asks)
			}
			text := map[string]string{"faithfulness": s.Response, "context_recall": s.Reference}[name]
			if f.asks[0].Text != text || !slices.Equal(f.asks[1].Items, f.claims) || !slices.Equal(f.asks[1].Contexts, s.RetrievedContexts) {
				t.Errorf("asked %+v", f.asks)
			}
			d := decoded[metrics.ClaimsDetail](t, got.Detail)
			if len(d.Claims) != 3 || d.Claims[0] != (judge.Verdict{Item: "a", Label: positive, Reason: "because"}) {
				t.Errorf("detail %s", got.Detail)
			}
		})
	}
}

// TestContradictedIsNotSupported: only the first label counts for the claim.
func TestContradictedIsNotSupported(t *testing.T) {
	f := &fakeJudge{claims: []string{"a", "b"}, labels: map[string]string{"a": judge.Supported, "b": judge.Contradicted}}
	wantScore(t, scored(t, made(t, "faithfulness", metrics.Options{Judge: f}), fullSample()), 0.5)
}

func TestNoClaims(t *testing.T) {
	for name := range claimMetrics {
		for _, text := range []string{"I don't know.", "...", " - ", "—"} {
			for policy, want := range map[metrics.NoClaims]float64{"": -1, metrics.NoClaimsUndefined: -1, metrics.NoClaimsOne: 1, metrics.NoClaimsZero: 0} {
				f := &fakeJudge{claims: []string{}}
				s := fullSample()
				s.Response, s.Reference = text, text
				got := scored(t, made(t, name, metrics.Options{Judge: f, NoClaims: policy}), s)
				if want < 0 && got.Status != eval.Undefined || want >= 0 && (got.Value == nil || *got.Value != want) {
					t.Errorf("%s of %q with no_claims = %q: %s %v", name, text, policy, got.Status, shown(got.Value))
				}
				if !strings.HasPrefix(got.Reason, "no_claims") {
					t.Errorf("%s of %q: reason %q", name, text, got.Reason)
				}
				calls := 1
				if !strings.Contains(text, "know") {
					calls = 0
				}
				if len(f.asks) != calls {
					t.Errorf("%s of %q made %d calls, want %d", name, text, len(f.asks), calls)
				}
			}
		}
	}
}

// TestNoContexts: nothing retrieved is 0 with a reason, and costs no call.
func TestNoContexts(t *testing.T) {
	for _, name := range []string{"faithfulness", "context_recall", "context_precision", "lexical_faithfulness"} {
		for _, contexts := range [][]string{{}, {"", " \n"}} {
			f := &fakeJudge{}
			s := fullSample()
			s.RetrievedContexts = contexts
			got := scored(t, made(t, name, metrics.Options{Judge: f}), s)
			wantScore(t, got, 0)
			if got.Reason != "no_contexts" || len(f.asks) != 0 {
				t.Errorf("%s of %q: reason %q, %d calls", name, contexts, got.Reason, len(f.asks))
			}
		}
	}
}

func TestAnswerRelevance(t *testing.T) {
	for rating := 1; rating <= 5; rating++ {
		f := &fakeJudge{rating: rating}
		got := scored(t, made(t, "answer_relevance", metrics.Options{Judge: f}), fullSample())
		wantScore(t, got, float64(rating-1)/4)
		if d := decoded[metrics.RatingDetail](t, got.Detail); d.Rating != rating || d.Reason != "because" {
			t.Errorf("detail %s", got.Detail)
		}
		if a := f.asks[0]; len(f.asks) != 1 || a.Prompt != "answer_relevance/rubric" || a.Min != 1 || a.Max != 5 {
			t.Errorf("asked %+v", f.asks)
		}
	}
	f := &fakeJudge{rating: 5}
	s := fullSample()
	s.Response = "... -"
	got := scored(t, made(t, "answer_relevance", metrics.Options{Judge: f}), s)
	wantScore(t, got, 0)
	if len(f.asks) != 0 || got.Reason == "" {
		t.Errorf("punctuation: %d calls, reason %q", len(f.asks), got.Reason)
	}
}

// precisionSample has a chunk for each verdict; 1 is useful.
func precisionSample(verdicts []int) (*eval.Sample, map[string]string) {
	s := fullSample()
	s.RetrievedContexts = []string{}
	labels := map[string]string{}
	for i, v := range verdicts {
		chunk := fmt.Sprintf("chunk %d", i+1)
		s.RetrievedContexts = append(s.RetrievedContexts, chunk)
		if v == 1 {
			labels[chunk] = judge.Useful
		}
	}
	return s, labels
}

func TestContextPrecision(t *testing.T) {
	for _, c := range []struct {
		verdicts []int
		want     float64
	}{
		{[]int{1, 0, 1}, (1 + 2.0/3) / 2},
		{[]int{0, 1, 1}, (1.0/2 + 2.0/3) / 2},
		{[]int{1, 1, 0, 0}, 1},
		{[]int{0, 0, 0, 1}, 0.25},
		{[]int{0, 0}, 0},
		{[]int{1}, 1},
	} {
		for _, perChunk := range []bool{false, true} {
			s, labels := precisionSample(c.verdicts)
			f := &lockedJudge{fakeJudge: fakeJudge{labels: labels}}
			got := scored(t, made(t, "context_precision", metrics.Options{Judge: f, PerChunk: perChunk}), s)
			wantScore(t, got, c.want)
			calls := 1
			if perChunk {
				calls = len(c.verdicts)
			}
			if len(f.asks) != calls {
				t.Errorf("per_chunk = %t: %d calls for %d chunks", perChunk, len(f.asks), len(c.verdicts))
			}
			d := decoded[metrics.ChunksDetail](t, got.Detail)
			for i, v := range d.Chunks {
				if v.Rank != i+1 || (v.Verdict == judge.Useful) != (c.verdicts[i] == 1) || v.Reason == "" {
					t.Errorf("detail %s", got.Detail)
				}
			}
			if len(d.Chunks) != len(c.verdicts) || d.Against != "reference" || len(got.Flags) != 0 {
				t.Errorf("detail %s, flags %q", got.Detail, got.Flags)
			}
		}
	}
}

func TestContextPrecisionByResponse(t *testing.T) {
	s, labels := precisionSample([]int{0, 1})
	s.Reference = ""
	f := &fakeJudge{labels: labels}
	m := made(t, "context_precision", metrics.Options{Judge: f})
	got := scored(t, m, s)
	wantScore(t, got, 0.5)
	if !slices.Equal(got.Flags, []string{"judged_by_response"}) || f.asks[0].Prompt != "context_precision/verdict_by_response" || f.asks[0].Response != s.Response {
		t.Errorf("flags %q, asked %+v", got.Flags, f.asks)
	}
	s.Response = ""
	if got := scored(t, m, s); got.Status != eval.Skipped || !strings.HasPrefix(got.Reason, "missing_field: reference") {
		t.Errorf("neither reference nor response: %s, %q", got.Status, got.Reason)
	}
}

// TestBlankChunkKeepsItsRank: a blank chunk among others is no useful one, and
// those behind it keep their rank.
func TestBlankChunkKeepsItsRank(t *testing.T) {
	s := fullSample()
	s.RetrievedContexts = []string{" ", "good"}
	f := &fakeJudge{labels: map[string]string{"good": judge.Useful}}
	wantScore(t, scored(t, made(t, "context_precision", metrics.Options{Judge: f}), s), 0.5)
}

func TestErrorsBecomeStatuses(t *testing.T) {
	judged := []string{"faithfulness", "context_recall", "context_precision", "answer_relevance"}
	row := func(k llm.Kind) error {
		return fmt.Errorf("wrapped: %w", &llm.Error{Kind: k, Code: "some_code", Message: "said so"})
	}
	for _, c := range []struct {
		name   string
		err    error
		status eval.Status // "" for an error that comes back
		says   []string
	}{
		{"unusable", &judge.UnusableError{Code: judge.CodeUndecodable, Message: "no JSON", Reply: "well, <b>"}, eval.Unscored, []string{"undecodable_reply: no JSON"}},
		{"transient", row(llm.Transient), eval.Failed, []string{"transient", "some_code", "said so"}},
		{"rate limited", row(llm.RateLimited), eval.Failed, []string{"rate_limited", "some_code"}},
		{"row", row(llm.Row), eval.Failed, []string{"row", "some_code"}},
		{"cut prompt", &llm.Error{Kind: llm.Row, Code: llm.CodePromptTruncated, Message: "read a half"}, eval.Unscored, []string{"prompt_truncated", "read a half"}},
		{"fatal", row(llm.Fatal), "", nil},
		{"wait too long", row(llm.WaitTooLong), "", nil},
		{"over budget", row(llm.OverBudget), "", nil},
		{"cancelled", context.Canceled, "", nil},
		{"unknown", errors.New("a fault in the code"), "", nil},
	} {
		for _, name := range judged {
			for _, step := range []string{"claims", "verdict"} {
				f := &lockedJudge{fakeJudge: fakeJudge{claims: []string{"a"}, rating: 5}}
				if step == "claims" {
					if claimMetrics[name] == "" {
						continue
					}
					f.claimErr = c.err
				} else {
					f.err = c.err
				}
				for _, perChunk := range []bool{false, true} {
					m := made(t, name, metrics.Options{Judge: f, PerChunk: perChunk})
					if c.status == "" {
						if _, err := m.Score(t.Context(), fullSample()); !errors.Is(err, c.err) {
							t.Errorf("%s, %s in %s: error %v, want it back", c.name, name, step, err)
						}
						continue
					}
					got := scored(t, m, fullSample())
					if got.Status != c.status || got.Value != nil {
						t.Errorf("%s, %s in %s: %s %v", c.name, name, step, got.Status, shown(got.Value))
					}
					for _, says := range c.says {
						if !strings.Contains(got.Reason, says) {
							t.Errorf("%s, %s in %s: reason %q lacks %q", c.name, name, step, got.Reason, says)
						}
					}
					if c.name == "unusable" && !strings.Contains(string(got.Detail), "well, <b>") {
						t.Errorf("%s, %s in %s: the reply is not kept: %s", c.name, name, step, got.Detail)
					}
				}
			}
		}
	}
}

// TestPeersValues holds the formulas against values that were obtained by
// running Ragas' own code, where its behaviour is no known bug: verdicts of 0
// and 1. Ragas adds 1e-10 to the denominator of context precision.
func TestPeersValues(t *testing.T) {
	examples := decoded[[]struct {
		Metric string `json:"metric"`
		Inputs struct {
			Verdicts   []int `json:"verdicts"`
			Attributed []int `json:"attributed"`
			Statements any   `json:"statements"`
		} `json:"inputs"`
		Expected json.RawMessage `json:"expected"`
		Note     string          `json:"note"`
	}](t, readFixture(t, "fixtures/ragas_examples.json"))
	checked := map[string]int{}
	for _, e := range examples {
		verdicts := append(e.Inputs.Verdicts, e.Inputs.Attributed...)
		var want float64
		plain := !slices.ContainsFunc(verdicts, func(v int) bool { return v != 0 && v != 1 })
		if len(verdicts) == 0 || !plain || e.Inputs.Statements != nil || json.Unmarshal(e.Expected, &want) != nil {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(e.Metric, "_with_reference"), "_without_reference")
		s, labels := precisionSample(verdicts)
		f := &fakeJudge{labels: labels}
		switch name {
		case "context_precision":
			if strings.HasSuffix(e.Metric, "_without_reference") {
				s.Reference = ""
			}
		case "faithfulness", "context_recall":
			f.claims = slices.Clone(s.RetrievedContexts)
			for claim := range labels {
				labels[claim] = claimMetrics[name]
			}
		default:
			continue
		}
		got := scored(t, made(t, name, metrics.Options{Judge: f}), s)
		if got.Value == nil || math.Abs(*got.Value-want) > 1e-9 {
			t.Errorf("%s of %v: %v, Ragas gives %v (%s)", name, verdicts, shown(got.Value), want, e.Note)
		}
		checked[name]++
	}
	t.Logf("checked %v", checked)
	if checked["faithfulness"] < 2 || checked["context_recall"] < 2 || checked["context_precision"] < 7 {
		t.Errorf("only %v examples were checked", checked)
	}
}
