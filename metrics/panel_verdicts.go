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
	// labels are those of the ask: those that count first, the plain negative
	// last.
	labels []string
	// positive is how many of the labels count; 0 stands for one.
	positive int
	// value is the score of items that count (true) or don't.
	value func([]bool) float64
	// lacks says why there is no value, "" where there is one; nil where there
	// always is.
	lacks func([]bool) string
	// bounds are those of the value where some items are open.
	bounds func([]side) Bounds
	// detail shows the verdicts; the bounds are nil for a score.
	detail func([]judge.Verdict, *Bounds) any
}

// counting are the labels that count.
func (f verdictFormula) counting() []string { return f.labels[:max(f.positive, 1)] }

// of is the score of the verdicts of one seat.
func (f verdictFormula) of(verdicts []judge.Verdict) eval.Score {
	counts := make([]bool, len(verdicts))
	for i, v := range verdicts {
		counts[i] = slices.Contains(f.counting(), v.Label)
	}
	return f.score(counts)
}

// score is the value, or why there is none.
func (f verdictFormula) score(counts []bool) eval.Score {
	if f.lacks != nil {
		if why := f.lacks(counts); why != "" {
			return eval.Without(eval.Undefined, "%s", why)
		}
	}
	return eval.Value(f.value(counts))
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
		if n := p.leftOpen(got); n > 0 {
			return undecided(n, len(items)).WithDetail(f.detail(got, nil)), nil
		}
		return flagUndecided(f.of(got).WithDetail(f.detail(got, nil)), got), nil
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
		if n := p.leftOpen(verdicts); n > 0 {
			b.lacks(i, undecided(n, len(items)))
		} else {
			b.score(i, f.of(verdicts))
		}
		for _, v := range verdicts {
			b.seats[i].Labels = append(b.seats[i].Labels, v.Label)
			b.seats[i].Reasons = append(b.seats[i].Reasons, v.Reason)
		}
	}
	score := b.decide(items, there, f)
	agree, split := agreement(there, items, f.counting())
	return flagUndecided(b.close(score, f.counting(), agree, split), there...), nil
}

// leftOpen counts the verdicts that make a seat's score none, by policy.
func (p Panel) leftOpen(verdicts []judge.Verdict) int {
	n := 0
	for _, v := range verdicts {
		if p.open(v) {
			n++
		}
	}
	return n
}

// open reports a verdict on neither side.
func (p Panel) open(v judge.Verdict) bool { return p.Undecided == UndecidedUnscored && v.Said != "" }

func undecided(n, items int) eval.Score {
	return eval.Without(eval.Unscored, "%s: the judge left %d of %d items open", FlagUndecided, n, items)
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
	sides, shown := majorities(items, there, len(b.seats), f, b.panel.open)
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
		return f.score(counts).WithDetail(f.detail(shown, nil))
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
// A verdict that is open is on no side.
func majorities(items []string, there [][]judge.Verdict, seats int, f verdictFormula, isOpen func(judge.Verdict) bool) ([]side, []judge.Verdict) {
	sides, shown := make([]side, len(items)), make([]judge.Verdict, len(items))
	for i, item := range items {
		said, sided := map[string]int{}, 0
		for _, verdicts := range there {
			if !isOpen(verdicts[i]) {
				said[verdicts[i].Label]++
				sided++
			}
		}
		positive := 0
		for _, l := range f.counting() {
			positive += said[l]
		}
		label := VerdictSplit
		switch {
		case 2*positive > seats:
			sides[i], label = yes, mostSaid(said, f.counting())
		case 2*(sided-positive) > seats:
			sides[i], label = no, mostSaid(said, f.labels[len(f.counting()):])
		}
		shown[i] = judge.Verdict{Item: item, Label: label}
		for _, verdicts := range there {
			if verdicts[i].Label == label && !isOpen(verdicts[i]) {
				shown[i] = verdicts[i]
				break
			}
		}
	}
	return sides, shown
}

// mostSaid is the label that was given most often, of equals the last.
func mostSaid(said map[string]int, labels []string) string {
	most := ""
	for _, l := range labels {
		if n := said[l]; n > 0 && n >= said[most] {
			most = l
		}
	}
	return most
}

// agreement is the share of items on which all seats with verdicts are on one
// side, and the share of the others; nil and 0 with fewer than two seats.
func agreement(there [][]judge.Verdict, items, positive []string) (*float64, float64) {
	if len(there) < 2 || len(items) == 0 {
		return nil, 0
	}
	same := 0
	for i := range items {
		agree := true
		for _, verdicts := range there[1:] {
			agree = agree && slices.Contains(positive, verdicts[i].Label) == slices.Contains(positive, there[0][i].Label)
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
