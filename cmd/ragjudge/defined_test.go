package main

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/prompts"
)

// TestReplyForms: what examples and labels are held against is what the metrics
// ask for. Every judged metric is asked over the offline judge, and the labels
// and scales of its requests are compared.
func TestReplyForms(t *testing.T) {
	set := prompts.Default()
	forms := replyForms(nil)
	var mu sync.Mutex
	seen := map[string]bool{}
	client := llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		if req.Schema != nil {
			name := templateOf(set, req)
			labels := judge.Labels(req.Schema)
			lo, hi, _ := judge.Scale(req.Schema)
			mu.Lock()
			defer mu.Unlock()
			if f, ok := forms[name]; ok {
				seen[name] = true
				if d := cmp.Diff(prompts.Form{Labels: labels, Min: lo, Max: hi}, f); d != "" {
					t.Errorf("%s: asked (-), and known for examples (+):\n%s", name, d)
				}
			} else if labels != nil {
				t.Errorf("%s asks for %q, and its examples are not checked for that", name, labels)
			}
		}
		return judge.Lexical{}.Complete(ctx, req)
	})
	j := judge.New(judge.Config{Client: client, Prompts: set})
	s := &eval.Sample{UserInput: "What color is the sky?", Response: "The sky is blue. Grass is green.", Reference: "The sky is blue.", RetrievedContexts: []string{"The sky is blue.", "Grass is green."}}
	noReference := *s
	noReference.Reference = ""
	for _, f := range metrics.All {
		if !f.Judged {
			continue
		}
		modes := f.Modes
		if len(modes) == 0 {
			modes = []metrics.Mode{""}
		}
		for _, mode := range modes {
			for _, compat := range append(slices.Clone(f.Compats), "") {
				m, err := metrics.New(f.Name, metrics.Options{Judge: j, Mode: mode, Compat: compat, Embedder: noEmbedder})
				if err != nil {
					continue // a mode that the tool doesn't have
				}
				for _, one := range []*eval.Sample{s, &noReference} {
					func() {
						defer func() { _ = recover() }() // the embedder that stands in gives nothing
						_, _ = m.Score(t.Context(), one)
					}()
				}
			}
		}
	}
	for name := range forms {
		if !seen[name] {
			t.Errorf("no metric asks by %s", name)
		}
	}
}
