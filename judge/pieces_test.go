package judge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// windowed answers as the lexical judge, and refuses prompts of more bytes than
// its window, as servers do. It keeps how many items each answered call had.
type windowed struct {
	window int
	items  []int
	refs   []string
}

func (w *windowed) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	n := 0
	var data judge.Fenced
	for _, m := range req.Messages {
		if m.Role == llm.User {
			n += len(m.Content)
			data = judge.ParseFenced(m.Content)
		}
	}
	if w.window > 0 && n > w.window {
		return nil, &llm.Error{Kind: llm.Row, Code: "context_too_long", Message: "too long"}
	}
	w.items = append(w.items, len(data.Items))
	for _, it := range data.Items {
		w.refs = append(w.refs, fmt.Sprint(it.N))
	}
	return judge.Lexical{}.Complete(ctx, req)
}

var pieceContexts = []string{
	"The sky is blue. " + strings.Repeat("Nothing else is said here. ", 20),
	"Grass is green. " + strings.Repeat("Still nothing else is said. ", 20),
	"Snow is white. " + strings.Repeat("Nor is it here. ", 20),
	"Coal is black. " + strings.Repeat("And that is all. ", 20),
}

var pieceItems = []string{"The sky is blue.", "Grass is green.", "Snow is white.", "Coal is black.", "Milk is purple.", "Snow is warm and loud."}

func pieceAsk() judge.Ask {
	return judge.Ask{Prompt: "faithfulness/verdict", UserInput: "Colors?", Contexts: pieceContexts, Items: pieceItems, Labels: judge.FaithfulnessLabels()}
}

func labelsIn(verdicts []judge.Verdict) (labels []string) {
	for _, v := range verdicts {
		labels = append(labels, v.Label)
	}
	return labels
}

// TestMaxItems: a call holds at most so many items, every item is asked about
// once under its own number, and the verdicts are those of one call.
func TestMaxItems(t *testing.T) {
	want, err := judge.New(judge.Config{Client: judge.Lexical{}}).Verdicts(t.Context(), pieceAsk())
	if err != nil {
		t.Fatal(err)
	}
	for n, calls := range map[int][]int{1: {1, 1, 1, 1, 1, 1}, 2: {2, 2, 2}, 4: {3, 3}, 5: {3, 3}, 6: {6}, 0: {6}, 99: {6}} {
		w := &windowed{}
		got, err := judge.New(judge.Config{Client: w, MaxItems: n}).Verdicts(t.Context(), pieceAsk())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("at most %d items: %s", n, d)
		}
		if !slices.Equal(w.items, calls) || !slices.Equal(w.refs, []string{"1", "2", "3", "4", "5", "6"}) {
			t.Errorf("at most %d items: calls of %v, items %v", n, w.items, w.refs)
		}
	}
}

// TestTooLongIsSplit: what is too long for the model is asked about in pieces,
// whoever finds it out, and each item has one verdict: that of the piece that
// says most.
func TestTooLongIsSplit(t *testing.T) {
	want := []string{"supported", "supported", "supported", "supported", "not_found", "not_found"}
	for name, c := range map[string]judge.Config{
		"refused":  {Client: &windowed{window: 1500}},
		"very":     {Client: &windowed{window: 900}},
		"known":    {Client: &windowed{}, MaxInput: 1000, CountTokens: func(r *llm.Request) int { return len(r.Messages[1].Content) / 2 }},
		"in parts": {Client: &windowed{window: 1500}, MaxItems: 4},
	} {
		t.Run(name, func(t *testing.T) {
			j := judge.New(c)
			got, err := j.Verdicts(t.Context(), pieceAsk())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, labelsIn(got)); d != "" {
				t.Error(d)
			}
			for i, v := range got {
				if v.Item != pieceItems[i] {
					t.Errorf("verdict %d is on %q", i+1, v.Item)
				}
			}
			if j.Counts().Split == 0 || len(c.Client.(*windowed).items) < 2 {
				t.Errorf("it was not split: %+v, %v", j.Counts(), c.Client)
			}
		})
	}
}

// TestTooLongBacking: chunks keep their numbers over the pieces.
func TestTooLongBacking(t *testing.T) {
	a := pieceAsk()
	a.Prompt, a.Contexts = "claims/backing", append(slices.Clone(pieceContexts), pieceContexts[0])
	whole, err := judge.New(judge.Config{Client: judge.Lexical{}}).Backing(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := judge.New(judge.Config{Client: &windowed{window: 1400}}).Backing(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if !slices.Equal(whole[i].Chunks, parts[i].Chunks) {
			t.Errorf("%s: chunks %v, in pieces %v", whole[i].Item, whole[i].Chunks, parts[i].Chunks)
		}
	}
	if !slices.Equal(whole[0].Chunks, []int{1, 5}) {
		t.Errorf("the first claim stands in %v, want 1 and 5", whole[0].Chunks)
	}
}

// TestTooLongStays: what can't be split, and what must not be, stays an error.
func TestTooLongStays(t *testing.T) {
	one := pieceAsk()
	one.Contexts, one.Items = one.Contexts[:1], one.Items[:1]
	check := pieceAsk() // "yes" in one half of the contexts is no "yes" to the whole
	check.Items, check.Labels = check.Items[:1], []string{"yes", "no"}
	for name, a := range map[string]judge.Ask{"one item, one chunk": one, "no evidence": check} {
		_, err := judge.New(judge.Config{Client: &windowed{window: 300}}).Verdicts(t.Context(), a)
		var e *llm.Error
		if !errors.As(err, &e) || e.Code != "context_too_long" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	rate := judge.Ask{Prompt: "answer_relevance/rubric", UserInput: "q", Response: strings.Repeat("long ", 100), Min: 1, Max: 5}
	if _, err := judge.New(judge.Config{Client: &windowed{}, MaxInput: 50}).Rate(t.Context(), rate); err == nil || !strings.Contains(err.Error(), "the model takes 50") {
		t.Errorf("got %v", err)
	}
}

// TestTooLongClaims: a text that is too long is split into its claims by halves,
// each claim once and in order.
func TestTooLongClaims(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "Plan %d costs %d dollars. ", i, 10*i)
	}
	a := judge.Ask{Prompt: "claims/split", Text: b.String()}
	want, err := judge.New(judge.Config{Client: judge.Lexical{}}).Claims(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	w := &windowed{window: 400}
	got, err := judge.New(judge.Config{Client: w}).Claims(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || len(got) != 40 {
		t.Error(d)
	}
	a.Text = strings.Repeat("x", 1000)
	if _, err := judge.New(judge.Config{Client: w}).Claims(t.Context(), a); err == nil {
		t.Error("a text of one word was cut")
	}
}
