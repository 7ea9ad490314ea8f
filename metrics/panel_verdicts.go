package metrics

import (
	"context"
	"fmt"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// side is on which side of a verdict metric an item is.
type side int

const (
	open side = iota // no majority
	yes              // the label counts
	no
)

// verdictFormula makes a score of verdicts. It is pure.
type verdictFormula struct {
	// labels are those of the ask: the one that counts first, the plain negative
	// last.
	labels []string
	// value is the score of items that count (true) or don't.
	value func([]bool) float64
	// bounds are those of the value where some items are open.
	bounds func([]side) Bounds
	// detail shows the verdicts; the bounds are nil for a score.
	detail func([]judge.Verdict, *Bounds) any
}

// of is the value of the verdicts of one seat.
func (f verdictFormula) of(verdicts []judge.Verdict) float64 {
	counts := make([]bool, len(verdicts))
	for i, v := range verdicts {
		counts[i] = v.Label == f.labels[0]
	}
	return f.value(counts)
}

// verdicts asks every seat for verdicts on the items and makes a score of them.
// Claims are kept with a reply that can't be used.
func (p Panel) verdicts(ctx context.Context, items, claims []string, f verdictFormula, ask func(context.Context, Judge) ([]judge.Verdict, error)) (eval.Score, error) {
	one := func(ctx context.Context, j Judge) ([]judge.Verdict, error) {
		got, err := ask(ctx, j)
		if err == nil {
			err = complete(got, items)
		}
		return got, err
	}
	if len(p.Seats) == 1 {
		got, err := one(ctx, p.Seats[0].Judge)
		if err != nil {
			return unjudged(ctx, err, claims)
		}
		return flagUndecided(eval.Value(f.of(got)).WithDetail(f.detail(got, nil)), got), nil
	}
	got, errs, err := askSeats(ctx, p, one)
	if err != nil {
		return eval.Score{}, err
	}
	b := p.ballot(ctx, errs)
	var there [][]judge.Verdict
	for i, verdicts := range got {
		if errs[i] != nil {
			continue
		}
		there = append(there, verdicts)
		b.value(i, f.of(verdicts))
		for _, v := range verdicts {
			b.seats[i].Labels = append(b.seats[i].Labels, v.Label)
			b.seats[i].Reasons = append(b.seats[i].Reasons, v.Reason)
		}
	}
	score := b.decide(items, there, f)
	agree, split := agreement(there, items, f.labels[0])
	return flagUndecided(b.close(score, f.labels[:1], agree, split), there...), nil
}

// FlagUndecided: a judge left an item open ("partially", "I don't know"), so
// that it does not count; see judge.Verdict.Said.
const FlagUndecided = "undecided_verdicts"

// flagUndecided flags a value in which an item that was left open doesn't count.
func flagUndecided(score eval.Score, seats ...[]judge.Verdict) eval.Score {
	for _, verdicts := range seats {
		if score.Status == eval.Scored && slices.ContainsFunc(verdicts, func(v judge.Verdict) bool { return v.Said != "" }) {
			return score.Flagged(FlagUndecided)
		}
	}
	return score
}

// decide makes the score of the seats with verdicts.
func (b *ballot) decide(items []string, there [][]judge.Verdict, f verdictFormula) eval.Score {
	sides, shown := majorities(items, there, len(b.seats), f.labels)
	if b.panel.Vote != VoteMajority {
		return b.combined().WithDetail(f.detail(shown, nil))
	}
	undecided, counts := 0, make([]bool, len(items))
	for i, s := range sides {
		if counts[i] = s == yes; s == open {
			undecided++
		}
	}
	if undecided == 0 {
		return eval.Value(f.value(counts)).WithDetail(f.detail(shown, nil))
	}
	bounds := f.bounds(sides)
	// Where an item is open and a seat is missing, that seat could have decided
	// it: neither side has more than half, so with the missing ones one would.
	if b.lack != nil {
		return b.lack.WithDetail(f.detail(shown, &bounds))
	}
	return eval.Without(eval.Unscored, "%s: the seats have no majority on %d of %d items; the score lies between %s and %s",
		reasonTie, undecided, len(items), short(bounds.Low), short(bounds.High)).WithDetail(f.detail(shown, &bounds))
}

// majorities says for each item which side more than half of all seats took, and
// shows the verdict of that side: its most frequent label (of equals the one that
// stands later among the labels), with the words of the first seat that gave it.
func majorities(items []string, there [][]judge.Verdict, seats int, labels []string) ([]side, []judge.Verdict) {
	sides, shown := make([]side, len(items)), make([]judge.Verdict, len(items))
	for i, item := range items {
		said := map[string]int{}
		for _, verdicts := range there {
			said[verdicts[i].Label]++
		}
		positive := said[labels[0]]
		label := VerdictSplit
		switch {
		case 2*positive > seats:
			sides[i], label = yes, labels[0]
		case 2*(len(there)-positive) > seats:
			sides[i], label = no, ""
			for _, l := range labels[1:] {
				if n := said[l]; n > 0 && n >= said[label] {
					label = l
				}
			}
		}
		shown[i] = judge.Verdict{Item: item, Label: label}
		for _, verdicts := range there {
			if verdicts[i].Label == label {
				shown[i] = verdicts[i]
				break
			}
		}
	}
	return sides, shown
}

// agreement is the share of items on which all seats with verdicts are on one
// side, and the share of the others; nil and 0 with fewer than two seats.
func agreement(there [][]judge.Verdict, items []string, positive string) (*float64, float64) {
	if len(there) < 2 || len(items) == 0 {
		return nil, 0
	}
	same := 0
	for i := range items {
		agree := true
		for _, verdicts := range there[1:] {
			agree = agree && (verdicts[i].Label == positive) == (there[0][i].Label == positive)
		}
		if agree {
			same++
		}
	}
	share := ratio(same, len(items))
	return &share, ratio(len(items)-same, len(items))
}

// shareFormula is that of metrics whose score is the share of items that count.
func shareFormula(labels []string, detail func([]judge.Verdict, *Bounds) any) verdictFormula {
	return verdictFormula{
		labels: labels, detail: detail,
		value: func(counts []bool) float64 {
			n := 0
			for _, c := range counts {
				if c {
					n++
				}
			}
			return ratio(n, len(counts))
		},
		bounds: func(sides []side) Bounds {
			least, most := 0, 0
			for _, s := range sides {
				if s == yes {
					least++
				}
				if s != no {
					most++
				}
			}
			return Bounds{ratio(least, len(sides)), ratio(most, len(sides))}
		},
	}
}

// short shows a bound in a sentence.
func short(v float64) string { return fmt.Sprintf("%.3g", v) }
