package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences splits a text into sentences: parts of the text in order, trimmed
// of white space, none of them empty; between two of them the text holds
// nothing but white space.
//
// A sentence ends at . ! ? … and at the full stops of other scripts, with the
// closing quotes, brackets and citation marks that follow. It does not end
// after an abbreviation ("Dr. Who", "e.g. tea"), an initial or inside a
// number. A line break ends it too, unless the next line goes on in lower
// case; list items and headings are sentences of their own.
func Sentences(s string) []string {
	var out []string
	for start := 0; start < len(s); {
		end := sentenceEnd(s, start)
		if part := strings.TrimSpace(s[start:end]); part != "" {
			out = append(out, part)
		}
		start = end
	}
	return out
}

// sentenceEnd returns the end of the sentence that starts at start; it is
// beyond start.
func sentenceEnd(s string, start int) int {
	for i := start; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		next := i + size
		switch {
		case r == '\n' || r == '\u2028' || r == '\u2029':
			if !continues(s[next:]) {
				return next
			}
		case r == '.' || r == '!' || r == '?' || r == '…':
			end := closers(s, terminators(s, next))
			if endsHere(s, end) && !(r == '.' && next == end && abbreviation(s[start:i], s[end:])) {
				return end
			}
			next = end
		case fullStop(r):
			return closers(s, terminators(s, next))
		}
		i = next
	}
	return len(s)
}

// fullStop tells the marks that end a sentence in scripts that put no space
// after them, or that have no other use.
func fullStop(r rune) bool {
	switch r {
	case '。', '．', '｡', '！', '？', // Chinese, Japanese, full-width forms
		'।', '॥', // Devanagari and its kin
		'؟', '۔', // Arabic, Urdu
		'։', '።', '፧', '។', '။', '༎', '།': // Armenian, Ethiopic, Khmer, Burmese, Tibetan
		return true
	}
	return false
}

// terminators skips further marks: "?!", "...".
func terminators(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r != '.' && r != '!' && r != '?' && r != '…' && !fullStop(r) {
			return i
		}
		i += size
	}
	return i
}

// closers skips what belongs to the sentence after its mark: closing quotes,
// brackets and emphasis, and citation marks with the spaces before them.
func closers(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if strings.ContainsRune(`"'”’»›)]}*_`, r) || strings.ContainsRune("」』）】", r) {
			i += size
			continue
		}
		j := i
		for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
			j++
		}
		if j == len(s) {
			return i
		}
		n := citationAt(s, j)
		if n == 0 {
			return i
		}
		i = j + n
	}
	return i
}

// endsHere reports whether white space or the end of the text follows.
func endsHere(s string, i int) bool {
	if i >= len(s) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

// continues reports whether the text after a line break goes on with the
// sentence: the next character is a lower-case letter on the very next line.
func continues(rest string) bool {
	for _, r := range rest {
		if r == ' ' || r == '\t' || r == '\r' {
			continue
		}
		return unicode.IsLower(r)
	}
	return false
}

// abbreviation reports whether the point after before is that of an
// abbreviation, an initial or the number of a list item, so that the sentence
// goes on in after.
func abbreviation(before, after string) bool {
	word := before[lastSpace(before):]
	word = strings.TrimLeft(word, "([\"'“‘*_")
	if word == "" {
		return false
	}
	if numbered(word) && strings.TrimSpace(before) == word {
		return true // the sentence is "3." so far: a list item's number
	}
	lower := strings.ToLower(word)
	if mayEnd[lower] {
		return !startsUpper(after)
	}
	if beforeNumber[lower] {
		return startsDigit(after)
	}
	if abbreviations[lower] || strings.Contains(word, ".") && initials(word) {
		return true
	}
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.IsLetter(r) && r != 'I' && !unspaced(r)
}

func lastSpace(s string) int {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if unicode.IsSpace(r) {
			return i
		}
		i -= size
	}
	return 0
}

func numbered(w string) bool {
	if len(w) > 3 {
		return false
	}
	for i := range len(w) {
		if !digitAt(w, i) {
			return false
		}
	}
	return true
}

// initials reports whether the word is single letters with points between
// them, such as "U.S" or "e.g".
func initials(w string) bool {
	for part := range strings.SplitSeq(w, ".") {
		if utf8.RuneCountInString(part) != 1 {
			return false
		}
	}
	return true
}

func startsUpper(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return unicode.IsUpper(r)
		}
	}
	return true
}

func startsDigit(s string) bool {
	s = strings.TrimLeft(s, " \t")
	return digitAt(s, 0)
}

// mayEnd holds abbreviations that often end a sentence: they do if the next
// word starts with a capital.
var mayEnd = setOf("etc a.m p.m al bzw usw inc ltd corp co jr sr ph.d")

// beforeNumber holds abbreviations that are words too: they are abbreviations
// if a number follows.
var beforeNumber = setOf("no nos art fig figs sec ch mar sat sun pp ed cap est")

// abbreviations holds those that a word must follow. English, German, French,
// Spanish, Italian.
var abbreviations = setOf(`mr mrs ms dr prof st mt rev gen capt lt sgt gov
	vs vol eq eds approx dept univ jan feb apr jun jul aug sept oct nov dec
	ca cf viz abs nr str hr fr bspw ggf evtl inkl sog vgl
	mme mlle av sra dra ud uds pág núm dott ing avv`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
