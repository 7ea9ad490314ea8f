package metrics_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
)

// TestCookbook holds the recorded precision, recall and reciprocal rank of 100
// questions. The recording tells no ids, but its three figures and the number
// of right chunks fix how many of the (at most three) retrieved chunks were
// right and where the first one stood.
func TestCookbook(t *testing.T) {
	questions := decoded[[]struct {
		Question      string   `json:"question"`
		CorrectChunks []string `json:"correct_chunks"`
	}](t, readFixture(t, "data/anthropic_cookbook/docs_evaluation_dataset.json"))
	rows, err := csv.NewReader(bytes.NewReader(readFixture(t, "data/anthropic_cookbook/evaluation_results_detailed.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	if len(rows) != 100 || len(questions) != 100 {
		t.Fatalf("read %d rows and %d questions, want 100 of both", len(rows), len(questions))
	}
	for i, row := range rows {
		q := questions[i]
		if row[0] != q.Question {
			t.Fatalf("row %d is on %q, want %q", i+1, row[0], q.Question)
		}
		precision, recall, rr := parseFloat(t, row[1]), parseFloat(t, row[2]), parseFloat(t, row[3])
		hits := int(math.Round(recall * float64(len(q.CorrectChunks))))
		s := &eval.Sample{ReferenceContextIDs: map[string]float64{}, RetrievedContextIDs: []string{"wrong 1", "wrong 2", "wrong 3"}}
		for _, c := range q.CorrectChunks {
			s.ReferenceContextIDs[c] = 1
		}
		if hits > 0 {
			// The chunks are different ones, so that fewer than three may be left
			// of the three that were searched for.
			s.RetrievedContextIDs = s.RetrievedContextIDs[:int(math.Round(float64(hits)/precision))]
			first := int(math.Round(1/rr)) - 1
			if first+hits > len(s.RetrievedContextIDs) {
				t.Fatalf("%q: the recorded figures don't fit together", q.Question)
			}
			copy(s.RetrievedContextIDs[first:], q.CorrectChunks[:hits])
		}
		wantScore(t, scored(t, made(t, "precision@3", metrics.Options{}), s), precision)
		wantScore(t, scored(t, made(t, "recall@3", metrics.Options{}), s), recall)
		wantScore(t, scored(t, made(t, "mrr", metrics.Options{}), s), rr)
	}
}

func parseFloat(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTrecEval holds the values of trec_eval 9.0.8 where the convention "rag"
// means the same: everything but a topic without a relevant document, P@k of a
// list shorter than k, and the denominator of map_cut.
func TestTrecEval(t *testing.T) {
	for _, c := range []struct{ golden, qrels, run string }{
		{"trec_eval_test", "trec_eval.qrels.test", "trec_eval.results.test"},
		{"trec_eval_rellevel", "trec_eval.qrels.rel_level", "trec_eval.results.test"},
		{"compat", "ir_measures.compat.qrels", "ir_measures.compat.run"},
		{"vaswani_bm25", "qrels.vaswani.txt", "run.vaswani.bm25mini.txt"},
	} {
		t.Run(c.golden, func(t *testing.T) {
			topics := readTopics(t, c.qrels, c.run)
			compared := map[string]int{}
			for line := range strings.Lines(string(readFixture(t, "fixtures/trec/golden/"+c.golden+".te908.cuts.hp.txt"))) {
				f := strings.Fields(line)
				s := topics[f[1]]
				if s == nil || !hasRelevant(s) {
					continue // "all", or a topic on which the conventions differ
				}
				name, scale, ok := ourName(f[0], s)
				if !ok {
					continue
				}
				score := scored(t, made(t, name, metrics.Options{}), s)
				want := parseFloat(t, f[2])
				if score.Value == nil || math.Abs(*score.Value*scale-want) > 1e-9 {
					t.Errorf("topic %s: %s is %v, want %s = %v", f[1], name, score, f[0], want)
				}
				compared[f[0]]++
			}
			for _, name := range []string{"map", "Rprec", "recip_rank", "ndcg", "ndcg_cut_10", "recall_5", "success_10", "P_5", "map_cut_10"} {
				if compared[name] == 0 {
					t.Errorf("%s was compared on no topic", name)
				}
			}
		})
	}
}

// TestGdeval holds nDCG@10 with the gain 2^grade - 1, in gdeval's five digits.
func TestGdeval(t *testing.T) {
	for _, c := range []struct{ golden, qrels, run string }{
		{"trec_eval_test", "trec_eval.qrels.test", "trec_eval.results.test"},
		{"dl19_ties", "qrels.dl19-passage.txt", "run.dl19-passage.synth-ties.txt"},
	} {
		t.Run(c.golden, func(t *testing.T) {
			topics := readTopics(t, c.qrels, c.run)
			m := made(t, "ndcg@10", metrics.Options{Gain: metrics.GainExponential})
			n := 0
			for line := range strings.Lines(string(readFixture(t, "fixtures/trec/golden/"+c.golden+".gdeval.k10.csv"))) {
				f := strings.Split(line, ",")
				s := topics[f[1]]
				if s == nil {
					continue // the head line, or the mean
				}
				n++
				score := scored(t, m, s)
				if want := parseFloat(t, f[2]); score.Value == nil || math.Abs(*score.Value-want) > 0.5e-5+1e-9 {
					t.Errorf("topic %s: %v, want %v", f[1], score, want)
				}
			}
			if n == 0 {
				t.Error("no topic was compared")
			}
		})
	}
}

// ourName returns our name for trec_eval's, and what our value is to be
// multiplied by.
func ourName(theirs string, s *eval.Sample) (name string, scale float64, ok bool) {
	base, cut, _ := strings.Cut(theirs, "_")
	k, _ := strconv.Atoi(theirs[strings.LastIndex(theirs, "_")+1:])
	switch {
	case theirs == "map":
		return "map", 1, true
	case theirs == "Rprec":
		return "r_precision", 1, true
	case theirs == "recip_rank":
		return "mrr", 1, true
	case theirs == "ndcg":
		return "ndcg", 1, true
	case strings.HasPrefix(theirs, "ndcg_cut_"):
		return fmt.Sprintf("ndcg@%d", k), 1, true
	case strings.HasPrefix(theirs, "map_cut_"):
		r := 0
		for _, g := range s.ReferenceContextIDs {
			if g > 0 {
				r++
			}
		}
		return fmt.Sprintf("map@%d", k), float64(min(k, r)) / float64(r), true
	case base == "recall" || base == "success":
		return theirs, 1, cut != ""
	case base == "P":
		return theirs, 1, k <= len(s.RetrievedContextIDs)
	}
	return "", 0, false
}

func hasRelevant(s *eval.Sample) bool {
	for _, g := range s.ReferenceContextIDs {
		if g > 0 {
			return true
		}
	}
	return false
}

// readTopics reads the topics that stand in both files. The order is by score,
// held as a 32-bit float, and at equal scores by falling id.
func readTopics(t *testing.T, qrels, run string) map[string]*eval.Sample {
	t.Helper()
	grades := map[string]map[string]float64{}
	for line := range strings.Lines(string(readFixture(t, "fixtures/trec/input/"+qrels))) {
		f := strings.Fields(line)
		if grades[f[0]] == nil {
			grades[f[0]] = map[string]float64{}
		}
		grades[f[0]][f[2]] = parseFloat(t, f[3])
	}
	type document struct {
		id    string
		score float32
	}
	lists := map[string][]document{}
	for line := range strings.Lines(string(readFixture(t, "fixtures/trec/input/"+run))) {
		f := strings.Fields(line)
		lists[f[0]] = append(lists[f[0]], document{f[2], float32(parseFloat(t, f[4]))})
	}
	topics := map[string]*eval.Sample{}
	for topic, list := range lists {
		if grades[topic] == nil {
			continue
		}
		slices.SortFunc(list, func(a, b document) int {
			switch {
			case a.score != b.score && a.score > b.score:
				return -1
			case a.score != b.score:
				return 1
			}
			return strings.Compare(b.id, a.id)
		})
		s := &eval.Sample{ReferenceContextIDs: grades[topic]}
		for _, d := range list {
			s.RetrievedContextIDs = append(s.RetrievedContextIDs, d.id)
		}
		topics[topic] = s
	}
	return topics
}
