package metrics

import (
	"context"
	"math"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

// bleuOrder is the length of the longest n-grams of BLEU.
const bleuOrder = 4

var bleuFamily = Family{
	Name: "bleu", CutOff: NoCutOff, Aliases: []string{"bleuscore", "sentencebleu", "bleu4", "sacrebleu"},
	Options: []string{optTextCompat, optTokenizer, optSmoothing, optEffectiveOrder, optLowercase},
	build: func(_ int, opt Options) eval.Metric {
		return bleu{
			TextOptions: opt.Text,
			info: newTextInfo("bleu",
				"min(1, e^(1 - r/c)) x geometric mean of the precisions of the token n-grams of length 1 to 4 (as far as the response is long enough), c = tokens of the response, r = tokens of the reference",
				"Which n-grams of the response stand in the reference, with a penalty if it is shorter (Papineni et al., 2002): sacrebleu's sentence BLEU as a share of 1. Made for corpora; of a single short text it says little, and the mean over samples is not a corpus BLEU. With several references an n-gram may stand in any of them, and r is the length nearest to c."),
		}
	},
}

// BLEUDetail is the detail of bleu.
type BLEUDetail struct {
	// Precisions are those of the n-grams of length 1 to 4 after smoothing,
	// each 0..1; orders that were not reached are 0.
	Precisions [bleuOrder]float64 `json:"precisions"`
	// BrevityPenalty is the factor for a response shorter than the reference.
	BrevityPenalty float64 `json:"brevity_penalty"`
	// ResponseTokens and ReferenceTokens are c and r of the formula.
	ResponseTokens  int `json:"response_tokens"`
	ReferenceTokens int `json:"reference_tokens"`
}

type bleu struct {
	TextOptions
	info eval.Info
}

// Info describes the metric.
func (m bleu) Info() eval.Info { return m.info }

// Score compares the response with all references. Its error is always nil.
func (m bleu) Score(_ context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f).Of(m.info), nil
	}
	var symbols text.Symbols[string]
	response := symbols.Of(m.tokens(s.Response))
	var references [][]uint32
	for _, r := range s.References() {
		if ids := symbols.Of(m.tokens(r)); len(ids) > 0 || m.Compat != "" {
			references = append(references, ids)
		}
	}
	if len(references) == 0 {
		return eval.Without(eval.Undefined, reasonNothingToCompare).Of(m.info), nil
	}
	value, detail := m.value(response, references)
	return eval.Value(value).WithDetail(detail).Of(m.info), nil
}

func (m bleu) tokens(s string) []string {
	if m.Lowercase {
		s = text.Lower(s)
	}
	if m.Compat != "" {
		return m.Tokenizer.Tokens(s)
	}
	return m.Tokenizer.UnicodeTokens(s)
}

func (m bleu) value(response []uint32, references [][]uint32) (float64, BLEUDetail) {
	grams := text.NewNGrams(bleuOrder, response, references...)
	d := BLEUDetail{BrevityPenalty: 1, ResponseTokens: len(response), ReferenceTokens: nearestLength(len(response), references)}
	if c, r := float64(len(response)), float64(d.ReferenceTokens); c < r {
		d.BrevityPenalty = math.Exp(1 - r/c) // 0 for an empty response
	}
	found := false
	orders, half := bleuOrder, 1.0
	sum := 0.0
	for n := 1; n <= bleuOrder; n++ {
		shared, total := float64(grams.Shared(n)), float64(grams.Total(n))
		found = found || shared > 0
		if n > 1 && m.Smoothing == SmoothAddK {
			shared, total = shared+1, total+1
		}
		if total == 0 {
			break
		}
		if !m.FullOrder {
			orders = n
		}
		if shared == 0 {
			switch m.Smoothing {
			case SmoothExp:
				half /= 2
				shared = half
			case SmoothFloor:
				shared = 0.1
			}
		}
		d.Precisions[n-1] = shared / total
	}
	if !found {
		d.Precisions = [bleuOrder]float64{}
		return 0, d
	}
	for _, p := range d.Precisions[:orders] {
		sum += math.Log(p) // minus infinity for 0, which makes the score 0
	}
	return min(1, d.BrevityPenalty*math.Exp(sum/float64(orders))), d
}

// nearestLength is the length nearest to n, the shorter of two.
func nearestLength(n int, references [][]uint32) int {
	best, distance := 0, math.MaxInt
	for _, r := range references {
		d := max(n-len(r), len(r)-n)
		if d < distance || d == distance && len(r) < best {
			best, distance = len(r), d
		}
	}
	return best
}
