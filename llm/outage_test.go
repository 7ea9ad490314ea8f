package llm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ragjudge/ragjudge/llm"
)

func TestOutage(t *testing.T) {
	transient := &llm.Error{Kind: llm.Transient, Code: "http_503", Status: 503}
	row := &llm.Error{Kind: llm.Row, Code: "context_too_long"}
	for _, c := range []struct {
		name string
		ends []error
		down bool
	}{
		{"three failures in a row", []error{transient, transient, transient}, true},
		{"a reply in between", []error{transient, transient, nil, transient, transient}, false},
		{"an error of one sample in between", []error{transient, transient, row, transient, transient}, false},
		{"errors of single samples", []error{row, row, row, row}, false},
		{"the user gave up", []error{context.Canceled, context.Canceled, context.Canceled}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			stop := llm.NewStop()
			o := &llm.Outage{Limit: 3, Stop: stop, Next: llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
				n++
				if err := c.ends[n-1]; err != nil {
					return nil, err
				}
				return &llm.Response{Content: "x"}, nil
			})}
			for _, want := range c.ends {
				if _, err := o.Complete(t.Context(), &llm.Request{}); !errors.Is(err, want) {
					t.Fatalf("error %v, want %v", err, want)
				}
			}
			if down := stop.Err() != nil; down != c.down {
				t.Fatalf("down is %t: %v", down, stop.Err())
			}
			if c.down && llm.AsError(stop.Err()).Kind != llm.Fatal {
				t.Errorf("%v", stop.Err())
			}
		})
	}
}
