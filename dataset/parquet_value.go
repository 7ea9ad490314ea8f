package dataset

import (
	"errors"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// parquetNode is a column of a Parquet file, or a group of them.
type parquetNode struct {
	name     string
	optional bool
	repeated bool
	def, rep int // the levels from which on it is there
	first    int // its first leaf
	leaves   int // how many it has
	kids     []*parquetNode
	write    func([]byte, parquet.Value) []byte // of a leaf

	list    *parquetNode // of a list or a map: the part of it that is repeated
	whole   bool         // list is the item itself, not a wrapper of it
	pairs   bool         // the items are keys and values
	graded  bool         // the items are ids with grades, which reads as an object
	rawJSON bool         // text that holds an object is taken as that
}

// newParquetTree makes the nodes of a file's schema.
func newParquetTree(file *parquet.File) (*parquetNode, *fault) {
	leaf := 0
	root, f := newParquetNode(file.Root(), 0, 0, &leaf)
	if f != nil {
		return nil, f
	}
	root.halves(halfFloats(file))
	root.optional, root.repeated, root.list = false, false, nil
	for _, k := range root.kids {
		switch normal(k.name) {
		case "metadata":
			k.rawJSON = k.write != nil
		case "referencecontextids":
			if k.list != nil && !k.pairs {
				item := k.list
				if !k.whole {
					item = item.kids[0]
				}
				k.graded = len(item.kids) == 2 && item.kids[0].name == "id" && item.kids[1].name == "grade"
			}
		}
	}
	return root, nil
}

// halfFloats are the leaves that hold numbers of 16 bits, by their order, which
// the library's columns don't tell.
func halfFloats(file *parquet.File) map[int]bool {
	var found map[int]bool
	leaf := 0
	for _, e := range file.Metadata().Schema {
		if !e.Type.Valid {
			continue
		}
		if _, half := e.LogicalType.Value.(*format.Float16Type); half {
			if found == nil {
				found = make(map[int]bool)
			}
			found[leaf] = true
		}
		leaf++
	}
	return found
}

func (n *parquetNode) halves(leaves map[int]bool) {
	if n.write != nil && leaves[n.first] {
		n.write = float16
	}
	if len(leaves) > 0 {
		for _, k := range n.kids {
			k.halves(leaves)
		}
	}
}

func newParquetNode(c *parquet.Column, def, rep int, leaf *int) (*parquetNode, *fault) {
	n := &parquetNode{name: c.Name(), first: *leaf}
	if !utf8.ValidString(n.name) {
		return nil, faultf("the name of a column is not UTF-8: %s", quoted(n.name))
	}
	if c.Optional() {
		n.optional = true
		def++
	}
	if c.Repeated() {
		n.repeated = true
		def++
		rep++
	}
	n.def, n.rep = def, rep
	if c.Leaf() {
		*leaf++
		n.leaves = 1
		n.write = leafWriter(c)
		return n, nil
	}
	for _, k := range c.Columns() {
		kid, f := newParquetNode(k, def, rep, leaf)
		if f != nil {
			return nil, f
		}
		n.kids = append(n.kids, kid)
	}
	if n.leaves = *leaf - n.first; n.leaves == 0 {
		return nil, faultf("the column %s is a group without columns", quoted(n.name))
	}
	n.unwrap(c)
	return n, nil
}

// unwrap sees the list or the map in a group that is one, by the rules that the
// format has for the ways in which they were written over the years.
func (n *parquetNode) unwrap(c *parquet.Column) {
	if len(n.kids) != 1 || !n.kids[0].repeated {
		return
	}
	k := n.kids[0]
	switch list, pairs := annotated(c); {
	case pairs && len(k.kids) == 2:
		n.list, n.pairs = k, true
	case list:
		n.list = k
		n.whole = len(k.kids) != 1 || k.name == "array" || k.name == n.name+"_tuple"
	}
}

// annotated reports whether a group is said to be a list or a map.
func annotated(c *parquet.Column) (list, pairs bool) {
	t := c.Type()
	if t == nil {
		return false, false
	}
	if l := t.LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.ListType:
			return true, false
		case *format.MapType:
			return false, true
		}
	}
	if k := t.ConvertedType(); k != nil {
		return *k == deprecated.List, *k == deprecated.Map || *k == deprecated.MapKeyValue
	}
	return false, false
}

// errLevels says that the levels of a row don't fit its schema.
var errLevels = errors.New("its levels don't fit the schema")

// assembler puts a row together again, which Parquet stores as one run of
// values for each leaf, with levels that say where lists begin and what is
// null (the scheme of Dremel).
type assembler struct {
	cols  [][]parquet.Value // what is left of each leaf
	limit int               // of the record; more is not written
}

// object writes the row as a JSON object.
func (a *assembler) object(b []byte, root *parquetNode, row parquet.Row, dropNulls bool) []byte {
	if len(a.cols) < root.leaves {
		a.cols = make([][]parquet.Value, root.leaves)
	}
	clear(a.cols)
	for i := 0; i < len(row); {
		c, j := row[i].Column(), i+1
		for j < len(row) && row[j].Column() == c {
			j++
		}
		if c < 0 || c >= root.leaves || a.cols[c] != nil {
			panic(errLevels)
		}
		a.cols[c] = row[i:j]
		i = j
	}
	b = append(b, '{')
	for _, k := range root.kids {
		start := len(b)
		if start > 1 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, k.name), ':')
		at := len(b)
		b = a.value(b, k)
		if dropNulls && string(b[at:]) == "null" {
			b = b[:start]
		}
	}
	return append(b, '}')
}

// head is the next value of a leaf.
func (a *assembler) head(leaf int) parquet.Value {
	if len(a.cols[leaf]) == 0 {
		panic(errLevels)
	}
	return a.cols[leaf][0]
}

// skip passes over a node that is not there.
func (a *assembler) skip(n *parquetNode) {
	for leaf := n.first; leaf < n.first+n.leaves; leaf++ {
		a.head(leaf)
		a.cols[leaf] = a.cols[leaf][1:]
	}
}

func (a *assembler) value(b []byte, n *parquetNode) []byte {
	switch {
	case n.repeated:
		return a.items(b, n, "[]", func(b []byte) []byte { return a.body(b, n) })
	case n.optional && a.head(n.first).DefinitionLevel() < n.def:
		a.skip(n)
		return append(b, "null"...)
	}
	return a.body(b, n)
}

// body writes a node that is there.
func (a *assembler) body(b []byte, n *parquetNode) []byte {
	switch {
	case n.write != nil:
		v := a.head(n.first)
		a.cols[n.first] = a.cols[n.first][1:]
		if len(b) > a.limit {
			return b // the record is refused in any case
		}
		if n.rawJSON && v.Kind() == parquet.ByteArray {
			if u, f := parseValue(v.ByteArray()); f == nil && u.kind == kindObject && utf8.Valid(u.raw) {
				return append(b, u.raw...)
			}
		}
		return n.write(b, v)
	case n.pairs:
		return a.items(b, n.list, "{}", func(b []byte) []byte { return a.pair(b, n.list.kids) })
	case n.graded:
		item := n.list
		if !n.whole {
			item = item.kids[0]
		}
		return a.items(b, n.list, "{}", func(b []byte) []byte { return a.pair(b, item.kids) })
	case n.list != nil && n.whole:
		return a.items(b, n.list, "[]", func(b []byte) []byte { return a.body(b, n.list) })
	case n.list != nil:
		return a.items(b, n.list, "[]", func(b []byte) []byte { return a.value(b, n.list.kids[0]) })
	}
	b = append(b, '{')
	for i, k := range n.kids {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.value(append(appendQuoted(b, k.name), ':'), k)
	}
	return append(b, '}')
}

// items writes what is repeated, between the brackets.
func (a *assembler) items(b []byte, n *parquetNode, brackets string, item func([]byte) []byte) []byte {
	b = append(b, brackets[0])
	if a.head(n.first).DefinitionLevel() < n.def {
		a.skip(n)
		return append(b, brackets[1])
	}
	for {
		before := len(a.cols[n.first])
		b = item(b)
		rest := a.cols[n.first]
		if len(rest) == before {
			panic(errLevels)
		}
		if len(rest) == 0 || rest[0].RepetitionLevel() < n.rep {
			return append(b, brackets[1])
		}
		if len(b) <= a.limit {
			b = append(b, ',')
		}
	}
}

// pair writes a key, as text, and its value.
func (a *assembler) pair(b []byte, kids []*parquetNode) []byte {
	at := len(b)
	b = a.value(b, kids[0])
	if len(b) > at && b[at] != '"' {
		key := string(b[at:])
		b = appendQuoted(b[:at], key)
	}
	return a.value(append(b, ':'), kids[1])
}
