package text

import (
	"cmp"
	"math/bits"
	"slices"
)

// Symbols numbers the distinct symbols that it is shown, from 1.
type Symbols[T comparable] struct {
	ids map[T]uint32
}

// Of returns the numbers of the symbols; a new one gets the next number.
func (s *Symbols[T]) Of(symbols []T) []uint32 {
	if s.ids == nil {
		s.ids = make(map[T]uint32, len(symbols))
	}
	out := make([]uint32, len(symbols))
	for i, x := range symbols {
		id, ok := s.ids[x]
		if !ok {
			id = uint32(len(s.ids) + 1)
			s.ids[x] = id
		}
		out[i] = id
	}
	return out
}

// gram is an n-gram as one number of 128 bits: its symbols' numbers side by
// side, the first on top. Numbers in order are n-grams in order.
type gram struct{ hi, lo uint64 }

func (g gram) shiftLeft(n uint) gram {
	if n >= 64 {
		return gram{hi: g.lo << (n - 64)}
	}
	return gram{g.hi<<n | g.lo>>(64-n), g.lo << n}
}

func (g gram) shiftRight(n uint) gram {
	if n >= 64 {
		return gram{lo: g.hi >> (n - 64)}
	}
	return gram{g.hi >> n, g.lo>>n | g.hi<<(64-n)}
}

func compareGrams(a, b gram) int {
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

// NGrams counts what a text has in common with others, for every length of
// n-gram up to an order. One sort of the longest n-grams serves the shorter
// ones, which are their beginnings; memory is 16 bytes a symbol.
type NGrams struct {
	order, width int
	lengths      []int // of the text, then of the others
	text         []gram
	others       [][]gram
	last         []int // per other: where Shared stands
}

// NewNGrams compares a text with others; all are numbers of one Symbols. The
// order times the bits of the largest number must not exceed 128: an order of
// 6 takes all of Unicode, one of 4 any text.
func NewNGrams(order int, text []uint32, others ...[]uint32) *NGrams {
	top := uint32(1)
	for _, s := range append([][]uint32{text}, others...) {
		for _, id := range s {
			top = max(top, id)
		}
	}
	g := &NGrams{order: order, width: bits.Len32(top)}
	g.text = g.sorted(text)
	g.lengths = []int{len(text)}
	for _, o := range others {
		g.others = append(g.others, g.sorted(o))
		g.lengths = append(g.lengths, len(o))
	}
	g.last = make([]int, len(others))
	return g
}

// sorted returns the n-grams of the full order, one from each place; those
// that the end cuts short are filled with zeros.
func (g *NGrams) sorted(s []uint32) []gram {
	out := make([]gram, len(s))
	total := uint(g.order * g.width)
	var now gram
	for i := range len(s) + g.order - 1 {
		now = now.shiftLeft(uint(g.width))
		if i < len(s) {
			now.lo |= uint64(s[i])
		}
		now = masked(now, total)
		if at := i - g.order + 1; at >= 0 && at < len(out) {
			out[at] = now
		}
	}
	slices.SortFunc(out, compareGrams)
	return out
}

// masked leaves the lower n bits.
func masked(g gram, n uint) gram {
	switch {
	case n >= 128:
		return g
	case n > 64:
		return gram{g.hi & (1<<(n-64) - 1), g.lo}
	case n == 64:
		return gram{lo: g.lo}
	}
	return gram{lo: g.lo & (1<<n - 1)}
}

// Total is the number of n-grams of the text; with i from 0, OtherTotal is
// that of one of the others.
func (g *NGrams) Total(n int) int { return max(0, g.lengths[0]-n+1) }

// OtherTotal is told at Total.
func (g *NGrams) OtherTotal(i, n int) int { return max(0, g.lengths[i+1]-n+1) }

// Shared counts the n-grams of the text that the others have too. An n-gram
// counts at most as often as it stands in the other that has it most often.
func (g *NGrams) Shared(n int) int {
	shift := uint((g.order - n) * g.width)
	whole := uint64(1)<<g.width - 1 // the bits of the last symbol
	clear(g.last)
	shared := 0
	for i := 0; i < len(g.text); {
		x := g.text[i].shiftRight(shift)
		end := i + 1
		for end < len(g.text) && g.text[end].shiftRight(shift) == x {
			end++
		}
		if x.lo&whole != 0 {
			shared += min(end-i, g.most(x, shift))
		}
		i = end
	}
	return shared
}

// most is how often x stands in the other that has it most often. It is asked
// in ascending order.
func (g *NGrams) most(x gram, shift uint) int {
	best := 0
	for k, other := range g.others {
		at := g.last[k]
		for at < len(other) && compareGrams(other[at].shiftRight(shift), x) < 0 {
			at++
		}
		from := at
		for at < len(other) && other[at].shiftRight(shift) == x {
			at++
		}
		best = max(best, at-from)
		g.last[k] = at
	}
	return best
}
