package testset

import (
	"slices"

	"github.com/ragjudge/ragjudge/text"
)

// Near is the similarity from which on two questions are near-duplicates,
// unless an Options says otherwise: the Jaccard index of their shingles, which
// are the words and the pairs of neighbouring words, folded. "Please, how long
// is the warranty?" is near "How long is the warranty?" (0.82); the same
// question about another product is not, if it has ten words or fewer.
const Near = 0.8

// MinHash over bands (Broder, On the resemblance and containment of documents,
// 1997; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3):
// two questions of similarity s meet in one of b bands of r values with
// probability 1 - (1 - s^r)^b. With 16 bands of 3 that is 0.99999 at 0.8, and
// those who meet are compared exactly, so that chance makes no false pair.
const (
	bandRows  = 3
	bandCount = 16
)

// maxShingles bounds what is kept of one question: the lowest hashes, which is
// a fair sample of all of them. Questions of up to some 128 words are compared
// exactly.
const maxShingles = 256

// maxWalk bounds how many of the questions that share a band are compared.
const maxWalk = 256

// shingles are the sorted hashes of a text's words and pairs of words.
type shingles []uint32

// shinglesOf makes them, and the key that texts of the same words in the same
// order share. Both are nothing for a text without words.
func shinglesOf(s string) (shingles, uint64) {
	words := text.Words(s)
	if len(words) == 0 {
		return nil, 0
	}
	key := uint64(offset64)
	sh := make(shingles, 0, 2*len(words))
	var last uint64
	for i, w := range words {
		h := hashString(offset64, w)
		key = mix(key ^ h)
		sh = append(sh, uint32(h>>32)^uint32(h))
		if i > 0 {
			pair := mix(last*3 ^ h)
			sh = append(sh, uint32(pair>>32)^uint32(pair))
		}
		last = h
	}
	slices.Sort(sh)
	sh = slices.Compact(sh)
	if len(sh) > maxShingles {
		sh = sh[:maxShingles]
	}
	return slices.Clip(sh), key
}

// similarity is the Jaccard index of two sets of shingles; of two that were
// cut, its estimate from the lowest hashes of both.
func (a shingles) similarity(b shingles) float64 {
	var both, all int
	for i, j := 0, 0; i < len(a) || j < len(b); all++ {
		if all == maxShingles && (len(a) == maxShingles || len(b) == maxShingles) {
			break
		}
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			i++
		case i == len(a) || b[j] < a[i]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}

const offset64 = 14695981039346656037

// hashString is FNV-1a.
func hashString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix spreads the bits of a hash (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// index finds a question among those that were added.
type index struct {
	least float64
	sets  []shingles
	head  map[uint64]int32 // band -> the last question that has it, plus 1
	next  []int32          // per question and band, the one before
}

func newIndex(least float64) *index {
	return &index{least: least, head: make(map[uint64]int32)}
}

// bands are the keys of the buckets of a question.
func (s shingles) bands() (keys [bandCount]uint64) {
	for b := range bandCount {
		key := uint64(b)
		for r := range bandRows {
			seed := mix(uint64(b*bandRows+r) + 0x9e3779b97f4a7c15)
			low := ^uint64(0)
			for _, x := range s {
				low = min(low, mix(uint64(x)^seed))
			}
			key = mix(key ^ low)
		}
		keys[b] = key
	}
	return keys
}

// find returns the number of a question that is near, or -1.
func (x *index) find(s shingles, keys [bandCount]uint64) int {
	for b, key := range keys {
		at := x.head[key] - 1
		for n := 0; at >= 0 && n < maxWalk; n++ {
			if x.sets[at].similarity(s) >= x.least {
				return int(at)
			}
			at = x.next[int(at)*bandCount+b] - 1
		}
	}
	return -1
}

// add adds a question.
func (x *index) add(s shingles, keys [bandCount]uint64) {
	x.sets = append(x.sets, s)
	for _, key := range keys {
		x.next = append(x.next, x.head[key])
		x.head[key] = int32(len(x.sets))
	}
}
