package judge

import (
	"regexp"
	"strings"
)

// This file tells the thinking in a reply from the answer. Thinking holds
// drafts and quotations, so that nothing in it is ever a verdict.

// thinkNames are the names of the tags between which models think, in the
// spelling of tagName: <think>, <Inner_Monologue>, <seed:think>, [THINK].
var thinkNames = map[string]bool{
	"think": true, "thinking": true, "thought": true, "thoughts": true, "thoughtprocess": true, "thinkingprocess": true,
	"reasoning": true, "reflection": true, "reflections": true, "analysis": true, "scratchpad": true, "deliberation": true,
	"monologue": true, "innermonologue": true, "innerthoughts": true, "internalmonologue": true, "chainofthought": true, "cot": true,
	"draft": true, "antthinking": true, "seedthink": true,
}

// thinkTag is a tag of thinking as it stands in a reply.
type thinkTag struct {
	// name is its name in the spelling of tagName, whatever the brackets.
	name string
	// bracket is what it opens with: "<", "[" or "\u25c1".
	bracket string
	closing bool
	// empty reports <think/>, which holds nothing.
	empty bool
	size  int // in bytes
}

// brackets are what the tags of thinking stand in, with the bracket that closes
// it.
var brackets = [][2]string{{"<", ">"}, {"[", "]"}, {"\u25c1", "\u25b7"}}

// maxTag bounds a tag with its attributes, in bytes.
const maxTag = 160

// thinkTagAt reads the tag of thinking that s starts with: <think>,
// </ thinking >, <reasoning effort="high">, [THINK], <|begin_of_thought|>. At
// the start of a reply the closing bracket may be missing.
func thinkTagAt(s string, atStart bool) (thinkTag, bool) {
	t := thinkTag{}
	end := ""
	for _, b := range brackets {
		if strings.HasPrefix(s, b[0]) {
			t.bracket, end = b[0], b[1]
		}
	}
	if t.bracket == "" {
		return t, false
	}
	rest := trimTagStart(s[len(t.bracket):])
	if after, ok := strings.CutPrefix(rest, "/"); ok {
		t.closing = true
		rest = trimTagStart(after)
	}
	name, rest := tagName(rest)
	switch {
	case strings.HasPrefix(name, "beginof"), strings.HasPrefix(name, "startof"):
		name = name[len("beginof"):]
	case strings.HasPrefix(name, "endof"):
		name, t.closing = name[len("endof"):], true
	case strings.HasPrefix(name, "start"):
		name = name[len("start"):]
	case strings.HasPrefix(name, "end"):
		name, t.closing = name[len("end"):], true
	}
	if t.name = name; !thinkNames[name] {
		return t, false
	}
	n := strings.Index(rest[:min(len(rest), maxTag)], end)
	attributes := rest
	if n >= 0 {
		attributes = rest[:n]
	}
	switch {
	case n >= 0 && strings.Trim(attributes, " \t|\uff5c/") == "":
		t.empty = !t.closing && strings.HasSuffix(attributes, "/")
	case n >= 0 && end == ">" && strings.ContainsAny(attributes[:1], " \t|") && !strings.ContainsAny(attributes, "<{\n"):
	case atStart && !t.closing && end == ">":
		t.size = len(s) - len(rest)
		return t, true
	default:
		return t, false
	}
	t.size = len(s) - len(rest) + n + len(end)
	return t, true
}

func trimTagStart(s string) string { return strings.TrimLeft(s, " |\uff5c") }

// tagName returns the name at the start of a tag, with no case and nothing but
// its letters, and what follows it.
func tagName(s string) (name, rest string) {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() <= len("internalmonologue"); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
			b.WriteByte(c)
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case (c == '_' || c == '-' || c == ':') && b.Len() > 0:
		default:
			return b.String(), s[i:]
		}
	}
	return "", s
}

// tag reads a tag of thinking or a mark of a chat's form, if one stands here.
func (r *reader) tag() bool {
	if r.channel() {
		return true
	}
	t, ok := thinkTagAt(r.s[r.i:], r.atStart())
	switch {
	case !ok:
		return r.chatMark()
	case t.empty:
		r.i += t.size
		r.thought = true
	case t.closing:
		r.endThinking(t.size)
	default:
		r.skipThinking(t)
	}
	return true
}

// atStart reports that nothing has been read so far.
func (r *reader) atStart() bool {
	return !r.prose && !r.thought && len(r.values) == 0 && r.broken == nil
}

// skipThinking leaves out what stands up to the closing tag of the same name.
func (r *reader) skipThinking(open thinkTag) {
	for at := r.i + open.size; ; {
		n := strings.Index(r.s[at:], open.bracket)
		if n < 0 {
			r.fatal = problemf(CodeUndecodable, "the thinking in the reply never ends, so that there is no answer behind it")
			return
		}
		at += n
		if t, ok := thinkTagAt(r.s[at:], false); ok && t.closing && t.name == open.name {
			r.thoughtUpTo(at + t.size)
			return
		}
		at += len(open.bracket)
	}
}

// thoughtUpTo goes on behind a thinking.
func (r *reader) thoughtUpTo(end int) {
	r.i = end
	r.thought = true
	if r.broken == nil && len(r.values) == 0 {
		r.prose = false
		r.begin()
	}
}

var (
	// channelMark starts a message of a form of chat that some servers leave in
	// the reply: <|channel|>analysis<|message|>thoughts<|end|>, and the answer
	// in the channel "final".
	channelMark = regexp.MustCompile(`^<\|channel\|>\s*([A-Za-z]+)[^<\n{\[]{0,80}(?:<\|constrain\|>[^<\n{\[]{0,40})?(?:<\|message\|>)?`)
	// bareChannel is the same where the server took the marks out.
	bareChannel = regexp.MustCompile(`^(?:analysis|commentary)(?:[A-Z"'(` + "`" + `]|to=)`)
	// chatMarks say who speaks, or that the turn is over.
	chatMarks = regexp.MustCompile(`^(?:<\|(?:start|end|return|message|call|im_start|im_end|endoftext|eot_id|end_of_text|eom_id)\|>(?:assistant)?|</s>|<end_of_turn>)`)
)

const bareFinal = "assistantfinal"

// channel reads the start of a message in a channel. The answer is in "final";
// all others are thinking, up to the next "final".
func (r *reader) channel() bool {
	if !strings.HasPrefix(r.s[r.i:], "<|channel|>") {
		return false
	}
	m := channelMark.FindStringSubmatch(r.s[r.i:min(len(r.s), r.i+2*maxTag)])
	if m == nil {
		return false
	}
	if strings.HasPrefix(strings.ToLower(m[1]), "final") {
		r.endThinking(len(m[0]))
		return true
	}
	for at := r.i + len(m[0]); ; {
		n := strings.Index(r.s[at:], "<|channel|>")
		if n < 0 {
			r.fatal = problemf(CodeUndecodable, "the reply has no message in its final channel, so that there is no answer")
			return true
		}
		at += n
		next := channelMark.FindStringSubmatch(r.s[at:min(len(r.s), at+2*maxTag)])
		if next != nil && strings.HasPrefix(strings.ToLower(next[1]), "final") {
			r.thoughtUpTo(at + len(next[0]))
			return true
		}
		at += len("<|channel|>")
	}
}

// bareChannels does the same for a reply whose marks are gone:
// "analysisThe claim says...assistantfinal{...}".
func (r *reader) bareChannels() {
	if !bareChannel.MatchString(r.s[r.i:min(len(r.s), r.i+16)]) {
		return
	}
	n := strings.Index(r.s[r.i:], bareFinal)
	if n < 0 {
		r.fatal = problemf(CodeUndecodable, "the reply has no message in its final channel, so that there is no answer")
		return
	}
	r.thoughtUpTo(r.i + n + len(bareFinal))
}

// chatMark skips a mark that says nothing about the answer.
func (r *reader) chatMark() bool {
	rest := r.s[r.i:min(len(r.s), r.i+40)]
	if !strings.HasPrefix(rest, "<|") && !strings.HasPrefix(rest, "</s") && !strings.HasPrefix(rest, "<end") {
		return false
	}
	n := len(chatMarks.FindString(rest))
	r.i += n
	return n > 0
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
