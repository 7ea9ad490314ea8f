package metrics

import (
	"fmt"
	"slices"

	"github.com/ragjudge/ragjudge/text"
)

// Smoothing says what BLEU makes of n-grams of which none is found.
type Smoothing string

// The smoothings, by the names of sacrebleu, which takes them from Chen and
// Cherry (WMT 2014).
const (
	// SmoothExp halves the precision again at each order without a match: 1/2,
	// 1/4... of one n-gram; the default.
	SmoothExp Smoothing = "exp"
	// SmoothFloor counts a tenth of an n-gram.
	SmoothFloor Smoothing = "floor"
	// SmoothAddK adds one to both counts of every order above 1.
	SmoothAddK Smoothing = "add_k"
	// SmoothNone leaves 0, so that the score is 0.
	SmoothNone Smoothing = "none"
)

// Level says what rouge_l compares.
type Level string

// The levels.
const (
	LevelText    Level = "text"    // the whole texts: ROUGE-L; the default
	LevelSummary Level = "summary" // line by line: ROUGE-Lsum
)

// TextOptions are the settings of the metrics that compare the response with
// the reference as texts. The zero value is the default of each.
type TextOptions struct {
	// Compat takes a tool's own tokens, to the letter, instead of those for
	// every script: CompatSquad for exact_match and token_f1, CompatRougeScore
	// for rouge_l, CompatSacrebleu for bleu and chrf.
	Compat string
	// Verbatim makes exact_match compare byte for byte.
	Verbatim bool
	// Stem makes rouge_l stem English words.
	Stem bool
	// Level is what rouge_l compares.
	Level Level
	// Tokenizer is that of bleu.
	Tokenizer text.Tokenizer
	// Smoothing is that of bleu.
	Smoothing Smoothing
	// FullOrder makes bleu count all four orders even where the response has
	// fewer than four tokens, as for a corpus: effective_order = false.
	FullOrder bool
	// Lowercase makes bleu and chrf compare without regard to case.
	Lowercase bool
	// WordOrder is up to which length chrf counts word n-grams: 0 for chrF, 2
	// for chrF++.
	WordOrder int
}

// The tools whose tokens TextOptions.Compat can take.
const (
	CompatSquad      = "squad"
	CompatRougeScore = "rouge_score"
	CompatSacrebleu  = "sacrebleu"
)

// The names of the options of the text metrics.
const (
	optTextCompat     = "compat"
	optVerbatim       = "verbatim"
	optStem           = "stem"
	optLevel          = "level"
	optTokenizer      = "tokenizer"
	optSmoothing      = "smoothing"
	optEffectiveOrder = "effective_order"
	optLowercase      = "lowercase"
	optWordOrder      = "word_order"
)

// textCompats tells which tool's tokens each text metric can take.
var textCompats = map[string]string{
	"exact_match": CompatSquad, "token_f1": CompatSquad, "rouge_l": CompatRougeScore,
	"bleu": CompatSacrebleu, "chrf": CompatSacrebleu,
}

// set takes one key of [metric.<name>].
func (o *TextOptions) set(key string, value any) error {
	switch key {
	case optVerbatim:
		return setBool(&o.Verbatim, value)
	case optStem:
		return setBool(&o.Stem, value)
	case optLowercase:
		return setBool(&o.Lowercase, value)
	case optEffectiveOrder:
		var effective bool
		err := setBool(&effective, value)
		o.FullOrder = !effective
		return err
	case optWordOrder:
		n, ok := value.(int64)
		if !ok || n < 0 || n > 2 {
			return fmt.Errorf("want 0, 1 or 2, got %v", value)
		}
		o.WordOrder = int(n)
		return nil
	}
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("want a text, got %v", value)
	}
	switch key {
	case optTextCompat:
		o.Compat = s
	case optLevel:
		o.Level = Level(s)
	case optTokenizer:
		o.Tokenizer = text.Tokenizer(s)
	case optSmoothing:
		o.Smoothing = Smoothing(s)
	}
	return nil
}

func setBool(to *bool, value any) error {
	b, ok := value.(bool)
	if !ok {
		return fmt.Errorf("want true or false, got %v", value)
	}
	*to = b
	return nil
}

// check reports a value that is not allowed. Only a text metric reads compat.
func (o TextOptions) check(metric string) error {
	if tool := textCompats[metric]; tool != "" {
		if err := oneOf(metric, optTextCompat, o.Compat, tool); err != nil {
			return err
		}
	}
	if err := oneOf(metric, optLevel, o.Level, LevelText, LevelSummary); err != nil {
		return err
	}
	if err := oneOf(metric, optTokenizer, o.Tokenizer, text.Tokenizers...); err != nil {
		return err
	}
	if o.WordOrder < 0 || o.WordOrder > 2 {
		return fmt.Errorf("set option %s of metric %s: want 0, 1 or 2, got %d", optWordOrder, metric, o.WordOrder)
	}
	return oneOf(metric, optSmoothing, o.Smoothing, SmoothExp, SmoothFloor, SmoothAddK, SmoothNone)
}

func (o TextOptions) withDefaults() TextOptions {
	if o.Level == "" {
		o.Level = LevelText
	}
	if o.Tokenizer == "" {
		o.Tokenizer = text.Tokenizer13a
	}
	if o.Smoothing == "" {
		o.Smoothing = SmoothExp
	}
	return o
}

// readsText reports whether the options of the family are TextOptions.
func (f Family) readsText() bool {
	return slices.Contains(f.Options, optTextCompat) && textCompats[f.Name] != ""
}
