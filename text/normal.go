package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Normal returns the text in the spelling in which answers are compared, a
// stricter one than Fold: NFKC, then Unicode case folding ("STRASSE" is
// "straße", a final sigma is a sigma), without the characters that show
// nothing (soft hyphen, joiners, marks of direction, variation selectors), and
// with the decimal digits of every script as 0 to 9. Signs of Unicode's
// category No, such as ² and ½ and ①, stay as they are: NFKC would make 102 of
// 10². For ASCII it is lower case and nothing else.
func Normal(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	folded := cases.Fold().String(compatible(s))
	var b strings.Builder
	b.Grow(len(folded))
	for i := 0; i < len(folded); {
		r, size := utf8.DecodeRuneInString(folded[i:])
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(folded[i])
		case shownAsNothing(r):
		case unicode.Is(unicode.Nd, r):
			b.WriteByte('0' + digitValue(r))
		default:
			b.WriteString(folded[i : i+size])
		}
		i += size
	}
	return compatible(b.String())
}

// compatible is NFKC, except for signs of category No.
func compatible(s string) string {
	isNo := func(r rune) bool { return unicode.Is(unicode.No, r) }
	if strings.IndexFunc(s, isNo) < 0 {
		return norm.NFKC.String(s)
	}
	out := make([]byte, 0, len(s))
	for s != "" {
		end := strings.IndexFunc(s, isNo)
		if end < 0 {
			end = len(s)
		}
		out = norm.NFKC.AppendString(out, s[:end])
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !isNo(r) {
				break
			}
			out = append(out, s[end:end+size]...)
			end += size
		}
		s = s[end:]
	}
	return string(out)
}

// shownAsNothing tells Unicode's default ignorable code points.
func shownAsNothing(r rune) bool {
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// digitValue is the value of a decimal digit. Unicode gives each script its
// ten digits in a row; where rows follow each other, a multiple of ten is
// between.
func digitValue(r rune) byte {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return byte((r - rune(row.Lo)) % 10)
		}
	}
	for _, row := range unicode.Nd.R32 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return byte((r - rune(row.Lo)) % 10)
		}
	}
	return 0
}

// Lower is the full lower case mapping of Unicode, as Python's str.lower has
// it: "İ" becomes two code points, a final sigma is told from the others.
func Lower(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

// IsSpace tells the characters at which Python's str.split splits: those of
// unicode.IsSpace, and the four separators from U+001C.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F }
