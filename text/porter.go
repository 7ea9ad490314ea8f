package text

import "strings"

// Stem returns the stem of an English word in lower case by Porter's algorithm
// ("An algorithm for suffix stripping", 1980), with the departures that
// Porter and the authors of NLTK agreed on and that rouge-score therefore
// uses: irregular forms; "died" to "die"; "fly" to "fli", "enjoy" unchanged;
// the suffixes bli, fulli and logi. It is written for ASCII letters.
func Stem(word string) string {
	if stem, ok := irregular[word]; ok {
		return stem
	}
	if len(word) <= 2 {
		return word
	}
	w := stemPlural(word)
	w = stemPast(w)
	if before, ok := strings.CutSuffix(w, "y"); ok && len(before) > 1 && consonantAt(before, len(before)-1) {
		w = before + "i"
	}
	w = stemDouble(w)
	w = replaceSuffix(w, thirdStep, 1)
	w = stemLast(w)
	return stemEnd(w)
}

var irregular = map[string]string{
	"sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
	"innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
	"cannings": "canning", "canning": "canning",
	"howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}

// consonantAt reports whether the letter is a consonant: no vowel, and no y
// behind a consonant.
func consonantAt(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		// In a run of y every second one is a vowel.
		first := i
		for first > 0 && w[first-1] == 'y' {
			first--
		}
		isConsonant := first == 0 || !consonantAt(w, first-1)
		return isConsonant == ((i-first)%2 == 0)
	}
	return true
}

// measure is Porter's m: how often a vowel is followed by a consonant.
func measure(w string) int {
	m, before := 0, true
	for i := range len(w) {
		now := nextConsonant(w, i, before)
		if now && !before && i > 0 {
			m++
		}
		before = now
	}
	return m
}

// nextConsonant is consonantAt for someone who knows what the letter before is.
func nextConsonant(w string, i int, before bool) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !before
	}
	return true
}

func hasVowel(w string) bool {
	before := true
	for i := range len(w) {
		if before = nextConsonant(w, i, before); !before {
			return true
		}
	}
	return false
}

// endsShort is Porter's *o: consonant, vowel, consonant other than w, x and y;
// a word of a vowel and a consonant counts too.
func endsShort(w string) bool {
	n := len(w)
	switch {
	case n == 2:
		return !consonantAt(w, 0) && consonantAt(w, 1)
	case n < 3:
		return false
	}
	return consonantAt(w, n-3) && !consonantAt(w, n-2) && consonantAt(w, n-1) && strings.IndexByte("wxy", w[n-1]) < 0
}

// stemPlural is step 1a.
func stemPlural(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) == 4:
		return w[:len(w)-1]
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// stemPast is step 1b.
func stemPast(w string) string {
	if before, ok := strings.CutSuffix(w, "ied"); ok {
		if len(w) == 4 {
			return before + "ie"
		}
		return before + "i"
	}
	if before, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(before) > 0 {
			return before + "ee"
		}
		return w
	}
	stem, ok := strings.CutSuffix(w, "ed")
	if !ok || !hasVowel(stem) {
		if stem, ok = strings.CutSuffix(w, "ing"); !ok || !hasVowel(stem) {
			return w
		}
	}
	n := len(stem)
	switch {
	case strings.HasSuffix(stem, "at"), strings.HasSuffix(stem, "bl"), strings.HasSuffix(stem, "iz"):
		return stem + "e"
	case n >= 2 && stem[n-1] == stem[n-2] && consonantAt(stem, n-1):
		if strings.IndexByte("lsz", stem[n-1]) >= 0 {
			return stem
		}
		return stem[:n-1]
	case measure(stem) == 1 && endsShort(stem):
		return stem + "e"
	}
	return stem
}

type suffix struct{ from, to string }

var secondStep = []suffix{
	{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"bli", "ble"},
	{"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"},
	{"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},
	{"iviti", "ive"}, {"biliti", "ble"}, {"fulli", "ful"},
}

var thirdStep = []suffix{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

var fourthStep = []suffix{
	{"al", ""}, {"ance", ""}, {"ence", ""}, {"er", ""}, {"ic", ""}, {"able", ""}, {"ible", ""}, {"ant", ""},
	{"ement", ""}, {"ment", ""}, {"ent", ""}, {"ion", ""}, {"ou", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""},
	{"ous", ""}, {"ive", ""}, {"ize", ""},
}

// replaceSuffix applies the first rule whose suffix the word has, if what
// stands before has at least the measure; no later rule is tried.
func replaceSuffix(w string, rules []suffix, least int) string {
	for _, r := range rules {
		if before, ok := strings.CutSuffix(w, r.from); ok {
			if measure(before) >= least {
				return before + r.to
			}
			return w
		}
	}
	return w
}

// stemDouble is step 2.
func stemDouble(w string) string {
	for {
		before, ok := strings.CutSuffix(w, "alli")
		if !ok || measure(before) == 0 {
			break
		}
		w = before + "al"
	}
	if strings.HasSuffix(w, "logi") { // the l counts as a part of the stem: "geologi", "theologi"
		if measure(w[:len(w)-3]) > 0 {
			return w[:len(w)-1]
		}
		return w
	}
	return replaceSuffix(w, secondStep, 1)
}

// stemLast is step 4.
func stemLast(w string) string {
	// "ion" goes behind s and t only. No other suffix of the step ends in it.
	if before, ok := strings.CutSuffix(w, "ion"); ok && !strings.HasSuffix(before, "s") && !strings.HasSuffix(before, "t") {
		return w
	}
	return replaceSuffix(w, fourthStep, 2)
}

// stemEnd is step 5.
func stemEnd(w string) string {
	if before, ok := strings.CutSuffix(w, "e"); ok {
		if m := measure(before); m > 1 || m == 1 && !endsShort(before) {
			w = before
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w[:len(w)-1]) > 1 {
		w = w[:len(w)-1]
	}
	return w
}
