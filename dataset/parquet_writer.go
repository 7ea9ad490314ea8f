package dataset

import (
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/ragjudge/ragjudge/eval"
)

// rowGroupBytes is how much text goes into a row group, which is held in
// memory until it is whole.
const rowGroupBytes = 32 << 20

// parquetRow is the schema that the Writer writes; its rows are put together by
// parquetWriter, because nil and an empty list must not be one.
type parquetRow struct {
	ID                  string         `parquet:"id"`
	UserInput           *string        `parquet:"user_input,optional"`
	Response            *string        `parquet:"response,optional"`
	RetrievedContexts   []string       `parquet:"retrieved_contexts,optional,list"`
	RetrievedContextIDs []string       `parquet:"retrieved_context_ids,optional,list"`
	Reference           *string        `parquet:"reference,optional"`
	OtherReferences     []string       `parquet:"other_references,optional,list"`
	ReferenceContexts   []string       `parquet:"reference_contexts,optional,list"`
	ReferenceContextIDs []parquetGrade `parquet:"reference_context_ids,optional,list"`
	Category            *string        `parquet:"category,optional"`
	Metadata            *string        `parquet:"metadata,optional"`
}

type parquetGrade struct {
	ID    string  `parquet:"id"`
	Grade float64 `parquet:"grade"`
}

type parquetWriter struct {
	out   *parquet.GenericWriter[parquetRow]
	row   parquet.Row
	leaf  int
	bytes int // of text in the row group
	meta  []byte
}

func newParquetWriter(w io.Writer) *parquetWriter {
	return &parquetWriter{out: parquet.NewGenericWriter[parquetRow](w, parquet.Compression(&parquet.Zstd), parquet.KeyValueMetadata(writerKey, "1"))}
}

func (p *parquetWriter) write(s *eval.Sample) error {
	p.row, p.leaf = p.row[:0], 0
	p.add(s.ID, 0, 0)
	p.leaf++
	p.text(s.UserInput)
	p.text(s.Response)
	p.list(s.RetrievedContexts)
	p.list(s.RetrievedContextIDs)
	p.text(s.Reference)
	p.list(s.OtherReferences)
	p.list(s.ReferenceContexts)
	p.grades(s.ReferenceContextIDs)
	p.text(s.Category)
	p.meta = p.meta[:0]
	if s.Metadata != nil {
		p.meta = appendMetadata(p.meta, s.Metadata)
	}
	p.text(string(p.meta))
	if _, err := p.out.WriteRows([]parquet.Row{p.row}); err != nil {
		return err
	}
	if p.bytes < rowGroupBytes {
		return nil
	}
	p.bytes = 0
	return p.out.Flush()
}

// add adds a text to the current leaf, with its levels.
func (p *parquetWriter) add(t string, rep, def int) {
	p.bytes += len(t)
	p.row = append(p.row, parquet.ByteArrayValue([]byte(t)).Level(rep, def, p.leaf))
}

// null adds that there is nothing from the level on.
func (p *parquetWriter) null(def int) {
	p.row = append(p.row, parquet.NullValue().Level(0, def, p.leaf))
}

// text adds a text; "" is missing.
func (p *parquetWriter) text(t string) {
	if t == "" {
		p.null(0)
	} else {
		p.add(t, 0, 1)
	}
	p.leaf++
}

// list adds a list: nil is missing, and differs from an empty one.
func (p *parquetWriter) list(l []string) {
	switch {
	case l == nil:
		p.null(0)
	case len(l) == 0:
		p.null(1)
	}
	for i, t := range l {
		p.add(t, min(i, 1), 2)
	}
	p.leaf++
}

func (p *parquetWriter) grades(m map[string]float64) {
	ids := slices.Sorted(maps.Keys(m))
	if m != nil && ids == nil {
		ids = []string{}
	}
	p.list(ids)
	switch {
	case m == nil:
		p.null(0)
	case len(m) == 0:
		p.null(1)
	}
	for i, id := range ids {
		p.row = append(p.row, parquet.DoubleValue(m[id]).Level(min(i, 1), 2, p.leaf))
	}
	p.leaf++
}

func (p *parquetWriter) close() error { return p.out.Close() }
