package run_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/run"
)

// What a row in hand has spent outlives a process that is killed, and is counted
// once: beside what the row costs when it is made again, and not at all beside
// what it had cost in the end where nothing was killed.
func TestAKillKeepsTheCostsOfRowsInHand(t *testing.T) {
	const n = 3
	dir, killed := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opt := run.Options{Workers: n, Track: oneCall, Parts: halves, Metrics: []eval.Metric{metric{name: "a", fn: func(ctx context.Context, s *eval.Sample) (eval.Score, error) {
			time.Sleep(time.Duration(s.Row) * 10 * time.Second)
			if s.Row == 2 { // as a kill would leave it: one row finished, two in hand
				if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
					return eval.Score{}, err
				}
			}
			return third(ctx, s)
		}}}}
		finish(t, dir, n, opt)
	})
	if by, lines := costsOf(t, dir); lines != n || by[1] != 0.25 || by[3] != 0.25 {
		t.Errorf("undisturbed: %d lines, %v", lines, by)
	}

	for range 2 { // a process that dies before it has done anything takes nothing away
		d := open(t, killed, n)
		if d.Done() != 1 || d.Carried().CostUSD != 0.75 {
			t.Errorf("%d rows are done, and %+v is carried, want one row, and what three have cost", d.Done(), d.Carried())
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, killed, n, run.Options{Workers: 1, Track: oneCall, Parts: halves, Metrics: []eval.Metric{metric{name: "a", fn: third}}})
	by, _ := costsOf(t, killed)
	if by[1] != 0.25 || by[2] != 0.5 || by[3] != 0.5 {
		t.Errorf("the rows have cost %v", by)
	}
	d := open(t, killed, n)
	defer d.Close()
	if got := d.Manifest.Total().CostUSD; got != 1.25 {
		t.Errorf("the manifest counts %v, want 1.25", got)
	}
}
