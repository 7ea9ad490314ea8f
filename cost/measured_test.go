package cost_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/llm"
)

// told is n samples of one kind that each take so many times what is planned.
func told(n int, calls, input, output float64) *cost.Measured {
	m := new(cost.Measured)
	for range n {
		m.Add(cost.Amounts{Calls: 1, Input: 1000, Output: 100, Items: 4}, cost.Amounts{Calls: calls, Input: 1000 * input, Output: 100 * output, Items: 8}, 1000*input)
	}
	return m
}

func measuredAs(m *cost.Measured, drift float64) cost.Options {
	return cost.Options{OwnEncoding: true, MaxAttempts: 4, Samples: 100, Measured: func(kind string) (*cost.Measured, float64) {
		if kind == "k" {
			return m, drift
		}
		return nil, 0
	}}
}

// What was measured goes before the rules, in proportion to what is planned, and
// what does not scatter has a narrow range.
func TestMeasuredCalls(t *testing.T) {
	var calls []cost.Call
	for range 100 {
		calls = append(calls, cost.Call{Metric: "m", Step: "rubric", Kind: "k", Input: 2000, Output: 50})
	}
	est := estimate(measuredAs(told(50, 1.1, 1.2, 3), 0), calls)
	if c := est.Total.Calls; c.Expected != 110 || c.Low != 110 || c.High != 110 {
		t.Errorf("calls %v, want 110", c)
	}
	if in, out := est.Total.InputTokens, est.Total.OutputTokens; in.Expected != 240_000 || out.Expected != 15_000 || out.Low != 15_000 {
		t.Errorf("input %v, output %v", in, out)
	}
	if est := estimate(measuredAs(told(50, 1.1, 1.2, 3), 0.1), calls); est.Total.InputTokens.Low != 216_000 || est.Total.InputTokens.High != 264_000 {
		t.Errorf("with a drift of a tenth: %v", est.Total.InputTokens)
	}
	// Too few samples, and another kind, are reckoned with the rules.
	for name, m := range map[string]*cost.Measured{"few": told(2, 5, 5, 5), "none": nil, "nothing planned": new(cost.Measured)} {
		if got := estimate(measuredAs(m, 0), calls).Total.InputTokens.Expected; got != 204_000 {
			t.Errorf("%s: %d input tokens, want 204,000", name, got)
		}
	}
	// Calls that never came stay possible.
	est = estimate(measuredAs(told(30, 0, 0, 0), 0), calls)
	if c := est.Total.Calls; c.Expected != 0 || c.High != 10 {
		t.Errorf("calls %v, want 0 to 10", c)
	}
	for _, want := range []string{"m/rubric (50 samples)"} {
		est := estimate(measuredAs(told(50, 1, 1, 1), 0), calls)
		if text := strings.Join(est.Assumptions, "\n"); !strings.Contains(text, want) || strings.Contains(text, "offline judge's") {
			t.Errorf("assumptions:\n%s", text)
		}
	}
}

// Verdicts on claims that are known have no more of them than there are: only what
// a reply says for each is carried over.
func TestMeasuredVerdictsOnKnownClaims(t *testing.T) {
	calls := []cost.Call{
		{Metric: "m", Step: "split", Input: 10, Output: 1, Hit: true},
		{Metric: "m", Step: "verdict", Kind: "k", Input: 1000, Output: 100, Items: 4},
	}
	est := estimate(measuredAs(told(50, 1, 1.3, 6), 0), calls)
	// Twice the items were found as planned, so that a reply is three times as
	// long for each; the counted input is what the server told.
	if l := est.Total; l.OutputTokens.Expected != 300 || l.InputTokens.Expected != 1000 || l.Calls.Expected != 1 {
		t.Errorf("%v calls, %v in, %v out", l.Calls, l.InputTokens, l.OutputTokens)
	}
}

// The range of a ratio holds the truth of further samples, 95 times in 100 also for
// amounts that scatter as widely and unevenly as these.
func TestMeasuredRangeHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	draw := func() (planned, actual cost.Amounts) {
		p := 200 + 1000*rng.Float64()
		a := p * (0.5 + rng.ExpFloat64())
		return cost.Amounts{Calls: 1, Input: p, Output: p}, cost.Amounts{Calls: 1, Input: a, Output: a}
	}
	const repeats = 300
	held := 0
	for range repeats {
		m := new(cost.Measured)
		for range 40 {
			p, a := draw()
			m.Add(p, a, a.Input)
		}
		e := cost.NewEstimator(measuredAs(m, 0))
		want := 0.0
		for range 100 {
			p, a := draw()
			want += math.Round(a.Input)
			e.Add(cost.Call{Metric: "m", Step: "rubric", Kind: "k", Input: int(p.Input), Output: int(p.Output)})
		}
		if in := e.Estimate().Total.InputTokens; float64(in.Low) <= want && want <= float64(in.High) {
			held++
		}
	}
	if held < repeats*95/100 {
		t.Errorf("the range held %d of %d times", held, repeats)
	}
}

// Runs add up, and old ones fade: a judge that has changed is followed.
func TestMeasuredMergeFades(t *testing.T) {
	m := told(3000, 1, 1, 1)
	for range 20 {
		m.Merge(told(500, 1, 1, 3))
	}
	if m.Samples > 2500 {
		t.Errorf("%v samples are remembered", m.Samples)
	}
	if r := m.Actual.Output / m.Planned.Output; r < 2.9 {
		t.Errorf("output ratio %v, want close to 3", r)
	}
	var v cost.Vocabulary
	for range 9 {
		v.Add(100, 130)
	}
	if _, ok := v.Ratio(); ok {
		t.Error("nine calls make a ratio")
	}
	v.Add(100, 130)
	if r, ok := v.Ratio(); !ok || math.Abs(r-1.3) > 1e-9 {
		t.Errorf("ratio %v, %t", r, ok)
	}
	w := cost.Vocabulary{Calls: 10, Counted: 1, Told: 1e6}
	if _, ok := w.Ratio(); ok {
		t.Error("a million tokens for one is a ratio")
	}
}

func TestKindOf(t *testing.T) {
	base := llm.Request{Endpoint: "e", Model: "m", Messages: []llm.Message{{Role: llm.System, Content: "Judge."}, {Role: llm.User, Content: "a"}}, Schema: &llm.Schema{Name: "s", JSON: []byte(`{}`)}}
	kind := cost.KindOf(&base)
	same := base
	same.Messages = append([]llm.Message{base.Messages[0]}, llm.Message{Role: llm.User, Content: "another"}, llm.Message{Role: llm.Assistant, Content: "x"})
	same.Trial, same.MaxTokens = 2, 99
	if cost.KindOf(&same) != kind {
		t.Error("another sample, trial or bound is another kind")
	}
	for name, change := range map[string]func(*llm.Request){
		"endpoint": func(r *llm.Request) { r.Endpoint = "f" },
		"model":    func(r *llm.Request) { r.Model = "n" },
		"prompt":   func(r *llm.Request) { r.Messages = []llm.Message{{Role: llm.System, Content: "Judge!"}} },
		"schema":   func(r *llm.Request) { r.Schema = nil },
		"extra":    func(r *llm.Request) { r.Extra = []byte(`{"x":1}`) },
		"embed":    func(r *llm.Request) { r.Messages, r.Embed = nil, []string{"a"} },
	} {
		r := base
		change(&r)
		if cost.KindOf(&r) == kind {
			t.Errorf("another %s is the same kind", name)
		}
	}
}

// The error of a total made of some rows is what repeated drawing shows.
func TestStandardError(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	const all, n = 1000, 100
	rows := make([]float64, all)
	truth := 0.0
	for i := range rows {
		rows[i] = rng.ExpFloat64()
		truth += rows[i]
	}
	within, sum := 0, 0.0
	const repeats = 400
	for range repeats {
		var s cost.Scatter
		total := 0.0
		for _, i := range rng.Perm(all)[:n] {
			s.Add(rows[i])
			total += rows[i] * all / n
		}
		se := s.StandardError(all)
		sum += se
		if math.Abs(total-truth) <= 2*se {
			within++
		}
	}
	if within < repeats*90/100 || within > repeats*99/100 {
		t.Errorf("within two standard errors %d of %d times", within, repeats)
	}
	var s cost.Scatter
	for _, v := range rows {
		s.Add(v)
	}
	if se := s.StandardError(all); se != 0 {
		t.Errorf("all rows were seen, and the error is %v", se)
	}
}

// A prompt's beginning counts as cached only from the provider's minimum on, in
// steps of 128, and is told apart from the money.
func TestCachedPrefix(t *testing.T) {
	opt := options(t)
	opt.PrefixMinimum = cost.PrefixMinimum("openai")
	for _, c := range []struct {
		prefix int
		want   int64
	}{{1023, 0}, {1024, 2048}, {1200, 2304}, {0, 0}} {
		calls := []cost.Call{{Metric: "m", Step: "rubric", Input: 3000, Output: 10, Prefix: c.prefix}, {Metric: "m", Step: "rubric", Input: 3000, Output: 10, Prefix: c.prefix}}
		opt.MaxAttempts = 1
		est := estimate(opt, calls)
		if p := est.Total.CachedPrefixTokens; p.High != c.want || p.Low != 0 || p.Expected != 0 {
			t.Errorf("prefix of %d: %v cached, want up to %d", c.prefix, p, c.want)
		}
		if got, want := *est.Total.PrefixSavingUSD, float64(c.want)*0.3/1e6; math.Abs(got-want) > 1e-6 {
			t.Errorf("prefix of %d saves %v, want %v", c.prefix, got, want)
		}
		var b strings.Builder
		if err := est.Text(&b); err != nil || strings.Contains(b.String(), "which is not taken off") != (c.want > 0) {
			t.Errorf("%v:\n%s", err, b.String())
		}
	}
	// Where the server told of it, it is taken off, but not at the high end.
	m := told(50, 1, 1, 1)
	m.Actual.Cached = m.Actual.Input / 2
	o := measuredAs(m, 0)
	o.Price, o.PrefixMinimum = opt.Price, 1024
	c := estimate(o, []cost.Call{{Metric: "m", Step: "rubric", Kind: "k", Input: 3000, Output: 0, Prefix: 1100}}).Total
	if c.CachedPrefixTokens.Expected != 1500 || c.CostUSD.Expected != 0.00075 || c.CostUSD.High != 0.0012 {
		t.Errorf("%v cached, %+v", c.CachedPrefixTokens, *c.CostUSD)
	}
}

// TestCacheWritePrice: tokens that are written to the provider's cache are charged
// at their own rate, once, and as input where none is known.
func TestCacheWritePrice(t *testing.T) {
	p := cost.Price{Rates: cost.Rates{Input: 3e-6, Output: 15e-6, Cached: 0.3e-6, CacheWrite: 3.75e-6}}
	u := llm.Usage{PromptTokens: 10_000, CachedTokens: 6000, CacheWriteTokens: 3000, CompletionTokens: 100}
	if got, want := p.Cost(u), 1000*3e-6+6000*0.3e-6+3000*3.75e-6+100*15e-6; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	p.CacheWrite = 0
	if got, want := p.Cost(u), 4000*3e-6+6000*0.3e-6+100*15e-6; math.Abs(got-want) > 1e-12 {
		t.Errorf("without a price for it %v, want %v", got, want)
	}
	u.CacheWriteTokens = 99_999 // more than there are
	if got := p.Cost(u); got < 0 || got > 0.02 {
		t.Errorf("odd usage costs %v", got)
	}
}

// Embeddings have no reply, and their tokens are told apart.
func TestEmbeddingTokens(t *testing.T) {
	opt := options(t)
	opt.MaxAttempts = 1
	est := estimate(opt, []cost.Call{{Metric: "m", Step: "embed", Input: 500, Embedding: true}})
	if l := est.Total; l.EmbeddingTokens.Expected != 500 || l.InputTokens.High != 0 || l.OutputTokens.High != 0 || l.CostUSD.Expected != 0.0002 {
		t.Errorf("%+v, %+v", l, *l.CostUSD)
	}
	var counter cost.Counter
	if n := counter.CountRequest(&llm.Request{Model: "text-embedding-3-small", Embed: []string{"tiktoken is great!", "2 + 2 = 4"}}); n.Total != 13 || !n.Own {
		t.Errorf("%+v, want 13 tokens", n)
	}
}

// TestReasoningAfterAProbe is the measured case of TestReasoningRange: five samples
// are enough to know the hidden reasoning, which a count of the visible reply misses
// sixteen times over.
func TestReasoningAfterAProbe(t *testing.T) {
	p, err := cost.Override{Input: ptr(0.25), Output: ptr(2)}.Price("gpt-5-mini")
	if err != nil {
		t.Fatal(err)
	}
	m := new(cost.Measured)
	for i := range 5 {
		thought := 2300 + 50*float64(i)
		m.Add(cost.Amounts{Calls: 1, Input: 1500, Output: 60}, cost.Amounts{Calls: 1, Input: 1500, Output: 120 + thought, Reasoning: thought}, 1500)
	}
	opt := measuredAs(m, 0.02)
	opt.Price, opt.Reasoning = &p, true
	var calls []cost.Call
	for range 100 {
		calls = append(calls, cost.Call{Metric: "m", Step: "rubric", Kind: "k", Input: 1500, Output: 60, OutputCap: 8192})
	}
	l := estimate(opt, calls).Total
	if c := l.CostUSD; math.Abs(c.Expected-0.5415) > 0.0005 || c.Low > 0.5415 || c.High < 0.5415 || c.High > 0.65 {
		t.Errorf("%+v, want about $0.5415", *c)
	}
	if r := l.ReasoningTokens; r.Expected < 239_000 || r.Expected > 241_000 {
		t.Errorf("reasoning %v, want 240,000", r)
	}
}
