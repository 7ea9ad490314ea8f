package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/ragjudge/ragjudge/eval"
)

// source gives the records of a file one after another.
type source interface {
	// next goes to the next record. It returns io.EOF, an error of reading, or
	// a *recordError for a record that can't be had.
	next() error
	// record is the current record, valid until the next call of next.
	record() record
	// sample decodes the current record.
	sample(d *decoder) (*eval.Sample, *fault)
}

// recordError carries a fault out of next.
type recordError struct{ *fault }

func (e recordError) Error() string { return e.reason }

// lineReader reads physical lines of any length up to a limit. bufio.Scanner
// would stop for good at its limit.
type lineReader struct {
	in   *bufio.Reader
	max  int
	eol  byte // what ends a line
	line int  // the number of the last line read
	buf  []byte
}

var errTooLong = errors.New("line is too long")

// next returns the next line with its line end, valid until the next call.
// After errTooLong the line was passed over.
func (l *lineReader) next() ([]byte, error) {
	l.line++
	b, err := l.in.ReadSlice(l.eol)
	if err == nil {
		if len(b) > l.max {
			return nil, errTooLong
		}
		return b, nil
	}
	if err == io.EOF && len(b) > 0 {
		if len(b) > l.max {
			return nil, errTooLong
		}
		return b, nil
	}
	if err != bufio.ErrBufferFull {
		l.line--
		return nil, err
	}
	l.buf = append(l.buf[:0], b...)
	for err == bufio.ErrBufferFull {
		b, err = l.in.ReadSlice(l.eol)
		if len(l.buf) <= l.max {
			l.buf = append(l.buf, b...)
		}
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(l.buf) > l.max {
		l.buf = nil
		return nil, errTooLong
	}
	return l.buf, nil
}

func tooLong(limit int) *fault {
	return faultf("the record is longer than the limit of %d bytes", limit).
		withHint("raise dataset.max_line_bytes if such a record is meant; a quote that is not closed makes one by mistake")
}

// jsonStream reads the items of a JSON array, or objects one after another
// that may go over several lines. It finds where a value ends by its brackets
// and quotes alone; the decoder then reads it strictly.
type jsonStream struct {
	in    *bufio.Reader
	max   int
	array bool
	line  int // of the next byte
	col   int // bytes before it on its line
	begun bool
	ended bool
	rec   record
	buf   []byte
}

// advance passes over n bytes that are in the buffer, counting lines.
func (j *jsonStream) advance(b []byte) {
	if n := bytes.Count(b, []byte("\n")); n > 0 {
		j.line += n
		j.col = len(b) - 1 - bytes.LastIndexByte(b, '\n')
	} else {
		j.col += len(b)
	}
	_, _ = j.in.Discard(len(b)) // it is buffered: can't fail
}

// buffered returns what can be looked at without reading more than once.
func (j *jsonStream) buffered() ([]byte, error) {
	if _, err := j.in.Peek(1); err != nil {
		return nil, err
	}
	b, _ := j.in.Peek(j.in.Buffered())
	return b, nil
}

// peek passes over white space and returns the next byte.
func (j *jsonStream) peek() (byte, error) {
	for {
		b, err := j.buffered()
		if err != nil {
			return 0, err
		}
		n := 0
		for n < len(b) && (b[n] == ' ' || b[n] == '\t' || b[n] == '\r' || b[n] == '\n') {
			n++
		}
		if n == len(b) {
			j.advance(b)
			continue
		}
		c := b[n]
		j.advance(b[:n])
		if c == bom[0] { // files that were joined each bring their own mark
			if mark, _ := j.in.Peek(len(bom)); string(mark) == bom {
				j.advance(mark)
				continue
			}
		}
		return c, nil
	}
}

// take passes over one byte.
func (j *jsonStream) take() error {
	b, err := j.buffered()
	if err == nil {
		j.advance(b[:1])
	}
	return err
}

// broken is a fault after which the records can't be told apart.
func (j *jsonStream) broken(f *fault) error {
	f.fatal = true
	j.rec = record{line: j.line, col: j.col}
	if f.off < 0 {
		f.off = 0
	}
	return recordError{f}
}

func (j *jsonStream) next() error {
	if j.array {
		if err := j.separator(); err != nil {
			return err
		}
	}
	c, err := j.peek()
	if err != nil {
		if err == io.EOF && j.array {
			return j.broken(invalidf("the file ends before the list is closed").withHint("the file was cut off: write or fetch it again"))
		}
		return err
	}
	if !j.array && c != '{' {
		return j.broken(invalidf("expected an object, found %q", rune(c)))
	}
	return j.frame(c)
}

// separator reads what stands before an item of the array.
func (j *jsonStream) separator() error {
	if j.ended {
		return io.EOF
	}
	first := !j.begun
	if first {
		j.begun = true
		if _, err := j.peek(); err != nil {
			return err
		}
		if err := j.take(); err != nil { // the [
			return err
		}
	}
	c, err := j.peek()
	if err == io.EOF {
		return j.broken(invalidf("the file ends before the list is closed").withHint("the file was cut off: write or fetch it again"))
	}
	if err != nil {
		return err
	}
	switch {
	case c == ']':
		if err := j.take(); err != nil {
			return err
		}
		j.ended = true
		if c, err = j.peek(); err == nil {
			return j.broken(invalidf("%q stands after the end of the list", rune(c)).
				withHint("a file holds one list, or one object after another; name several lists as several files"))
		}
		return err
	case first:
		return nil
	case c != ',':
		return j.broken(invalidf("expected a comma or ] after an item of the list, found %q", rune(c)))
	}
	if err := j.take(); err != nil {
		return err
	}
	if c, err = j.peek(); err == nil && c == ']' {
		return j.broken(invalidf("a comma stands before the closing ']'").withHint("take the comma out"))
	}
	return nil
}

// frame collects the bytes of the value that begins with c.
func (j *jsonStream) frame(c byte) error {
	rec := record{line: j.line, col: j.col}
	f := framer{scalar: c != '{' && c != '[' && c != '"'}
	j.buf = j.buf[:0]
	for !f.done {
		b, err := j.buffered()
		if err != nil {
			if err == io.EOF && f.scalar {
				break
			}
			if err == io.EOF {
				fault := invalidf("the file ends inside the record that begins here")
				fault.fatal, fault.off, fault.open = true, 0, true
				j.rec = rec
				return recordError{fault}
			}
			return err
		}
		n := f.feed(b)
		j.buf = append(j.buf, b[:n]...)
		j.advance(b[:n])
		if len(j.buf) > j.max {
			j.rec = rec
			f := tooLong(j.max)
			f.fatal = true
			return recordError{f}
		}
	}
	rec.raw = j.buf
	j.rec = rec
	return nil
}

func (j *jsonStream) record() record { return j.rec }

func (j *jsonStream) sample(d *decoder) (*eval.Sample, *fault) {
	s, f := d.json(j.rec.raw)
	if f != nil && f.syntax {
		f.fatal = true
		f.hint = cmp.Or(f.hint, "after this the records of the file can't be told apart; with one object a line they could")
	}
	return s, f
}

// framer finds the end of one JSON value in chunks of bytes.
type framer struct {
	depth    int
	inString bool
	escaped  bool
	scalar   bool // a number or a word: it ends before a delimiter
	done     bool
}

// feed looks at a chunk and returns how many bytes belong to the value.
func (f *framer) feed(b []byte) int {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case f.escaped:
			f.escaped = false
		case f.inString:
			if i = plain(b, i); i >= len(b) {
				return len(b)
			}
			switch b[i] {
			case '\\':
				f.escaped = true
			case '"':
				f.inString = false
				f.done = f.depth == 0
			}
		case f.scalar:
			if c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t' {
				f.done = true
				return i
			}
		case c == '"':
			f.inString = true
		case c == '{' || c == '[':
			f.depth++
		case c == '}' || c == ']':
			f.depth--
			f.done = f.depth <= 0
		}
		if f.done {
			return i + 1
		}
	}
	return len(b)
}
