package metrics

import (
	"context"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

var exactMatchFamily = Family{
	Name: "exact_match", CutOff: NoCutOff, Aliases: []string{"em", "exact"},
	Options: []string{optTextCompat, optVerbatim},
	build: func(_ int, opt Options) eval.Metric {
		tokens := answerTokens(opt.Text)
		m := textMetric{
			info: newTextInfo("exact_match",
				"1 if response and reference are the same after normalisation, else 0",
				"Whether the response is the reference answer: in lower case, without punctuation and articles, white space aside (SQuAD). Numbers lose their points too: 3.5 is 35. For short answers; verbatim = true compares as they stand."+severalDoc),
			counts: func(reference string) bool { return len(tokens(reference)) > 0 },
			compare: func(_ context.Context, response, reference string) (textValue, error) {
				return textValue{value: truth(slices.Equal(tokens(response), tokens(reference)))}, nil
			},
		}
		if opt.Text.Verbatim {
			m.info.Formula = "1 if response and reference are the same byte for byte, else 0"
			m.counts = nil
			m.compare = func(_ context.Context, response, reference string) (textValue, error) {
				return textValue{value: truth(response == reference)}, nil
			}
		}
		return m
	},
}

// answerTokens is the normalisation of exact_match and token_f1.
func answerTokens(o TextOptions) func(string) []string {
	if o.Compat == CompatSquad {
		return text.SquadTokens
	}
	return text.AnswerTokens
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
