package trec

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with a file.
type Error struct {
	// File is the path as it was given; "-" is standard input.
	File string
	// Line is the line, from 1; 0 if the file as a whole is meant.
	Line int
	// Reason says what is wrong.
	Reason string
	// Hint says what to do about it; may be empty. It is not part of Error.
	Hint string
	// Err is the underlying error, if any.
	Err error
}

// Error gives place and reason: "a.run:4: ...".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// fault is an Error in the making, by code that knows the line only as counted
// from the start of its block; 0 if no line is meant.
type fault struct {
	line         int
	reason, hint string
}

func faultf(line int, format string, args ...any) *fault {
	return &fault{line: line, reason: fmt.Sprintf(format, args...)}
}

func (f *fault) withHint(hint string) *fault {
	f.hint = hint
	return f
}

// in places the fault: before is the number of lines ahead of its block.
func (f *fault) in(file string, before int) *Error {
	e := &Error{File: file, Reason: f.reason, Hint: f.hint}
	if f.line > 0 {
		e.Line = before + f.line
	}
	return e
}

// quoted shows text from a file in a message: cut, and with everything escaped
// that could play with a terminal.
func quoted(b []byte) string {
	const most = 60
	if len(b) <= most && utf8.Valid(b) {
		return strings.ReplaceAll(fmt.Sprintf("%q", b), "\ufeff", `\ufeff`)
	}
	if len(b) > most {
		return fmt.Sprintf("%+q...", b[:most])
	}
	return fmt.Sprintf("%+q", b)
}
