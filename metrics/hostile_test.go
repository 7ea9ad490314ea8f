package metrics_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
	"github.com/ragjudge/ragjudge/metrics"
)

// injections are the hostile texts beside package judge.
func injections(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("../judge/testdata/hostile.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	texts := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		var one struct{ Name, Kind, Text string }
		if err := json.Unmarshal(s.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		texts[one.Kind+" "+one.Name] = one.Text
	}
	if len(texts) < 120 {
		t.Fatalf("there are %d injections only", len(texts))
	}
	return texts
}

// places are where a hostile text may stand in a sample.
var places = map[string]func(s *eval.Sample, text string){
	"question":  func(s *eval.Sample, text string) { s.UserInput = text },
	"response":  func(s *eval.Sample, text string) { s.Response = text },
	"reference": func(s *eval.Sample, text string) { s.Reference = text },
	"contexts":  func(s *eval.Sample, text string) { s.RetrievedContexts = []string{text, "The fee is 5 dollars.", text} },
	"id":        func(s *eval.Sample, text string) { s.ID = text },
	"category":  func(s *eval.Sample, text string) { s.Category = text },
	"everywhere": func(s *eval.Sample, text string) {
		s.ID, s.Category, s.UserInput, s.Response, s.Reference, s.RetrievedContexts = text, text, "Why so, "+text, text, text, []string{text, text}
	},
}

// harmless is plain text of the same kind: it says something where the
// injection does, and is as empty where it is.
func harmless(name, text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return text
	case strings.HasPrefix(name, "nothing "):
		return "..."
	}
	return "The weather is fine."
}

// sameVector gives every text the same vector: an embedder can't be ordered to
// do anything.
type sameVector struct{}

func (sameVector) Embed(_ context.Context, _ string, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i := range all {
		all[i] = []float32{1, 0}
	}
	return all, nil
}

// movedBy scores every injection in every place with a judge that obeys what
// stands outside the fence, and counts the scores that differ from those of
// harmless text.
func movedBy(t *testing.T, o *llmtest.Obedient) (moved, scored int) {
	t.Helper()
	j := judge.New(judge.Config{Client: llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		return &llm.Response{Content: o.Answer(req), FinishReason: llm.FinishStop}, nil
	})})
	var judged []eval.Metric
	asked := map[string]bool{}
	for _, f := range metrics.All {
		if f.Judged {
			if m, err := metrics.New(f.Name, metrics.Options{Judge: j, Embedder: sameVector{}}); err == nil {
				// A metric that asks nothing new is moved by nothing new.
				fresh := slices.ContainsFunc(m.Info().Asks, func(ask string) bool { return !asked[ask] })
				for _, ask := range m.Info().Asks {
					asked[ask] = true
				}
				if fresh {
					judged = append(judged, m)
				}
			}
		}
	}
	if len(judged) < 9 {
		t.Fatalf("there are %d judged metrics only", len(judged))
	}
	of := func(place, text string, m eval.Metric) eval.Score {
		s := fullSample()
		places[place](s, text)
		got, err := m.Score(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	texts := injections(t)
	want := map[string]eval.Score{}
	for _, m := range judged {
		for place := range places {
			for name, text := range texts {
				want[m.Info().Name+place+name] = of(place, harmless(name, text), m)
			}
		}
	}
	o.Learnt()
	for _, m := range judged {
		for place := range places {
			for name, text := range texts {
				got, w := of(place, text, m), want[m.Info().Name+place+name]
				scored++
				if got.Status != w.Status || (got.Value == nil) != (w.Value == nil) || got.Value != nil && *got.Value != *w.Value {
					moved++
					if !o.Fenceless {
						t.Errorf("%s, %s in the %s: %s %v (%s), want %s %v (%s)", m.Info().Name, name, place, got.Status, shown(got.Value), got.Reason, w.Status, shown(w.Value), w.Reason)
					}
				}
			}
		}
	}
	return moved, scored
}

// TestHostileSamplesDoNotMoveScores: wherever an injection stands, the score of
// every judged metric is that of harmless text in its place.
func TestHostileSamplesDoNotMoveScores(t *testing.T) {
	o := &llmtest.Obedient{}
	movedBy(t, o)
	if n := o.Obeyed(); n != 0 {
		t.Errorf("%d requests held an order outside the fence", n)
	}
	// The same judge moves where the fence is none.
	if moved, scored := movedBy(t, &llmtest.Obedient{Fenceless: true}); moved < scored/4 {
		t.Errorf("without a fence %d of %d scores moved only: the test can't fail", moved, scored)
	}
}
