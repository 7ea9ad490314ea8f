package text

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxCitation is the longest citation mark in bytes that is recognised; a
// longer pair of brackets holds text.
const maxCitation = 300

// StripCitations returns the text without its citation marks: [1], [2, 3],
// [^4^], [file.pdf#page=4], [https://example.org/a], 【1†source】, and the space
// before each. Brackets that hold words of the text ("[sic]", "[the bank]") and
// Markdown links stay.
func StripCitations(s string) string {
	if !strings.Contains(s, "[") && !strings.Contains(s, "【") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n := citationAt(s, i)
		if n == 0 {
			out = append(out, s[i])
			i++
			continue
		}
		out = bytes.TrimRight(out, " \t")
		i += n
	}
	return string(out)
}

// citationAt returns the length of the citation mark that starts at i, or 0.
func citationAt(s string, i int) int {
	open, closing := "[", "]"
	switch {
	case s[i] == '[':
	case strings.HasPrefix(s[i:], "【"):
		open, closing = "【", "】"
	default:
		return 0
	}
	rest := s[i+len(open):]
	end := strings.Index(rest[:min(len(rest), maxCitation)], closing)
	if end < 0 {
		return 0
	}
	n := len(open) + end + len(closing)
	if i+n < len(s) && s[i+n] == '(' { // a Markdown link
		return 0
	}
	if !citationText(rest[:end]) {
		return 0
	}
	return n
}

// citationText reports whether what stands between brackets names a source.
func citationText(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" {
		return false
	}
	if strings.Contains(s, "†") || strings.Contains(s, "://") {
		return true
	}
	numbers := true
	for _, r := range s {
		if r == utf8.RuneError || r == '\n' || r == '[' {
			return false
		}
		numbers = numbers && (r >= '0' && r <= '9' || strings.ContainsRune(" ,;^-–", r))
	}
	return numbers && strings.ContainsAny(s, "0123456789") || fileName(s)
}

// fileName reports whether s is one name with a file ending, such as
// "plan-3.pdf" or "guide.md#page=4".
func fileName(s string) bool {
	name, _, _ := strings.Cut(s, "#")
	dot := strings.LastIndexByte(name, '.')
	if dot < 1 {
		return false
	}
	ending := name[dot+1:]
	if len(ending) < 1 || len(ending) > 5 {
		return false
	}
	letters := false
	for _, c := range []byte(ending) {
		if !wordByte[c&0x7f] || c >= utf8.RuneSelf {
			return false
		}
		letters = letters || c > '9'
	}
	return letters
}
