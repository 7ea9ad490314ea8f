package cost

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// Call is one judge call that a dry run planned.
type Call struct {
	// Metric and Step say what the call is for: "faithfulness", "verdict".
	Metric, Step string
	// Judge and Trial say which seat of a panel asks: the judge is one of
	// Options.Judges; empty without any.
	Judge string
	Trial int
	// Input is its input tokens, Output the tokens of the predicted reply (0 if
	// there is none) and OutputCap the most that the reply may have (0 for no
	// bound).
	Input, Output, OutputCap int
	// Items is the number of numbered items that it asks about; 0 for none.
	Items int
	// ItemTokens is the part of Input that the items take; 0 for not known.
	ItemTokens int
	// Predicted reports that the items are themselves predicted: claims that
	// another call would find. Where it is not set, it is concluded for a metric
	// that also makes calls of step "split": their items are, but for as many
	// calls as there were splits that the cache answered.
	Predicted bool
	// Hit reports that the cache answers, Repeat that an identical call is
	// planned already. Neither costs anything.
	Hit, Repeat bool
}

// stepSplit is the step that finds the claims over which the metric's other
// calls ask for verdicts.
const stepSplit = "split"

// JudgeOptions says what an estimate is to reckon with of one judge.
type JudgeOptions struct {
	// Name is the judge's in a panel; empty for one that is alone.
	Name string
	// Model is the judge.
	Model string
	// Price is its price; nil if it is not known, and then no money is shown.
	Price *Price
	// Encoding is the vocabulary by which Input was counted, OwnEncoding whether
	// it is the model's own.
	Encoding    string
	OwnEncoding bool
	// Reasoning reports that the judge thinks before it answers; see Reasons.
	Reasoning bool
}

// Options says what an estimate is to reckon with.
type Options struct {
	// Judges are those of a panel, each under its name. Without any there is one
	// judge, of the fields Model to Reasoning below, which are then as in
	// JudgeOptions.
	Judges      []JudgeOptions
	Model       string
	Price       *Price
	Encoding    string
	OwnEncoding bool
	Reasoning   bool
	// PriceDate is the date of the price table.
	PriceDate string
	// MaxAttempts is the most attempts of one call that may be charged for; 0
	// sets no bound.
	MaxAttempts int
	// RequestsPerMinute and TokensPerMinute are the provider's limits; 0 for not
	// known.
	RequestsPerMinute, TokensPerMinute int
	// Concurrency is the number of calls at the same time; less than 1 is 1.
	Concurrency int
	// Latency is the time of one call; 0 takes it from the length of the replies.
	Latency time.Duration
	// Notes are further assumptions of the caller, as sentences.
	Notes []string
}

// Estimator sums planned calls up. Its memory does not grow with their number,
// and the same calls give the same estimate in whatever order they are added. It
// is safe for concurrent use.
type Estimator struct {
	opt    Options
	judges []JudgeOptions // at least one

	mu    sync.Mutex
	steps map[stepKey]*stepSum
}

// stepKey is one step of a metric, for one seat.
type stepKey struct {
	metric, step, judge string
	trial               int
}

// stepSum is the sums over the calls of one step. They are integers, so that the
// order of adding makes no difference.
type stepSum struct {
	hits, repeats, saved int64 // saved: money, for hits
	// sure are calls without items or with known ones, predicted those with
	// predicted items, at each level.
	sure, predicted [3]sum
	// openSure and openPredicted are the calls of which only the estimate can
	// tell which they are, reckoned both ways.
	openSure, openPredicted [3]sum
}

// sum is calls, tokens and money at one level of the range. Money is in units of
// 1e-11 dollars: a call's rounding is lost in any sum, and 92 million dollars fit.
type sum struct{ calls, input, output, money int64 }

const moneyUnit = 1e11

func (s *sum) add(t sum) {
	s.calls += t.calls
	s.input += t.input
	s.output += t.output
	s.money += t.money
}

// levels are the indices of a range.
const (
	low = iota
	expected
	high
)

func (f factor) at(level int) float64 {
	return [...]float64{f.low, f.expected, f.high}[level]
}

// NewEstimator returns an Estimator without any call.
func NewEstimator(opt Options) *Estimator {
	judges := opt.Judges
	if len(judges) == 0 {
		judges = []JudgeOptions{{Model: opt.Model, Price: opt.Price, Encoding: opt.Encoding, OwnEncoding: opt.OwnEncoding, Reasoning: opt.Reasoning}}
	}
	return &Estimator{opt: opt, judges: judges, steps: map[stepKey]*stepSum{}}
}

// Add takes in one planned call.
func (e *Estimator) Add(c Call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := stepKey{c.Metric, c.Step, c.Judge, c.Trial}
	s := e.steps[key]
	if s == nil {
		s = new(stepSum)
		e.steps[key] = s
	}
	switch {
	case c.Hit:
		s.hits++
		s.saved += e.price(c.Judge, c.Input, c.Output)
		return
	case c.Repeat:
		s.repeats++
		return
	}
	for level := range s.sure {
		switch {
		case c.Items <= 0 || c.Step == stepSplit:
			s.sure[level].add(e.one(&c, level, false))
		case c.Predicted:
			s.predicted[level].add(e.one(&c, level, true))
		default:
			s.openSure[level].add(e.one(&c, level, false))
			s.openPredicted[level].add(e.one(&c, level, true))
		}
	}
}

// one returns what one attempt of a call takes at a level.
func (e *Estimator) one(c *Call, level int, predicted bool) sum {
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
	if !j.OwnEncoding {
		input *= foreignTokens.at(level)
		output *= foreignTokens.at(level)
	}
	if j.Reasoning {
		output += reasoningTokens.at(level)
	}
	if c.OutputCap > 0 {
		output = min(output, float64(c.OutputCap))
	}
	in, out := int(math.Round(input)), int(math.Round(output))
	return sum{calls: 1, input: int64(in), output: int64(out), money: e.price(c.Judge, in, out)}
}

// judge returns the options of a judge; those of the first one for a name that
// is not known.
func (e *Estimator) judge(name string) *JudgeOptions {
	for i := range e.judges {
		if e.judges[i].Name == name {
			return &e.judges[i]
		}
	}
	return &e.judges[0]
}

// price returns what a call costs, in units; 0 if there is no price.
func (e *Estimator) price(judge string, input, output int) int64 {
	price := e.judge(judge).Price
	if price == nil {
		return 0
	}
	usd := price.Cost(llm.Usage{PromptTokens: input, CompletionTokens: output})
	return int64(math.Round(usd * moneyUnit))
}

// planned returns the number of calls of a step, without hits and repeats.
func (s *stepSum) planned() int64 {
	return s.sure[low].calls + s.predicted[low].calls + s.openSure[low].calls
}

// predictedShare returns the share of a step's open calls whose items are
// predicted. Without a split in the metric none are. With splits, each call
// stands on one: where the cache answered the split, the claims are the real
// ones, unless it answered the call on them too, which is then not among these.
func (e *Estimator) predictedShare(metric string, s *stepSum) float64 {
	split, open := e.split(metric), s.openSure[low].calls
	if split == nil || open == 0 {
		return 0
	}
	if split.planned()+split.repeats == 0 {
		return 0
	}
	sure := max(split.hits-s.hits, 0)
	return 1 - min(float64(sure)/float64(open), 1)
}

// split returns the step that finds a metric's claims, whichever seat makes it.
func (e *Estimator) split(metric string) *stepSum {
	for k, s := range e.steps {
		if k.metric == metric && k.step == stepSplit {
			return s
		}
	}
	return nil
}

// total returns a step's sums with the charged attempts per call, and without
// the verdicts that don't take place because there is no claim.
func (e *Estimator) total(metric string, s *stepSum) [3]sum {
	var all [3]sum
	share := e.predictedShare(metric, s)
	for level := range all {
		attempts := paidAttempts.at(level)
		if e.opt.MaxAttempts > 0 {
			attempts = min(attempts, float64(e.opt.MaxAttempts))
		}
		sure, predicted := s.sure[level], s.predicted[level]
		open := s.openPredicted[level].times(share)
		predicted.add(open)
		known := s.openSure[level].times(1 - share)
		known.calls = s.openSure[level].calls - open.calls // no call is lost in rounding
		sure.add(known)
		all[level] = sure.times(attempts)
		all[level].add(predicted.times(attempts * claimlessCalls.at(level)))
	}
	return all
}

// splitting returns the metrics whose claims are predicted, by name.
func (e *Estimator) splitting() []string {
	var out []string
	for k, s := range e.steps {
		if s.predicted[low].calls > 0 || e.predictedShare(k.metric, s) > 0 {
			out = append(out, k.metric)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s sum) times(f float64) sum {
	scale := func(n int64) int64 { return int64(math.Round(float64(n) * f)) }
	return sum{scale(s.calls), scale(s.input), scale(s.output), scale(s.money)}
}

// seconds returns the time that calls take under the limits: the longest of what
// requests per minute, tokens per minute and the slots allow.
func (e *Estimator) seconds(s sum, level int) float64 {
	if s.calls == 0 {
		return 0
	}
	each := e.opt.Latency.Seconds()
	if each <= 0 {
		each = firstTokenSeconds.at(level) + float64(s.output)/float64(s.calls)/tokensPerSecond.at(level)
	}
	t := max(each, float64(s.calls)*each/float64(max(e.opt.Concurrency, 1)))
	if r := e.opt.RequestsPerMinute; r > 0 {
		t = max(t, float64(s.calls)*60/float64(r))
	}
	if r := e.opt.TokensPerMinute; r > 0 {
		t = max(t, float64(s.input+s.output)*60/float64(r))
	}
	return math.Round(t*10) / 10
}
