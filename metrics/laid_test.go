package metrics_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// laid is a judge whose answers are laid down, and who counts what it is asked.
type laid struct {
	// lists are those of a text.
	lists map[string][]string
	// labels are the verdicts on an item, by "template item"; the last label of the
	// ask for any other.
	labels map[string]string
	// chunks are those that entail an item.
	chunks map[string][]int
	// ratings are those by template.
	ratings map[string]int

	mu   sync.Mutex
	asks map[string]int // by template and what distinguishes two asks of it
}

func (l *laid) asked(a judge.Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asks == nil {
		l.asks = map[string]int{}
	}
	a.Metric = ""
	l.asks[fmt.Sprintf("%+v", a)]++
}

func (l *laid) Claims(_ context.Context, a judge.Ask) ([]string, error) {
	l.asked(a)
	list, ok := l.lists[a.Text]
	if !ok {
		return nil, fmt.Errorf("no list is laid down for %q", a.Text)
	}
	return list, nil
}

func (l *laid) Verdicts(_ context.Context, a judge.Ask) ([]judge.Verdict, error) {
	l.asked(a)
	var all []judge.Verdict
	for _, it := range a.Items {
		label, ok := l.labels[a.Prompt+" "+it]
		if !ok {
			label = a.Labels[len(a.Labels)-1]
		}
		if !slices.Contains(a.Labels, label) {
			return nil, fmt.Errorf("%q is no label of %s", label, a.Prompt)
		}
		all = append(all, judge.Verdict{Item: it, Label: label})
	}
	return all, nil
}

func (l *laid) Backing(_ context.Context, a judge.Ask) ([]judge.Backing, error) {
	l.asked(a)
	var all []judge.Backing
	for _, it := range a.Items {
		all = append(all, judge.Backing{Item: it, Chunks: l.chunks[it]})
	}
	return all, nil
}

func (l *laid) Rate(_ context.Context, a judge.Ask) (judge.Rating, error) {
	l.asked(a)
	r, ok := l.ratings[a.Prompt]
	if !ok {
		return r0, fmt.Errorf("no rating is laid down for %s", a.Prompt)
	}
	return judge.Rating{Rating: r}, nil
}

var r0 judge.Rating

// claimCase is a table of claims and chunks: for each claim a word of the chunks
// that entail it, and a + where the other side's text does. "12+" is a claim that
// chunks 1 and 2 and the other side entail, "-" one that nothing does.
type claimCase struct {
	response, reference string
	chunks              int
}

// lay makes the sample of a case, and the judge who says so.
func (c claimCase) lay() (*eval.Sample, *laid) {
	s := &eval.Sample{UserInput: "Which one?", Response: "The response says so.", Reference: "The reference says so.", RetrievedContexts: []string{}}
	for n := range c.chunks {
		s.RetrievedContexts = append(s.RetrievedContexts, fmt.Sprintf("Chunk %d.", n+1))
	}
	l := &laid{lists: map[string][]string{}, labels: map[string]string{}, chunks: map[string][]int{}}
	for _, side := range []struct{ text, name, words string }{{s.Response, "response", c.response}, {s.Reference, "reference", c.reference}} {
		l.lists[side.text] = []string{}
		for i, w := range strings.Fields(side.words) {
			claim := fmt.Sprintf("claim %d of the %s", i+1, side.name)
			l.lists[side.text] = append(l.lists[side.text], claim)
			for _, r := range w {
				switch {
				case r == '+':
					l.labels["claims/match "+claim] = judge.Supported
				case r == '!':
					l.labels["claims/match "+claim] = judge.Contradicted
				case r >= '1' && r <= '9':
					l.chunks[claim] = append(l.chunks[claim], int(r-'0'))
				}
			}
		}
	}
	return s, l
}

// tableMetrics are the metrics over the table of claims and chunks.
var tableMetrics = []string{
	"claim_faithfulness", "hallucination", "self_knowledge", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant",
	"response_precision", "response_recall", "response_f1", "claim_recall", "claim_context_precision", "context_utilization",
}

// reportOf scores a sample with all of them.
func reportOf(t tHelper, s *eval.Sample, opt metrics.Options) map[string]eval.Score {
	t.Helper()
	scores := map[string]eval.Score{}
	for _, name := range tableMetrics {
		m, err := metrics.New(name, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Score(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		scores[name] = got
	}
	return scores
}

// tHelper is what testing.T and rapid.T have in common.
type tHelper interface {
	Helper()
	Fatal(args ...any)
}
