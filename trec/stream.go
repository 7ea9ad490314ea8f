package trec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/ragjudge/ragjudge/ranking"
)

// outcome is what one query of a block came to. Without judgements it has no
// topic, and only a hash.
type outcome struct {
	Query
	topic *topic
	hash  uint64
}

// job is a block on its way to a worker.
type job struct {
	number int
	block  []byte
	fault  *fault
}

// done is what a worker made of a block.
type done struct {
	number int
	lines  int
	name   string
	found  []outcome
	fault  *fault
}

// stream reads the run: one goroutine cuts it into blocks, some evaluate them,
// and this one collects what they find in the order of the file. A fixed number
// of buffers goes round.
func (e *evaluation) stream(ctx context.Context) error {
	content, release, err := e.run.content()
	if err != nil {
		return err
	}
	defer release()
	b := &blocks{in: content, size: e.blockSize(), whole: true}
	g, ctx := errgroup.WithContext(ctx)
	buffers := make(chan []byte, e.Workers+1)
	for range cap(buffers) {
		buffers <- nil
	}
	jobs := make(chan job)
	results := make(chan done)
	g.Go(func() error {
		defer close(jobs)
		return e.cut(ctx, b, buffers, jobs)
	})
	workers, wctx := errgroup.WithContext(ctx)
	for range e.Workers {
		workers.Go(func() error { return e.work(wctx, jobs, buffers, results) })
	}
	g.Go(func() error {
		defer close(results)
		return workers.Wait()
	})
	g.Go(func() error { return e.collect(ctx, results) })
	err = g.Wait()
	e.bom = b.bom
	return err
}

func (e *evaluation) blockSize() int {
	if e.block > 0 {
		return e.block
	}
	return e.run.block()
}

func (e *evaluation) cut(ctx context.Context, b *blocks, buffers <-chan []byte, jobs chan<- job) error {
	for number := 0; ; number++ {
		var buf []byte
		select {
		case buf = <-buffers:
		case <-ctx.Done():
			return ctx.Err()
		}
		block, f, err := b.next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return e.run.unreadable(err)
		}
		select {
		case jobs <- job{number, block, f}:
		case <-ctx.Done():
			return ctx.Err()
		}
		if f != nil {
			return nil
		}
	}
}

func (e *evaluation) work(ctx context.Context, jobs <-chan job, buffers chan<- []byte, results chan<- done) error {
	w := worker{evaluation: e}
	for j := range jobs {
		d := w.block(j)
		if d.fault == nil {
			d.fault = j.fault
		}
		buffers <- j.block // never blocks: there are as many places as buffers
		select {
		case results <- d:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// collect takes the results in the order of the file, so that what it finds
// wrong is the first that is.
func (e *evaluation) collect(ctx context.Context, results <-chan done) error {
	waiting := map[int]done{}
	next, lines := 0, 0
	for d := range results {
		waiting[d.number] = d
		for {
			d, ok := waiting[next]
			if !ok {
				break
			}
			delete(waiting, next)
			next++
			e.take(d.found)
			if d.fault != nil {
				return d.fault.in(e.run.path, lines)
			}
			lines += d.lines
			if d.name != "" {
				e.name = d.name
			}
		}
	}
	return ctx.Err()
}

// worker evaluates the queries of blocks. It uses its memory again.
type worker struct {
	*evaluation
	reader runReader
	list   ranking.List
	grades []float64
	hashes []uint64
	index  table
}

func (w *worker) block(j job) done {
	d := done{number: j.number}
	d.fault, _ = w.reader.each(j.block, func(query []byte, docs []document) error {
		d.found = append(d.found, w.query(query, docs))
		return nil
	})
	d.lines, d.name = w.reader.lines, string(w.reader.name)
	return d
}

func (w *worker) query(query []byte, docs []document) outcome {
	t := w.qrels.topics[string(query)]
	if t == nil {
		return outcome{hash: hashOf(query)}
	}
	o := outcome{Query: Query{ID: string(query)}, topic: t}
	o.err = w.evaluate(&o, t, docs)
	return o
}

// evaluate computes the values of a query.
func (w *worker) evaluate(o *outcome, t *topic, docs []document) error {
	if w.Convention == ranking.TrecEval {
		if err := t.checkTwice(w.qrels.path, o.ID); err != nil {
			return err
		}
		if err := t.checkJudged(w.qrels.path, o.ID); err != nil {
			return err
		}
	}
	if err := w.grade(o, t, docs); err != nil {
		return err
	}
	w.list.Set(w.Convention, *w.Level, t.counts, w.grades)
	o.Values = make([]float64, len(w.Measures))
	for i, m := range w.Measures {
		switch {
		case m.def.of != nil:
			o.Values[i] = m.def.of(&w.list, m.param)
		case m.def.name == nameRelstring:
			o.Grades = relstring(&w.list)
			fallthrough
		default:
			o.Values[i] = ranking.Unjudged()
		}
	}
	return nil
}

// grade looks up the grades of the documents down to the depth. One that stands
// twice is an error by trec_eval's convention; by ours it counts once.
func (w *worker) grade(o *outcome, t *topic, docs []document) error {
	depth := len(docs)
	if w.Depth > 0 {
		depth = min(depth, w.Depth)
	}
	if w.Convention == ranking.TrecEval {
		docs = docs[:depth]
	}
	w.grades, w.hashes = w.grades[:0], w.hashes[:0]
	w.index.reset(len(docs))
	for i, d := range docs {
		h := hashOf(d.id)
		first, place := w.index.find(h, func(i int) bool { return string(docs[i].id) == string(d.id) })
		if first >= 0 {
			if w.Convention == ranking.TrecEval {
				return &repeatedError{query: o.ID, id: string(d.id)}
			}
			o.repeated++
			continue
		}
		w.index.put(place, h, i)
		if len(w.grades) < depth {
			w.grades = append(w.grades, t.grade(h, d.id))
		}
	}
	return nil
}

// repeatedError is a document that stands twice in a query. Where is found out
// only when it is told.
type repeatedError struct{ query, id string }

func (e *repeatedError) Error() string {
	return fmt.Sprintf("document %s stands twice in query %s", quoted([]byte(e.id)), quoted([]byte(e.query)))
}

// located gives a repeated document its place. It reads the run again.
func (e *evaluation) located(err error) error {
	var twice *repeatedError
	if !errors.As(err, &twice) {
		return err
	}
	found := &Error{File: e.run.path, Reason: twice.Error(),
		Hint: "trec_eval stops there as well; --convention rag counts such a document once, at its first rank"}
	first := 0
	rerr := e.lines(func(line int, text []byte) error {
		var c [maxColumns][]byte
		if n, _ := split(text, 0, &c); n != maxColumns || string(c[0]) != twice.query || string(c[2]) != twice.id {
			return nil
		}
		if first == 0 {
			first = line
			return nil
		}
		found.Line = line
		found.Reason += fmt.Sprintf(", here and in line %d", first)
		return io.EOF
	})
	if rerr != nil && rerr != io.EOF {
		return errors.Join(found, rerr)
	}
	return found
}

// lines reads the run again, line by line, until fn returns an error.
func (e *evaluation) lines(fn func(line int, text []byte) error) error {
	content, release, err := e.run.content()
	if err != nil {
		return err
	}
	defer release()
	b := &blocks{in: content, size: e.blockSize()}
	var buf, text []byte
	line := 0
	for {
		block, f, err := b.next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return e.run.unreadable(err)
		}
		if f != nil {
			return f.in(e.run.path, line)
		}
		buf = block
		for len(block) > 0 {
			text, block = nextLine(block)
			line++
			if err := fn(line, text); err != nil {
				return err
			}
		}
	}
}

// gather evaluates the queries whose lines don't stand together: it reads the
// run once more and keeps their lines.
func (e *evaluation) gather(ctx context.Context) error {
	if len(e.parted) == 0 {
		return nil
	}
	kept := map[string][]byte{}
	err := e.lines(func(_ int, text []byte) error {
		if query := firstColumn(text); e.parted[string(query)] {
			id := string(query)
			kept[id] = append(append(kept[id], text...), '\n')
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	w := worker{evaluation: e}
	for _, id := range sortedKeys(kept) {
		d := w.block(job{block: kept[id]})
		if d.fault != nil || len(d.found) != 1 {
			return &Error{File: e.run.path, Reason: "changed while it was read"}
		}
		e.queries[e.seen[id]] = d.found[0].Query
		delete(kept, id)
	}
	return nil
}
