package dataset

import (
	"bytes"
	"fmt"
	"strings"
)

// LineError says what is wrong with one record, or with the file as a whole.
type LineError struct {
	// File is the path as it was given; "-" is standard input.
	File string
	// Line is the physical line, from 1; 0 if the whole file is meant. It is
	// where the fault is, or where its record begins.
	Line int
	// Row is the number of the record, from 1; 0 if the fault is in none.
	Row int
	// Column is the name of the column or member, as the file spells it; empty
	// if the fault is in none.
	Column string
	// Offset is the 1-based byte position in the line; 0 if it is unknown.
	Offset int
	// Reason says what is wrong.
	Reason string
	// Hint says what to do about it; may be empty. It is not part of Error.
	Hint string
	// Err is the underlying error, if any.
	Err error

	fatal bool // what follows in the file can't be read either
}

// Error gives place and reason: "a.jsonl:4: row 3, column "answer": ...".
func (e *LineError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Offset > 0 {
			fmt.Fprintf(&b, ":%d", e.Offset)
		}
	}
	b.WriteString(": ")
	var where []string
	if e.Row > 0 {
		where = append(where, fmt.Sprintf("row %d", e.Row))
	}
	if e.Column != "" {
		where = append(where, "column "+quoted(e.Column))
	}
	if len(where) > 0 {
		b.WriteString(strings.Join(where, ", ") + ": ")
	}
	b.WriteString(e.Reason)
	return b.String()
}

// Unwrap returns the underlying error.
func (e *LineError) Unwrap() error { return e.Err }

// Fatal reports whether reading must stop here, even where bad lines are
// skipped, because the records that follow can't be told apart.
func (e *LineError) Fatal() bool { return e.fatal }

// BadInputError is what Scan returns for a file with bad lines.
type BadInputError struct {
	// File is the path as it was given.
	File string
	// Count is the number of bad lines.
	Count int
	// Bad holds the first of them, as many as Options.KeepBad says.
	Bad []*LineError
}

// Error lists the bad lines that were kept, one a line, and counts the others.
func (e *BadInputError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "read %s: %s", e.File, plural(e.Count, "bad line"))
	for _, l := range e.Bad {
		b.WriteString("\n  " + l.Error())
	}
	if n := e.Count - len(e.Bad); n > 0 {
		fmt.Fprintf(&b, "\n  and %d more", n)
	}
	return b.String()
}

// Unwrap gives the bad lines that were kept, for errors.As.
func (e *BadInputError) Unwrap() []error {
	errs := make([]error, len(e.Bad))
	for i, l := range e.Bad {
		errs[i] = l
	}
	return errs
}

// fault is a LineError in the making, as seen by code that knows the record
// but neither file nor row.
type fault struct {
	off    int // byte offset in the record; -1 if unknown
	column string
	reason string
	hint   string
	fatal  bool
	syntax bool // the record is not JSON
	open   bool // the input ended before the value did
	err    error
}

func faultf(format string, args ...any) *fault {
	return &fault{off: -1, reason: fmt.Sprintf(format, args...)}
}

// invalidf is a fault of JSON's grammar.
func invalidf(format string, args ...any) *fault {
	f := faultf("invalid JSON: "+format, args...)
	f.syntax = true
	return f
}

func (f *fault) withHint(hint string) *fault {
	f.hint = hint
	return f
}

func (f *fault) at(off int) *fault {
	f.off = off
	return f
}

func (f *fault) in(column string) *fault {
	if f != nil && f.column == "" {
		f.column = column
	}
	return f
}

// record is the raw text of one record and where it begins.
type record struct {
	raw  []byte
	line int // physical line of its first byte
	col  int // bytes before it on that line
}

// place turns an offset in the record into a line and a 1-based position on it.
func (rec record) place(off int) (line, pos int) {
	if off < 0 || off > len(rec.raw) {
		return rec.line, 0
	}
	before := rec.raw[:off]
	n := bytes.Count(before, []byte("\n"))
	if n == 0 {
		return rec.line, rec.col + off + 1
	}
	return rec.line + n, off - bytes.LastIndexByte(before, '\n')
}

// quoted shows text from a file in a message: cut, with control characters
// escaped, so that a hostile name can't play with a terminal.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%+q...", s[:most])
	}
	if strings.ContainsFunc(s, isFormat) {
		return fmt.Sprintf("%+q", s)
	}
	return fmt.Sprintf("%q", s)
}

// isFormat reports the invisible characters that change how text around them
// is shown.
func isFormat(r rune) bool {
	return r == 0x061c || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
