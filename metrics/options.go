package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/text"
)

// NoClaims says what a text without claims ("I don't know") scores.
type NoClaims string

// The policies. A value given by policy carries the reason "no_claims".
const (
	NoClaimsUndefined NoClaims = "undefined" // no value; the default
	NoClaimsOne       NoClaims = "one"       // 1: nothing wrong was said
	NoClaimsZero      NoClaims = "zero"      // 0: nothing was said
)

// Undecided says what a verdict is in which the judge did not decide
// ("partially", "I don't know").
type Undecided string

// The policies. The first flags the score with FlagUndecided.
const (
	UndecidedNegative Undecided = "negative" // it does not count for the score; the default
	UndecidedUnscored Undecided = "unscored" // a score that hangs on it is unscored; in a majority it is on no side
)

// Gain says what a grade is worth in ndcg.
type Gain string

// The gains.
const (
	GainLinear      Gain = "linear"      // the grade; the default
	GainExponential Gain = "exponential" // 2^grade - 1
)

// Mode says which of several ways a metric takes; Family.Modes lists them.
type Mode string

// The modes.
const (
	// ModeRubric rates with one call.
	ModeRubric Mode = "rubric"
	// ModeStatements splits the response and gives a verdict on each statement.
	ModeStatements Mode = "statements"
	// ModeQuestions compares the question with questions that the response answers.
	ModeQuestions Mode = "questions"
	// ModeF1, ModePrecision and ModeRecall are what is made of claims of both
	// sides.
	ModeF1        Mode = "f1"
	ModePrecision Mode = "precision"
	ModeRecall    Mode = "recall"
)

// Compat names the tool whose formula a metric takes in place of its own; empty
// for its own.
type Compat string

// The tools, in the versions that docs/metrics.md names.
const (
	CompatRagas      Compat = "ragas"
	CompatDeepEval   Compat = "deepeval"
	CompatRAGChecker Compat = "ragchecker"
)

// The names of the options, as they stand under [metric.<name>] in a
// configuration.
const (
	optNoClaims = "no_claims"
	optPerChunk = "per_chunk"
	optGain     = "gain"
	optMode     = "mode"
	optCompat   = "compat"
	optBeta     = "beta"
	optWeight   = "factuality_weight"

	optThreshold = "threshold"

	optUndecided = "undecided"
)

// Options are the settings of a metric. The zero value is the default of each;
// an option that a metric does not read has no influence on it.
type Options struct {
	// Judge answers the judged metrics, where Panel has no seat.
	Judge Judge
	// Panel answers them by several judges or trials.
	Panel Panel
	// NoClaims is read by the metrics over claims.
	NoClaims NoClaims
	// Undecided is read by faithfulness, context_precision and context_recall.
	Undecided Undecided
	// PerChunk makes context_precision ask about each chunk in a call of its
	// own, instead of all in one.
	PerChunk bool
	// Gain is read by ndcg.
	Gain Gain
	// Mode is read by the metrics whose Family has several; empty for the first.
	Mode Mode
	// Compat is read by the metrics whose Family knows the tool.
	Compat Compat
	// Beta weighs recall against precision in an F score: above 1 recall counts
	// more. 0 stands for 1.
	Beta float64
	// Weight is what factual correctness counts in answer_correctness, 0 to 1, in
	// place of DefaultWeight; the rest is similarity.
	Weight Weight
	// Threshold makes 1 of a similarity from there on and 0 of any other; 0 for the
	// similarity itself. 0 to 1.
	Threshold float64
	// Embedder gives vectors to the metrics over meaning, where Panel has none.
	Embedder Embedder
	// Ranking is read by the metrics over ids.
	Ranking RankingOptions
	// Text is read by the metrics that compare response and reference as texts.
	Text TextOptions
}

// OptionNames lists, for each family by its canonical name, the options that
// may stand under [metric.<name>] in a configuration.
func OptionNames() map[string][]string {
	names := map[string][]string{}
	for _, f := range All {
		names[f.Name] = slices.Clone(f.Options)
	}
	return names
}

// FamilyOfSection returns the family that a section [metric.<name>] is for.
// [metric.precision] names the family without the cut-off that a metric needs,
// and [metric.retrieval] all metrics over ids; see IsRetrieval.
func FamilyOfSection(name string) (Family, error) {
	if IsRetrieval(name) {
		return Family{Name: retrievalSection, Options: matchingOptions}, nil
	}
	if f, ok := find(name); ok {
		return f, nil
	}
	return FamilyOf(name)
}

// With returns the options with the keys of [metric.<name>] applied to them.
// An unknown metric or key, a value of the wrong type and one that is not
// allowed are errors that name metric and key.
func (o Options) With(metric string, keys map[string]any) (Options, error) {
	f, err := FamilyOfSection(metric)
	if err != nil {
		return o, err
	}
	for _, key := range sortedKeys(keys) {
		if !slices.Contains(f.Options, key) {
			return o, fmt.Errorf("set option %s of metric %s: there is no such option; %s", key, f.Name, known(key, f.Options))
		}
		set := o.set
		if f.readsText() {
			set = o.Text.set
		} else if isRankingOption(key) {
			set = o.Ranking.set
		}
		if err := set(key, keys[key]); err != nil {
			return o, fmt.Errorf("set option %s of metric %s: %w", key, f.Name, err)
		}
	}
	return o, o.check(f.Name)
}

// known tells the options that there are, and of several the nearest.
func known(key string, options []string) string {
	switch len(options) {
	case 0:
		return "the metric has none"
	case 1:
		return "known is " + options[0]
	}
	nearest := slices.MinFunc(options, func(a, b string) int {
		return cmp.Compare(text.Distance(key, a), text.Distance(key, b))
	})
	return fmt.Sprintf("the nearest name is %s; known are %s", nearest, strings.Join(options, ", "))
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (o *Options) set(key string, value any) error {
	if key == optPerChunk {
		b, ok := value.(bool)
		if !ok {
			return fmt.Errorf("want true or false, got %v", value)
		}
		o.PerChunk = b
		return nil
	}
	if key == optBeta || key == optWeight || key == optThreshold {
		return o.setNumber(key, value)
	}
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("want a text, got %v", value)
	}
	switch key {
	case optNoClaims:
		o.NoClaims = NoClaims(s)
	case optUndecided:
		o.Undecided = Undecided(s)
	case optGain:
		o.Gain = Gain(s)
	case optMode:
		o.Mode = Mode(s)
	case optCompat:
		o.Compat = Compat(s)
	}
	return nil
}

// setNumber takes a number, whole or not.
func (o *Options) setNumber(key string, value any) error {
	var x float64
	switch v := value.(type) {
	case int64:
		x = float64(v)
	case float64:
		x = v
	default:
		return fmt.Errorf("want a number, got %v", value)
	}
	switch {
	case key == optBeta && !(x > 0 && x <= maxBeta):
		return fmt.Errorf("want a number above 0 and up to %v, got %v", maxBeta, value)
	case key != optBeta && !(x >= 0 && x <= 1):
		return fmt.Errorf("want a number from 0 to 1, got %v", value)
	case key == optBeta:
		o.Beta = x
	case key == optThreshold:
		o.Threshold = x
	default:
		o.Weight = Weight{x, true}
	}
	return nil
}

// maxBeta bounds Options.Beta: above it an F score is recall and nothing else.
const maxBeta = 1000

// DefaultWeight is what factual correctness counts in answer_correctness.
const DefaultWeight = 0.75

// Weight is a share that may be set to 0.
type Weight struct {
	Value float64
	Set   bool
}

// check reports a value that is not allowed.
func (o Options) check(metric string) error {
	if err := oneOf(metric, optNoClaims, o.NoClaims, NoClaimsUndefined, NoClaimsOne, NoClaimsZero); err != nil {
		return err
	}
	if err := oneOf(metric, optUndecided, o.Undecided, UndecidedNegative, UndecidedUnscored); err != nil {
		return err
	}
	if err := oneOf(metric, optGain, o.Gain, GainLinear, GainExponential); err != nil {
		return err
	}
	if err := o.Ranking.check(metric); err != nil {
		return err
	}
	if err := o.Text.check(metric); err != nil {
		return err
	}
	f, ok := find(metric)
	if !ok {
		return nil
	}
	if slices.Contains(f.Options, optMode) {
		if err := oneOf(metric, optMode, o.Mode, f.Modes...); err != nil {
			return err
		}
	}
	if len(f.Compats) == 0 { // compat is another metric's, or a text metric's own
		return nil
	}
	return oneOf(metric, optCompat, o.Compat, f.Compats...)
}

func oneOf[T ~string](metric, key string, got T, allowed ...T) error {
	if got == "" || slices.Contains(allowed, got) {
		return nil
	}
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = fmt.Sprintf("%q", string(a))
	}
	return fmt.Errorf("set option %s of metric %s: %q is not allowed; known are %s", key, metric, string(got), strings.Join(quoted, ", "))
}

func (o Options) withDefaults() Options {
	if o.NoClaims == "" {
		o.NoClaims = NoClaimsUndefined
	}
	if o.Undecided == "" {
		o.Undecided = UndecidedNegative
	}
	if o.Gain == "" {
		o.Gain = GainLinear
	}
	if o.Beta == 0 {
		o.Beta = 1
	}
	if !o.Weight.Set {
		o.Weight = Weight{DefaultWeight, true}
	}
	o.Ranking = o.Ranking.withDefaults()
	o.Text = o.Text.withDefaults()
	return o
}
