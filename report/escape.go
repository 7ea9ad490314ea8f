package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapeText returns s with every character that a terminal would act on or
// hide (control, bidi and format characters, line separators, bytes that are no
// UTF-8) written as an escape. The joiners that Indic and Arabic scripts need
// within words stay.
func escapeText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsGraphic(r) || r == '\u200c' || r == '\u200d':
			b.WriteString(s[i : i+size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}

// escapeMarkdown returns s as text within a line or a table cell of Markdown:
// nothing in it is taken for markup, HTML or the end of the cell.
func escapeMarkdown(s string) string {
	rs := []rune(escapeText(s))
	var b strings.Builder
	for i, r := range rs {
		switch r {
		case '<':
			b.WriteString("&lt;")
			continue
		case '>':
			b.WriteString("&gt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '|', '\\', '`', '*', '[', ']', '~', '#', '$':
			b.WriteByte('\\')
		case '_':
			// Within a word it is no markup, and answer\_relevance is ugly.
			if i == 0 || i == len(rs)-1 || !wordRune(rs[i-1]) || !wordRune(rs[i+1]) {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// displayWidth returns the number of terminal columns that s takes, to a good
// approximation: two for East Asian wide characters and emoji, none for marks
// that combine.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// cutWidth cuts s to a number of columns, the mark of the cut included.
func cutWidth(s string, width int) string {
	if displayWidth(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if used+runeWidth(r) > width-1 {
			return s[:i] + "…"
		}
		used += runeWidth(r)
	}
	return s
}
