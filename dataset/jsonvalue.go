package dataset

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode/utf8"
)

// The reason for a parser of our own: encoding/json takes the last of two
// members with the same name, matches names without case, and turns bad UTF-8
// and lone surrogates into U+FFFD without a word. All of these would change
// what is scored.

type kind byte

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	kindCell // the text of a CSV field: raw is the text itself
)

var kindNames = [...]string{"null", "a boolean", "a number", "a text", "a list", "an object", "a text"}

func (k kind) String() string { return kindNames[k] }

// value is one JSON value in its raw spelling (or a CSV cell). It is only made
// by a parser that has checked it.
type value struct {
	kind kind
	esc  bool // a string that holds a backslash
	raw  []byte
	kids []value // what a list or an object holds, where the parser kept it
}

// maxDepth bounds the nesting of a record.
const maxDepth = 1000

// parser reads JSON strictly from a slice that is valid UTF-8.
type parser struct {
	b     []byte
	i     int
	depth int
	nodes *nodes // where to keep what lists and objects hold; may be nil
}

// nodes keeps the items of lists and objects, so that they need not be looked
// for a second time. It serves one record after another.
type nodes struct {
	kept []value // the items of each container in a row
	open []value // of those that are not closed yet
}

// reset forgets the record before; what was kept of one with very many items
// is given back.
func (n *nodes) reset() {
	const most = 1 << 14
	if cap(n.kept) > most {
		n.kept = nil
	}
	n.kept, n.open = n.kept[:0], n.open[:0]
}

// close keeps the items from start on.
func (n *nodes) close(start int) []value {
	at := len(n.kept)
	n.kept = append(n.kept, n.open[start:]...)
	n.open = n.open[:start]
	return n.kept[at:len(n.kept):len(n.kept)]
}

func (p *parser) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\r', '\n':
			p.i++
		default:
			return
		}
	}
}

// fail describes the unexpected byte at the current position.
func (p *parser) fail(expected string) *fault {
	if p.i >= len(p.b) {
		f := invalidf("the record ends where %s was expected", expected).at(p.i)
		f.open = true
		return f
	}
	r, _ := utf8.DecodeRune(p.b[p.i:])
	f := invalidf("expected %s, found %q", expected, r).at(p.i)
	switch {
	case r == '\'':
		f.hint = "JSON has no single quotes; this looks like a printed Python object: write it with json.dumps"
	case hasWord(p.b[p.i:], "NaN"), hasWord(p.b[p.i:], "Infinity"), hasWord(p.b[p.i:], "-Infinity"):
		f.hint = "JSON has no NaN or Infinity, though Python writes them: write null"
	case hasWord(p.b[p.i:], "None"), hasWord(p.b[p.i:], "True"), hasWord(p.b[p.i:], "False"):
		f.hint = "this looks like a printed Python object: write it with json.dumps"
	case hasWord(p.b[p.i:], "//"), hasWord(p.b[p.i:], "/*"), r == '#':
		f.hint = "JSON has no comments: take them out"
	case r == 0:
		f.hint = "a crash while a file is written leaves NULs behind: cut them off"
	case r == 0x1a:
		f.hint = "this is the end mark of DOS (Ctrl-Z): cut it off"
	case r == 0x1e:
		f.hint = "this is a JSON text sequence (RFC 7464): take the record separators out, such as by tr -d '\\036'"
	case hasWord(p.b[p.i:], "```"):
		f.hint = "the file was copied with the marks around it: take the lines with ``` out"
	case hasWord(p.b[p.i:], "<<<<<<<"), hasWord(p.b[p.i:], "======="), hasWord(p.b[p.i:], ">>>>>>>"):
		f.hint = "git left a conflict here: settle it"
	case r == '.' || r == '+':
		f.hint = "a number of JSON begins with a digit or a minus: 0.5, 1"
	case r == 0xa0, r == 0x200b, r == 0xfeff:
		f.hint = "the character is not seen on a screen: take it out"
	case r == ',' && p.i+1 < len(p.b) && hasWord(bytes.TrimSpace(p.b[p.i+1:]), "{"):
		f.hint = "objects on one line are parted by nothing, or stand in a list: [{...}, {...}]"
	case r == ',' && len(bytes.TrimSpace(p.b[p.i+1:])) == 0:
		f.hint = "no comma stands behind the last object, nor between the lines of JSONL"
	}
	return f
}

func hasWord(b []byte, w string) bool { return len(b) >= len(w) && string(b[:len(w)]) == w }

// value reads one value and stands behind it.
func (p *parser) value() (value, *fault) {
	if p.i >= len(p.b) {
		return value{}, p.fail("a value")
	}
	start := p.i
	switch c := p.b[p.i]; {
	case c == '"':
		esc, f := p.str()
		return value{kind: kindString, esc: esc, raw: p.b[start:p.i]}, f
	case c == '{':
		kids, f := p.container('}')
		return value{kind: kindObject, raw: p.b[start:p.i], kids: kids}, f
	case c == '[':
		kids, f := p.container(']')
		return value{kind: kindArray, raw: p.b[start:p.i], kids: kids}, f
	case c == '-' || c >= '0' && c <= '9':
		f := p.number()
		return value{kind: kindNumber, raw: p.b[start:p.i]}, f
	}
	for _, w := range [...]struct {
		text string
		kind kind
	}{{"null", kindNull}, {"true", kindBool}, {"false", kindBool}} {
		if hasWord(p.b[p.i:], w.text) {
			p.i += len(w.text)
			return value{kind: w.kind, raw: p.b[start:p.i]}, nil
		}
	}
	return value{}, p.fail("a value")
}

// container reads the list or object that begins here and keeps what it holds.
// A list that begins with a number is not kept: an embedding has thousands.
func (p *parser) container(end byte) ([]value, *fault) {
	if p.nodes == nil {
		return nil, p.each(end, nil)
	}
	start, first, numbers := len(p.nodes.open), true, false
	f := p.each(end, func(key, v value) *fault {
		if first {
			first, numbers = false, end == ']' && v.kind == kindNumber
		}
		switch {
		case numbers:
			return nil
		case end == '}':
			p.nodes.open = append(p.nodes.open, key)
		}
		p.nodes.open = append(p.nodes.open, v)
		return nil
	})
	if f != nil {
		return nil, f
	}
	return p.nodes.close(start), nil
}

// each walks over the list or object that begins here, with closing byte end,
// and calls visit, if there is one, for every item; key is the zero value in a
// list. It stands behind the closing byte afterwards.
func (p *parser) each(end byte, visit func(key, v value) *fault) *fault {
	if p.depth++; p.depth > maxDepth {
		return invalidf("nested more than %d deep", maxDepth).at(p.i)
	}
	p.i++
	for first := true; ; first = false {
		p.space()
		if first && p.i < len(p.b) && p.b[p.i] == end {
			break
		}
		var key value
		if end == '}' {
			k, f := p.key()
			if f != nil {
				return f
			}
			key = k
		} else if p.i < len(p.b) && p.b[p.i] == end {
			return invalidf("a comma stands before the closing %q", end).at(p.i).withHint("take the comma out")
		}
		v, f := p.value()
		if f != nil {
			return f
		}
		if visit != nil {
			if f := visit(key, v); f != nil {
				return f
			}
		}
		p.space()
		if p.i < len(p.b) && p.b[p.i] == end {
			break
		}
		if p.i >= len(p.b) || p.b[p.i] != ',' {
			return p.fail("a comma or " + string(end))
		}
		p.i++
	}
	p.i++
	p.depth--
	return nil
}

// key reads a member's name and the colon after it.
func (p *parser) key() (value, *fault) {
	if p.i < len(p.b) && p.b[p.i] == '}' {
		return value{}, invalidf("a comma stands before the closing '}'").at(p.i).withHint("take the comma out")
	}
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return value{}, p.fail("a name in double quotes")
	}
	start := p.i
	esc, f := p.str()
	if f != nil {
		return value{}, f
	}
	key := value{kind: kindString, esc: esc, raw: p.b[start:p.i]}
	p.space()
	if p.i >= len(p.b) || p.b[p.i] != ':' {
		return value{}, p.fail("a colon")
	}
	p.i++
	p.space()
	return key, nil
}

// str reads a string and reports whether it holds an escape.
func (p *parser) str() (esc bool, _ *fault) {
	p.i++
	for {
		p.i = plain(p.b, p.i)
		if p.i >= len(p.b) {
			f := invalidf("the record ends inside a text").at(p.i)
			f.open = true
			return esc, f
		}
		switch c := p.b[p.i]; c {
		case '"':
			p.i++
			return esc, nil
		case '\\':
			esc = true
			if p.i+1 < len(p.b) && escapes[p.b[p.i+1]] != 0 {
				p.i += 2
				continue
			}
			n := escapeLen(p.b[p.i:])
			if n == 0 {
				return esc, invalidf("an unknown escape after \\").at(p.i)
			}
			p.i += n
		case '\n', '\r':
			return esc, invalidf("a text is not closed at the end of the line").at(p.i)
		default:
			return esc, invalidf("the control character 0x%02x stands in a text without an escape", c).at(p.i).
				withHint("write it as \\n, \\t or \\u00XX: programs that write JSON do so by themselves")
		}
	}
}

// plain returns the position of the first byte from i on that is a quote, a
// backslash or a control character. It looks at eight bytes at a time, since
// nearly all the bytes of a dataset pass through here: (x-n)&^x has the high
// bit set in the lowest byte of x that is less than n.
func plain(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, back := x^('"'*ones), x^('\\'*ones)
		m := ((x-0x20*ones)&^x | (quote-ones)&^quote | (back-ones)&^back) & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// escapeLen is the length of the escape at the start of b; 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hexDigits(b, 2, 4); ok {
			return 6
		}
	}
	return 0
}

// hexDigits reads n hexadecimal digits of b from i on.
func hexDigits[T ~[]byte | ~string](b T, i, n int) (rune, bool) {
	if len(b) < i+n {
		return 0, false
	}
	var r rune
	for ; n > 0; i, n = i+1, n-1 {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (p *parser) digits() bool {
	start := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i > start
}

func (p *parser) number() *fault {
	start := p.i
	next := func() byte {
		if p.i < len(p.b) {
			return p.b[p.i]
		}
		return 0
	}
	if next() == '-' {
		p.i++
	}
	switch {
	case next() == '0':
		p.i++
	case !p.digits():
		f := p.fail("a digit")
		if hasWord(p.b[start:], "-Infinity") {
			f.hint = "JSON has no NaN or Infinity, though Python writes them: write null"
		}
		return f
	}
	if next() == '.' {
		if p.i++; !p.digits() {
			return p.fail("a digit")
		}
	}
	if next()|0x20 == 'e' {
		p.i++
		if next() == '+' || next() == '-' {
			p.i++
		}
		if !p.digits() {
			return p.fail("a digit")
		}
	}
	return nil
}

// parseValue reads text that is one JSON value and nothing else.
func parseValue(b []byte) (value, *fault) {
	p := parser{b: b}
	p.space()
	v, f := p.value()
	if f != nil {
		return value{}, f
	}
	p.space()
	if p.i < len(b) {
		return value{}, p.fail("nothing more")
	}
	return v, nil
}

// items gives the items of a list.
func (v value) items() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if len(v.kids) > 0 {
			for i, item := range v.kids {
				if !yield(i, item) {
					return
				}
			}
			return
		}
		p := parser{b: v.raw}
		n := 0
		stop := &fault{}
		_ = p.each(']', func(_, item value) *fault {
			n++
			if !yield(n-1, item) {
				return stop
			}
			return nil
		})
	}
}

// members gives the members of an object, doubled names included.
func (v value) members() iter.Seq2[value, value] {
	return func(yield func(value, value) bool) {
		for i := 0; i+1 < len(v.kids); i += 2 {
			if !yield(v.kids[i], v.kids[i+1]) {
				return
			}
		}
		if len(v.kids) > 0 {
			return
		}
		p := parser{b: v.raw}
		stop := &fault{}
		_ = p.each('}', func(key, item value) *fault {
			if !yield(key, item) {
				return stop
			}
			return nil
		})
	}
}
