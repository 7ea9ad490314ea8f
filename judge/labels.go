package judge

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// meaning is what a verdict's word says, apart from any list of labels.
type meaning int

const (
	noMeaning meaning = iota
	yes
	no
	against // it is contradicted
	unsure  // the judge did not decide
)

var (
	plainTable   = tableOf(plainWords)
	supportTable = tableOf(supportWords)
	unsureTable  = tableOf(map[meaning]string{unsure: unsureWords})
)

func tableOf(words map[meaning]string) map[string]meaning {
	table := map[string]meaning{}
	for m, list := range words {
		for _, w := range strings.Fields(list) {
			table[spelling(w)] = m
		}
	}
	return table
}

// spelling reduces a word to what its spellings have in common: no case, no
// quotes, stars and closing marks around it, no space, underscore, hyphen or
// apostrophe inside it, and one form of each character. A minus sign in front
// of a number and a point inside it stay, and so does a question mark: "yes?" is
// not "yes".
func spelling(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	s = strings.ReplaceAll(s, "i\u0307", "i") // the Turkish capital
	s = strings.TrimFunc(s, isBlank)
	s = strings.Trim(s, " \t\r\n\"'`*_()[]\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d")
	s = strings.TrimRight(s, " \t\r\n\"'`*_()[]\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d.,;:!\u3002\u3001\ufe0f")
	if whole.MatchString(s) {
		s, _, _ = strings.Cut(s, ".")
	}
	if isNumber(s) || strings.HasPrefix(s, "-") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("_-'\u2019\u2010\u2011\u02bc\ufe0f", r), 0x1f3fb <= r && r <= 0x1f3ff, isBlank(r):
			return -1
		}
		return r
	}, s)
}

// labeler maps a judge's words to the labels of one ask.
type labeler struct {
	labels []string
	// spelt are the spellings of the labels.
	spelt []string
	// asked are the texts of the items by their numbers.
	asked map[int]string
	// names are the keys of the verdicts.
	names names
	// chunks is the number of chunks of an ask whose verdicts are lists of
	// their numbers; 0 where they are labels.
	chunks int
	// before is the number of chunks that were shown in another call.
	before int
	// support reports that the labels speak of evidence or use, so that other
	// words that do so have a meaning.
	support bool
}

func newLabeler(labels []string) labeler {
	l := labeler{labels: labels, names: labelKeys}
	for _, label := range labels {
		l.spelt = append(l.spelt, spelling(label))
	}
	l.support = supportTable[l.spelt[0]] == yes && supportTable[l.spelt[len(labels)-1]] == no
	return l
}

// ask notes the items that were asked about.
func (l *labeler) ask(items []Item) {
	l.asked = make(map[int]string, len(items))
	for _, it := range items {
		l.asked[it.N] = it.Text
	}
}

// read returns the label that a verdict's value stands for, and its word.
func (l labeler) read(v value) (label, word string, undecided, ok bool) {
	if l.chunks > 0 {
		return l.readChunks(v)
	}
	word, isWord := wordOf(v)
	if isWord {
		label, undecided, ok = l.label(word)
	}
	return label, word, undecided, ok
}

// allowed says what a verdict may be.
func (l labeler) allowed() string {
	if l.chunks > 0 {
		return fmt.Sprintf("the lists of numbers from %d to %d", l.before+1, l.before+l.chunks)
	}
	return quoteList(l.labels)
}

// label returns the label that the word stands for. It reports unsure words by
// themselves, and false for a word that stands for none of the labels.
func (l labeler) label(word string) (label string, undecided, ok bool) {
	if slices.Contains(l.labels, word) {
		return word, false, true
	}
	key := spelling(word)
	if i := slices.Index(l.spelt, key); i >= 0 {
		return l.labels[i], false, true
	}
	m := plainTable[key]
	if m == noMeaning && l.support {
		m = supportTable[key]
	}
	if m == noMeaning {
		m = unsureTable[key]
	}
	switch m {
	case yes:
		return l.labels[0], false, true
	case no:
		return l.labels[len(l.labels)-1], false, true
	case against:
		return l.whose(isAgainst, l.labels[len(l.labels)-1]), false, true
	case unsure:
		label := l.whose(isUndecided, "")
		if label == "" && l.support { // what isn't said to be so doesn't count
			label = l.labels[len(l.labels)-1]
		}
		return label, true, label != ""
	}
	return "", false, false
}

// whose returns the first label for which is holds, or other.
func (l labeler) whose(is func(string) bool, other string) string {
	if i := slices.IndexFunc(l.labels, is); i >= 0 {
		return l.labels[i]
	}
	return other
}

func isAgainst(label string) bool { return supportTable[spelling(label)] == against }

// isUndecided reports a label that also says what a judge without a decision
// says: that the contexts don't settle it.
func isUndecided(label string) bool {
	return label == NotFound || unsureTable[spelling(label)] == unsure
}
