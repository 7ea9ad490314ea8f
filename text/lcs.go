package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// ErrTooLong is the error of a comparison whose work exceeds its bound.
var ErrTooLong = errors.New("the texts are too long to be compared")

// LCSWork bounds the work of one LCS in steps of 64 places; about ten seconds
// where it is reached. Two texts of 200 KB take at most a thirtieth of it
// even if all their words are the same, and prose of 2 MB stays below it.
const LCSWork = 1 << 32

// LCS finds longest common subsequences. It looks at 64 places at a time
// (Crochemore et al., "A fast and practical bit-vector algorithm for the
// longest common subsequence problem", 2001; Hyyrö, 2004) and only at places
// that can change, so that prose takes much less than the product of both
// lengths. Memory is linear in the lengths. The zero value has no work left;
// use NewLCS.
type LCS struct {
	ctx   context.Context
	steps int64
}

// NewLCS returns an LCS that stops when ctx is done or when all its
// comparisons together have taken the given steps.
func NewLCS(ctx context.Context, steps int64) *LCS { return &LCS{ctx, steps} }

func (l *LCS) spend(steps int) error {
	l.steps -= int64(steps)
	if l.steps < 0 {
		return ErrTooLong
	}
	return nil
}

// blocks are the places of each symbol in a sequence, 64 to a block.
type blocks struct {
	n, words int
	start    []uint32 // by symbol: where its blocks begin
	at       []block
}

type block struct {
	word uint32
	mask uint64
}

func blocksOf(s []uint32) blocks {
	b := blocks{n: len(s), words: (len(s) + 63) / 64}
	top := uint32(0)
	if len(s) > 0 {
		top = slices.Max(s)
	}
	b.start = make([]uint32, top+2)
	last := make([]uint32, top+1) // the last word in which a symbol was seen, plus 1
	for i, id := range s {
		if w := uint32(i/64) + 1; last[id] != w {
			last[id] = w
			b.start[id+1]++
		}
	}
	for i := 1; i < len(b.start); i++ {
		b.start[i] += b.start[i-1]
	}
	b.at = make([]block, b.start[top+1])
	next := slices.Clone(b.start)
	clear(last)
	for i, id := range s {
		w := uint32(i / 64)
		if last[id] != w+1 {
			last[id] = w + 1
			b.at[next[id]].word = w
			next[id]++
		}
		b.at[next[id]-1].mask |= 1 << (i % 64)
	}
	return b
}

func (b *blocks) of(id uint32) []block {
	if int(id) >= len(b.start)-1 {
		return nil
	}
	return b.at[b.start[id]:b.start[id+1]]
}

// newRow is the row before any symbol was compared. A zero bit in a row is a
// place at which the common subsequence gets longer by one.
func (b *blocks) newRow() []uint64 {
	row := make([]uint64, b.words)
	for i := range row {
		row[i] = math.MaxUint64
	}
	return row
}

// advance turns the row of a sequence into that of the sequence with one more
// symbol, and returns the words it looked at.
func (b *blocks) advance(row []uint64, id uint32) int {
	at := b.of(id)
	steps, carry := len(at), uint64(0)
	for i, k := range at {
		v := row[k.word]
		sum, over := bits.Add64(v, v&k.mask, carry)
		row[k.word] = sum | v&^k.mask
		carry = over
		end := len(row)
		if i+1 < len(at) {
			end = int(at[i+1].word)
		}
		for w := int(k.word) + 1; carry != 0 && w < end; w++ {
			v := row[w]
			sum, over := bits.Add64(v, 0, 1)
			row[w] = sum | v
			carry = over
			steps++
		}
	}
	return steps
}

// checkEvery is how many rows pass between two looks at the context.
const checkEvery = 4096

// Length returns the length of a longest common subsequence. The sequences are
// numbers of one Symbols.
func (l *LCS) Length(a, b []uint32) (int, error) {
	index := blocksOf(b)
	row := index.newRow()
	for i, id := range a {
		if i%checkEvery == 0 && l.ctx.Err() != nil {
			return 0, fmt.Errorf("compare texts: %w", l.ctx.Err())
		}
		if err := l.spend(1 + index.advance(row, id)); err != nil {
			return 0, err
		}
	}
	return zeros(row, index.n), nil
}

// zeros counts the zero bits of the first n places.
func zeros(row []uint64, n int) int {
	count := 0
	for w := range n / 64 {
		count += bits.OnesCount64(^row[w])
	}
	if rest := n % 64; rest > 0 {
		count += bits.OnesCount64(^row[n/64] & (1<<rest - 1))
	}
	return count
}

// UnionLength is the number of common words of ROUGE-Lsum: for each sentence
// of the reference, the words that lie on a longest common subsequence with
// any sentence of the candidate, each word counted at most as often as both
// texts have it (Lin 2004, section 3.2, as ROUGE 1.5.5 and rouge-score count).
// Where several longest common subsequences exist, the one is taken that
// rouge-score takes.
func (l *LCS) UnionLength(reference, candidate [][]uint32) (int, error) {
	inReference, inCandidate := countsOf(reference), countsOf(candidate)
	sentences := make([]blocks, len(candidate))
	for i, s := range candidate {
		sentences[i] = blocksOf(s)
	}
	hits := 0
	for _, r := range reference {
		on := make([]bool, len(r))
		for i, s := range candidate {
			if err := l.mark(on, r, s, &sentences[i]); err != nil {
				return 0, err
			}
		}
		for i, id := range r {
			if on[i] && inReference[id] > 0 && inCandidate[id] > 0 {
				inReference[id]--
				inCandidate[id]--
				hits++
			}
		}
	}
	return hits, nil
}

func countsOf(sentences [][]uint32) map[uint32]int {
	counts := map[uint32]int{}
	for _, s := range sentences {
		for _, id := range s {
			counts[id]++
		}
	}
	return counts
}
