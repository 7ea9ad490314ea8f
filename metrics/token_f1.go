package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
)

var tokenF1Family = Family{
	Name: "token_f1", CutOff: NoCutOff, Aliases: []string{"squadf1", "answerf1", "wordf1"},
	Options: []string{optTextCompat},
	build: func(_ int, opt Options) eval.Metric {
		tokens := answerTokens(opt.Text)
		return textMetric{
			info: newTextInfo("token_f1",
				"2 x P x R / (P + R), P = common tokens / tokens of the response, R = common tokens / tokens of the reference, a token counting as often as both have it; where one has no tokens: 1 if neither has, else 0",
				"How many words response and reference share, whatever their order (SQuAD: lower case, without punctuation and articles). A negation costs one word."+severalDoc),
			detailed: true,
			counts:   func(reference string) bool { return len(tokens(reference)) > 0 },
			compare: func(_ context.Context, response, reference string) (textValue, error) {
				return tokenF1(tokens(response), tokens(reference)), nil
			},
		}
	},
}

func tokenF1(response, reference []string) textValue {
	if len(response) == 0 || len(reference) == 0 {
		same := truth(len(response) == len(reference))
		return textValue{value: same, precision: same, recall: same}
	}
	left := make(map[string]int, len(reference))
	for _, t := range reference {
		left[t]++
	}
	common := 0
	for _, t := range response {
		if left[t] > 0 {
			left[t]--
			common++
		}
	}
	return overlap(common, len(response), len(reference))
}
