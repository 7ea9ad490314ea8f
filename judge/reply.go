package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// problem says why a reply can't be used.
type problem struct {
	code string
	// msg is what people and the judge are told. Nothing of the reply stands in
	// it but short plain words (see plainWord): the reply may repeat the data,
	// and an instruction must not come out of its fence by way of a correction.
	msg string
	// excerpt is the place in the reply, for people only.
	excerpt string
	// quotes reports that the reply may repeat the data, so that it must not be
	// shown to the judge as its own words.
	quotes bool
}

func problemf(code, format string, args ...any) *problem {
	return &problem{code: code, msg: fmt.Sprintf(format, args...)}
}

// at adds the place in the reply.
func (p *problem) at(excerpt string) *problem {
	p.excerpt = cutText(excerpt, 60)
	return p
}

// forPeople is the message with the place in the reply.
func (p *problem) forPeople() string {
	if p.excerpt == "" {
		return p.msg
	}
	return fmt.Sprintf("%s: %q", p.msg, p.excerpt)
}

// Error makes a problem an error for llm.Request.Check.
func (p *problem) Error() string { return p.code + ": " + p.forPeople() }

// plainWord returns the word in quotes with a space behind it if it is too
// short and plain to hold an instruction, "" otherwise.
func plainWord(word string) string {
	if plain.MatchString(word) {
		return strconv.Quote(word) + " "
	}
	return ""
}

var plain = regexp.MustCompile(`^[A-Za-z0-9.+/-]{1,24}$`)

// found is a JSON value that stands by itself in a reply, not inside another.
type found struct {
	value
	// prose reports that words stand between it and the value before, or the
	// start.
	prose bool
	// raw is the value as it stands in the reply.
	raw string
}

// reply is what a reply holds: its values in their order.
type reply struct {
	values []found
	// tail reports that words stand behind the last value.
	tail bool
	// thought reports that thinking was left out.
	thought bool
	// words reports that the reply is not JSON alone: any of these, or words
	// between the values.
	words bool
}

// source reports whether a text stands in the data of the ask. Nil stands for
// an ask without data.
type source func(text string) bool

// quoted reports a value that may be a quotation: it stands among words, and it
// stands in the data too. A judge that talks about a hostile sample quotes the
// verdicts in it, and they must not pass for its own.
func (r reply) quoted(f found, data source) *problem {
	if !r.words || data == nil || !data(f.raw) {
		return nil
	}
	p := problemf(CodeAmbiguous, "the JSON in the reply may be a quotation, because it stands in the data too")
	p.quotes = true
	return p
}

// alone reports whether the reply is this one value and nothing else.
func (r reply) alone() bool { return len(r.values) == 1 && !r.values[0].prose && !r.tail }

// maxReply bounds what is looked at, in bytes: no answer comes near it.
const maxReply = 1 << 20

// maxValues bounds the values of a reply that stand by themselves.
const maxValues = 2000

// maxRestarts bounds how often a stray closing tag makes reading start anew.
const maxRestarts = 16

// read finds the values of a reply. What stands between thinking tags is left
// out; thinking that never ends leaves nothing. A value that breaks off or that
// is broken spoils the whole reply, because what stands inside or behind it
// can't be told from what was meant.
func read(content string) (reply, *problem) {
	if len(content) > maxReply {
		return reply{}, problemf(CodeUndecodable, "the reply has %d bytes", len(content))
	}
	r := reader{s: content}
	r.skipBlank()
	if r.i == len(r.s) {
		return reply{}, problemf(CodeEmpty, "the reply is empty")
	}
	if inner, ok := unpack(r.s[r.i:]); ok {
		r = reader{s: inner}
	}
	r.begin()
	r.bareChannels()
	for r.i < len(r.s) && r.fatal == nil {
		if r.step(); len(r.values) > maxValues {
			return reply{}, problemf(CodeUndecodable, "the reply holds more than %d JSON values", maxValues)
		}
	}
	if r.fatal != nil {
		return reply{}, r.fatal
	}
	if r.broken != nil {
		return reply{}, r.broken
	}
	if r.thought && len(r.values) == 0 && !r.prose {
		return reply{}, problemf(CodeInReasoning, "the reply holds thinking only, and nothing in it counts: put the answer in the reply, behind the thinking")
	}
	if r.dropped && r.prose {
		return reply{}, problemf(CodeAmbiguous, "the reply holds JSON before and behind a closing tag, and words behind that")
	}
	words := r.prose || r.thought || slices.ContainsFunc(r.values, func(v found) bool { return v.prose })
	return reply{values: r.values, tail: r.prose, thought: r.thought, words: words}, nil
}

// unpack unpacks a reply that is one JSON string with JSON in it.
func unpack(s string) (string, bool) {
	if s[0] != '"' {
		return "", false
	}
	v, end, err := parseValue(s, 0)
	if err != nil || strings.TrimFunc(s[end:], isBlank) != "" {
		return "", false
	}
	return v.text, true
}

// reader goes through a reply once, from the start to the end.
type reader struct {
	s      string
	i      int
	values []found
	prose  bool
	// plain reports that the text since the start, or since the last thinking,
	// starts with words: only there can a closing tag without an opening one
	// end a thinking whose opening tag was not sent.
	plain    bool
	restarts int
	// depth counts the brackets of sentences, or of what is no JSON, that are
	// open: a value inside them doesn't stand by itself.
	depth   int
	thought bool
	// dropped reports that values were taken for thinking.
	dropped bool
	broken  *problem // a value that can't be read; forgiven if it was thinking
	fatal   *problem
}

// begin notes what the text from here on starts with.
func (r *reader) begin() {
	r.skipBlank()
	r.plain = r.i < len(r.s) && !strings.ContainsRune("{[`~\"'", rune(r.s[r.i]))
}

func (r *reader) skipBlank() {
	p := parser{s: r.s, i: r.i}
	p.blank()
	r.i = p.i
}

// step reads the next thing: a tag, a value, a fence or a character.
func (r *reader) step() {
	switch c := r.s[r.i]; {
	case (c == '<' || c == '[' || c == 0xe2) && r.tag():
	case c == '{' && r.broken == nil && r.looksLikeObject():
		r.read(true)
	case c == '[' && r.broken == nil && r.looksLikeList():
		r.read(true)
	case c == '[' && r.broken == nil && !r.prose && len(r.values) == 0:
		// A list of bare numbers or words counts only if it is all there is.
		r.read(false)
	case (c == '`' || c == '~') && r.fence():
	default:
		switch {
		case c == '{' || c == '[':
			r.depth++
		case (c == '}' || c == ']') && r.depth > 0:
			r.depth--
		}
		ch, size := utf8.DecodeRuneInString(r.s[r.i:])
		r.prose = r.prose || !isBlank(ch) && ch != ','
		r.i += size
	}
}

// looksLikeObject tells an object from a brace in a sentence. It looks no
// further than the next word, so that a reply full of braces costs no more than
// its length.
func (r *reader) looksLikeObject() bool {
	p := parser{s: r.s, i: r.i + 1}
	p.blank()
	if p.i == len(p.s) || p.s[p.i] == '}' || p.s[p.i] == '/' || p.s[p.i] == '#' || p.quote() != "" {
		return true
	}
	if _, err := p.key(); err != nil {
		return false
	}
	p.blank()
	return p.i < len(p.s) && p.s[p.i] == ':'
}

// looksLikeList tells a list of objects or strings from a bracket in a
// sentence, such as a citation.
func (r *reader) looksLikeList() bool {
	p := parser{s: r.s, i: r.i + 1}
	p.blank()
	return p.i < len(p.s) && (p.s[p.i] == '{' || p.quote() != "")
}

// read reads a value. One that can't be read spoils the reply if it was meant as
// a value for sure, and is a word of a sentence otherwise.
func (r *reader) read(sure bool) {
	v, end, err := parseValue(r.s, r.i)
	switch {
	case err == nil && r.depth > 0:
		r.broken = problemf(CodeUndecodable, "the JSON in the reply stands inside brackets that can't be read")
		r.i = end
	case err == nil:
		r.values = append(r.values, found{value: v, prose: r.prose, raw: r.s[r.i:end]})
		r.prose = false
		r.i = end
	case sure:
		r.broken = problemf(CodeUndecodable, "the JSON in the reply can't be read: %v", err).at(lastWords(r.s[r.i:end]))
		r.i++
	default:
		r.prose = true
		r.depth++
		r.i++
	}
}

// fence reads the mark of a code fence with its info string, if one stands here.
func (r *reader) fence() bool {
	rest := r.s[r.i:]
	if !strings.HasPrefix(rest, "```") && !strings.HasPrefix(rest, "~~~") {
		return false
	}
	mark := rest[0]
	for r.i < len(r.s) && r.s[r.i] == mark {
		r.i++
	}
	r.i += len(infoString.FindString(r.s[r.i:min(len(r.s), r.i+maxInfo)]))
	return true
}

// infoString is what may stand behind the mark of a fence: a language and,
// where the line holds nothing else, attributes. JSON may follow on the same
// line, so that the braces of attributes must be none of JSON.
var infoString = regexp.MustCompile(`^[ \t]*(?:[A-Za-z0-9_+#./-]*(?:[ \t]+(?:[A-Za-z][\w.-]*=(?:"[^"\n{]*"|[^\s"{]*)|\{[.#%][^}\n"]*\}))+[ \t]*\r?\n|[A-Za-z0-9_+#./-]*)`)

// maxInfo bounds an info string, in bytes.
const maxInfo = 256

// lastWords returns the end of a text, for a message.
func lastWords(s string) string {
	const limit = 40
	if len(s) <= limit {
		return s
	}
	return "..." + strings.ToValidUTF8(s[len(s)-limit:], "")
}
