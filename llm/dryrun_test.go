package llm_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/llm"
)

// A dry run plans each call once as paid, tells repeats and hits apart, and
// leaves the store as it was.
func TestDryRun(t *testing.T) {
	store := &mapStore{}
	must(t, &llm.Cached{Store: store, Next: &counting{}}, ask("stored"))
	puts := store.puts
	type plan struct {
		Text, Reply string
		Hit, Repeat bool
	}
	for _, c := range []struct {
		mode llm.CacheMode
		want []plan
	}{
		{llm.CacheReadWrite, []plan{{"stored", "reply 1", true, false}, {"stored", "reply 1", true, false}, {"a", "predicted a", false, false}, {"a", "predicted a", false, true}, {"b", "predicted b", false, false}}},
		{llm.CacheOff, []plan{{"stored", "predicted stored", false, false}, {"stored", "predicted stored", false, true}, {"a", "predicted a", false, false}, {"a", "predicted a", false, true}, {"b", "predicted b", false, false}}},
	} {
		var got []plan
		dry := &llm.DryRun{
			Predict: &counting{fn: func(_ int64, req *llm.Request) (*llm.Response, error) {
				return &llm.Response{Content: "predicted " + req.Messages[0].Content}, nil
			}},
			Plan: func(p llm.Planned) {
				got = append(got, plan{p.Request.Messages[0].Content, p.Reply.Content, p.Hit, p.Repeat})
			},
		}
		m := llm.NewMeter(nil)
		chain := m.Calls(&llm.Cached{Store: store, Mode: c.mode, DryRun: true, OnHit: dry.Hit, Next: dry})
		decoded := 0
		for _, text := range []string{"stored", "stored", "a", "a", "b"} {
			req := ask(text)
			req.Check = func(*llm.Response) error { decoded++; return nil }
			must(t, chain, req)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("mode %s: plan (-want +got):\n%s", c.mode, d)
		}
		if decoded != 5 {
			t.Errorf("mode %s: Check ran %d times, want 5", c.mode, decoded)
		}
		hits := int64(0)
		if c.mode == llm.CacheReadWrite {
			hits = 2
		}
		if total := m.Snapshot().Total; total.Attempts != 0 || total.Calls != 5 || total.Hits != hits {
			t.Errorf("mode %s: the meter counts %+v", c.mode, total)
		}
		if store.puts != puts {
			t.Errorf("mode %s: a dry run wrote to the store", c.mode)
		}
	}
}

// A prediction that fails is planned as such.
func TestDryRunPredictionFails(t *testing.T) {
	want := errors.New("no such request")
	var got llm.Planned
	dry := &llm.DryRun{Predict: &counting{fn: func(int64, *llm.Request) (*llm.Response, error) { return nil, want }}, Plan: func(p llm.Planned) { got = p }}
	if _, err := dry.Complete(t.Context(), ask("q")); err != want || got.Err != want || got.Reply != nil || got.Request == nil {
		t.Errorf("error %v, planned %+v", err, got)
	}
}

// Side by side, each request is planned as paid exactly once.
func TestDryRunSideBySide(t *testing.T) {
	var mu sync.Mutex
	paid := map[string]int{}
	dry := &llm.DryRun{Predict: &counting{}, Plan: func(p llm.Planned) {
		mu.Lock()
		defer mu.Unlock()
		if !p.Repeat {
			paid[p.Request.Messages[0].Content]++
		}
	}}
	c := &llm.Cached{DryRun: true, OnHit: dry.Hit, Next: dry}
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() { must(t, c, ask(fmt.Sprint(i%100))) })
	}
	wg.Wait()
	for text, n := range paid {
		if n != 1 {
			t.Errorf("%s is planned as paid %d times", text, n)
		}
	}
	if len(paid) != 100 {
		t.Errorf("%d requests planned as paid, want 100", len(paid))
	}
}
