package trec

import (
	"math"
	"strconv"
)

// blank holds the bytes that part columns, as C's isspace has them. The end of
// a line is not among them.
var blank = [256]bool{' ': true, '\t': true, '\v': true, '\f': true, '\r': true}

// maxColumns is the number of columns that are looked at.
const maxColumns = 6

// split fills columns with the columns of a line, and returns their number; no
// more than maxColumns.
func split(line []byte, columns *[maxColumns][]byte) int {
	i, n := 0, 0
	for n < maxColumns {
		for i < len(line) && blank[line[i]] {
			i++
		}
		if i == len(line) {
			return n
		}
		start := i
		for i < len(line) && !blank[line[i]] {
			i++
		}
		columns[n] = line[start:i]
		n++
	}
	return n
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
