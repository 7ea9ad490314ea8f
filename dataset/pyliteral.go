package dataset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// pyToJSON turns a Python literal, as repr prints lists of strings and dicts,
// into JSON. It is a parser of literals only: nothing is evaluated, a name or
// a call is an error. Strings, numbers, None, True, False, lists, tuples and
// dicts with keys of text are understood.
//
// Two strings side by side, which Python would glue together, are refused: it
// is how NumPy prints an array, and what it prints may be cut.
func pyToJSON(b []byte) ([]byte, *fault) {
	p := pyParser{b: b, out: make([]byte, 0, len(b)+len(b)/8)}
	p.space()
	if f := p.value(0); f != nil {
		return nil, f
	}
	p.space()
	if p.i < len(b) {
		return nil, p.fail("nothing more")
	}
	return p.out, nil
}

type pyParser struct {
	b   []byte
	i   int
	out []byte
}

func (p *pyParser) space() {
	for p.i < len(p.b) && strings.IndexByte(" \t\r\n\f", p.b[p.i]) >= 0 {
		p.i++
	}
}

func (p *pyParser) peek() byte {
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

func (p *pyParser) fail(expected string) *fault {
	if p.i >= len(p.b) {
		return faultf("it ends where %s was expected", expected)
	}
	r, _ := utf8.DecodeRune(p.b[p.i:])
	return faultf("expected %s at byte %d, found %q", expected, p.i+1, r)
}

// langChainDocument begins a document of LangChain as Python prints it.
const langChainDocument = "Document("

// cutFault is for lists that NumPy or pandas printed in part.
func cutFault() *fault {
	return faultf("was cut where it was printed (...): data is missing").
		withHint("write the column as JSON: df[column].map(lambda a: json.dumps(list(a)))")
}

func numpyFault() *fault {
	return faultf("is an array as NumPy prints it, where items may be cut: data is missing").
		withHint("write the column as JSON: df[column].map(lambda a: json.dumps(list(a)))")
}

func (p *pyParser) value(depth int) *fault {
	if depth > maxDepth {
		return faultf("nested more than %d deep", maxDepth)
	}
	switch c := p.peek(); {
	case c == '[':
		return p.list(']', depth)
	case c == '(':
		return p.list(')', depth)
	case c == '{':
		return p.dict(depth)
	case c == '\'' || c == '"' || (c|0x20 == 'u') && p.i+1 < len(p.b) && (p.b[p.i+1] == '\'' || p.b[p.i+1] == '"'):
		return p.str()
	case c == '-' || c >= '0' && c <= '9':
		n := parser{b: p.b, i: p.i}
		if n.number() != nil {
			return p.fail("a number")
		}
		p.out = append(p.out, p.b[p.i:n.i]...)
		p.i = n.i
		return nil
	}
	if hasWord(p.b[p.i:], langChainDocument) {
		return p.document(depth)
	}
	for py, js := range map[string]string{"None": "null", "True": "true", "False": "false", "nan": "null"} {
		if hasWord(p.b[p.i:], py) {
			p.i += len(py)
			p.out = append(p.out, js...)
			return nil
		}
	}
	if hasWord(p.b[p.i:], "...") {
		return cutFault()
	}
	if hasWord(p.b[p.i:], "array(") {
		return numpyFault()
	}
	return p.fail("a string, a number, a list or a dict")
}

// separator reads the comma between items, or sees the closing byte.
func (p *pyParser) separator(end byte) *fault {
	p.space()
	switch p.peek() {
	case end:
		return nil
	case ',':
		p.i++
		p.space()
		return nil
	case '.':
		return cutFault()
	case '\'', '"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return numpyFault()
	}
	return p.fail("a comma or " + string(end))
}

// document reads Document(page_content='...', metadata={...}) as an object.
func (p *pyParser) document(depth int) *fault {
	p.i += len(langChainDocument)
	p.out = append(p.out, '{')
	p.space()
	for first := true; p.peek() != ')'; first = false {
		if !first {
			p.out = append(p.out, ',')
		}
		start := p.i
		for c := p.peek(); c == '_' || c >= 'a' && c <= 'z'; c = p.peek() {
			p.i++
		}
		if p.i == start || p.peek() != '=' {
			return p.fail("the name of an argument and =")
		}
		p.out = append(appendQuoted(p.out, p.b[start:p.i]), ':')
		p.i++
		if f := p.value(depth + 1); f != nil {
			return f
		}
		if f := p.separator(')'); f != nil {
			return f
		}
	}
	p.i++
	p.out = append(p.out, '}')
	return nil
}

func (p *pyParser) list(end byte, depth int) *fault {
	p.i++
	p.out = append(p.out, '[')
	p.space()
	for first := true; p.peek() != end; first = false {
		if !first {
			p.out = append(p.out, ',')
		}
		if f := p.value(depth + 1); f != nil {
			return f
		}
		if f := p.separator(end); f != nil {
			return f
		}
	}
	p.i++
	p.out = append(p.out, ']')
	return nil
}

func (p *pyParser) dict(depth int) *fault {
	p.i++
	p.out = append(p.out, '{')
	p.space()
	for first := true; p.peek() != '}'; first = false {
		if !first {
			p.out = append(p.out, ',')
		}
		if c := p.peek(); c != '\'' && c != '"' {
			return p.fail("a key in quotes")
		}
		if f := p.str(); f != nil {
			return f
		}
		p.space()
		if p.peek() != ':' {
			return p.fail("a colon")
		}
		p.i++
		p.space()
		p.out = append(p.out, ':')
		if f := p.value(depth + 1); f != nil {
			return f
		}
		if f := p.separator('}'); f != nil {
			return f
		}
	}
	p.i++
	p.out = append(p.out, '}')
	return nil
}

// str reads a string in single, double or triple quotes.
func (p *pyParser) str() *fault {
	if p.peek()|0x20 == 'u' {
		p.i++
	}
	quote := p.b[p.i : p.i+1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(p.b[p.i:], triple) {
		quote = triple
	}
	start := p.i
	p.i += len(quote)
	p.out = append(p.out, '"')
	for !bytes.HasPrefix(p.b[p.i:], quote) {
		if p.i >= len(p.b) {
			return faultf("the string that begins at byte %d is not closed", start+1)
		}
		if p.b[p.i] == '\\' {
			if f := p.escape(); f != nil {
				return f
			}
			continue
		}
		p.out = appendInner(p.out, p.b[p.i:p.i+1])
		p.i++
	}
	p.i += len(quote)
	p.out = append(p.out, '"')
	return nil
}

// appendInner appends text to a JSON string that is already open.
func appendInner(dst, s []byte) []byte {
	n := len(dst)
	dst = appendQuoted(dst, s)
	return append(dst[:n], dst[n+1:len(dst)-1]...)
}

var pyEscapes = map[byte]string{
	'\n': "", '\\': `\\`, '\'': "'", '"': `\"`, 'a': `\u0007`, 'b': `\b`,
	'f': `\f`, 'n': `\n`, 'r': `\r`, 't': `\t`, 'v': `\u000b`,
}

// escape resolves one escape. An escape that Python doesn't know stays as it
// is, backslash and all, as in Python.
func (p *pyParser) escape() *fault {
	if p.i+1 >= len(p.b) {
		return p.fail("the rest of an escape")
	}
	c := p.b[p.i+1]
	if s, ok := pyEscapes[c]; ok {
		p.i += 2
		p.out = append(p.out, s...)
		return nil
	}
	var r rune
	switch {
	case c >= '0' && c <= '7':
		n := 1
		for ; n <= 3 && p.i+n < len(p.b) && p.b[p.i+n] >= '0' && p.b[p.i+n] <= '7'; n++ {
			r = r<<3 | rune(p.b[p.i+n]-'0')
		}
		p.i += n
	case c == 'x' || c == 'u' || c == 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		var ok bool
		if r, ok = hexDigits(p.b, p.i+2, n); !ok || r < 0 || r > utf8.MaxRune {
			return faultf("an incomplete or too large \\%c escape stands at byte %d", c, p.i+1)
		}
		p.i += 2 + n
	case c == 'N':
		return faultf("a character by name (\\N) at byte %d is not understood", p.i+1)
	default:
		p.i++
		p.out = append(p.out, `\\`...)
		return nil
	}
	if r >= 0xd800 && r <= 0xdfff { // left to the JSON side, which warns
		const digits = "0123456789abcdef"
		p.out = append(p.out, '\\', 'u', 'd', digits[r>>8&15], digits[r>>4&15], digits[r&15])
		return nil
	}
	p.out = appendInner(p.out, utf8.AppendRune(nil, r))
	return nil
}
