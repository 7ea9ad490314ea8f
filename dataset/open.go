package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// headSize is how much of a file's beginning is looked at to tell what it is.
const headSize = 64 << 10

// Open opens a file of samples, or with a pattern such as "data/*.jsonl"
// several (see [Expand]), and finds out how each is written. Standard input
// and pipes are copied to a temporary file first (mode 0600, gone after Close),
// since a dataset is read twice: Scan, then Next.
//
// What can't be read at all is refused here with a *LineError that says what
// the file is: a folder, nothing, another format.
func Open(path string, opt Options) (*Reader, error) { return OpenFiles([]string{path}, opt) }

// OpenFiles is Open for several files and patterns, which make one dataset in
// this order. Ids must be unique over all of them. The files may differ in
// format, packing and encoding. One that is empty is a warning, unless all are.
func OpenFiles(paths []string, opt Options) (*Reader, error) {
	opt.KeepBad = orDefault(opt.KeepBad, DefaultKeepBad)
	opt.MaxRecord = orDefault(opt.MaxRecord, DefaultMaxRecord)
	if len(paths) == 0 {
		return nil, errors.New("open a dataset: no file is named")
	}
	columns, err := newColumns(opt.Columns)
	if err != nil {
		return nil, err
	}
	charset, err := checkOptions(paths[0], opt)
	if err != nil {
		return nil, err
	}
	files, err := Expand(paths)
	if err != nil {
		return nil, err
	}
	if opt.Qrels != "" && len(files) > 1 {
		return nil, fmt.Errorf("open %s: judgements belong to one run, and %d files are named", files[0], len(files))
	}
	if s := shapeOf(opt.Format); s != nil {
		columns.forced, opt.Format = s, ""
	}
	r := &Reader{opt: opt, columns: columns}
	r.dec = decoder{columns: columns, charset: utf8Text, warn: func(k warnKind) { r.warnAt(k, r.row, r.src.record().line) }}
	for _, path := range files {
		r.parts = append(r.parts, &part{path: path, charset: charset})
	}
	err = r.detect()
	if err == nil {
		err = r.Rewind()
	}
	if err == nil && len(r.parts) == 1 {
		err = r.startPart() // a header that is no use is told at once
	}
	if err != nil {
		_ = r.Close() // what went wrong before says more
		return nil, err
	}
	return r, nil
}

// checkOptions checks what is asked for, before any file is touched.
func checkOptions(path string, opt Options) (*charset, error) {
	switch opt.Format {
	case "", JSONL, JSON, CSV, TSV, Parquet:
	default:
		if shapeOf(opt.Format) != nil {
			break
		}
		return nil, fmt.Errorf("open %s: the format %s is not one of %s", path, quoted(string(opt.Format)), formatNames())
	}
	if d := opt.Delimiter; d == '"' || d == '\n' || d == '\r' || d >= 0x80 {
		return nil, fmt.Errorf("open %s: %q can't be a delimiter", path, rune(d))
	}
	charset, err := findCharset(opt.Encoding)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return charset, nil
}

func orDefault(n, def int) int {
	if n <= 0 {
		return def
	}
	return n
}

// detect looks at the beginning of every file, and tells of all that can't be
// read.
func (r *Reader) detect() error {
	const most = 10 // errors that are told
	var errs []error
	empty := 0
	for _, p := range r.parts {
		err := p.open(&r.opt)
		if err == nil {
			err = p.detect(&r.opt, r.columns)
		}
		if p.empty {
			empty++
		}
		if done := p.release(len(r.parts) <= keepOpen); err == nil {
			err = done
		}
		if err != nil && len(errs) < most {
			errs = append(errs, err)
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	if len(errs) > 1 {
		return errors.Join(errs...)
	}
	if empty == len(r.parts) {
		return r.parts[0].fault(faultf("is empty: it holds no samples"))
	}
	return nil
}

// detect finds packing, encoding, format, delimiter and layout.
func (p *part) detect(opt *Options, columns *columns) error {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %s: %w", p.path, err)
	}
	in, head, err := p.unpackHead()
	if err != nil {
		return err
	}
	if hasWord(head, "PAR1") {
		return p.detectParquet(opt)
	}
	if f := refuse(head); f != nil {
		return p.fault(f)
	}
	cs, skip := detectCharset(head, p.charset)
	p.doubtful = cs == p.charset && cs.legacy != nil && looksUTF8(head)
	p.charset = cs
	_, _ = in.Discard(skip)
	if cs != utf8Text {
		in = bufio.NewReaderSize(cs.toUTF8(in), blockSize)
	}
	head, err = skipBlank(in)
	if len(head) == 0 {
		if err != nil && err != io.EOF {
			return p.headError(err)
		}
		p.empty = true
		return nil
	}
	return p.detectText(in, head, opt, columns)
}

// unpackHead takes off what the file is packed in and looks at its beginning.
func (p *part) unpackHead() (*bufio.Reader, []byte, error) {
	in := bufio.NewReaderSize(p.file, blockSize)
	for {
		head, err := in.Peek(headSize)
		if len(head) == 0 && err != nil && err != io.EOF {
			return nil, nil, p.headError(err)
		}
		how := packedAs(head)
		if how == "" {
			return in, head, nil
		}
		if len(p.packing) == maxPackings {
			return nil, nil, p.fault(faultf("is packed more than %d times over", maxPackings))
		}
		p.packing = append(p.packing, how)
		u := unpack(how, in)
		p.undo = append(p.undo, u.close)
		in = bufio.NewReaderSize(u, blockSize)
	}
}

func (p *part) headError(err error) error {
	var packed *unpackError
	if errors.As(err, &packed) {
		f := faultf("%v, at its very beginning", packed)
		f.err = err
		return p.fault(f.withHint("get the file again, or pack it again"))
	}
	return fmt.Errorf("read %s: %w", p.path, err)
}

// skipBlank passes over blank lines ahead of everything else, and over the
// white space before JSON, and returns the bytes after it.
func skipBlank(in *bufio.Reader) ([]byte, error) {
	for {
		head, err := in.Peek(headSize)
		n := len(head) - len(bytes.TrimLeft(head, " \t\r\n\v\f"))
		if n == len(head) {
			if err != nil {
				return nil, err
			}
			_, _ = in.Discard(n)
			continue
		}
		if c := head[n]; c != '{' && c != '[' { // the first cell of a header may well be blank
			n = bytes.LastIndexAny(head[:n], "\r\n") + 1
		}
		_, _ = in.Discard(n)
		head, _ = in.Peek(headSize)
		return head, nil
	}
}

// detectText finds out about the text that begins with head.
func (p *part) detectText(in *bufio.Reader, head []byte, opt *Options, columns *columns) error {
	p.format, p.eol = opt.Format, '\n'
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		p.eol = '\r'
	}
	if f := refuseText(head, opt.Format); f != nil {
		return p.fault(f)
	}
	if p.format == "" {
		var f *fault
		if p.format, f = p.findFormat(head, opt, columns); f != nil {
			return p.fault(f)
		}
	}
	if f := p.checkStart(head[0], opt); f != nil {
		return p.fault(f)
	}
	switch p.format {
	case JSONL:
		p.multi = p.overLines(in, opt)
		if f := p.findDocument(opt, columns); f != nil {
			return p.fault(f)
		}
	case CSV, TSV:
		if f := p.findDelimiter(head, opt, columns); f != nil {
			return p.fault(f)
		}
	}
	return nil
}

// checkStart refuses a format that was named and can't be.
func (p *part) checkStart(c byte, opt *Options) *fault {
	switch {
	case opt.Format == Parquet:
		return faultf("is not a Parquet file, which begins with PAR1")
	case opt.Format == JSON && c == '{':
		p.format = JSONL
	case opt.Format == JSONL && c == '[':
		p.format = JSON
	case opt.Format == JSON && c != '[':
		return faultf("is not JSON: it begins with %q", rune(c))
	}
	return nil
}

// overLines reports whether the first object goes over several lines, or has
// another one after it on its line. An object that is broken, and may only
// seem to go on, is left to the reading by lines, which finds the next one.
func (p *part) overLines(in *bufio.Reader, opt *Options) bool {
	head, _ := in.Peek(headSize)
	if string(bytes.TrimSpace(firstLine(head))) == "{" { // no line of JSONL is that
		return true
	}
	s := jsonStream{in: in, max: opt.MaxRecord, line: 1}
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
