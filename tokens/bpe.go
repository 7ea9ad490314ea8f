package tokens

import (
	_ "embed" // the vocabularies
	"fmt"
	"hash/maphash"
	"math"

	"github.com/ragjudge/ragjudge/tokens/internal/pack"
)

//go:embed vocab/o200k_base.bpe
var o200kData []byte

//go:embed vocab/cl100k_base.bpe
var cl100kData []byte

// none is the rank of what is no token: greater than every rank.
const none = math.MaxUint32

// vocabulary finds the rank of a token by its bytes.
//
// A hash table of our own, with all tokens in one array, is built in a third of
// the time of a Go map and holds nothing for the garbage collector to walk.
type vocabulary struct {
	*pack.Vocabulary
	seed maphash.Seed
	// slots is an open hash table: the upper half of a hash, and rank+1 below
	// it; 0 is an empty slot. Its length is a power of two.
	slots []uint64
	// pairs holds the rank of each token of two bytes, none for the others:
	// every piece that is to be merged starts with them.
	pairs [1 << 16]uint32
	// bytes holds the rank of each single byte.
	bytes [1 << 8]uint32
	// longest is the length of the longest token.
	longest int
}

// mustLoad unpacks an embedded vocabulary. It panics if the data is damaged,
// which a test rules out.
func mustLoad(data []byte) *vocabulary {
	v, err := load(data)
	if err != nil {
		panic(fmt.Sprintf("tokens: the embedded vocabulary can't be read: %v", err))
	}
	return v
}

func load(data []byte) (*vocabulary, error) {
	p, err := pack.Unpack(data)
	if err != nil {
		return nil, err
	}
	size := 1
	for size < 2*p.Len() {
		size *= 2
	}
	v := &vocabulary{Vocabulary: p, seed: maphash.MakeSeed(), slots: make([]uint64, size)}
	for i := range v.pairs {
		v.pairs[i] = none
	}
	for i := range v.bytes {
		v.bytes[i] = none
	}
	for rank := range p.Len() {
		v.add(p.Token(rank), uint32(rank))
	}
	for b, rank := range v.bytes {
		if rank == none {
			return nil, fmt.Errorf("no token for the byte %#02x", b)
		}
	}
	return v, nil
}

func (v *vocabulary) add(token []byte, rank uint32) {
	v.longest = max(v.longest, len(token))
	switch len(token) {
	case 1:
		v.bytes[token[0]] = rank
	case 2:
		v.pairs[int(token[0])<<8|int(token[1])] = rank
	}
	h := maphash.Bytes(v.seed, token)
	i := int(h) & (len(v.slots) - 1)
	for v.slots[i] != 0 {
		i = (i + 1) & (len(v.slots) - 1)
	}
	v.slots[i] = h&^math.MaxUint32 | uint64(rank+1)
}

// rank returns the rank of a token, or none.
func (v *vocabulary) rank(token string) uint32 {
	if len(token) > v.longest {
		return none
	}
	h := maphash.String(v.seed, token)
	i := int(h) & (len(v.slots) - 1)
	for v.slots[i] != 0 {
		slot := v.slots[i]
		if rank := uint32(slot) - 1; (slot^h)>>32 == 0 && string(v.Token(int(rank))) == token {
			return rank
		}
		i = (i + 1) & (len(v.slots) - 1)
	}
	return none
}

// count returns the number of tokens of a piece.
func (v *vocabulary) count(piece string) int {
	if len(piece) == 1 || v.rank(piece) != none {
		return 1
	}
	var buf [maxScan]int
	return len(v.merge(piece, buf[:0]))
}

// encode appends the ids of a piece's tokens.
func (v *vocabulary) encode(ids []int, piece string) []int {
	if r := v.rank(piece); r != none {
		return append(ids, int(r))
	}
	var buf [maxScan]int
	start := 0
	for _, end := range v.merge(piece, buf[:0]) {
		ids = append(ids, int(v.rank(piece[start:end])))
		start = end
	}
	return ids
}
