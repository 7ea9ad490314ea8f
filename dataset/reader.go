package dataset

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
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

// keepOpen is how many files of a dataset stay open between its two passes.
const keepOpen = 64

// Options say how to read. The zero value is right for most files.
type Options struct {
	// Format is the format of every file; empty to find it out.
	Format Format
	// Delimiter separates the fields of a CSV file: one ASCII character; 0 to
	// find it out.
	Delimiter byte
	// Qrels makes the path the run of TREC whose judgements these are: one sample
	// a query, with retrieved_context_ids and reference_context_ids; see [TREC].
	Qrels string
	// Encoding is how text is encoded that has no byte order mark: a name such
	// as "windows-1252" or "shift_jis", with the spellings of the web and the
	// IANA. Empty means UTF-8, or UTF-16 and UTF-32 where NULs show it. Parquet
	// is not concerned.
	Encoding string
	// Columns maps canonical field names to columns of the file. It goes before
	// the aliases: no other column feeds a field that is named here. An empty
	// column name means that none does.
	Columns map[string]string
	// SkipBadLines makes Next pass over bad lines, which Bad then tells.
	SkipBadLines bool
	// KeepBad is how many bad lines are kept; all are counted. 0 means
	// DefaultKeepBad.
	KeepBad int
	// MaxRecord is the longest record in bytes, after unpacking; 0 means
	// DefaultMaxRecord.
	MaxRecord int
	// Stdin is what the path "-" reads.
	Stdin io.Reader
	// TempDir is where standard input and pipes are kept while the reader is
	// open; empty for the system's folder for temporary files.
	TempDir string
	// Warn is told the first warning of each kind in each pass; may be nil.
	Warn func(Warning)
}

// Reader reads the samples of one dataset: a file, or several one after
// another. It is for one goroutine.
type Reader struct {
	opt   Options
	parts []*part
	at    int // the part that is read, or that is next
	src   source

	columns    *columns // the mapping, for every file to start from
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
	scanning   bool
	sound      bool // the scan found no bad line
}

// errEnded says that done tells how the reading ended.
var errEnded = errors.New("the reading has ended")

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
		case err == errEnded:
		case errors.As(err, &le) && r.sound:
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
	if err := r.advance(); err != nil {
		return nil, err
	}
	r.countRow()
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

func (r *Reader) countRow() {
	r.row++
	r.parts[r.at].rows++
}

// advance goes to the next record, over the end of a file to the next one.
func (r *Reader) advance() error {
	for {
		if r.src == nil {
			if err := r.startPart(); err != nil {
				return err
			}
		}
		err := r.src.next()
		var f recordError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &f):
			r.countRow()
			return r.lineError(f.fault)
		case err != io.EOF:
			return r.readError(err)
		}
		if r.done = r.endPart(); r.done != nil {
			return errEnded
		}
	}
}

// readError is an error of reading, or of what a file is packed in.
func (r *Reader) readError(err error) error {
	p := r.parts[r.at]
	var packed *unpackError
	if errors.As(err, &packed) {
		f := faultf("%v after %s", packed, plural(p.rows, "row"))
		f.err = err
		return p.fault(f.withHint("get the file again, or pack it again; \"" + string(packed.how) + " -t\" checks one"))
	}
	return fmt.Errorf("read %s after row %d: %w", p.path, r.row, err)
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
		if r.parts[r.at].format == Parquet {
			here.line = here.row // it has no lines
		}
		e.id, e.first, e.twice = r.ids.add(s.ID, generated, here)
		if e.twice || e.id != s.ID {
			r.odd[r.row] = e
		}
	}
	if e.twice {
		return faultf("the id %s is that of row %d (%s) as well", quoted(s.ID), e.first.row, r.where(e.first)).
			withHint("ids must be unique: results are kept, compared and resumed by them")
	}
	if e.id != "" && e.id != s.ID {
		s.ID = e.id
		r.dec.warn(warnIdentical)
	}
	return nil
}

// where says in which line, and of several files in which, an earlier row
// stands.
func (r *Reader) where(at place) string {
	line := "line " + itoa(int(at.line))
	for i, p := range r.parts {
		if row := int(at.row) - p.first; row < 1 || row > p.rows || i > r.at {
			continue
		}
		if len(r.parts) == 1 {
			break
		}
		if p.format == Parquet {
			return p.path
		}
		return p.path + ":" + itoa(int(at.line))
	}
	if r.parts[r.at].format == Parquet {
		return "in the same file"
	}
	return line
}

func (r *Reader) lineError(f *fault) *LineError {
	rec := r.src.record()
	line, pos := rec.place(f.off)
	return &LineError{
		File: r.parts[r.at].path, Line: line, Row: r.row, Column: f.column, Offset: pos,
		Reason: f.reason, Hint: f.hint, Err: f.err, fatal: f.fatal,
	}
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
	return r.parts[min(r.at, len(r.parts)-1)].fault(f)
}

// startPart begins with the file that is next; io.EOF after the last.
func (r *Reader) startPart() error {
	for r.at < len(r.parts) && r.parts[r.at].empty {
		r.parts[r.at].first = r.row
		r.warnAt(warnEmptyFile, 0, 0)
		r.at++
	}
	if r.at >= len(r.parts) {
		r.done = io.EOF
		return errEnded
	}
	p := r.parts[r.at]
	p.first, p.columns = r.row, r.columns.fork()
	r.dec.columns, r.dec.charset = p.columns, p.charset
	if p.beir {
		p.columns.adopt(shapeOf(BEIR))
		for range p.gaps {
			r.warnAt(warnCorpusGap, 0, 0)
		}
	}
	if err := p.start(&r.opt, r.scanning); err != nil {
		return err
	}
	if p.doubtful {
		r.warnAt(warnEncoding, 0, 0)
	}
	return r.startSource(p)
}

// endPart looks, at the end of a file, whether it is still what was scanned,
// and goes to the next.
func (r *Reader) endPart() error {
	p := r.parts[r.at]
	if err := p.drain(); err != nil {
		return r.readError(err)
	}
	if r.scanning {
		s := &scanned{size: p.read}
		s.sum, s.fast = p.print.sum()
		p.scanned = s
	}
	same, grew := p.same()
	if !same {
		return r.changed(nil)
	}
	if grew {
		r.warnAt(warnGrew, 0, 0)
	}
	r.stopSource()
	if err := p.release(len(r.parts) <= keepOpen); err != nil {
		return fmt.Errorf("read %s: %w", p.path, err)
	}
	r.at++
	return nil
}

// Rewind starts over with the first record.
func (r *Reader) Rewind() error {
	r.stopSource()
	for _, p := range r.parts {
		if err := p.release(len(r.parts) <= keepOpen); err != nil {
			return fmt.Errorf("rewind %s: %w", p.path, err)
		}
		p.first, p.rows, p.columns = 0, 0, nil
	}
	r.at, r.row, r.done = 0, 0, nil
	r.bad, r.badCount = nil, 0
	r.warned = warnings{tell: r.opt.Warn, told: r.warned.told}
	r.ids, r.noID = nil, 0
	if r.exceptions == nil {
		r.ids, r.odd = newTracker(), make(map[int]exception)
	}
	return nil
}

// startSource passes over what a format has ahead of its records.
func (r *Reader) startSource(p *part) error {
	if p.format == Parquet {
		src, err := openParquet(p, r.opt.MaxRecord)
		if err != nil {
			return err
		}
		r.src = src
		return nil
	}
	in, err := p.text()
	if err != nil {
		return r.readError(err)
	}
	limit := r.opt.MaxRecord
	switch {
	case p.doc != nil:
		r.src = p.startDocument(in, limit)
	case p.format == JSON:
		r.src = &jsonStream{in: in, max: limit, array: true, line: 1}
	case p.format == JSONL && p.multi:
		r.src = &jsonStream{in: in, max: limit, line: 1}
	case p.format == JSONL:
		r.src = newJSONBlocks(in, limit, &r.dec)
	default:
		c := &csvReader{lines: lineReader{in: in, max: limit, eol: p.eol}, delim: p.delim, sepLine: p.sepLine}
		r.src = c
		if err := c.readHeader(p.columns, len(r.parts) == 1); err != nil && err != io.EOF {
			var f recordError
			if errors.As(err, &f) {
				le := r.lineError(f.fault)
				le.Row = 0
				return le
			}
			return r.readError(err)
		}
	}
	return nil
}

// stopSource ends what a source does ahead of its reader.
func (r *Reader) stopSource() {
	if s, ok := r.src.(interface{ stop() }); ok {
		s.stop()
	}
	r.src = nil
}

func (r *Reader) warnAt(k warnKind, row, line int) {
	r.warned.add(k, r.parts[r.at].path, row, line)
}

// Format is the format that was found: that of all files, or [Mixed].
func (r *Reader) Format() Format {
	var format Format
	for _, p := range r.parts {
		switch {
		case p.empty || p.shownFormat() == format:
		case format == "":
			format = p.shownFormat()
		default:
			return Mixed
		}
	}
	return format
}

// Columns tells which column feeds which field, in order of appearance, as far
// as the files were read in this pass, in all of them together.
func (r *Reader) Columns() []Column {
	var all []Column
	for _, p := range r.parts {
		if p.columns == nil {
			continue
		}
		if len(r.parts) == 1 {
			return p.columns.list()
		}
		for _, c := range p.columns.list() {
			i := slices.IndexFunc(all, func(o Column) bool { return o.Name == c.Name && o.Field == c.Field })
			if i < 0 {
				all = append(all, c)
				continue
			}
			all[i].Rows += c.Rows
		}
	}
	return all
}

// Shape is whose way of laying out records was recognised so far: that of all
// files, or [Mixed].
func (r *Reader) Shape() Format {
	var shape Format
	for _, p := range r.parts {
		switch {
		case p.columns == nil || p.columns.shape == nil || p.columns.format() == shape:
		case shape == "":
			shape = p.columns.format()
		default:
			return Mixed
		}
	}
	if shape == "" {
		return Plain
	}
	return shape
}

// unseen returns a column that Options.Columns names and no file has, or "".
func (r *Reader) unseen() (name string, field eval.Field) {
	for _, name := range slices.Sorted(maps.Keys(r.columns.byColumn)) {
		if !slices.ContainsFunc(r.parts, func(p *part) bool { return p.columns != nil && p.columns.known[name] != nil }) {
			return name, r.columns.byColumn[name]
		}
	}
	return "", ""
}

// Warnings returns the warnings of this pass so far, one of each kind.
func (r *Reader) Warnings() []Warning { return r.warned.list() }

// Bad returns the bad lines of this pass so far: the first Options.KeepBad of
// them, and how many there are in all.
func (r *Reader) Bad() (kept []*LineError, count int) { return r.bad, r.badCount }

// Close closes the files and removes what was kept of standard input.
func (r *Reader) Close() error {
	r.stopSource()
	if r.done == nil {
		r.done = errors.New("the reader is closed")
	}
	var errs []error
	for _, p := range r.parts {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

// name is what the dataset is called in messages.
func (r *Reader) name() string {
	switch n := len(r.parts) - 1; n {
	case 0:
		return r.parts[0].path
	case 1:
		return r.parts[0].path + " and " + r.parts[1].path
	default:
		return r.parts[0].path + " and " + plural(n, "further file")
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// formatNames lists the formats for a message.
func formatNames() string {
	return strings.Join([]string{string(JSONL), string(JSON), string(CSV), string(TSV), string(Parquet)}, ", ")
}
