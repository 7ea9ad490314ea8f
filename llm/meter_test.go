package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/llm"
)

func tagged(metric, step, text string) *llm.Request {
	req := ask(text)
	req.Tag = llm.Tag{Metric: metric, Step: step}
	return req
}

// Each call and attempt is counted once, under the step that made it, and what
// hits saved apart from what was spent.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		usage := llm.Usage{PromptTokens: 100, CompletionTokens: 10, CachedTokens: 60}
		backend := &counting{fn: func(n int64, req *llm.Request) (*llm.Response, error) {
			time.Sleep(time.Second)
			switch text := req.Messages[0].Content; {
			case text == "refused twice" && n < 3:
				return nil, refusal(time.Second)
			case text == "too long":
				return nil, &llm.Error{Kind: llm.Row, Code: "context_too_long", Status: 400}
			case text == "cut off":
				return nil, &llm.Error{Kind: llm.Transient, Code: "unexpected_eof"}
			case text == "untold":
				return &llm.Response{Content: "ok", Model: "m-2026", Usage: llm.Usage{Unknown: 1}}, nil
			}
			return &llm.Response{Content: "ok", Model: "m-2026", Usage: usage}, nil
		}}
		m := llm.NewMeter(cents)
		store := &mapStore{}
		chain := func() llm.Client {
			return m.Calls(&llm.Cached{Store: store, Next: llm.NewRetry(llm.RetryConfig{MaxAttempts: 2}, m.Attempts(backend))})
		}
		first, second := chain(), chain()
		var sample llm.Tally
		ctx := llm.WithTally(t.Context(), &sample)
		call := func(c llm.Client, ctx context.Context, req *llm.Request) { c.Complete(ctx, req) }

		call(first, ctx, tagged("f", "verdict", "refused twice"))
		backend.n.Store(100)
		var wg sync.WaitGroup
		for range 3 { // one pays, two share
			wg.Go(func() { call(first, t.Context(), tagged("c", "split", "q")) })
		}
		wg.Wait()
		call(first, t.Context(), tagged("c", "split", "q"))  // from memory: shared as well
		call(second, ctx, tagged("f", "split", "q"))         // from the store
		call(first, ctx, tagged("f", "verdict", "too long")) // fails
		call(first, ctx, tagged("f", "verdict", "cut off"))  // fails twice
		call(first, ctx, tagged("f", "verdict", "untold"))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		call(first, gone, tagged("f", "verdict", "never made"))
		unpriced := tagged("f", "verdict", "x")
		unpriced.Model = "other"
		call(first, t.Context(), unpriced)

		const price = 0.01 * (100 + 2*10)
		verdict := llm.Counts{Calls: 3, Attempts: 8, Paid: 3, Unclear: 2, Retries: 3, RateLimited: 2,
			Failed: map[string]int64{"row": 1, "transient": 1}, Interrupted: 1,
			Usage: llm.Usage{PromptTokens: 200, CompletionTokens: 20, CachedTokens: 120, Unknown: 1}, CostUSD: price, UnknownPrice: 1, UnknownUsage: 1}
		split := llm.Counts{Calls: 4, Shared: 3, Attempts: 1, Paid: 1, Usage: usage, CostUSD: price,
			SavedUsage: llm.Usage{PromptTokens: 300, CompletionTokens: 30, CachedTokens: 180}, SavedUSD: 3 * price}
		hit := llm.Counts{Calls: 1, Hits: 1, SavedUsage: usage, SavedUSD: price}
		want := llm.Snapshot{
			Total: split.Add(hit).Add(verdict),
			Steps: []llm.StepCounts{{Metric: "c", Step: "split", Counts: split}, {Metric: "f", Step: "split", Counts: hit}, {Metric: "f", Step: "verdict", Counts: verdict}},
			// 3 + 5: refused twice, untold, unpriced, and q five times.
			Models: map[string]int64{"m-2026": 8},
			Served: []llm.ServedCalls{{Served: llm.Served{Model: "m-2026"}, Calls: 8}},
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if d := cmp.Diff(want, m.Snapshot(), near); d != "" {
			t.Errorf("snapshot (-want +got):\n%s", d)
		}
		wantSample := verdict
		wantSample.Calls, wantSample.Attempts, wantSample.Paid, wantSample.UnknownPrice, wantSample.Interrupted = 2, 7, 2, 0, 0
		wantSample.Usage.PromptTokens, wantSample.Usage.CompletionTokens, wantSample.Usage.CachedTokens = 100, 10, 60
		if d := cmp.Diff(wantSample.Add(hit), sample.Counts(), near); d != "" {
			t.Errorf("tally of the sample (-want +got):\n%s", d)
		}
	})
}

// TestMeterTellsJudgesApart: calls, and the models that answered, are counted for
// each judge, so that one that is served by another model midway is seen.
func TestMeterTellsJudgesApart(t *testing.T) {
	m := llm.NewMeter(nil)
	served := []llm.Response{{Model: "a-1", Fingerprint: "x"}, {Model: "a-1", Fingerprint: "y"}, {Model: "a-2"}, {Model: "b-1"}}
	backend := &counting{fn: func(n int64, _ *llm.Request) (*llm.Response, error) {
		r := served[n-1]
		r.Content, r.Usage = "ok", llm.Usage{PromptTokens: 3, CompletionTokens: 1}
		return &r, nil
	}}
	chain := m.Calls(m.Attempts(backend))
	for i, judge := range []string{"a", "a", "a", "b"} {
		req := tagged("f", "verdict", fmt.Sprint(i))
		req.Tag.Judge = judge
		if _, err := chain.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	s := m.Snapshot()
	want := []llm.ServedCalls{
		{Served: llm.Served{Judge: "a", Model: "a-1", Fingerprint: "x"}, Calls: 1}, {Served: llm.Served{Judge: "a", Model: "a-1", Fingerprint: "y"}, Calls: 1},
		{Served: llm.Served{Judge: "a", Model: "a-2"}, Calls: 1}, {Served: llm.Served{Judge: "b", Model: "b-1"}, Calls: 1},
	}
	if d := cmp.Diff(want, s.Served); d != "" {
		t.Errorf("served (-want +got):\n%s", d)
	}
	if a, b := s.Judge("a"), s.Judge("b"); a.Paid != 3 || b.Paid != 1 || a.Usage.PromptTokens != 9 || s.Total.Paid != 4 {
		t.Errorf("a %+v, b %+v", a, b)
	}
}

// Tallies add up to the meter, whoever pays for a shared call.
func TestTalliesAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := llm.NewMeter(cents)
		backend := &counting{fn: func(int64, *llm.Request) (*llm.Response, error) {
			time.Sleep(time.Millisecond)
			return &llm.Response{Content: "ok", Usage: llm.Usage{PromptTokens: 3, CompletionTokens: 1}}, nil
		}}
		chain := m.Calls(&llm.Cached{Next: m.Attempts(backend)})
		tallies := make([]llm.Tally, 50)
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				must(t, llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
					return chain.Complete(llm.WithTally(ctx, &tallies[i%50]), req)
				}), tagged("m", "s", string(rune('a'+i%7))))
			})
		}
		wg.Wait()
		var sum llm.Counts
		for i := range tallies {
			sum = sum.Add(tallies[i].Counts())
		}
		total := m.Snapshot().Total
		if d := cmp.Diff(total, sum, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
			t.Errorf("the meter and the sum of the tallies differ:\n%s", d)
		}
		if total.Calls != 500 || total.Paid != 7 || total.Shared != 493 {
			t.Errorf("total %+v, want 500 calls, 7 paid, 493 shared", total)
		}
	})
}

// Adding to a copy leaves the original alone, also its map.
func TestCountsAddCopies(t *testing.T) {
	a := llm.Counts{Failed: map[string]int64{"row": 1}}
	b := a.Add(llm.Counts{Failed: map[string]int64{"row": 2, "fatal": 1}})
	if a.Failed["row"] != 1 || b.Failed["row"] != 3 || b.Failed["fatal"] != 1 {
		t.Errorf("a is %v, the sum %v", a.Failed, b.Failed)
	}
	out, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var back llm.Counts
	if err := json.Unmarshal(out, &back); err != nil || !cmp.Equal(b, back) {
		t.Errorf("%s came back as %+v (%v)", out, back, err)
	}
}

// Prices are looked up as asked for, then as served; none at all is unknown.
func TestMeterPrice(t *testing.T) {
	for _, c := range []struct {
		asked, served string
		price         llm.PriceFunc
		unknown       int64
	}{
		{"m", "x", cents, 0}, {"alias", "m", cents, 0}, {"alias", "x", cents, 1}, {"alias", "", cents, 1}, {"m", "m", nil, 1},
	} {
		m := llm.NewMeter(c.price)
		req := ask("q")
		req.Model = c.asked
		must(t, m.Attempts(&counting{fn: func(int64, *llm.Request) (*llm.Response, error) {
			return &llm.Response{Content: "ok", Model: c.served, Usage: llm.Usage{PromptTokens: 1}}, nil
		}}), req)
		if got := m.Snapshot().Total; got.UnknownPrice != c.unknown || (got.CostUSD > 0) == (c.unknown > 0) {
			t.Errorf("asked %q, served %q: %+v", c.asked, c.served, got)
		}
	}
}

// An attempt without a reply may be charged for if the model can have seen it;
// the budget pays for exactly those that the meter calls unclear.
func TestUnclearAttempts(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, c := range []struct {
		name    string
		err     error
		unclear bool
	}{
		{"timeout", &llm.Error{Kind: llm.Transient, Code: "timeout"}, true},
		{"cut body", &llm.Error{Kind: llm.Transient, Code: "unexpected_eof", Status: 200}, true},
		{"unusable body", &llm.Error{Kind: llm.Row, Code: "content_filter", Status: 200}, true},
		{"gateway timeout", &llm.Error{Kind: llm.Transient, Code: "http_504", Status: 504}, true},
		{"interrupted", context.Canceled, true},
		{"reset", &llm.Error{Kind: llm.Transient, Code: "network", Err: &net.OpError{Op: "read", Err: errors.New("reset")}}, true},
		{"no connection", &llm.Error{Kind: llm.Transient, Code: "network", Err: dial}, false},
		{"no such host", &llm.Error{Kind: llm.Transient, Code: "network", Err: &net.DNSError{}}, false},
		{"refused", refusal(0), false},
		{"server error", transient("http_503"), false},
		{"bad request", &llm.Error{Kind: llm.Row, Code: "bad_request", Status: 400}, false},
		{"wrong key", &llm.Error{Kind: llm.Fatal, Code: "invalid_api_key", Status: 401}, false},
		{"no money, said with 200", &llm.Error{Kind: llm.Fatal, Code: "insufficient_quota", Status: 200}, false},
	} {
		m := llm.NewMeter(nil)
		b := mustBudget(t, llm.BudgetConfig{}, m.Attempts(&counting{fn: func(int64, *llm.Request) (*llm.Response, error) { return nil, c.err }}))
		if _, err := b.Complete(t.Context(), ask("q")); err != c.err {
			t.Fatalf("%s: error %v", c.name, err)
		}
		if got := m.Snapshot().Total.Unclear == 1; got != c.unclear {
			t.Errorf("%s: unclear is %t, want %t", c.name, got, c.unclear)
		}
		if got := b.Spent().Calls == 1; got != c.unclear {
			t.Errorf("%s: charged to the budget is %t, want %t", c.name, got, c.unclear)
		}
	}
}
