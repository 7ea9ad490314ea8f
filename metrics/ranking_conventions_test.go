package metrics_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/ranking"
)

func byTrecEval(level float64) metrics.Options {
	return metrics.Options{Ranking: metrics.RankingOptions{Convention: ranking.TrecEval, Level: level}}
}

// TestConventions: one list, where tools disagree.
func TestConventions(t *testing.T) {
	graded := map[string]float64{"A": 2, "B": 0, "C": 1, "D": -1, "F": 3, "G": 1}
	for _, c := range []struct {
		metric, retrieved string
		opt               metrics.Options
		want              float64
	}{
		{"precision@10", "A B C", metrics.Options{}, 2.0 / 3},
		{"precision@10", "A B C", byTrecEval(0), 0.2},
		{"map@2", "A C", metrics.Options{}, 1},
		{"map@2", "A C", byTrecEval(0), 0.5},
		{"f1@5", "A B C", metrics.Options{}, 2 * (2.0 / 3) * 0.5 / (2.0/3 + 0.5)},
		{"f1@5", "A B C", byTrecEval(0), 2 * 0.4 * 0.5 / 0.9},
		{"mrr", "B D C", byTrecEval(0), 1.0 / 3},

		// The level: at 2, C and G are judged and not relevant.
		{"recall@5", "A C", metrics.Options{Ranking: metrics.RankingOptions{Level: 2}}, 0.5},
		{"recall@5", "A C", byTrecEval(2), 0.5},
		{"ndcg@1", "A", byTrecEval(3), 2.0 / 3}, // has no say in nDCG

		// bpref: B stands before C. By rag D was judged not relevant too, by
		// trec_eval it was not judged: 1 - 1/2 of two, or 1 - 1/1 of one.
		{"bpref", "A B C", metrics.Options{}, (1 + 0.5) / 4},
		{"bpref", "A B C", byTrecEval(0), 1.0 / 4},
		{"bpref", "A D C", metrics.Options{}, (1 + 0.5) / 4},
		{"bpref", "A D C", byTrecEval(0), 2.0 / 4},

		{"judged@3", "A D X", metrics.Options{}, 2.0 / 3},
		{"judged@3", "A D X", byTrecEval(0), 1.0 / 3},
	} {
		s := &eval.Sample{RetrievedContextIDs: ids(c.retrieved), ReferenceContextIDs: graded}
		t.Run(c.metric+"/"+c.retrieved+"/"+string(c.opt.Ranking.Convention), func(t *testing.T) {
			wantScore(t, scored(t, made(t, c.metric, c.opt), s), c.want)
		})
	}
}

// TestTrecEvalHasNoValue: where trec_eval stops or leaves a query out, there is
// no number.
func TestTrecEvalHasNoValue(t *testing.T) {
	for name, c := range map[string]struct {
		retrieved string
		grades    map[string]float64
		code      string
	}{
		"repeated":    {"A B A", map[string]float64{"A": 1}, `duplicate_ids: "A"`},
		"no judgment": {"A B", map[string]float64{}, "no_judgements"},
		"unjudged":    {"A B", map[string]float64{"A": -1}, "no_judgements"},
	} {
		for _, metric := range append([]string{"judged@5"}, rankingNames...) {
			s := &eval.Sample{RetrievedContextIDs: ids(c.retrieved), ReferenceContextIDs: c.grades}
			score := scored(t, made(t, metric, byTrecEval(0)), s)
			if score.Status != eval.Undefined || !strings.HasPrefix(score.Reason, c.code) {
				t.Errorf("%s, %s: %+v, want undefined: %s", name, metric, score, c.code)
			}
		}
	}
	s := &eval.Sample{RetrievedContextIDs: []string{}, ReferenceContextIDs: relevant("A")}
	for _, opt := range []metrics.Options{{}, byTrecEval(0)} {
		score := scored(t, made(t, "judged@5", opt), s)
		if score.Status != eval.Undefined || !strings.HasPrefix(score.Reason, "nothing_retrieved") {
			t.Errorf("judged of nothing: %+v", score)
		}
	}
}

func TestRankingOptionsFromConfiguration(t *testing.T) {
	opt, err := metrics.Options{}.With("precision", map[string]any{"convention": "trec_eval", "relevance_level": int64(2)})
	if err != nil || opt.Ranking.Convention != ranking.TrecEval || opt.Ranking.Level != 2 {
		t.Fatalf("%+v, %v", opt.Ranking, err)
	}
	if opt, err = (metrics.Options{}).With("ndcg", map[string]any{"relevance_level": 0.5, "gain": "exponential"}); err != nil || opt.Ranking.Level != 0.5 || opt.Gain != metrics.GainExponential {
		t.Fatalf("%+v, %v", opt, err)
	}
	for key, value := range map[string]any{"convention": "best", "relevance_level": int64(0)} {
		if _, err := (metrics.Options{}).With("map", map[string]any{key: value}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s = %v: %v, want an error that names it", key, value, err)
		}
	}
	for _, value := range []any{"2", -1.0, math.Inf(1), math.NaN(), true} {
		if _, err := (metrics.Options{}).With("map", map[string]any{"relevance_level": value}); err == nil {
			t.Errorf("relevance_level = %v must be an error", value)
		}
	}
	if _, err := metrics.New("map", byTrecEval(-1)); err == nil {
		t.Error("New with a level below 0 must be an error")
	}
	// What the metric does is what it says.
	if f := made(t, "precision@5", byTrecEval(2)).Info(); f.Formula != "relevant ids within k / k" || !strings.Contains(f.Doc, "of 2 or more") {
		t.Errorf("%s: %s", f.Formula, f.Doc)
	}
}

// TestTrecEvalByItsConvention holds the values of trec_eval 9.0.8 on every
// query of every file, without exception.
func TestTrecEvalByItsConvention(t *testing.T) {
	for _, c := range []struct{ golden, qrels, run string }{
		{"trec_eval_test", "trec_eval.qrels.test", "trec_eval.results.test"},
		{"trec_eval_trunc", "trec_eval.qrels.test", "trec_eval.results.trunc"},
		{"trec_eval_rellevel", "trec_eval.qrels.rel_level", "trec_eval.results.test"},
		{"compat", "ir_measures.compat.qrels", "ir_measures.compat.run"},
		{"dl19_ties", "qrels.dl19-passage.txt", "run.dl19-passage.synth-ties.txt"},
		{"dl19_near", "qrels.dl19-passage.txt", "run.dl19-passage.synth-near.txt"},
		{"dl20_miss", "qrels.dl20-passage.txt", "run.dl20-passage.synth-miss.txt"},
		{"vaswani_bm25", "qrels.vaswani.txt", "run.vaswani.bm25mini.txt"},
	} {
		t.Run(c.golden, func(t *testing.T) {
			golden := string(readFixture(t, "fixtures/trec/golden/"+c.golden+".te908.cuts.hp.txt"))
			topics := readTopics(t, c.qrels, c.run)
			n := 0
			for line := range strings.Lines(golden) {
				f := strings.Fields(line)
				name := map[string]string{"map": "map", "Rprec": "r_precision", "bpref": "bpref", "recip_rank": "mrr", "ndcg": "ndcg"}[f[0]]
				if i := strings.LastIndexByte(f[0], '_'); name == "" && i > 0 {
					if k, err := strconv.Atoi(f[0][i+1:]); err == nil {
						name = map[string]string{"P": "precision", "recall": "recall", "ndcg_cut": "ndcg", "map_cut": "map", "success": "hit_rate"}[f[0][:i]]
						name += "@" + strconv.Itoa(k)
					}
				}
				if f[1] == "all" || name == "" || name[0] == '@' {
					continue
				}
				score := scored(t, made(t, name, byTrecEval(0)), topics[f[1]])
				if want := parseFloat(t, f[2]); score.Value == nil || math.Abs(*score.Value-want) > 1e-9 {
					t.Errorf("topic %s: %s is %+v, want %s = %v", f[1], name, score, f[0], want)
				}
				n++
			}
			if n == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// TestConventionsProperties: by either convention values lie within 0..1, and
// what is divided by more is not more.
func TestConventionsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		for _, name := range append([]string{"judged@4"}, rankingNames...) {
			var values [2]*float64
			for i, opt := range []metrics.Options{{}, byTrecEval(0)} {
				m, err := metrics.New(name, opt)
				if err != nil {
					t.Fatal(err)
				}
				score, err := m.Score(t.Context(), s)
				if err != nil || score.Check() != nil {
					t.Fatal(score, err)
				}
				if v := score.Value; v != nil && (*v < 0 || *v > 1) {
					t.Fatalf("%s of %+v: %v is outside 0..1", name, s, *v)
				}
				values[i] = score.Value
			}
			if rag, te := values[0], values[1]; rag != nil && te != nil && (name == "precision@5" || name == "map@5" || name == "recall@5") && !hasFraction(s) && *te > *rag+1e-12 {
				t.Fatalf("%s of %+v: %v by trec_eval, %v by rag", name, s, *te, *rag)
			}
		}
	})
}

// hasFraction reports a grade between 0 and 1, which only rag takes for relevant.
func hasFraction(s *eval.Sample) bool {
	for _, g := range s.ReferenceContextIDs {
		if g > 0 && g < 1 {
			return true
		}
	}
	return false
}
