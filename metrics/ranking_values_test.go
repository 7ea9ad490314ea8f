package metrics_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
)

func ids(s string) []string { return append([]string{}, strings.Fields(s)...) }

// relevant gives each id of the list the grade 1.
func relevant(s string) map[string]float64 {
	grades := map[string]float64{}
	for id := range strings.FieldsSeq(s) {
		grades[id] = 1
	}
	return grades
}

func wantFlags(t testing.TB, score eval.Score, want ...string) {
	t.Helper()
	if !slices.Equal(score.Flags, want) {
		t.Errorf("%s: flags %q, want %q", score.Metric, score.Flags, want)
	}
}

// wantWithout checks that the score has no value, and why.
func wantWithout(t testing.TB, score eval.Score, status eval.Status, reason string) {
	t.Helper()
	if score.Status != status || score.Reason != reason {
		t.Errorf("%s: status %s, reason %q, want %s, %q", score.Metric, score.Status, score.Reason, status, reason)
	}
}

func TestRankingValues(t *testing.T) {
	const abcde = "A B C D E"
	for _, c := range []struct {
		metric, retrieved, relevant string
		want                        float64
		flags                       []string
	}{
		// The denominator of precision is what was returned within k.
		{"precision@5", abcde, "A C", 0.4, nil},
		{"precision@5", "A B C", "A C", 2.0 / 3, nil},
		{"precision@1", abcde, "A C", 1, nil},
		{"precision@2", abcde, "C D", 0, nil},
		{"precision@5", "", "A", 0, nil},
		{"precision@5", abcde, "", 0, []string{metrics.FlagNoRelevant}},
		{"precision@1000000", abcde, "A C", 0.4, nil},

		{"recall@5", abcde, "A C F", 2.0 / 3, nil},
		{"recall@2", abcde, "A C F", 1.0 / 3, nil},
		{"recall@5", "", "A", 0, nil},
		{"recall@5", abcde, "", 1, []string{metrics.FlagVacuous}},
		{"recall@5", "", "", 1, []string{metrics.FlagVacuous}},

		{"hit_rate@5", abcde, "E", 1, nil},
		{"hit_rate@5", abcde, "A C E", 1, nil},
		{"hit_rate@4", abcde, "E", 0, nil},
		{"hit_rate@4", "", "E", 0, nil},
		{"hit_rate@4", abcde, "", 0, []string{metrics.FlagNoRelevant}},

		{"f1@5", abcde, "A C F", 0.5, nil}, // P = 2/5, R = 2/3
		{"f1@5", abcde, "F", 0, nil},
		{"f1@5", "", "F", 0, nil},
		{"f1@5", abcde, "", 0, []string{metrics.FlagNoRelevant}},
		{"f1@3", "A B C", "A B C", 1, nil},

		{"mrr", abcde, "C E", 1.0 / 3, nil},
		{"mrr", abcde, "A", 1, nil},
		{"mrr@3", abcde, "C", 1.0 / 3, nil},
		{"mrr@2", abcde, "C", 0, nil},
		{"mrr", abcde, "F", 0, nil},
		{"mrr", "", "A", 0, nil},
		{"mrr", abcde, "", 0, []string{metrics.FlagNoRelevant}},

		{"map", abcde, "A C F", (1 + 2.0/3) / 3, nil},
		{"map@5", abcde, "A C", (1 + 2.0/3) / 2, nil},
		{"map@2", abcde, "A C", 0.5, nil},    // one of min(2, 2)
		{"map@2", abcde, "A B C D", 1, nil},  // perfect as far as it goes
		{"map@2", abcde, "B C D", 0.25, nil}, // (1/2) / min(2, 3)
		{"map", abcde, "A B", 1, nil},        // useless ids behind cost nothing
		{"map", "", "A", 0, nil},             // nothing found
		{"map@3", abcde, "", 0, []string{metrics.FlagNoRelevant}},

		{"r_precision", abcde, "A C", 0.5, nil},
		{"r_precision", abcde, "A B", 1, nil},
		{"r_precision", "A", "A B C D", 0.25, nil}, // R is the denominator, not what was returned
		{"r_precision", abcde, "", 0, []string{metrics.FlagNoRelevant}},
		{"r_precision", "", "A", 0, nil},

		{"ndcg", abcde, "A C", (1 + 0.5) / (1 + 1/math.Log2(3)), nil},
		{"ndcg@5", abcde, "A B", 1, nil},
		{"ndcg@1", abcde, "A C F", 1, nil}, // the ideal is cut at k too
		{"ndcg@2", abcde, "C", 0, nil},
		{"ndcg", "", "A", 0, nil},
		{"ndcg", abcde, "", 0, []string{metrics.FlagNoRelevant}},

		// No judgement says that an id is not relevant: nothing stands before.
		{"bpref", abcde, "C E", 1, nil},
		{"bpref", abcde, "C F", 0.5, nil},
		{"bpref", "", "A", 0, nil},
		{"bpref", abcde, "", 0, []string{metrics.FlagNoRelevant}},

		{"judged@5", abcde, "A C F", 0.4, nil},
		{"judged@2", "A", "A", 1, nil},
		{"judged@5", abcde, "", 0, []string{metrics.FlagNoRelevant}},

		// A repeated id counts once, at its first rank, and the rest move up.
		{"precision@5", "A A A A A", "A", 1, []string{metrics.FlagDuplicateIDs}},
		{"precision@3", "A A B B C", "A C", 2.0 / 3, []string{metrics.FlagDuplicateIDs}},
		{"recall@2", "A A C", "A C", 1, []string{metrics.FlagDuplicateIDs}},
		{"mrr", "B B B A", "A", 0.5, []string{metrics.FlagDuplicateIDs}},
		{"map", "A A A", "A B", 0.5, []string{metrics.FlagDuplicateIDs}},
		{"ndcg@3", "A A A", "A B", 1 / (1 + 1/math.Log2(3)), []string{metrics.FlagDuplicateIDs}},
		{"hit_rate@1", "A A", "", 0, []string{metrics.FlagNoRelevant, metrics.FlagDuplicateIDs}},
	} {
		t.Run(c.metric+"/"+c.retrieved+"/"+c.relevant, func(t *testing.T) {
			s := &eval.Sample{RetrievedContextIDs: ids(c.retrieved), ReferenceContextIDs: relevant(c.relevant)}
			score := scored(t, made(t, c.metric, metrics.Options{}), s)
			wantScore(t, score, c.want)
			wantFlags(t, score, c.flags...)
		})
	}
}

// TestGrades: above 0 is relevant; 0, less and no grade at all are not. Only
// ndcg asks how high a grade is.
func TestGrades(t *testing.T) {
	s := &eval.Sample{
		RetrievedContextIDs: ids("A B C D E"),
		ReferenceContextIDs: map[string]float64{"A": 1, "B": 0, "C": 3, "D": -2, "F": 2, "G": 0.5},
	}
	// Ideal: 3, 2, 1, 0.5.
	dcg := 1 + 3/2.0
	ideal := 3 + 2/math.Log2(3) + 1/2.0 + 0.5/math.Log2(5)
	two := math.Sqrt2 - 1 // 2^0.5 - 1
	dcgExp := 1 + 7/2.0
	idealExp := 7 + 3/math.Log2(3) + 1/2.0 + two/math.Log2(5)
	for _, c := range []struct {
		metric string
		gain   metrics.Gain
		want   float64
	}{
		{"precision@5", "", 0.4},
		{"recall@5", "", 0.5},
		{"ndcg", "", dcg / ideal},
		{"ndcg", metrics.GainLinear, dcg / ideal},
		{"ndcg", metrics.GainExponential, dcgExp / idealExp},
		{"ndcg@2", "", 1 / (3 + 2/math.Log2(3))},
		{"ndcg@2", metrics.GainExponential, 1 / (7 + 3/math.Log2(3))},
	} {
		wantScore(t, scored(t, made(t, c.metric, metrics.Options{Gain: c.gain}), s), c.want)
	}

	s.ReferenceContextIDs = map[string]float64{"A": 0, "B": -1}
	score := scored(t, made(t, "ndcg@5", metrics.Options{}), s)
	wantScore(t, score, 0)
	wantFlags(t, score, metrics.FlagNoRelevant)
	score = scored(t, made(t, "recall@5", metrics.Options{}), s)
	wantScore(t, score, 1)
	wantFlags(t, score, metrics.FlagVacuous)
}

// TestGradesBeyondNumbers: what has no finite value is undefined, not a number.
func TestGradesBeyondNumbers(t *testing.T) {
	for _, grade := range []float64{math.Inf(1), 5000} {
		s := &eval.Sample{RetrievedContextIDs: ids("A B"), ReferenceContextIDs: map[string]float64{"A": grade, "B": 1}}
		score := scored(t, made(t, "ndcg", metrics.Options{Gain: metrics.GainExponential}), s)
		if score.Status != eval.Undefined || !strings.HasPrefix(score.Reason, "not_finite") {
			t.Errorf("grade %v: %+v, want undefined: not_finite", grade, score)
		}
	}
	s := &eval.Sample{RetrievedContextIDs: ids("A B"), ReferenceContextIDs: map[string]float64{"A": math.NaN(), "B": 1}}
	wantScore(t, scored(t, made(t, "ndcg", metrics.Options{}), s), 1/math.Log2(3))
	wantScore(t, scored(t, made(t, "precision@2", metrics.Options{}), s), 0.5)
}

var rankingNames = []string{"precision@5", "recall@5", "hit_rate@5", "f1@5", "mrr", "mrr@5", "map", "map@5", "ndcg", "ndcg@5", "r_precision", "bpref"}

// TestRankingMissing: a field that is missing is not an empty one.
func TestRankingMissing(t *testing.T) {
	for _, name := range rankingNames {
		m := made(t, name, metrics.Options{})
		wantWithout(t, scored(t, m, &eval.Sample{ReferenceContextIDs: relevant("A")}), eval.Skipped, "missing_field: retrieved_context_ids")
		wantWithout(t, scored(t, m, &eval.Sample{RetrievedContextIDs: ids("A")}), eval.Skipped, "missing_field: reference_context_ids")
		empty := &eval.Sample{RetrievedContextIDs: []string{}, ReferenceContextIDs: map[string]float64{}}
		if score := scored(t, m, empty); score.Status != eval.Scored {
			t.Errorf("%s of empty lists: %+v, want a score", name, score)
		}
	}
}

func TestRankingDetail(t *testing.T) {
	s := &eval.Sample{RetrievedContextIDs: ids("A B A C D E"), ReferenceContextIDs: relevant("A C E F")}
	for _, c := range []struct {
		metric string
		want   metrics.RankingDetail
	}{
		{"precision@3", metrics.RankingDetail{Returned: 3, Relevant: 4, HitRanks: []int{1, 3}}},
		{"mrr", metrics.RankingDetail{Returned: 5, Relevant: 4, HitRanks: []int{1, 3, 5}}},
		{"hit_rate@9", metrics.RankingDetail{Returned: 5, Relevant: 4, HitRanks: []int{1, 3, 5}}},
	} {
		got := decoded[metrics.RankingDetail](t, scored(t, made(t, c.metric, metrics.Options{}), s).Detail)
		if got.Returned != c.want.Returned || got.Relevant != c.want.Relevant || !slices.Equal(got.HitRanks, c.want.HitRanks) {
			t.Errorf("%s: detail %+v, want %+v", c.metric, got, c.want)
		}
	}
	// No hit is an empty list, not null.
	none := scored(t, made(t, "mrr", metrics.Options{}), &eval.Sample{RetrievedContextIDs: ids("A"), ReferenceContextIDs: relevant("B")})
	if got, want := string(none.Detail), `{"returned":1,"relevant":1,"hit_ranks":[]}`; got != want {
		t.Errorf("detail %s, want %s", got, want)
	}
}
