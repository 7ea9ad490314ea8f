package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

// Reasons of the metrics that compare texts.
const (
	reasonNothingToCompare = "no_reference_words: the reference holds nothing to compare with"
	reasonTextsTooLong     = "too_long: response and reference are too long to be compared"
)

// textNeeds are the fields of every metric that compares texts.
var textNeeds = []eval.Field{eval.FieldResponse, eval.FieldReference}

// severalDoc is what these metrics do where a sample has several references.
const severalDoc = " Of several references the best counts."

// OverlapDetail is the detail of token_f1 and rouge_l.
type OverlapDetail struct {
	// Precision is the share of the response's tokens that are found, Recall
	// that of the reference's, each 0..1.
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	// Reference is the number, from 1, of the reference that counted, where
	// the sample has several.
	Reference int `json:"reference,omitempty"`
}

// textValue is what a comparison with one reference gives.
type textValue struct {
	value, precision, recall float64
	// none: there is nothing in the reference to compare with, and no
	// convention says what that is worth.
	none bool
}

// textMetric compares the response with each reference and takes the best.
type textMetric struct {
	info eval.Info
	// compare is the formula. An error is text.ErrTooLong or that of the
	// context.
	compare func(ctx context.Context, response, reference string) (textValue, error)
	// counts tells which references count, where not all do.
	counts func(reference string) bool
	// detailed: the score has an OverlapDetail.
	detailed bool
}

func newTextInfo(name, formula, doc string) eval.Info {
	doc += fmt.Sprintf(" For every script; compat = %q gives the tokens of that tool to the letter.", textCompats[name])
	return eval.Info{Name: name, Version: 1, Needs: textNeeds, Calls: "none", Formula: formula, Doc: doc}
}

// Info describes the metric.
func (m textMetric) Info() eval.Info { return m.info }

// Score compares texts. Its error is that of the context.
func (m textMetric) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f).Of(m.info), nil
	}
	best, which, err := m.best(ctx, s.Response, s.References())
	switch {
	case errors.Is(err, text.ErrTooLong):
		return eval.Without(eval.Undefined, reasonTextsTooLong).Of(m.info), nil
	case err != nil:
		return eval.Score{}, fmt.Errorf("score %s: %w", m.info.Name, err)
	case best.none:
		return eval.Without(eval.Undefined, reasonNothingToCompare).Of(m.info), nil
	}
	score := eval.Value(best.value)
	if m.detailed {
		score = score.WithDetail(OverlapDetail{best.precision, best.recall, which})
	}
	return score.Of(m.info), nil
}

// best is the first reference with the highest value, and its number from 1,
// or 0 if there is only one.
func (m textMetric) best(ctx context.Context, response string, references []string) (textValue, int, error) {
	best, which := textValue{none: true}, 0
	some := m.counts != nil && slices.ContainsFunc(references, m.counts)
	for i, r := range references {
		if some && !m.counts(r) {
			continue
		}
		v, err := m.compare(ctx, response, r)
		if err != nil {
			return textValue{}, 0, err
		}
		if !v.none && (best.none || v.value > best.value) {
			best, which = v, i+1
		}
	}
	if len(references) == 1 {
		which = 0
	}
	return best, which, nil
}

// overlap makes precision, recall and their harmonic mean of a number of
// common tokens.
func overlap(common, response, reference int) textValue {
	v := textValue{precision: ratio(common, response), recall: ratio(common, reference)}
	if common > 0 {
		v.value = 2 * v.precision * v.recall / (v.precision + v.recall)
	}
	return v
}
