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

// What the preflight meets is not any sample's fault.
func TestOutageHeedsThePreflight(t *testing.T) {
	refused := &llm.Error{Kind: llm.Row, Code: "bad_request", Status: 400, Message: "no such thing"}
	long := &llm.Error{Kind: llm.Row, Code: "context_too_long", Status: 400}
	nobody := &llm.Error{Kind: llm.Transient, Code: "host_not_found"}
	for _, c := range []struct {
		name string
		ends []error // the preflight's first
		code string  // of what stops the run
	}{
		{"nobody there", []error{nobody}, "endpoint_down"},
		{"a server that fails is there", []error{&llm.Error{Kind: llm.Transient, Code: "http_500", Status: 500}, nil}, ""},
		{"everything is refused", []error{refused, refused, refused}, "every_call_refused"},
		{"one is answered", []error{refused, refused, nil, refused, refused, refused, refused}, ""},
		{"one is refused for its length", []error{refused, refused, long, refused, refused, refused}, ""},
		{"only the samples are refused", []error{nil, refused, refused, refused, refused}, ""},
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
			p := &llm.Preflight{Next: o, Probe: func(first *llm.Request) *llm.Request { return first }}
			for range len(c.ends) - 1 {
				_, err := p.Complete(t.Context(), &llm.Request{})
				if err != nil && stop.Err() == nil && llm.AsError(err) == nil {
					t.Fatal(err)
				}
			}
			if c.name == "nobody there" {
				if _, err := p.Complete(t.Context(), &llm.Request{}); !llm.StopsRun(err) {
					t.Errorf("the call that waits for the preflight gets %v", err)
				}
			}
			code := ""
			if e := llm.AsError(stop.Err()); e != nil {
				code = e.Code
			}
			if code != c.code {
				t.Errorf("stopped by %q, want %q: %v", code, c.code, stop.Err())
			}
		})
	}
}
