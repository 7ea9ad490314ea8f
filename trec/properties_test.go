package trec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/ranking"
)

type testRun struct {
	run, qrels string
	lists      map[string][]string // in order
	grades     map[string]map[string]float64
}

type helper interface {
	Helper()
	Fatal(...any)
}

func evaluateBytes(t helper, dir string, run, qrels []byte, opt Options) (*Result, error) {
	t.Helper()
	put := func(name string, b []byte) *Input {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	if opt.Convention == "" {
		opt.Convention = ranking.TrecEval
	}
	qin := put("qrels", qrels)
	defer qin.Close()
	q, err := ReadQrels(qin, opt.Convention)
	if err != nil {
		return nil, err
	}
	rin := put("run", run)
	defer rin.Close()
	return Evaluate(context.Background(), rin, q, opt)
}

func all(t helper) []Measure {
	t.Helper()
	list, _, err := Choose("all_trec", "rag")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// drawRun draws a run over few documents, with repeats if they are allowed,
// equal scores, and queries that only one of the files has.
func drawRun(t *rapid.T, repeats bool) testRun {
	d := testRun{lists: map[string][]string{}, grades: map[string]map[string]float64{}}
	var run, qrels strings.Builder
	for q := range rapid.IntRange(1, 5).Draw(t, "queries") {
		query := fmt.Sprintf("q%d", q)
		ids := rapid.SliceOfN(rapid.StringMatching(`[A-H]`), 0, 9).Draw(t, "documents")
		score := 9
		seen := map[string]bool{}
		for _, id := range ids {
			if seen[id] && !repeats {
				continue
			}
			seen[id] = true
			d.lists[query] = append(d.lists[query], id)
			fmt.Fprintf(&run, "%s Q0 %s 1 %d r\n", query, id, score)
			score--
		}
		grades := rapid.MapOfN(rapid.StringMatching(`[A-H]`), rapid.IntRange(-1, 3), 0, 6).Draw(t, "grades")
		for id, g := range grades {
			if d.grades[query] == nil {
				d.grades[query] = map[string]float64{}
			}
			d.grades[query][id] = float64(g)
			fmt.Fprintf(&qrels, "%s 0 %s %d\n", query, id, g)
		}
	}
	d.run, d.qrels = run.String(), qrels.String()
	return d
}

// TestEqualsMetrics: a query has the value that its sample has in package
// metrics, by either convention; every share lies within 0..1; P@k x k is the
// number of hits, and so is recall@k x R.
func TestEqualsMetrics(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []ranking.Convention{ranking.RAG, ranking.TrecEval} {
		t.Run(string(c), func(t *testing.T) {
			compared := 0
			rapid.Check(t, func(t *rapid.T) {
				d := drawRun(t, c == ranking.RAG)
				r, err := evaluateBytes(t, dir, []byte(d.run), []byte(d.qrels), Options{Convention: c, Measures: all(t)})
				var e *Error
				if errors.As(err, &e) {
					return // no query in common, or one with negative grades only
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range r.Queries {
					s := &eval.Sample{RetrievedContextIDs: d.lists[q.ID], ReferenceContextIDs: d.grades[q.ID]}
					for i, m := range r.Measures {
						v := q.Values[i]
						if !m.Whole() && !m.Text() && m.def.name != "utility" && m.PerQuery() && !(v >= 0 && v <= 1) {
							t.Fatalf("%s of %s is %v\n%s\n%s", m.Name, q.ID, v, d.run, d.qrels)
						}
						if m.Metric == "" {
							continue
						}
						metric, err := metrics.New(m.Metric, metrics.Options{Ranking: metrics.RankingOptions{Convention: c}})
						if err != nil {
							t.Fatal(err)
						}
						score, err := metric.Score(t.Context(), s)
						if err != nil || score.Value == nil || *score.Value != v {
							t.Fatalf("%s of %s is %v, %s is %+v\n%s\n%s", m.Name, q.ID, v, m.Metric, score, d.run, d.qrels)
						}
						compared++
					}
				}
				for i, m := range r.Measures {
					if v := r.All[i]; m.Overall() && !m.Whole() && !m.Text() && m.def.name != "utility" && !(v >= 0 && v <= 1) {
						t.Fatalf("%s of all is %v", m.Name, v)
					}
				}
			})
			if compared < 1000 {
				t.Errorf("only %d values were compared", compared)
			}
		})
	}
}

// TestOrderOfLines: the order of the lines, the size of the blocks, the number
// of workers, compression and line ends change nothing.
func TestOrderOfLines(t *testing.T) {
	var run, qrels []string
	for q := range 40 {
		for d := range 30 {
			run = append(run, fmt.Sprintf("q%d Q0 d%d 0 %d.5 r\n", q, d*7%31, d/3))
		}
		for d := range 9 {
			qrels = append(qrels, fmt.Sprintf("q%d 0 d%d %d\n", q, (d*5+q)%31, d%4-1))
		}
	}
	dir := t.TempDir()
	evaluate := func(run []byte, opt Options) *Result {
		opt.Measures = all(t)
		r, err := evaluateBytes(t, dir, run, []byte(strings.Join(qrels, "")), opt)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	text := []byte(strings.Join(run, ""))
	want := evaluate(text, Options{})
	same := func(name string, got *Result, warned bool) {
		t.Helper()
		if warned != (len(got.Warnings) > 0) {
			t.Errorf("%s: warnings %q", name, got.Warnings)
		}
		var a, b bytes.Buffer
		if err := errors.Join(want.WriteText(&a, true), got.WriteText(&b, true)); err != nil || a.String() != b.String() {
			t.Errorf("%s: the values differ (%v)", name, err)
		}
	}
	for _, size := range []int{1, 7, 64, 500, 5000} {
		for _, workers := range []int{1, 3, 8} {
			same(fmt.Sprintf("blocks of %d, %d workers", size, workers), evaluate(text, Options{block: size, Workers: workers}), false)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 5 {
		random.Shuffle(len(run), func(i, j int) { run[i], run[j] = run[j], run[i] })
		for _, size := range []int{64, 1000, blockSize} {
			same(fmt.Sprintf("shuffled %d, blocks of %d", round, size), evaluate([]byte(strings.Join(run, "")), Options{block: size}), true)
		}
	}
	same("CRLF", evaluate(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), Options{}), false)
	same("blank lines", evaluate(bytes.ReplaceAll(text, []byte("\n"), []byte("\n \n\n")), Options{block: 50}), false)
	same("no end", evaluate(bytes.TrimSuffix(text, []byte("\n")), Options{}), false)
	same("a byte order mark", evaluate(append([]byte(bom), text...), Options{}), true)
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := g.Write(text)
	_, err2 := z.Write(text)
	if err := errors.Join(err1, err2, g.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	same("gzip", evaluate(gz.Bytes(), Options{}), false)
	same("zstd", evaluate(zs.Bytes(), Options{}), false)
	if _, err := evaluateBytes(t, dir, gz.Bytes()[:gz.Len()/2], []byte(strings.Join(qrels, "")), Options{}); err == nil || !strings.Contains(err.Error(), "run: can't be read") {
		t.Errorf("half a gzip file: %v", err)
	}
}

// TestRepeatsInParts: a document that stands twice is found where the lines of
// its query don't stand together, and the depth is that of the whole query.
func TestRepeatsInParts(t *testing.T) {
	const run = "1 Q0 a 1 9 r\n2 Q0 a 1 9 r\n1 Q0 b 1 8 r\n1 Q0 a 1 1 r\n"
	const qrels = "1 0 b 1\n2 0 a 1\n"
	for _, size := range []int{1, 20, blockSize} {
		_, err := evaluateBytes(t, t.TempDir(), []byte(run), []byte(qrels), Options{block: size})
		if err == nil || !strings.HasSuffix(err.Error(), `run:4: document "a" stands twice in query "1", here and in line 1`) {
			t.Errorf("blocks of %d: %v", size, err)
		}
		for _, c := range []Options{{Depth: 2}, {Convention: ranking.RAG, Depth: 2}} {
			c.block = size
			c.Measures = all(t)
			r, err := evaluateBytes(t, t.TempDir(), []byte(run), []byte(qrels), c)
			if err != nil {
				t.Fatal(err) // trec_eval looks no further than the depth either
			}
			if v := r.Queries[0].Values; len(r.Queries) != 2 || v[1] != 0 && r.Measures[1].Name == "map" {
				t.Errorf("%+v", r.Queries)
			}
		}
	}
}

// TestFirstFault: what is told is the first line that is wrong, whatever the
// blocks, and no number comes out.
func TestFirstFault(t *testing.T) {
	var run strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&run, "q%d Q0 d%d 1 %d r\n", i/10, i%10, -i)
	}
	good := run.String()
	lines := strings.SplitAfter(good, "\n")
	lines[1234] = "q123 Q0 d 1 x r\n"
	lines[2222] = "# late\n"
	for _, size := range []int{1, 100, 5000, blockSize} {
		r, err := evaluateBytes(t, t.TempDir(), []byte(strings.Join(lines, "")), []byte("q1 0 d1 1\n"), Options{block: size, Workers: 4})
		if err == nil || !strings.Contains(err.Error(), "run:1235: the score") || r != nil {
			t.Errorf("blocks of %d: %v", size, err)
		}
	}
	for name, c := range map[string]struct{ run, want string }{
		"NUL":       {"q1 Q0 d 1 1 r\nq\x001 Q0 d 1 1 r\n", "run:2: holds a NUL byte"},
		"long line": {good + strings.Repeat("x", 3*maxLine), "run:3001: is longer than"},
		"UTF-16":    {"\xff\xfeq\x001\x00", "NUL"},
	} {
		if _, err := evaluateBytes(t, t.TempDir(), []byte(c.run), []byte("q1 0 d1 1\n"), Options{block: 1000}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestRAGQrels(t *testing.T) {
	r, err := evaluateBytes(t, t.TempDir(), []byte("1 Q0 a 1 2 r\n1 Q0 b 1 1 r\n"), []byte("1 0 a 0.5\n1 0 b 2\n1 0 b 2\n"), Options{Convention: ranking.RAG, Measures: all(t)})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "qrels:3: a document is judged twice") {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if _, err := evaluateBytes(t, t.TempDir(), []byte("1 Q0 a 1 2 r\n"), []byte("1 0 a 1\n2 0 b 2\n2 0 b 1\n"), Options{Convention: ranking.RAG}); err == nil || !strings.Contains(err.Error(), "qrels:3: document \"b\" of query \"2\" is judged twice, with the grades 2 and 1") {
		t.Errorf("a contradiction: %v", err)
	}
}

func TestScores(t *testing.T) {
	for text, want := range map[string]float64{
		"1": 1, "-1": -1, "+2.5": 2.5, "0": 0, ".5": 0.5, "5.": 5, "1e3": 1000, "1E-3": 0.001, "-0.25": -0.25, "00012.500": 12.5,
		"0.9752302810058761": 0.9752302810058761, "123456789012345678901234567890": 1.2345678901234568e29, "1e999": math.Inf(1), "-inf": math.Inf(-1), "inf": math.Inf(1),
		"0.00000000000000000000001": 1e-23, "9007199254740993": 9007199254740993,
	} {
		if got, ok := parseScore([]byte(text)); !ok || got != float32(want) {
			t.Errorf("%s: %v, %t, want %v", text, got, ok, float32(want))
		}
	}
	for _, text := range []string{"", "-", "+", ".", "x", "5x", "1_000", "nan", "NaN", "-nan", "1e", "--1", "1.2.3", "0x", "1,5"} {
		if got, ok := parseScore([]byte(text)); ok {
			t.Errorf("%q is no number, and is %v", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "score")
		text := fmt.Sprint(v)
		if rapid.Bool().Draw(t, "plain") {
			text = fmt.Sprintf("%.*f", rapid.IntRange(0, 20).Draw(t, "digits"), v)
		}
		want, ok := parseAnyScore([]byte(text))
		if got, gotOK := parseScore([]byte(text)); got != want || gotOK != ok {
			t.Fatalf("%s: %v, %t, want %v, %t", text, got, gotOK, want, ok)
		}
	})
}

func TestChoose(t *testing.T) {
	names := func(in ...string) (out []string) {
		list, _, err := Choose(in...)
		if err != nil {
			return []string{"error"}
		}
		for _, m := range list {
			out = append(out, m.Name)
		}
		return out
	}
	for in, want := range map[string]string{
		"P.10,5":            "P_5 P_10", // sorted
		"map,P.5":           "map P_5",
		"P.5,map,P.10":      "map P_5 P_10",
		"P_7":               "P_7",
		"precision@7":       "P_7",
		"mrr":               "recip_rank",
		"mrr@3":             "recip_rank_cut_3",
		"ndcg@10,ndcg":      "ndcg ndcg_cut_10",
		"iprec_at_recall.5": "error", // a share is at most 1
		"iprec_at_recall_0.50,iprec_at_recall..25": "iprec_at_recall_0.25 iprec_at_recall_0.50",
		"success":        "success_1 success_5 success_10",
		"map.5":          "error",
		"P.0":            "error",
		"P.-1":           "error",
		"P.x":            "error",
		"P.":             "error",
		"":               "error",
		"nonsense":       "error",
		"precision@0":    "error",
		"P.999999999999": "error",
	} {
		if got := strings.Join(names(in), " "); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if a, b := names("official", "map", "P"), names("official"); !reflect.DeepEqual(a, b) {
		t.Errorf("a measure that is named twice: %q, want %q", a, b)
	}
	if _, missing, _ := Choose("all_trec"); strings.Join(missing, " ") != "G ndcg_rel Rndcg" {
		t.Errorf("missing: %q", missing)
	}
	for name, members := range sets {
		if names(name)[0] == "error" || len(members) == 0 {
			t.Errorf("the set %s does not hold measures only", name)
		}
	}
}

// TestSplit holds the splitting of lines against a plain one.
func TestSplit(t *testing.T) {
	plain := func(b []byte) (columns []string, next int) {
		next = len(b)
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b, next = b[:i], i+1
		}
		start := -1
		for i, c := range append(bytes.Clone(b), ' ') {
			switch isBlank := strings.IndexByte(" \t\v\f\r", c) >= 0; {
			case isBlank && start >= 0:
				columns, start = append(columns, string(b[start:i])), -1
			case !isBlank && start < 0:
				start = i
			}
		}
		return columns, next
	}
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "document-1", "Q0", "\x00", "\x01", "\x1f", "\x7f", "\x80\xff", "!", " ", "  ", "\t", "\v", "\f", "\r", "\n"})).Draw(t, "text"), ""))
		want, wantNext := plain(b)
		var columns [maxColumns][]byte
		n, next := split(b, 0, &columns)
		if n != min(len(want), maxColumns) || next != wantNext {
			t.Fatalf("%q: %d columns, next at %d, want %q and %d", b, n, next, want, wantNext)
		}
		for i, c := range columns[:n] {
			if string(c) != want[i] {
				t.Fatalf("%q: column %d is %q, want %q", b, i, c, want[i])
			}
		}
	})
}
