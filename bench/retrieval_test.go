package bench_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/ranking"
	"github.com/ragjudge/ragjudge/trec"
)

// The size of MS MARCO's development queries, with the usual depth.
const benchQueries, benchDepth = 6980, 1000

// retrievalFiles writes a run and judgements, always the same ones: documents
// of a collection of 8.8 million, none twice in a query, scores that fall, and
// one or two relevant documents a query, of which most are in the run.
func retrievalFiles(b *testing.B) (run, qrels string) {
	b.Helper()
	dir := folder(b)
	run, qrels = filepath.Join(dir, "bench.run"), filepath.Join(dir, "bench.qrels")
	rf, err := os.Create(run)
	if err != nil {
		b.Fatal(err)
	}
	qf, err := os.Create(qrels)
	if err != nil {
		b.Fatal(err)
	}
	rw, qw := bufio.NewWriterSize(rf, 1<<20), bufio.NewWriterSize(qf, 1<<20)
	const documents = 8_841_823 // a step that has no factor in common with it visits each once
	state := uint64(1)
	random := func(n uint64) uint64 {
		state = state*6364136223846793005 + 1442695040888963407
		return state >> 33 % n
	}
	line := make([]byte, 0, 100)
	for i := range benchQueries {
		query := 2 + i*157
		first, step := random(documents), 1+random(100_000)
		score := 20_000_000 + random(20_000_000)
		document := func(rank uint64) uint64 { return (first + rank*step) % documents }
		for rank := range uint64(benchDepth) {
			line = strconv.AppendInt(line[:0], int64(query), 10)
			line = append(line, " Q0 "...)
			line = strconv.AppendUint(line, document(rank), 10)
			line = append(line, ' ')
			line = strconv.AppendUint(line, rank+1, 10)
			line = append(line, ' ')
			line = strconv.AppendFloat(line, float64(score)/1e6, 'f', 6, 64)
			line = append(line, " bench\n"...)
			_, _ = rw.Write(line) // Flush tells
			score -= random(30_000)
			score = max(score, 1)
		}
		for n := range 1 + random(2) { // the second stands elsewhere than the first
			_, _ = fmt.Fprintf(qw, "%d 0 %d 1\n", query, document(650*n+random(650)))
		}
	}
	if err := cmp.Or(rw.Flush(), qw.Flush(), rf.Close(), qf.Close()); err != nil {
		b.Fatal(err)
	}
	return run, qrels
}

// BenchmarkRetrieval evaluates 6,980 queries of 1,000 documents: the whole
// program, beside trec_eval if TREC_EVAL names it, and beside the plain loop of
// a Scanner, strings.Fields and maps. The parts are measured in this process:
// reading the bytes, all but the measures, and the whole with all measures. Rounds go turn by
// turn, and the shortest of each counts: what other work on the machine does to
// a program on several cores and to one on a single core is not the same.
func BenchmarkRetrieval(b *testing.B) {
	run, qrels := retrievalFiles(b)
	st, err := os.Stat(run)
	if err != nil {
		b.Fatal(err)
	}
	bin, other := program(b), os.Getenv("TREC_EVAL")
	for b.Loop() {
		var ours, theirs, plain, read, parse, whole []float64
		var peak int64
		for range 7 {
			ours = append(ours, wall(b, &peak, bin, "retrieval", "-m", "official", run, qrels))
			if other != "" {
				theirs = append(theirs, wall(b, nil, other, "-m", "official", qrels, run))
			}
			read = append(read, seconds(func() { readThrough(b, run) }))
			parse = append(parse, seconds(func() { evaluateRun(b, run, qrels, "num_ret") }))
			whole = append(whole, seconds(func() { evaluateRun(b, run, qrels, "all_trec") }))
			if len(plain) < 2 {
				plain = append(plain, seconds(func() { naive(b, run, qrels) }))
			}
		}
		figure(b, float64(st.Size())/1e6, "MB")
		figure(b, slices.Min(read), "s-read")
		figure(b, slices.Min(parse)-slices.Min(read), "s-parse")
		figure(b, max(0, slices.Min(whole)-slices.Min(parse)), "s-compute")
		figure(b, slices.Min(ours), "s-program")
		figure(b, slices.Min(plain), "s-naive")
		figure(b, slices.Min(plain)/slices.Min(whole), "x-naive")
		if other != "" {
			figure(b, slices.Min(theirs), "s-trec_eval")
			atLeast(b, "retrieval metrics, of trec_eval", slices.Min(theirs)/slices.Min(ours), 10, "x-trec_eval")
		}
		if runtime.GOOS == "linux" {
			atMost(b, "peak of retrieval metrics", float64(peak)/1e6, 100, "MB-peak")
		}
	}
}

func seconds(fn func()) float64 {
	start := time.Now()
	fn()
	return time.Since(start).Seconds()
}

// wall runs a program and returns its time in seconds; peak, unless it is nil,
// is raised to its largest resident size.
func wall(b *testing.B, peak *int64, name string, args ...string) float64 {
	b.Helper()
	c := exec.Command(name, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = io.Discard, &said
	start := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	var watch sync.WaitGroup
	if peak != nil {
		watch.Go(func() { *peak = max(*peak, peakOf(c.Process.Pid, done)) })
	}
	err := c.Wait()
	took := time.Since(start).Seconds()
	close(done)
	watch.Wait()
	if err != nil {
		b.Fatalf("%s: %v\n%s", name, err, said.Bytes())
	}
	return took
}

func readThrough(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 4<<20)
	for err == nil {
		_, err = f.Read(buf)
	}
	if err != io.EOF {
		b.Fatal(err)
	}
}

func evaluateRun(b *testing.B, run, qrels string, measures ...string) *trec.Result {
	b.Helper()
	open := func(path string) *trec.Input {
		in, err := trec.Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { in.Close() })
		return in
	}
	list, _, err := trec.Choose(measures...)
	if err != nil {
		b.Fatal(err)
	}
	q, err := trec.ReadQrels(open(qrels), ranking.TrecEval)
	if err != nil {
		b.Fatal(err)
	}
	r, err := trec.Evaluate(context.Background(), open(run), q, trec.Options{Measures: list})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// naive is the loop that one writes first. It computes two measures, and is
// held against ours so that it is known to do the same.
func naive(b *testing.B, runPath, qrelsPath string) {
	b.Helper()
	type document struct {
		id    string
		score float64
	}
	each := func(path string, fn func(f []string)) {
		file, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		s := bufio.NewScanner(file)
		for s.Scan() {
			fn(strings.Fields(s.Text()))
		}
		if s.Err() != nil {
			b.Fatal(s.Err())
		}
	}
	grades := map[string]map[string]int{}
	each(qrelsPath, func(f []string) {
		if grades[f[0]] == nil {
			grades[f[0]] = map[string]int{}
		}
		grades[f[0]][f[2]], _ = strconv.Atoi(f[3])
	})
	run := map[string][]document{}
	each(runPath, func(f []string) {
		score, _ := strconv.ParseFloat(f[4], 32)
		run[f[0]] = append(run[f[0]], document{f[2], score})
	})
	meanAP, precision, n := 0.0, 0.0, 0
	for query, docs := range run {
		if grades[query] == nil {
			continue
		}
		n++
		slices.SortFunc(docs, func(a, b document) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id))
		})
		hits, sum := 0, 0.0
		for i, d := range docs {
			if grades[query][d.id] > 0 {
				hits++
				sum += float64(hits) / float64(i+1)
				if i < 10 {
					precision += 0.1
				}
			}
		}
		meanAP += sum / float64(len(grades[query]))
	}
	r := evaluateRun(b, runPath, qrelsPath, "map", "P.10")
	if got := [2]float64{meanAP / float64(n), precision / float64(n)}; math.Abs(got[0]-r.All[0]) > 1e-9 || math.Abs(got[1]-r.All[1]) > 1e-9 {
		b.Fatalf("the plain loop finds %v, trec.Evaluate %v", got, r.All)
	}
}
