package metrics

import (
	"context"
	"math"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// RatingsDetail is the detail of a score by several ratings that is none of
// them: their mean or median, or none at all.
type RatingsDetail struct {
	// Rating is the mean or the median of the ratings; nil without a score.
	Rating *float64 `json:"rating,omitempty"`
	// Bounds are those of the score where the seats are tied.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// valueOf is the score of a rating: between those of its neighbours where it is
// weighted.
func valueOf(r judge.Rating, value func(int) float64) float64 {
	if r.Weighted == nil {
		return value(r.Rating)
	}
	below := int(math.Floor(*r.Weighted))
	share := *r.Weighted - float64(below)
	if share == 0 {
		return value(below)
	}
	return value(below) + share*(value(below+1)-value(below))
}

// notWeighted flags a score of ratings that were to be weighted and are not all.
func notWeighted(score eval.Score, a judge.Ask, there ...judge.Rating) eval.Score {
	if a.Weighted && score.Status == eval.Scored && slices.ContainsFunc(there, func(r judge.Rating) bool { return r.Weighted == nil }) {
		return score.Flagged(FlagNotWeighted)
	}
	return score
}

// rating asks every seat for a rating and makes a score of them; value is the
// score of one rating. It is linear.
func (p Panel) rating(ctx context.Context, a judge.Ask, value func(rating int) float64) (eval.Score, error) {
	one := func(ctx context.Context, j Judge) (judge.Rating, error) { return j.Rate(ctx, a) }
	if len(p.Seats) == 1 {
		r, err := one(ctx, p.Seats[0].Judge)
		if err != nil {
			return unjudged(ctx, err, nil)
		}
		return notWeighted(eval.Value(valueOf(r, value)).WithDetail(RatingDetail(r)), a, r), nil
	}
	got, errs, err := askSeats(ctx, p, one)
	if err != nil {
		return eval.Score{}, err
	}
	b := p.ballot(ctx, errs)
	var there []judge.Rating
	for i, r := range got {
		if errs[i] != nil {
			continue
		}
		there = append(there, r)
		b.value(i, valueOf(r, value))
		b.seats[i].Rating, b.seats[i].Reason = &r.Rating, r.Reason
	}
	return b.close(notWeighted(b.rate(there, value), a, there...), nil, equalPairs(there), 0), nil
}

// rate makes the score of the seats with ratings.
func (b *ballot) rate(there []judge.Rating, value func(int) float64) eval.Score {
	if b.panel.Vote != VoteMajority {
		score := b.combined()
		if score.Status != eval.Scored {
			return score
		}
		ratings := make([]float64, len(there))
		for i, r := range sortedRatings(there) {
			ratings[i] = float64(r)
		}
		rating := combine(b.panel.Vote, ratings)
		return score.WithDetail(RatingsDetail{Rating: &rating})
	}
	said, most := map[int]int{}, 0
	for _, r := range there {
		said[r.Rating]++
		most = max(most, said[r.Rating])
	}
	for _, r := range there {
		if 2*said[r.Rating] > len(b.seats) {
			return eval.Value(b.majority(r.Rating, there, value)).WithDetail(RatingDetail{Rating: r.Rating, Reason: r.Reason})
		}
	}
	if b.lack != nil && 2*(most+b.missing) > len(b.seats) {
		return *b.lack
	}
	all := sortedRatings(there)
	low, high := value(all[0]), value(all[len(all)-1])
	bounds := Bounds{min(low, high), max(low, high)}
	return eval.Without(eval.Unscored, "%s: the seats have no majority for a rating; the score lies between %s and %s",
		reasonTie, short(bounds.Low), short(bounds.High)).WithDetail(RatingsDetail{Bounds: &bounds})
}

// majority is the mean score of the seats that gave the rating: they differ only
// where they are weighted.
func (b *ballot) majority(rating int, there []judge.Rating, value func(int) float64) float64 {
	var all []float64
	for _, r := range there {
		if r.Rating == rating {
			all = append(all, valueOf(r, value))
		}
	}
	slices.Sort(all)
	return combine(VoteMean, all)
}

func sortedRatings(there []judge.Rating) []int {
	all := make([]int, len(there))
	for i, r := range there {
		all[i] = r.Rating
	}
	slices.Sort(all)
	return all
}

// equalPairs is the share of pairs of ratings that are equal; nil with fewer
// than two ratings.
func equalPairs(there []judge.Rating) *float64 {
	equal, pairs := 0, 0
	for i := range there {
		for j := range i {
			if pairs++; there[i].Rating == there[j].Rating {
				equal++
			}
		}
	}
	if pairs == 0 {
		return nil
	}
	share := ratio(equal, pairs)
	return &share
}
