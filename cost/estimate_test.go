package cost_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/cost"
)

// plan is a dry run of 100 samples: faithfulness in two rounds, answer_relevance
// in one; 10 samples are in the cache, one split is a repeat.
func plan() []cost.Call {
	var calls []cost.Call
	for i := range 100 {
		hit := i < 10
		calls = append(calls,
			cost.Call{Metric: "faithfulness", Step: "split", Input: 900, Output: 100, OutputCap: 2048, Hit: hit, Repeat: i == 99},
			cost.Call{Metric: "faithfulness", Step: "verdict", Input: 2000, Output: 120, OutputCap: 2048, Items: 5, ItemTokens: 250, Hit: hit},
			cost.Call{Metric: "answer_relevance", Step: "rubric", Input: 800, Output: 30, OutputCap: 512, Hit: hit},
		)
	}
	return calls
}

func options(t *testing.T) cost.Options {
	p := mustLookup(t, "gpt-4.1-mini")
	return cost.Options{
		Model: "gpt-4.1-mini", Price: &p, PriceDate: cost.Embedded().Date,
		Encoding: "o200k_base", OwnEncoding: true, MaxAttempts: 4,
		RequestsPerMinute: 500, Concurrency: 16,
	}
}

func estimate(opt cost.Options, calls []cost.Call) *cost.Estimate {
	e := cost.NewEstimator(opt)
	for _, c := range calls {
		e.Add(c)
	}
	return e.Estimate()
}

// TestEstimateGolden holds the text, and by hand-checked figures the rules.
func TestEstimateGolden(t *testing.T) {
	est := estimate(options(t), plan())

	// answer_relevance: 90 calls of 800 tokens; replies 30 x 0.8 / 1.8 / 3 long;
	// 1 / 1.02 / 1.25 attempts.
	ar := est.Metrics[0]
	if ar.Metric != "answer_relevance" {
		t.Fatalf("first metric %s", ar.Metric)
	}
	want := cost.Line{
		Calls:       cost.Range{Low: 90, Expected: 92, High: 113},
		InputTokens: cost.Range{Low: 72_000, Expected: 73_440, High: 90_000},
		// 90 x 24; 90 x 54 x 1.02; 90 x 90 x 1.25
		OutputTokens: cost.Range{Low: 2160, Expected: 4957, High: 10_125},
		// $0.40 and $1.60 per million
		CostUSD: &cost.FloatRange{Low: 0.032256, Expected: 0.037308, High: 0.0522},
		// 500 a minute is the tightest limit, but for high: 16 slots at 2 s and 30
		// tokens a second
		DurationSeconds: cost.FloatRange{Low: 10.8, Expected: 11, High: 35.2},
		Planned:         100, CacheHits: 10,
		SavedUSD: new(float64), PrefixSavingUSD: new(float64),
		BatchUSD: &cost.FloatRange{Low: 0.016128, Expected: 0.018654, High: 0.0261}, // half of it
	}
	want.LiveUSD = want.CostUSD
	*want.SavedUSD = 0.00368 // 10 x (800 x 0.4 + 30 x 1.6) / 1e6
	if d := cmp.Diff(want, ar.Line); d != "" {
		t.Error(d)
	}

	// The verdicts of 90 samples stand on predicted claims: 0.75 / 1.5 / 3 times
	// the 250 tokens of the items, and the replies; 0.9 / 1 / 1 of the calls.
	verdict := est.Metrics[1].Steps[1]
	if verdict.Step != "verdict" {
		t.Fatalf("second step %s", verdict.Step)
	}
	if d := cmp.Diff(cost.Range{Low: 81, Expected: 92, High: 113}, verdict.Calls); d != "" {
		t.Error(d)
	}
	// 90 x 1937.5 rounded up, x 0.9; 90 x 2125 x 1.02; 90 x 2500 x 1.25
	if d := cmp.Diff(cost.Range{Low: 156_978, Expected: 195_075, High: 281_250}, verdict.InputTokens); d != "" {
		t.Error(d)
	}
	// 90 x 72 x 0.9; 90 x 324 x 1.02; 90 x 1080 x 1.25
	if d := cmp.Diff(cost.Range{Low: 5832, Expected: 29_743, High: 121_500}, verdict.OutputTokens); d != "" {
		t.Error(d)
	}
	checkGolden(t, "testdata/estimate.txt", func() []byte {
		var b bytes.Buffer
		if err := est.Text(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}())
	data, err := est.JSON()
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "testdata/estimate.json", data)
}

// checkGolden compares with a file; RAGJUDGE_UPDATE_GOLDEN=1 writes it anew.
func checkGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("RAGJUDGE_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s: -want +got\n%s", file, d)
	}
}

func TestEstimateSameInAnyOrder(t *testing.T) {
	calls := plan()
	want, err := estimate(options(t), calls).JSON()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		e := cost.NewEstimator(options(t))
		var wg sync.WaitGroup
		for part := range 4 {
			wg.Go(func() {
				for i := part; i < len(calls); i += 4 {
					e.Add(calls[i])
				}
			})
		}
		wg.Wait()
		got, err := e.Estimate().JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("another order gave\n%s\nnot\n%s", got, want)
		}
	}
}

func TestUnknownPriceIsNoMoney(t *testing.T) {
	opt := options(t)
	opt.Model, opt.Price = "my-finetune-x", nil
	est := estimate(opt, plan())
	if est.Total.CostUSD != nil || est.Total.SavedUSD != nil || est.Metrics[0].CostUSD != nil {
		t.Errorf("money without a price: %+v", est.Total)
	}
	data, err := est.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(`"cost_usd": null`)) || bytes.Contains(data, []byte(`"price`)) {
		t.Errorf("JSON %s", data)
	}
	var b strings.Builder
	if err := est.Text(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "$") || !strings.Contains(b.String(), "unknown") {
		t.Error(b.String())
	}
}

func TestFreeIsZeroDollars(t *testing.T) {
	p, err := cost.Override{Input: ptr(0), Output: ptr(0)}.Price("local")
	if err != nil {
		t.Fatal(err)
	}
	opt := options(t)
	opt.Price = &p
	est := estimate(opt, plan())
	if c := est.Total.CostUSD; c == nil || *c != (cost.FloatRange{}) {
		t.Errorf("cost %v, want 0", c)
	}
	if est.Price != "free" || est.PriceTable != "" {
		t.Errorf("price %q of %q", est.Price, est.PriceTable)
	}
}

// TestReasoningRange is a measured case: 100 calls of 1,500 tokens with 120
// visible and 2,400 hidden tokens each, at $0.25 and $2 per million, cost $0.5415.
func TestReasoningRange(t *testing.T) {
	p, err := cost.Override{Input: ptr(0.25), Output: ptr(2)}.Price("gpt-5-mini")
	if err != nil {
		t.Fatal(err)
	}
	opt := cost.Options{Model: "gpt-5-mini", Price: &p, Encoding: "o200k_base", OwnEncoding: true, Reasoning: cost.Reasons("gpt-5-mini")}
	var calls []cost.Call
	for range 100 {
		calls = append(calls, cost.Call{Metric: "m", Step: "rubric", Input: 1500, Output: 60, OutputCap: 8192})
	}
	c := estimate(opt, calls).Total.CostUSD
	if c.Low > 0.5415 || c.High < 0.5415 {
		t.Errorf("$0.5415 is outside of %+v", *c)
	}
}

// TestKnownClaims holds that claims from a cached split are not varied.
func TestKnownClaims(t *testing.T) {
	verdict := cost.Call{Metric: "faithfulness", Step: "verdict", Input: 1000, Output: 100, Items: 4, ItemTokens: 100}
	split := cost.Call{Metric: "faithfulness", Step: "split", Input: 500, Output: 50}
	cached := split
	cached.Hit = true
	opt := cost.Options{Encoding: "o200k_base", OwnEncoding: true, MaxAttempts: 1}
	for _, c := range []struct {
		name  string
		calls []cost.Call
		want  cost.Range // input tokens of the verdicts
	}{
		{"no split", []cost.Call{verdict, verdict}, cost.Range{Low: 2000, Expected: 2000, High: 2000}},
		{"splits cached", []cost.Call{cached, verdict, cached, verdict}, cost.Range{Low: 2000, Expected: 2000, High: 2000}},
		{"splits to be made", []cost.Call{split, verdict, split, verdict}, cost.Range{Low: 1755, Expected: 2100, High: 2400}},
		{"one of two cached", []cost.Call{split, verdict, cached, verdict}, cost.Range{Low: 1878, Expected: 2050, High: 2200}},
		{"told", []cost.Call{func() cost.Call { v := verdict; v.Predicted = true; return v }()}, cost.Range{Low: 878, Expected: 1050, High: 1200}},
	} {
		est := estimate(opt, c.calls)
		steps := est.Metrics[0].Steps
		if d := cmp.Diff(c.want, steps[len(steps)-1].InputTokens); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestEstimateIsARange holds for any calls: low <= expected <= high everywhere,
// output within the cap, the total is the sum of the metrics, and all of a
// metric's calls are accounted for.
func TestEstimateIsARange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opt := options(t)
		opt.OwnEncoding = rapid.Bool().Draw(rt, "own")
		opt.Reasoning = rapid.Bool().Draw(rt, "reasoning")
		opt.MaxAttempts = rapid.IntRange(0, 3).Draw(rt, "attempts")
		calls := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) cost.Call {
			return cost.Call{
				Metric: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "metric"), Step: rapid.SampledFrom([]string{"split", "verdict"}).Draw(rt, "step"),
				Input: rapid.IntRange(0, 300_000).Draw(rt, "in"), Output: rapid.IntRange(0, 5000).Draw(rt, "out"), OutputCap: rapid.IntRange(0, 1000).Draw(rt, "cap"),
				Items: rapid.IntRange(0, 30).Draw(rt, "items"), ItemTokens: rapid.IntRange(0, 3000).Draw(rt, "itemTokens"),
				Predicted: rapid.Bool().Draw(rt, "predicted"), Hit: rapid.Bool().Draw(rt, "hit"), Repeat: rapid.Bool().Draw(rt, "repeat"),
			}
		})).Draw(rt, "calls")
		est := estimate(opt, calls)
		var sum cost.Range
		var planned int64
		for _, m := range est.Metrics {
			checkLine(rt, &m.Line)
			for _, s := range m.Steps {
				checkLine(rt, &s.Line)
			}
			sum.Low += m.OutputTokens.Low
			sum.Expected += m.OutputTokens.Expected
			sum.High += m.OutputTokens.High
			planned += m.Planned
		}
		checkLine(rt, &est.Total)
		if sum != est.Total.OutputTokens || planned != int64(len(calls)) || est.Total.Planned != planned {
			rt.Fatalf("sum %v, total %v; planned %d of %d", sum, est.Total.OutputTokens, planned, len(calls))
		}
	})
}

func checkLine(t *rapid.T, l *cost.Line) {
	for _, r := range []cost.Range{l.Calls, l.InputTokens, l.OutputTokens, l.CachedPrefixTokens, l.ReasoningTokens} {
		if r.Low < 0 || r.Low > r.Expected || r.Expected > r.High {
			t.Fatalf("no range: %+v", *l)
		}
	}
	for _, r := range []cost.FloatRange{*l.CostUSD, l.DurationSeconds} {
		if r.Low < 0 || r.Low > r.Expected || r.Expected > r.High {
			t.Fatalf("no range: %+v, %+v", *l, *l.CostUSD)
		}
	}
}

func TestOutputWithinCap(t *testing.T) {
	opt := options(t)
	opt.Reasoning = true
	est := estimate(opt, []cost.Call{{Metric: "m", Step: "rubric", Input: 100, Output: 400, OutputCap: 500}})
	if o := est.Total.OutputTokens; o.High > 625 { // 500 x 1.25 attempts
		t.Errorf("high output %d exceeds the cap", o.High)
	}
}

func TestDuration(t *testing.T) {
	var calls []cost.Call
	for range 6000 {
		calls = append(calls, cost.Call{Metric: "m", Step: "rubric", Input: 940, Output: 60, OutputCap: 60})
	}
	base := cost.Options{Encoding: "o200k_base", OwnEncoding: true, MaxAttempts: 1, Concurrency: 64, Latency: 2 * time.Second}
	for _, c := range []struct {
		name string
		set  func(*cost.Options)
		want float64 // expected seconds
	}{
		{"slots", func(o *cost.Options) {}, 187.5},
		{"requests", func(o *cost.Options) { o.RequestsPerMinute = 600 }, 600},
		{"tokens", func(o *cost.Options) { o.RequestsPerMinute, o.TokensPerMinute = 600, 300_000 }, 1200},
		{"one slot", func(o *cost.Options) { o.Concurrency = 0 }, 12_000},
		{"more slots than calls", func(o *cost.Options) { o.Concurrency = 100_000 }, 2},
		{"by the reply", func(o *cost.Options) { o.Latency = 0 }, 146}, // (0.7 + 60/70) x 6000 / 64
	} {
		opt := base
		c.set(&opt)
		if got := estimate(opt, calls).Total.DurationSeconds.Expected; got != c.want {
			t.Errorf("%s: %v s, want %v", c.name, got, c.want)
		}
	}
}

func TestEmptyEstimate(t *testing.T) {
	est := cost.NewEstimator(options(t)).Estimate()
	data, err := est.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil || v["schema"] != float64(1) {
		t.Errorf("%v, %s", err, data)
	}
	var b strings.Builder
	if err := est.Text(&b); err != nil || !strings.Contains(b.String(), "Planned calls: 0;") {
		t.Errorf("%v, %s", err, b.String())
	}
}

func TestReasons(t *testing.T) {
	for model, want := range map[string]bool{
		"o3-mini": true, "openai/o4-mini": true, "gpt-5": true, "gpt-5-mini-2025-08-07": true, "gpt-5.1": true, "openai/gpt-oss-120b": true,
		"deepseek-reasoner": true, "gemini-2.5-pro": true, "gemini-3.5-flash": true, "Qwen3-235B-A22B-Thinking-2507": true, "grok-4-1-fast-reasoning": true,
		"gpt-4.1": false, "gpt-4o": false, "gpt-5-chat-latest": false, "claude-sonnet-4-5": false, "grok-4-1-fast-non-reasoning": false,
		"gemini-2.5-flash-lite": false, "qwen3-next-80b-a3b-instruct": false, "o1x": false, "": false,
	} {
		if got := cost.Reasons(model); got != want {
			t.Errorf("%q: %t, want %t", model, got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	p, _ := cost.Embedded().Lookup("gpt-4.1-mini")
	e := cost.NewEstimator(cost.Options{Price: &p, Encoding: "o200k_base", OwnEncoding: true})
	for b.Loop() {
		e.Add(cost.Call{Metric: "faithfulness", Step: "verdict", Input: 2000, Output: 120, OutputCap: 2048, Items: 5})
	}
}
