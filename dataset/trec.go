package dataset

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/ranking"
	"github.com/ragjudge/ragjudge/trec"
)

// spoolTREC keeps the samples that are made of a TREC run and its judgements.
func (p *part) spoolTREC(opt *Options) error {
	p.trec = true
	return p.keep(opt, func(f io.Writer) error {
		err := writeTREC(f, p.path, opt)
		var e *trec.Error
		if errors.As(err, &e) {
			return &LineError{File: e.File, Line: e.Line, Reason: e.Reason, Hint: e.Hint, Err: err, fatal: true}
		}
		return err
	})
}

// shownFormat is the format of what was named, and not of the copy.
func (p *part) shownFormat() Format {
	if p.trec {
		return TREC
	}
	return p.format
}

// writeTREC writes one sample a query as JSONL with the canonical names: the
// queries of the run in its order, then those that have judgements and no
// documents, which retrieved nothing. A query without judgements has no
// reference_context_ids.
func writeTREC(out io.Writer, run string, opt *Options) (err error) {
	qrels, err := readQrels(opt)
	if err != nil {
		return err
	}
	in, err := trec.Open(run, opt.Stdin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	w := bufio.NewWriterSize(out, 1<<20)
	var line []byte
	write := func(query string, documents []string) error {
		if line, err = appendTREC(line[:0], query, documents, qrels.Grades(query)); err != nil {
			return &LineError{File: run, Reason: err.Error(), fatal: true}
		}
		_, err := w.Write(line)
		return err
	}
	retrieved := map[string]bool{}
	err = trec.EachQuery(context.Background(), in, func(r trec.Ranked) error {
		retrieved[r.Query] = true
		return write(r.Query, r.Documents)
	})
	if err != nil {
		return err
	}
	for _, query := range qrels.QueryIDs() {
		if retrieved[query] {
			continue
		}
		if err := write(query, nil); err != nil {
			return err
		}
	}
	return w.Flush()
}

// readQrels reads the judgements. One that is told twice, the same way, changes
// nothing.
func readQrels(opt *Options) (q *trec.Qrels, err error) {
	in, err := trec.Open(opt.Qrels, opt.Stdin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return trec.ReadQrels(in, ranking.RAG)
}

// appendTREC adds the sample of a query as a line of JSON.
func appendTREC(out []byte, query string, documents []string, grades map[string]float64) ([]byte, error) {
	valid := true
	text := func(s string) {
		valid = valid && utf8.ValidString(s)
		out = appendQuoted(out, s)
	}
	out = append(out, `{"id":`...)
	text(query)
	out = append(out, `,"retrieved_context_ids":[`...)
	for i, id := range documents {
		if i > 0 {
			out = append(out, ',')
		}
		text(id)
	}
	out = append(out, ']')
	if grades != nil {
		judged := make([]string, 0, len(grades))
		for id := range grades {
			judged = append(judged, id)
		}
		slices.Sort(judged)
		out = append(out, `,"reference_context_ids":{`...)
		for i, id := range judged {
			if i > 0 {
				out = append(out, ',')
			}
			text(id)
			out = append(out, ':')
			out = strconv.AppendFloat(out, grades[id], 'g', -1, 64)
		}
		out = append(out, '}')
	}
	if !valid {
		return nil, errors.New("query " + quoted(query) + ": an id is not UTF-8")
	}
	return append(out, '}', '\n'), nil
}
