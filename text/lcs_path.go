package text

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// wholeTable is up to how many words of 64 places all rows of a comparison are
// kept: 512 KiB.
const wholeTable = 1 << 16

// pairSteps is what a comparison of two sentences is reckoned with besides its
// rows.
const pairSteps = 256

// lcsRows gives the rows of a comparison from the last to the first. Where
// they are too many, only every so many are kept, and those between two kept
// ones are made again when they are asked for: of n rows about 2 x sqrt(n) are
// in memory.
type lcsRows struct {
	lcs    *LCS
	a      []uint32
	index  *blocks
	every  int
	kept   []uint64 // rows 0, every, 2 x every...
	window []uint64 // the rows from first on
	first  int
}

func (l *LCS) rows(a []uint32, index *blocks) (*lcsRows, error) {
	if l.ctx.Err() != nil {
		return nil, fmt.Errorf("compare texts: %w", l.ctx.Err())
	}
	r := &lcsRows{lcs: l, a: a, index: index, every: len(a) + 1, first: -1}
	if r.every*index.words <= wholeTable {
		l.table = slices.Grow(l.table[:0], r.every*index.words)[:r.every*index.words]
		fresh(l.table[:index.words])
		r.window, r.first = l.table, 0
		return r, r.advance(r.every)
	}
	r.every = int(math.Sqrt(float64(len(a)))) + 1
	row := fresh(make([]uint64, index.words))
	for i := 0; ; i++ {
		if i%r.every == 0 {
			r.kept = append(r.kept, row...)
			if l.ctx.Err() != nil {
				return nil, fmt.Errorf("compare texts: %w", l.ctx.Err())
			}
		}
		if i == len(a) {
			return r, nil
		}
		if err := l.spend(1 + index.advance(row, a[i])); err != nil {
			return nil, err
		}
	}
}

// row returns the row after i symbols.
func (r *lcsRows) row(i int) ([]uint64, error) {
	w := r.index.words
	if i < r.first || r.first < 0 {
		r.first = i / r.every * r.every
		count := min(r.every, len(r.a)-r.first+1)
		// A new window each time: the walk still holds the first row of the last.
		r.window = make([]uint64, count*w)
		copy(r.window, r.kept[r.first/r.every*w:][:w])
		if err := r.advance(count); err != nil {
			return nil, err
		}
	}
	return r.window[(i-r.first)*w:][:w], nil
}

// advance fills the window, of whose rows the first is there.
func (r *lcsRows) advance(count int) error {
	w := r.index.words
	for k := 1; k < count; k++ {
		row := r.window[k*w:][:w]
		copy(row, r.window[(k-1)*w:])
		if err := r.lcs.spend(w + r.index.advance(row, r.a[r.first+k-1])); err != nil {
			return err
		}
	}
	return nil
}

// grows is 1 if the common subsequence gets longer at place j (from 1).
func grows(row []uint64, j int) int {
	return int(^row[(j-1)/64] >> ((j - 1) % 64) & 1)
}

// lastGrowth returns the last place up to j at which the common subsequence
// gets longer, or 0.
func lastGrowth(row []uint64, j int) int {
	for w := (j - 1) / 64; w >= 0; w-- {
		bit := ^row[w]
		if rest := j - 64*w; rest < 64 {
			bit &= 1<<rest - 1
		}
		if bit != 0 {
			return 64*w + bits.Len64(bit)
		}
	}
	return 0
}

// last returns the last place up to j at which the symbol stands, or 0.
func (b *blocks) last(id uint32, j int) int {
	at := b.of(id)
	i, _ := slices.BinarySearchFunc(at, (j-1)/64+1, func(k block, word int) int { return int(k.word) - word })
	for i--; i >= 0; i-- {
		w := int(at[i].word)
		bit := at[i].mask
		if rest := j - 64*w; rest < 64 {
			bit &= 1<<rest - 1
		}
		if bit != 0 {
			return 64*w + bits.Len64(bit)
		}
	}
	return 0
}

// mark sets on[i] for each symbol of a that lies on the longest common
// subsequence of a and s. Going back from both ends, a pair that is equal is
// taken; otherwise the symbol of s is left if the subsequence without it is
// longer than the one without a's, else a's.
func (l *LCS) mark(on []bool, a []uint32, s *sentence) error {
	if err := l.spend(pairSteps); err != nil {
		return err
	}
	rows, err := l.rows(a, &s.blocks)
	if err != nil {
		return err
	}
	row, err := rows.row(len(a))
	if err != nil {
		return err
	}
	j := len(s.symbols)
	length := zeros(row, j) // of the subsequence of a[:i] and the first j symbols of s
	for i := len(a); i > 0 && length > 0; i-- {
		above, err := rows.row(i - 1)
		if err != nil {
			return err
		}
		if err := l.spend(1 + j/32); err != nil {
			return err
		}
		lengthAbove := zeros(above, j) // of a[:i-1] and the first j
		if length > lengthAbove {
			// a[i-1] makes it longer by one. That stays so, back to where it is
			// made longer or the symbol stands: every place between is left.
			j = max(lastGrowth(row, j), s.blocks.last(a[i-1], j))
			lengthAbove = length - 1
		}
		if a[i-1] == s.symbols[j-1] {
			on[i-1] = true
			lengthAbove -= grows(above, j)
			j--
		}
		row, length = above, lengthAbove
	}
	return nil
}
