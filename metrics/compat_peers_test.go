package metrics_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// peerExample makes an example of DeepEval or RAGChecker ready, or says why it is
// not for us.
func peerExample(t *testing.T, e example) (tried, string) {
	if strings.HasPrefix(e.System, "ragchecker") {
		return ragcheckerExample(t, e), ""
	}
	var in struct {
		Verdicts   []string
		PerContext [][]string `json:"verdicts_per_context"`
		Penalize   bool       `json:"penalize_ambiguous_claims"`
		Strict     bool       `json:"strict_mode"`
	}
	// Other peers' inputs have another form, and are not for us.
	if !strings.HasPrefix(e.System, "deepeval") || json.Unmarshal(e.Inputs, &in) != nil {
		return tried{}, notBuilt
	}
	if in.Strict {
		return tried{}, strictMode
	}
	s, l := base(2)
	opt := metrics.Options{Compat: metrics.CompatDeepEval}
	as := func(words []string, yes, no, idk string) []string {
		var labels []string
		for _, w := range words {
			labels = append(labels, map[string]string{"yes": yes, "no": no, "idk": idk}[strings.ToLower(strings.TrimSpace(w))])
		}
		return labels
	}
	switch e.Metric {
	case "faithfulness":
		if in.Penalize { // that is what faithfulness is without compat
			opt.Compat = ""
		}
		l.words(s.Response, "faithfulness/verdict", as(in.Verdicts, judge.Supported, judge.Contradicted, judge.NotFound))
		return tried{"faithfulness", opt, s, l}, ""
	case "answer_relevancy":
		l.words(s.Response, "answer_relevance/statements", as(in.Verdicts, judge.Relevant, judge.Irrelevant, judge.Unclear))
		return tried{"answer_relevancy", opt, s, l}, ""
	case "contextual_precision":
		l.chunkVerdicts(s, "context_precision/verdict", as(in.Verdicts, judge.Useful, judge.NotUseful, judge.NotUseful))
		return tried{"contextual_precision", opt, s, l}, ""
	case "contextual_recall":
		if slices.Contains(in.Verdicts, "yes ") {
			return tried{}, parsing
		}
		l.words(s.Reference, "context_recall/verdict", as(in.Verdicts, judge.Attributable, judge.NotAttributable, judge.NotAttributable))
		return tried{"contextual_recall", opt, s, l}, ""
	case "contextual_relevancy":
		s.RetrievedContexts = []string{}
		for i, verdicts := range in.PerContext {
			c := fmt.Sprintf("Chunk %d.", i+1)
			s.RetrievedContexts = append(s.RetrievedContexts, c)
			l.lists[c] = []string{}
			for n, v := range as(verdicts, judge.Relevant, judge.Irrelevant, judge.Irrelevant) {
				statement := fmt.Sprintf("statement %d of chunk %d", n+1, i+1)
				l.lists[c] = append(l.lists[c], statement)
				l.labels["context_relevance/statements "+statement] = v
			}
		}
		return tried{"contextual_relevancy", opt, s, l}, ""
	case "hallucination":
		l.chunkVerdicts(s, "hallucination/agreement", as(in.Verdicts, judge.Consistent, judge.Contradicted, judge.Consistent))
		return tried{"hallucination", opt, s, l}, ""
	}
	return tried{}, notBuilt
}

// ragcheckerExample lays down the table of an example. What an example leaves out
// its metric doesn't look at.
func ragcheckerExample(t *testing.T, e example) tried {
	var in struct {
		A2R []string   `json:"answer2response"`
		R2A []string   `json:"response2answer"`
		C2A [][]string `json:"retrieved2answer"`
		C2R [][]string `json:"retrieved2response"`
	}
	if err := json.Unmarshal(e.Inputs, &in); err != nil {
		t.Fatalf("%s: %v", e.Note, err)
	}
	is := func(words []string) []bool {
		out := make([]bool, len(words))
		for i, w := range words {
			out[i] = w == "Entailment"
		}
		return out
	}
	table := func(rows [][]string) [][]bool {
		var out [][]bool
		for _, r := range rows {
			out = append(out, is(r))
		}
		return out
	}
	chunks := 0
	for _, r := range slices.Concat(in.C2A, in.C2R) {
		chunks = max(chunks, len(r))
	}
	s, l := base(chunks)
	l.matrix(s.Response, "response", table(in.C2R), is(in.A2R))
	l.matrix(s.Reference, "reference", table(in.C2A), is(in.R2A))
	return tried{e.Metric, metrics.Options{Compat: metrics.CompatRAGChecker}, s, l}
}

// ragcheckerNames are RAGChecker's names, and ours: of the metrics over the table,
// and of those that take its formula by compat.
var ragcheckerNames = map[string][]string{
	"precision": {"response_precision"}, "recall": {"response_recall"}, "f1": {"response_f1", "factual_correctness"},
	"claim_recall": {"claim_recall", "context_recall"}, "context_precision": {"claim_context_precision", "context_precision"},
	"context_utilization": {"context_utilization"}, "faithfulness": {"claim_faithfulness", "faithfulness"},
	"hallucination": {"hallucination"}, "self_knowledge": {"self_knowledge"},
	"noise_sensitivity_in_relevant": {"noise_sensitivity_relevant"}, "noise_sensitivity_in_irrelevant": {"noise_sensitivity_irrelevant"},
}

// TestDeepEvalAndRAGCheckerExamples: the same for compat = "deepeval" and
// "ragchecker", where each of RAGChecker's names has one metric or two.
func TestDeepEvalAndRAGCheckerExamples(t *testing.T) {
	left := map[string]int{}
	for i, e := range readExamples(t, "deepeval_examples.json") {
		x, why := peerExample(t, e)
		if why != "" {
			left[why]++
			continue
		}
		t.Run(fmt.Sprintf("%d %s %s", i, e.Metric, e.Note), func(t *testing.T) {
			if !strings.HasPrefix(e.System, "ragchecker") {
				want, none := e.expected(t)
				checkExample(t, x, want, none, 1e-6)
				return
			}
			expected := map[string]float64{}
			if strings.HasPrefix(e.Metric, "all_11") {
				expected = decoded[map[string]float64](t, e.Expected)
			} else {
				expected[e.Metric], _ = e.expected(t)
			}
			for name, want := range expected {
				if len(ragcheckerNames[name]) == 0 {
					t.Fatalf("no metric of ours is RAGChecker's %s", name)
				}
				for _, ours := range ragcheckerNames[name] {
					x.metric = ours
					checkExample(t, x, want, false, 1e-6)
				}
			}
		})
	}
	skipped(t, left, map[string]int{notBuilt: 19, strictMode: 5, parsing: 1})
}

// TestPanelByDeepEval: where two labels count, a majority for either of them is
// one side, and its verdict the one that was given more often.
func TestPanelByDeepEval(t *testing.T) {
	seat := func(verdict string) metrics.Seat {
		s, l := base(1)
		l.words(s.Response, "faithfulness/verdict", []string{verdict})
		return metrics.Seat{Name: verdict, Judge: l}
	}
	s, _ := base(1)
	for _, c := range []struct {
		seats []string
		want  float64
		shown string
	}{
		{[]string{judge.Supported, judge.NotFound, judge.Contradicted}, 1, judge.NotFound},
		{[]string{judge.Supported, judge.Supported, judge.NotFound}, 1, judge.Supported},
		{[]string{judge.Contradicted, judge.NotFound, judge.Contradicted}, 0, judge.Contradicted},
	} {
		p := metrics.Panel{Vote: metrics.VoteMajority, MaxDisagreement: 1}
		for _, v := range c.seats {
			p.Seats = append(p.Seats, seat(v))
		}
		got := scored(t, made(t, "faithfulness", metrics.Options{Panel: p, Compat: metrics.CompatDeepEval}), s)
		wantScore(t, got, c.want)
		if d := decoded[metrics.ClaimsDetail](t, got.Detail); d.Claims[0].Label != c.shown || !slices.Equal(got.Panel.Positive, []string{judge.Supported, judge.NotFound}) {
			t.Errorf("%v: shown %s, positive %v", c.seats, d.Claims[0].Label, got.Panel.Positive)
		}
	}
}
