package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// The ends of the scale of answer_relevance.
const (
	relevanceMin = 1
	relevanceMax = 5
)

var answerRelevanceFamily = Family{
	Name: "answer_relevance", CutOff: NoCutOff, Judged: true, Options: []string{optMode, optCompat, optUndecided},
	Aliases: []string{"answerrelevancy", "responserelevancy", "responserelevance"},
	Modes:   []Mode{ModeRubric, ModeStatements, ModeQuestions}, Compats: []Compat{CompatRagas, CompatDeepEval},
	embeds: func(opt Options) bool { return opt.relevanceMode() == ModeQuestions },
	build: func(_ int, opt Options) eval.Metric {
		switch opt.relevanceMode() {
		case ModeStatements:
			return newRelevantStatements(opt)
		case ModeQuestions:
			return newRelevantQuestions(opt)
		}
		return answerRelevance{panel: opt.panel()}
	},
}

// RatingDetail is the detail of answer_relevance.
type RatingDetail struct {
	// Rating is the judge's own, 1 to 5; or 1 without a call for a response that
	// says nothing or copies the question.
	Rating int `json:"rating"`
	// Reason is the judge's own, as it came.
	Reason string `json:"reason,omitempty"`
	// Weighted is the mean of the levels by their probabilities, where the metric
	// asks for it and the endpoint tells them.
	Weighted *float64 `json:"weighted,omitempty"`
}

type answerRelevance struct{ panel Panel }

// Info describes the metric.
func (answerRelevance) Info() eval.Info {
	return eval.Info{
		Name: "answer_relevance", Version: 1, Judged: true,
		Needs:   []eval.Field{eval.FieldUserInput, eval.FieldResponse},
		Calls:   "1",
		Asks:    []string{"response against the question: rating"},
		Formula: "(rating - 1) / 4, the rating being 1 to 5",
		Doc:     "How directly the response answers the question. A low score means that it evades, digresses or answers something else; whether what it says is true is not its matter. The rating is kept and its mean reported. A response that says nothing (punctuation, markup, citation marks or ornaments alone) or that only gives the question back is 0 without a call. mode = \"statements\" splits the response and gives the share of its statements that are relevant (2 calls, the split shared with faithfulness); mode = \"questions\" compares the question with questions that the response answers (1 call and one for embeddings).",
	}
}

// relevanceMode is the mode of answer_relevance: each peer's formula has its own.
func (o Options) relevanceMode() Mode {
	switch o.Compat {
	case CompatDeepEval:
		return ModeStatements
	case CompatRagas:
		return ModeQuestions
	}
	return o.Mode
}

// Score asks the judge once.
func (m answerRelevance) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.Info()), err
}

func (m answerRelevance) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.Info().Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	if why := settled(s.UserInput, s.Response); why != "" {
		return eval.Value(0).Because(why).WithDetail(RatingDetail{Rating: relevanceMin}), nil
	}
	return m.panel.rating(ctx, judge.Ask{
		Metric: "answer_relevance", Prompt: "answer_relevance/rubric", UserInput: s.UserInput, Response: s.Response,
		Min: relevanceMin, Max: relevanceMax,
	}, func(rating int) float64 { return float64(rating-relevanceMin) / (relevanceMax - relevanceMin) })
}
