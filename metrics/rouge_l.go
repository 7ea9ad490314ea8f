package metrics

import (
	"context"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

var rougeLFamily = Family{
	Name: "rouge_l", CutOff: NoCutOff, Aliases: []string{"rougescore"},
	Options: []string{optTextCompat, optStem, optLevel},
	build:   func(_ int, opt Options) eval.Metric { return newRougeL(opt.Text, text.LCSWork) },
}

func newRougeL(opt TextOptions, work int64) textMetric {
	m := rougeL{opt, work}
	formula := "2 x P x R / (P + R), P = L / tokens of the response, R = L / tokens of the reference, L = length of their longest common subsequence of tokens"
	if opt.Level == LevelSummary {
		formula = "2 x P x R / (P + R), P = L / tokens of the response, R = L / tokens of the reference, L = tokens of the reference's lines that lie on a longest common subsequence with any line of the response"
	}
	return textMetric{
		info: newTextInfo("rouge_l", formula,
			"How much response and reference say in the same words and the same order, with anything between them (Lin, 2004). A long response to a short reference scores low however right it is."+severalDoc),
		detailed: true,
		compare:  m.compare,
	}
}

type rougeL struct {
	TextOptions
	work int64 // see text.LCSWork
}

func (m rougeL) tokens(s string) []string {
	if m.Compat == CompatRougeScore {
		return text.RougeScoreTokens(s, m.Stem)
	}
	return text.RougeTokens(s, m.Stem)
}

func (m rougeL) compare(ctx context.Context, response, reference string) (textValue, error) {
	var symbols text.Symbols[string]
	lcs := text.NewLCS(ctx, m.work)
	lines := func(s string) (out [][]uint32, n int) {
		parts := []string{s}
		if m.Level == LevelSummary {
			parts = strings.Split(s, "\n")
		}
		for _, p := range parts {
			if ids := symbols.Of(m.tokens(p)); len(ids) > 0 {
				out = append(out, ids)
				n += len(ids)
			}
		}
		return out, n
	}
	right, inReference := lines(reference)
	left, inResponse := lines(response)
	if inReference == 0 && m.Compat == "" {
		return textValue{none: true}, nil
	}
	if inReference == 0 || inResponse == 0 {
		return textValue{}, nil
	}
	var common int
	var err error
	if m.Level == LevelSummary {
		common, err = lcs.UnionLength(right, left)
	} else {
		common, err = lcs.Length(right[0], left[0])
	}
	return overlap(common, inResponse, inReference), err
}
