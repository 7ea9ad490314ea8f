package llm

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// MaxTopLogprobs is the most alternatives that servers give for a token.
const MaxTopLogprobs = 20

// fewLogprobs is what is asked for where a server refuses more: several give
// five.
const fewLogprobs = 5

// noLogprobs is the value of Form.TopLogprobs for a server that gives none.
const noLogprobs = -1

// Alternatives are what else the model could have said in a reply.
type Alternatives struct {
	Tokens []TokenLogprobs `json:"tokens"`
}

// TokenLogprobs are the alternatives of one token of a reply.
type TokenLogprobs struct {
	// Offset is where the token begins in Response.Content, in bytes.
	Offset int `json:"offset"`
	// Token is the token itself.
	Token string `json:"token"`
	// Top are the likeliest tokens in its place, with the natural logarithms of
	// their probabilities.
	Top []Logprob `json:"top"`
}

// Logprob is a token with the natural logarithm of its probability.
type Logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// rawLogprobs is how servers give them.
type rawLogprobs struct {
	Content []struct {
		Token string `json:"token"`
		Top   []struct {
			Token   string   `json:"token"`
			Logprob *float64 `json:"logprob"`
		} `json:"top_logprobs"`
	} `json:"content"`
}

// logprobsOf reads the alternatives of every token. It returns nil unless the
// tokens are the content, from its beginning to its end: else nobody could say
// where one stands.
func logprobsOf(raw json.RawMessage, content string) *Alternatives {
	var r rawLogprobs
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil {
		return nil
	}
	var all []TokenLogprobs
	at := 0
	for _, t := range r.Content {
		if at == len(content) {
			break // the mark of the end, which some servers give too
		}
		if !strings.HasPrefix(content[at:], t.Token) {
			return nil
		}
		one := TokenLogprobs{Offset: at, Token: t.Token}
		for _, alt := range t.Top {
			// A probability of 0 may come as minus infinity, which is no JSON, or as a
			// very small number.
			if alt.Logprob != nil && !math.IsNaN(*alt.Logprob) && *alt.Logprob <= 1e-6 {
				one.Top = append(one.Top, Logprob{alt.Token, min(*alt.Logprob, 0)})
			}
		}
		all = append(all, one)
		at += len(t.Token)
	}
	if at < len(content) || len(all) == 0 {
		return nil
	}
	return &Alternatives{all}
}

// keepLogprobs leaves those of the tokens that are of use to the caller: those
// that hold one of the words. The rest would be most of a kept reply.
func keepLogprobs(all *Alternatives, words []string) *Alternatives {
	if all == nil || len(words) == 0 {
		return all
	}
	out := &Alternatives{}
	for _, t := range all.Tokens {
		if len(t.Top) > 0 && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t.Token, w) }) {
			out.Tokens = append(out.Tokens, t)
		}
	}
	return out
}

// topLogprobs is how many alternatives are asked for; 0 for none.
func (f form) topLogprobs(req *Request) int {
	switch {
	case f.TopLogprobs == noLogprobs:
		return 0
	case f.TopLogprobs > 0:
		return min(req.TopLogprobs, f.TopLogprobs)
	}
	return req.TopLogprobs
}
