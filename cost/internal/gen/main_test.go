package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/cost"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	in := `{"m": {"mode": "chat", "litellm_provider": "openai", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}, "n": {"mode": "chat"}}`
	if err := run(strings.NewReader(in), &out, "2026-08-01"); err != nil {
		t.Fatal(err)
	}
	table, err := cost.ParseTable(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := table.Lookup("m"); !ok || p.Output != 2e-6 || table.Date != "2026-08-01" || len(table.Names()) != 1 {
		t.Errorf("%+v of %s", p, out.String())
	}
}

func TestRunRefuses(t *testing.T) {
	if err := run(strings.NewReader(`{}`), &bytes.Buffer{}, "August"); err == nil {
		t.Error("no error for a date that is none")
	}
	if err := run(strings.NewReader(`x`), &bytes.Buffer{}, "2026-08-01"); err == nil {
		t.Error("no error for input that is no JSON")
	}
}
