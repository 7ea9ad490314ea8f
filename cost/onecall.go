package cost

import (
	"math"

	"github.com/ragjudge/ragjudge/llm"
)

// Weigh returns what a call is expected to take, without adding it: in US dollars
// where all prices are known, else in tokens. It compares rows with each other.
func (e *Estimator) Weigh(c Call) float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.one(&c, expected, c.Items > 0)
	for i := range e.judges {
		if e.judges[i].Price == nil {
			return float64(s.input + s.output + s.embedded)
		}
	}
	return float64(s.money) / moneyUnit
}

// one returns what one attempt of a call takes at a level; of a measured kind, what
// all attempts of it take.
func (e *Estimator) one(c *Call, level int, predicted bool) sum {
	if k := e.measured(c.Kind); k.m != nil {
		return e.carried(c, level, k, predicted || c.Items <= 0 || c.Step == stepSplit)
	}
	input, output := float64(c.Input), float64(c.Output)
	length := replyFactor.at(level)
	if output <= 0 {
		output = unknownReply
	}
	if c.Step == stepSplit {
		length = splitFactor.at(level) * claimsFactor.at(level)
	}
	if predicted {
		items := float64(c.ItemTokens)
		if items <= 0 {
			items = itemTokens * float64(c.Items)
		}
		input += (claimsFactor.at(level) - 1) * min(items, input)
		length *= claimsFactor.at(level)
	}
	output *= length
	j := e.judge(c.Judge)
	in, out := j.vocabulary()
	input *= in.at(level)
	output *= out.at(level)
	thought := 0.0
	if j.Reasoning {
		thought = reasoningTokens.at(level)
	}
	if c.OutputCap > 0 {
		output = min(output, float64(c.OutputCap))
		thought = min(thought, float64(c.OutputCap)-output)
	}
	if c.Embedding {
		output, thought = 0, 0
	}
	return e.priced(c, amount{calls: 1, input: input, output: output + thought, reasoning: thought})
}

// carried returns what all attempts of a call of a measured kind take: what is
// planned, times what was measured.
func (e *Estimator) carried(c *Call, level int, k measured, open bool) sum {
	known := 1
	if open {
		known = 0
	}
	calls, output := k.calls[known].at(level), float64(c.Output)*k.output[known].at(level)
	a := amount{calls: calls, input: float64(c.Input) * k.input[known].at(level), output: output}
	a.reasoning = output * share(k.m.Actual.Reasoning, k.m.Actual.Output)
	if level != high { // a cache that is cold is the dear end
		a.cached = a.input * share(k.m.Actual.Cached, k.m.Actual.Input)
	}
	s := e.priced(c, a)
	s.calls = 1 // the measured number of calls is put in when all are added up: it is no whole number
	return s
}

// amount is what calls take, before it is rounded.
type amount struct{ calls, input, output, reasoning, cached float64 }

// priced rounds amounts and puts the prices to them.
func (e *Estimator) priced(c *Call, a amount) sum {
	round := func(v float64) int { return int(math.Round(v)) }
	u := llm.Usage{PromptTokens: round(a.input), CompletionTokens: round(a.output), CachedTokens: round(a.cached)}
	s := sum{calls: 1, input: int64(u.PromptTokens), output: int64(u.CompletionTokens), reasoning: int64(round(a.reasoning)), cached: int64(u.CachedTokens)}
	each := u
	if a.calls > 0 && a.calls != 1 { // a tier goes by the prompt of one call
		each.PromptTokens, each.CompletionTokens, each.CachedTokens = round(a.input/a.calls), round(a.output/a.calls), round(a.cached/a.calls)
	} else {
		a.calls = 1
	}
	times := func(money int64) int64 { return int64(math.Round(float64(money) * a.calls)) }
	each.Batched = e.opt.Batch
	s.money = times(e.price(c.Judge, each))
	each.Batched = !e.opt.Batch
	s.other = times(e.price(c.Judge, each))
	if c.Embedding {
		s.embedded, s.input = s.input, 0
	}
	if min := e.judge(c.Judge).PrefixMinimum; min > 0 && c.Prefix >= min {
		each.Batched, each.CachedTokens = e.opt.Batch, 0
		full := e.price(c.Judge, each)
		each.CachedTokens = c.Prefix / prefixStep * prefixStep
		s.prefix, s.prefixMoney = times(int64(each.CachedTokens)), times(full-e.price(c.Judge, each))
	}
	return s
}

// prefixStep is by how many tokens a cached prefix grows.
const prefixStep = 128

// vocabulary returns what counted tokens of input, and of a reply, are to be
// multiplied by.
func (j *JudgeOptions) vocabulary() (in, out factor) {
	one := factor{1, 1, 1}
	switch {
	case j.Ratio > 0:
		in = factor{j.Ratio * (1 - ratioDrift), j.Ratio, j.Ratio * (1 + ratioDrift)}
		if out = in; j.OwnEncoding { // what is off is about the schema, not the vocabulary
			out = one
		}
		return in, out
	case j.OwnEncoding:
		return one, one
	}
	f := foreign(j.Model)
	return f, f
}

// measured returns what is known of a kind. It must not change while calls are
// added, and so is asked once.
func (e *Estimator) measured(kind string) measured {
	if k, asked := e.known[kind]; asked || kind == "" || e.opt.Measured == nil {
		return k
	}
	var k measured
	if m, drift := e.opt.Measured(kind); m.Usable() {
		k.m = m
		for known := range 2 {
			k.calls[known], k.input[known], k.output[known] = m.factors(known == 1, float64(e.opt.Samples), drift)
		}
	}
	e.known[kind] = k
	return k
}
