package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// asciiPunctuation are Python's string.punctuation, which SQuAD's script takes
// out.
const asciiPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

var isASCIIPunctuation = func() (t [utf8.RuneSelf]bool) {
	for i := 0; i < len(asciiPunctuation); i++ {
		t[asciiPunctuation[i]] = true
	}
	return t
}()

// AnswerTokens returns the tokens of a short answer: SQuAD's normalisation
// for every script. The text is brought into its Normal form; punctuation is
// taken out, so that "state-of-the-art" is one token; a, an and the are left
// out; the rest is split at white space. In a script that is written without
// spaces each letter, with its marks, is a token.
//
// Punctuation is what SQuAD's script takes out (all ASCII punctuation, with
// the signs $ + < = > ^ ` | ~), and of other scripts dashes, quotation marks
// and the points and apostrophes that stand inside words. Other punctuation
// that is not ASCII, and the em dash, separates. For printable ASCII the
// tokens are those of SQuAD's script.
func AnswerTokens(s string) []string {
	bare := strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			if isASCIIPunctuation[r] {
				return -1
			}
			if r < ' ' || r == 0x7F {
				return ' '
			}
		case joins(r):
			return -1
		case unicode.IsPunct(r), unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		}
		return r
	}, Normal(s))
	var tokens []string
	for _, word := range strings.Fields(bare) {
		if !article(word) {
			tokens = appendUnits(tokens, word)
		}
	}
	return tokens
}

// joins tells punctuation beyond ASCII that holds a word together or stands
// close around it.
func joins(r rune) bool {
	switch r {
	case '—', '―', '⸺', '⸻':
		return false
	case '·', '‧', '׳', '״', '՚':
		return true
	}
	return unicode.In(r, unicode.Pd, unicode.Pi, unicode.Pf) || r == '‚' || r == '„'
}

func article(w string) bool { return w == "a" || w == "an" || w == "the" }

// appendUnits appends the word, taken apart where its script has no spaces.
func appendUnits(dst []string, word string) []string {
	if ascii(word) {
		return append(dst, word)
	}
	start := 0 // of the part that is not appended yet
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRuneInString(word[i:])
		if !unspaced(r) {
			i += size
			continue
		}
		if start < i {
			dst = append(dst, word[start:i])
		}
		end := i + size
		for end < len(word) {
			m, n := utf8.DecodeRuneInString(word[end:])
			if !unicode.IsMark(m) {
				break
			}
			end += n
		}
		dst = append(dst, word[i:end])
		i, start = end, end
	}
	if start < len(word) {
		dst = append(dst, word[start:])
	}
	return dst
}

// SquadTokens returns the tokens of SQuAD's evaluation script, to the letter:
// lower case, without ASCII punctuation, without a, an and the, split at white
// space.
func SquadTokens(s string) []string {
	bare := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && isASCIIPunctuation[r] {
			return -1
		}
		return r
	}, Lower(s))
	var b strings.Builder
	for bare != "" {
		// A run of what Python's \w takes, then a run of the others.
		end := strings.IndexFunc(bare, func(r rune) bool { return !pythonWord(r) })
		if end < 0 {
			end = len(bare)
		}
		if article(bare[:end]) {
			b.WriteByte(' ')
		} else {
			b.WriteString(bare[:end])
		}
		bare = bare[end:]
		if end = strings.IndexFunc(bare, pythonWord); end < 0 {
			end = len(bare)
		}
		b.WriteString(bare[:end])
		bare = bare[end:]
	}
	return strings.FieldsFunc(b.String(), IsSpace)
}

func pythonWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_'
}

// RougeTokens returns the tokens of ROUGE for every script: runs of letters,
// digits and marks of the Normal form, and single letters, with their marks,
// in a script that is written without spaces. With stem, English words of more
// than three letters are stemmed. For ASCII the tokens are those of
// RougeScoreTokens.
func RougeTokens(s string, stem bool) []string {
	var tokens []string
	for _, word := range strings.FieldsFunc(Normal(s), func(r rune) bool { return !wordRune(r) }) {
		tokens = appendUnits(tokens, word)
	}
	return stemmed(tokens, stem)
}

// RougeScoreTokens returns the tokens of the Python package rouge-score: lower
// case, runs of a to z and 0 to 9. Every other letter separates.
func RougeScoreTokens(s string, stem bool) []string {
	tokens := strings.FieldsFunc(Lower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	return stemmed(tokens, stem)
}

func stemmed(tokens []string, stem bool) []string {
	if stem {
		for i, t := range tokens {
			if len(t) > 3 && ascii(t) {
				tokens[i] = Stem(t)
			}
		}
	}
	return tokens
}
