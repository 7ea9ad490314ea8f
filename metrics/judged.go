package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/text"
)

// The reasons of scores that are settled without a call, or without a formula.
const (
	reasonNoContexts = "no_contexts"
	reasonNoClaims   = "no_claims"
	reasonNoWords    = "no_words"
	reasonCopied     = "copied_question"
)

// settled tells whether a text needs no judge, because it says nothing
// (no_words) or only gives the question back (copied_question), and why; ""
// for any other. It is the one place where that is decided. What follows from
// it is the metric's: an answer that is none is not relevant, makes no claim,
// and can't be what chunks are held against.
func settled(question, s string) string {
	switch {
	case text.SaysNothing(s):
		return reasonNoWords
	case text.CopiesQuestion(question, s):
		return reasonCopied
	}
	return ""
}

// promptSplit is the template by which any text is split into claims. All
// metrics use the same one, so that the same text is split once.
const promptSplit = "claims/split"

// ClaimsDetail is the detail of a score over claims.
type ClaimsDetail struct {
	// Claims are the claims with their verdicts, in the order of the text. The
	// score's denominator is their number. With several judges the verdict is the
	// majority's, or VerdictSplit.
	Claims []judge.Verdict `json:"claims"`
	// Bounds are those of the score where several judges left it open.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// ReplyDetail is the detail of an unscored score: the reply that could not be
// used, cut to a readable length.
type ReplyDetail struct {
	Reply string `json:"reply"`
	// Claims are those that were asked about, where the reply was to verdicts.
	Claims []string `json:"claims,omitempty"`
}

// noContexts reports that nothing was retrieved, or nothing with any text.
func noContexts(s *eval.Sample) bool {
	for _, c := range s.RetrievedContexts {
		if strings.TrimSpace(c) != "" {
			return false
		}
	}
	return true
}

// unjudged turns what a judge gave in place of verdicts into a score, or into
// the error that stops the run. It is the one place where that is decided.
func unjudged(ctx context.Context, err error, claims []string) (eval.Score, error) {
	if e := llm.AsError(err); ctx.Err() != nil && (e == nil || !e.Kind.StopsRun()) {
		return eval.Score{}, ctx.Err() // a call that was broken off has not failed
	}
	var unusable *judge.UnusableError
	if errors.As(err, &unusable) {
		return eval.Without(eval.Unscored, "%s: %s", unusable.Code, unusable.Message).
			WithDetail(ReplyDetail{Reply: unusable.Reply, Claims: claims}), nil
	}
	if llm.StopsRun(err) {
		return eval.Score{}, err
	}
	e := llm.AsError(err)
	if e.Code == llm.CodePromptTruncated { // the judge has answered, to a part of what it was asked
		return eval.Without(eval.Unscored, "%v", e), nil
	}
	return eval.Without(eval.Failed, "%s: %v", e.Kind, e), nil
}

// complete holds a Judge to its contract: a verdict for each item. Another
// number would make another denominator.
func complete(verdicts []judge.Verdict, items []string) error {
	if len(verdicts) != len(items) {
		return fmt.Errorf("score: the judge gave %d verdicts on %d items, against its contract", len(verdicts), len(items))
	}
	return nil
}

// claimCheck is what faithfulness and context_recall have in common: a text is
// split into claims, and each is held against the contexts.
type claimCheck struct {
	info     eval.Info
	panel    Panel
	noClaims NoClaims
	prompt   string
	labels   []string
	// counting are labels in another order, of which the first positive count, for
	// a peer's formula; nil for the first of labels alone.
	counting []string
	positive int
	text     func(*eval.Sample) string
}

// Info describes the metric.
func (m claimCheck) Info() eval.Info { return m.info }

// Score asks the judge twice: for the claims, and for a verdict on each.
func (m claimCheck) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.info), err
}

func (m claimCheck) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	if noContexts(s) {
		return eval.Value(0).Because(reasonNoContexts), nil
	}
	ask := judge.Ask{Metric: m.info.Name, Prompt: promptSplit, Text: m.text(s)}
	if why := settled(s.UserInput, ask.Text); why != "" {
		return m.none(why), nil
	}
	claims, err := m.panel.claims(ctx, ask)
	if err != nil {
		return unjudged(ctx, err, nil)
	}
	if len(claims) == 0 {
		return m.none(""), nil
	}
	labels := m.labels
	if m.counting != nil {
		labels = m.counting
	}
	formula := shareFormula(labels, func(v []judge.Verdict, b *Bounds) any { return ClaimsDetail{Claims: v, Bounds: b} })
	formula.positive = m.positive
	return m.panel.verdicts(ctx, claims, claims, formula, func(ctx context.Context, j Judge) ([]judge.Verdict, error) {
		return j.Verdicts(ctx, judge.Ask{
			Metric: m.info.Name, Prompt: m.prompt, UserInput: s.UserInput, Response: s.Response, Reference: s.Reference,
			Contexts: s.RetrievedContexts, Items: claims, Labels: m.labels,
		})
	})
}

// none is the score of a text that makes no claim; why says how that was known
// without a call.
func (m claimCheck) none(why string) eval.Score {
	detail := ClaimsDetail{Claims: []judge.Verdict{}}
	reason := reasonNoClaims
	if why != "" {
		reason += ": " + why
	}
	return byPolicy(m.noClaims, reason).WithDetail(detail)
}
