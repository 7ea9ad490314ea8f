package metrics_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
)

// drawSample draws lists over few ids, so that hits and repeats are frequent.
func drawSample(t *rapid.T) *eval.Sample {
	id := rapid.StringMatching(`[A-F]`)
	grade := rapid.SampledFrom([]float64{-1, 0, 0.25, 1, 1, 2, 3})
	return &eval.Sample{
		RetrievedContextIDs: rapid.SliceOfN(id, 0, 9).Draw(t, "retrieved"),
		ReferenceContextIDs: rapid.MapOfN(id, grade, 0, 6).Draw(t, "grades"),
	}
}

func valueOf(t *rapid.T, name string, s *eval.Sample) float64 {
	t.Helper()
	m, err := metrics.New(name, metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	score, err := m.Score(t.Context(), s)
	if err != nil || score.Check() != nil || score.Value == nil {
		t.Fatalf("%s of %+v: %+v, %v, want a value", name, s, score, err)
	}
	if *score.Value < 0 || *score.Value > 1 {
		t.Fatalf("%s of %+v: %v is outside 0..1", name, s, *score.Value)
	}
	return *score.Value
}

// TestRankingProperties: whatever the lists, values lie within 0..1; a repeat
// changes nothing but the flag; an id that is not relevant, at the end, never
// raises a value; what can only grow with k does.
func TestRankingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		once := *s
		once.RetrievedContextIDs = nil
		for _, id := range s.RetrievedContextIDs {
			if !slices.Contains(once.RetrievedContextIDs, id) {
				once.RetrievedContextIDs = append(once.RetrievedContextIDs, id)
			}
		}
		once.RetrievedContextIDs = append([]string{}, once.RetrievedContextIDs...)
		longer := once
		longer.RetrievedContextIDs = append(slices.Clone(once.RetrievedContextIDs), "unjudged")
		for _, name := range rankingNames {
			v := valueOf(t, name, s)
			if w := valueOf(t, name, &once); v != w {
				t.Fatalf("%s: %v with repeats, %v without", name, v, w)
			}
			if w := valueOf(t, name, &longer); w > v {
				t.Fatalf("%s: %v, and %v with an unjudged id at the end", name, v, w)
			}
		}
		for _, name := range []string{"recall", "hit_rate", "mrr"} {
			before := 0.0
			for k := 1; k <= 10; k++ {
				v := valueOf(t, fmt.Sprintf("%s@%d", name, k), s)
				if v < before {
					t.Fatalf("%s@%d: %v, less than %v one rank above", name, k, v, before)
				}
				before = v
			}
		}
	})
}

// TestPerfectOrder: the relevant ids by falling grade, and nothing else, give
// 1 in every metric whose k reaches that far.
func TestPerfectOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.Float64Range(0.1, 9), 1, 30).Draw(t, "grades")
		s := &eval.Sample{ReferenceContextIDs: grades}
		for id := range grades {
			s.RetrievedContextIDs = append(s.RetrievedContextIDs, id)
		}
		slices.SortFunc(s.RetrievedContextIDs, func(a, b string) int {
			switch {
			case grades[a] > grades[b]:
				return -1
			case grades[a] < grades[b]:
				return 1
			}
			return 0
		})
		for _, name := range []string{"precision@30", "recall@30", "hit_rate@1", "f1@30", "mrr", "map", "map@3", "ndcg", "ndcg@3", "r_precision"} {
			if v := valueOf(t, name, s); v < 1-1e-12 {
				t.Fatalf("%s of a perfect order: %v", name, v)
			}
		}
	})
}

// TestSwap: an id that moves ahead of a worse one never lowers the metrics of
// order.
func TestSwap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		list := rapid.Permutation([]string{"A", "B", "C", "D", "E", "F"}).Draw(t, "list")
		i := rapid.IntRange(0, len(list)-2).Draw(t, "rank")
		if s.ReferenceContextIDs[list[i]] < s.ReferenceContextIDs[list[i+1]] {
			list[i], list[i+1] = list[i+1], list[i]
		}
		better, worse := *s, *s
		better.RetrievedContextIDs, worse.RetrievedContextIDs = list, slices.Clone(list)
		worse.RetrievedContextIDs[i], worse.RetrievedContextIDs[i+1] = list[i+1], list[i]
		for _, name := range []string{"mrr", "map", "map@4", "ndcg", "ndcg@4", "precision@4", "recall@4"} {
			if v, w := valueOf(t, name, &better), valueOf(t, name, &worse); v < w-1e-12 {
				t.Fatalf("%s: %v, and %v with ranks %d and %d swapped for the worse", name, v, w, i+1, i+2)
			}
		}
	})
}
