package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// The defaults of Options.
const (
	// DefaultMaxRecord is the longest record, in bytes, unless Options says otherwise.
	DefaultMaxRecord = 64 << 20
	// DefaultKeepBad is how many bad lines are kept unless Options says otherwise.
	DefaultKeepBad = 100
)

// Options say how to read. The zero value is right for most files.
type Options struct {
	// Format is the file's format; empty to find it out.
	Format Format
	// Delimiter separates the fields of a CSV file: one ASCII character; 0 to
	// find it out.
	Delimiter byte
	// Columns maps canonical field names to columns of the file. It goes before
	// the aliases: no other column feeds a field that is named here. An empty
	// column name means that none does.
	Columns map[string]string
	// SkipBadLines makes Next pass over bad lines, which Bad then tells.
	SkipBadLines bool
	// KeepBad is how many bad lines are kept; all are counted. 0 means
	// DefaultKeepBad.
	KeepBad int
	// MaxRecord is the longest record in bytes; 0 means DefaultMaxRecord.
	MaxRecord int
	// Stdin is what the path "-" reads.
	Stdin io.Reader
	// TempDir is where standard input and pipes are kept while the reader is
	// open; empty for the system's folder for temporary files.
	TempDir string
	// Warn is told the first warning of each kind in each pass; may be nil.
	Warn func(Warning)
}

// Reader reads the samples of one file. It is for one goroutine.
type Reader struct {
	path   string
	opt    Options
	file   *os.File
	temp   string // to be removed on Close
	format Format
	delim  byte
	multi  bool // JSONL whose objects go over several lines

	columns    *columns
	src        source
	dec        decoder
	warned     warnings
	row        int
	done       error
	bad        []*LineError
	badCount   int
	ids        *tracker
	odd        map[int]exception // found in this pass
	exceptions map[int]exception // found by the scan; nil before it
	noID       int

	hashing bool // set by the first scan
	digest  hash.Hash
	read    int64
	scanned *scanned
}

// scanned is what a scan found the file to be.
type scanned struct {
	size int64
	sum  string
	bad  int
}

// Next returns the next sample; io.EOF at the end. A bad line is a *LineError;
// unless that is Fatal, a further call goes on with the record after it. Where
// Options.SkipBadLines is set only fatal ones are returned. Any other error is
// one of reading, and final.
func (r *Reader) Next() (*eval.Sample, error) {
	for r.done == nil {
		s, err := r.step()
		var le *LineError
		switch {
		case err == nil:
			return s, nil
		case err == io.EOF:
			r.done = r.finish()
		case errors.As(err, &le) && r.scanned != nil && r.scanned.bad == 0:
			r.done = r.changed(le)
		case le == nil || le.fatal:
			r.done = err
		default:
			r.noteBad(le)
			if !r.opt.SkipBadLines {
				return nil, le
			}
		}
	}
	return nil, r.done
}

func (r *Reader) noteBad(le *LineError) {
	r.badCount++
	if len(r.bad) < r.opt.KeepBad {
		r.bad = append(r.bad, le)
	}
}

// step reads one record.
func (r *Reader) step() (*eval.Sample, error) {
	if err := r.src.next(); err != nil {
		var f recordError
		if errors.As(err, &f) {
			r.row++
			return nil, r.lineError(f.fault)
		}
		if err == io.EOF {
			return nil, err
		}
		return nil, fmt.Errorf("read %s after row %d: %w", r.path, r.row, err)
	}
	r.row++
	s, f := r.src.sample(&r.dec)
	if f != nil {
		return nil, r.lineError(f)
	}
	s.Row = r.row
	if f := r.identify(s); f != nil {
		return nil, r.lineError(f)
	}
	return s, nil
}

// identify gives the sample its id and sees to it that there is no other.
func (r *Reader) identify(s *eval.Sample) *fault {
	generated := s.ID == ""
	if generated {
		r.noID++
		s.ID = contentID(s)
	}
	var e exception
	if r.exceptions != nil {
		e = r.exceptions[r.row]
	} else {
		here := place{uint32(r.row), uint32(r.src.record().line)}
		e.id, e.first, e.twice = r.ids.add(s.ID, generated, here)
		if e.twice || e.id != s.ID {
			r.odd[r.row] = e
		}
	}
	if e.twice {
		return faultf("the id %s is that of row %d (line %d) as well", quoted(s.ID), e.first.row, e.first.line).
			withHint("ids must be unique: results are kept, compared and resumed by them")
	}
	if e.id != "" && e.id != s.ID {
		s.ID = e.id
		r.dec.warn(warnIdentical)
	}
	return nil
}

func (r *Reader) lineError(f *fault) *LineError {
	rec := r.src.record()
	line, pos := rec.place(f.off)
	return &LineError{
		File: r.path, Line: line, Row: r.row, Column: f.column, Offset: pos,
		Reason: f.reason, Hint: f.hint, Err: f.err, fatal: f.fatal,
	}
}

// fileError is a LineError about the file as a whole.
func (r *Reader) fileError(f *fault) *LineError {
	return &LineError{File: r.path, Reason: f.reason, Hint: f.hint, Err: f.err, fatal: true}
}

// changed is the error for a file that is no longer what was scanned; cause
// is where that showed, if it is a line that the scan found good.
func (r *Reader) changed(cause *LineError) error {
	f := faultf("changed while it was in use: its content is no longer what was scanned").
		withHint("score a copy that nobody writes to")
	if cause != nil {
		f.reason += fmt.Sprintf(" (line %d: %s)", cause.Line, cause.Reason)
		f.err = cause
	}
	return r.fileError(f)
}

// finish looks, at the end of a pass after a scan, whether the file is still
// what was scanned.
func (r *Reader) finish() error {
	if r.scanned == nil {
		return io.EOF
	}
	if r.read != r.scanned.size || hex.EncodeToString(r.digest.Sum(nil)) != r.scanned.sum {
		return r.changed(nil)
	}
	if st, err := r.file.Stat(); err == nil && st.Size() > r.scanned.size {
		r.warned.add(warnGrew, 0, 0)
	}
	return io.EOF
}

// Rewind starts over with the first record.
func (r *Reader) Rewind() error {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewind %s: %w", r.path, err)
	}
	r.row, r.done, r.read = 0, nil, 0
	r.bad, r.badCount = nil, 0
	r.warned = warnings{tell: r.opt.Warn, told: r.warned.told}
	r.columns.reset()
	r.ids, r.noID = nil, 0
	if r.exceptions == nil {
		r.ids, r.odd = newTracker(), make(map[int]exception)
	}
	r.digest = sha256.New()
	in := bufio.NewReaderSize(&hashedFile{r}, 256<<10)
	return r.startSource(in)
}

// startSource passes over the byte order mark and what a format has ahead of
// its records.
func (r *Reader) startSource(in *bufio.Reader) error {
	if b, _ := in.Peek(len(bom)); string(b) == bom {
		_, _ = in.Discard(len(bom))
	}
	limit := r.opt.MaxRecord
	switch {
	case r.format == JSON:
		r.src = &jsonStream{in: in, max: limit, array: true, line: 1}
	case r.format == JSONL && r.multi:
		r.src = &jsonStream{in: in, max: limit, line: 1}
	case r.format == JSONL:
		r.src = &jsonLines{lines: lineReader{in: in, max: limit}}
	default:
		c := &csvReader{lines: lineReader{in: in, max: limit}, delim: r.delim}
		r.src = c
		if err := c.readHeader(r.columns); err != nil && err != io.EOF {
			var f recordError
			if errors.As(err, &f) {
				return r.lineError(f.fault)
			}
			return fmt.Errorf("read %s: %w", r.path, err)
		}
	}
	return nil
}

// hashedFile reads the file, counting and hashing what is read, and no further
// than what was scanned.
type hashedFile struct{ r *Reader }

func (c *hashedFile) Read(p []byte) (int, error) {
	r := c.r
	if r.scanned != nil {
		left := r.scanned.size - r.read
		if left <= 0 {
			return 0, io.EOF
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := r.file.Read(p)
	r.read += int64(n)
	if r.hashing {
		r.digest.Write(p[:n])
	}
	return n, err
}

// Format is the format that was found.
func (r *Reader) Format() Format { return r.format }

// Columns tells which column feeds which field, in order of appearance, as far
// as the file was read in this pass.
func (r *Reader) Columns() []Column { return r.columns.list() }

// Warnings returns the warnings of this pass so far, one of each kind.
func (r *Reader) Warnings() []Warning { return r.warned.list() }

// Bad returns the bad lines of this pass so far: the first Options.KeepBad of
// them, and how many there are in all.
func (r *Reader) Bad() (kept []*LineError, count int) { return r.bad, r.badCount }

// Close closes the file and removes what was kept of standard input.
func (r *Reader) Close() error {
	err := r.file.Close()
	if r.temp != "" {
		err = errors.Join(err, os.Remove(r.temp))
		r.temp = ""
	}
	return err
}

func itoa(n int) string { return strconv.Itoa(n) }

// blankHead reports whether there is nothing but white space.
func blankHead(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

// formatNames lists the formats for a message.
func formatNames() string {
	return strings.Join([]string{string(JSONL), string(JSON), string(CSV), string(TSV)}, ", ")
}
