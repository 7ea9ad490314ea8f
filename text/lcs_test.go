package text_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ragjudge/ragjudge/text"
	"pgregory.net/rapid"
)

// table is the plain way: the lengths of all longest common subsequences.
func table(a, b []uint32) [][]int {
	t := make([][]int, len(a)+1)
	t[0] = make([]int, len(b)+1)
	for i := range a {
		t[i+1] = make([]int, len(b)+1)
		for j := range b {
			if a[i] == b[j] {
				t[i+1][j+1] = t[i][j] + 1
			} else {
				t[i+1][j+1] = max(t[i][j+1], t[i+1][j])
			}
		}
	}
	return t
}

func sequence(most int, alphabet uint32) *rapid.Generator[[]uint32] {
	return rapid.SliceOfN(rapid.Uint32Range(1, alphabet), 0, most)
}

func TestLCSEqualsTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.Uint32Range(1, 30).Draw(t, "alphabet")
		a, b := sequence(300, alphabet).Draw(t, "a"), sequence(300, alphabet).Draw(t, "b")
		got, err := text.NewLCS(t.Context(), text.LCSWork).Length(a, b)
		if want := table(a, b)[len(a)][len(b)]; err != nil || got != want {
			t.Fatalf("%d, %v; want %d", got, err, want)
		}
	})
}

// unionByTable is ROUGE-Lsum's count by way of whole tables.
func unionByTable(reference, candidate [][]uint32) int {
	count := func(ss [][]uint32) map[uint32]int {
		m := map[uint32]int{}
		for _, s := range ss {
			for _, id := range s {
				m[id]++
			}
		}
		return m
	}
	left, right := count(reference), count(candidate)
	hits := 0
	for _, r := range reference {
		on := map[int]bool{}
		for _, c := range candidate {
			t := table(r, c)
			for i, j := len(r), len(c); i > 0 && j > 0; {
				switch {
				case r[i-1] == c[j-1]:
					i, j = i-1, j-1
					on[i] = true
				case t[i][j-1] > t[i-1][j]:
					j--
				default:
					i--
				}
			}
		}
		for i, id := range r {
			if on[i] && left[id] > 0 && right[id] > 0 {
				left[id]--
				right[id]--
				hits++
			}
		}
	}
	return hits
}

func TestUnionLengthEqualsTheTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.Uint32Range(1, 12).Draw(t, "alphabet")
		sentences := rapid.SliceOfN(sequence(150, alphabet), 0, 4)
		a, b := sentences.Draw(t, "reference"), sentences.Draw(t, "candidate")
		got, err := text.NewLCS(t.Context(), text.LCSWork).UnionLength(a, b)
		if want := unionByTable(a, b); err != nil || got != want {
			t.Fatalf("%d, %v; want %d", got, err, want)
		}
	})
}

// Sentences so long that not all rows are kept.
func TestUnionLengthOfLongSentences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, alphabet := range []int{2, 40, 2000} {
		words := func(n int) []uint32 {
			s := make([]uint32, n)
			for i := range s {
				s[i] = 1 + uint32(rng.IntN(alphabet))
			}
			return s
		}
		a, b := [][]uint32{words(2500), words(700)}, [][]uint32{words(2600), words(2300)}
		got, err := text.NewLCS(t.Context(), text.LCSWork).UnionLength(a, b)
		if want := unionByTable(a, b); err != nil || got != want {
			t.Errorf("%d words: %d, %v; want %d", alphabet, got, err, want)
		}
	}
}

// Two texts of 100,000 words, which is 200 KB if the words are as short as can
// be. A table would take 40 GB, one of bits 1.2 GB.
func TestLCSOfLongTextsTakesLittleMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 100_000
	prose := func(distinct int) []uint32 {
		s := make([]uint32, n)
		for i := range s {
			s[i] = 1 + uint32(float64(distinct)*rng.Float64()*rng.Float64()*rng.Float64())
		}
		return s
	}
	same := slices.Repeat([]uint32{1}, n)
	for name, c := range map[string]struct{ a, b []uint32 }{
		"prose": {prose(5000), prose(5000)}, "two letters": {prose(2), prose(2)}, "one letter": {same, same},
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			length, err := text.NewLCS(t.Context(), text.LCSWork/10).Length(c.a, c.b)
			if err != nil || length == 0 {
				t.Fatalf("%d, %v", length, err)
			}
			if took := allocated() - before; took > 64<<20 {
				t.Errorf("took %d MiB", took>>20)
			}
		})
	}
	before := allocated()
	a, b := prose(5000)[:30_000], prose(5000)[:30_000]
	if _, err := text.NewLCS(t.Context(), text.LCSWork).UnionLength([][]uint32{a}, [][]uint32{b}); err != nil {
		t.Fatal(err)
	}
	if took := allocated() - before; took > 512<<20 { // all that was ever taken, most of it given back
		t.Errorf("the union took %d MiB", took>>20)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestLCSStops(t *testing.T) {
	a := slices.Repeat([]uint32{1, 2}, 5000)
	if _, err := text.NewLCS(t.Context(), 1000).Length(a, a); !errors.Is(err, text.ErrTooLong) {
		t.Errorf("without work left: %v", err)
	}
	if _, err := text.NewLCS(t.Context(), 1000).UnionLength([][]uint32{a}, [][]uint32{a}); !errors.Is(err, text.ErrTooLong) {
		t.Errorf("the union without work left: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := text.NewLCS(ctx, text.LCSWork).Length(a, a); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := text.NewLCS(ctx, text.LCSWork).UnionLength([][]uint32{a}, [][]uint32{a}); !errors.Is(err, context.Canceled) {
		t.Errorf("the union, cancelled: %v", err)
	}
}

func TestNGramsCountAsMapsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Up to order 6 with 21 bits, the whole of Unicode, and order 4 with 32.
		limit := rapid.SampledFrom([]uint32{1, 2, 3, 40, 1023, 1024, 1<<21 - 1, 1<<32 - 1}).Draw(t, "largest number")
		order := 6
		if limit > 1<<21 {
			order = 4
		}
		id := rapid.OneOf(rapid.Uint32Range(1, limit), rapid.Uint32Range(1, min(limit, 3)), rapid.Just(limit))
		seq := rapid.SliceOfN(id, 0, 40)
		x := seq.Draw(t, "text")
		others := rapid.SliceOfN(seq, 1, 3).Draw(t, "others")
		g := text.NewNGrams(order, x, others...)
		for n := 1; n <= order; n++ {
			counts := func(s []uint32) map[[6]uint32]int {
				m := map[[6]uint32]int{}
				for i := 0; i+n <= len(s); i++ {
					var k [6]uint32
					copy(k[:], s[i:i+n])
					m[k]++
				}
				return m
			}
			want, total := 0, 0
			for k, c := range counts(x) {
				most := 0
				for _, o := range others {
					most = max(most, counts(o)[k])
				}
				want += min(c, most)
				total += c
			}
			if got := g.Shared(n); got != want || g.Total(n) != total {
				t.Fatalf("order %d: %d of %d, want %d of %d", n, got, g.Total(n), want, total)
			}
		}
	})
}
