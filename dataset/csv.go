package dataset

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// csvReader reads RFC 4180. encoding/csv would fold CRLF inside quoted fields
// to LF, and the text would no longer be the one that was judged before.
type csvReader struct {
	lines   lineReader
	delim   byte
	sepLine bool // a line "sep=;" goes before the header
	header  []*column
	names   [][]byte // the header's cells
	cells   [][]byte
	rec     record
	raw     []byte // the record with its line ends
	text    []byte // what the cells of unquoted text point into
}

// readHeader reads the names of the columns. With alone, every column that is
// mapped must be there; another file may have it otherwise.
func (c *csvReader) readHeader(columns *columns, alone bool) error {
	if err := c.next(); err != nil {
		return err
	}
	if c.sepLine {
		if err := c.next(); err != nil {
			return err
		}
	}
	if f := checkUTF8(c.rec.raw); f != nil {
		f.fatal = true
		return recordError{f}
	}
	if f := columns.take(func() names { return headerSet(c.cells) }); f != nil {
		f.fatal = true
		return recordError{f}
	}
	columns.begin()
	c.header, c.names = nil, nil
	for i, cell := range c.cells {
		name := bytes.TrimSpace(cell)
		if len(name) == 0 {
			name = []byte("column " + itoa(i+1)) // pandas leaves the index unnamed
		}
		k, f := columns.see(name)
		if f != nil {
			f.fatal = true
			return recordError{f}
		}
		k.Rows--
		c.header = append(c.header, k)
		c.names = append(c.names, bytes.Clone(cell))
	}
	if !columns.feeds() {
		f := faultf("no column is known as a field of a sample; the header has %s", headerNames(c.header)).
			withHint("name the columns in [dataset.columns], such as user_input = \"my question\"; if the delimiter was not found, name it with --delimiter")
		if line := c.headerBelow(columns); line > 0 {
			f.hint = "line " + itoa(line) + " looks like the header: delete the lines above it"
		}
		f.fatal = true
		return recordError{f}
	}
	if name, field := columns.unseen(); name != "" && alone {
		f := faultf("[dataset.columns] names the column %s for %s, but the header has %s", quoted(name), field, headerNames(c.header))
		f.fatal = true
		return recordError{f}
	}
	return nil
}

// headerBelow looks for a line with known columns in the lines below one that
// has none: a title may stand above the table. 0 if there is none.
func (c *csvReader) headerBelow(columns *columns) int {
	const most = 10
	rec, raw := c.rec, c.raw
	defer func() { c.rec, c.raw = rec, raw }()
	c.raw = nil
	for range most {
		if c.next() != nil {
			return 0
		}
		known := 0
		for _, cell := range c.cells {
			if columns.names(string(bytes.TrimSpace(cell))) {
				known++
			}
		}
		if known > 1 {
			return c.rec.line
		}
	}
	return 0
}

// headerSet are the names of a header, for finding out a shape.
func headerSet(cells [][]byte) names {
	n := make(names)
	for _, cell := range cells {
		n.add(string(bytes.TrimSpace(cell)))
	}
	return n
}

func headerNames(header []*column) string {
	var names []string
	for i, k := range header {
		if i == 20 {
			names = append(names, "...")
			break
		}
		names = append(names, quoted(k.Name))
	}
	return strings.Join(names, ", ")
}

func (c *csvReader) next() error {
	for {
		b, err := c.lines.next()
		c.rec = record{line: c.lines.line}
		if err == errTooLong {
			return recordError{c.fatal(tooLong(c.lines.max))}
		}
		if err != nil {
			return err
		}
		b = bytes.TrimPrefix(b, []byte(bom)) // files that were joined each bring their own
		if len(bytes.TrimRight(b, "\r\n")) == 0 {
			continue
		}
		c.raw = append(c.raw[:0], b...)
		err = c.split()
		c.rec.raw = c.raw
		return err
	}
}

// fatal marks a fault after which a record may begin anywhere.
func (c *csvReader) fatal(f *fault) *fault {
	f.fatal = true
	return f
}

// split cuts the record in c.raw into cells, and reads on where a quoted field
// goes over the end of the line.
func (c *csvReader) split() error {
	c.cells, c.text = c.cells[:0], c.text[:0]
	for i := 0; ; {
		var cell []byte
		var err error
		if i < len(c.raw) && c.raw[i] == '"' {
			cell, i, err = c.quotedCell(i)
		} else {
			cell, i = c.plainCell(i)
		}
		if err != nil {
			return err
		}
		c.cells = append(c.cells, cell)
		if i >= len(c.raw) || c.raw[i] != c.delim {
			return nil
		}
		i++
	}
}

// lineEnd is where the line's text ends that goes to the end of c.raw.
func (c *csvReader) lineEnd() int {
	n := len(c.raw)
	if n > 0 && c.raw[n-1] == c.lines.eol {
		n--
		if c.lines.eol == '\n' && n > 0 && c.raw[n-1] == '\r' {
			n--
		}
	}
	return n
}

func (c *csvReader) plainCell(i int) (cell []byte, end int) {
	stop := max(c.lineEnd(), i)
	if n := bytes.IndexByte(c.raw[i:stop], c.delim); n >= 0 {
		stop = i + n
	}
	return c.keep(c.raw[i:stop]), stop
}

// keep copies text, since c.raw may move when a later field reads on. A move
// of c.text itself leaves the earlier cells with the old, unchanged bytes.
func (c *csvReader) keep(b []byte) []byte {
	n := len(c.text)
	c.text = append(c.text, b...)
	return c.text[n:len(c.text):len(c.text)]
}

func (c *csvReader) quotedCell(open int) (cell []byte, end int, _ error) {
	start := len(c.text)
	i := open + 1
	for {
		n := bytes.IndexByte(c.raw[i:], '"')
		if n < 0 {
			c.text = append(c.text, c.raw[i:]...)
			i = len(c.raw)
			if err := c.readOn(open); err != nil {
				return nil, 0, err
			}
			continue
		}
		c.text = append(c.text, c.raw[i:i+n]...)
		if i += n + 1; i < len(c.raw) && c.raw[i] == '"' {
			c.text = append(c.text, '"')
			i++
			continue
		}
		if i < c.lineEnd() && c.raw[i] != c.delim {
			f := faultf("text follows the closing quote of a field").at(i)
			if n := bytes.Count(c.raw[open:i], []byte{c.lines.eol}); n > 0 {
				f.reason += " that opens " + plural(n, "line") + " above"
			}
			c.rec.raw = c.raw
			return nil, 0, recordError{f.withHint("a quote inside a quoted field is written twice; a quote that is not closed makes a field of the lines after it")}
		}
		return c.text[start:len(c.text):len(c.text)], i, nil
	}
}

// readOn adds the next line to the record, whose quoted field began at open.
func (c *csvReader) readOn(open int) error {
	b, err := c.lines.next()
	switch {
	case err == io.EOF:
		c.rec.raw = c.raw
		return recordError{c.fatal(faultf("the quote that opens this field is never closed").at(open).
			withHint("close it, or write the file anew: a field that begins with a quote goes on to the next single one, and a quote inside is written twice"))}
	case err == errTooLong || err == nil && len(c.raw)+len(b) > c.lines.max:
		c.rec.raw = c.raw
		return recordError{c.fatal(tooLong(c.lines.max)).at(open)}
	case err != nil:
		return err
	}
	c.raw = append(c.raw, b...)
	return nil
}

func (c *csvReader) record() record { return c.rec }

func (c *csvReader) sample(d *decoder) (*eval.Sample, *fault) {
	if f := d.charset.checkText(c.rec.raw); f != nil {
		return nil, f
	}
	if len(c.cells) > 1 && slices.EqualFunc(c.cells, c.names, bytes.Equal) {
		return nil, faultf("repeats the header line").withHint("where files were joined, keep the header of the first only; or name the files one by one")
	}
	if len(c.cells) != len(c.header) {
		return nil, faultf("has %s, but the header has %d", plural(len(c.cells), "field"), len(c.header)).
			withHint("a field that holds the delimiter must stand in quotes")
	}
	return d.csv(c.header, c.cells)
}
