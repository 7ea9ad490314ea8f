package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SaysNothing reports whether nothing is left of the text once what only
// dresses or cites it is gone: it is Wordless but for citation marks by number
// ("[1][2]", "【4†source】"), code fences with nothing between them, tags of
// HTML that only lay out, and pictographs. What may be an answer stays one: a
// mark that says yes or no ("✅", "👎"), a sign of mathematics or money, a
// tag that is quoted as code, and the name of a file in brackets.
func SaysNothing(s string) bool {
	if Wordless(s) {
		return true
	}
	s = emptyFence.ReplaceAllString(s, " ")
	if !strings.Contains(s, "`<") { // a tag quoted as code
		s = layoutTag.ReplaceAllString(s, " ")
	}
	return wordless(dropNumberedCitations(s), isPictograph)
}

var (
	emptyFence = regexp.MustCompile("(?i)(?:```|~~~)(?:text|plaintext|txt|markdown|md|json|html|xml|yaml|python)?[ \\t\\r]*(?:\\n\\s*)?(?:```|~~~|$)")
	layoutTag  = regexp.MustCompile(`(?i)</?(?:br|p|div|span|hr|ul|ol|li|b|i|em|strong|html|body|pre|table|tr|td)\s*/?>|&(?:nbsp|#160|#xa0);`)
)

// dropNumberedCitations takes out the citation marks that name no file and no
// address, and are no list of numbers, which may be the answer itself.
func dropNumberedCitations(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := citationAt(s, i); n > 0 {
			mark := s[i : i+n]
			if strings.Contains(mark, "†") || !strings.ContainsFunc(mark, unicode.IsLetter) && !strings.ContainsAny(mark, ",;") {
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// isPictograph reports a symbol that is an ornament: no sign of mathematics or
// money, no writing (Braille, letters in circles), and no mark that says yes or
// no.
func isPictograph(r rune) bool {
	switch {
	case strings.ContainsRune(yesNoMarks, r):
		return false
	case unicode.Is(unicode.Sk, r):
		return true
	}
	return unicode.Is(unicode.So, r) && (0x2190 <= r && r <= 0x245f || 0x2500 <= r && r <= 0x27ff || 0x2b00 <= r && r <= 0x2bff ||
		0x1f000 <= r && r <= 0x1f0ff || 0x1f1e6 <= r && r <= 0x1faff || strings.ContainsRune("©®™〽㊗㊙", r))
}

// yesNoMarks are the pictographs that answer a question by themselves.
const yesNoMarks = "✓✔✅☑👍👌🆗✗✘❌✖❎👎🚫⭕⛔🟢🔴✕☓"

// Wordless reports whether the text says nothing: white space, punctuation,
// control characters, and the ASCII symbols that stand for rules and bullets
// ("...", "-", "=====", "|"). A letter, a digit, or any other symbol, such as
// an emoji or an infinity sign, may be an answer; SaysNothing looks closer.
func Wordless(s string) bool {
	return wordless(s, func(rune) bool { return false })
}

func wordless(s string, also func(rune) bool) bool {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if wordByte[r] {
				return false
			}
		case also(r):
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsSymbol(r) && r != utf8.RuneError:
			return false
		}
	}
	return true
}

// CopiesQuestion reports whether the response only gives the question back:
// once or several times, whatever the case, the width of letters, the white
// space, the punctuation, ornaments and characters that don't show, and also
// between labels ("Question: ... Answer:"). Signs of mathematics and money must
// be the same. An input that is no question and no longer than two words
// ("Hello") may well be answered with itself, so that it is never copied.
func CopiesQuestion(question, response string) bool {
	if len(response) < len(question)/8 {
		return false // far too short, without a closer look
	}
	asked := tokensOf(dropLabels(question))
	if len(asked) == 0 || len(asked) < 3 && !strings.ContainsAny(question, "?\uff1f\u061f\u037e\u055e\u1367\u2e2e") {
		return false
	}
	return repeats(tokensOf(response), asked) || repeats(tokensOf(dropLabels(response)), asked) ||
		repeats(tokensOf(response), tokensOf(question))
}

// repeats reports whether the tokens are the unit, once or several times.
func repeats(tokens, unit []string) bool {
	if len(unit) == 0 || len(tokens) == 0 || len(tokens)%len(unit) != 0 {
		return false
	}
	for part := range slices.Chunk(tokens, len(unit)) {
		if !slices.Equal(part, unit) {
			return false
		}
	}
	return true
}

// tokensOf returns the words of a text and, between them, the signs that
// change what it says. A run of a script without spaces is one token for each
// character, so that a copy behind a copy is seen as one.
func tokensOf(s string) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || r >= 0xfe00 && r <= 0xfe0f {
			return -1
		}
		return r
	}, Fold(s))
	var tokens []string
	start := 0
	words := func(end int) { tokens = appendSingle(tokens, s[start:end]) }
	for i, r := range s {
		if unicode.In(r, unicode.Sm, unicode.Sc) && r != '|' && r != '~' && r != '>' {
			words(i)
			tokens = append(tokens, string(r))
			start = i + utf8.RuneLen(r)
		}
	}
	words(len(s))
	return tokens
}

// appendSingle appends the words of a folded text, those without spaces
// character by character.
func appendSingle(dst []string, folded string) []string {
	start := 0
	for i, r := range folded {
		if r >= utf8.RuneSelf && unspaced(r) {
			dst = AppendWords(dst, folded[start:i])
			start = i + utf8.RuneLen(r)
			if wordRune(r) {
				dst = append(dst, string(r))
			}
		}
	}
	return AppendWords(dst, folded[start:])
}

// questionLabel and answerLabel match what chats and data sets write before a
// question and an answer: at the start of a line, or before nothing.
var (
	questionLabel = regexp.MustCompile(`(?mi)^[\s*_#>]*(?:q|question|query|user|human|frage|pregunta|domanda|pergunta|vraag|pytanie|вопрос|问|问题|問題|質問|질문|سؤال|soru|प्रश्न)[\s*_]*[:：]`)
	answerLabel   = regexp.MustCompile(`(?mi)(?:^|\s)[\s*_#>]*(?:a|answer|response|assistant|ai|bot|antwort|réponse|respuesta|risposta|resposta|antwoord|odpowiedź|ответ|答|答案|回答|답변|답|جواب|cevap|yanıt|उत्तर)[\s*_]*[:：][\s*_]*$`)
)

func dropLabels(s string) string {
	if !strings.ContainsAny(s, ":：") {
		return s
	}
	return answerLabel.ReplaceAllString(questionLabel.ReplaceAllString(s, "\n"), "\n")
}
