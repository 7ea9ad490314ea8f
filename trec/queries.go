package trec

import (
	"context"
	"io"
)

// Ranked is a query of a run with its documents.
type Ranked struct {
	// Query is the id of the query.
	Query string
	// Documents are the ids, best first: by falling score, held as a 32-bit
	// float, and at equal scores by falling id. One that the run names twice
	// stands there twice.
	Documents []string
}

// EachQuery calls fn with each query of a run, in the order of the file; those
// whose lines don't stand together come last, in the byte order of their ids.
// It reads the run twice: first all of it is checked, and what is wrong is an
// *Error. An error of fn ends it.
func EachQuery(ctx context.Context, run *Input, fn func(Ranked) error) error {
	seen, parted := map[uint64]struct{}{}, map[string]bool{}
	err := eachQuery(ctx, run, func(query []byte, _ []document) error {
		h := hashOf(query)
		if _, again := seen[h]; again {
			parted[string(query)] = true
		}
		seen[h] = struct{}{}
		return nil
	})
	if err != nil {
		return err
	}
	if len(seen) == 0 {
		return &Error{File: run.path, Reason: "is empty: it holds no documents"}
	}
	kept := map[string][]document{}
	err = eachQuery(ctx, run, func(query []byte, docs []document) error {
		if !parted[string(query)] {
			return fn(ranked(string(query), docs))
		}
		id := string(query)
		for _, d := range docs {
			kept[id] = append(kept[id], document{id: []byte(string(d.id)), score: d.score})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range sortedKeys(kept) {
		if err := fn(ranked(id, ordered(kept[id]))); err != nil {
			return err
		}
	}
	return nil
}

func ranked(query string, docs []document) Ranked {
	r := Ranked{Query: query, Documents: make([]string, len(docs))}
	for i, d := range docs {
		r.Documents[i] = string(d.id)
	}
	return r
}

// eachQuery reads a run block by block.
func eachQuery(ctx context.Context, run *Input, fn func(query []byte, docs []document) error) error {
	content, release, err := run.content()
	if err != nil {
		return err
	}
	defer release()
	b := &blocks{in: content, size: run.block(), whole: true}
	var r runReader
	var buf []byte
	lines := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		block, f, err := b.next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return run.unreadable(err)
		}
		buf = block
		earlier, err := r.each(block, fn)
		if earlier != nil {
			f = earlier
		}
		if f != nil {
			return f.in(run.path, lines)
		}
		if err != nil {
			return err
		}
		lines += r.lines
	}
}
