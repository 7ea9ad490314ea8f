package report_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/report"
)

// seats makes the panel of a score: for verdicts one letter an item, S for one
// that counts; for ratings a digit; "-" for a seat that is missing.
func seats(trials int, words ...string) *eval.Panel {
	p := &eval.Panel{Vote: "mean", Positive: []string{"supported"}}
	for i, w := range words {
		s := eval.Seat{Judge: string(rune('a' + i/trials)), Trial: i % trials, Status: eval.Scored, Value: ptr(0.5)}
		switch {
		case w == "-":
			s.Status, s.Value = eval.Failed, nil
		case w[0] >= '0' && w[0] <= '9':
			s.Rating = ptr(int(w[0] - '0'))
		default:
			for _, l := range w {
				s.Labels = append(s.Labels, map[rune]string{'S': "supported", 'C': "contradicted", 'N': "not_found"}[l])
			}
		}
		p.Seats = append(p.Seats, s)
	}
	return p
}

// panelled is a summary of three samples judged by two judges in two trials.
func panelled(t *testing.T) *report.Summary {
	t.Helper()
	s := summarizer(t, report.Options{}, faithfulness, relevance, recallAt5)
	row := 0
	sample := func(spread *float64, flags []string, claims *eval.Panel, ratings *eval.Panel) {
		row++
		f, r := eval.Value(0.5).Of(faithfulness), eval.Value(0.5).Of(relevance)
		claims.Spread, f.Panel, f.Flags, r.Panel = spread, claims, flags, ratings
		add(t, s, result(row, "", f, r, eval.Value(1).Of(recallAt5)))
	}
	// Of faithfulness, a and b in trial 0: SS SN, in trial 1: SS SS; then SN NN and
	// SC CC, where C and N are one side; then b is missing once.
	sample(ptr(0.5), []string{eval.FlagJudgesDisagree}, seats(2, "SS", "SS", "SN", "SS"), seats(2, "4", "4", "4", "4"))
	sample(ptr(0.25), nil, seats(2, "SN", "SC", "NN", "CC"), seats(2, "2", "4", "3", "4"))
	sample(nil, nil, seats(2, "S", "S", "-", "N"), seats(2, "5", "4", "5", "-"))
	tie := eval.Without(eval.Unscored, "tie: the seats have no majority").Of(faithfulness)
	tie.Panel = seats(2, "-", "-", "-", "-")
	add(t, s, result(4, "", tie, eval.SkippedFor("response").Of(relevance), eval.Value(1).Of(recallAt5)))
	return s.Summary()
}

func TestAgreementOfJudges(t *testing.T) {
	s := panelled(t)
	f := s.Metrics.Get("faithfulness").Agreement
	if f.Samples != 2 || *f.MeanSpread != 0.375 || f.Disagree != 1 || f.Ties != 1 || f.Measure != report.MeasureKappa {
		t.Errorf("faithfulness: %+v", f)
	}
	// a and b: (S,S) (S,N) (S,S) (S,S) (S,N) (N,N) (S,C) (C,C) (S,N): 5 of 9 equal;
	// a counts 7 times, b 3 times: pe = (7*3 + 2*6)/81 = 33/81; (5/9 - 33/81)/(48/81) = 1/4.
	if len(f.Judges) != 1 || f.Judges[0].N != 9 || !about(f.Judges[0].Equal, 5.0/9) || !about(f.Judges[0].Value, 0.25) {
		t.Errorf("a and b: %+v", f.Judges)
	}
	// a with itself: (S,S) (S,S) (S,S) (N,C) (S,S): all equal. b: (S,S) (N,S) (N,C) (N,C).
	// b: 3 of 4 equal; 1 and 2 count: pe = (1*2 + 3*2)/16 = 1/2; (3/4 - 1/2)/(1/2) = 1/2.
	if len(f.Trials) != 2 || f.Trials[0].N != 5 || !about(f.Trials[0].Value, 1) || f.Trials[1].N != 4 || !about(f.Trials[1].Value, 0.5) {
		t.Errorf("trials: %+v", f.Trials)
	}
	r := s.Metrics.Get("answer_relevance").Agreement
	// In trial 0 (4,4) (2,3) (5,5), in trial 1 (4,4) (4,4): ranks rise together.
	if r.Measure != report.MeasureSpearman || r.Judges[0].N != 5 || !about(r.Judges[0].Value, 1) || !about(r.Judges[0].Equal, 0.8) {
		t.Errorf("ratings: %+v", r)
	}
	// The second trial of a gave 4 throughout: that is no correlation, and not 0.
	if p := r.Trials[0]; p.Value != nil || p.Undefined == "" || p.N != 3 {
		t.Errorf("a constant rater: %+v", p)
	}
	if s.Metrics.Get("recall@5").Agreement != nil {
		t.Error("a metric without judges has an agreement")
	}
}

func about(v *float64, want float64) bool {
	return v != nil && *v-want < 1e-12 && want-*v < 1e-12
}

// TestAgreementIsShown: in text, Markdown, JSON and CSV; and what is undefined is
// said to be.
func TestAgreementIsShown(t *testing.T) {
	s := panelled(t)
	zero := 0.0
	s.Judge = &report.Judge{Provider: report.ProviderPanel, Model: "mean of a, b"}
	s.Panel = &report.Panel{Vote: "mean", Trials: 2, MaxDisagreement: 0.25, Judges: []report.Judge{
		{Name: "a", Provider: "openai", Model: "m", Served: []string{"m-1", "m-2"}, Flags: []string{report.FlagMixedModels}, Usage: &report.Usage{Calls: 7, CostUSD: &zero}},
		{Name: "b", Provider: "openai", Model: "n", Fingerprints: []string{"fp1", "fp2"}, Flags: []string{report.FlagMixedFingerprints}},
	}}
	s.LastExecution = &report.Execution{Exit: "done"}
	for format, wants := range map[string][]string{
		"text": {"Panel: mean of a (openai m, served by m-1, m-2), b (openai n), 2 trials each.", "Warning: mixed_served_models: judge a was served by several models (m-1, m-2)",
			"Warning: mixed_fingerprints: judge b", "Agreement of judges", "a and b", "kappa", "0.250", "spearman", "undefined", "0.375",
			"faithfulness: mean spread 0.375 over 2 samples; the judges disagree on 1 sample; 1 tie without a score.",
			"answer_relevance, a, its trials: no spearman: one of the two said the same throughout", "Judge a: 7 judge calls"},
		"md":   {"## Agreement of judges", "| faithfulness | a and b | kappa | 0.250 | 0.556 | 9 |"},
		"json": {`"panel": {`, `"agreement": {`, `"mean_spread": 0.375`, `"undefined": "one of the two`, `"flags": [`, `"mixed_served_models"`},
	} {
		var b bytes.Buffer
		if err := report.Render(&b, s, format, 0); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", format, want, b.String())
			}
		}
		if strings.Contains(b.String(), "NaN") {
			t.Errorf("%s holds a NaN", format)
		}
	}
	var b bytes.Buffer
	if err := report.CSV(&b, s); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	n := len(lines[0])
	if got := strings.Join(lines[0][n-4:], " "); got != "mean_spread judges_disagree ties agreement" {
		t.Errorf("CSV columns %q", got)
	}
	if got := strings.Join(lines[1][n-4:], "|"); got != "0.375|1|1|a and b: kappa 0.25 (n=9); a, its trials: kappa 1 (n=5); b, its trials: kappa 0.5 (n=4)" {
		t.Errorf("CSV %q", got)
	}
	if got := strings.Join(lines[3][n-4:], ""); got != "" {
		t.Errorf("CSV of a metric without judges: %q", got)
	}
	var j bytes.Buffer
	if err := report.JSON(&j, s); err != nil {
		t.Fatal(err)
	}
	back, err := report.Decode(j.Bytes())
	if err != nil || back.Panel.Judges[0].Flags[0] != report.FlagMixedModels || *back.Metrics[0].Agreement.MeanSpread != 0.375 {
		t.Errorf("what comes back: %+v, %v", back, err)
	}
}

// TestLowerIsBetter: where a low value is a good one, the worst samples are those
// with the highest, and a lost sample could at worst have got 1.
func TestLowerIsBetter(t *testing.T) {
	bad := eval.Info{Name: "hallucination", Version: 1, Judged: true, LowerIsBetter: true}
	s := summarizer(t, report.Options{List: 1}, bad)
	add(t, s, result(1, "", eval.Value(0).Of(bad)), result(2, "", eval.Value(0.5).Of(bad)), result(3, "", eval.Value(0.1).Of(bad)),
		result(4, "", eval.Without(eval.Failed, "transient: x").Of(bad)))
	sum := s.Summary()
	m := sum.Metrics.Get("hallucination")
	if sum.Worst.Samples[0].Row != 2 || !m.LowerIsBetter || !about(m.WorstCase, 0.4) {
		t.Errorf("worst row %d, worst case %v", sum.Worst.Samples[0].Row, *m.WorstCase)
	}
}
