package trec_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/ranking"
	"github.com/ragjudge/ragjudge/trec"
)

const shared = "../../shared/fixtures/trec/"

// pairs are the golden files by name, with the judgements and the run that they
// were made of.
var pairs = []struct{ name, qrels, run string }{
	{"trec_eval_test", "trec_eval.qrels.test", "trec_eval.results.test"},
	{"trec_eval_trunc", "trec_eval.qrels.test", "trec_eval.results.trunc"},
	{"trec_eval_rellevel", "trec_eval.qrels.rel_level", "trec_eval.results.test"},
	{"compat", "ir_measures.compat.qrels", "ir_measures.compat.run"},
	{"dl19_ties", "qrels.dl19-passage.txt", "run.dl19-passage.synth-ties.txt"},
	{"dl19_near", "qrels.dl19-passage.txt", "run.dl19-passage.synth-near.txt"},
	{"dl20_miss", "qrels.dl20-passage.txt", "run.dl20-passage.synth-miss.txt"},
	{"vaswani_bm25", "qrels.vaswani.txt", "run.vaswani.bm25mini.txt"},
}

func evaluate(run, qrels string, opt trec.Options) (*trec.Result, error) {
	if opt.Convention == "" {
		opt.Convention = ranking.TrecEval
	}
	qin, err := trec.Open(qrels, nil)
	if err != nil {
		return nil, err
	}
	defer qin.Close()
	q, err := trec.ReadQrels(qin, opt.Convention)
	if err != nil {
		return nil, err
	}
	rin, err := trec.Open(run, nil)
	if err != nil {
		return nil, err
	}
	defer rin.Close()
	return trec.Evaluate(context.Background(), rin, q, opt)
}

func chosen(t testing.TB, names ...string) []trec.Measure {
	t.Helper()
	list, _, err := trec.Choose(names...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func readShared(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(shared + name)
	if err != nil {
		t.Skipf("the shared golden files are not here: %v", err)
	}
	return b
}

func mustEvaluate(t *testing.T, p struct{ name, qrels, run string }, opt trec.Options) *trec.Result {
	t.Helper()
	r, err := evaluate(shared+"input/"+p.run, shared+"input/"+p.qrels, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lookup finds the values of a result by measure and query.
func lookup(r *trec.Result) map[string]float64 {
	values := map[string]float64{}
	for i, m := range r.Measures {
		for _, q := range r.Queries {
			if m.PerQuery() {
				values[m.Name+" "+q.ID] = q.Values[i]
			}
		}
		if m.Overall() {
			values[m.Name+" all"] = r.All[i]
		}
	}
	return values
}

// compare holds every line of a golden file against the result, to 1e-9.
func compare(t *testing.T, r *trec.Result, golden []byte) {
	t.Helper()
	values := lookup(r)
	n := 0
	for line := range strings.Lines(string(golden)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue // the exit code
		}
		want, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := values[f[0]+" "+f[1]]
		if !ok {
			t.Errorf("%s of %s is not there, want %v", f[0], f[1], want)
		} else if !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("%s of %s: %v, want %v", f[0], f[1], got, want)
		}
		n++
	}
	if n == 0 {
		t.Error("nothing was compared")
	}
}

// goldenMeasures are those of the files with 15 digits.
var goldenMeasures = []string{"all_trec", "P.1,2,3", "recall.1,2,3", "ndcg_cut.1,2,3", "map_cut.1,2,3", "success.1,2,3", "iprec_at_recall.0.5"}

func TestGolden(t *testing.T) {
	for _, p := range pairs {
		for _, c := range []struct {
			file string
			opt  trec.Options
		}{
			{".te908.cuts.hp.txt", trec.Options{}},
			{".te908.M10.hp.txt", trec.Options{Depth: 10}},
			{".te908.c.summary.hp.txt", trec.Options{Complete: true}},
			{".te908.l2.summary.hp.txt", trec.Options{Level: new(float64(2))}},
		} {
			t.Run(p.name+c.file, func(t *testing.T) {
				golden := readShared(t, "golden/"+p.name+c.file)
				c.opt.Measures = chosen(t, goldenMeasures...)
				compare(t, mustEvaluate(t, p, c.opt), golden)
			})
		}
	}
}

// TestText: trec_eval's own output, byte for byte, but for the measures that
// Choose says are missing.
func TestText(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			golden := readShared(t, "golden/"+p.name+".te908.all_trec.txt")
			list, missing, err := trec.Choose("all_trec")
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			for line := range strings.Lines(string(golden)) {
				left := false
				for _, m := range missing {
					left = left || strings.HasPrefix(line, m+" ")
				}
				if !left {
					want.WriteString(line)
				}
			}
			var got bytes.Buffer
			if err := mustEvaluate(t, p, trec.Options{Measures: list}).WriteText(&got, true); err != nil {
				t.Fatal(err)
			}
			wantSame(t, got.String(), want.String())
		})
	}
}

func wantSame(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d is\n%q, want\n%q", i+1, g[i], w[i])
		}
	}
	t.Fatalf("%d lines, want %d", len(g), len(w))
}

// TestGdeval holds nDCG@10 with the gain 2^grade - 1, in gdeval's five digits.
func TestGdeval(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			readShared(t, "README.md") // skips where nothing is
			golden, err := os.ReadFile(shared + "golden/" + p.name + ".gdeval.k10.csv")
			if os.IsNotExist(err) {
				t.Skip("gdeval was not run on it")
			}
			values := lookup(mustEvaluate(t, p, trec.Options{Exponential: true, Measures: chosen(t, "ndcg_cut.10")}))
			n := 0
			for line := range strings.Lines(string(golden)) {
				f := strings.Split(strings.TrimSpace(line), ",")
				want, err := strconv.ParseFloat(f[2], 64)
				if err != nil {
					continue // the head line
				}
				query := f[1]
				if query == "amean" {
					query = "all"
				}
				got, ok := values["ndcg_cut_10 "+query]
				if !ok || math.Abs(got-want) > 0.5e-5+1e-9 {
					t.Errorf("query %s: %v, %t, want %v", query, got, ok, want)
				}
				n++
			}
			if n == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// TestEdges holds the hand-made cases. Where trec_eval fails, or says nothing
// of what it can't read, there is an error with file and line.
func TestEdges(t *testing.T) {
	runs, err := filepath.Glob("testdata/edge/*.run")
	if err != nil || len(runs) != 28 {
		t.Fatalf("%d cases, %v, want 28", len(runs), err)
	}
	wrong := map[string]string{
		"badscore":  `badscore.run:1: the score "x9" is not a number`,
		"nan":       `nan.run:1: the score "nan" is not a number`,
		"fracrel":   `fracrel.qrels:1: the grade "1.7" is not a whole number`,
		"blank":     "blank.qrels:1: is blank",
		"comment":   "comment.qrels:1: is a comment",
		"comment2":  "comment2.qrels:2: is a comment",
		"fivecol":   "fivecol.run:1: has 5 columns, and a run has 6",
		"dup":       `dup.run:2: document "a" stands twice in query "1", here and in line 1`,
		"dupq":      `dupq.qrels:2: document "a" of query "1" is judged twice, with the grades 1 and 0`,
		"emptyrun":  "emptyrun.run: is empty",
		"onlyneg":   `onlyneg.qrels:1: query "1" has negative grades only`,
		"nooverlap": "nooverlap.run: shares no query with testdata/edge/nooverlap.qrels",
	}
	for _, run := range runs {
		name := strings.TrimSuffix(filepath.Base(run), ".run")
		for _, complete := range []bool{false, true} {
			file := name + ".te908.out"
			if complete {
				file = name + ".te908-c.out"
			}
			t.Run(file, func(t *testing.T) {
				golden, err := os.ReadFile("testdata/edge/" + file)
				if err != nil {
					t.Fatal(err)
				}
				r, err := evaluate(run, "testdata/edge/"+name+".qrels", trec.Options{Complete: complete, Measures: chosen(t, goldenMeasures...)})
				if want := wrong[name]; want != "" {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Fatalf("error %v, want %q", err, want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Contains(golden, []byte("rc=0")) {
					t.Fatalf("trec_eval fails, and there is no error:\n%s", golden)
				}
				compare(t, r, golden)
			})
		}
	}
}
