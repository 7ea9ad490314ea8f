package trec

import (
	"bytes"
	"cmp"
	"slices"
)

// document is a line of a run. Its id lies in the block.
type document struct {
	id    []byte
	score float32
}

// compareDocuments orders by falling score, and at equal scores by falling id.
func compareDocuments(a, b document) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return bytes.Compare(b.id, a.id)
}

// runReader cuts blocks of a run into queries. It uses its memory again from
// query to query.
type runReader struct {
	docs    []document
	ordered bool // so far, as they came
	columns [maxColumns][]byte

	// lines is the number of lines of the block, name the last column of its
	// last line.
	lines int
	name  []byte
}

// each calls fn with each query of a block and its documents, in their order;
// both lie in the block and are gone with it. Lines of a query that don't
// follow each other make several calls.
func (r *runReader) each(block []byte, fn func(query []byte, docs []document) error) (*fault, error) {
	block, last := untilNUL(block)
	r.lines, r.name = 0, nil
	var query []byte
	r.docs, r.ordered = r.docs[:0], true
	for at, n := 0, 0; at < len(block); {
		start := at
		n, at = split(block, at, &r.columns)
		r.lines++
		if at-start > maxLine {
			return tooLong(r.lines), nil
		}
		if n == 0 {
			continue
		}
		if n != maxColumns {
			return badRunLine(r.lines, n, &r.columns), nil
		}
		score, ok := parseScore(r.columns[4])
		if !ok {
			return faultf(r.lines, "the score %s is not a number, so that the document has no rank", quoted(r.columns[4])).
				withHint("trec_eval would rank it all the same, and say nothing"), nil
		}
		if len(r.docs) > 0 && !bytes.Equal(query, r.columns[0]) {
			if err := r.finish(query, fn); err != nil {
				return nil, err
			}
		}
		query = r.columns[0]
		d := document{r.columns[2], score}
		if k := len(r.docs); r.ordered && k > 0 && r.docs[k-1].score <= score {
			r.ordered = compareDocuments(r.docs[k-1], d) <= 0
		}
		r.docs = append(r.docs, d)
		r.name = r.columns[5]
	}
	if len(r.docs) == 0 || last != nil {
		return last, nil
	}
	return nil, r.finish(query, fn)
}

func badRunLine(line, columns int, c *[maxColumns][]byte) *fault {
	const form = "and a run has 6: query, Q0, document, rank, score, name"
	switch {
	case len(c[0]) > 0 && c[0][0] == '#':
		return faultf(line, "is a comment, which the format does not have").withHint("remove the lines that begin with #")
	case columns == 4:
		return faultf(line, "has 4 columns, "+form).
			withHint("are these judgements? The run is named first, the judgements second")
	}
	return faultf(line, "has %s, "+form, count(columns, "column", "columns"))
}

func (r *runReader) finish(query []byte, fn func([]byte, []document) error) error {
	if !r.ordered {
		r.docs = ordered(r.docs)
	}
	err := fn(query, r.docs)
	r.docs, r.ordered = r.docs[:0], true
	return err
}

func ordered(docs []document) []document {
	slices.SortFunc(docs, compareDocuments)
	return docs
}
