package text

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// ErrTooLong is the error of a comparison whose work exceeds its bound.
var ErrTooLong = errors.New("the texts are too long to be compared")

// LCSWork bounds the work of one LCS in steps of 64 places; about ten seconds
// where it is reached. Two texts of 200 KB take at most a tenth of it
// even if all their words are the same, and prose of 2 MB stays below it.
const LCSWork = 1 << 31

// LCS finds longest common subsequences. It looks at 64 places at a time
// (Crochemore et al., "A fast and practical bit-vector algorithm for the
// longest common subsequence problem", 2001; Hyyrö, 2004) and only at places
// that can change, so that prose takes much less than the product of both
// lengths. Memory is linear in the lengths. The zero value has no work left;
// use NewLCS.
type LCS struct {
	ctx   context.Context
	steps int64
	table []uint64 // of mark, between two calls
}

// NewLCS returns an LCS that stops when ctx is done or when all its
// comparisons together have taken the given steps.
func NewLCS(ctx context.Context, steps int64) *LCS { return &LCS{ctx: ctx, steps: steps} }

func (l *LCS) spend(steps int) error {
	l.steps -= int64(steps)
	if l.steps < 0 {
		return ErrTooLong
	}
	return nil
}

// blocks are the places of each symbol in a sequence, 64 to a block, in order
// of symbol and place.
type blocks struct {
	n, words int
	at       []block
}

type block struct {
	symbol, word uint32
	mask         uint64
}

func blocksOf(s []uint32) blocks {
	places := make([]uint64, len(s))
	for i, id := range s {
		places[i] = uint64(id)<<32 | uint64(i)
	}
	slices.Sort(places)
	b := blocks{n: len(s), words: (len(s) + 63) / 64, at: make([]block, 0, len(s))}
	for _, p := range places {
		symbol, place := uint32(p>>32), uint32(p)
		if n := len(b.at); n == 0 || b.at[n-1].symbol != symbol || b.at[n-1].word != place/64 {
			b.at = append(b.at, block{symbol: symbol, word: place / 64})
		}
		b.at[len(b.at)-1].mask |= 1 << (place % 64)
	}
	return b
}

func (b *blocks) of(id uint32) []block {
	from, _ := slices.BinarySearchFunc(b.at, id, func(k block, id uint32) int { return cmp.Compare(k.symbol, id) })
	to, _ := slices.BinarySearchFunc(b.at[from:], id, func(k block, id uint32) int {
		if k.symbol <= id {
			return -1
		}
		return 1
	})
	return b.at[from : from+to]
}

// fresh makes of row the one before any symbol was compared. A zero bit in a
// row is a place at which the common subsequence gets longer by one.
func fresh(row []uint64) []uint64 {
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
	row := fresh(make([]uint64, index.words))
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
	index := indexSentences(candidate)
	marked := map[string][]bool{} // sentences may repeat, as rows of a table do
	hits := 0
	for _, r := range reference {
		key := sentenceKey(r)
		on, ok := marked[key]
		if !ok {
			on = make([]bool, len(r))
			for _, s := range index.sharing(r) {
				if err := l.mark(on, r, &index.sentences[s]); err != nil {
					return 0, err
				}
			}
			marked[key] = on
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

// sentenceIndex finds, among distinct sentences, those that share a symbol
// with another one. The others have no common subsequence with it.
type sentenceIndex struct {
	sentences []sentence
	with      map[uint32][]int // by symbol
	visited   []int            // by sentence: the last question that met it
	question  int
}

type sentence struct {
	symbols []uint32
	blocks  blocks
}

func indexSentences(all [][]uint32) *sentenceIndex {
	x := &sentenceIndex{with: map[uint32][]int{}}
	known := map[string]bool{}
	for _, s := range all {
		key := sentenceKey(s)
		if known[key] {
			continue
		}
		known[key] = true
		n := len(x.sentences)
		x.sentences = append(x.sentences, sentence{s, blocksOf(s)})
		for _, id := range s {
			if on := x.with[id]; len(on) == 0 || on[len(on)-1] != n {
				x.with[id] = append(on, n)
			}
		}
	}
	x.visited = make([]int, len(x.sentences))
	return x
}

func (x *sentenceIndex) sharing(r []uint32) []int {
	x.question++
	var out []int
	for _, id := range r {
		for _, s := range x.with[id] {
			if x.visited[s] != x.question {
				x.visited[s] = x.question
				out = append(out, s)
			}
		}
	}
	return out
}

// sentenceKey is a text that is the same for the same symbols.
func sentenceKey(s []uint32) string {
	key := make([]byte, 0, 4*len(s))
	for _, id := range s {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	return string(key)
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
