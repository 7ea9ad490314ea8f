package dataset

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// answer is scalar for texts that are scored, where a program may have printed
// its word for nothing.
func (d *decoder) answer(v value) (string, *fault) {
	s, f := d.scalar(v)
	switch s {
	case "nan", "NaN", "None", "null", "NULL", "<NA>", `\N`:
		if v.kind == kindString || v.kind == kindCell {
			d.warn(warnPrintedNull)
		}
	}
	return s, f
}

// scalar is the text of a field that holds one: a text as it is, numbers and
// booleans as they are written, null as "".
func (d *decoder) scalar(v value) (string, *fault) {
	switch v.kind {
	case kindNull:
		return "", nil
	case kindArray:
		return "", faultf("is a list, where a text is expected").
			withHint("if the file holds one list per column, write it as one object per row")
	case kindObject:
		if hasWord(v.raw, notText) {
			return "", faultf("holds bytes that are not UTF-8 text").withHint("write the column as text: in Python bytes.decode with the right encoding")
		}
		return "", faultf("is an object, where a text is expected").
			withHint("write the text itself into the column; if the file holds one object per column, write it as one object per row")
	}
	return d.textOf(v), nil
}

// textOf is the text of a string, cell, number or boolean.
func (d *decoder) textOf(v value) string {
	s, lone := v.textWith(&d.scratch)
	if cap(d.scratch) > maxScratch {
		d.scratch = nil
	}
	if lone {
		d.warn(warnSurrogate)
	} else if strings.Contains(s, "\uFFFD") {
		d.warn(warnReplaced)
	}
	if strings.IndexByte(s, 0) >= 0 {
		d.warn(warnNUL)
	}
	return s
}

// reference is a text, or a list of texts: the first is the reference, the
// others count beside it. Blank ones and nulls are left out.
func (d *decoder) reference(v value, listInText bool) (string, []string, *fault) {
	if listInText && (v.kind == kindString || v.kind == kindCell) {
		if s, _ := v.text(); strings.HasPrefix(strings.TrimSpace(s), "[") {
			u, f := d.unwrap(v)
			if f != nil {
				return "", nil, f
			}
			v = u
		}
	}
	if v.kind != kindArray {
		t, f := d.answer(v)
		return t, nil, f
	}
	texts, f := d.texts(v)
	if f != nil || len(texts) == 0 {
		return "", nil, f
	}
	return texts[0], texts[1:], nil
}

// otherReferences is a list of texts, or one text.
func (d *decoder) otherReferences(v value) ([]string, *fault) {
	v, f := d.unwrap(v)
	if f != nil {
		return nil, f
	}
	if v.kind == kindArray {
		return d.texts(v)
	}
	t, f := d.answer(v)
	if f != nil || strings.TrimSpace(t) == "" {
		return nil, f
	}
	return []string{t}, nil
}

// texts are the items of a list that are not blank.
func (d *decoder) texts(list value) ([]string, *fault) {
	var out []string
	for _, item := range list.items() {
		t, f := d.scalar(item)
		if f != nil {
			return nil, f
		}
		if strings.TrimSpace(t) != "" {
			out = append(out, t)
		}
	}
	return out, nil
}

// unwrap turns a text that holds a list or an object into that. A blank text
// and the words for nothing become null; any other text stays.
func (d *decoder) unwrap(v value) (value, *fault) {
	if v.kind != kindString && v.kind != kindCell {
		return v, nil
	}
	var text []byte
	switch {
	case v.kind == kindCell:
		text = v.raw
	case v.esc:
		s, lone := v.text()
		if lone {
			d.warn(warnSurrogate)
		}
		text = []byte(s)
	default:
		text = v.raw[1 : len(v.raw)-1]
	}
	t := bytes.TrimSpace(text)
	switch string(t) {
	case "", "null", "None", "nan", "NaN", "NULL", "<NA>", `\N`:
		return value{}, nil
	}
	if hasWord(t, "array(") {
		return value{}, numpyFault()
	}
	if u, ok := wrapped(t); ok {
		return u, nil
	}
	if t[0] != '[' && t[0] != '{' && !hasWord(t, langChainDocument) {
		return v, nil
	}
	if u, jf := parseValue(t); jf == nil {
		return u, nil
	} else if t[0] == '{' {
		return v, nil
	} else if js, pf := pyToJSON(t); pf == nil {
		u, f := parseValue(js)
		return u, f
	} else if pf.hint != "" {
		return value{}, pf
	} else {
		return value{}, faultf("begins with [ but is neither a JSON list (%s) nor a Python list (%s)",
			strings.TrimPrefix(jf.reason, "invalid JSON: "), pf.reason).
			withHint("if it is one plain text, write it as a JSON list of one text")
	}
}

// wrapped sees a list that was encoded twice ("[\"a\"]" as JSON text), or a
// tuple of texts as Python prints it.
func wrapped(t []byte) (value, bool) {
	switch t[0] {
	case '"':
		u, f := parseValue(t)
		if f != nil || u.kind != kindString {
			return value{}, false
		}
		s, _ := u.text()
		if u, f = parseValue([]byte(strings.TrimSpace(s))); f == nil && u.kind == kindArray {
			return u, true
		}
	case '(':
		js, f := pyToJSON(t)
		if f != nil {
			return value{}, false
		}
		u, jf := parseValue(js)
		n := 0
		for _, item := range u.items() {
			if item.kind != kindString && item.kind != kindObject {
				return value{}, false
			}
			n++
		}
		// ("a") is a text in brackets, ("a",) a tuple.
		return u, jf == nil && (n > 1 || n == 1 && bytes.HasSuffix(bytes.TrimRight(t[:len(t)-1], " \n"), []byte(",")))
	}
	return value{}, false
}

// printed are the beginnings of what programs print for several contexts, or
// for one with its metadata, and which is not read as that.
var printed = []string{"{", "['", "[\"", "page_content='", "page_content=\"", "deque([", "set(", "frozenset(", "WrappedArray(", "dict_values("}

// looksPrinted reports whether a text looks like a printed list or object.
func looksPrinted(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasSuffix(s, "dtype: object") {
		return true
	}
	for _, p := range printed {
		if strings.HasPrefix(s, p) {
			return strings.HasPrefix(p, "page") || strings.IndexByte("}])", s[len(s)-1]) >= 0
		}
	}
	return false
}

// contexts is what a column of contexts holds.
type contexts struct {
	texts  []string // never nil
	ids    []string // nil unless every text has one
	absent bool     // null or blank, as against an empty list
}

func (d *decoder) contexts(v value) (contexts, *fault) {
	c := contexts{texts: []string{}}
	u, f := d.unwrap(v)
	if f != nil {
		return c, f
	}
	switch u.kind {
	case kindNull:
		c.absent = true
		return c, nil
	case kindArray:
	case kindString, kindCell:
		c.texts = append(c.texts, d.contextText(u))
		if d.columns.shape != nil && d.columns.shape.format == DeepEval && strings.Contains(c.texts[0], "|") {
			d.warn(warnJoined)
		}
		return c, nil
	case kindObject:
		if hasWord(bytes.TrimSpace(v.raw), langChainDocument) || v.kind == kindString && hasWord(v.raw[1:], langChainDocument) {
			text, id, f := d.contextObject(u, 1)
			if c.texts = append(c.texts, text); id != "" {
				c.ids = []string{id}
			}
			return c, f
		}
		fallthrough
	default:
		if v.kind == kindString || v.kind == kindCell { // text that happens to hold an object
			c.texts = append(c.texts, d.contextText(v))
			return c, nil
		}
		return c, faultf("is %s, where a list of texts is expected", u.kind).withHint(asList)
	}
	for i, item := range u.items() {
		var text, id string
		switch item.kind {
		case kindString:
			text = d.contextText(item)
		case kindObject:
			if text, id, f = d.contextObject(item, i+1); f != nil {
				return c, f
			}
		default:
			return c, faultf("context %d is %s, where a text or an object with text is expected", i+1, item.kind).withHint(asList)
		}
		c.texts = append(c.texts, text)
		if id != "" {
			c.ids = append(c.ids, id)
		}
	}
	if len(c.ids) != len(c.texts) {
		if len(c.ids) > 0 {
			d.warn(warnPartialIDs)
		}
		c.ids = nil
	}
	return c, nil
}

// asList is the remedy for contexts in a form of their own.
const asList = "write the contexts of a row as a JSON list of texts, or of objects with text and id; leave out those that are null"

// contextText is textOf for a context.
func (d *decoder) contextText(v value) string {
	s := d.textOf(v)
	if looksPrinted(s) {
		d.warn(warnPrinted)
	}
	return s
}

// The members of a context that may hold its text and its id, in normal form.
// The weak ones count only where no strong one is there: document may be the
// name of a file beside the text.
var (
	strongTexts = map[string]bool{"text": true, "content": true, "pagecontent": true, "document.content": true}
	weakTexts   = map[string]bool{"chunk": true, "passage": true, "body": true, "document": true, "context": true}
	weakIDs     = map[string]bool{"docid": true, "chunkid": true, "documentid": true, "document.id": true, "passageid": true}
	wrappers    = map[string]bool{"document": true, "kwargs": true, "node": true, "chunk": true}
)

// found is a member that was looked for among those of an object.
type found struct {
	name  string
	value value
	twice string // another one of the same rank
}

func (f *found) see(name string, v value) {
	if f.name != "" {
		f.twice = name
		return
	}
	f.name, f.value = name, v
}

// contextObject reads {id, text|content|page_content|chunk|document}, an
// object that wraps one, as LangChain and Phoenix write them. Other members,
// such as a score, say nothing that is scored.
func (d *decoder) contextObject(v value, n int) (text, id string, _ *fault) {
	var strong, weak, wrapped, ids, weakID found
	for key, item := range v.members() {
		name, _ := key.text()
		norm := normal(name)
		switch {
		case strongTexts[norm]:
			strong.see(name, item)
		case wrappers[norm] && item.kind == kindObject:
			wrapped.see(name, item)
		case weakTexts[norm]:
			weak.see(name, item)
		case norm == "id":
			ids.see(name, item)
		case weakIDs[norm]:
			weakID.see(name, item)
		}
	}
	textual := strong
	if textual.name == "" && wrapped.name != "" && wrapped.twice == "" {
		if text, id, f := d.contextObject(wrapped.value, n); f != nil || id != "" || ids.value.kind == kindArray {
			return text, id, f
		}
		textual = found{name: wrapped.name}
	} else if textual.name == "" {
		textual = weak
	}
	switch {
	case textual.name == "":
		return "", "", faultf("context %d is an object without text", n).
			withHint("its text is looked for under text, content, page_content, chunk, passage, body and document")
	case textual.twice != "":
		return "", "", faultf("context %d has both %s and %s", n, quoted(textual.name), quoted(textual.twice)).withHint("leave one of the two out")
	case textual.name == wrapped.name:
		text, _, _ = d.contextObject(wrapped.value, n)
	case textual.value.kind != kindString:
		return "", "", faultf("%s of context %d is %s, where a text is expected", quoted(textual.name), n, textual.value.kind)
	default:
		text = d.textOf(textual.value)
	}
	if ids.name == "" {
		if weakID.twice != "" {
			d.warn(warnSeveralIDs)
			return text, "", nil
		}
		ids = weakID
	}
	if ids.twice != "" {
		return "", "", faultf("context %d has both %s and %s", n, quoted(ids.name), quoted(ids.twice)).withHint("leave one of the two out")
	}
	if ids.name != "" {
		var f *fault
		if id, f = d.id(ids.value); f != nil {
			return "", "", faultf("%s of context %d %s", quoted(ids.name), n, f.reason)
		}
	}
	return text, id, nil
}

// id is the text of one id, as it is written.
func (d *decoder) id(v value) (string, *fault) {
	id, f := d.scalar(v)
	if whole, zeros, ok := strings.Cut(id, "."); ok && zeros == "0" && isDigits(strings.TrimPrefix(whole, "-")) {
		d.warn(warnFloatID)
	}
	return id, f
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ids reads a list of ids. nil means missing.
func (d *decoder) ids(v value) ([]string, *fault) {
	u, f := d.unwrap(v)
	if f != nil {
		return nil, f
	}
	switch u.kind {
	case kindNull:
		return nil, nil
	case kindArray:
	case kindString, kindCell, kindNumber:
		id, _ := d.id(u)
		if strings.ContainsAny(id, ",;| \t\r\n") {
			return nil, faultf("is text that may be one id or several").withHint("write it as a JSON list of ids")
		}
		return []string{id}, nil
	default:
		return nil, faultf("is %s, where a list of ids is expected", u.kind)
	}
	ids := []string{}
	for i, item := range u.items() {
		if item.kind != kindString && item.kind != kindNumber {
			return nil, faultf("id %d of the list is %s, where a text or a number is expected", i+1, item.kind)
		}
		id, _ := d.id(item)
		if strings.TrimSpace(id) == "" {
			return nil, faultf("id %d of the list is blank", i+1)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// grades reads the relevant ids: a list, or an object from id to grade.
func (d *decoder) grades(v value) (map[string]float64, *fault) {
	u, f := d.unwrap(v)
	if f != nil {
		return nil, f
	}
	if u.kind != kindObject {
		ids, f := d.ids(v)
		if f != nil || ids == nil {
			return nil, f
		}
		m := make(map[string]float64, len(ids))
		for _, id := range ids {
			m[id] = 1
		}
		return m, nil
	}
	m := make(map[string]float64)
	for key, item := range u.members() {
		id := d.textOf(key)
		if _, twice := m[id]; twice {
			return nil, faultf("the id %s stands twice", quoted(id))
		}
		if strings.TrimSpace(id) == "" {
			return nil, faultf("an id is blank")
		}
		if item.kind != kindNumber {
			return nil, faultf("the grade of %s is %s, where a number is expected", quoted(id), item.kind)
		}
		g, err := strconv.ParseFloat(string(item.raw), 64)
		if err != nil || math.IsInf(g, 0) {
			return nil, faultf("the grade of %s is too large: %s", quoted(id), quoted(string(item.raw)))
		}
		m[id] = g
	}
	return m, nil
}

// settleContexts brings together what the columns of contexts and of ids say.
func (d *decoder) settleContexts(s *eval.Sample, c contexts, column string) *fault {
	given := s.RetrievedContextIDs
	if c.absent && len(given) > 0 {
		return nil // the ids were recorded, the texts were not
	}
	s.RetrievedContexts = c.texts
	if len(c.texts) == 0 {
		if len(given) > 0 {
			return faultf("is empty, but retrieved_context_ids names %s", plural(len(given), "chunk")).in(column)
		}
		// Nothing retrieved is known, with or without ids: a system that finds
		// nothing must not drop out of the retrieval metrics.
		s.RetrievedContextIDs = []string{}
		d.warn(warnNoContexts)
		return nil
	}
	switch {
	case c.ids == nil:
	case given == nil:
		s.RetrievedContextIDs = c.ids
	case !slices.Equal(given, c.ids):
		return faultf("the ids inside the contexts and retrieved_context_ids disagree").in(column).
			withHint("keep one of the two")
	}
	return nil
}
