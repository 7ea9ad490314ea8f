package dataset

import (
	"encoding/hex"
	"errors"
	"io"

	"github.com/ragjudge/ragjudge/eval"
)

// Info is what a scan found.
type Info struct {
	// Path is the path as it was given.
	Path string
	// Format is how the file is written.
	Format Format
	// Size is the length of the file in bytes.
	Size int64
	// SHA256 is the hash of the file's bytes, in hexadecimal.
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
	info := Info{Path: r.path, Format: r.format, Missing: make(map[eval.Field]int)}
	r.exceptions, r.scanned, r.hashing = nil, nil, true
	if err := r.Rewind(); err != nil {
		return info, err
	}
	failure := r.scanAll(&info)
	info.Size, info.SHA256 = r.read, hex.EncodeToString(r.digest.Sum(nil))
	info.Columns, info.Warnings, info.NoID = r.Columns(), r.Warnings(), r.noID
	err := r.verdict(&info, failure)
	r.exceptions, r.scanned = r.odd, &scanned{size: info.Size, sum: info.SHA256, bad: info.BadLines}
	if again := r.Rewind(); err == nil {
		err = again
	}
	return info, err
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
	if errors.As(failure, &le) && le.Line > 0 {
		r.noteBad(le)
	}
	info.Bad, info.BadLines = r.Bad()
	switch {
	case failure != nil && (le == nil || r.opt.SkipBadLines || info.BadLines <= 1):
		return failure
	case info.BadLines > 0 && !r.opt.SkipBadLines:
		return &BadInputError{File: r.path, Count: info.BadLines, Bad: info.Bad}
	}
	if info.Rows == 0 {
		return r.fileError(noRows(info))
	}
	if name, field := r.columns.unseen(); name != "" {
		return r.fileError(faultf("[dataset.columns] names the column %s for %s, but no record has it", quoted(name), field))
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
