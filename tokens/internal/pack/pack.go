// Package pack is the embedded form of a byte-pair vocabulary: small on disk
// and quick to unpack.
//
// The tokens stand sorted by their bytes, each as the length of the prefix it
// shares with the one before and the rest of its bytes; their ranks follow as
// three planes of one byte each. All of it is one DEFLATE stream. Prefix
// lengths, rest lengths, rests and ranks are kept apart because each
// compresses best among its like: o200k_base takes 0.8 MB where its tokens in
// order of rank, length-prefixed, take 1.05 MB.
package pack

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// magic starts a packed vocabulary and names the version of its form.
const magic = "bpe1"

// The bounds of what can be packed: the length of a token fits a byte, and a
// rank three bytes. MaxBytes keeps a damaged file from asking for more memory
// than any vocabulary needs.
const (
	MaxTokenLen = 255
	MaxTokens   = 1 << 22
	MaxBytes    = 1 << 26
)

// Vocabulary is the tokens of a byte-pair encoding in order of their rank,
// which is also their id.
type Vocabulary struct {
	// Bytes holds all tokens one after the other, in order of rank.
	Bytes []byte
	// Ends holds, for each rank, where its token ends in Bytes. It starts
	// where the one before ends.
	Ends []uint32
}

// Len returns the number of tokens.
func (v *Vocabulary) Len() int { return len(v.Ends) }

// Token returns the bytes of the token of a rank below Len.
func (v *Vocabulary) Token(rank int) []byte {
	start := uint32(0)
	if rank > 0 {
		start = v.Ends[rank-1]
	}
	return v.Bytes[start:v.Ends[rank]]
}

// Pack returns the packed form of the tokens, given in order of rank. Empty,
// repeated and overlong tokens are errors.
func Pack(tokens [][]byte) ([]byte, error) {
	if len(tokens) > MaxTokens {
		return nil, fmt.Errorf("pack %d tokens: more than %d", len(tokens), MaxTokens)
	}
	order := make([]int, len(tokens))
	for i, t := range tokens {
		if len(t) == 0 || len(t) > MaxTokenLen {
			return nil, fmt.Errorf("pack token %d: length %d is not in 1..%d", i, len(t), MaxTokenLen)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(tokens[a], tokens[b]) })

	n := len(tokens)
	shared, rests := make([]byte, n), make([]byte, n)
	ranks := make([]byte, 3*n)
	var text, prev []byte
	for i, rank := range order {
		t := tokens[rank]
		if i > 0 && bytes.Equal(t, prev) {
			return nil, fmt.Errorf("pack token %d: %q is there twice", rank, t)
		}
		k := commonPrefix(prev, t)
		shared[i], rests[i] = byte(k), byte(len(t)-k)
		text = append(text, t[k:]...)
		ranks[i], ranks[n+i], ranks[2*n+i] = byte(rank), byte(rank>>8), byte(rank>>16)
		prev = t
	}

	out := bytes.NewBufferString(magic)
	w, err := flate.NewWriter(out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(n))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(text)))
	for _, part := range [][]byte{head, shared, rests, text, ranks} {
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Unpack returns the vocabulary of a packed form. It checks that every rank
// from 0 up is there exactly once and that no token is empty or repeated.
func Unpack(data []byte) (*Vocabulary, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, errors.New("unpack vocabulary: it does not start with " + magic)
	}
	r := flate.NewReader(bytes.NewReader(rest))
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("unpack vocabulary: read head: %w", err)
	}
	n, size := int(binary.LittleEndian.Uint32(head)), int(binary.LittleEndian.Uint32(head[4:]))
	if n > MaxTokens || size > MaxBytes {
		return nil, fmt.Errorf("unpack vocabulary: %d tokens and %d bytes are too many", n, size)
	}
	// Read no more than is announced, and don't trust the announcement with
	// memory before the bytes are there.
	body, err := io.ReadAll(io.LimitReader(r, int64(5*n+size)+1))
	if err != nil {
		return nil, fmt.Errorf("unpack vocabulary: read body: %w", err)
	}
	if len(body) != 5*n+size {
		return nil, fmt.Errorf("unpack vocabulary: body of %d bytes, want %d", len(body), 5*n+size)
	}
	shared, rests, text, ranks := body[:n], body[n:2*n], body[2*n:2*n+size], body[2*n+size:]
	return assemble(shared, rests, text, ranks)
}

// assemble puts the parts of a packed vocabulary together: once over the
// lengths to find each token's place, once to copy the bytes there.
func assemble(shared, rests, text, ranks []byte) (*Vocabulary, error) {
	n := len(shared)
	rank := func(i int) int { return int(ranks[i]) | int(ranks[n+i])<<8 | int(ranks[2*n+i])<<16 }

	ends := make([]uint32, n)
	total, left := 0, len(text)
	for i := range n {
		k, length := int(shared[i]), int(shared[i])+int(rests[i])
		switch {
		case rests[i] == 0 || length > MaxTokenLen:
			return nil, fmt.Errorf("unpack vocabulary: entry %d has length %d, of it %d new", i, length, rests[i])
		case i == 0 && k > 0 || i > 0 && k > int(shared[i-1])+int(rests[i-1]):
			return nil, fmt.Errorf("unpack vocabulary: entry %d shares %d bytes, more than there are", i, k)
		case rank(i) >= n || ends[rank(i)] != 0:
			return nil, fmt.Errorf("unpack vocabulary: entry %d has rank %d, out of range or taken", i, rank(i))
		}
		ends[rank(i)] = uint32(length)
		total += length
		left -= int(rests[i])
	}
	if left != 0 || total > MaxBytes {
		return nil, fmt.Errorf("unpack vocabulary: %d bytes of text over, %d bytes in all", left, total)
	}
	for i := 1; i < n; i++ {
		ends[i] += ends[i-1]
	}

	v := &Vocabulary{Bytes: make([]byte, total), Ends: ends}
	var prev []byte
	for i := range n {
		t := v.Token(rank(i))
		k, m := int(shared[i]), int(rests[i])
		copy(t, prev[:k])
		copy(t[k:], text[:m])
		text = text[m:]
		if i > 0 && bytes.Compare(prev, t) >= 0 {
			return nil, fmt.Errorf("unpack vocabulary: entry %d, %q, is not in order", i, t)
		}
		prev = t
	}
	return v, nil
}

func commonPrefix(a, b []byte) int {
	k := 0
	for k < len(a) && k < len(b) && a[k] == b[k] {
		k++
	}
	return k
}
