// Package ranking is the arithmetic of retrieval metrics: what a list of graded
// documents is worth.
//
// It knows no ids, files or samples. Package metrics uses it for the lists of a
// sample, package trec for the topics of a run, so that one name has one
// formula. Two conventions differ where the field does, and in nothing else:
// see Convention.
//
// Every measure lies within 0..1 but for those that say otherwise, and higher
// is better. No measure panics or gives NaN, whatever the grades, unless it says so.
package ranking

import (
	"cmp"
	"math"
	"slices"
)

// Convention says how the cases are counted on which tools disagree.
type Convention string

// The conventions.
const (
	// RAG divides precision by what was returned, and the average precision at
	// k by what could be found within k; where nothing is relevant, recall is 1.
	RAG Convention = "rag"
	// TrecEval gives what trec_eval 9.0.8 gives: precision divides by k, the
	// average precision at k by all relevant documents; where nothing is
	// relevant everything is 0; a grade below 0 means "in the pool, but not
	// judged".
	TrecEval Convention = "trec_eval"
)

// AboveZero is the level at which every grade above 0 is relevant.
const AboveZero = math.SmallestNonzeroFloat64

// Unjudged is the grade of a document about which the judgements say nothing.
func Unjudged() float64 { return math.NaN() }

// Judgements are what is known about one topic, whatever was retrieved for it.
type Judgements struct {
	// Relevant is the number of documents with a grade at the level or above.
	Relevant int
	// Nonrelevant is the number of judged documents below the level.
	Nonrelevant int
	// Gains are the grades above 0, falling.
	Gains []float64
}

// Judge counts grades at a level. A grade below 0 counts as judged and not
// relevant by RAG, and not at all by TrecEval; NaN never counts.
func (c Convention) Judge(grades []float64, level float64) Judgements {
	var j Judgements
	for _, g := range grades {
		switch {
		case math.IsNaN(g), g < 0 && c == TrecEval:
			continue
		case g >= level:
			j.Relevant++
		default:
			j.Nonrelevant++
		}
		if g > 0 {
			j.Gains = append(j.Gains, g)
		}
	}
	slices.SortFunc(j.Gains, func(a, b float64) int { return cmp.Compare(b, a) })
	return j
}

// List is one retrieved list, seen through its judgements. Fill it with Set.
type List struct {
	Judgements
	// Convention is how it is counted.
	Convention Convention
	// Level is the lowest grade that is relevant.
	Level float64
	// Grades are those of the retrieved documents, best first; Unjudged for a
	// document without one.
	Grades []float64
	// Hits are the ranks of the relevant documents, from 1, rising.
	Hits []int
}

// Set makes l the list of the grades. It keeps grades, and uses the memory of
// the Hits that it had.
func (l *List) Set(c Convention, level float64, j Judgements, grades []float64) {
	l.Convention, l.Level, l.Judgements, l.Grades, l.Hits = c, level, j, grades, l.Hits[:0]
	for i, g := range grades {
		if l.relevant(g) {
			l.Hits = append(l.Hits, i+1)
		}
	}
}

func (l *List) relevant(g float64) bool {
	return g >= l.Level && (g >= 0 || l.Convention != TrecEval)
}

// judged reports whether a grade is a judgement. Where it is not, pooled says
// whether the document stands among the judged ones all the same.
func (l *List) judged(g float64) (judged, pooled bool) {
	if math.IsNaN(g) {
		return false, false
	}
	return g >= 0 || l.Convention != TrecEval, true
}

// within is the number of documents within the cut-off; k = 0 is no cut-off.
func (l *List) within(k int) int {
	if k <= 0 {
		return len(l.Grades)
	}
	return min(k, len(l.Grades))
}

// HitsWithin is the number of relevant documents within the cut-off; k = 0 is
// no cut-off.
func (l *List) HitsWithin(k int) int {
	if k <= 0 {
		return len(l.Hits)
	}
	n, _ := slices.BinarySearch(l.Hits, k+1)
	return n
}

// ratio is n/d, and 0 where there is nothing to divide by.
func ratio(n, d int) float64 {
	if d == 0 {
		return 0
	}
	return float64(n) / float64(d)
}
