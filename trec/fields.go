package trec

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// blank holds the bytes that part columns, as C's isspace has them. The end of
// a line is not among them.
var blank = [256]bool{' ': true, '\t': true, '\v': true, '\f': true, '\r': true}

// maxColumns is the number of columns that are looked at.
const maxColumns = 6

// split fills columns with the columns of the line that begins at i, and
// returns their number, no more than maxColumns, and where the next line begins.
// It is where most of the time goes: no byte but the last columns' is looked at
// twice.
func split(b []byte, i int, columns *[maxColumns][]byte) (n, next int) {
	for i < len(b) {
		if c := b[i]; c <= ' ' {
			if c == '\n' {
				return n, i + 1
			}
			if blank[c] {
				i++
				continue
			}
		}
		if n == maxColumns { // what is behind the last column has no say
			if k := bytes.IndexByte(b[i:], '\n'); k >= 0 {
				return n, i + k + 1
			}
			return n, len(b)
		}
		start := i
		if i+8 <= len(b) { // columnEnd for a column of less than eight bytes, the usual one
			if low := belowColumn(binary.LittleEndian.Uint64(b[i:])); low != 0 {
				i += bits.TrailingZeros64(low) / 8
			} else {
				i += 8
			}
		}
		if i == len(b) || b[i] != ' ' && b[i] != '\n' {
			i = columnEnd(b, i)
		}
		columns[n] = b[start:i]
		n++
	}
	return n, i
}

// belowColumn marks the first of eight bytes that is not above a blank, by the
// highest bit of that byte: subtracting takes a borrow from each of those, and
// the lowest that shows one is the first of them. 0 is none.
func belowColumn(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	return (x - (' '+1)*ones) &^ x & highs
}

// columnEnd returns where the column ends that goes on at i.
func columnEnd(b []byte, i int) int {
	for i+8 <= len(b) {
		low := belowColumn(binary.LittleEndian.Uint64(b[i:]))
		if low == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(low) / 8
		if blank[b[i]] || b[i] == '\n' {
			return i
		}
		i++ // a control character is part of the column
	}
	for i < len(b) && !blank[b[i]] && b[i] != '\n' {
		i++
	}
	return i
}

// powers are the powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseScore reads a score as trec_eval does: as a 64-bit number, cut to 32
// bits. What is no number, and "nan", is refused.
//
// Digits with or without a point, the usual case, are taken here: a whole
// number below 2^53 over a power of ten that is exact is one rounding away from
// the right result, as strconv has it.
func parseScore(b []byte) (float32, bool) {
	s := b
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	var digits uint64
	point, fraction := false, 0
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9' && digits < 1<<53/10:
			digits = digits*10 + uint64(c-'0')
			if point {
				fraction++
			}
		case c == '.' && !point && i+1 < len(s):
			point = true
		default:
			return parseAnyScore(b)
		}
	}
	if len(s) == 0 || fraction >= len(powers) {
		return parseAnyScore(b)
	}
	v := float64(digits) / powers[fraction]
	if negative {
		v = -v
	}
	return float32(v), true
}

func parseAnyScore(b []byte) (float32, bool) {
	for _, c := range b {
		if c == '_' { // a digit separator of Go's, of nobody else's
			return 0, false
		}
	}
	// An overflow is infinite, for trec_eval too.
	v, err := strconv.ParseFloat(string(b), 64)
	if math.IsNaN(v) || err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return float32(v), true
}

// parseGrade reads a grade: a whole number or, if fractions are allowed, any
// finite one.
func parseGrade(b []byte, fractions bool) (float64, bool) {
	if n, err := strconv.ParseInt(string(b), 10, 32); err == nil {
		return float64(n), true
	}
	if !fractions {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}
