package report_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/report"
)

// stream makes a Summarizer of eight metrics and results for it that are
// reused, so that what is measured is the Summarizer's own.
func stream(t testing.TB) (*report.Summarizer, func(row int) *eval.Result) {
	infos := []eval.Info{faithfulness, relevance}
	for _, name := range []string{"context_precision", "context_recall"} {
		infos = append(infos, eval.Info{Name: name, Version: 1, Judged: true})
	}
	for _, name := range []string{"precision@5", "recall@5", "mrr", "ndcg@10"} {
		infos = append(infos, eval.Info{Name: name, Version: 1})
	}
	s := summarizer(t, report.Options{}, infos...)
	categories := make([]string, 300)
	for i := range categories {
		categories[i] = fmt.Sprintf("category %d", i)
	}
	rated := map[string]any{"rating": 4, "reason": "it answers the question, and a little more"}
	verdict := map[string]any{"item": strings.Repeat("a claim ", 10), "verdict": "supported", "reason": strings.Repeat("because ", 10)}
	verdicts := map[string]any{"verdicts": []any{verdict, verdict, verdict, verdict, verdict}}
	var variants [7]eval.Result
	for v := range variants {
		for i, info := range infos {
			sc := eval.Value(float64((v*5+i*3)%11) / 10).Of(info)
			switch {
			case info.Name == relevance.Name:
				sc = sc.WithDetail(rated)
			case info.Judged:
				sc = sc.WithDetail(verdicts)
			}
			if v == 3 && i == 0 {
				sc = eval.Without(eval.Undefined, "no_claims").Of(info)
			}
			variants[v].Scores = append(variants[v].Scores, sc)
		}
	}
	return s, func(row int) *eval.Result {
		r := &variants[row%len(variants)]
		r.Row, r.ID, r.Category = row, "an id", categories[row%len(categories)]
		return r
	}
}

// BenchmarkMillion sums up 1,000,000 results of eight metrics in 300
// categories and reports the memory that the Summarizer then holds.
func BenchmarkMillion(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, next := stream(b)
		for row := range 1_000_000 {
			if err := s.Add(next(row + 1)); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if sum := s.Summary(); sum.RowsDone != 1_000_000 {
			b.Fatal("rows are missing")
		}
		b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<20), "MB-held")
	}
}

// BenchmarkAdd measures one result of eight metrics, four of them judged
// and one of those rated.
func BenchmarkAdd(b *testing.B) {
	s, next := stream(b)
	b.ReportAllocs()
	row := 0
	for b.Loop() {
		row++
		if err := s.Add(next(row)); err != nil {
			b.Fatal(err)
		}
	}
}

// What a Summarizer holds does not grow with the number of results.
func TestMemoryIsFlat(t *testing.T) {
	held := func(rows int) int64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, next := stream(t)
		for row := range rows {
			add(t, s, next(row+1))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(s)
		return int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	// By 60,000 rows each of the categories has seen more than it keeps.
	few, many := held(60_000), held(120_000)
	if many > 20<<20 || many > few+1<<20 {
		t.Errorf("%d bytes after 60,000 results, %d after 120,000", few, many)
	}
}
