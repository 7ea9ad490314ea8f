package run_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/run"
)

func TestSourceErrorStopsAndKeeps(t *testing.T) {
	bad := errors.New("line 3: not JSON")
	src := sourceFunc(func(n int) (*eval.Sample, error) {
		if n == 3 {
			return nil, bad
		}
		return &eval.Sample{ID: fmt.Sprint(n), Row: n}, nil
	})
	d := open(t, t.TempDir(), 9)
	st, err := d.Execute(t.Context(), src, run.Options{Workers: 2, Metrics: []eval.Metric{metric{name: "a", fn: third}}})
	if !errors.Is(err, bad) || st.Scored != 2 {
		t.Errorf("%+v, error %v", st, err)
	}
	settle(t, d, st)
}

func sourceFunc(fn func(n int) (*eval.Sample, error)) run.Source {
	n := 0
	return sourceIter(func() (*eval.Sample, error) { n++; return fn(n) })
}

type sourceIter func() (*eval.Sample, error)

func (f sourceIter) Next() (*eval.Sample, error) { return f() }

func TestEachKeepsNothing(t *testing.T) {
	n, err := run.Each(t.Context(), &rows{n: 12}, run.Options{Workers: 3, Metrics: []eval.Metric{metric{name: "a", fn: third}}})
	if n != 12 || err != nil {
		t.Errorf("%d rows, error %v", n, err)
	}
}
