package metrics_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// lockedJudge is a fakeJudge that several calls may use at once.
type lockedJudge struct {
	mu sync.Mutex
	fakeJudge
}

func (l *lockedJudge) Claims(ctx context.Context, a judge.Ask) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fakeJudge.Claims(ctx, a)
}

func (l *lockedJudge) Verdicts(ctx context.Context, a judge.Ask) ([]judge.Verdict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fakeJudge.Verdicts(ctx, a)
}

func (l *lockedJudge) Rate(ctx context.Context, a judge.Ask) (judge.Rating, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fakeJudge.Rate(ctx, a)
}

func TestLexicalSentences(t *testing.T) {
	m := made(t, "lexical_faithfulness", metrics.Options{})
	for _, c := range []struct {
		name, response string
		contexts       []string
		want           float64
	}{
		{"all", "Paris is the capital.", []string{"Paris is the capital of France"}, 1},
		{"half", "Paris is the capital. Romans built roads everywhere.", []string{"Paris is the capital of France"}, 0.5},
		{"0.4 is not more than 0.4", "Paris is founded by Romans.", []string{"Paris is large"}, 0},
		{"words from several chunks", "Paris likes rivers.", []string{"Paris", "likes rivers"}, 1},
		{"citations don't count", "Paris is large [plan-1.pdf]. [2]", []string{"Paris is large"}, 1},
		{"a sentence without words is none", "Paris is large. !!! ...", []string{"Paris is large"}, 1},
		{"repeats count once", "Paris Paris Paris Paris Rome Oslo.", []string{"Paris"}, 0},
		{"another script", "東京は首都です。", []string{"日本の東京は首都です"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantScore(t, scored(t, m, &eval.Sample{Response: c.response, RetrievedContexts: c.contexts}), c.want)
		})
	}
	if got := scored(t, m, &eval.Sample{Response: "...", RetrievedContexts: []string{"Paris"}}); got.Status != eval.Undefined {
		t.Errorf("no words: %s", got.Status)
	}
}

// TestLexicalOverlaps holds the overlap of one sentence against values that
// were computed apart, over sets of words.
func TestLexicalOverlaps(t *testing.T) {
	fixture := decoded[struct {
		Examples []struct {
			Name    string   `json:"name"`
			Answer  string   `json:"answer"`
			Context string   `json:"context"`
			Set     *float64 `json:"token_precision_set"`
		} `json:"lexical_faithfulness"`
	}](t, readFixture(t, "fixtures/text_examples.json"))
	m := made(t, "lexical_faithfulness", metrics.Options{})
	for _, e := range fixture.Examples {
		got := scored(t, m, &eval.Sample{Response: e.Answer, RetrievedContexts: []string{e.Context}})
		if e.Set == nil {
			if got.Value != nil {
				t.Errorf("%s: %v, want no value", e.Name, *got.Value)
			}
			continue
		}
		d := decoded[metrics.SentencesDetail](t, got.Detail)
		if len(d.Overlaps) != 1 || math.Abs(d.Overlaps[0]-*e.Set) > 1e-12 {
			t.Errorf("%s: overlaps %v, want %v", e.Name, d.Overlaps, *e.Set)
		}
	}
	if len(fixture.Examples) == 0 {
		t.Error("the fixture holds no example")
	}
}
