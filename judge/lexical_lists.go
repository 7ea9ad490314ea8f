package judge

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/text"
)

// lexicalList answers a request for a list of texts; "" for any other form.
func lexicalList(f form, req *llm.Request, data Fenced) string {
	s := firstField(data, TagText, TagResponse, TagReference)
	switch f.name {
	case SchemaClaims:
		return listReply(f.name, lexicalClaims(s))
	case SchemaQuestions:
		return listReply(f.name, lexicalQuestions(s, countIn(req)))
	case SchemaEntities:
		return listReply(f.name, lexicalEntities(s))
	}
	return ""
}

var countInWords = regexp.MustCompile(`Otherwise exactly ([0-9]{1,3}),`)

// countIn reads how many texts are asked for out of the instructions; 1 if they
// don't say.
func countIn(req *llm.Request) int {
	for _, m := range req.Messages {
		if found := countInWords.FindStringSubmatch(beforeFence(m.Content)); found != nil && m.Role != llm.Assistant {
			n, _ := strconv.Atoi(found[1])
			return n
		}
	}
	return 1
}

// lexicalQuestions makes questions of the statements of a text, n of them or
// none. They hold the words of the statements, by which they are compared.
func lexicalQuestions(s string, n int) []string {
	questions := []string{}
	claims := lexicalClaims(s)
	for i := 0; len(claims) > 0 && len(questions) < n; i++ {
		q := strings.TrimRight(claims[i%len(claims)], ".!。！ ") + "?"
		for range i / len(claims) {
			q = "And " + q
		}
		questions = append(questions, q)
	}
	return questions
}

// lexicalEntities finds runs of words that begin with a capital, and words with
// a digit. The first word of a sentence begins a name only if its next one goes
// on with it or if it stands in capitals elsewhere in the text.
func lexicalEntities(s string) []string {
	entities := []string{}
	seen := map[string]bool{}
	add := func(run []string) {
		if e := strings.Join(run, " "); len(run) > 0 && !seen[e] {
			seen[e] = true
			entities = append(entities, e)
		}
	}
	sentences := text.Sentences(text.StripCitations(s))
	inside := map[string]bool{} // capitals that don't begin a sentence
	for _, sentence := range sentences {
		for i, w := range strings.Fields(sentence) {
			if w, _ := bareWord(w); i > 0 && capital(w) {
				inside[w] = true
			}
		}
	}
	for _, sentence := range sentences {
		var run []string
		for i, field := range strings.Fields(dropMarker(sentence)) {
			w, ends := bareWord(field)
			named := capital(w) && (i > 0 || inside[w]) || strings.ContainsFunc(w, unicode.IsDigit)
			switch {
			case named:
				run = append(run, w)
			default:
				add(run)
				run = nil
			}
			if ends {
				add(run)
				run = nil
			}
		}
		add(run)
	}
	return entities
}

// bareWord takes the marks off a word, and reports whether one behind it ends a
// name.
func bareWord(w string) (string, bool) {
	bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsSymbol(r) })
	return bare, !strings.HasSuffix(w, bare)
}

// capital reports a word that begins with a capital letter and isn't I.
func capital(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(r) && (size < len(w) || r != 'I')
}
