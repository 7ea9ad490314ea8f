package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxFile is the size of the largest file that can be a configuration, in
// bytes; more is a dataset that was named by mistake.
const maxFile = 1 << 20

// maxDepth is how deep brackets may nest; the decoder recurses.
const maxDepth = 100

// document is a configuration file that was read and is TOML.
type document struct {
	name   string
	folder string // that relative paths start from
	root   map[string]any
	at     map[string]position // of keys and tables, where first mentioned
}

// position is a place in a file, both counted from 1; columns are characters.
type position struct{ line, column int }

// readDocument reads a file. The problem, if there is one, is not nil.
func readDocument(name string) (*document, *Problem) {
	b, problem := readFile(name)
	if problem != nil {
		return nil, problem
	}
	return parseDocument(name, b)
}

func readFile(name string) ([]byte, *Problem) {
	bad := func(err error, format string, args ...any) ([]byte, *Problem) {
		return nil, &Problem{Place: name, Message: fmt.Sprintf(format, args...), Err: err, layer: layerFile}
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return bad(err, "there is no such configuration file")
	}
	if err != nil {
		return bad(err, "read the configuration: %v", cause(err))
	}
	defer f.Close() //nolint:errcheck // it is only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return bad(nil, "read the configuration: this is a folder; name the file in it")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return bad(err, "read the configuration: %v", cause(err))
	}
	if len(b) > maxFile {
		return bad(nil, "read the configuration: the file is larger than %d bytes, so it is likely no configuration", maxFile)
	}
	return b, nil
}

// cause is an error of the file system without the name, which the place has.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// parseDocument decodes the bytes of a file. A byte order mark is let pass.
func parseDocument(name string, b []byte) (*document, *Problem) {
	bad := func(at position, message string) (*document, *Problem) {
		place := name
		if at.line > 0 {
			place = fmt.Sprintf("%s:%d:%d", name, at.line, at.column)
		}
		return nil, &Problem{Place: place, Message: message, layer: layerFile, line: at.line, column: at.column}
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return bad(position{}, "the file is UTF-16; save it as UTF-8")
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	lines := newLines(b)
	if at := invalidUTF8(b); at >= 0 {
		return bad(lines.position(at), "the file is not UTF-8 here; save it as UTF-8")
	}
	if at := tooDeep(b); at >= 0 {
		return bad(lines.position(at), fmt.Sprintf("more than %d brackets are open here", maxDepth))
	}
	d := &document{name: name, folder: filepath.Dir(name), root: map[string]any{}, at: map[string]position{}}
	if err := toml.Unmarshal(b, &d.root); err != nil {
		var e *toml.DecodeError
		if !errors.As(err, &e) {
			return bad(position{}, "read the configuration: "+concealIn(err.Error()))
		}
		row, column := e.Position()
		at, line := lines.bytePosition(row, column)
		return bad(at, syntaxMessage(e, line))
	}
	d.locate(b, lines)
	return d, nil
}

// syntaxMessage says what is wrong with a line that isn't TOML.
func syntaxMessage(e *toml.DecodeError, line string) string {
	msg := concealIn(strings.TrimPrefix(e.Error(), "toml: "))
	line = strings.TrimSpace(line)
	switch name := strings.Trim(line, "[] "); {
	case strings.HasPrefix(line, "[") && strings.Contains(name, "@") && !strings.Contains(name, `"`):
		msg += `; a name with "@" needs quotes, as in [gates."precision@5"]`
	case strings.Contains(line, "= ") && !strings.ContainsAny(line, `"'`):
		msg += "; a text needs quotes"
	}
	return msg
}

// concealIn masks what looks like a secret in a message that isn't ours.
func concealIn(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = maskText(w)
	}
	return printable(strings.Join(words, " "))
}

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns where brackets nest deeper than maxDepth, or -1. Brackets in
// texts and comments count too: the bound is far above what anything needs.
func tooDeep(b []byte) int {
	depth := 0
	for i, c := range b {
		switch c {
		case '[', '{':
			if depth++; depth > maxDepth {
				return i
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return -1
}

// locate finds out where each key and table is first mentioned. It walks over a
// document that was decoded before, so that the parser has nothing to refuse.
// The tables of an array have numbers, from 1: "judges.2.model".
func (d *document) locate(b []byte, lines lines) {
	var p unstable.Parser
	p.Reset(b)
	var prefix []string
	arrays := map[string]int{} // the tables so far, by the array's key
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			prefix = d.locateTable(n, arrays, lines)
		case unstable.KeyValue:
			d.locatePair(prefix, n, lines)
		}
	}
}

// locateTable notes the place of a table and returns its key, with the numbers
// of the arrays in it.
func (d *document) locateTable(n *unstable.Node, arrays map[string]int, lines lines) []string {
	parts := d.locateKey(nil, n.Key(), lines)
	at := d.at[strings.Join(parts, ".")]
	for it := n.Key(); it.Next(); {
		at = lines.position(int(it.Node().Raw.Offset)) // of its last part
	}
	var full []string
	for i, part := range parts {
		full = append(full, part)
		key := strings.Join(full, ".")
		if i == len(parts)-1 && n.Kind == unstable.ArrayTable {
			arrays[key]++
		}
		if arrays[key] > 0 {
			full = append(full, strconv.Itoa(arrays[key]))
		}
	}
	if key := strings.Join(full, "."); d.at[key] == (position{}) {
		d.at[key] = at
	}
	return full
}

func (d *document) locatePair(prefix []string, n *unstable.Node, lines lines) {
	full := d.locateKey(prefix, n.Key(), lines)
	d.locateValue(full, n.Value(), lines)
}

// locateValue notes the places of the keys in an inline table, or in those of a
// list.
func (d *document) locateValue(full []string, v *unstable.Node, lines lines) {
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				d.locatePair(full, it.Node(), lines)
			}
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); {
			if kind := it.Node().Kind; kind != unstable.InlineTable && kind != unstable.Array {
				continue
			}
			i++
			d.locateValue(append(full[:len(full):len(full)], strconv.Itoa(i)), it.Node(), lines)
		}
	}
}

// locateKey notes the place of every part of a dotted key and returns the whole.
func (d *document) locateKey(prefix []string, it unstable.Iterator, lines lines) []string {
	full := append([]string{}, prefix...)
	for it.Next() {
		full = append(full, string(it.Node().Data))
		key := strings.Join(full, ".")
		if _, known := d.at[key]; !known {
			d.at[key] = lines.position(int(it.Node().Raw.Offset))
		}
	}
	return full
}

// lines finds lines and columns in a text.
type lines struct {
	text   []byte
	starts []int // offsets of the first bytes of lines
}

func newLines(b []byte) lines {
	l := lines{text: b, starts: []int{0}}
	for i, c := range b {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

func (l lines) position(offset int) position {
	offset = min(max(offset, 0), len(l.text))
	line := sort.SearchInts(l.starts, offset+1) - 1
	return position{line + 1, utf8.RuneCount(l.text[l.starts[line]:offset]) + 1}
}

// bytePosition turns a line and a column in bytes, both from 1, into a position,
// and returns the line too.
func (l lines) bytePosition(row, column int) (position, string) {
	if row < 1 || row > len(l.starts) {
		return position{max(row, 1), max(column, 1)}, ""
	}
	start := l.starts[row-1]
	end := len(l.text)
	if row < len(l.starts) {
		end = l.starts[row]
	}
	at := min(start+max(column-1, 0), end)
	return position{row, utf8.RuneCount(l.text[start:at]) + 1}, string(l.text[start:end])
}
