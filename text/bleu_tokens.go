package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Tokenizer names a way to take a text apart for BLEU.
type Tokenizer string

// The tokenizers, by the names that sacrebleu gives them.
const (
	// Tokenizer13a is that of mteval-v13a.pl, the usual one: ASCII punctuation
	// apart, points and commas apart unless between digits.
	Tokenizer13a Tokenizer = "13a"
	// TokenizerIntl is that of mteval-v14.pl: punctuation and symbols of every
	// script apart.
	TokenizerIntl Tokenizer = "intl"
	// TokenizerChar makes every character a token.
	TokenizerChar Tokenizer = "char"
	// TokenizerNone splits at white space.
	TokenizerNone Tokenizer = "none"
)

// Tokenizers lists them.
var Tokenizers = []Tokenizer{Tokenizer13a, TokenizerIntl, TokenizerChar, TokenizerNone}

// Tokens returns the tokens of the text as sacrebleu 2 gives them; an unknown
// tokenizer splits at white space.
func (t Tokenizer) Tokens(s string) []string {
	s = strings.TrimRightFunc(s, IsSpace)
	switch t {
	case Tokenizer13a:
		s = tokenize13a(s)
	case TokenizerIntl:
		s = tokenizeIntl(s)
	case TokenizerChar:
		return characters(s)
	}
	return strings.FieldsFunc(s, IsSpace)
}

// UnicodeTokens returns the same tokens for every script: the text is composed
// (NFC) first, and a token that holds letters of a script that is written
// without spaces is taken apart into its letters, with their marks, and what
// stands between them. Without such letters and without accents that are not
// composed the tokens are those of Tokens.
func (t Tokenizer) UnicodeTokens(s string) []string {
	words := t.Tokens(norm.NFC.String(s))
	if ascii(s) || t == TokenizerChar {
		return words
	}
	tokens := make([]string, 0, len(words))
	for _, w := range words {
		for _, unit := range appendUnits(nil, w) {
			r, _ := utf8.DecodeRuneInString(unit)
			if len(unit) < len(w) && !unspaced(r) {
				tokens = appendMarksApart(tokens, unit)
			} else {
				tokens = append(tokens, unit)
			}
		}
	}
	return tokens
}

// appendMarksApart appends what stands between letters of a script without
// spaces, each punctuation mark a token of its own.
func appendMarksApart(dst []string, s string) []string {
	start := 0
	for i, r := range s {
		if unicode.IsPunct(r) {
			if start < i {
				dst = append(dst, s[start:i])
			}
			start = i + utf8.RuneLen(r)
			dst = append(dst, s[i:start])
		}
	}
	if start < len(s) {
		dst = append(dst, s[start:])
	}
	return dst
}

// characters returns the characters that are not white space.
func characters(s string) []string {
	out := make([]string, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !IsSpace(r) {
			out = append(out, s[i:i+size])
		}
		i += size
	}
	return out
}

func tokenize13a(s string) string {
	s = strings.ReplaceAll(s, "<skipped>", "")
	s = strings.ReplaceAll(s, "-\n", "")
	s = strings.ReplaceAll(s, "\n", " ")
	if strings.Contains(s, "&") {
		// One after the other, so that "&amp;lt;" ends as "<".
		for _, e := range [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}} {
			s = strings.ReplaceAll(s, e[0], e[1])
		}
	}
	out := make([]byte, 0, len(s)+len(s)/8+2)
	out = append(out, ' ')
	for i := range len(s) {
		if apart13a[s[i]] {
			out = append(out, ' ', s[i], ' ')
		} else {
			out = append(out, s[i])
		}
	}
	out = append(out, ' ')
	point := func(c byte) bool { return c == '.' || c == ',' }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	// A point or comma behind something that is no digit, one in front of
	// something that is none, a dash behind a digit.
	out = splitPairs(out, func(a, b byte) bool { return !digit(a) && point(b) }, "a b ")
	out = splitPairs(out, func(a, b byte) bool { return point(a) && !digit(b) }, " a b")
	return string(splitPairs(out, func(a, b byte) bool { return digit(a) && b == '-' }, "a b "))
}

// apart13a tells the bytes that 13a sets apart wherever they stand: ASCII
// punctuation without the apostrophe, comma, dash and point.
var apart13a = func() (t [256]bool) {
	for i := 0; i < len(asciiPunctuation); i++ {
		t[asciiPunctuation[i]] = strings.IndexByte("',-.", asciiPunctuation[i]) < 0
	}
	return t
}()

// splitPairs replaces each pair of neighbours that matches by the form, in
// which a and b stand for them. Pairs do not overlap.
func splitPairs[T byte | rune](s []T, match func(a, b T) bool, form string) []T {
	out := make([]T, 0, len(s)+len(s)/16)
	for i := 0; i < len(s); i++ {
		if i+1 == len(s) || !match(s[i], s[i+1]) {
			out = append(out, s[i])
			continue
		}
		for k := range len(form) {
			switch form[k] {
			case 'a':
				out = append(out, s[i])
			case 'b':
				out = append(out, s[i+1])
			default:
				out = append(out, T(form[k]))
			}
		}
		i++
	}
	return out
}

func tokenizeIntl(s string) string {
	runes := splitPairs([]rune(s), func(a, b rune) bool { return !unicode.IsNumber(a) && unicode.IsPunct(b) }, "a b ")
	runes = splitPairs(runes, func(a, b rune) bool { return unicode.IsPunct(a) && !unicode.IsNumber(b) }, " a b")
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for _, r := range runes {
		if unicode.IsSymbol(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// WordsAndMarks returns the words of chrF++: split at white space, an ASCII
// punctuation mark at the end set apart, or, where there is none, one at the
// beginning.
func WordsAndMarks(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(s, IsSpace) {
		n := len(w)
		switch {
		case utf8.RuneCountInString(w) == 1:
			out = append(out, w)
		case w[n-1] < utf8.RuneSelf && isASCIIPunctuation[w[n-1]]:
			out = append(out, w[:n-1], w[n-1:])
		case w[0] < utf8.RuneSelf && isASCIIPunctuation[w[0]]:
			out = append(out, w[:1], w[1:])
		default:
			out = append(out, w)
		}
	}
	return out
}

// Runes returns the code points of the text without white space.
func Runes(s string) []rune {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if !IsSpace(r) {
			out = append(out, r)
		}
	}
	return out
}

// Composed returns the text with its accents composed (NFC).
func Composed(s string) string { return norm.NFC.String(s) }
