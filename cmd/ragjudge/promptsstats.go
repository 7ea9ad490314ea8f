package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/ragjudge/ragjudge/prompts"
)

// The numbers of resamples behind an interval, and of permutations behind a
// p-value.
const (
	promptResamples = 2000
	promptFlips     = 10_000
)

// clusterDiff is the difference of two prompts on one case: the sum over the n
// things that it asks for. They stand and fall together, so that cases are what
// is resampled.
type clusterDiff struct {
	sum float64
	n   int
}

// difference is a paired difference of agreements.
type difference struct {
	Mean float64 `json:"mean"`
	// CI95 is the 95 % interval by percentile bootstrap over cases; nil with fewer
	// than two.
	CI95 *[2]float64 `json:"ci95"`
	// P is the two-sided p-value of the permutation test that swaps the two prompts
	// within cases (Fisher; with the observed one counted, as Phipson and Smyth,
	// 2010, have it).
	P float64 `json:"p"`
}

// compareDiffs makes the difference with its interval. The same cases and seed
// give the same.
func compareDiffs(diffs []clusterDiff, seed uint64) difference {
	mean := func(pick func(i int) clusterDiff) float64 {
		sum, n := 0.0, 0
		for i := range diffs {
			d := pick(i)
			sum, n = sum+d.sum, n+d.n
		}
		if n == 0 {
			return 0
		}
		return sum / float64(n)
	}
	out := difference{P: 1}
	out.Mean = mean(func(i int) clusterDiff { return diffs[i] })
	if len(diffs) < 2 {
		return out
	}
	rng := rand.New(rand.NewPCG(seed, 0x70726f6d7074)) // "prompt"
	means := make([]float64, promptResamples)
	for b := range means {
		means[b] = mean(func(int) clusterDiff { return diffs[rng.IntN(len(diffs))] })
	}
	slices.Sort(means)
	out.CI95 = &[2]float64{means[promptResamples/40-1], means[promptResamples-promptResamples/40]}
	extreme := 1
	for range promptFlips {
		flipped := mean(func(i int) clusterDiff {
			if rng.IntN(2) == 0 {
				return clusterDiff{-diffs[i].sum, diffs[i].n}
			}
			return diffs[i]
		})
		if math.Abs(flipped) >= math.Abs(out.Mean)-1e-12 {
			extreme++
		}
	}
	out.P = float64(extreme) / (promptFlips + 1)
	return out
}

// scoreOf holds the answers of a prompt against the labels.
func scoreOf(said, labels []string, f prompts.Form) promptScore {
	var s promptScore
	agreed := 0
	distance, answered := 0.0, 0
	for i, w := range labels {
		switch said[i] {
		case "":
			s.NoReply++
			continue
		case w:
			agreed++
		}
		answered++
		if len(f.Labels) == 0 {
			x, _ := strconv.Atoi(said[i]) // both were written by Sprint
			y, _ := strconv.Atoi(w)
			distance += math.Abs(float64(x - y))
		}
	}
	if len(labels) > 0 {
		s.Agreement = float64(agreed) / float64(len(labels))
	}
	if len(f.Labels) == 0 && answered > 0 {
		d := distance / float64(answered)
		s.Distance = &d
	}
	s.Kappa = cohen(said, labels)
	return s
}

// cohen is Cohen's kappa of what has a reply: the agreement beyond what the two
// would have by chance (Cohen, 1960). Nil if chance alone agrees throughout.
func cohen(said, labels []string) *float64 {
	n, same := 0.0, 0.0
	left, right := map[string]float64{}, map[string]float64{}
	for i, w := range labels {
		if said[i] == "" {
			continue
		}
		n++
		left[said[i]]++
		right[w]++
		if said[i] == w {
			same++
		}
	}
	if n == 0 {
		return nil
	}
	words := make([]string, 0, len(left))
	for w := range left {
		words = append(words, w)
	}
	slices.Sort(words) // so that the sum is the same every time
	chance := 0.0
	for _, w := range words {
		chance += left[w] / n * right[w] / n
	}
	if 1-chance < 1e-12 {
		return nil
	}
	k := (same/n - chance) / (1 - chance)
	return &k
}
