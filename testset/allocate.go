package testset

import (
	"cmp"
	"maps"
	"slices"
)

// Allocate spreads n over strata that hold so many each: in proportion to what
// they hold, or equally, but at least least each, and never more than a stratum
// holds. What is left over by rounding goes to the largest remainders
// (Hamilton's method), ties to the name that sorts first. Where n is not enough
// for least in every stratum, all get equally much of it, the largest first.
func Allocate(holds map[string]int, n, least int, equal bool) map[string]int {
	return allocate(holds, n, least, equal, func(string) uint64 { return 0 })
}

// allocate is Allocate with a lot for each stratum, the lower of which goes
// first where remainders tie: of a thousand strata of one question each, those
// that sort first must not always be the ones that are drawn.
func allocate(holds map[string]int, n, least int, equal bool, lot func(string) uint64) map[string]int {
	names := slices.SortedFunc(maps.Keys(holds), func(a, b string) int {
		return cmp.Or(cmp.Compare(holds[b], holds[a]), cmp.Compare(a, b))
	})
	quota := make(map[string]int, len(names))
	total := 0
	for _, name := range names {
		total += holds[name]
	}
	n = min(n, total)
	if len(names) > 0 {
		least = min(least, n/len(names))
	}
	for _, name := range names {
		quota[name] = min(least, holds[name])
		n -= quota[name]
	}
	for n > 0 {
		given := spread(names, holds, quota, n, equal, lot)
		n -= given
		if given == 0 {
			break
		}
	}
	return quota
}

// spread gives out up to n once, to strata that hold more than their quota,
// and returns how much of it found a place.
func spread(names []string, holds, quota map[string]int, n int, equal bool, lot func(string) uint64) (given int) {
	target := shares(names, holds, quota, n, equal, lot)
	for _, name := range names {
		more := min(target[name], holds[name]-quota[name])
		quota[name] += more
		given += more
	}
	return given
}

// shares divides n by weight among the strata with room. In proportion means
// that the quota as a whole, the least included, comes as near to the share of
// the stratum as can be: so what it has already is taken off.
func shares(names []string, holds, quota map[string]int, n int, equal bool, lot func(string) uint64) map[string]int {
	type share struct {
		name string
		want float64
	}
	var open []share
	for dropped := map[string]bool{}; ; {
		open = open[:0]
		weight, have := 0.0, n
		for _, name := range names {
			if holds[name] > quota[name] && !dropped[name] {
				weight += weightOf(holds[name], equal)
				have += quota[name]
			}
		}
		again := false
		for _, name := range names {
			if holds[name] <= quota[name] || dropped[name] {
				continue
			}
			want := float64(have)*weightOf(holds[name], equal)/weight - float64(quota[name])
			if want < 0 { // it has more than its share by the least alone
				dropped[name], again = true, true
			}
			open = append(open, share{name, want})
		}
		if !again {
			break
		}
	}
	out, left := make(map[string]int), n
	for _, s := range open {
		out[s.name] = int(s.want)
		left -= int(s.want)
	}
	slices.SortStableFunc(open, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.want-float64(int(b.want)), a.want-float64(int(a.want))), cmp.Compare(lot(a.name), lot(b.name)), cmp.Compare(a.name, b.name))
	})
	for i := range open {
		if i < left {
			out[open[i].name]++
		}
	}
	return out
}

func weightOf(holds int, equal bool) float64 {
	if equal {
		return 1
	}
	return float64(holds)
}
