package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

// chrfOrder is the length of the longest character n-grams of chrF.
const chrfOrder = 6

var chrfFamily = Family{
	Name: "chrf", CutOff: NoCutOff, Aliases: []string{"chrf2", "chrfscore"},
	Options: []string{optTextCompat, optLowercase, optWordOrder},
	build: func(_ int, opt Options) eval.Metric {
		m := chrf{TextOptions: opt.Text}
		return textMetric{
			info: newTextInfo("chrf",
				"5 x P x R / (4 x P + R), P and R = mean precision and recall of the character n-grams of length 1 to 6, white space aside, over the lengths that both texts have; word_order = 2 adds words and pairs of words (chrF++)",
				"How many character n-grams response and reference share, recall counting more (Popović, 2015; 2017; beta = 2). Forms of a word count in part, and it needs no word boundaries."+severalDoc),
			detailed: true,
			compare:  m.compare,
		}
	},
}

type chrf struct{ TextOptions }

func (m chrf) compare(_ context.Context, response, reference string) (textValue, error) {
	if m.Compat == "" {
		response, reference = text.Composed(response), text.Composed(reference)
	}
	if m.Lowercase {
		response, reference = text.Lower(response), text.Lower(reference)
	}
	var mean chrfMean
	var runes text.Symbols[rune]
	right := runes.Of(text.Runes(reference))
	if len(right) == 0 && m.Compat == "" {
		return textValue{none: true}, nil
	}
	mean.add(chrfOrder, runes.Of(text.Runes(response)), right)
	if m.WordOrder > 0 {
		var words text.Symbols[string]
		right := words.Of(text.WordsAndMarks(reference))
		mean.add(m.WordOrder, words.Of(text.WordsAndMarks(response)), right)
	}
	return mean.value(), nil
}

// chrfMean sums precision and recall over the lengths of n-gram that both
// texts have.
type chrfMean struct {
	precision, recall float64
	lengths           int
}

func (c *chrfMean) add(order int, response, reference []uint32) {
	grams := text.NewNGrams(order, response, reference)
	for n := 1; n <= order; n++ {
		if grams.Total(n) == 0 || grams.OtherTotal(0, n) == 0 {
			return
		}
		shared := grams.Shared(n)
		c.precision += ratio(shared, grams.Total(n))
		c.recall += ratio(shared, grams.OtherTotal(0, n))
		c.lengths++
	}
}

func (c *chrfMean) value() textValue {
	if c.lengths == 0 || c.precision+c.recall == 0 {
		return textValue{}
	}
	const beta2 = 4
	v := textValue{precision: c.precision / float64(c.lengths), recall: c.recall / float64(c.lengths)}
	v.value = (1 + beta2) * v.precision * v.recall / (beta2*v.precision + v.recall)
	return v
}
