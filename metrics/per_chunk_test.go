package metrics_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
)

// judgeFunc is a Judge by its verdicts alone.
type judgeFunc func(context.Context, judge.Ask) ([]judge.Verdict, error)

func (judgeFunc) Claims(context.Context, judge.Ask) ([]string, error) {
	return []string{"a", "b"}, nil
}
func (f judgeFunc) Verdicts(ctx context.Context, a judge.Ask) ([]judge.Verdict, error) {
	return f(ctx, a)
}
func (judgeFunc) Backing(context.Context, judge.Ask) ([]judge.Backing, error) {
	panic("context_precision asks for no table")
}

func (judgeFunc) Rate(context.Context, judge.Ask) (judge.Rating, error) {
	return judge.Rating{Rating: 3}, nil
}

// TestPerChunkErrors: of several errors the first one by rank is told, whichever
// comes first in time, and one that stops the run goes before all. Each chunk
// is asked about by itself.
func TestPerChunkErrors(t *testing.T) {
	unusable := &judge.UnusableError{Code: judge.CodeMissing, Message: "no verdict", Reply: "hm"}
	late := &judge.UnusableError{Code: judge.CodeRefusal, Message: "no", Reply: "no"}
	transient := &llm.Error{Kind: llm.Transient, Code: "timeout"}
	fatal := &llm.Error{Kind: llm.Fatal, Code: "invalid_api_key"}
	for _, c := range []struct {
		name   string
		errs   []error // by chunk
		status eval.Status
		reason string
		stops  error
	}{
		{"unusable before transient", []error{nil, unusable, transient}, eval.Unscored, "missing_verdicts: no verdict", nil},
		{"transient before unusable", []error{nil, transient, unusable}, eval.Failed, "transient: timeout", nil},
		{"two unusable", []error{unusable, nil, late}, eval.Unscored, "missing_verdicts: no verdict", nil},
		{"fatal behind", []error{unusable, transient, fatal}, "", "", fatal},
		{"fatal first", []error{fatal, unusable, nil}, "", "", fatal},
		{"cancelled", []error{transient, context.Canceled, unusable}, "", "", context.Canceled},
	} {
		for _, backwards := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					chunks := []string{"chunk 1", "chunk 2", "chunk 3"}
					j := judgeFunc(func(_ context.Context, a judge.Ask) ([]judge.Verdict, error) {
						i := slices.Index(chunks, a.Items[0])
						if len(a.Items) != 1 || i < 0 {
							t.Errorf("asked about %q at once", a.Items)
						}
						wait := time.Duration(i)
						if backwards {
							wait = 10 - wait
						}
						time.Sleep(wait * time.Second)
						return []judge.Verdict{{Item: a.Items[0], Label: judge.Useful}}, c.errs[i]
					})
					s := fullSample()
					s.RetrievedContexts = chunks
					m := made(t, "context_precision", metrics.Options{Judge: j, PerChunk: true})
					if c.stops != nil {
						if _, err := m.Score(t.Context(), s); !errors.Is(err, c.stops) {
							t.Errorf("error %v, want %v", err, c.stops)
						}
						return
					}
					wantWithout(t, scored(t, m, s), c.status, c.reason)
				})
			})
		}
	}
}

// TestContract: a Judge that gives another number of verdicts than it was asked
// for would make another denominator. That is a fault in its code, so that the
// run stops; it is no score.
func TestContract(t *testing.T) {
	for _, n := range []int{0, 1, 3} {
		j := judgeFunc(func(context.Context, judge.Ask) ([]judge.Verdict, error) {
			return slices.Repeat([]judge.Verdict{{Item: "a", Label: judge.Supported}}, n), nil
		})
		s := fullSample()
		s.RetrievedContexts = []string{"a", "b"}
		for _, name := range []string{"faithfulness", "context_recall", "context_precision"} {
			for _, perChunk := range []bool{false, true} {
				if perChunk && n == 1 {
					continue // right for one chunk
				}
				score, err := made(t, name, metrics.Options{Judge: j, PerChunk: perChunk}).Score(t.Context(), s)
				if err == nil || score.Value != nil || !strings.Contains(err.Error(), "verdicts") {
					t.Errorf("%s, %d verdicts: %+v, %v; want an error", name, n, score, err)
				}
			}
		}
	}
}

// TestCancelled: a call that was broken off is no failed one, also where the
// client dressed the cancellation up, so that the sample is scored when the run
// is resumed.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := judgeFunc(func(context.Context, judge.Ask) ([]judge.Verdict, error) {
		cancel()
		return nil, &llm.Error{Kind: llm.Transient, Code: "network", Err: context.Canceled}
	})
	for _, name := range []string{"faithfulness", "context_recall", "context_precision"} {
		if score, err := made(t, name, metrics.Options{Judge: j}).Score(ctx, fullSample()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %+v, %v; want the cancellation", name, score, err)
		}
	}
}

// TestUnscoredDetail: the reply is kept, and the claims that it was about.
func TestUnscoredDetail(t *testing.T) {
	j := judgeFunc(func(context.Context, judge.Ask) ([]judge.Verdict, error) {
		return nil, &judge.UnusableError{Code: judge.CodeUndecodable, Message: "no JSON", Reply: "<well>"}
	})
	for name, want := range map[string]metrics.ReplyDetail{
		"faithfulness":      {Reply: "<well>", Claims: []string{"a", "b"}},
		"context_precision": {Reply: "<well>"},
	} {
		score := scored(t, made(t, name, metrics.Options{Judge: j}), fullSample())
		wantWithout(t, score, eval.Unscored, "undecodable_reply: no JSON")
		var got metrics.ReplyDetail
		d := json.NewDecoder(bytes.NewReader(score.Detail))
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil || got.Reply != want.Reply || !slices.Equal(got.Claims, want.Claims) {
			t.Errorf("%s: detail %s, want %+v", name, score.Detail, want)
		}
	}
}

// TestLongClaimLists: the denominator is what was asked, however long.
func TestLongClaimLists(t *testing.T) {
	f := &fakeJudge{labels: map[string]string{}}
	for i := range 1000 {
		claim := strings.Repeat("x", i+1)
		f.claims = append(f.claims, claim)
		if i%4 == 0 {
			f.labels[claim] = judge.Supported
		}
	}
	wantScore(t, scored(t, made(t, "faithfulness", metrics.Options{Judge: f}), fullSample()), 0.25)
}
