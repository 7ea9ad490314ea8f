package trec

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/ragjudge/ragjudge/ranking"
)

// Options say how a run is evaluated. The zero value is trec_eval's default.
type Options struct {
	// Convention is how cases are counted on which tools disagree;
	// ranking.TrecEval if empty. It must be that of the judgements.
	Convention ranking.Convention
	// Level is the lowest grade that is relevant (trec_eval's -l); nil for 1
	// by ranking.TrecEval, and for everything above 0 by ranking.RAG.
	Level *float64
	// Depth is how many documents of a query are looked at (-M); 0 for all.
	Depth int
	// Complete makes a query that has judgements, and no documents, count as 0
	// (-c), instead of leaving it out.
	Complete bool
	// Exponential makes the gain of nDCG 2^grade - 1 instead of the grade.
	Exponential bool
	// Measures are what is computed; those of Choose("official") if nil.
	Measures []Measure
	// Workers is how many queries are evaluated at the same time; 0 for as
	// many as there are processors.
	Workers int

	block int // how much is read at a time; 0 for blockSize
}

// Result is an evaluation.
type Result struct {
	// RunID is the last column of the run's last line.
	RunID string
	// Measures are what was computed, in order.
	Measures []Measure
	// Queries are the evaluated queries in the byte order of their ids.
	Queries []Query
	// All are the values over all queries, one for each measure; NaN for a
	// text, and for what only a single query has.
	All []float64
	// Averaged is the number of queries that the means are taken over.
	Averaged int
	// WithoutDocuments counts the queries that have judgements and no
	// documents, WithoutJudgements those of the other kind.
	WithoutDocuments, WithoutJudgements int
	// Repeated is the number of documents that stood in the run again, and
	// were passed over (ranking.RAG only).
	Repeated int
	// Warnings tell what is odd about the files, and was taken all the same.
	Warnings []string
}

// Query is what one query came to.
type Query struct {
	ID string
	// Values are one for each measure; NaN for a text and where there is no
	// value.
	Values []float64
	// Grades is trec_eval's string of the first ten grades, if it was asked for.
	Grades string

	repeated int
	err      error
}

func (o Options) withDefaults() (Options, error) {
	if o.Convention == "" {
		o.Convention = ranking.TrecEval
	}
	if o.Convention != ranking.TrecEval && o.Convention != ranking.RAG {
		return o, fmt.Errorf("evaluate a run: the convention %q is not one of %q, %q", string(o.Convention), string(ranking.RAG), string(ranking.TrecEval))
	}
	if o.Level == nil {
		level := float64(ranking.AboveZero)
		if o.Convention == ranking.TrecEval {
			level = 1
		}
		o.Level = &level
	}
	if !(*o.Level >= 0) || math.IsInf(*o.Level, 0) {
		return o, fmt.Errorf("evaluate a run: the relevance level %v is below 0", *o.Level)
	}
	if o.Depth < 0 {
		return o, fmt.Errorf("evaluate a run: the depth %d is below 0", o.Depth)
	}
	if o.Measures == nil {
		o.Measures, _, _ = Choose("official") // its names are known
	}
	o.Measures = withGain(o.Measures, o.Exponential)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o, nil
}

// Evaluate evaluates a run against judgements. What is wrong with the run, or
// with a query that both have, is an *Error; so is a run without a single query
// that has judgements.
func Evaluate(ctx context.Context, run *Input, q *Qrels, opt Options) (*Result, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if q.convention != opt.Convention {
		return nil, fmt.Errorf("evaluate a run: the judgements were read by convention %s, and the run is by %s", q.convention, opt.Convention)
	}
	e := &evaluation{Options: opt, run: run, qrels: q, seen: map[string]int{}, loose: map[uint64]struct{}{}}
	for _, t := range q.topics {
		grades := make([]float64, len(t.judged))
		for i, j := range t.judged {
			grades[i] = j.grade
		}
		t.counts = opt.Convention.Judge(grades, *opt.Level)
	}
	if err := e.stream(ctx); err != nil {
		return nil, err
	}
	if err := e.gather(ctx); err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	return e.result()
}

// evaluation is an evaluation in the making. Its fields are for the goroutine
// that collects.
type evaluation struct {
	Options
	run   *Input
	qrels *Qrels

	queries []Query
	seen    map[string]int      // queries with judgements, and where they stand in queries
	parted  map[string]bool     // those whose lines don't stand together
	loose   map[uint64]struct{} // hashes of the queries without judgements
	name    string
	bom     bool
}

// take takes up what a worker made of one block. What is wrong with a query is
// kept, since more lines of it may come; a query that came before is left to
// gather.
func (e *evaluation) take(found []outcome) {
	for _, o := range found {
		if o.topic == nil {
			e.loose[o.hash] = struct{}{}
			continue
		}
		if _, again := e.seen[o.ID]; again {
			if e.parted == nil {
				e.parted = map[string]bool{}
			}
			e.parted[o.ID] = true
			continue
		}
		e.seen[o.ID] = len(e.queries)
		e.queries = append(e.queries, o.Query)
	}
}

// check returns what is wrong with the first query, in the order of the file,
// with which something is.
func (e *evaluation) check() error {
	for _, q := range e.queries {
		if q.err != nil {
			return e.located(q.err)
		}
	}
	return nil
}

func (e *evaluation) result() (*Result, error) {
	r := &Result{RunID: e.name, Measures: e.Measures, Queries: e.queries, WithoutJudgements: len(e.loose),
		WithoutDocuments: len(e.qrels.topics) - len(e.queries), Averaged: len(e.queries)}
	for _, q := range e.queries {
		r.Repeated += q.repeated
	}
	if len(e.queries) == 0 {
		return nil, e.nothing()
	}
	if e.Complete {
		r.Averaged = len(e.qrels.topics)
	}
	slices.SortFunc(r.Queries, func(a, b Query) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	for i, m := range e.Measures {
		r.All = append(r.All, e.overall(m, i, r))
	}
	r.Warnings = append(slices.Clone(e.qrels.warnings), e.warnings(r)...)
	return r, nil
}

func (e *evaluation) warnings(r *Result) []string {
	var w []string
	if e.bom {
		w = append(w, bomWarning(e.run.path))
	}
	if n := r.WithoutDocuments; n > 0 && !e.Complete {
		w = append(w, fmt.Sprintf("left out of the means: %s with judgements and without documents (-c counts it as 0)", count(n, "query", "queries")))
	}
	if n := r.WithoutJudgements; n > 0 {
		w = append(w, fmt.Sprintf("left out: %s with documents and without judgements", count(n, "query", "queries")))
	}
	if r.Repeated > 0 {
		w = append(w, fmt.Sprintf("passed over: %s of the run with a document that its query had already (the first in rank counts)", count(r.Repeated, "line", "lines")))
	}
	if len(e.parted) > 0 {
		w = append(w, fmt.Sprintf("the lines of %s don't stand together in the run: it was read twice, and those lines were kept in memory (a run sorted by query saves both)", count(len(e.parted), "query", "queries")))
	}
	return w
}

func bomWarning(path string) string {
	return path + ": a byte order mark was passed over; trec_eval would take it for a part of the first query's id"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// nothing is the error of a run that shares no query with the judgements.
func (e *evaluation) nothing() error {
	if e.name == "" {
		return &Error{File: e.run.path, Reason: "is empty: it holds no documents"}
	}
	return &Error{File: e.run.path, Reason: fmt.Sprintf("shares no query with %s", e.qrels.path),
		Hint: "the ids of the queries must be the same, to the letter"}
}

// overall makes the value over all queries.
func (e *evaluation) overall(m Measure, i int, r *Result) float64 {
	switch {
	case m.def.text || m.def.scope == ofQuery:
		return math.NaN()
	case m.def.name == nameNumQ:
		return float64(r.Averaged)
	case m.def.name == nameNumRel && e.Complete:
		n := 0
		for _, t := range e.qrels.topics {
			n += t.counts.Relevant
		}
		return float64(n)
	}
	total, n := 0.0, r.Averaged
	for _, q := range r.Queries {
		v := q.Values[i]
		switch {
		case math.IsNaN(v):
			n--
		case m.def.average == geometric:
			total += math.Log(max(v, smallestMean))
		default:
			total += v
		}
	}
	switch m.def.average {
	case sum:
		return total
	case geometric:
		total += float64(r.Averaged-len(r.Queries)) * math.Log(smallestMean)
		return math.Exp(total / float64(n))
	}
	if n == 0 {
		return math.NaN()
	}
	return total / float64(n)
}
