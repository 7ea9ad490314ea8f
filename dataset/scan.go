package dataset

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ragjudge/ragjudge/eval"
)

// Info is what a scan found.
type Info struct {
	// Path is the path as it was given; of several files, all in one text.
	Path string
	// Files tells of each file, in order.
	Files []FileInfo
	// Format is how the files are written; Mixed if not all alike.
	Format Format
	// Shape is whose way of laying out records was recognised, such as DeepEval;
	// Plain for none but the canonical names and their aliases.
	Shape Format
	// Size is the length of the files in bytes, as they are stored.
	Size int64
	// SHA256 is the hash of the file's bytes as they are stored, in
	// hexadecimal; of several files, the hash over their hashes in order.
	SHA256 string
	// Rows is the number of samples that Next gives.
	Rows int
	// BadLines counts the bad lines; Bad keeps the first of them.
	BadLines int
	Bad      []*LineError
	// NoID counts the samples whose id is a hash of their content.
	NoID int
	// Missing counts, per field, the samples that lack it, in the sense of
	// eval.Sample.Has. Ids and metadata are not in it.
	Missing map[eval.Field]int
	// NothingRetrieved counts the samples whose contexts are known to be empty.
	NothingRetrieved int
	// LikeErrors counts the responses that look like an API error or a stack
	// trace; LikeErrorRows holds the first ten rows.
	LikeErrors    int
	LikeErrorRows []int
	// Columns tells which column feeds which field.
	Columns []Column
	// Warnings holds one warning of each kind.
	Warnings []Warning
}

// FileInfo is what a scan found about one file of a dataset.
type FileInfo struct {
	// Path is the path as it was given, or as it matched a pattern.
	Path string
	// Format is how it is written; empty for a file that holds nothing.
	Format Format
	// Delimiter separates the fields of CSV; 0 otherwise.
	Delimiter byte
	// Compression is what it is packed in, from the outside; empty if it isn't.
	Compression []Compression
	// Encoding is that of its text, such as "utf-8" or "windows-1252".
	Encoding string
	// Size is its length in bytes as it is stored.
	Size int64
	// SHA256 is the hash of these bytes, in hexadecimal.
	SHA256 string
	// Rows is the number of its records, bad ones included.
	Rows int
}

// Scan opens a file, scans it and closes it: see [Reader.Scan].
func Scan(path string, opt Options) (Info, error) {
	r, err := Open(path, opt)
	if err != nil {
		return Info{Path: path}, err
	}
	info, err := r.Scan()
	if shut := r.Close(); err == nil {
		err = shut
	}
	return info, err
}

// Scan reads the whole file from its start, so that everything that is wrong
// with it is known before the first call is paid, and rewinds. Next then gives
// the samples that were scanned, and no others.
//
// The error is a *BadInputError if there are bad lines (unless they are to be
// skipped), or a *LineError if the file can't be read on or holds no sample.
// Info is filled either way, as far as the reading went.
func (r *Reader) Scan() (Info, error) {
	info := Info{Path: r.name(), Format: r.Format(), Missing: make(map[eval.Field]int)}
	r.exceptions, r.sound, r.scanning = nil, false, true
	for _, p := range r.parts {
		p.scanned = nil
	}
	if err := r.Rewind(); err != nil {
		return info, err
	}
	failure := r.scanAll(&info)
	info.addFiles(r.parts)
	info.Columns, info.Warnings, info.NoID = r.Columns(), r.Warnings(), r.noID
	info.Shape = r.Shape()
	err := r.verdict(&info, failure)
	r.exceptions, r.scanning, r.sound = r.odd, false, info.BadLines == 0 && failure == nil
	if again := r.Rewind(); err == nil {
		err = again
	}
	return info, err
}

// addFiles tells of the files as far as they were read.
func (info *Info) addFiles(parts []*part) {
	all := sha256.New()
	for _, p := range parts {
		f := FileInfo{Path: p.path, Format: p.shownFormat(), Compression: p.packing, Rows: p.rows}
		if p.charset != nil {
			f.Encoding = p.charset.name
		}
		if p.format == CSV || p.format == TSV {
			f.Delimiter = p.delim
		}
		if p.empty && p.scanned == nil {
			p.scanned = &scanned{sum: fmt.Sprintf("%x", sha256.Sum256(nil))}
		}
		if p.scanned != nil {
			f.Size, f.SHA256 = p.scanned.size, p.scanned.sum
		}
		fmt.Fprintln(all, f.SHA256)
		info.Size += f.Size
		info.SHA256 = f.SHA256
		info.Files = append(info.Files, f)
	}
	if len(parts) > 1 {
		info.SHA256 = fmt.Sprintf("%x", all.Sum(nil))
	}
}

// scanAll reads to the end and returns what stopped it before.
func (r *Reader) scanAll(info *Info) error {
	for {
		s, err := r.Next()
		var le *LineError
		switch {
		case err == nil:
			info.add(s)
		case err == io.EOF:
			return nil
		case !errors.As(err, &le) || le.fatal:
			return err
		}
	}
}

// verdict decides whether what was found may be scored.
func (r *Reader) verdict(info *Info, failure error) error {
	var le *LineError
	if errors.As(failure, &le) {
		r.noteBad(le)
	}
	info.Bad, info.BadLines = r.Bad()
	switch {
	case failure != nil && (le == nil || r.opt.SkipBadLines || info.BadLines <= 1):
		return failure
	case info.BadLines > 0 && !r.opt.SkipBadLines:
		return &BadInputError{File: r.name(), Count: info.BadLines, Bad: info.Bad}
	}
	if info.Rows == 0 {
		return r.parts[0].fault(noRows(info))
	}
	if name, field := r.unseen(); name != "" {
		return r.parts[0].fault(faultf("[dataset.columns] names the column %s for %s, but no record has it", quoted(name), field))
	}
	return nil
}

func noRows(info *Info) *fault {
	switch {
	case info.BadLines > 0:
		return faultf("holds no samples: each of its %s is bad", plural(info.BadLines, "line"))
	case info.Format == CSV || info.Format == TSV:
		return faultf("holds no samples: there is a header line and nothing below it")
	}
	return faultf("holds no samples")
}

// counted are the fields that Info.Missing counts.
var counted = []eval.Field{
	eval.FieldUserInput, eval.FieldResponse, eval.FieldRetrievedContexts, eval.FieldReference, eval.FieldReferenceContexts,
	eval.FieldRetrievedContextIDs, eval.FieldReferenceContextIDs, eval.FieldCategory,
}

func (info *Info) add(s *eval.Sample) {
	const mostRows = 10
	info.Rows++
	for _, f := range counted {
		if !s.Has(f) {
			info.Missing[f]++
		}
	}
	if s.RetrievedContexts != nil && len(s.RetrievedContexts) == 0 {
		info.NothingRetrieved++
	}
	if looksLikeError(s.Response) {
		info.LikeErrors++
		if len(info.LikeErrorRows) < mostRows {
			info.LikeErrorRows = append(info.LikeErrorRows, s.Row)
		}
	}
}
