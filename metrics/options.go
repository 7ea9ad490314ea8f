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

// Gain says what a grade is worth in ndcg.
type Gain string

// The gains.
const (
	GainLinear      Gain = "linear"      // the grade; the default
	GainExponential Gain = "exponential" // 2^grade - 1
)

// Mode says how answer_relevance asks.
type Mode string

// ModeRubric rates with one call; the default.
const ModeRubric Mode = "rubric"

// The names of the options, as they stand under [metric.<name>] in a
// configuration.
const (
	optNoClaims = "no_claims"
	optPerChunk = "per_chunk"
	optGain     = "gain"
	optMode     = "mode"
)

// Options are the settings of a metric. The zero value is the default of each;
// an option that a metric does not read has no influence on it.
type Options struct {
	// Judge answers the judged metrics, where Panel has no seat.
	Judge Judge
	// Panel answers them by several judges or trials.
	Panel Panel
	// NoClaims is read by faithfulness and context_recall.
	NoClaims NoClaims
	// PerChunk makes context_precision ask about each chunk in a call of its
	// own, instead of all in one.
	PerChunk bool
	// Gain is read by ndcg.
	Gain Gain
	// Mode is read by answer_relevance.
	Mode Mode
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
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("want a text, got %v", value)
	}
	switch key {
	case optNoClaims:
		o.NoClaims = NoClaims(s)
	case optGain:
		o.Gain = Gain(s)
	case optMode:
		o.Mode = Mode(s)
	}
	return nil
}

// check reports a value that is not allowed.
func (o Options) check(metric string) error {
	if err := oneOf(metric, optNoClaims, o.NoClaims, NoClaimsUndefined, NoClaimsOne, NoClaimsZero); err != nil {
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
	return oneOf(metric, optMode, o.Mode, ModeRubric)
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
	if o.Gain == "" {
		o.Gain = GainLinear
	}
	if o.Mode == "" {
		o.Mode = ModeRubric
	}
	o.Ranking = o.Ranking.withDefaults()
	o.Text = o.Text.withDefaults()
	return o
}
