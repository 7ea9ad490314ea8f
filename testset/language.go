package testset

import (
	"unicode"

	"github.com/ragjudge/ragjudge/text"
)

// scripts tell a language, or only a script where several languages share it.
var scripts = []struct {
	table *unicode.RangeTable
	name  string
}{
	{unicode.Latin, "latin"}, {unicode.Han, "zh"}, {unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"},
	{unicode.Cyrillic, "cyrillic"}, {unicode.Arabic, "arabic"}, {unicode.Hebrew, "he"}, {unicode.Greek, "el"}, {unicode.Thai, "th"},
	{unicode.Devanagari, "devanagari"}, {unicode.Bengali, "bn"}, {unicode.Tamil, "ta"}, {unicode.Telugu, "te"}, {unicode.Georgian, "ka"},
	{unicode.Armenian, "hy"}, {unicode.Ethiopic, "am"}, {unicode.Khmer, "km"}, {unicode.Lao, "lo"}, {unicode.Myanmar, "my"},
}

// functionWords are frequent small words that few other of these languages
// have. A word of two languages counts for both.
var functionWords = map[string][]string{
	"en": {"the", "of", "and", "is", "to", "what", "how", "for", "are", "with", "which", "that", "does", "this", "when", "was", "who", "why", "it", "can"},
	"de": {"der", "die", "das", "und", "ist", "wie", "ein", "eine", "nicht", "mit", "für", "von", "auf", "den", "was", "welche", "sind", "zu", "im", "ich"},
	"fr": {"le", "la", "les", "des", "est", "et", "une", "quel", "quelle", "pour", "dans", "que", "qui", "comment", "du", "sur", "je", "sont", "au", "ce"},
	"es": {"el", "los", "las", "es", "y", "una", "cómo", "qué", "para", "por", "cuál", "con", "del", "en", "se", "un", "mi", "son", "la", "al"},
	"it": {"il", "gli", "è", "e", "una", "come", "che", "per", "di", "quale", "con", "della", "del", "sono", "qual", "non", "si", "nel", "dei", "la"},
	"pt": {"os", "é", "e", "uma", "como", "que", "para", "qual", "com", "da", "não", "são", "em", "um", "quais", "dos", "ao", "no"},
	"nl": {"de", "het", "een", "en", "van", "hoe", "wat", "niet", "voor", "met", "op", "zijn", "welke", "dat", "ik", "te", "aan", "er", "naar"},
	"pl": {"jest", "nie", "jak", "się", "na", "w", "z", "co", "czy", "jaki", "jakie", "są", "przez", "oraz", "dla", "po", "od", "kto", "ile"},
	"sv": {"och", "är", "att", "det", "en", "ett", "som", "hur", "vad", "för", "inte", "med", "av", "på", "den", "jag", "till", "om", "har", "vilka"},
	"tr": {"bir", "ve", "bu", "ne", "nasıl", "için", "ile", "mi", "mı", "nedir", "kaç", "olan", "değil", "var", "hangi", "kim", "da", "de", "çok", "gibi"},
	"id": {"yang", "dan", "di", "apa", "adalah", "untuk", "dengan", "ini", "itu", "bagaimana", "tidak", "dari", "pada", "saya", "ke", "berapa", "dapat", "atau", "akan", "ada"},
	"cs": {"je", "jak", "se", "na", "které", "jaké", "není", "pro", "jsou", "při", "od", "že", "kolik", "kdo", "ve", "nebo", "který", "jaká", "být"},
}

var wordLanguages = func() map[string][]string {
	m := map[string][]string{}
	for lang, words := range functionWords {
		for _, w := range words {
			m[w] = append(m[w], lang)
		}
	}
	return m
}()

// Language guesses the language of a text: an ISO 639-1 code where script or
// function words tell it, or the name of a script that several languages
// share ("latin", "cyrillic", "arabic", "devanagari") where they don't; ""
// without letters. It is rules, good for an overview of a set and not for
// single short texts.
func Language(s string) string {
	const enough = 2000 // bytes
	if len(s) > enough {
		s = s[:enough]
	}
	counts, letters := map[string]int{}, 0
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		for _, sc := range scripts {
			if unicode.Is(sc.table, r) {
				counts[sc.name]++
				break
			}
		}
	}
	if letters == 0 {
		return ""
	}
	best := "other"
	for _, sc := range scripts {
		if counts[sc.name] > counts[best] {
			best = sc.name
		}
	}
	switch {
	case best == "zh" && counts["ja"]*20 > counts["zh"]:
		return "ja" // kanji among kana
	case best == "latin":
		return latin(s)
	case best == "cyrillic":
		return cyrillic(s)
	}
	return best
}

// latin counts function words. Two languages that come out even are not told
// apart.
func latin(s string) string {
	hits := map[string]int{}
	for _, w := range text.Words(s) {
		for _, lang := range wordLanguages[w] {
			hits[lang]++
		}
	}
	best, most, tie := "latin", 0, false
	for lang, n := range hits {
		switch {
		case n > most:
			best, most, tie = lang, n, false
		case n == most:
			tie = true
		}
	}
	if tie || most == 0 {
		return "latin"
	}
	return best
}

// cyrillic goes by letters that only one of the languages has.
func cyrillic(s string) string {
	for _, r := range s {
		switch unicode.ToLower(r) {
		case 'ы', 'э', 'ё':
			return "ru"
		case 'і', 'ї', 'є', 'ґ':
			return "uk"
		case 'ј', 'љ', 'њ', 'ћ', 'ђ':
			return "sr"
		}
	}
	return "cyrillic"
}
