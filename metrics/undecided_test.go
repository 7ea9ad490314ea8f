package metrics_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// opining gives verdicts by letters: + supported, - not found, ? left open.
type opining string

func (opining) Backing(context.Context, judge.Ask) ([]judge.Backing, error) { panic("not asked") }

func (o opining) Claims(context.Context, judge.Ask) ([]string, error) {
	return strings.Split(string(o), ""), nil
}

func (o opining) Verdicts(_ context.Context, a judge.Ask) ([]judge.Verdict, error) {
	var list []judge.Verdict
	for i, c := range string(o) {
		v := judge.Verdict{Item: a.Items[i], Label: a.Labels[len(a.Labels)-1]}
		switch c {
		case '+':
			v.Label = a.Labels[0]
		case '?':
			v.Said = "partially"
		}
		list = append(list, v)
	}
	return list, nil
}

func (o opining) Rate(context.Context, judge.Ask) (judge.Rating, error) { panic("no rating") }

// TestUndecidedPolicy: by default what a judge leaves open does not count and is
// flagged; by the other policy a score that hangs on it is none. In a majority
// it is on no side.
func TestUndecidedPolicy(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		vote   metrics.Vote
		seats  string
		policy metrics.Undecided
		value  float64
		reason string
	}{
		{"", "+?", metrics.UndecidedNegative, 0.5, ""},
		{"", "+?", metrics.UndecidedUnscored, none, "undecided_verdicts: the judge left 1 of 2 items open"},
		{"", "+-", metrics.UndecidedUnscored, 0.5, ""},
		{metrics.VoteMean, "++ +?", metrics.UndecidedNegative, 0.75, ""},
		{metrics.VoteMean, "++ +?", metrics.UndecidedUnscored, none, "undecided_verdicts"},
		{metrics.VoteMajority, "++ ++ +?", metrics.UndecidedUnscored, 1, ""},
		{metrics.VoteMajority, "++ +- +?", metrics.UndecidedNegative, 0.5, ""},
		{metrics.VoteMajority, "++ +- +?", metrics.UndecidedUnscored, none, "undecided_verdicts"},
		{metrics.VoteMajority, "+- +- +?", metrics.UndecidedUnscored, 0.5, ""},
	} {
		p := metrics.Panel{Vote: c.vote, MaxDisagreement: 1}
		for i, s := range strings.Fields(c.seats) {
			p.Seats = append(p.Seats, metrics.Seat{Name: string(rune('a' + i)), Judge: opining(s)})
		}
		m, err := metrics.New("faithfulness", metrics.Options{Panel: p, Undecided: c.policy})
		if err != nil {
			t.Fatal(err)
		}
		score, err := m.Score(t.Context(), &eval.Sample{ID: "1", UserInput: "q", Response: "It is so and so.", RetrievedContexts: []string{"It is so."}})
		switch {
		case err != nil:
			t.Errorf("%s %q %s: %v", c.vote, c.seats, c.policy, err)
		case c.value == none && (score.Status != eval.Unscored || !strings.HasPrefix(score.Reason, c.reason)),
			c.value != none && (score.Status != eval.Scored || *score.Value != c.value):
			t.Errorf("%s %q %s: %s %v %q, want %v %q", c.vote, c.seats, c.policy, score.Status, score.Value, score.Reason, c.value, c.reason)
		}
	}
	if _, err := (metrics.Options{}).With("faithfulness", map[string]any{"undecided": "maybe"}); err == nil || !strings.Contains(err.Error(), `known are "negative", "unscored"`) {
		t.Errorf("%v", err)
	}
}
