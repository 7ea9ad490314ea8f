package metrics_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
)

// TestClaimReport: the whole report, worked by hand. Claims are words: the
// chunks that entail them, and + where the other side does.
func TestClaimReport(t *testing.T) {
	// Chunks 1 and 2 hold claims of the reference, chunk 3 none. The response: right
	// and in chunk 1; right and in no chunk; wrong and in chunk 2; wrong and in
	// chunk 3 alone; wrong and in chunks 2 and 3; wrong and in none, twice.
	s, l := claimCase{response: "1+ + 2 3 23 - !", reference: "1+ 2 +", chunks: 3}.lay()
	const n = 7.0
	want := map[string]float64{
		"claim_faithfulness": 4 / n, "self_knowledge": 1 / n, "hallucination": 2 / n,
		"noise_sensitivity_relevant": 2 / n, "noise_sensitivity_irrelevant": 1 / n,
		"response_precision": 2 / n, "response_recall": 2.0 / 3, "response_f1": 2 * (2 / n) * (2.0 / 3) / (2/n + 2.0/3),
		"claim_recall": 2.0 / 3, "claim_context_precision": 2.0 / 3, "context_utilization": 0.5,
	}
	for name, got := range reportOf(t, s, metrics.Options{Judge: l}) {
		wantScore(t, got, want[name])
	}
	// Eleven metrics: two splits and the four parts of the table, each asked the
	// same by all.
	if len(l.asks) != 6 {
		t.Errorf("%d different questions were asked:\n%v", len(l.asks), l.asks)
	}
	for _, c := range []struct {
		mode metrics.Mode
		beta float64
		want float64
	}{
		{metrics.ModePrecision, 0, 2 / n}, {metrics.ModeRecall, 0, 2.0 / 3}, {"", 0, want["response_f1"]},
		{metrics.ModeF1, 2, 5 * (2 / n) * (2.0 / 3) / (4*2/n + 2.0/3)},
	} {
		wantScore(t, scored(t, made(t, "factual_correctness", metrics.Options{Judge: l, Mode: c.mode, Beta: c.beta}), s), c.want)
	}
	if len(l.asks) != 6 {
		t.Errorf("factual_correctness asks something of its own: %d", len(l.asks))
	}
}

// TestErrorKindsAreNotMixed: what is wrong is a matter of the response's claims,
// what is missing one of the reference's. This is the value at which mixing them
// shows: 3 of 4 and 2 of 3.
func TestErrorKindsAreNotMixed(t *testing.T) {
	s, l := claimCase{response: "+ + + -", reference: "+ + -"}.lay()
	for mode, want := range map[metrics.Mode]float64{
		metrics.ModePrecision: 0.75, metrics.ModeRecall: 2.0 / 3, metrics.ModeF1: 2 * 0.75 * (2.0 / 3) / (0.75 + 2.0/3),
	} {
		wantScore(t, scored(t, made(t, "factual_correctness", metrics.Options{Judge: l, Mode: mode}), s), want)
	}
}

// TestClaimDetail: the table stands in the detail, only as far as it was asked.
func TestClaimDetail(t *testing.T) {
	s, l := claimCase{response: "1+ !", reference: "12", chunks: 2}.lay()
	got := decoded[metrics.ClaimTableDetail](t, scored(t, made(t, "hallucination", metrics.Options{Judge: l}), s).Detail)
	want := metrics.ClaimTableDetail{Chunks: 2, Response: []metrics.ClaimRow{
		{Claim: "claim 1 of the response", Chunks: []int{1}, Match: judge.Entailed},
		{Claim: "claim 2 of the response", Chunks: []int{}, Match: judge.Contradicted},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = decoded[metrics.ClaimTableDetail](t, scored(t, made(t, "claim_recall", metrics.Options{Judge: l}), s).Detail)
	want = metrics.ClaimTableDetail{Chunks: 2, Reference: []metrics.ClaimRow{{Claim: "claim 1 of the reference", Chunks: []int{1, 2}}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// drawCase draws any table with claims on both sides and a chunk or more.
func drawCase(t *rapid.T) claimCase {
	chunks := rapid.IntRange(1, 4).Draw(t, "chunks")
	word := rapid.Custom(func(t *rapid.T) string {
		w := ""
		for n := range chunks {
			if rapid.Bool().Draw(t, "entailed") {
				w += string(rune('1' + n))
			}
		}
		return w + rapid.SampledFrom([]string{"+", "-", "!"}).Draw(t, "match")
	})
	words := func(name string) string {
		return strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, name), " ")
	}
	return claimCase{response: words("response"), reference: words("reference"), chunks: chunks}
}

// TestIdentities: within one table the parts of the response make a whole, also
// where nothing was retrieved.
func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		if rapid.IntRange(0, 4).Draw(t, "nothing retrieved") == 0 {
			c.chunks = 0
			strip := strings.NewReplacer("1", "", "2", "", "3", "", "4", "")
			c.response, c.reference = strip.Replace(c.response), strip.Replace(c.reference)
		}
		s, l := c.lay()
		v := map[string]float64{}
		for name, got := range reportOf(t, s, metrics.Options{Judge: l}) {
			if got.Value == nil && name != "context_utilization" {
				t.Fatalf("%s of %+v: %s, %s", name, c, got.Status, got.Reason)
			}
			if got.Value != nil {
				v[name] = *got.Value
			}
			if got.Value != nil && (v[name] < 0 || v[name] > 1) {
				t.Fatalf("%s of %+v is %v", name, c, v[name])
			}
		}
		near := func(what string, a, b float64) {
			if math.Abs(a-b) > 1e-12 {
				t.Fatalf("%s: %v and %v of %+v", what, a, b, c)
			}
		}
		near("faithfulness + hallucination + self_knowledge = 1", v["claim_faithfulness"]+v["hallucination"]+v["self_knowledge"], 1)
		near("1 - precision = noise + hallucination", 1-v["response_precision"],
			v["noise_sensitivity_relevant"]+v["noise_sensitivity_irrelevant"]+v["hallucination"])
	})
}

// TestClaimEdges: what a sample scores that lacks claims, chunks or words.
func TestClaimEdges(t *testing.T) {
	for _, c := range []struct {
		name string
		c    claimCase
		edit func(*eval.Sample)
		// want is a value, or a status with its reason; metrics that are not named
		// have a value.
		want map[string]string
	}{
		{"no claim in the response", claimCase{response: "", reference: "1+ -", chunks: 1}, nil, map[string]string{
			"claim_faithfulness": "undefined no_claims: the response makes none", "hallucination": "undefined no_claims: the response makes none",
			"self_knowledge": "undefined no_claims: the response makes none", "noise_sensitivity_relevant": "undefined no_claims: the response makes none",
			"noise_sensitivity_irrelevant": "undefined no_claims: the response makes none", "response_precision": "undefined no_claims: the response makes none",
			"response_f1": "undefined no_claims: the response makes none",
		}},
		{"no claim in the reference", claimCase{response: "1+ -", reference: "", chunks: 1}, nil, map[string]string{
			"noise_sensitivity_relevant": "undefined no_claims: the reference makes none", "noise_sensitivity_irrelevant": "undefined no_claims: the reference makes none",
			"response_recall": "undefined no_claims: the reference makes none", "response_f1": "undefined no_claims: the reference makes none",
			"claim_recall": "undefined no_claims: the reference makes none", "claim_context_precision": "undefined no_claims: the reference makes none",
			"context_utilization": "undefined no_claims: the reference makes none",
		}},
		{"nothing retrieved", claimCase{response: "+ -", reference: "+", chunks: 0}, nil, map[string]string{
			"claim_faithfulness": "0 no_contexts", "claim_recall": "0 no_contexts", "claim_context_precision": "0 no_contexts",
			"noise_sensitivity_relevant": "0 no_contexts", "noise_sensitivity_irrelevant": "0 no_contexts",
			"hallucination": "0.5 no_contexts", "self_knowledge": "0.5 no_contexts", "context_utilization": "undefined no_contexts",
		}},
		{"a blank chunk", claimCase{response: "+ -", reference: "+", chunks: 1}, func(s *eval.Sample) { s.RetrievedContexts = []string{" \n"} }, map[string]string{
			"claim_faithfulness": "0 no_contexts", "claim_recall": "0 no_contexts", "claim_context_precision": "0 no_contexts",
			"noise_sensitivity_relevant": "0 no_contexts", "noise_sensitivity_irrelevant": "0 no_contexts",
			"hallucination": "0.5 no_contexts", "self_knowledge": "0.5 no_contexts", "context_utilization": "undefined no_contexts",
		}},
		{"nothing to use", claimCase{response: "1+", reference: "+", chunks: 1}, nil, map[string]string{
			"context_utilization": "undefined nothing_recalled",
		}},
		{"a reference that says nothing", claimCase{response: "1", reference: "", chunks: 1}, func(s *eval.Sample) { s.Reference = "..." }, map[string]string{
			"hallucination": "undefined no_claims: the reference: no_words", "self_knowledge": "undefined no_claims: the reference: no_words",
			"noise_sensitivity_relevant": "undefined no_claims: the reference: no_words", "noise_sensitivity_irrelevant": "undefined no_claims: the reference: no_words",
			"response_precision": "undefined no_claims: the reference: no_words", "response_f1": "undefined no_claims: the reference: no_words",
			"response_recall": "undefined no_claims: no_words", "claim_recall": "undefined no_claims: no_words",
			"claim_context_precision": "undefined no_claims: no_words", "context_utilization": "undefined no_claims: no_words",
		}},
		{"a response that says nothing", claimCase{response: "", reference: "1", chunks: 1}, func(s *eval.Sample) { s.Response = "..." }, map[string]string{
			"claim_faithfulness": "undefined no_claims: no_words", "hallucination": "undefined no_claims: no_words", "self_knowledge": "undefined no_claims: no_words",
			"noise_sensitivity_relevant": "undefined no_claims: no_words", "noise_sensitivity_irrelevant": "undefined no_claims: no_words",
			"response_precision": "undefined no_claims: no_words", "response_f1": "undefined no_claims: no_words",
			"response_recall": "0 no_words", "context_utilization": "0 no_words",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, l := c.c.lay()
			if c.edit != nil {
				c.edit(s)
			}
			for name, got := range reportOf(t, s, metrics.Options{Judge: l}) {
				said := string(got.Status)
				if got.Value != nil {
					said = strings.TrimSuffix(strings.TrimRight(shownFloat(*got.Value), "0"), ".")
				}
				said += " " + got.Reason
				if want, named := c.want[name]; named && said != want || !named && got.Value == nil {
					t.Errorf("%s: %q, want %q", name, said, want)
				}
			}
		})
	}
}

func shownFloat(v float64) string {
	if v == 0 {
		return "0."
	}
	return strings.TrimRight(strings.TrimRight(formatted(v), "0"), ".") + "."
}

func formatted(v float64) string {
	b, _ := eval.MarshalJSON(v)
	return string(b)
}

// TestNoClaimsPolicyOfTheTable: the policy holds for every metric over the table.
func TestNoClaimsPolicyOfTheTable(t *testing.T) {
	s, l := claimCase{chunks: 1}.lay()
	for policy, want := range map[metrics.NoClaims]float64{metrics.NoClaimsOne: 1, metrics.NoClaimsZero: 0} {
		for name, got := range reportOf(t, s, metrics.Options{Judge: l, NoClaims: policy}) {
			if got.Value == nil || *got.Value != want || !strings.HasPrefix(got.Reason, "no_claims") {
				t.Errorf("%s: %s %v, %q", name, got.Status, shown(got.Value), got.Reason)
			}
		}
	}
}

// part of the table that fails.
type broken struct {
	*laid
	backing, verdicts error
}

func (b broken) Backing(ctx context.Context, a judge.Ask) ([]judge.Backing, error) {
	if b.backing != nil {
		return nil, b.backing
	}
	return b.laid.Backing(ctx, a)
}

func (b broken) Verdicts(ctx context.Context, a judge.Ask) ([]judge.Verdict, error) {
	if b.verdicts != nil {
		return nil, b.verdicts
	}
	return b.laid.Verdicts(ctx, a)
}

// TestTableWithoutAnAnswer: one part of the table that can't be had leaves no
// score; what ends the run goes before what doesn't.
func TestTableWithoutAnAnswer(t *testing.T) {
	unusable := &judge.UnusableError{Code: judge.CodeMissing, Message: "no usable verdict on 1 of 2 items", Reply: "{}"}
	down, fatal := &llm.Error{Kind: llm.Transient, Code: "timeout"}, &llm.Error{Kind: llm.Fatal, Code: "invalid_api_key"}
	for _, c := range []struct {
		backing, verdicts error
		status            eval.Status
		reason            string
	}{
		{unusable, nil, eval.Unscored, "missing_verdicts: "},
		{nil, unusable, eval.Unscored, "missing_verdicts: "},
		{down, nil, eval.Failed, "transient: "},
		{unusable, fatal, "", ""},
		{fatal, unusable, "", ""},
	} {
		s, l := claimCase{response: "1+", reference: "1+", chunks: 1}.lay()
		got, err := made(t, "hallucination", metrics.Options{Judge: broken{l, c.backing, c.verdicts}}).Score(t.Context(), s)
		if c.status == "" {
			if !errors.Is(err, fatal) {
				t.Errorf("%v, %v: %v ends no run", c.backing, c.verdicts, err)
			}
			continue
		}
		if err != nil || got.Status != c.status || !strings.HasPrefix(got.Reason, c.reason) {
			t.Errorf("%v, %v: %s %q, %v", c.backing, c.verdicts, got.Status, got.Reason, err)
		}
	}
}

// tablePanel makes a panel of judges who see the same claims in their own way.
func tablePanel(t *testing.T, vote metrics.Vote, chunks int, views ...[2]string) (*eval.Sample, metrics.Panel) {
	t.Helper()
	p := metrics.Panel{Vote: vote, MaxDisagreement: 0.25}
	var sample *eval.Sample
	for i, v := range views {
		s, l := claimCase{response: v[0], reference: v[1], chunks: chunks}.lay()
		sample = s
		p.Seats = append(p.Seats, metrics.Seat{Name: string(rune('a' + i)), Judge: l})
	}
	return sample, p
}

// TestTablePanels: several judges vote on every cell, and the formula is applied
// to what they agree on.
func TestTablePanels(t *testing.T) {
	for _, c := range []struct {
		name, metric string
		vote         metrics.Vote
		views        [][2]string
		want         float64 // below 0: none
		low, high    float64
		reason       string
	}{
		// By cells: claim 1 in chunk 1 (2 of 3) and right (3 of 3); claim 2 in no
		// chunk and wrong.
		{"majority", "hallucination", "majority", [][2]string{{"1+ -", "1"}, {"1+ 2", "1"}, {"+ -", "1"}}, 0.5, 0, 0, ""},
		{"a tie on one cell", "hallucination", "majority", [][2]string{{"- -", "1"}, {"1 -", "1"}}, -1, 0.5, 1, "tie: the seats have no majority on 1 of 6 items"},
		{"a tie that lets both ways be", "claim_context_precision", "majority", [][2]string{{"1+", "1 2"}, {"1+", "1 -"}}, -1, 0.5, 1, "tie: "},
		{"mean", "response_precision", "mean", [][2]string{{"+ -", "1"}, {"+ +", "1"}}, 0.75, 0, 0, ""},
		{"median", "claim_recall", "median", [][2]string{{"+", "1 1"}, {"+", "1 -"}, {"+", "- -"}}, 0.5, 0, 0, ""},
		{"a seat without a value", "context_utilization", "mean", [][2]string{{"+", "1+"}, {"+", "+"}}, -1, 0, 0, "nothing_recalled"},
		{"a majority that recalls nothing", "context_utilization", "majority", [][2]string{{"+", "1+"}, {"+", "+"}, {"+", "-"}}, -1, 0, 0, "nothing_recalled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, p := tablePanel(t, c.vote, 2, c.views...)
			got := scored(t, made(t, c.metric, metrics.Options{Panel: p}), s)
			if c.want >= 0 {
				wantScore(t, got, c.want)
			} else if got.Value != nil || !strings.HasPrefix(got.Reason, c.reason) {
				t.Errorf("%s %v, %q; want none for %q", got.Status, shown(got.Value), got.Reason, c.reason)
			}
			d := decoded[metrics.ClaimTableDetail](t, got.Detail)
			if c.high > 0 && (d.Bounds == nil || *d.Bounds != (metrics.Bounds{Low: c.low, High: c.high})) {
				t.Errorf("bounds %v, want %v to %v", d.Bounds, c.low, c.high)
			}
			if got.Panel == nil || len(got.Panel.Seats) != len(c.views) || got.Panel.Agreement == nil {
				t.Errorf("panel %+v", got.Panel)
			}
		})
	}
}

// TestPanelOfOneMindIsOne: three judges who say the same give the score of one.
func TestPanelOfOneMindIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		s, l := c.lay()
		one := reportOf(t, s, metrics.Options{Judge: l})
		var p metrics.Panel
		p.Vote = rapid.SampledFrom(metrics.Votes).Draw(t, "vote")
		for _, name := range []string{"a", "b", "c"} {
			p.Seats = append(p.Seats, metrics.Seat{Name: name, Judge: l})
		}
		for name, got := range reportOf(t, s, metrics.Options{Panel: p}) {
			if got.Status != one[name].Status || got.Value != nil && *got.Value != *one[name].Value || string(got.Detail) != string(one[name].Detail) {
				t.Fatalf("%s of %+v by %s: %+v, alone %+v", name, c, p.Vote, got, one[name])
			}
			if len(got.Flags) > 0 {
				t.Fatalf("%s has the flags %v", name, got.Flags)
			}
		}
	})
}

// TestLexicalTable: with the offline judge faithfulness by the table is
// faithfulness, since that judge never puts two chunks together; the two are
// asked in different calls all the same.
func TestLexicalTable(t *testing.T) {
	j := judge.New(judge.Config{Client: judge.Lexical{}, Endpoint: "lexical", Model: judge.LexicalModel})
	s := &eval.Sample{UserInput: "When does cover start?", Response: "Cover starts in May 2024. Dogs are welcome. The garden is open.",
		RetrievedContexts: []string{"The garden is open to all.", "Your cover starts in May 2024."}, Reference: "It starts in May 2024."}
	for _, names := range [][2]string{{"faithfulness", "claim_faithfulness"}} {
		own, table := scored(t, made(t, names[0], metrics.Options{Judge: j}), s), scored(t, made(t, names[1], metrics.Options{Judge: j}), s)
		byCompat := scored(t, made(t, names[0], metrics.Options{Judge: j, Compat: metrics.CompatRAGChecker}), s)
		wantScore(t, own, 2.0/3)
		wantScore(t, table, 2.0/3)
		wantScore(t, byCompat, 2.0/3)
		if byCompat.Metric != names[0] || string(byCompat.Detail) != string(table.Detail) {
			t.Errorf("by compat %+v", byCompat)
		}
	}
	if asks := made(t, "faithfulness", metrics.Options{Judge: j}).Info().Asks; slices.Equal(asks, made(t, "claim_faithfulness", metrics.Options{Judge: j}).Info().Asks) {
		t.Errorf("both ask %v", asks)
	}
}
