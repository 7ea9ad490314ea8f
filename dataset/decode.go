package dataset

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/eval"
)

// decoder makes samples of records. It belongs to one reader.
type decoder struct {
	columns *columns
	charset *charset // of the file's text, for messages
	warn    func(warnKind)
	scratch []byte // for text with escapes
	nodes   nodes
}

// maxScratch is how much of that is kept from one text to the next.
const maxScratch = 1 << 20

// contextsLater keeps what must wait until the whole record was seen.
type contextsLater struct {
	contexts
	column string
	given  bool

	expected string // the reference, if no column gives one
	meta     value  // the object called metadata
}

// json reads one record that is a JSON object.
func (d *decoder) json(raw []byte) (*eval.Sample, *fault) {
	if f := d.charset.checkText(raw); f != nil {
		return nil, f
	}
	d.nodes.reset()
	p := parser{b: raw, nodes: &d.nodes}
	p.space()
	if p.i < len(raw) && raw[p.i] != '{' {
		v, f := p.value()
		if f != nil {
			return nil, f
		}
		return nil, faultf("is %s, where an object is expected", v.kind)
	}
	if f := d.columns.take(func() names { return recordNames(raw) }); f != nil {
		return nil, f
	}
	d.columns.begin()
	s := &eval.Sample{}
	var later contextsLater
	f := p.each('}', func(key, v value) *fault {
		name := key.raw[1 : len(key.raw)-1]
		if key.esc {
			name, _ = unescape(nil, name)
		}
		return d.member(s, name, false, v, &later)
	})
	if f != nil {
		return nil, f
	}
	p.space()
	if p.i < len(raw) {
		return nil, p.fail("the end of the record")
	}
	if f := d.finish(s, &later); f != nil {
		return nil, f
	}
	return s, d.spread(s, later.meta)
}

// member puts one member of a record where it belongs; nested marks one that
// stands inside an object, whose path is its name.
func (d *decoder) member(s *eval.Sample, name []byte, nested bool, v value, later *contextsLater) *fault {
	k, f := d.columns.meet(name, nested)
	if f != nil {
		return f
	}
	return d.place(s, k, v, later)
}

// place reads the value of a column that was met.
func (d *decoder) place(s *eval.Sample, k *column, v value, later *contextsLater) *fault {
	if k.read != nil && !k.mapped {
		if ok, f := k.read(d, s, v, later); f != nil {
			return f.in(k.Name)
		} else if ok {
			d.keep(s, k.Name, v)
			return nil
		}
	}
	if k.inner && !k.mapped {
		if u := object(v); u.kind == kindObject {
			return d.open(s, k, u, later)
		}
	}
	if k.Field == eval.FieldMetadata && v.kind == kindObject && normal(k.Name) == "metadata" {
		later.meta = v
		return nil
	}
	if f := d.columns.claim(k); f != nil {
		return f
	}
	return d.field(s, k, v, later).in(k.Name)
}

// object is the value, or the object that a text holds.
func object(v value) value {
	if v.kind != kindString && v.kind != kindCell {
		return v
	}
	text, _ := v.text()
	t := []byte(strings.TrimSpace(text))
	if len(t) == 0 || t[0] != '{' {
		return v
	}
	if u, f := parseValue(t); f == nil {
		return u
	}
	if js, f := pyToJSON(t); f == nil {
		if u, f := parseValue(js); f == nil {
			return u
		}
	}
	return v
}

// open looks into an object: each member is a column named by its path.
func (d *decoder) open(s *eval.Sample, k *column, v value, later *contextsLater) *fault {
	k.opened = true
	for key, m := range v.members() {
		name, _ := key.text()
		if f := d.member(s, []byte(k.Name+"."+name), true, m, later); f != nil {
			return f
		}
	}
	return nil
}

// recordNames collects the names of a record's members, and of those of the
// objects in it, in normal form.
func recordNames(raw []byte) names {
	n := make(names)
	var walk func(prefix string, v value, depth int)
	walk = func(prefix string, v value, depth int) {
		for key, m := range v.members() {
			name, _ := key.text()
			n.add(prefix + name)
			if u := object(m); depth < 3 && u.kind == kindObject {
				walk(prefix+name+".", u, depth+1)
			}
		}
	}
	walk("", value{kind: kindObject, raw: bytes.TrimSpace(raw)}, 1)
	return n
}

// csv reads one record of cells; the header was seen before.
func (d *decoder) csv(header []*column, cells [][]byte) (*eval.Sample, *fault) {
	s := &eval.Sample{}
	var later contextsLater
	if nested(header) {
		d.columns.begin()
		for i, k := range header {
			k.Rows++
			k.lastRow = d.columns.row
			if f := d.place(s, k, value{kind: kindCell, raw: cells[i]}, &later); f != nil {
				return nil, f.in(k.Name)
			}
		}
		return s, d.finish(s, &later)
	}
	for i, k := range header {
		k.Rows++
		if f := d.field(s, k, value{kind: kindCell, raw: cells[i]}, &later); f != nil {
			return nil, f.in(k.Name)
		}
	}
	return s, d.finish(s, &later)
}

// field puts one value into the field that its column feeds.
func (d *decoder) field(s *eval.Sample, k *column, v value, later *contextsLater) (f *fault) {
	switch k.Field {
	case eval.FieldID:
		if s.ID, f = d.id(v); strings.TrimSpace(s.ID) == "" {
			s.ID = ""
		}
	case eval.FieldUserInput:
		s.UserInput, f = d.answer(v)
	case eval.FieldResponse:
		s.Response, f = d.answer(v)
	case eval.FieldReference:
		var others []string
		s.Reference, others, f = d.reference(v, k.list)
		s.OtherReferences = append(others, s.OtherReferences...)
	case eval.FieldOtherReferences:
		var more []string
		more, f = d.otherReferences(v)
		s.OtherReferences = append(s.OtherReferences, more...)
	case eval.FieldCategory:
		if s.Category, f = d.scalar(v); strings.TrimSpace(s.Category) == "" {
			s.Category = ""
		}
	case eval.FieldRetrievedContexts:
		later.given, later.column = true, k.Name
		later.contexts, f = d.contexts(v)
	case eval.FieldReferenceContexts:
		var c contexts
		if c, f = d.contexts(v); f == nil && !c.absent {
			s.ReferenceContexts = c.texts
		}
	case eval.FieldRetrievedContextIDs:
		s.RetrievedContextIDs, f = d.ids(v)
	case eval.FieldReferenceContextIDs:
		s.ReferenceContextIDs, f = d.grades(v)
	default:
		d.keep(s, k.Name, v)
	}
	return f
}

// keep puts a value into the metadata as it is written.
func (d *decoder) keep(s *eval.Sample, name string, v value) {
	if s.Metadata == nil {
		s.Metadata = make(map[string]json.RawMessage)
	}
	if v.kind == kindCell {
		s.Metadata[name] = appendQuoted(nil, v.raw)
	} else {
		s.Metadata[name] = bytes.Clone(v.raw)
	}
}

// finish settles what depends on several columns.
func (d *decoder) finish(s *eval.Sample, later *contextsLater) *fault {
	if !d.columns.feeds() {
		return faultf("no column is known as a field of a sample").
			withHint("name the columns in [dataset.columns], such as user_input = \"my question\"")
	}
	if later.given {
		if f := d.settleContexts(s, later.contexts, later.column); f != nil {
			return f
		}
	}
	if later.expected != "" && s.Reference == "" && !d.columns.settled[eval.FieldReference] {
		s.Reference = later.expected
	}
	if len(s.OtherReferences) == 0 {
		s.OtherReferences = nil
	} else {
		d.warn(warnReferences)
	}
	if looksLikeError(s.Response) {
		d.warn(warnLikeError)
	}
	if isBare(s) {
		d.warn(warnBare)
	}
	return nil
}

// isBare reports whether nothing of a sample can be scored.
func isBare(s *eval.Sample) bool {
	return s.UserInput == "" && s.Response == "" && s.Reference == "" && len(s.RetrievedContexts) == 0 && len(s.ReferenceContexts) == 0 &&
		len(s.RetrievedContextIDs) == 0 && len(s.ReferenceContextIDs) == 0
}

// spread keeps the members of an object called metadata one by one.
func (d *decoder) spread(s *eval.Sample, meta value) *fault {
	if meta.raw == nil {
		return nil
	}
	columns := s.Metadata
	s.Metadata = make(map[string]json.RawMessage, len(columns))
	for key, v := range meta.members() {
		name, _ := key.text()
		if _, taken := columns[name]; taken {
			name = "metadata." + name
		}
		if _, twice := s.Metadata[name]; twice {
			return faultf("the member %s stands twice", quoted(name)).in("metadata")
		}
		s.Metadata[name] = bytes.Clone(v.raw)
	}
	for name, raw := range columns {
		if _, twice := s.Metadata[name]; twice {
			return faultf("the member %s is also a column", quoted(name)).in("metadata")
		}
		s.Metadata[name] = raw
	}
	return nil
}

// checkUTF8 finds the first byte that is not UTF-8.
func checkUTF8(b []byte) *fault {
	if utf8.Valid(b) {
		return nil
	}
	off := 0
	for off < len(b) {
		r, n := utf8.DecodeRune(b[off:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		off += n
	}
	return faultf("the byte 0x%02x is not UTF-8", b[off]).at(off).
		withHint("the file's encoding is another one (Latin-1 or Windows-1252?): name it with --encoding windows-1252 (dataset.encoding), and it is converted")
}

// errorMarks begin a response that is no answer but an error of the system
// under test or of its model. They are compared in lower case at the start, so
// that an answer about errors is not taken for one.
var errorMarks = []string{
	"error code: ", "error: error code", "traceback (most recent call last)", "http error ", "http/1.1 4", "http/1.1 5",
	"{\"error\":", "{'error':", "{\"detail\":", "internal server error", "502 bad gateway", "503 service", "504 gateway",
	"<html>\r\n<head><title>4", "<html>\r\n<head><title>5", "<html>\n<head><title>4", "<html>\n<head><title>5",
	"<html><head><title>4", "<html><head><title>5",
	"upstream connect error", "exception in thread ", "panic: ", "runtimeerror:", "valueerror:", "keyerror:", "typeerror:",
	"ratelimiterror", "badrequesterror", "apiconnectionerror", "apitimeouterror", "authenticationerror", "internalservererror",
	"openai.", "anthropic.", "requests.exceptions.", "httpx.", "java.lang.", "rate limit reached for ", "rate limit exceeded",
	"you exceeded your current quota", "this model's maximum context length is ", "connection error.", "request timed out.",
}

// errorStarts are the bytes that errorMarks begin with, large and small.
var errorStarts = func() (starts [256]bool) {
	for _, m := range errorMarks {
		starts[m[0]], starts[strings.ToUpper(m)[0]] = true, true
	}
	return starts
}()

// looksLikeError reports whether a response looks like an API error or a stack
// trace instead of an answer.
func looksLikeError(response string) bool {
	const most = 200
	head := strings.TrimSpace(response[:min(len(response), most)])
	if head == "" || !errorStarts[head[0]] && !strings.Contains(head, "raceback") && !strings.Contains(head, "RACEBACK") {
		return false // as nearly all, which need not be looked at closely
	}
	head = strings.ToLower(head)
	for _, m := range errorMarks {
		if strings.HasPrefix(head, m) {
			return true
		}
	}
	return strings.Contains(head, "traceback (most recent call last):")
}
