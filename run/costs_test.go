package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/run"
)

// costsOf sums costs.jsonl up by row.
func costsOf(t *testing.T, dir string) (byRow map[int]float64, lines int) {
	t.Helper()
	byRow = map[int]float64{}
	err := run.ReadCosts(dir, func(c run.RowCost) error {
		byRow[c.Row] += c.Usage.CostUSD
		parts := 0.0
		for _, p := range c.Parts {
			parts += p.CostUSD
		}
		if parts != c.Usage.CostUSD {
			return fmt.Errorf("row %d: the parts add up to %v of %v", c.Row, parts, c.Usage.CostUSD)
		}
		lines++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return byRow, lines
}

func halves(context.Context) []run.Part {
	return []run.Part{{Metric: "a", Usage: run.Usage{CostUSD: 0.125}}, {Metric: "b", Judge: "j", Usage: run.Usage{CostUSD: 0.125}}}
}

// What each row has cost is kept once, over executions and whatever a crash cuts
// off: after every step of an execution that is repeated, the sums are the same as
// in the manifest.
func TestCostsOfRowsAreKeptOnce(t *testing.T) {
	const n = 5
	opt := run.Options{Workers: 2, Metrics: []eval.Metric{metric{name: "a", fn: third}}, Track: oneCall, Parts: halves}
	dir := t.TempDir()
	d := open(t, dir, n)
	if _, err := d.Execute(t.Context(), &rows{n: 3}, opt); err != nil {
		t.Fatal(err)
	}
	// It dies after Settle, before the manifest knows of the execution.
	if err := d.Settle(func(*eval.Result) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if by, lines := costsOf(t, dir); lines != 3 || by[1] != 0.25 {
		t.Fatalf("%d lines, %v", lines, by)
	}
	// The next one does the rest, and counts the first ones once.
	finish(t, dir, n, opt)
	by, lines := costsOf(t, dir)
	if lines != n || len(by) != n {
		t.Errorf("%d lines for %d rows", lines, len(by))
	}
	// A later one that makes rows again adds to them.
	opt.Again = func(eval.Score) bool { return true }
	finish(t, dir, n, opt)
	by, _ = costsOf(t, dir)
	m, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for row, usd := range by {
		if usd != 0.5 {
			t.Errorf("row %d has cost %v, want 0.5", row, usd)
		}
		total += usd
	}
	if total != m.Total().CostUSD {
		t.Errorf("the rows cost %v, the manifest says %v", total, m.Total().CostUSD)
	}
	if info, err := os.Stat(filepath.Join(dir, "costs.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: want mode 0600", info, err)
	}
}

func TestDamagedCosts(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "costs.jsonl"), []byte("{\"execution\":1,\"row\":1}\nno JSON\n"))
	if err := run.ReadCosts(dir, func(run.RowCost) error { return nil }); err == nil {
		t.Error("a damaged line was passed over")
	}
	if err := run.ReadCosts(t.TempDir(), func(run.RowCost) error { return nil }); err != nil {
		t.Errorf("a run without costs: %v", err)
	}
}

func FuzzReadCosts(f *testing.F) {
	for _, s := range []string{"", "{\"execution\":1,\"row\":2,\"usage\":{\"calls\":1},\"parts\":[{\"metric\":\"a\",\"calls\":1}]}\n", "{\"row\":1}", "[]\n", "{\"row\":\"x\"}\n", "\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "costs.jsonl"), b)
		_ = run.ReadCosts(dir, func(run.RowCost) error { return nil }) // whatever stands there, it returns
	})
}
