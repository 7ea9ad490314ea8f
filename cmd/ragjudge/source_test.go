package main

import (
	"errors"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
)

type nextFunc func() (*eval.Sample, error)

func (f nextFunc) Next() (*eval.Sample, error) { return f() }

// A run of the first samples reads the rest too: what the dataset has to say at
// its end, such as that it was changed meanwhile, must be heard.
func TestSourceReadsToTheEnd(t *testing.T) {
	changed := errors.New("the file changed")
	n := 0
	s := &source{left: 2, Source: nextFunc(func() (*eval.Sample, error) {
		if n++; n > 5 {
			return nil, changed
		}
		return &eval.Sample{Row: n}, nil
	})}
	for row := 1; row <= 2; row++ {
		if got, err := s.Next(); err != nil || got.Row != row {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if _, err := s.Next(); !errors.Is(err, changed) {
		t.Errorf("error %v", err)
	}
}
