package dataset

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// document says where the records stand in a file that is one JSON object.
type document struct {
	format Format   // the shape, "" to be found out by the first record
	path   []string // names of members; "*" for every item of a list
	beside bool     // whether something else stands beside the records
}

// any item of a list
const each = "*"

// documents are the objects that are known, by the members that lead to the
// records; of those the first item must have one of the names, if any are
// given. Names are in normal form.
var documents = []struct {
	format Format
	path   string
	item   []string
}{
	{Promptfoo, "results.results", nil},
	{Promptfoo, "results", []string{"vars"}},
	{Promptfoo, "tests", []string{"vars"}},
	{DeepEval, "testcases", []string{"input", "actualoutput"}},
	{DeepEval, "goldens", []string{"input", "expectedoutput"}},
	{SQuAD, "data", []string{"paragraphs"}},
	{Langfuse, "data", []string{"projectid", "traceid", "sessionid", "datasetid", "htmlpath"}},
	{"", "rows", []string{"row"}}, // as the Hugging Face server gives them
}

// outline is what a JSON object consists of, as far as it matters here.
type outline struct {
	names names             // its members and those of objects in it
	lists map[string]names  // its lists, by path in normal form, with the names of their first item
	spelt map[string]string // the path as it is spelt
	count map[string]int    // of lists: how many there are by that path
	order []string          // of lists
}

// findDocument tells whether the file is one object that holds the records,
// and nil if it isn't. in stands at its first brace.
func findDocument(in *bufio.Reader, limit int, columns *columns) (*document, *fault) {
	o := &outline{names: names{}, lists: map[string]names{}, spelt: map[string]string{}, count: map[string]int{}}
	s := jsonStream{in: in, max: limit, line: 1}
	if c, err := s.peek(); err != nil || c != '{' || o.read(&s, "", 1) != nil {
		return nil, nil // it is broken: the reading by records says where
	}
	if _, err := s.peek(); err != io.EOF {
		return nil, nil // further objects: records one after another
	}
	var fit []*document
	var at []string
	add := func(format Format, list string) {
		path := append(strings.Split(o.spelt[list], "."), each)
		if format == "" && list == "rows" {
			path = append(path, "row")
		}
		fit, at = append(fit, &document{format, path, o.beside(list)}), append(at, o.spelt[list])
	}
	for _, d := range documents {
		item, there := o.lists[d.path]
		if there && (d.item == nil || item.any(d.item...)) && (columns.forced == nil || d.format == "" || columns.forced.format == d.format) {
			add(d.format, d.path)
		}
	}
	if len(fit) == 0 && !o.isRecord(columns) {
		for _, list := range o.order {
			if o.lists[list].feed(columns) {
				add("", list)
			}
		}
	}
	switch len(fit) {
	case 0:
		return nil, nil
	case 1:
		return fit[0], nil
	}
	return nil, faultf("the records may be those under %s or those under %s", quoted(at[0]), quoted(at[1])).
		withHint(fmt.Sprintf("write the list that is meant into a file of its own: jq '.%s' FILE", at[0]))
}

// findDocument looks whether the part is one object that holds the records.
func (p *part) findDocument(opt *Options, columns *columns) *fault {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return nil // the reading will say so
	}
	in, err := p.text()
	if err != nil {
		return nil
	}
	doc, f := findDocument(in, opt.MaxRecord, columns)
	if p.doc = doc; doc != nil {
		p.format = JSON
	}
	return f
}

// startDocument begins to read what stands inside an object.
func (p *part) startDocument(in *bufio.Reader, limit int) source {
	if p.doc.format == SQuAD {
		return newSquadStream(in, limit, p.doc)
	}
	if s := shapeOf(p.doc.format); s != nil && p.columns.forced == nil {
		p.columns.adopt(s)
	}
	return newDocStream(in, limit, p.doc)
}

// beside reports whether the object holds more than the way to a list.
func (o *outline) beside(list string) bool {
	for name := range o.names {
		if name != list && !strings.HasPrefix(list, name+".") {
			return true
		}
	}
	return false
}

// isRecord reports whether the object itself has a field of a sample.
func (o *outline) isRecord(columns *columns) bool {
	return o.names.feed(columns) || o.names.any("vars", "inputs")
}

// feed reports whether one of the names feeds a field that can be scored.
func (n names) feed(columns *columns) bool {
	for name := range n {
		switch f := columns.resolve(name, strings.Contains(name, ".")).Field; f {
		case eval.FieldMetadata, eval.FieldID, eval.FieldCategory:
		default:
			return true
		}
	}
	for name := range columns.byColumn {
		if n[normal(name)] {
			return true
		}
	}
	return false
}

// read walks over the object that s stands at, depth 1 or 2, without keeping
// more of it than names.
func (o *outline) read(s *jsonStream, prefix string, depth int) error {
	return s.members(func(name string, c byte) error {
		path := prefix + name
		norm := normal(path)
		o.names.add(path)
		switch {
		case c == '{' && depth < 2:
			return o.read(s, path+".", depth+1)
		case c == '[':
			item, err := s.firstItem()
			if err != nil || item == nil {
				return err
			}
			if o.count[norm]++; o.count[norm] == 1 {
				o.order = append(o.order, norm)
			}
			o.lists[norm], o.spelt[norm] = recordNames(item), path
			return nil
		}
		return s.skip(c)
	})
}

// members calls visit for each member of the object that s stands at, with the
// first byte of its value, which visit must pass over.
func (j *jsonStream) members(visit func(name string, c byte) error) error {
	if err := j.take(); err != nil {
		return err
	}
	for first := true; ; first = false {
		c, err := j.peek()
		if err != nil {
			return unexpected(err)
		}
		if c == '}' {
			return j.take()
		}
		if !first {
			if c != ',' {
				return j.broken(invalidf("expected a comma or }, found %q", rune(c)))
			}
			if err := j.take(); err != nil {
				return err
			}
		}
		name, c, err := j.name()
		if err != nil {
			return err
		}
		if err := visit(name, c); err != nil {
			return err
		}
	}
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// name reads a member's name and the colon, and looks at the byte after it.
func (j *jsonStream) name() (string, byte, error) {
	c, err := j.peek()
	if err != nil {
		return "", 0, unexpected(err)
	}
	if c != '"' {
		return "", 0, j.broken(invalidf("expected a name in double quotes, found %q", rune(c)))
	}
	if err := j.frame(c); err != nil {
		return "", 0, err
	}
	v, f := parseValue(j.rec.raw)
	if f == nil {
		f = checkUTF8(j.rec.raw)
	}
	if f != nil {
		return "", 0, j.broken(f)
	}
	name, _ := v.text()
	if c, err = j.peek(); err != nil {
		return "", 0, unexpected(err)
	}
	if c != ':' {
		return "", 0, j.broken(invalidf("expected a colon, found %q", rune(c)))
	}
	if err := j.take(); err != nil {
		return "", 0, err
	}
	c, err = j.peek()
	return name, c, unexpected(err)
}

// skip passes over the value that begins with c, keeping nothing of it.
func (j *jsonStream) skip(c byte) error {
	return j.pass(framer{scalar: c != '{' && c != '[' && c != '"'})
}

func (j *jsonStream) pass(f framer) error {
	for !f.done {
		b, err := j.buffered()
		if err != nil {
			return unexpected(err)
		}
		n := f.feed(b)
		if n == 0 && !f.done {
			return j.broken(invalidf("expected a value"))
		}
		j.advance(b[:n])
	}
	return nil
}

// firstItem returns the first item of the list that s stands at, if that is an
// object, and passes over the list.
func (j *jsonStream) firstItem() ([]byte, error) {
	if err := j.take(); err != nil {
		return nil, err
	}
	c, err := j.peek()
	if err != nil {
		return nil, unexpected(err)
	}
	var item []byte
	if c == '{' {
		if err := j.frame(c); err != nil {
			return nil, err
		}
		if _, f := parseValue(j.rec.raw); f == nil && checkUTF8(j.rec.raw) == nil {
			item = slices.Clone(j.rec.raw)
		}
	}
	return item, j.pass(framer{depth: 1})
}

// docStream reads the records inside one JSON object. What stands beside them
// is passed over.
type docStream struct {
	jsonStream
	path  []string
	stack []byte // the closing bytes of what is open
	begun []bool // whether an item of it was seen
	ended bool
	out   bool // something beside the records is to be told
}

func newDocStream(in *bufio.Reader, limit int, doc *document) *docStream {
	return &docStream{jsonStream: jsonStream{in: in, max: limit, line: 1}, path: doc.path, out: doc.beside}
}

func (d *docStream) next() error {
	if len(d.stack) == 0 {
		if d.ended {
			return io.EOF
		}
		if err := d.enter('{'); err != nil {
			return err
		}
	}
	for {
		c, err := d.peek()
		if err != nil {
			return d.cut(err)
		}
		at := len(d.stack) - 1
		if c == d.stack[at] {
			if err := d.leave(); err != nil || d.ended {
				return cmp.Or(err, d.end())
			}
			continue
		}
		if d.begun[at] {
			if c != ',' {
				return d.broken(invalidf("expected a comma or %q, found %q", d.stack[at], rune(c)))
			}
			if err := d.take(); err != nil {
				return err
			}
		}
		d.begun[at] = true
		found, err := d.item(at)
		if err != nil {
			return d.cut(err)
		}
		if found {
			return nil
		}
	}
}

// item goes into the member or item that comes next, or passes over it, or
// finds it to be a record.
func (d *docStream) item(at int) (found bool, err error) {
	name := each
	var c byte
	if d.stack[at] == '}' {
		name, c, err = d.name()
	} else {
		c, err = d.peek()
	}
	if err != nil {
		return false, err
	}
	switch {
	case name != d.path[at]:
		return false, d.skip(c)
	case at == len(d.path)-1:
		return true, d.frame(c)
	case d.path[at+1] == each && c == '[', d.path[at+1] != each && c == '{':
		return false, d.enter(c)
	}
	return false, d.skip(c) // null, say
}

func (d *docStream) enter(c byte) error {
	if _, err := d.peek(); err != nil {
		return err
	}
	d.stack, d.begun = append(d.stack, map[byte]byte{'{': '}', '[': ']'}[c]), append(d.begun, false)
	return d.take()
}

func (d *docStream) leave() error {
	d.stack, d.begun = d.stack[:len(d.stack)-1], d.begun[:len(d.begun)-1]
	d.ended = len(d.stack) == 0
	return d.take()
}

// end looks at what follows the object.
func (d *docStream) end() error {
	c, err := d.peek()
	if err == nil {
		return d.broken(invalidf("%q stands after the end of the document", rune(c)))
	}
	return err
}

func (d *docStream) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.broken(invalidf("the file ends before its first brace is closed"))
	}
	return err
}

func (d *docStream) sample(dec *decoder) (*eval.Sample, *fault) {
	d.tell(dec)
	return d.jsonStream.sample(dec)
}

// tell warns, once, of what is passed over.
func (d *docStream) tell(dec *decoder) {
	if d.out {
		dec.warn(warnBeside)
		d.out = false
	}
}
