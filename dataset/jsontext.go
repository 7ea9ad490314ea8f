package dataset

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// text is the text of a string or cell. lone reports a surrogate without its
// other half, which became U+FFFD.
func (v value) text() (s string, lone bool) {
	var scratch []byte
	return v.textWith(&scratch)
}

// textWith is text with a buffer to work in.
func (v value) textWith(scratch *[]byte) (s string, lone bool) {
	if v.kind != kindString {
		return string(v.raw), false
	}
	b := v.raw[1 : len(v.raw)-1]
	if !v.esc {
		return string(b), false
	}
	*scratch, lone = unescape((*scratch)[:0], b)
	return string(*scratch), lone
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends b to dst with its (checked) escapes resolved. It copies
// eight bytes at a time, the backslash among them or not, and goes on behind
// the last byte that was plain: the result is never longer than b.
func unescape(dst, b []byte) (_ []byte, lone bool) {
	const word = 8
	start := len(dst)
	dst = slices.Grow(dst, len(b)+word)
	out := dst[start : start+len(b)+word]
	i, o := 0, 0
	for {
		for i+word <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(out[o:], x)
			n := word
			if m := backslashes(x); m != 0 {
				n = bits.TrailingZeros64(m) / 8
			}
			i, o = i+n, o+n
			if n < word {
				break
			}
		}
		for i < len(b) && b[i] != '\\' {
			out[o] = b[i]
			i, o = i+1, o+1
		}
		if i >= len(b) {
			return dst[:start+o], lone
		}
		if c := escapes[b[i+1]]; c != 0 {
			out[o] = c
			i, o = i+2, o+1
			continue
		}
		r, n, alone := unicodeEscape(b[i:])
		lone = lone || alone
		i, o = i+n, o+utf8.EncodeRune(out[o:], r)
	}
}

// backslashes has the high bit set in the lowest byte of x that is a
// backslash; 0 if none is.
func backslashes(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	x ^= '\\' * ones
	return (x - ones) &^ x & highs
}

// unicodeEscape reads the \u at the start of b, with its other half if it is one
// of a pair, and returns how many bytes it takes.
func unicodeEscape(b []byte) (r rune, n int, lone bool) {
	r, _ = hexDigits(b, 2, 4)
	if !utf16.IsSurrogate(r) {
		return r, 6, false
	}
	r2 := rune(utf8.RuneError)
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		r2, _ = hexDigits(b, 8, 4)
	}
	if r = utf16.DecodeRune(r, r2); r == utf8.RuneError {
		return r, 6, true
	}
	return r, 12, false
}

// appendQuoted appends text that is valid UTF-8 as a JSON string.
func appendQuoted[T ~[]byte | ~string](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	run := 0 // where the text begins that is not copied yet
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[run:i]...)
		run = i + 1
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	dst = append(dst, s[run:]...)
	return append(dst, '"')
}
