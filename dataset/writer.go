package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/eval"
)

// Writer writes samples under their canonical names, so that a Reader gives
// the same samples back: ids, texts byte for byte, metadata, and the difference
// between a list that is missing and one that is empty. Only Row is not kept.
type Writer struct {
	format  Format
	out     *bufio.Writer
	parquet *parquetWriter
	buf     []byte
	rows    int
	err     error
}

// NewWriter writes to w as JSONL, one object a line, or as Parquet, with list
// columns as Hugging Face datasets have them: contexts are lists of texts,
// reference_context_ids a list of id and grade, metadata a text that holds a
// JSON object. Close ends the file, and does not close w.
func NewWriter(w io.Writer, format Format) (*Writer, error) {
	out := &Writer{format: format}
	switch format {
	case JSONL:
		out.out = bufio.NewWriterSize(w, 64<<10)
	case Parquet:
		out.parquet = newParquetWriter(w)
	default:
		return nil, fmt.Errorf("write a dataset: the format %s is neither %s nor %s", quoted(string(format)), JSONL, Parquet)
	}
	return out, nil
}

// Write adds a sample. An error of a sample that can't be written (text that is
// not UTF-8, a grade that is no number, metadata that is no JSON) leaves the
// file as it was; an error of writing is final.
func (w *Writer) Write(s *eval.Sample) error {
	if w.err != nil {
		return w.err
	}
	if err := checkSample(s); err != nil {
		return fmt.Errorf("write the sample %s: %w", quoted(s.ID), err)
	}
	if w.parquet != nil {
		w.err = w.parquet.write(s)
	} else {
		w.buf = append(appendSample(w.buf[:0], s), '\n')
		_, w.err = w.out.Write(w.buf)
	}
	if w.err != nil {
		w.err = fmt.Errorf("write a dataset after %s: %w", plural(w.rows, "row"), w.err)
		return w.err
	}
	w.rows++
	return nil
}

// Rows is the number of samples written so far.
func (w *Writer) Rows() int { return w.rows }

// Close writes what is still held, and the end of the file.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.parquet != nil {
		w.err = w.parquet.close()
	} else {
		w.err = w.out.Flush()
	}
	if w.err != nil {
		w.err = fmt.Errorf("write a dataset after %s: %w", plural(w.rows, "row"), w.err)
		return w.err
	}
	w.err = errors.New("write a dataset: the writer is closed")
	return nil
}

// checkSample refuses what would come back as something else.
func checkSample(s *eval.Sample) error {
	texts := []string{s.ID, s.UserInput, s.Response, s.Reference, s.Category}
	texts = slices.Concat(texts, s.OtherReferences, s.RetrievedContexts, s.RetrievedContextIDs, s.ReferenceContexts)
	for id, grade := range s.ReferenceContextIDs {
		if math.IsNaN(grade) || math.IsInf(grade, 0) {
			return fmt.Errorf("the grade of %s is %v", quoted(id), grade)
		}
		texts = append(texts, id)
	}
	for name, raw := range s.Metadata {
		if v, f := parseValue(raw); f != nil || !utf8.Valid(v.raw) {
			return fmt.Errorf("the metadata %s is not JSON", quoted(name))
		}
		texts = append(texts, name)
	}
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return errors.New("a text is not UTF-8")
		}
	}
	return nil
}

// appendSample writes a sample as a JSON object, without what it lacks.
func appendSample(b []byte, s *eval.Sample) []byte {
	name := func(f eval.Field) {
		sep := byte(',')
		if len(b) == 0 {
			sep = '{'
		}
		b = append(appendQuoted(append(b, sep), string(f)), ':')
	}
	text := func(f eval.Field, t string) {
		if t != "" {
			name(f)
			b = appendQuoted(b, t)
		}
	}
	list := func(f eval.Field, l []string) {
		if l != nil {
			name(f)
			b = appendList(b, l)
		}
	}
	text(eval.FieldID, s.ID)
	text(eval.FieldUserInput, s.UserInput)
	text(eval.FieldResponse, s.Response)
	list(eval.FieldRetrievedContexts, s.RetrievedContexts)
	list(eval.FieldRetrievedContextIDs, s.RetrievedContextIDs)
	text(eval.FieldReference, s.Reference)
	list(eval.FieldOtherReferences, s.OtherReferences)
	list(eval.FieldReferenceContexts, s.ReferenceContexts)
	if s.ReferenceContextIDs != nil {
		name(eval.FieldReferenceContextIDs)
		b = appendGrades(b, s.ReferenceContextIDs)
	}
	text(eval.FieldCategory, s.Category)
	if s.Metadata != nil {
		name(eval.FieldMetadata)
		b = appendMetadata(b, s.Metadata)
	}
	if len(b) == 0 {
		b = append(b, '{')
	}
	return append(b, '}')
}

func appendList(b []byte, l []string) []byte {
	b = append(b, '[')
	for i, t := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, t)
	}
	return append(b, ']')
}

// appendGrades writes relevant ids: a list where all count alike, else an
// object of grades.
func appendGrades(b []byte, grades map[string]float64) []byte {
	ids := slices.Sorted(maps.Keys(grades))
	if !slices.ContainsFunc(ids, func(id string) bool { return grades[id] != 1 }) {
		return appendList(b, ids)
	}
	for i, id := range ids {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		b = append(appendQuoted(append(b, sep), id), ':')
		b = strconv.AppendFloat(b, grades[id], 'g', -1, 64)
	}
	return append(b, '}')
}

// appendMetadata writes the members as they are, on one line.
func appendMetadata(b []byte, m map[string]json.RawMessage) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, name), ':')
		raw := bytes.TrimSpace(m[name])
		if bytes.ContainsAny(raw, "\r\n") {
			var line bytes.Buffer
			if json.Compact(&line, raw) == nil { // it was checked
				raw = line.Bytes()
			}
		}
		b = append(b, raw...)
	}
	return append(b, '}')
}
