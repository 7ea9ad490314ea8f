package tokens

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what the split patterns ask about a character, as bits.
type class uint8

const (
	upper   class = 1 << iota // Lu Lt Lm Lo M: [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	lower                     // Ll Lm Lo M:    [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	letter                    // \p{L}
	number                    // \p{N}
	space                     // \s
	newline                   // [\r\n]
)

// classes maps a rune to its class. A flat table costs 1.1 MB where
// binary search in unicode's tables costs most of the time of non-Latin text.
type classes [unicode.MaxRune + 1]class

var loadClasses = sync.OnceValue(func() *classes {
	cl := new(classes)
	for _, t := range []struct {
		is     class
		tables []*unicode.RangeTable
	}{
		{upper | letter, []*unicode.RangeTable{unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, newUpper, newOther}},
		{lower | letter, []*unicode.RangeTable{unicode.Ll, unicode.Lm, unicode.Lo, newLower, newOther}},
		{upper | lower, []*unicode.RangeTable{unicode.M, newMark}},
		{number, []*unicode.RangeTable{unicode.N, newNumber}},
		{space, []*unicode.RangeTable{unicode.White_Space}},
	} {
		for _, table := range t.tables {
			cl.mark(table, t.is)
		}
	}
	cl['\r'] |= newline
	cl['\n'] |= newline
	return cl
})

func (cl *classes) mark(t *unicode.RangeTable, is class) {
	for _, r := range t.R16 {
		for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
			cl[c] |= is
		}
	}
	for _, r := range t.R32 {
		for c := r.Lo; c <= r.Hi; c += r.Stride {
			cl[c] |= is
		}
	}
}

// at returns the class and the width of the character at s[i].
func (cl *classes) at(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return cl[c], 1
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	return cl[r], w
}

// span returns the end of the run of characters with any bit of is that starts
// at s[i].
func (cl *classes) span(s string, i int, is class) int {
	for i < len(s) {
		c, w := cl.at(s, i)
		if c&is == 0 {
			break
		}
		i += w
	}
	return i
}

// The reference's tables are those of Unicode 16, Go 1.26's those of
// Unicode 15. These are the letters, marks and numbers that came between,
// by the Unicode Character Database; a test holds the whole table to the
// reference's, and tells when a newer Go makes them needless.
var (
	newUpper = &unicode.RangeTable{
		R16: []unicode.Range16{{0x1c89, 0x1c89, 1}, {0xa7cb, 0xa7cc, 1}, {0xa7da, 0xa7dc, 2}},
		R32: []unicode.Range32{{0x10d50, 0x10d65, 1}},
	}
	newLower = &unicode.RangeTable{
		R16: []unicode.Range16{{0x1c8a, 0x1c8a, 1}, {0xa7cd, 0xa7cd, 1}, {0xa7db, 0xa7db, 1}},
		R32: []unicode.Range32{{0x10d70, 0x10d85, 1}},
	}
	// newOther is Lm and Lo, between which the patterns make no difference.
	newOther = &unicode.RangeTable{
		R32: []unicode.Range32{
			{0x105c0, 0x105f3, 1}, {0x10d4a, 0x10d4f, 1}, {0x10d6f, 0x10d6f, 1}, {0x10ec2, 0x10ec4, 1},
			{0x11380, 0x11389, 1}, {0x1138b, 0x1138b, 1}, {0x1138e, 0x1138e, 1}, {0x11390, 0x113b5, 1},
			{0x113b7, 0x113b7, 1}, {0x113d1, 0x113d1, 1}, {0x113d3, 0x113d3, 1}, {0x11bc0, 0x11be0, 1},
			{0x13460, 0x143fa, 1}, {0x16100, 0x1611d, 1}, {0x16d40, 0x16d6c, 1}, {0x18cff, 0x18cff, 1},
			{0x1e5d0, 0x1e5ed, 1}, {0x1e5f0, 0x1e5f0, 1}, {0x2ebf0, 0x2ee5d, 1},
		},
	}
	newMark = &unicode.RangeTable{
		R16: []unicode.Range16{{0x0897, 0x0897, 1}},
		R32: []unicode.Range32{
			{0x10d69, 0x10d6d, 1}, {0x10efc, 0x10efc, 1}, {0x113b8, 0x113c0, 1}, {0x113c2, 0x113c2, 1},
			{0x113c5, 0x113c5, 1}, {0x113c7, 0x113ca, 1}, {0x113cc, 0x113d0, 1}, {0x113d2, 0x113d2, 1},
			{0x113e1, 0x113e2, 1}, {0x11f5a, 0x11f5a, 1}, {0x1611e, 0x1612f, 1}, {0x1e5ee, 0x1e5ef, 1},
		},
	}
	newNumber = &unicode.RangeTable{
		R32: []unicode.Range32{
			{0x10d40, 0x10d49, 1}, {0x116d0, 0x116e3, 1}, {0x11bf0, 0x11bf9, 1}, {0x16130, 0x16139, 1},
			{0x16d70, 0x16d79, 1}, {0x1ccf0, 0x1ccf9, 1}, {0x1e5f1, 0x1e5fa, 1},
		},
	}
)
