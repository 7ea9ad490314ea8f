package metrics

import (
	"context"
	"math"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// reasonNoncommittal: the response commits itself to no answer.
const reasonNoncommittal = "noncommittal"

// questionsAsked is how many questions are written for a response.
const questionsAsked = 3

// QuestionsDetail is the detail of answer_relevance by questions.
type QuestionsDetail struct {
	// Questions are those that the response answers, with how similar each is to
	// the question that was asked: the cosine, -1 to 1.
	Questions []QuestionSimilarity `json:"questions"`
}

// QuestionSimilarity is a question with its cosine.
type QuestionSimilarity struct {
	Question string  `json:"question"`
	Cosine   float64 `json:"cosine"`
}

// relevantQuestions is answer_relevance by questions that the response answers.
type relevantQuestions struct {
	info     eval.Info
	panel    Panel
	embedder Embedder
	compat   Compat
}

func newRelevantQuestions(opt Options) eval.Metric {
	m := relevantQuestions{panel: opt.panel(), embedder: opt.Embedder, compat: opt.Compat, info: eval.Info{
		Name: "answer_relevance", Version: 1, Judged: true, Note: compatNote(opt.Compat),
		Needs:   []eval.Field{eval.FieldUserInput, eval.FieldResponse},
		Calls:   "2: three questions that the response answers, and one call for embeddings",
		Asks:    []string{"questions that the response answers", "embeddings of the question and of those"},
		Formula: "mean of max(0, cosine) of the question with each of three questions that the response answers; 0 where it commits itself to no answer",
		Doc:     "How close what was asked is to what the response answers. A low score means that it answers something else. What number is high hangs on the embedding model: compare values of one model only. A response without an answer (\"I don't know\") is 0; so is one that says nothing or only gives the question back, without a call. With several judges the first one writes the questions.",
	}}
	if opt.Compat == CompatRagas {
		m.info.Formula = "mean cosine of the question with each of three questions that the response answers; 0 where it commits itself to no answer. It may lie below 0"
	}
	return m
}

// Info describes the metric.
func (m relevantQuestions) Info() eval.Info { return m.info }

// Score asks for the questions, and for the vectors of them all.
func (m relevantQuestions) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.info), err
}

func (m relevantQuestions) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f), nil
	}
	none := QuestionsDetail{Questions: []QuestionSimilarity{}}
	if why := settled(s.UserInput, s.Response); why != "" {
		return eval.Value(0).Because(why).WithDetail(none), nil
	}
	questions, err := m.panel.claims(ctx, judge.Ask{
		Metric: m.info.Name, Prompt: "answer_relevance/questions", Text: s.Response, List: judge.ListQuestions, Count: questionsAsked,
	})
	if err != nil {
		return unjudged(ctx, err, nil)
	}
	if len(questions) == 0 {
		return eval.Value(0).Because(reasonNoncommittal).WithDetail(none), nil
	}
	vectors, err := m.embedder.Embed(ctx, m.info.Name, append([]string{s.UserInput}, questions...))
	if err != nil {
		return unjudged(ctx, err, nil)
	}
	d, sum := QuestionsDetail{}, 0.0
	for i, q := range questions {
		c := cosine(vectors[0], vectors[i+1])
		if math.IsNaN(c) {
			return eval.Without(eval.Undefined, "%s", reasonZeroVector), nil
		}
		d.Questions = append(d.Questions, QuestionSimilarity{q, c})
		if m.compat == "" {
			c = max(c, 0)
		}
		sum += c
	}
	return eval.Value(sum / float64(len(questions))).WithDetail(d), nil
}
