package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// Open opens a file of samples and finds out its format. Standard input and
// pipes are copied to a temporary file first (mode 0600, gone after Close),
// since a dataset is read twice: Scan, then Next.
//
// What can't be read at all is refused here with a *LineError that says what
// the file is: a folder, nothing, something compressed, another format.
func Open(path string, opt Options) (*Reader, error) {
	opt.KeepBad = orDefault(opt.KeepBad, DefaultKeepBad)
	opt.MaxRecord = orDefault(opt.MaxRecord, DefaultMaxRecord)
	columns, err := newColumns(opt.Columns)
	if err != nil {
		return nil, err
	}
	switch opt.Format {
	case "", JSONL, JSON, CSV, TSV:
	default:
		return nil, fmt.Errorf("open %s: the format %s is not one of %s", path, quoted(string(opt.Format)), formatNames())
	}
	if d := opt.Delimiter; d == '"' || d == '\n' || d == '\r' || d >= 0x80 {
		return nil, fmt.Errorf("open %s: %q can't be a delimiter", path, rune(d))
	}
	r := &Reader{path: path, opt: opt, columns: columns}
	r.dec = decoder{columns: columns, warn: func(k warnKind) { r.warned.add(k, r.row, r.src.record().line) }}
	if err := r.openFile(); err != nil {
		return nil, err
	}
	err = r.detect()
	if err == nil {
		err = r.Rewind()
	}
	if err != nil {
		_ = r.Close() // what went wrong before says more
		return nil, err
	}
	return r, nil
}

func orDefault(n, def int) int {
	if n <= 0 {
		return def
	}
	return n
}

// openFile opens what the path names, or a copy of it where that can't be read
// twice.
func (r *Reader) openFile() error {
	if r.path == Stdin {
		if r.opt.Stdin == nil {
			return r.fileError(faultf("there is no standard input to read"))
		}
		return r.spool(r.opt.Stdin)
	}
	f, err := os.Open(r.path)
	if err != nil {
		fault := faultf("can't be opened: %v", pathReason(err))
		fault.err = err
		return r.fileError(fault)
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.IsDir():
		f.Close()
		return r.fileError(faultf("is a folder").withHint("name a file in it"))
	case !st.Mode().IsRegular():
		err := r.spool(f)
		f.Close()
		return err
	}
	r.file = f
	return nil
}

// pathReason is an error of opening without the path, which is told anyway.
func pathReason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (r *Reader) spool(in io.Reader) error {
	f, err := os.CreateTemp(r.opt.TempDir, "ragjudge-input-*")
	if err != nil {
		return fmt.Errorf("keep a copy of %s: %w", r.path, err)
	}
	r.file, r.temp = f, f.Name()
	if os.Remove(r.temp) == nil {
		// The open file lives on without a name, and is gone even after a
		// kill -9. Systems that don't allow this remove it in Close.
		r.temp = ""
	}
	if _, err := io.Copy(f, in); err != nil {
		return errors.Join(fmt.Errorf("keep a copy of %s: %w", r.path, err), r.Close())
	}
	return nil
}

// detect finds the format, the delimiter and the layout.
func (r *Reader) detect() error {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %s: %w", r.path, err)
	}
	in := bufio.NewReaderSize(r.file, 256<<10)
	head, err := in.Peek(64 << 10)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read %s: %w", r.path, err)
	}
	if f := refuse(head); f != nil {
		return r.fileError(f)
	}
	if bytes.HasPrefix(head, []byte(bom)) {
		_, _ = in.Discard(len(bom))
		head, _ = in.Peek(64 << 10)
	}
	for blankHead(head) { // blank lines ahead of everything else
		if head, err = in.Peek(1); err == io.EOF {
			return r.fileError(faultf("is empty: it holds no samples"))
		} else if err != nil {
			return fmt.Errorf("read %s: %w", r.path, err)
		}
		if blankHead(head) {
			_, _ = in.Discard(1)
		}
	}
	head, _ = in.Peek(64 << 10)
	head = bytes.TrimSpace(head)
	r.format = r.opt.Format
	if r.format == "" {
		var f *fault
		if r.format, f = findFormat(head, r.path, r.columns); f != nil {
			return r.fileError(f)
		}
	}
	if f := r.checkStart(head[0]); f != nil {
		return r.fileError(f)
	}
	if r.format == JSONL {
		r.multi = r.overLines(in)
	}
	r.findDelimiter(firstLine(head))
	return nil
}

// checkStart refuses a format that was named and can't be.
func (r *Reader) checkStart(c byte) *fault {
	if r.opt.Format == JSON && c == '{' {
		r.format = JSONL
	}
	if r.opt.Format == JSONL && c == '[' {
		r.format = JSON
	}
	if (r.opt.Format == JSON) && c != '[' && c != '{' {
		return faultf("is not JSON: it begins with %q", rune(c))
	}
	return nil
}

func (r *Reader) findDelimiter(header []byte) {
	switch {
	case r.opt.Delimiter != 0:
		r.delim = r.opt.Delimiter
	case r.format == TSV:
		r.delim = '\t'
	default:
		r.delim = findDelimiter(header, r.columns)
	}
	if r.format == CSV && r.delim == '\t' {
		r.format = TSV
	}
}

// overLines reports whether the first object goes over several lines, or has
// another one after it on its line. An object that is broken, and may only
// seem to go on, is left to the reading by lines, which finds the next one.
func (r *Reader) overLines(in *bufio.Reader) bool {
	s := jsonStream{in: in, max: r.opt.MaxRecord, line: 1}
	if s.next() != nil {
		return false
	}
	if _, f := parseValue(s.rec.raw); f != nil {
		return false
	}
	if s.line > s.rec.line {
		return true
	}
	for {
		c, err := in.ReadByte()
		if err != nil || c == '\n' {
			return false
		}
		if c == '{' {
			return true
		}
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
}
