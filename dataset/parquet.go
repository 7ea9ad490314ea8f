package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/ragjudge/ragjudge/eval"
)

// writerKey marks, in a Parquet file's footer, that null is a field that is
// missing, as the Writer writes it, and not a list that is known to be empty.
const writerKey = "ragjudge.samples"

// The bounds within which the parts of a Parquet file are believed.
const (
	maxFooter     = 256 << 20
	maxStructs    = 1 << 20 // in the footer: columns times row groups
	maxPageValues = 1 << 24
	maxInflation  = 1000 // how much longer than packed a page may be, over and above a record's limit
)

// detectParquet checks what can be checked without reading a page.
func (p *part) detectParquet(opt *Options) error {
	p.format = Parquet
	p.charset = utf8Text
	if opt.Format != "" && opt.Format != Parquet {
		return p.fault(faultf("is a Parquet file, not %s", opt.Format).withHint("leave the format out, and it is found"))
	}
	if len(p.packing) > 0 {
		return p.fault(faultf("is a Parquet file inside %s, which can't be read there", p.packing[0]).
			withHint("unpack it: a Parquet file is compressed by itself"))
	}
	f, err := p.openFooter()
	if err != nil {
		return err
	}
	if _, f := newParquetTree(f); f != nil {
		return p.fault(f)
	}
	return nil
}

// openFooter reads the footer of the file.
func (p *part) openFooter() (f *parquet.File, err error) {
	st, err := p.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.path, err)
	}
	size := st.Size()
	if p.scanned != nil {
		size = min(size, p.scanned.size)
	}
	if f := p.checkFooter(size); f != nil {
		return nil, p.fault(f)
	}
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, p.fault(damaged("its footer", fmt.Errorf("%v", r)))
		}
	}()
	f, err = parquet.OpenFile(p.file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, p.fault(damaged("its footer", err))
	}
	return f, nil
}

func damaged(what string, err error) *fault {
	f := faultf("is a damaged Parquet file: %s can't be read (%v)", what, err)
	f.err, f.fatal = err, true
	return f.withHint("get the file again; a file that is still being written has no footer yet")
}

// checkFooter walks over the footer.
func (p *part) checkFooter(size int64) *fault {
	var tail [8]byte
	if size < 12 {
		return damaged("its footer", errors.New("the file is too short"))
	}
	if _, err := p.file.ReadAt(tail[:], size-8); err != nil {
		return damaged("its footer", err)
	}
	switch string(tail[4:]) {
	case "PAR1":
	case "PARE":
		return faultf("is an encrypted Parquet file, which can't be read").withHint(asText)
	default:
		return damaged("its footer", errors.New("it does not end with PAR1: it was cut off"))
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 || n > maxFooter {
		return damaged("its footer", errThrift)
	}
	footer := make([]byte, n)
	if _, err := p.file.ReadAt(footer, size-8-n); err != nil {
		return damaged("its footer", err)
	}
	t := thrift{b: footer}
	if err := t.walk(0); err != nil {
		return damaged("its footer", err)
	}
	if t.structs > maxStructs || 4*t.structs > len(footer) {
		return damaged("its footer", errThrift)
	}
	return nil
}

// parquetReader reads a Parquet file row group by row group, and in it page by
// page. A row becomes a JSON object, so that a field means the same in every
// format.
type parquetReader struct {
	p     *part
	file  *parquet.File
	root  *parquetNode
	ours  bool // null is a member that is missing
	limit int

	group int // the row group that is read, from 1
	rows  parquet.Rows
	left  int64 // rows of the group that must still come
	batch []parquet.Row
	at, n int
	row   int
	rec   record
	buf   []byte

	assembler assembler
}

// openParquet begins with a file whose beginning was looked at before.
func openParquet(p *part, limit int) (source, error) {
	f, err := p.openFooter()
	if err != nil {
		return nil, err
	}
	r := &parquetReader{p: p, file: f, limit: limit, batch: make([]parquet.Row, 32)}
	root, fault := newParquetTree(f)
	if fault != nil {
		return nil, p.fault(fault)
	}
	r.root = root
	_, r.ours = f.Lookup(writerKey)
	r.assembler.limit = limit
	return r, nil
}

func (r *parquetReader) next() (err error) {
	defer func() {
		if x := recover(); x != nil { // what the library makes of damaged pages
			err = r.fail(fmt.Errorf("%v", x))
		}
	}()
	for r.at >= r.n {
		if err := r.read(); err != nil {
			return err
		}
	}
	r.row++
	r.at++
	r.rec = record{}
	r.buf = r.assembler.object(r.buf[:0], r.root, r.batch[r.at-1], r.ours)
	if len(r.buf) > r.limit {
		f := tooLong(r.limit)
		r.buf = nil
		return recordError{f}
	}
	r.rec.raw = r.buf
	return nil
}

// read reads further rows, of the next row group if need be.
func (r *parquetReader) read() error {
	groups := r.file.RowGroups()
	if r.rows == nil {
		if r.group == len(groups) {
			return io.EOF
		}
		g := groups[r.group]
		r.group++
		if g.NumRows() == 0 {
			return nil
		}
		if err := r.checkPages(r.group - 1); err != nil {
			return r.fail(err)
		}
		r.rows, r.left = g.Rows(), g.NumRows()
	}
	n, err := r.rows.ReadRows(r.batch)
	r.at, r.n, r.left = 0, n, r.left-int64(n)
	if err == nil && n > 0 {
		return nil
	}
	if err == nil || err == io.EOF {
		if err == nil || r.left != 0 && n == 0 {
			return r.fail(fmt.Errorf("%d rows of it are missing", r.left))
		}
		if n > 0 {
			return nil // the end comes again
		}
		done := r.rows.Close()
		r.rows = nil
		if done != nil {
			return r.fail(done)
		}
		return nil
	}
	return r.fail(err)
}

// fail is the end of a damaged file.
func (r *parquetReader) fail(err error) error {
	f := damaged(fmt.Sprintf("row group %d of %d", r.group, len(r.file.RowGroups())), err)
	f.reason += fmt.Sprintf(" after %s", plural(r.row, "row"))
	r.rec = record{}
	r.at, r.n = 0, 0
	return recordError{f}
}

// checkPages walks over the headers of the pages of a row group.
func (r *parquetReader) checkPages(group int) error {
	for i := range r.file.Metadata().RowGroups[group].Columns {
		c := &r.file.Metadata().RowGroups[group].Columns[i]
		if err := r.checkChunk(&c.MetaData); err != nil {
			return fmt.Errorf("column %v: %w", c.MetaData.PathInSchema, err)
		}
	}
	return nil
}

func (r *parquetReader) checkChunk(m *format.ColumnMetaData) error {
	at := m.DataPageOffset
	if m.DictionaryPageOffset > 0 {
		at = min(at, m.DictionaryPageOffset)
	}
	end := at + m.TotalCompressedSize
	if at < 4 || m.TotalCompressedSize < 0 || end > r.file.Size() || end < at {
		return errThrift
	}
	for at < end {
		n, packed, err := r.checkPage(at, end)
		if err != nil {
			return err
		}
		at += n + packed
	}
	return nil
}

// The fields of a page's header.
const (
	pageUnpacked, pagePacked                   = 2, 3
	dataPageValues, dictValues, dataPageV2Vals = 501, 701, 801
)

// checkPage checks one header and returns its length and that of its page.
func (r *parquetReader) checkPage(at, end int64) (n, packed int64, _ error) {
	for size := int64(1 << 10); ; size *= 8 {
		size = min(size, end-at)
		head := make([]byte, size)
		if _, err := r.p.file.ReadAt(head, at); err != nil {
			return 0, 0, err
		}
		t := thrift{b: head, ints: make(map[int]int64)}
		err := t.walk(0)
		if err == errThriftShort && size < end-at {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		packed := t.ints[pagePacked]
		unpacked := t.ints[pageUnpacked]
		left := end - at - int64(t.i)
		if packed < 0 || packed > left || unpacked < 0 || unpacked > int64(r.limit)+maxInflation*packed {
			return 0, 0, errThrift
		}
		for _, k := range []int{dataPageValues, dictValues, dataPageV2Vals} {
			if v := t.ints[k]; v < 0 || v > maxPageValues {
				return 0, 0, errThrift
			}
		}
		return int64(t.i), packed, nil
	}
}

func (r *parquetReader) record() record { return r.rec }

func (r *parquetReader) sample(d *decoder) (*eval.Sample, *fault) {
	s, f := d.json(r.rec.raw)
	if f != nil {
		f.off = -1 // of a text that no file has
	}
	return s, f
}

func (r *parquetReader) stop() {
	if r.rows != nil {
		defer func() { _ = recover() }() // of damaged pages
		_ = r.rows.Close()
		r.rows = nil
	}
}
