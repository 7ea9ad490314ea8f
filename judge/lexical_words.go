package judge

import (
	"strings"
	"unicode/utf8"
)

// stem cuts the endings by which forms of one English word differ, so that
// "plans" meets "plan" and "covered" meets "covers". It is deliberately light:
// it only cuts, so that a stem is a part of the word and needs no memory, and it
// leaves short words, numbers and other scripts alone.
func stem(w string) string {
	if len(w) < 4 || w[0] < 'a' {
		return w
	}
	w = cutPlural(w)
	if last := w[len(w)-1]; last == 'g' || last == 'd' || last == 'y' { // most words end in none of them
		w = cutEnding(w)
	}
	// "stopp" of "stopping", "polic" of "policy" and "policies", "us" of "use".
	if n := len(w); n > 3 {
		switch last := w[n-1]; {
		case last == 'e' || last == 'y' || last == 'i':
			w = w[:n-1]
		case last == w[n-2] && last != 's' && last != 'l' && last < utf8.RuneSelf:
			w = w[:n-1]
		}
	}
	return w
}

func cutEnding(w string) string {
	for _, end := range stemEndings {
		if len(w) >= len(end)+3 && strings.HasSuffix(w, end) {
			return w[:len(w)-len(end)]
		}
	}
	return w
}

// stemEndings are tried in this order; the first that fits is cut.
var stemEndings = []string{"ingly", "edly", "ing", "ed", "ly"}

func cutPlural(w string) string {
	n := len(w)
	if w[n-1] != 's' || w[n-2] == 's' || w[n-2] == 'u' || w[n-2] == 'i' {
		return w
	}
	return w[:n-1]
}

// numeral returns the digits of a number word that people write out, or the
// word itself. It runs over every word of every text, and a switch is several
// times as fast as a map.
func numeral(w string) string {
	switch w {
	case "two":
		return "2"
	case "three":
		return "3"
	case "four":
		return "4"
	case "five":
		return "5"
	case "six":
		return "6"
	case "seven":
		return "7"
	case "eight":
		return "8"
	case "nine":
		return "9"
	case "ten":
		return "10"
	case "eleven":
		return "11"
	case "twelve":
		return "12"
	case "second":
		return "2nd"
	case "third":
		return "3rd"
	case "fourth":
		return "4th"
	case "fifth":
		return "5th"
	}
	return w
}

// isNegation reports whether the word at i turns its statement round. "n't"
// comes as a lone "t" behind a word that ends in n. A "no" that opens the text
// answers a question, and "not only" affirms.
func isNegation(words []string, i int) bool {
	switch words[i] {
	case "t":
		return i > 0 && strings.HasSuffix(words[i-1], "n") && !onlyAt(words, i+1)
	case "no":
		return i > 0
	case "not":
		return !onlyAt(words, i+1)
	case "never", "none", "neither", "nor", "without", "cannot", "nobody", "nothing", "nowhere",
		"nicht", "kein", "keine", "keinen", "nie", "niemals", "ohne",
		"pas", "jamais", "sans", "sin", "nunca", "jamás", "non", "mai", "senza", "não", "sem",
		"не", "нет", "никогда", "без":
		return true
	}
	return false
}

func onlyAt(words []string, i int) bool {
	return i < len(words) && (words[i] == "only" || words[i] == "just" || words[i] == "merely")
}

// stopWords carry no content: they are found in every text. English, with the
// commonest of German, French, Spanish, Italian, Portuguese and Dutch; a
// language that is not there is judged by all its words.
var stopWords = wordSet(`
	a about above after again against all also although am among an and any are aren as at be because been before
	being below between both but by can could couldn d did didn do does doesn doing don down during each either etc
	even ever every few for from further get gets had hadn has hasn have haven having he her here hers herself him
	himself his how however i if in into is isn it its itself just ll let like ll m ma may me might mine more most
	much must my myself need now of off on once one only or other our ours ourselves out over own per quite rather
	re s same shall shan she should shouldn so some such t than that the their theirs them themselves then there
	therefore these they this those through thus to too under until up upon us ve very via was wasn we well were
	weren what when where whether which while who whom whose why will with within won would wouldn yet you your
	yours yourself yourselves many several various often usually generally according
	der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird werden wurde wurden
	im in am an auf aus bei mit nach von vom zu zum zur für über unter auch als wie es er sie wir ihr man sich dass
	le la les l un une des du de d et ou est sont était au aux en dans par pour sur avec ce cette ces il elle ils
	elles on nous vous qui que qu dont se son sa ses leur leurs plus
	el los las una unos unas y o es son fue era del al por para con su sus se lo como más este esta estos estas
	il lo gli uno e ed è sono di da dal dalla dello della dei degli delle nel nella con per tra fra si che come
	os as um uma são foi do da dos das no na nos nas em ao à ou
	het een van en op te voor met zijn wordt worden ook`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
