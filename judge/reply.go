package judge

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// problem says why a reply can't be used: a code and what to tell the judge.
type problem struct {
	code string
	msg  string
}

func problemf(code, format string, args ...any) *problem {
	return &problem{code: code, msg: fmt.Sprintf(format, args...)}
}

// Error makes a problem an error for llm.Request.Check.
func (p *problem) Error() string { return p.code + ": " + p.msg }

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
	return problemf(CodeAmbiguous, "the JSON in the reply may be a quotation, because it stands in the data too")
}

// alone reports whether the reply is this one value and nothing else.
func (r reply) alone() bool { return len(r.values) == 1 && !r.values[0].prose && !r.tail }

// maxReply bounds what is looked at, in bytes: no answer comes near it.
const maxReply = 1 << 20

// maxRestarts bounds how often a stray closing tag makes reading start anew.
const maxRestarts = 16

// thinking lists the tags between which models think, lower-case.
var thinking = [][2]string{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"}, {"<reflection>", "</reflection>"}, {"[think]", "[/think]"},
	{"\u25c1think\u25b7", "\u25c1/think\u25b7"}, {"<|begin_of_thought|>", "<|end_of_thought|>"},
}

// read finds the values of a reply. What stands between thinking tags is left
// out; thinking that never ends leaves nothing. A value that breaks off or that
// is broken spoils the whole reply, because what stands inside or behind it
// can't be told from what was meant.
func read(content string) (reply, *problem) {
	if len(content) > maxReply {
		return reply{}, problemf(CodeUndecodable, "the reply has %d bytes", len(content))
	}
	r := reader{s: content, lower: lowerASCII(content)}
	r.skipBlank()
	if r.i == len(r.s) {
		return reply{}, problemf(CodeEmpty, "the reply is empty")
	}
	if inner, ok := unpack(r.s[r.i:]); ok {
		r = reader{s: inner, lower: lowerASCII(inner)}
	}
	r.begin()
	for r.i < len(r.s) && r.fatal == nil {
		r.step()
	}
	if r.fatal != nil {
		return reply{}, r.fatal
	}
	if r.broken != nil {
		return reply{}, r.broken
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
	s, lower string
	i        int
	values   []found
	prose    bool
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

// tag reads a thinking tag, if one stands here.
func (r *reader) tag() bool {
	for _, t := range thinking {
		switch rest := r.lower[r.i:]; {
		case strings.HasPrefix(rest, t[0]):
			end := strings.Index(rest, t[1])
			if end < 0 {
				r.fatal = problemf(CodeUndecodable, "the thinking in the reply never ends, so that there is no answer behind it")
				return true
			}
			r.i += end + len(t[1])
			r.thought = true
			if r.broken == nil && len(r.values) == 0 {
				r.prose = false
				r.begin()
			}
			return true
		case strings.HasPrefix(rest, t[1]):
			r.endThinking(len(t[1]))
			return true
		}
	}
	return false
}

// endThinking takes all that came before a closing tag without an opening one
// for thinking, if it can be that. Values are dropped only where the tag starts
// a line: a judge that answers first and then quotes a hostile text with such a
// tag in it must not lose its answer to the text.
func (r *reader) endThinking(size int) {
	lineStart := strings.TrimRight(r.s[:r.i], " \t\r")
	ownLine := lineStart == "" || strings.HasSuffix(lineStart, "\n")
	if !r.plain || r.restarts == maxRestarts || len(r.values) > 0 && !ownLine {
		r.prose = true
		r.i += size
		return
	}
	r.dropped = r.dropped || len(r.values) > 0
	r.values, r.prose, r.broken, r.depth = nil, false, nil, 0
	r.restarts++
	r.thought = true
	r.i += size
	r.begin()
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
		r.broken = problemf(CodeUndecodable, "the JSON in the reply can't be read: %v after %q", err, lastWords(r.s[r.i:end]))
		r.i++
	default:
		r.prose = true
		r.depth++
		r.i++
	}
}

// fence reads the mark of a code fence with its language, if one stands here.
func (r *reader) fence() bool {
	rest := r.s[r.i:]
	if !strings.HasPrefix(rest, "```") && !strings.HasPrefix(rest, "~~~") {
		return false
	}
	mark := rest[0]
	for r.i < len(r.s) && r.s[r.i] == mark {
		r.i++
	}
	for r.i < len(r.s) && isWordByte(r.s[r.i]) {
		r.i++
	}
	return true
}

// lowerASCII makes the letters A to Z small and leaves every index as it is.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// lastWords returns the end of a text, for a message.
func lastWords(s string) string {
	const limit = 40
	if len(s) <= limit {
		return s
	}
	return "..." + strings.ToValidUTF8(s[len(s)-limit:], "")
}
