package main

import (
	"testing"

	"github.com/ragjudge/ragjudge/eval"
)

func TestSharedNote(t *testing.T) {
	a, b, c := eval.Info{Name: "a", Asks: []string{"x", "y"}}, eval.Info{Name: "b", Asks: []string{"y", "z"}}, eval.Info{Name: "c"}
	if got := sharedNote([]eval.Info{a, c}); got != "" {
		t.Errorf("nothing is shared: %q", got)
	}
	if got, want := sharedNote([]eval.Info{a, b, c}), "Asked once for several metrics, and counted for the one that asks first: y (a, b)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
