package judge

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// This file reads one JSON value the way models write it. It understands what
// can mean only one thing: Python's and JavaScript's literals and quotes, raw
// newlines in strings, comments, a comma too many. It never guesses: a value
// that breaks off or that is wrong in any other way is an error.

type kind int

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	arrayKind
	objectKind
)

// value is a JSON value. A number keeps its text, and an object keeps every key
// in its order, so that nothing is lost before it is looked at.
type value struct {
	kind kind
	// text is the string, the number as it stands, or "true" or "false".
	text string
	// list holds the elements of an array, or the values of an object.
	list []value
	// keys are the keys of an object, one for each value.
	keys []string
}

var (
	errCut    = errors.New("it breaks off")
	errSyntax = errors.New("it is not JSON")
	errDeep   = errors.New("it is nested too deeply")
)

// maxDepth bounds nesting: no answer comes near it.
const maxDepth = 64

type parser struct {
	s string
	i int
}

// parseValue reads the value that starts at s[i] and returns the index behind
// it, or an error and the index at which reading stopped.
func parseValue(s string, i int) (value, int, error) {
	p := parser{s: s, i: i}
	v, err := p.value(0)
	return v, p.i, err
}

func (p *parser) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, errDeep
	}
	if err := p.space(); err != nil {
		return value{}, err
	}
	c := p.s[p.i]
	switch {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case p.quote() != "":
		text, err := p.str()
		return value{kind: stringKind, text: text}, err
	case isWordByte(c) || c == '-' || c == '+' || c == '.':
		return p.word()
	}
	return value{}, errSyntax
}

func (p *parser) object(depth int) (value, error) {
	v := value{kind: objectKind}
	p.i++
	for {
		if err := p.space(); err != nil {
			return v, err
		}
		if p.s[p.i] == '}' {
			p.i++
			return v, nil
		}
		key, err := p.key()
		if err != nil {
			return v, err
		}
		if err := p.space(); err != nil {
			return v, err
		}
		if !p.mark(":", "\uff1a") {
			return v, errSyntax
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.keys, v.list = append(v.keys, key), append(v.list, item)
		if err := p.comma('}'); err != nil {
			return v, err
		}
	}
}

// key reads a quoted key, or a bare one as JavaScript and Python allow it.
func (p *parser) key() (string, error) {
	if p.quote() != "" {
		return p.str()
	}
	start := p.i
	for p.i < len(p.s) && isWordByte(p.s[p.i]) {
		p.i++
	}
	if p.i == start {
		return "", errSyntax
	}
	return p.s[start:p.i], nil
}

func (p *parser) array(depth int) (value, error) {
	v := value{kind: arrayKind}
	p.i++
	for {
		if err := p.space(); err != nil {
			return v, err
		}
		if p.s[p.i] == ']' {
			p.i++
			return v, nil
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.list = append(v.list, item)
		if err := p.comma(']'); err != nil {
			return v, err
		}
	}
}

// comma reads the comma behind an element, or stands still before the end.
func (p *parser) comma(end byte) error {
	if err := p.space(); err != nil {
		return err
	}
	if p.s[p.i] == end || p.mark(",", "\uff0c") {
		return nil
	}
	return errSyntax
}

// mark reads a mark in its own or its full-width form.
func (p *parser) mark(narrow, wide string) bool {
	for _, m := range []string{narrow, wide} {
		if strings.HasPrefix(p.s[p.i:], m) {
			p.i += len(m)
			return true
		}
	}
	return false
}

// literals are the words that stand for a value, with what they stand for.
var literals = map[string]value{
	"true": {kind: boolKind, text: "true"}, "True": {kind: boolKind, text: "true"}, "TRUE": {kind: boolKind, text: "true"},
	"false": {kind: boolKind, text: "false"}, "False": {kind: boolKind, text: "false"}, "FALSE": {kind: boolKind, text: "false"},
	"null": {}, "None": {}, "NULL": {}, "Null": {}, "undefined": {},
}

// notFinite are the numbers that are none; they are kept to be refused.
var notFinite = []string{"nan", "inf", "infinity"}

// word reads a number or a literal.
func (p *parser) word() (value, error) {
	start := p.i
	for p.i < len(p.s) && (isWordByte(p.s[p.i]) || strings.IndexByte("+-.", p.s[p.i]) >= 0) {
		p.i++
	}
	w := p.s[start:p.i]
	if v, ok := literals[w]; ok {
		return v, nil
	}
	if slices.Contains(notFinite, strings.ToLower(strings.TrimLeft(w, "+-"))) || isNumber(w) {
		return value{kind: numberKind, text: w}, nil
	}
	if p.i == len(p.s) {
		return value{}, errCut
	}
	p.i = start
	return value{}, errSyntax
}

// isNumber reports whether w is a decimal number, in JSON's form or with a plus
// sign or a bare point.
func isNumber(w string) bool {
	if _, err := strconv.ParseFloat(w, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return false
	}
	return strings.Trim(w, "0123456789+-.eE") == "" // no hexadecimal, no underscore
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quotes lists the pairs of quotes that may enclose a string.
var quotes = [][2]string{{`"`, `"`}, {"'", "'"}, {"\u201c", "\u201d"}}

// quote returns the closing quote if a string starts here, or "".
func (p *parser) quote() string {
	for _, q := range quotes {
		if strings.HasPrefix(p.s[p.i:], q[0]) {
			return q[1]
		}
	}
	return ""
}

// str reads a string. Raw control characters are part of it; an escape that
// JSON doesn't know stays as it is.
func (p *parser) str() (string, error) {
	end := p.quote()
	_, size := utf8.DecodeRuneInString(p.s[p.i:])
	p.i += size
	rest := p.s[p.i:]
	n := strings.Index(rest, end)
	if n < 0 {
		p.i = len(p.s)
		return "", errCut
	}
	if !strings.Contains(rest[:n], `\`) {
		p.i += n + len(end)
		return strings.ToValidUTF8(rest[:n], "\ufffd"), nil
	}
	var b strings.Builder
	for p.i < len(p.s) {
		switch {
		case strings.HasPrefix(p.s[p.i:], end):
			p.i += len(end)
			return strings.ToValidUTF8(b.String(), "\ufffd"), nil
		case p.s[p.i] == '\\':
			p.escape(&b)
		default:
			b.WriteByte(p.s[p.i])
			p.i++
		}
	}
	return "", errCut
}

var escapes = map[byte]string{
	'"': `"`, '\'': "'", '\\': `\`, '/': "/", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t",
}

func (p *parser) escape(b *strings.Builder) {
	if p.i+1 >= len(p.s) {
		p.i++
		return
	}
	c := p.s[p.i+1]
	if text, ok := escapes[c]; ok {
		b.WriteString(text)
		p.i += 2
		return
	}
	r, ok := p.hex4(p.i)
	if !ok {
		b.WriteByte('\\')
		p.i++
		return
	}
	p.i += 6
	if utf16.IsSurrogate(r) {
		low, ok := p.hex4(p.i)
		if pair := utf16.DecodeRune(r, low); ok && pair != unicode.ReplacementChar {
			p.i += 6
			r = pair
		} else {
			r = unicode.ReplacementChar
		}
	}
	b.WriteRune(r)
}

// hex4 reads \u and four hexadecimal digits at i.
func (p *parser) hex4(i int) (rune, bool) {
	if i+6 > len(p.s) || p.s[i] != '\\' || p.s[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[i+2:i+6], 16, 16)
	return rune(n), err == nil
}

// space skips white space, characters without width, and comments. There must
// be something behind them: inside a value the end is never a good place.
func (p *parser) space() error {
	for p.i < len(p.s) {
		rest := p.s[p.i:]
		switch {
		case strings.HasPrefix(rest, "//") || rest[0] == '#':
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			p.i += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				p.i = len(p.s)
				return errCut
			}
			p.i += n + 2
		default:
			before := p.i
			if p.blank(); p.i == before {
				return nil
			}
		}
	}
	return errCut
}

// blank skips white space and characters without width.
func (p *parser) blank() {
	for p.i < len(p.s) {
		r, size := utf8.DecodeRuneInString(p.s[p.i:])
		if !isBlank(r) {
			return
		}
		p.i += size
	}
}

// isBlank reports white space and characters without width: the byte order
// mark, joiners, soft hyphens and marks of direction among them.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || r > unicode.MaxASCII && unicode.Is(unicode.Cf, r)
}

// fields returns every value that stands under one of the names, whatever the
// case of the key and the marks in it: "item_id" is "ItemID" and "item id". The
// names are given in keyName's spelling. The first name that is there at all
// decides: the name that was asked for stands before its synonyms.
func (v value) fields(names []string) []value {
	if v.kind != objectKind {
		return nil
	}
	for _, name := range names {
		var found []value
		for i, k := range v.keys {
			if k == name || len(k) < maxKey && keyName(k) == name {
				found = append(found, v.list[i])
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// maxKey bounds the keys that are looked at closely, in bytes.
const maxKey = 64

// keyName is the spelling of a key in which keys are compared.
func keyName(k string) string {
	for i := 0; i < len(k); i++ {
		if c := k[i]; c < 'a' || c > 'z' {
			return spelling(k)
		}
	}
	return k
}

// inner returns the value that a string holds as JSON, as tools that nest JSON
// in JSON write it, or the value itself.
func (v value) inner() value {
	s := strings.TrimFunc(v.text, isBlank)
	if v.kind != stringKind || s == "" || s[0] != '{' && s[0] != '[' {
		return v
	}
	in, end, err := parseValue(s, 0)
	if err != nil || end != len(s) {
		return v
	}
	return in
}

// wrappers are the names under which the whole answer may stand, where the
// object around it holds nothing else that could be one.
var wrappers = []string{
	"result", "output", "data", "response", "answer", "json", "content", "final", "finalanswer", "evaluation", "assessment", "arguments", "parameters", "input", "reply",
}

// maxWrappers bounds how deep the answer may stand under such names.
const maxWrappers = 3

// unwrap returns what stands under such a name. An object with one of the names
// that the answer itself is known by is the answer.
func (v value) unwrap(own ...[]string) value {
	for range maxWrappers {
		if v.kind != objectKind || slices.ContainsFunc(own, func(names []string) bool { return v.fields(names) != nil }) {
			return v
		}
		held := v.fields(wrappers)
		if len(held) != 1 {
			return v
		}
		nested := 0
		for _, item := range v.list {
			if k := item.inner().kind; k == objectKind || k == arrayKind {
				nested++
			}
		}
		in := held[0].inner()
		if nested != 1 || in.kind != objectKind && in.kind != arrayKind {
			return v
		}
		v = in
	}
	return v
}

// same reports whether two values are equal to the letter.
func same(a, b value) bool {
	return a.kind == b.kind && a.text == b.text && slices.Equal(a.keys, b.keys) && slices.EqualFunc(a.list, b.list, same)
}
