package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/report"
	"github.com/ragjudge/ragjudge/run"
)

// expectedRows is how many rows are planned for what a run is told to have been
// expected: enough to be right within a few percent, and too few to keep it
// waiting.
const expectedRows = 200

// expect estimates what this execution will take, from some of the rows that are
// to be done, with what the cache holds taken off. It makes no call. What can't be
// estimated is no reason not to run.
func (x *scoring) expect(ctx context.Context, reader *dataset.Reader) error {
	todo := x.s.rows(x.data) - x.dir.Done()
	if !x.s.judged || offline(x.s.cfg) || todo <= 0 {
		return nil
	}
	quiet := *x.app
	quiet.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	e := &estimating{app: &quiet, s: x.s, price: x.price, reader: reader, data: x.data, has: x.dir.Has, todo: todo}
	est, err := e.plan(ctx, expectedRows, nil)
	if rerr := reader.Rewind(); rerr != nil {
		return inputError(rerr)
	}
	if err != nil {
		x.log.Debug("what the run will take can't be estimated", "error", err)
		return nil
	}
	t := est.Total
	tokens := func(in, out, embedded int64) int64 { return in + out + embedded }
	x.expected = &report.Expected{
		Calls: [3]int64{t.Calls.Low, t.Calls.Expected, t.Calls.High},
		Tokens: [3]int64{tokens(t.InputTokens.Low, t.OutputTokens.Low, t.EmbeddingTokens.Low),
			tokens(t.InputTokens.Expected, t.OutputTokens.Expected, t.EmbeddingTokens.Expected),
			tokens(t.InputTokens.High, t.OutputTokens.High, t.EmbeddingTokens.High)},
		RowsPlanned: min(todo, expectedRows), Rows: todo,
	}
	if c := t.CostUSD; c != nil {
		x.expected.CostUSD = &[3]float64{c.Low, c.Expected, c.High}
	}
	x.dir.Expected = &run.Expected{Calls: x.expected.Calls, Tokens: x.expected.Tokens, CostUSD: x.expected.CostUSD}
	return nil
}

// parts tells what one sample costs by metric and judge.
func parts(offline bool) func(context.Context) []run.Part {
	return func(ctx context.Context) []run.Part {
		counts := llm.TallyParts(ctx)
		var all []run.Part
		for _, p := range slices.SortedFunc(maps.Keys(counts), comparePart) {
			if u := usageOf(counts[p], offline); u != (run.Usage{}) {
				all = append(all, run.Part{Metric: p.Metric, Judge: p.Judge, Usage: u})
			}
		}
		return all
	}
}

func comparePart(a, b llm.Part) int {
	return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Judge, b.Judge))
}

// dearestSamples is how many samples a summary names.
const dearestSamples = 10

// costs sums up what all executions have cost, from costs.jsonl, for the summary
// and the manifest.
func (x *scoring) costs(sum *report.Summary, unpriced []string) (*report.Costs, error) {
	byMetric, byJudge, byCategory := map[string]run.Usage{}, map[string]run.Usage{}, map[string]run.Usage{}
	byBoth := map[llm.Part]run.Usage{}
	known := map[string]bool{}
	for _, c := range sum.Categories {
		known[c.Category] = !c.Other
	}
	out := &report.Costs{}
	var total run.Usage
	seen := make([]uint64, x.data.Rows/64+x.data.BadLines/64+3) // a bit for each row
	err := run.ReadCosts(x.dir.Path(), func(c run.RowCost) error {
		total = total.Add(c.Usage)
		for _, p := range c.Parts {
			both := llm.Part{Metric: p.Metric, Judge: p.Judge}
			byBoth[both] = byBoth[both].Add(p.Usage)
			byMetric[p.Metric] = byMetric[p.Metric].Add(p.Usage)
			if p.Judge != "" {
				byJudge[p.Judge] = byJudge[p.Judge].Add(p.Usage)
			}
		}
		if len(sum.Categories) > 0 {
			name := c.Category
			if !known[name] && name != "" {
				name = report.OtherCategories
			}
			byCategory[name] = byCategory[name].Add(c.Usage)
		}
		if word, bit := c.Row/64, uint64(1)<<(c.Row%64); word >= 0 && word < len(seen) && seen[word]&bit == 0 {
			seen[word] |= bit
			out.Samples++
		}
		out.Dearest = dearer(out.Dearest, report.SampleCost{Row: c.Row, ID: c.ID, CostUSD: c.Usage.CostUSD, Calls: int64(c.Usage.Calls)})
		return nil
	})
	if err != nil || out.Samples == 0 {
		return nil, err
	}
	x.dir.Manifest.Parts = nil
	for _, p := range slices.SortedFunc(maps.Keys(byBoth), comparePart) {
		x.dir.Manifest.Parts = append(x.dir.Manifest.Parts, run.Part{Metric: p.Metric, Judge: p.Judge, Usage: byBoth[p]})
	}
	out.ByMetric, out.ByJudge, out.ByCategory = costList(byMetric, unpriced), costList(byJudge, unpriced), costList(byCategory, unpriced)
	if u := usage(total, unpriced); u.CostUSD != nil {
		mean := *u.CostUSD / float64(out.Samples)
		out.MeanUSD = &mean
	}
	return out, nil
}

func costList(of map[string]run.Usage, unpriced []string) []report.CostLine {
	var list []report.CostLine
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, report.CostLine{Name: name, Usage: usage(of[name], unpriced)})
	}
	return list
}

// dearer puts a sample into the list of the dearest, if it is one of them.
func dearer(list []report.SampleCost, s report.SampleCost) []report.SampleCost {
	if s.CostUSD <= 0 {
		return list
	}
	i, _ := slices.BinarySearchFunc(list, s, func(a, b report.SampleCost) int {
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(a.Row, b.Row))
	})
	list = slices.Insert(list, i, s)
	return list[:min(len(list), dearestSamples)]
}

// comparedPrice is the price of another model for a comparison: where the endpoint
// of the run has none for it, that of who else serves it.
func comparedPrice(price *prices) {
	for i, b := range price.books {
		if _, ok := b.Lookup(price.models[i]); !ok {
			price.books[i] = &cost.Book{Table: b.Table}
		}
	}
}
