package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the text in the spelling in which words are compared: Unicode
// compatibility composition (NFKC: full-width letters, ligatures and composed
// accents become one spelling) and then lower case.
func Fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	return lower(norm.NFKC.String(s))
}

// lower is strings.ToLower for text that is mostly ASCII but not all of it (a
// typographic quote is enough), where that takes several times as long. Bytes
// that are not UTF-8 stay as they are.
func lower(s string) string {
	out := make([]byte, 0, len(s)+len(s)/16)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if small := unicode.ToLower(r); small != r {
			out = utf8.AppendRune(out, small)
		} else {
			out = append(out, s[i:i+size]...)
		}
		i += size
	}
	return string(out)
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Words returns the words of the text, folded, in order: AppendWords of Fold.
func Words(s string) []string { return AppendWords(nil, Fold(s)) }

// AppendWords appends the words of an already folded text to dst and returns
// the result; the words are parts of the text and are not copied.
//
// A word is a run of letters, digits and combining marks; anything else
// separates, an apostrophe too ("don't" is "don" and "t"; "l'eau" is "l" and
// "eau"). A point or comma between digits belongs to the number, and commas
// that group thousands are dropped: "1,000.5" is "1000.5". A run in a script
// that is written without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) gives
// its overlapping pairs of letters instead, as search engines do, since single
// characters overlap by chance; a lone character is a word by itself.
func AppendWords(dst []string, folded string) []string {
	for i := 0; i < len(folded); {
		c := folded[i]
		if c < utf8.RuneSelf {
			if !wordByte[c] {
				i++
				continue
			}
			end := wordEnd(folded, i)
			dst = append(dst, dropGroups(folded[i:end]))
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(folded[i:])
		switch {
		case !wordRune(r):
			i += size
		case unspaced(r):
			end := unspacedEnd(folded, i)
			dst = appendPairs(dst, folded[i:end])
			i = end
		default:
			end := wordEnd(folded, i)
			dst = append(dst, dropGroups(folded[i:end]))
			i = end
		}
	}
	return dst
}

// wordByte tells the ASCII letters and digits.
var wordByte = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return t
}()

func wordRune(r rune) bool {
	if r == utf8.RuneError {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// wordEnd returns the end of the word that starts at i. Letters of a script
// without spaces end it.
func wordEnd(s string, i int) int {
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			if wordByte[c] || (c == '.' || c == ',') && digitAt(s, i-1) && digitAt(s, i+1) {
				i++
				continue
			}
			return i
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) || unspaced(r) {
			return i
		}
		i += size
	}
	return i
}

func digitAt(s string, i int) bool {
	return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9'
}

// dropGroups takes the commas out of a number such as 1,000,000. A comma that
// is not followed by exactly three digits may be a decimal comma and stays.
func dropGroups(w string) string {
	if len(w) < 5 || w[0] > '9' {
		return w
	}
	first, rest, found := strings.Cut(w, ",")
	if !found {
		return w
	}
	whole, fraction, hasPoint := strings.Cut(rest, ".")
	groups := strings.Split(whole, ",")
	if len(first) == 0 || len(first) > 3 {
		return w
	}
	for _, g := range groups {
		if len(g) != 3 {
			return w
		}
	}
	n := first + strings.Join(groups, "")
	if hasPoint {
		n += "." + fraction
	}
	return n
}

// unspaced reports whether r belongs to a script that is written without
// spaces between words.
func unspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF: // Thai, Lao
		return true
	case r >= 0x1000 && r <= 0x109F: // Burmese
		return true
	case r >= 0x1780 && r <= 0x17FF: // Khmer
		return true
	case r >= 0x3005 && r <= 0x30FF: // iteration marks, Hiragana, Katakana
		return true
	case r >= 0x31F0 && r <= 0x31FF: // Katakana extensions
		return true
	}
	return r >= 0x3400 && unicode.Is(unicode.Han, r)
}

func unspacedEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) || !unspaced(r) && !unicode.IsMark(r) {
			return i
		}
		i += size
	}
	return i
}

// appendPairs appends each overlapping pair of letters of run. A combining
// mark stays with its letter.
func appendPairs(dst []string, run string) []string {
	before, at := -1, 0 // starts of the last two letters
	n := 0
	for i, r := range run {
		if unicode.IsMark(r) && i > 0 {
			continue
		}
		if n >= 2 {
			dst = append(dst, run[before:i])
		}
		before, at = at, i
		n++
	}
	if n < 2 {
		return append(dst, run)
	}
	return append(dst, run[before:])
}

// IsNumber reports whether the word starts with a digit, as AppendWords gives
// "42", "3.5", "10th" and "4k".
func IsNumber(word string) bool {
	if word == "" {
		return false
	}
	if c := word[0]; c < utf8.RuneSelf {
		return c >= '0' && c <= '9'
	}
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsDigit(r)
}

// SameWords reports whether two texts have the same words in the same order,
// whatever their case, spacing and punctuation. Texts without words are not
// the same.
func SameWords(a, b string) bool {
	x, y := Words(a), Words(b)
	if len(x) == 0 || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// Set is a set of words.
type Set map[string]struct{}

// SetOf returns the words of all the texts.
func SetOf(texts ...string) Set {
	set := Set{}
	var words []string
	for _, t := range texts {
		words = AppendWords(words[:0], Fold(t))
		for _, w := range words {
			set[w] = struct{}{}
		}
	}
	return set
}

// Has reports whether the set holds the word.
func (s Set) Has(word string) bool { _, ok := s[word]; return ok }

// Overlap returns the share of the distinct words that the set holds, 0..1,
// and false if there is no word.
func (s Set) Overlap(words []string) (share float64, ok bool) {
	seen := make(Set, len(words))
	found := 0
	for _, w := range words {
		if seen.Has(w) {
			continue
		}
		seen[w] = struct{}{}
		if s.Has(w) {
			found++
		}
	}
	if len(seen) == 0 {
		return 0, false
	}
	return float64(found) / float64(len(seen)), true
}
