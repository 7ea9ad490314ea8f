package dataset_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/dataset"
)

const (
	trecRun = "q2 Q0 b 1 2 r\nq2 Q0 c 2 3 r\nq1 Q0 a 1 1 r\nq9 Q0 a 1 1 r\nq1 Q0 \"x\" 2 1 r\nq1 Q0 a 3 0 r\n"
	trecRel = "q1 0 a 2\nq1 0 z -1\nq2 0 c 0.5\nq3 0 a 1\n"
)

func TestTREC(t *testing.T) {
	run, qrels := write(t, "bm25.run", trecRun), write(t, "qrels", trecRel)
	for name, opt := range map[string]dataset.Options{
		run:           {Qrels: qrels},
		dataset.Stdin: {Qrels: qrels, Stdin: strings.NewReader(trecRun)},
	} {
		r, err := dataset.Open(name, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info, err := r.Scan()
		if err != nil {
			t.Fatal(err)
		}
		if info.Format != dataset.TREC || info.Rows != 4 {
			t.Errorf("%s: format %s, %d rows", name, info.Format, info.Rows)
		}
		var got []string
		for {
			s, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %q %v", s.ID, s.RetrievedContextIDs, s.ReferenceContextIDs))
		}
		// By score, ties by falling id; a repeated id stays; q9 has no judgements;
		// the lines of q1 don't stand together; q3 retrieved nothing.
		want := []string{`q2 ["c" "b"] map[c:0.5]`, `q9 ["a"] map[]`, `q1 ["a" "\"x\"" "a"] map[a:2 z:-1]`, `q3 [] map[a:1]`}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestTRECIsWrong(t *testing.T) {
	run, qrels := write(t, "bm25.run", trecRun), write(t, "qrels", trecRel)
	for name, c := range map[string]struct{ run, qrels, want string }{
		"no such file":    {run, "nothing", "nothing: can't be opened"},
		"the wrong way":   {qrels, run, "bm25.run:1: has 6 columns or more, and judgements have 4"},
		"no number":       {write(t, "bad.run", "q1 Q0 a 1 x r\n"), qrels, `bad.run:1: the score "x" is not a number`},
		"empty":           {write(t, "empty.run", ""), qrels, "empty.run: is empty"},
		"not UTF-8":       {write(t, "latin.run", "q1 Q0 d\xe4 1 1 r\n"), qrels, `latin.run: query "q1": an id is not UTF-8`},
		"judged twice":    {run, write(t, "twice", "q1 0 a 1\nq1 0 a 0\n"), "twice:2: document \"a\" of query \"q1\" is judged twice"},
		"a run by itself": {run, "", "bm25.run: is a TREC run"},
	} {
		_, err := dataset.Open(c.run, dataset.Options{Qrels: c.qrels})
		var le *dataset.LineError
		if !errors.As(err, &le) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
