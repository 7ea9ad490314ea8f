package judge_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// TestEmbedder: one request for all texts, attributed and free of all that shapes
// a chat; a reply that isn't their vectors is not kept and no answer.
func TestEmbedder(t *testing.T) {
	for content, want := range map[string][][]float32{
		"[[1,0],[0,1]]": {{1, 0}, {0, 1}}, "[[1,0]]": nil, "[[1,0],[0]]": nil, "ok": nil, "": nil, "[[],[]]": nil, "[[1e99],[1]]": nil,
	} {
		s := &script{t: t, replies: []any{content}}
		e := &judge.Embedder{Client: s, Endpoint: "at", Model: "e-1", Name: "embeddings"}
		got, err := e.Embed(t.Context(), "semantic_similarity", []string{"a", "b"})
		if (err == nil) != (want != nil) || !cmp.Equal(got, want) || s.stored[0] != (want != nil) {
			t.Errorf("%q gave %v, %v, kept %v", content, got, err, s.stored)
		}
		if err != nil {
			unusable(t, err, judge.CodeUndecodable)
		}
		req := s.got[0]
		if !cmp.Equal(req.Embed, []string{"a", "b"}) || req.Messages != nil || req.Schema != nil || req.MaxTokens != 0 || req.Temperature != nil ||
			req.Tag != (llm.Tag{Metric: "semantic_similarity", Step: judge.StepEmbed, Judge: "embeddings"}) || req.Model != "e-1" || req.Endpoint != "at" {
			t.Errorf("asked %+v", req)
		}
	}
	down := &llm.Error{Kind: llm.Transient, Code: "timeout"}
	e := &judge.Embedder{Client: llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) { return nil, down })}
	if _, err := e.Embed(t.Context(), "m", []string{"a"}); !errors.Is(err, down) {
		t.Errorf("the client's error became %v", err)
	}
	if got, err := e.Embed(t.Context(), "m", nil); got != nil || err != nil {
		t.Errorf("no text gave %v, %v", got, err)
	}
}

// TestLexicalVectors: the same words are near each other whatever their order,
// form and case; other words are not. Vectors are of length 1, and the same
// everywhere.
func TestLexicalVectors(t *testing.T) {
	e := &judge.Embedder{Client: judge.Lexical{}}
	texts := []string{
		"Cover starts in May 2024.", "In May 2024 the COVER starts!", "Dogs bark at night.", "", "It is so.", "保険は五月に始まります。", "Cover starts in May 2024. Dogs bark.",
	}
	v, err := e.Embed(t.Context(), "m", texts)
	if err != nil {
		t.Fatal(err)
	}
	cos := func(a, b int) float64 {
		dot, aa, bb := 0.0, 0.0, 0.0
		for i := range v[a] {
			x, y := float64(v[a][i]), float64(v[b][i])
			dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
		}
		return dot / math.Sqrt(aa*bb)
	}
	if same, other, part := cos(0, 1), cos(0, 2), cos(0, 6); same < 0.99 || math.Abs(other) > 0.3 || part < 0.6 || part > 0.95 {
		t.Errorf("same words %v, other words %v, some words %v", same, other, part)
	}
	for i, text := range texts {
		sum := 0.0
		for _, x := range v[i] {
			sum += float64(x) * float64(x)
		}
		if want := map[bool]float64{true: 0, false: 1}[text == ""]; math.Abs(sum-want) > 1e-6 {
			t.Errorf("%q has a vector of length %v", text, math.Sqrt(sum))
		}
	}
	again, err := e.Embed(t.Context(), "m", texts)
	if err != nil || !cmp.Equal(v, again) {
		t.Errorf("another time: %v", err)
	}
}
