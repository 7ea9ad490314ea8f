package judge_test

import (
	"context"
	"math"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// weighing replies with a rating and the alternatives of its token.
func weighing(content string, tokens ...llm.TokenLogprobs) llm.ClientFunc {
	return func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		r := &llm.Response{Content: content, FinishReason: llm.FinishStop}
		if req.TopLogprobs > 0 {
			r.Logprobs = &llm.Alternatives{Tokens: tokens}
		}
		return r, nil
	}
}

func alternatives(offset int, token string, p map[string]float64) llm.TokenLogprobs {
	t := llm.TokenLogprobs{Offset: offset, Token: token}
	for alt, v := range p {
		t.Top = append(t.Top, llm.Logprob{Token: alt, Logprob: math.Log(v)})
	}
	return t
}

// TestWeighted: the mean over all of the distribution that lies on the scale, and
// nothing of what doesn't.
func TestWeighted(t *testing.T) {
	const reply = `{"reason":"3 of 5 parts","rating":4}`
	at := len(`{"reason":"3 of 5 parts","rating":`)
	for name, c := range map[string]struct {
		content string
		tokens  []llm.TokenLogprobs
		want    float64 // NaN for none
	}{
		"certain":              {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"4": 1})}, 4},
		"two levels":           {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"4": 0.75, "5": 0.25})}, 4.25},
		"all of it":            {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"1": 0.1, "2": 0.1, "3": 0.2, "4": 0.4, "5": 0.2})}, 3.5},
		"the least counts too": {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"4": 0.999, "1": 0.001})}, 3.997},
		"off the scale":        {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"4": 0.3, "2": 0.1, "0": 0.2, "9": 0.2, "four": 0.1, "-1": 0.05, "4.": 0.05})}, 3.5},
		"several tokens":       {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"4": 0.4, " 4": 0.1, "3": 0.3, " 3": 0.2})}, 3.5},
		"not ten":              {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"4": 0.5, "10": 0.5})}, 4},
		"token with more":      {`{"reason":"x","rating": 4}`, []llm.TokenLogprobs{alternatives(len(`{"reason":"x","rating":`), " 4", map[string]float64{" 4": 0.5, " 2": 0.5})}, 3},
		"a number in the reason first": {reply, []llm.TokenLogprobs{
			alternatives(len(`{"reason":"`), "3", map[string]float64{"3": 0.5, "1": 0.5}), alternatives(at, "4", map[string]float64{"4": 0.5, "5": 0.5})}, 4.5},
		"of another token":      {reply, []llm.TokenLogprobs{alternatives(3, "4", map[string]float64{"4": 1})}, math.NaN()},
		"without what was said": {reply, []llm.TokenLogprobs{alternatives(at, "4", map[string]float64{"1": 0.5, "2": 0.5})}, math.NaN()},
		"none":                  {reply, nil, math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			j := judge.New(judge.Config{Client: weighing(c.content, c.tokens...)})
			ask := judge.Ask{Prompt: "answer_relevance/rubric", UserInput: "q", Response: "r", Min: 1, Max: 5, Weighted: true}
			r, err := j.Rate(t.Context(), ask)
			if err != nil || r.Rating != 4 {
				t.Fatal(r, err)
			}
			switch {
			case math.IsNaN(c.want) != (r.Weighted == nil):
				t.Errorf("weighted is %v, want %v", r.Weighted, c.want)
			case r.Weighted != nil && math.Abs(*r.Weighted-c.want) > 1e-9:
				t.Errorf("weighted is %v, want %v", *r.Weighted, c.want)
			}
			ask.Weighted = false
			if r, err = j.Rate(t.Context(), ask); err != nil || r.Weighted != nil {
				t.Errorf("weighted without being asked: %v, %v", r.Weighted, err)
			}
		})
	}
}
