package trec

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ragjudge/ragjudge/ranking"
)

// Qrels are the judgements of one file: which document has which grade for
// which query. They are read as a whole and don't change.
type Qrels struct {
	path       string
	convention ranking.Convention
	topics     map[string]*topic
	warnings   []string
}

// topic is what is judged for one query.
type topic struct {
	judged []judgement
	index  table
	line   int // of its first judgement
	// twice is the first judgement of a document that had one already; nil if
	// there is none.
	twice *again
	// counts are made by each evaluation for its level.
	counts ranking.Judgements
}

type judgement struct {
	id    string
	grade float64
}

// again is a document with two judgements.
type again struct {
	id            string
	line          int
	first, second float64
}

// ReadQrels reads judgements. What is no judgement is an *Error. By
// ranking.TrecEval grades are whole numbers and a second judgement of a document
// is an error of whoever evaluates its query, as it is in trec_eval; by
// ranking.RAG grades may be fractions, and the same judgement may stand twice.
func ReadQrels(in *Input, c ranking.Convention) (*Qrels, error) {
	q := &Qrels{path: in.path, convention: c, topics: map[string]*topic{}}
	content, done, err := in.content()
	if err != nil {
		return nil, err
	}
	defer done()
	b := blocks{in: content, size: in.block()}
	var buf []byte
	lines := 0
	r := qrelsReader{Qrels: q}
	for {
		block, f, err := b.next(buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, in.unreadable(err)
		}
		buf = block
		if earlier := r.add(block, lines); earlier != nil {
			f = earlier
		}
		if f != nil {
			return nil, f.in(in.path, lines)
		}
		lines += r.lines
	}
	if lines == 0 {
		return nil, &Error{File: in.path, Reason: "is empty: it holds no judgements"}
	}
	if b.bom {
		q.warnings = append(q.warnings, bomWarning(in.path))
	}
	for _, t := range q.topics {
		t.judged = slices.Clip(t.judged)
	}
	return q, q.checkTwice()
}

// block is how much of the file to read at a time.
func (p *Input) block() int {
	if p.size == 0 {
		return blockSize
	}
	return int(min(max(p.size+1, 64<<10), blockSize))
}

// qrelsReader adds lines to the judgements.
type qrelsReader struct {
	*Qrels
	query string // of the line before
	topic *topic
	lines int // of the block
}

func (r *qrelsReader) add(block []byte, before int) *fault {
	block, last := untilNUL(block)
	var columns [maxColumns][]byte
	r.lines = 0
	for at, n := 0, 0; at < len(block); {
		start := at
		n, at = split(block, at, &columns)
		r.lines++
		if at-start > maxLine {
			return tooLong(r.lines)
		}
		if n != 4 {
			return badQrelsLine(r.lines, n, &columns)
		}
		grade, ok := parseGrade(columns[3], r.convention != ranking.TrecEval)
		if !ok {
			return faultf(r.lines, "the grade %s is not a whole number", quoted(columns[3])).
				withHint("trec_eval would read the digits that it begins with, or 0, and say nothing")
		}
		r.judge(columns[0], columns[2], grade, before+r.lines)
	}
	return last
}

func badQrelsLine(line, columns int, c *[maxColumns][]byte) *fault {
	switch {
	case columns == 0:
		return faultf(line, "is blank").withHint("trec_eval refuses a blank line among judgements too; remove it")
	case len(c[0]) > 0 && c[0][0] == '#':
		return faultf(line, "is a comment, which the format does not have").withHint("remove the lines that begin with #")
	case columns == maxColumns:
		return faultf(line, "has %d columns or more, and judgements have 4: query, iteration, document, grade", columns).
			withHint("is this a run? Runs have 6 columns; the run is named first, the judgements second")
	}
	f := faultf(line, "has %s, and judgements have 4: query, iteration, document, grade", count(columns, "column", "columns"))
	if columns == 3 {
		f = f.withHint("are these of BEIR (query, document, grade, under a header)? Give them the column: awk 'NR>1 {print $1, 0, $2, $3}'")
	}
	return f
}

// judge adds one judgement. The index grows with the judgements, so that each
// line takes the same time.
func (r *qrelsReader) judge(query, id []byte, grade float64, line int) {
	if r.topic == nil || string(query) != r.query {
		t := r.topics[string(query)]
		if t == nil {
			t = &topic{line: line}
			t.index.reset(1)
			r.topics[string(query)] = t
		}
		r.query, r.topic = string(query), t
	}
	t := r.topic
	h := hashOf(id)
	i, place := t.index.find(h, func(i int) bool { return t.judged[i].id == string(id) })
	if i >= 0 {
		if first := t.judged[i].grade; t.twice == nil || t.twice.first == t.twice.second {
			t.twice = &again{id: string(id), line: line, first: first, second: grade}
		}
		return
	}
	if 2*(len(t.judged)+1) > len(t.index.slots) {
		t.grow()
		_, place = t.index.find(h, func(int) bool { return false })
	}
	t.index.put(place, h, len(t.judged))
	t.judged = append(t.judged, judgement{string(id), grade})
}

// grow makes the index twice as large.
func (t *topic) grow() {
	t.index.slots = nil // reset would keep them
	t.index.reset(2 * (len(t.judged) + 1))
	for i, j := range t.judged {
		h := hashOf([]byte(j.id))
		_, place := t.index.find(h, func(int) bool { return false })
		t.index.put(place, h, i)
	}
}

// grade returns the grade of a document; ranking.Unjudged if it has none.
func (t *topic) grade(h uint64, id []byte) float64 {
	i, _ := t.index.find(h, func(i int) bool { return t.judged[i].id == string(id) })
	if i < 0 {
		return ranking.Unjudged()
	}
	return t.judged[i].grade
}

// checkTwice refuses, by ranking.RAG, judgements that contradict each other,
// and warns of those that are told twice. By ranking.TrecEval a query is
// checked when it is evaluated.
func (q *Qrels) checkTwice() error {
	if q.convention == ranking.TrecEval {
		return nil
	}
	n, first := 0, 0
	var errs []error
	for _, query := range sortedKeys(q.topics) {
		a := q.topics[query].twice
		switch {
		case a == nil:
			continue
		case a.first != a.second:
			errs = append(errs, q.topics[query].checkTwice(q.path, query))
		}
		n++
		if first == 0 || a.line < first {
			first = a.line
		}
	}
	if n > 0 {
		q.warnings = append(q.warnings, fmt.Sprintf("%s:%d: a document is judged twice for the same query, with the same grade (%s)", q.path, first, count(n, "query", "queries")))
	}
	return errors.Join(errs...)
}

func (t *topic) checkTwice(path, query string) error {
	a := t.twice
	if a == nil {
		return nil
	}
	hint := "which of them holds can't be known; leave one"
	if a.first == a.second {
		hint = "leave one"
	}
	return &Error{File: path, Line: a.line,
		Reason: fmt.Sprintf("document %s of query %s is judged twice, with the grades %s and %s", quoted([]byte(a.id)), quoted([]byte(query)), number(a.first), number(a.second)),
		Hint:   hint}
}

// checkJudged refuses a query at which trec_eval gives up.
func (t *topic) checkJudged(path, query string) error {
	for _, j := range t.judged {
		if j.grade >= 0 {
			return nil
		}
	}
	return &Error{File: path, Line: t.line,
		Reason: fmt.Sprintf("query %s has negative grades only, which mean \"in the pool, but not judged\": nothing is known of it", quoted([]byte(query))),
		Hint:   "leave the query out, or give a document a grade of 0 or more; --convention rag takes a negative grade as not relevant"}
}

// Queries is the number of queries with judgements.
func (q *Qrels) Queries() int { return len(q.topics) }

// Grades returns the judged documents of a query with their grades; nil if
// there are none.
func (q *Qrels) Grades(query string) map[string]float64 {
	t := q.topics[query]
	if t == nil {
		return nil
	}
	grades := make(map[string]float64, len(t.judged))
	for _, j := range t.judged {
		grades[j.id] = j.grade
	}
	return grades
}

// QueryIDs returns the ids of all queries with judgements, in byte order.
func (q *Qrels) QueryIDs() []string { return sortedKeys(q.topics) }

// Warnings tell what is odd about the file, and was taken all the same.
func (q *Qrels) Warnings() []string { return q.warnings }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// number shows a grade.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(v)
}
