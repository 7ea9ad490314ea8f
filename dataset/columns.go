package dataset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// Aliases lists, for every field of a sample, the names that a column may have:
// first the canonical one, then those of other tools. Case and the separators
// _, - and space make no difference, so "groundTruth" is "ground_truth".
var Aliases = []struct {
	Field eval.Field
	Names []string
}{
	{eval.FieldID, []string{"id", "sample_id", "query_id", "qid", "_id"}},
	{eval.FieldUserInput, []string{"user_input", "question", "query", "input", "prompt"}},
	{eval.FieldResponse, []string{"response", "answer", "actual_output", "output", "generated_answer"}},
	{eval.FieldRetrievedContexts, []string{"retrieved_contexts", "contexts", "context", "retrieval_context", "retrieved_docs", "documents"}},
	{eval.FieldReference, []string{"reference", "ground_truth", "ground_truths", "expected_answer", "expected_output", "reference_answer"}},
	{eval.FieldOtherReferences, []string{"other_references"}},
	{eval.FieldReferenceContexts, []string{"reference_contexts", "gold_contexts"}},
	{eval.FieldRetrievedContextIDs, []string{"retrieved_context_ids", "retrieved_ids", "retrieved_chunk_ids", "doc_ids"}},
	{eval.FieldReferenceContextIDs, []string{"reference_context_ids", "relevant_chunk_ids", "relevant_ids", "relevant_docs"}},
	{eval.FieldCategory, []string{"category", "tag", "slice", "topic"}},
	{eval.FieldMetadata, []string{"metadata"}},
}

// groundTruths is the one alias whose text may be a list of one text.
const groundTruths = "groundtruths"

// separators are left out of names, and so is what nobody sees: spaces of other
// kinds, and marks of zero width, as copied headers have them.
var separators = strings.NewReplacer("_", "", "-", "", " ", "", "\u00a0", "", "\u202f", "", "\u3000", "", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "", "\t", "", "\n", "", "\r", "")

// normal is the form in which names are compared with the aliases.
func normal(name string) string {
	for i := range len(name) {
		if c := name[i]; c < 'a' || c > 'z' {
			return separators.Replace(strings.ToLower(name))
		}
	}
	return name // as nearly all are, and they are met in every record
}

var byName = func() map[string]eval.Field {
	m := make(map[string]eval.Field)
	for _, a := range Aliases {
		for _, n := range a.Names {
			m[normal(n)] = a.Field
		}
	}
	return m
}()

// Column says where a column of the file goes.
type Column struct {
	// Name is the column's name as the file spells it.
	Name string
	// Field is the field that it feeds; FieldMetadata for every other column.
	Field eval.Field
	// Rows counts the records that have the column.
	Rows int
}

// column is a name that was met in the file.
type column struct {
	Column
	fold    string // the name in lower case
	list    bool   // an alias whose text may be a list
	mapped  bool   // named in Options.Columns
	inner   bool   // an object in it is looked into
	opened  bool   // and one was
	read    reading
	lastRow int // the last record that had it
}

// columns resolves names and watches over clashes within a record.
type columns struct {
	byColumn map[string]eval.Field // Options.Columns, turned round
	settled  map[eval.Field]bool   // fields that Options.Columns decides
	inside   map[string]bool       // objects that a path of Options.Columns leads into
	forced   *shape                // named in Options.Format
	shape    *shape                // nil until the first record was seen
	within   map[string]bool       // objects that the shape looks into, in normal form
	known    map[string]*column
	order    []*column
	row      int
	fields   map[eval.Field]*column // seen in this record
	folds    map[string]*column     // seen in this record
}

// newColumns checks Options.Columns: field -> name of a column, or the path to
// a member inside one ("inputs.question"), or "" for a field that no column is
// to feed.
func newColumns(mapping map[string]string) (*columns, error) {
	c := &columns{
		byColumn: make(map[string]eval.Field), settled: make(map[eval.Field]bool), inside: make(map[string]bool),
		known: make(map[string]*column), fields: make(map[eval.Field]*column), folds: make(map[string]*column),
	}
	var errs []error
	for _, field := range slices.Sorted(maps.Keys(mapping)) {
		name, f := mapping[field], eval.Field(field)
		if f == eval.FieldMetadata || !slices.ContainsFunc(Aliases, func(a struct {
			Field eval.Field
			Names []string
		}) bool {
			return a.Field == f
		}) {
			errs = append(errs, fmt.Errorf("map columns: %s is not a field that can be mapped (fields: %s)", quoted(field), fieldNames()))
			continue
		}
		c.settled[f] = true
		if name == "" {
			continue
		}
		if other, taken := c.byColumn[name]; taken {
			errs = append(errs, fmt.Errorf("map columns: column %s is named for both %s and %s", quoted(name), other, f))
			continue
		}
		c.byColumn[name] = f
		for i := range len(name) {
			if name[i] == '.' && i > 0 {
				c.inside[name[:i]] = true
			}
		}
	}
	return c, errors.Join(errs...)
}

func fieldNames() string {
	var names []string
	for _, a := range Aliases {
		if a.Field != eval.FieldMetadata {
			names = append(names, string(a.Field))
		}
	}
	return strings.Join(names, ", ")
}

// maxKnown bounds the names that are remembered between records.
const maxKnown = 4096

// begin starts the next record.
func (c *columns) begin() {
	c.row++
	clear(c.fields)
	clear(c.folds)
	c.prune()
}

// prune keeps the names that are remembered within bounds.
func (c *columns) prune() {
	if len(c.known) <= maxKnown {
		return
	}
	// Names that differ from record to record (an id as a member's name): forget
	// those that feed no field, so that memory does not grow with the rows.
	c.order = slices.DeleteFunc(c.order, func(k *column) bool { return k.Field == eval.FieldMetadata })
	if len(c.order) > maxKnown/2 {
		c.order = nil
	}
	clear(c.known)
	for _, k := range c.order {
		c.known[k.Name] = k
	}
}

// resolve says where a name goes, without noting it in the record. nested
// marks the path of a member inside an object, for which no alias counts.
func (c *columns) resolve(name string, nested bool) *column {
	k := &column{Column: Column{Name: name, Field: eval.FieldMetadata}, fold: strings.ToLower(name)}
	norm := normal(name)
	k.list = norm == groundTruths
	k.inner = c.inside[name] || c.within[norm]
	if f, ok := c.byColumn[name]; ok {
		k.Field, k.mapped = f, true
		return k
	}
	if c.shape != nil {
		k.read = c.shape.special[norm]
		if f, ok := c.shape.fields[norm]; ok {
			if !c.settled[f] {
				k.Field = f
			}
			return k
		}
	}
	if f, ok := byName[norm]; ok && !nested && !c.settled[f] {
		k.Field = f
	}
	return k
}

// names reports whether a header cell is a column that some shape knows, so
// that a line can be told to be a header.
func (c *columns) names(name string) bool {
	if c.resolve(name, false).Field != eval.FieldMetadata {
		return true
	}
	norm := normal(name)
	return slices.ContainsFunc(shapes, func(s *shape) bool {
		_, known := s.fields[norm]
		return known && norm != "text" && norm != "input" && norm != "output"
	})
}

// take settles the shape of the file by the names of its first record.
func (c *columns) take(n func() names) *fault {
	if c.shape != nil {
		return nil
	}
	s := c.forced
	if s == nil {
		found := n()
		if c.decided(found) {
			s = shapes[0]
		} else {
			var f *fault
			if s, f = guess(found); f != nil {
				return f
			}
		}
	}
	c.adopt(s)
	return nil
}

// decided reports whether Options.Columns leads into the objects that would
// otherwise have to be guessed at.
func (c *columns) decided(n names) bool {
	for name := range c.byColumn {
		if norm := normal(name); strings.Contains(norm, ".") && n[norm] {
			return true
		}
	}
	return false
}

// format is the word for the shape that was found.
func (c *columns) format() Format {
	if c.shape == nil {
		return Plain
	}
	return c.shape.format
}

// adopt settles the shape.
func (c *columns) adopt(s *shape) {
	c.shape, c.within = s, make(map[string]bool)
	add := func(path string) {
		for i := range len(path) {
			if path[i] == '.' {
				c.within[path[:i]] = true
			}
		}
	}
	for path := range s.fields {
		add(path)
	}
	for path := range s.special {
		add(path)
	}
}

// see notes that the record has a column of this name, says where it goes, and
// claims the field that it feeds.
func (c *columns) see(name []byte) (*column, *fault) {
	k, f := c.meet(name, false)
	if f == nil {
		f = c.claim(k)
	}
	return k, f
}

// meet notes that the record has a column, or a member, of this name and says
// where it goes.
func (c *columns) meet(name []byte, nested bool) (*column, *fault) {
	k := c.known[string(name)]
	if k == nil {
		k = c.resolve(string(name), nested)
		c.known[k.Name] = k
		c.order = append(c.order, k)
	}
	if k.lastRow == c.row {
		return nil, faultf("stands twice in the record").in(k.Name).withHint("keep one of the two, or rename the other")
	}
	k.lastRow = c.row
	k.Rows++
	if other := c.folds[k.fold]; other != nil && !k.mapped && !other.mapped {
		return nil, faultf("the names %s and %s differ in case only", quoted(other.Name), quoted(k.Name)).in(k.Name).
			withHint(settleHint(k))
	}
	c.folds[k.fold] = k
	return k, nil
}

// claim notes that the column feeds its field in this record; no other may.
func (c *columns) claim(k *column) *fault {
	if k.Field == eval.FieldMetadata {
		return nil
	}
	if other := c.fields[k.Field]; other != nil {
		return faultf("the columns %s and %s are both %s", quoted(other.Name), quoted(k.Name), k.Field).in(k.Name).
			withHint(settleHint(k))
	}
	c.fields[k.Field] = k
	return nil
}

// feeds reports whether a column that was met may feed a field.
func (c *columns) feeds() bool {
	return len(c.fields) > 0 || slices.ContainsFunc(c.order, func(k *column) bool { return k.inner || k.read != nil })
}

// nested reports whether a column's cells may hold objects to look into.
func nested(header []*column) bool {
	return slices.ContainsFunc(header, func(k *column) bool { return k.inner || k.read != nil })
}

func settleHint(k *column) string {
	if k.Field == eval.FieldMetadata {
		return "rename one of them"
	}
	return fmt.Sprintf("say which one is meant: [dataset.columns] %s = %s", k.Field, quoted(k.Name))
}

// unseen returns a column that Options.Columns names and the file does not
// have, or "".
func (c *columns) unseen() (name string, field eval.Field) {
	for _, name := range slices.Sorted(maps.Keys(c.byColumn)) {
		if c.known[name] == nil && !c.mayHold(name) {
			return name, c.byColumn[name]
		}
	}
	return "", ""
}

// mayHold reports whether a path leads into a column of a header, whose cells
// are not read yet.
func (c *columns) mayHold(path string) bool {
	if c.row > 1 {
		return false
	}
	outer, _, inside := strings.Cut(path, ".")
	return inside && c.known[outer] != nil
}

// list returns what was seen, in order of appearance; of an object that was
// looked into, its members.
func (c *columns) list() []Column {
	var out []Column
	for _, k := range c.order {
		if !k.opened {
			out = append(out, k.Column)
		}
	}
	return out
}
