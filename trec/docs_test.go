package trec_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/ranking"
	"github.com/ragjudge/ragjudge/trec"
)

// list is what a tool is given of one query: whether each returned document is
// relevant, best first and cut at k, and how many relevant documents there are.
type list struct {
	hits     []bool
	relevant int
}

// The formulas as the tools have them, written here anew: what the page says
// must not rest on the code that it describes.

func (l list) found() (n int) {
	for _, hit := range l.hits {
		if hit {
			n++
		}
	}
	return n
}

func (l list) sumOfPrecisions() (sum float64) {
	n := 0
	for i, hit := range l.hits {
		if hit {
			n++
			sum += float64(n) / float64(i+1)
		}
	}
	return sum
}

func gains(n int) (sum float64) {
	for i := range n {
		sum += 1 / math.Log2(float64(i+2))
	}
	return sum
}

func (l list) dcg() (sum float64) {
	for i, hit := range l.hits {
		if hit {
			sum += 1 / math.Log2(float64(i+2))
		}
	}
	return sum
}

// definitions are the rows of the tables: P@k, AP@k and nDCG@k of binary
// grades; NaN where a tool has none.
var definitions = map[string]func(l list, k int) [3]float64{
	"trec_eval 9.0.8, pytrec_eval, BEIR": overAll,
	"ranx":                               overAll,
	// Precision and AveragePrecision of its retrieval evaluator; its NDCG holds
	// the list against one in which every document is relevant.
	"LlamaIndex": func(l list, _ int) [3]float64 {
		n := len(l.hits)
		return [3]float64{float64(l.found()) / float64(n), l.sumOfPrecisions() / float64(l.relevant), l.dcg() / gains(n)}
	},
	"ragas": func(l list, _ int) [3]float64 {
		return [3]float64{float64(l.found()) / float64(len(l.hits)), l.sumOfPrecisions() / (float64(l.found()) + 1e-10), math.NaN()}
	},
	"DeepEval": func(l list, _ int) [3]float64 {
		ap := 0.0
		if n := l.found(); n > 0 {
			ap = l.sumOfPrecisions() / float64(n)
		}
		return [3]float64{math.NaN(), ap, math.NaN()}
	},
}

func overAll(l list, k int) [3]float64 {
	return [3]float64{float64(l.found()) / float64(k), l.sumOfPrecisions() / float64(l.relevant), l.dcg() / gains(min(k, l.relevant))}
}

// ours are the rows of this project, by the code itself.
var ours = map[string]ranking.Convention{"ragjudge, `rag`": ranking.RAG, "ragjudge, `trec_eval`": ranking.TrecEval}

// TestDocsTables computes every figure of the two tables of docs/retrieval.md.
func TestDocsTables(t *testing.T) {
	page, err := os.ReadFile("../docs/retrieval.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		k          int
		run, qrels string
		shared     bool
	}{
		{k: 4, run: write("run", "1 Q0 A 1 3 r\n1 Q0 B 2 2 r\n1 Q0 C 3 1 r\n"), qrels: write("qrels", "1 0 A 1\n1 0 C 1\n1 0 F 1\n1 0 G 1\n1 0 H 1\n")},
		{k: 10, run: shared + "input/run.vaswani.bm25mini.txt", qrels: shared + "input/qrels.vaswani.txt", shared: true},
	} {
		t.Run(fmt.Sprint("k=", c.k), func(t *testing.T) {
			if _, err := os.Stat(c.run); err != nil && c.shared {
				t.Skipf("the shared golden files are not here: %v", err)
			}
			rows := tableRows(t, string(page), fmt.Sprintf("| definition | P@%d | AP@%d | nDCG@%d |", c.k, c.k, c.k))
			lists := topLists(t, c.run, c.qrels, c.k)
			want := map[string][3]float64{}
			for name, define := range definitions {
				var sum [3]float64
				for _, l := range lists {
					for i, v := range define(l, c.k) {
						sum[i] += v / float64(len(lists))
					}
				}
				want[name] = sum
			}
			for name, convention := range ours {
				r, err := evaluate(c.run, c.qrels, trec.Options{Convention: convention, Measures: chosen(t, fmt.Sprintf("P.%d,map_cut.%d,ndcg_cut.%d", c.k, c.k, c.k))})
				if err != nil {
					t.Fatal(err)
				}
				v := lookup(r)
				want[name] = [3]float64{v[fmt.Sprintf("P_%d all", c.k)], v[fmt.Sprintf("map_cut_%d all", c.k)], v[fmt.Sprintf("ndcg_cut_%d all", c.k)]}
			}
			if got, want := slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
				t.Fatalf("the rows are %q, want %q", got, want)
			}
			for name, figures := range want {
				for i, v := range figures {
					cell := fmt.Sprintf("%.3f", v)
					if math.IsNaN(v) {
						cell = ""
					}
					if rows[name][i] != cell {
						t.Errorf("%s, column %d: the page says %q, it is %q", name, i+1, rows[name][i], cell)
					}
				}
			}
		})
	}
}

// tableRows reads the table under a head line: the first cell, and the others.
func tableRows(t *testing.T, page, head string) map[string][]string {
	t.Helper()
	_, rest, ok := strings.Cut(page, head+"\n")
	if !ok {
		t.Fatalf("the page has no table %q", head)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(cells[0], "---") {
			rows[cells[0]] = cells[1:]
		}
	}
	return rows
}

// topLists reads the queries that both files have, without the code under test.
func topLists(t *testing.T, run, qrels string, k int) []list {
	t.Helper()
	relevant := map[string]map[string]bool{}
	fields(t, qrels, func(f []string) {
		if relevant[f[0]] == nil {
			relevant[f[0]] = map[string]bool{}
		}
		if f[3] != "0" {
			relevant[f[0]][f[2]] = true
		}
	})
	type document struct {
		id    string
		score float32
	}
	docs := map[string][]document{}
	fields(t, run, func(f []string) {
		var score float64
		if _, err := fmt.Sscan(f[4], &score); err != nil {
			t.Fatal(err)
		}
		docs[f[0]] = append(docs[f[0]], document{f[2], float32(score)})
	})
	var lists []list
	for _, query := range slices.Sorted(maps.Keys(docs)) {
		if relevant[query] == nil {
			continue
		}
		d := docs[query]
		slices.SortFunc(d, func(a, b document) int {
			if a.score != b.score {
				if a.score > b.score {
					return -1
				}
				return 1
			}
			return strings.Compare(b.id, a.id)
		})
		l := list{relevant: len(relevant[query])}
		for _, x := range d[:min(k, len(d))] {
			l.hits = append(l.hits, relevant[query][x.id])
		}
		lists = append(lists, l)
	}
	return lists
}

func fields(t *testing.T, path string, fn func([]string)) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		fn(strings.Fields(line))
	}
}
