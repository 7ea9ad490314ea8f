package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/run"
)

// rows is a Source of n samples, the category of each telling its row's rest.
type rows struct{ n, at int }

func (r *rows) Next() (*eval.Sample, error) {
	if r.at == r.n {
		return nil, io.EOF
	}
	r.at++
	return &eval.Sample{ID: fmt.Sprint("id-", r.at), Row: r.at, Category: fmt.Sprint("c", r.at%3)}, nil
}

// metric is an eval.Metric made of a function.
type metric struct {
	name   string
	judged bool
	fn     func(ctx context.Context, s *eval.Sample) (eval.Score, error)
}

func (m metric) Info() eval.Info { return eval.Info{Name: m.name, Version: 3, Judged: m.judged} }
func (m metric) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	return m.fn(ctx, s)
}

// third scores each row by its number; it keeps < and line ends in the detail
// to show that bytes survive.
func third(_ context.Context, s *eval.Sample) (eval.Score, error) {
	return eval.Value(float64(s.Row) / 3).WithDetail(map[string]any{"text": "a<b & c\u2028\n", "row": s.Row}), nil
}

func fresh(n int) run.Manifest {
	return run.Manifest{Tool: "test", Identity: []run.Item{{Name: "judge.model", Value: "m1"}}, Dataset: run.Dataset{Path: "x", Rows: n}}
}

// finish carries out what a whole execution does and returns results.jsonl.
func finish(t *testing.T, dir string, n int, opt run.Options) (run.Stats, []byte) {
	t.Helper()
	d := open(t, dir, n)
	st, err := d.Execute(t.Context(), &rows{n: n}, opt)
	if err != nil {
		t.Fatal(err)
	}
	settle(t, d, st)
	return st, results(t, dir)
}

func open(t *testing.T, dir string, n int) *run.Dir {
	t.Helper()
	d, err := run.Open(dir, fresh(n))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func settle(t *testing.T, d *run.Dir, st run.Stats) (ids []string) {
	t.Helper()
	if err := d.Settle(func(r *eval.Result) error { ids = append(ids, r.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := d.Finish("complete", st); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return ids
}

func results(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestResultsDoNotDependOnConcurrency(t *testing.T) {
	const n = 200
	var want []byte
	for _, workers := range []int{1, 7, 64, 500} {
		synctest.Test(t, func(t *testing.T) {
			slow := func(ctx context.Context, s *eval.Sample) (eval.Score, error) {
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
				return third(ctx, s)
			}
			dir := t.TempDir()
			st, got := finish(t, dir, n, run.Options{Workers: workers, Metrics: []eval.Metric{
				metric{name: "a", judged: true, fn: slow}, metric{name: "b", fn: third}, metric{name: "c", judged: true, fn: slow}}})
			if st.Scored != n || st.Reused != 0 || st.Abandoned != 0 || st.Drained {
				t.Errorf("%d workers: %+v", workers, st)
			}
			if want == nil {
				want = got
				if c := bytes.Count(got, []byte("\n")); c != n {
					t.Fatalf("%d lines, want %d", c, n)
				}
				if !bytes.Contains(got, []byte(`"text":"a<b & c`)) {
					t.Errorf("text was escaped: %s", got[:200])
				}
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d workers give other bytes", workers)
			}
			if _, err := os.Stat(filepath.Join(dir, "journal.jsonl")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the journal is still there: %v", err)
			}
		})
	}
}

// A crash can leave any prefix of the journal. From each of them the run must
// end with the same bytes, and do again only what was not whole.
func TestEveryCutOfTheJournalResumes(t *testing.T) {
	const n = 3
	opt := run.Options{Workers: 2, Metrics: []eval.Metric{metric{name: "a", fn: third}}, Track: oneCall}
	_, want := finish(t, t.TempDir(), n, opt)

	dir := t.TempDir()
	d := open(t, dir, n)
	if _, err := d.Execute(t.Context(), &rows{n: n}, opt); err != nil {
		t.Fatal(err)
	}
	d.Close() // as if killed: neither settled nor finished
	journal, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(journal); cut++ {
		// Around line ends every byte counts; inside a line one in 16 will do.
		if near := journal[max(0, cut-2):min(len(journal), cut+2)]; cut%16 != 0 && !bytes.Contains(near, []byte("\n")) {
			continue
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "manifest.json"), manifest)
		write(t, filepath.Join(dir, "journal.jsonl"), journal[:cut])
		st, got := finish(t, dir, n, opt)
		if !bytes.Equal(got, want) {
			t.Fatalf("cut at byte %d: other results", cut)
		}
		whole := max(0, bytes.Count(journal[:cut], []byte("\n"))-1) // less the header
		if st.Reused != whole || st.Scored != n-whole {
			t.Fatalf("cut at byte %d: %+v, want %d reused", cut, st, whole)
		}
		m, err := run.ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Total().Calls; got != n {
			t.Fatalf("cut at byte %d: the executions cost %d calls together, want %d", cut, got, n)
		}
	}
}

func oneCall(ctx context.Context) (context.Context, func() run.Usage) {
	return ctx, func() run.Usage { return run.Usage{Calls: 1, CostUSD: 0.25} }
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// After the manifest is written and before the journal is gone, a crash must
// not count the journal's cost twice.
func TestCrashBeforeTheJournalIsRemoved(t *testing.T) {
	const n = 4
	opt := run.Options{Workers: 2, Metrics: []eval.Metric{metric{name: "a", fn: third}}, Track: oneCall}
	dir := t.TempDir()
	d := open(t, dir, n)
	st, err := d.Execute(t.Context(), &rows{n: n}, opt)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	settle(t, d, st)
	want := results(t, dir)
	write(t, filepath.Join(dir, "journal.jsonl"), journal)

	st, got := finish(t, dir, n, opt)
	if st.Reused != n || !bytes.Equal(got, want) {
		t.Errorf("%+v, same bytes: %t", st, bytes.Equal(got, want))
	}
	m, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Total().Calls != n || len(m.Executions) != 2 {
		t.Errorf("total %+v in %d executions, want %d calls in 2", m.Total(), len(m.Executions), n)
	}
}

// A second crash, in an execution that found the journal of a settled one, must
// not hide what it had spent.
func TestTwoCrashesCountAllCosts(t *testing.T) {
	const n = 6
	fail := true
	opt := run.Options{Workers: 1, Track: oneCall, Metrics: []eval.Metric{metric{name: "a", fn: func(ctx context.Context, s *eval.Sample) (eval.Score, error) {
		if fail && s.Row > 3 {
			return eval.Without(eval.Failed, "timeout"), nil
		}
		return third(ctx, s)
	}}}}
	dir := t.TempDir()
	d := open(t, dir, n)
	st, err := d.Execute(t.Context(), &rows{n: n}, opt)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	settle(t, d, st)
	write(t, filepath.Join(dir, "journal.jsonl"), journal) // the first crash, before it was removed

	fail = false
	d = open(t, dir, n)
	if d.Carried() != (run.Usage{}) {
		t.Errorf("carried %+v of a journal that is counted already", d.Carried())
	}
	if _, err := d.Execute(t.Context(), &rows{n: n}, opt); err != nil {
		t.Fatal(err)
	}
	d.Close() // the second crash: three more rows are in the journal

	d = open(t, dir, n)
	defer d.Close()
	if got := d.Manifest.Total().Add(d.Carried()).Calls; got != n+3 {
		t.Errorf("%d calls are known of, want %d", got, n+3)
	}
}

func TestDamagedJournalIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"a broken line before a whole one": "{\"execution\":1}\n{\"row\":1,\"res\n{\"row\":2,\"usage\":{}}\n",
		"no header":                        "{\"row\":1,\"usage\":{}}\n{\"row\":2,\"usage\":{}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := open(t, dir, 3)
			d.Close()
			write(t, filepath.Join(dir, "journal.jsonl"), []byte(text))
			_, err := run.Open(dir, fresh(3))
			if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "line") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestOnlyFailedScoresAreMadeAgain(t *testing.T) {
	const n = 10
	var good, bad atomic.Int32
	broken := true
	opt := run.Options{Workers: 3, Metrics: []eval.Metric{
		metric{name: "good", judged: true, fn: func(ctx context.Context, s *eval.Sample) (eval.Score, error) { good.Add(1); return third(ctx, s) }},
		metric{name: "bad", judged: true, fn: func(ctx context.Context, s *eval.Sample) (eval.Score, error) {
			bad.Add(1)
			if broken && s.Row%4 == 0 {
				return eval.Without(eval.Failed, "timeout"), nil
			}
			return third(ctx, s)
		}},
	}}
	dir := t.TempDir()
	_, first := finish(t, dir, n, opt)
	if c := bytes.Count(first, []byte(`"failed"`)); c != 2 {
		t.Fatalf("%d failed scores, want 2", c)
	}
	broken = false
	st, second := finish(t, dir, n, opt)
	if st.Scored != 2 || st.Reused != n-2 {
		t.Errorf("rerun: %+v", st)
	}
	if good.Load() != n || bad.Load() != n+2 {
		t.Errorf("good was computed %d times, bad %d; want %d and %d", good.Load(), bad.Load(), n, n+2)
	}
	_, want := finish(t, t.TempDir(), n, opt)
	if !bytes.Equal(second, want) {
		t.Error("a healed run has other bytes than one that never failed")
	}
}

func TestStopKeepsWhatIsFinished(t *testing.T) {
	const n = 100
	fatal := errors.New("the key is wrong")
	var calls atomic.Int32
	opt := run.Options{Workers: 4, Track: oneCall, Metrics: []eval.Metric{metric{name: "a", judged: true, fn: func(ctx context.Context, s *eval.Sample) (eval.Score, error) {
		if calls.Add(1) > 20 {
			return eval.Score{}, fatal
		}
		return third(ctx, s)
	}}}}
	dir := t.TempDir()
	d := open(t, dir, n)
	st, err := d.Execute(t.Context(), &rows{n: n}, opt)
	if !errors.Is(err, fatal) {
		t.Fatalf("error %v", err)
	}
	if st.Scored != 20 || st.Abandoned < 1 || st.Abandoned > 4 {
		t.Errorf("%+v, want 20 scored and at most one row a worker abandoned", st)
	}
	if got := int(calls.Load()); got > 24 {
		t.Errorf("%d rows were tried after the stop", got-20)
	}
	if st.Usage.Calls != st.Scored+st.Abandoned {
		t.Errorf("usage %+v leaves out the abandoned rows", st.Usage)
	}
	if ids := settle(t, d, st); len(ids) != 20 {
		t.Errorf("%d results, want 20", len(ids))
	}
	st, _ = finish(t, dir, n, run.Options{Workers: 4, Metrics: []eval.Metric{metric{name: "a", fn: third}}})
	if st.Scored != 80 || st.Reused != 20 {
		t.Errorf("resumed: %+v", st)
	}
}

func TestDrainFinishesWhatIsInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := make(chan struct{})
		opt := run.Options{Workers: 5, Drain: drain, Metrics: []eval.Metric{metric{name: "a", fn: func(ctx context.Context, s *eval.Sample) (eval.Score, error) {
			time.Sleep(time.Second)
			return third(ctx, s)
		}}}}
		time.AfterFunc(2500*time.Millisecond, func() { close(drain) })
		d := open(t, t.TempDir(), 100)
		st, err := d.Execute(t.Context(), &rows{n: 100}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if !st.Drained || st.Scored != 15 || st.Abandoned != 0 {
			t.Errorf("%+v, want the 15 rows begun within 2.5 s", st)
		}
		settle(t, d, st)
	})
}

func TestCancelAbandonsAndReturnsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		opt := run.Options{Workers: 5, Metrics: []eval.Metric{metric{name: "a", judged: true, fn: func(ctx context.Context, s *eval.Sample) (eval.Score, error) {
			if s.Row <= 5 {
				return third(ctx, s)
			}
			<-ctx.Done() // a server that hangs
			return eval.Score{}, ctx.Err()
		}}}}
		time.AfterFunc(time.Minute, cancel)
		d := open(t, t.TempDir(), 100)
		st, err := d.Execute(ctx, &rows{n: 100}, opt)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if st.Scored != 5 || st.Abandoned != 5 || !st.Drained {
			t.Errorf("%+v", st)
		}
		settle(t, d, st)
	})
}

func TestMetricFaultsDoNotEndTheRun(t *testing.T) {
	value := 7.0
	var told string
	_, got := finish(t, t.TempDir(), 1, run.Options{OnPanic: func(m string, row int, why string) { told = m }, Metrics: []eval.Metric{
		metric{name: "panics", fn: func(context.Context, *eval.Sample) (eval.Score, error) { panic("index out of range") }},
		metric{name: "lies", fn: func(context.Context, *eval.Sample) (eval.Score, error) {
			return eval.Score{Status: eval.Failed, Value: &value}, nil
		}},
		metric{name: "fine", fn: third},
	}})
	if told != "panics" {
		t.Errorf("OnPanic got %q", told)
	}
	for _, want := range []string{
		`"metric":"panics","version":3,"status":"failed","value":null,"reason":"internal_error: index out of range"`,
		`"metric":"lies","version":3,"status":"failed","value":null,"reason":"internal_error:`,
		`"metric":"fine","version":3,"status":"scored","value":0.333`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestOpenRefusals(t *testing.T) {
	t.Run("another process", func(t *testing.T) {
		dir := t.TempDir()
		d := open(t, dir, 1)
		defer d.Close()
		if _, err := run.Open(dir, fresh(1)); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("another run", func(t *testing.T) {
		dir := t.TempDir()
		finish(t, dir, 1, run.Options{Metrics: []eval.Metric{metric{name: "a", fn: third}}})
		other := fresh(1)
		other.Identity = []run.Item{{Name: "judge.model", Value: "m2"}, {Name: "new", Value: "x"}}
		_, err := run.Open(dir, other)
		var differs *run.DiffersError
		if !errors.As(err, &differs) {
			t.Fatalf("error %v", err)
		}
		want := []string{`judge.model (was "m1", now "m2")`, `new (not there before, now "x")`}
		if d := cmp.Diff(want, differs.Diffs); d != "" {
			t.Error(d)
		}
	})
	t.Run("results without a manifest", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "results.jsonl"), []byte("{}\n"))
		if _, err := run.Open(dir, fresh(1)); err == nil || !strings.Contains(err.Error(), "manifest.json") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("results of something else", func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir, 1).Close()
		write(t, filepath.Join(dir, "results.jsonl"), []byte(`{"row":9}`+"\n"))
		if _, err := run.Open(dir, fresh(1)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("error %v", err)
		}
	})
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	finish(t, dir, 2, run.Options{Metrics: []eval.Metric{metric{name: "a", fn: third}}})
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
}
