package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/tokens/internal/pack"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(strings.NewReader("IQ== 0\nIg== 1\r\nISI= 2"), &out); err != nil {
		t.Fatal(err)
	}
	v, err := pack.Unpack(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if v.Len() != 3 || string(v.Token(0)) != "!" || string(v.Token(1)) != `"` || string(v.Token(2)) != `!"` {
		t.Errorf("got %d tokens, %q", v.Len(), v.Bytes)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, in := range []string{"IQ== 1\n", "IQ==\n", "?? 0\n", "IQ== 0\nIQ== 1\n"} {
		if err := run(strings.NewReader(in), &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", in)
		}
	}
}
