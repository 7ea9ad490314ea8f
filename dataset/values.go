package dataset

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

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
		return "", faultf("is an object, where a text is expected").
			withHint("write the text itself into the column")
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
	}
	if strings.IndexByte(s, 0) >= 0 {
		d.warn(warnNUL)
	}
	return s
}

// reference is a text, or a list of one text as old Ragas datasets have it.
func (d *decoder) reference(v value, listInText bool) (string, *fault) {
	if listInText && (v.kind == kindString || v.kind == kindCell) {
		if s, _ := v.text(); strings.HasPrefix(strings.TrimSpace(s), "[") {
			u, f := d.unwrap(v)
			if f != nil {
				return "", f
			}
			v = u
		}
	}
	if v.kind != kindArray {
		return d.scalar(v)
	}
	var text string
	for i, item := range v.items() {
		if i == 1 {
			return "", faultf("is a list of several references, where one text is expected").
				withHint("keep one reference answer a row, or join them into one text")
		}
		var f *fault
		if text, f = d.scalar(item); f != nil {
			return "", f
		}
	}
	return text, nil
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
	case "", "null", "None", "nan", "NaN":
		return value{}, nil
	}
	if hasWord(t, "array(") {
		return value{}, numpyFault()
	}
	if t[0] != '[' && t[0] != '{' {
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
		c.texts = append(c.texts, d.textOf(u))
		return c, nil
	default:
		if v.kind == kindString || v.kind == kindCell { // text that happens to hold an object
			c.texts = append(c.texts, d.textOf(v))
			return c, nil
		}
		return c, faultf("is %s, where a list of texts is expected", u.kind)
	}
	for i, item := range u.items() {
		var text, id string
		switch item.kind {
		case kindString:
			text = d.textOf(item)
		case kindObject:
			if text, id, f = d.contextObject(item, i+1); f != nil {
				return c, f
			}
		default:
			return c, faultf("context %d is %s, where a text or an object with text is expected", i+1, item.kind)
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

// contextObject reads {id, text|content|page_content}; other members, such as
// a score, say nothing that is scored.
func (d *decoder) contextObject(v value, n int) (text, id string, _ *fault) {
	var textName, idName string
	for key, item := range v.members() {
		name, _ := key.text()
		switch norm := normal(name); norm {
		case "text", "content", "pagecontent":
			if textName != "" {
				return "", "", faultf("context %d has both %s and %s", n, quoted(textName), quoted(name))
			}
			if item.kind != kindString {
				return "", "", faultf("%s of context %d is %s, where a text is expected", quoted(name), n, item.kind)
			}
			text, textName = d.textOf(item), name
		case "id":
			if idName != "" {
				return "", "", faultf("context %d has both %s and %s", n, quoted(idName), quoted(name))
			}
			var f *fault
			if id, f = d.scalar(item); f != nil {
				return "", "", faultf("%s of context %d %s", quoted(name), n, f.reason)
			}
			idName = name
		}
	}
	if textName == "" {
		return "", "", faultf("context %d is an object without text", n).
			withHint("its text is looked for under text, content and page_content")
	}
	return text, id, nil
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
		id := d.textOf(u)
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
		id := d.textOf(item)
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
