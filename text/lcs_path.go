package text

import (
	"fmt"
	"math"
)

// lcsRows gives the rows of a comparison from the last to the first, though
// only every so many are kept: the rows between two kept ones are made again
// when they are asked for. Of n rows about 2 x sqrt(n) are in memory.
type lcsRows struct {
	lcs    *LCS
	a      []uint32
	index  *blocks
	every  int
	kept   [][]uint64 // rows 0, every, 2 x every...
	window [][]uint64 // the rows from first on
	first  int
}

func (l *LCS) rows(a []uint32, index *blocks) (*lcsRows, error) {
	r := &lcsRows{lcs: l, a: a, index: index, every: int(math.Sqrt(float64(len(a)))) + 1, first: -1}
	row := index.newRow()
	for i, id := range a {
		if i%r.every == 0 {
			r.kept = append(r.kept, append([]uint64(nil), row...))
			if l.ctx.Err() != nil {
				return nil, fmt.Errorf("compare texts: %w", l.ctx.Err())
			}
		}
		if err := l.spend(1 + index.advance(row, id)); err != nil {
			return nil, err
		}
	}
	if len(a)%r.every == 0 {
		r.kept = append(r.kept, row)
	}
	return r, nil
}

// row returns the row after i symbols.
func (r *lcsRows) row(i int) ([]uint64, error) {
	if from := i / r.every * r.every; from != r.first {
		if err := r.fill(from); err != nil {
			return nil, err
		}
	}
	return r.window[i-r.first], nil
}

// fill makes the rows of a window anew. A row of the window before stays good
// for whoever holds it.
func (r *lcsRows) fill(from int) error {
	count := min(r.every, len(r.a)-from+1)
	window := make([][]uint64, count)
	window[0] = r.kept[from/r.every]
	for k := 1; k < count; k++ {
		window[k] = append([]uint64(nil), window[k-1]...)
		if err := r.lcs.spend(r.index.words + r.index.advance(window[k], r.a[from+k-1])); err != nil {
			return err
		}
	}
	r.window, r.first = window, from
	return nil
}

// grows is 1 if the common subsequence gets longer at place j (from 1).
func grows(row []uint64, j int) int {
	return int(^row[(j-1)/64] >> ((j - 1) % 64) & 1)
}

// mark sets on[i] for each symbol of a that lies on the longest common
// subsequence of a and b. Going back from both ends, a pair that is equal is
// taken; otherwise b's symbol is left if the subsequence without it is the
// longer one, else a's.
func (l *LCS) mark(on []bool, a, b []uint32, index *blocks) error {
	if len(a) == 0 || len(b) == 0 {
		return l.spend(1)
	}
	rows, err := l.rows(a, index)
	if err != nil {
		return err
	}
	i, j := len(a), len(b)
	row, err := rows.row(i)
	if err != nil {
		return err
	}
	length := zeros(row, j) // of the subsequence of a[:i] and b[:j]
	for i > 0 && j > 0 {
		above, err := rows.row(i - 1)
		if err != nil {
			return err
		}
		if err := l.spend(1 + j/64); err != nil {
			return err
		}
		lengthAbove := zeros(above, j) // of a[:i-1] and b[:j]
		for j > 0 && a[i-1] != b[j-1] && length-grows(row, j) > lengthAbove {
			length -= grows(row, j)
			lengthAbove -= grows(above, j)
			j--
		}
		if j == 0 {
			return nil
		}
		if a[i-1] == b[j-1] {
			on[i-1] = true
			lengthAbove -= grows(above, j)
			j--
		}
		i, row, length = i-1, above, lengthAbove
	}
	return nil
}
