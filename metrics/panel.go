package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// Vote says how the seats of a Panel become one score.
type Vote string

// The votes.
const (
	// VoteMajority decides item by item (for a rating, over the rating): what
	// more than half of all seats say. A seat without a usable verdict counts
	// among all, so that no silence makes a majority.
	VoteMajority Vote = "majority"
	// VoteMean and VoteMedian take the mean or the median of the seats' scores.
	// They need every seat.
	VoteMean   Vote = "mean"
	VoteMedian Vote = "median"
)

// Votes lists every vote; the first is the default of the configuration.
var Votes = []Vote{VoteMajority, VoteMean, VoteMedian}

// VerdictSplit stands in a detail where the seats of a panel have no majority
// for a verdict on an item.
const VerdictSplit = "split"

// reasonTie is the reason of a sample on which no side has a majority.
const reasonTie = "tie"

// Seat is one judge in one trial.
type Seat struct {
	// Name is the judge's, Trial the number of the repeat, from 0.
	Name  string
	Trial int
	// Judge answers; it must ask so that trials don't share replies.
	Judge Judge
}

// Panel is who is asked for verdicts and ratings. Texts are split into claims
// by the first seat alone, so that all give verdicts on the same items.
//
// With one seat a metric is what it is with Options.Judge alone, to the byte.
type Panel struct {
	// Seats holds at least one.
	Seats []Seat
	// Vote is needed with more than one seat.
	Vote Vote
	// Embedder gives vectors to the metrics over meaning; nil where none is asked
	// for any.
	Embedder Embedder
	// Undecided says what a verdict is in which a seat did not decide.
	Undecided Undecided
	// MaxDisagreement is from where on, not included, a score carries
	// eval.FlagJudgesDisagree: 0 to 1. It is compared with the spread of the
	// seats' values and, for verdicts, with the share of items on which the seats
	// don't all agree.
	MaxDisagreement float64
}

// panel is who is asked by these options.
func (o Options) panel() Panel {
	p := o.Panel
	if len(p.Seats) == 0 {
		p = Panel{Seats: []Seat{{Judge: o.Judge}}}
	}
	p.Undecided = o.Undecided
	return p
}

// Bounds are the lowest and the highest value that a score can have as long as
// what is undecided is open.
type Bounds struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// claims splits a text.
func (p Panel) claims(ctx context.Context, a judge.Ask) ([]string, error) {
	claims, err := p.Seats[0].Judge.Claims(ctx, a)
	return claims, p.named(0, err)
}

// named says whose error ends the run, where there are several judges.
func (p Panel) named(seat int, err error) error {
	if len(p.Seats) == 1 || err == nil || llm.AsError(err) == nil || !llm.StopsRun(err) {
		return err
	}
	return fmt.Errorf("judge %s: %w", p.Seats[seat].Name, err)
}

// together calls fn for 0 to n-1 at the same time and waits for all. A panic is
// passed on to the caller, where a run expects it.
func together(n int, fn func(i int)) {
	panics := make([]any, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer func() { panics[i] = recover() }()
			fn(i)
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// askSeats asks every seat. The error is the first, by seat, that ends the run.
func askSeats[T any](ctx context.Context, p Panel, ask func(context.Context, Judge) (T, error)) ([]T, []error, error) {
	got, errs := make([]T, len(p.Seats)), make([]error, len(p.Seats))
	together(len(p.Seats), func(i int) { got[i], errs[i] = ask(ctx, p.Seats[i].Judge) })
	for i, err := range errs {
		if err == nil {
			continue
		}
		if _, stop := unjudged(ctx, err, nil); stop != nil {
			return nil, nil, p.named(i, stop)
		}
	}
	return got, errs, nil
}

// ballot is what the seats of one sample said, on its way to a score.
type ballot struct {
	panel Panel
	seats []eval.Seat
	// lack is the score of the sample if a missing seat was needed: that of the
	// first that failed, else of the first without a usable reply. Nil if all are
	// there.
	lack *eval.Score
	// undefined is the first score of a seat whose verdicts have no value.
	undefined *eval.Score
	// missing counts the seats without a verdict.
	missing int
}

// ballot takes in the errors of the seats.
func (p Panel) ballot(ctx context.Context, errs []error) *ballot {
	b := &ballot{panel: p, seats: make([]eval.Seat, len(p.Seats))}
	for i, s := range p.Seats {
		b.seats[i] = eval.Seat{Judge: s.Name, Trial: s.Trial}
		if errs[i] == nil {
			continue
		}
		score, _ := unjudged(ctx, errs[i], nil)
		b.lacks(i, score)
		var unusable *judge.UnusableError
		if errors.As(errs[i], &unusable) {
			b.seats[i].Reply = unusable.Reply
		}
	}
	return b
}

// lacks notes that a seat has no score of its own, and what it has in its place.
func (b *ballot) lacks(i int, score eval.Score) {
	seat := &b.seats[i]
	seat.Status, seat.Reason = score.Status, score.Reason
	score.Reason += fmt.Sprintf(" (judge %s, trial %d)", seat.Judge, seat.Trial)
	score.Detail = nil
	if b.missing++; b.lack == nil || b.lack.Status != eval.Failed && score.Status == eval.Failed {
		b.lack = &score
	}
}

// value notes what a seat alone would have given.
func (b *ballot) value(i int, v float64) { b.score(i, eval.Value(v)) }

// score notes what a seat alone would have given, be it no value.
func (b *ballot) score(i int, s eval.Score) {
	b.seats[i].Status, b.seats[i].Value = s.Status, s.Value
	if s.Value == nil {
		b.seats[i].Reason = s.Reason
		if b.undefined == nil {
			b.undefined = &s
		}
	}
}

// values are those of the seats, from the lowest up.
func (b *ballot) values() []float64 {
	var all []float64
	for _, s := range b.seats {
		if s.Value != nil {
			all = append(all, *s.Value)
		}
	}
	slices.Sort(all)
	return all
}

// combined is the mean or the median of the seats' values.
func (b *ballot) combined() eval.Score {
	if b.lack != nil {
		return *b.lack
	}
	if b.undefined != nil {
		return *b.undefined
	}
	return eval.Value(combine(b.panel.Vote, b.values()))
}

// combine is the mean or the median of at least one value, in rising order, so
// that the order of the seats makes no difference.
func combine(v Vote, sorted []float64) float64 {
	if v == VoteMedian {
		n := len(sorted)
		return (sorted[(n-1)/2] + sorted[n/2]) / 2
	}
	sum := 0.0
	for _, x := range sorted {
		sum += x
	}
	return min(max(sum/float64(len(sorted)), sorted[0]), sorted[len(sorted)-1])
}

// close puts the seats beside a score and flags what is to be flagged. Agree is
// the share of items, or of pairs of ratings, that agree; split is how far the
// seats are apart beyond their values.
func (b *ballot) close(score eval.Score, positive []string, agree *float64, split float64) eval.Score {
	panel := &eval.Panel{Vote: string(b.panel.Vote), Positive: positive, Seats: b.seats, Agreement: agree}
	if all := b.values(); len(all) > 1 {
		spread := all[len(all)-1] - all[0]
		panel.Spread, split = &spread, max(split, spread)
	}
	const rounding = 1e-9
	if split > b.panel.MaxDisagreement+rounding {
		score = score.Flagged(eval.FlagJudgesDisagree)
	}
	if score.Status == eval.Scored && b.missing > 0 {
		score = score.Flagged(eval.FlagSeatsMissing)
	}
	score.Panel = panel
	return score
}
