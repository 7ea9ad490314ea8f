package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// beirTexts is up to how many retrieved documents a query may have for their
// texts to be taken: a thousand contexts are nothing that a judge can read.
const beirTexts = 50

// beir is a BEIR dataset: a folder with corpus.jsonl, queries.jsonl and
// qrels/*.tsv, and perhaps a run of a retrieval system.
//
// It is read into records with the canonical names: the questions that are
// judged, with the grades of their documents, and what the run retrieved. The
// judgements and the run are in memory; of the corpus, where each document
// that they name begins.
type beir struct {
	dir    string
	qrels  string
	run    string // "" for none
	grades map[string]map[string]float64
	ranked map[string][]string // by the run, best first
	corpus *os.File
	at     map[string]int64 // of the documents that are named
	texts  bool             // whether what was retrieved comes with its text
	gaps   int              // queries without texts, since the corpus lacks a document
}

// findBEIR looks whether the path is a folder of BEIR, or the judgements in
// one, which choose a split.
func findBEIR(path string) (*beir, *fault) {
	dir, qrels := path, ""
	if st, err := os.Stat(path); err != nil {
		return nil, nil
	} else if !st.IsDir() {
		if filepath.Ext(path) != ".tsv" || filepath.Base(filepath.Dir(path)) != "qrels" {
			return nil, nil
		}
		dir, qrels = filepath.Dir(filepath.Dir(path)), path
	}
	if !isFile(filepath.Join(dir, "queries.jsonl")) {
		return nil, nil
	}
	b := &beir{dir: dir, qrels: qrels}
	if b.qrels == "" {
		var f *fault
		if b.qrels, f = b.split(); f != nil {
			return nil, f
		}
	}
	runs, f := b.runs()
	if f != nil {
		return nil, f
	}
	b.run = runs
	return b, nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// split chooses the judgements: test, or the only ones there are.
func (b *beir) split() (string, *fault) {
	files, _ := filepath.Glob(filepath.Join(b.dir, "qrels", "*.tsv"))
	if test := filepath.Join(b.dir, "qrels", "test.tsv"); slices.Contains(files, test) {
		return test, nil
	}
	switch len(files) {
	case 0:
		return "", faultf("looks like a BEIR dataset, but has no judgements").withHint("they belong into qrels/test.tsv in it")
	case 1:
		return files[0], nil
	}
	return "", faultf("is a BEIR dataset with several splits and no test.tsv: %s", baseNames(files)).
		withHint("name the split that is meant: " + files[0])
}

// runs finds the one run in the folder.
func (b *beir) runs() (string, *fault) {
	var found []string
	for _, pattern := range []string{"run.trec", "run.txt", "run.tsv", "*.run"} {
		files, _ := filepath.Glob(filepath.Join(b.dir, pattern))
		found = append(found, files...)
	}
	if len(found) > 1 {
		return "", faultf("holds several runs: %s", baseNames(found)).withHint("leave one of them in the folder")
	}
	return strings.Join(found, ""), nil
}

func baseNames(files []string) string {
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return strings.Join(names, ", ")
}

// lineFault is a fault on a line of one of the files.
func lineFault(path string, line int, f *fault) error {
	return &LineError{File: path, Line: line, Reason: f.reason, Hint: f.hint, fatal: true}
}

// eachLine reads a file by lines that are not blank.
func eachLine(path string, limit int, visit func(line int, at int64, b []byte) *fault) error {
	f, err := os.Open(path)
	if err != nil {
		return lineFault(path, 0, openFault(err))
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	at := int64(0)
	for line := 1; ; line++ {
		b, err := readLine(in, limit)
		if len(b) == 0 && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF {
			if err == errTooLong {
				return lineFault(path, line, tooLong(limit))
			}
			return fmt.Errorf("read %s: %w", path, err)
		}
		size, start := int64(len(b)), at
		if line == 1 {
			b = bytes.TrimPrefix(b, []byte(bom))
			start += size - int64(len(b))
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			f := checkUTF8(b)
			if f == nil {
				f = visit(line, start, b)
			}
			if f != nil {
				return lineFault(path, line, f)
			}
		}
		at += size
	}
}

// readLine reads a line with its end.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		b, err := in.ReadSlice('\n')
		if len(line)+len(b) > limit {
			return nil, errTooLong
		}
		if line == nil && err == nil {
			return b, nil
		}
		line = append(line, b...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// write writes the samples as JSONL with the canonical names.
func (b *beir) write(out io.Writer, limit int) error {
	if err := b.readQrels(limit); err != nil {
		return err
	}
	if b.run != "" {
		if err := b.readRun(limit); err != nil {
			return err
		}
	}
	if err := b.findDocuments(limit); err != nil {
		return err
	}
	if b.corpus != nil {
		defer b.corpus.Close()
	}
	w := bufio.NewWriterSize(out, 1<<20)
	asked := map[string]bool{}
	path := filepath.Join(b.dir, "queries.jsonl")
	err := eachLine(path, limit, func(line int, _ int64, raw []byte) *fault {
		v, f := parseValue(raw)
		if f != nil {
			return f
		}
		id, text := memberText(v, "_id"), memberText(v, "text")
		if id == "" || text == "" {
			return faultf("is no query of BEIR: it lacks _id or text")
		}
		if b.grades[id] == nil {
			return nil // of another split
		}
		if asked[id] {
			return faultf("the id %s stands twice", quoted(id))
		}
		asked[id] = true
		record, f := b.record(id, text, member(v, "metadata"), limit)
		if f != nil {
			return f
		}
		if _, err := w.Write(record); err != nil {
			f := faultf("%v", err)
			f.err = err
			return f
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(b.grades)) {
		if !asked[id] {
			return lineFault(b.qrels, 0, faultf("judges the query %s, which queries.jsonl does not have", quoted(id)))
		}
	}
	return w.Flush()
}

func memberText(v value, name string) string {
	m := member(v, name)
	if m.kind == kindNull || m.kind == kindArray || m.kind == kindObject {
		return ""
	}
	s, _ := m.text()
	return s
}

// record makes one sample. Relevant documents give their texts as reference
// contexts, the best first.
func (b *beir) record(id, text string, metadata value, limit int) ([]byte, *fault) {
	out := appendQuoted([]byte(`{"id":`), id)
	out = appendQuoted(append(out, `,"user_input":`...), text)
	relevant := slices.Sorted(maps.Keys(b.grades[id]))
	out = append(out, `,"reference_context_ids":{`...)
	for i, doc := range relevant {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, doc), ':')
		out = strconv.AppendFloat(out, b.grades[id][doc], 'g', -1, 64)
	}
	out = append(out, '}')
	relevant = slices.DeleteFunc(relevant, func(doc string) bool { return b.grades[id][doc] <= 0 })
	slices.SortStableFunc(relevant, func(x, y string) int { return cmp.Compare(b.grades[id][y], b.grades[id][x]) })
	var f *fault
	if out, f = b.appendTexts(out, "reference_contexts", relevant, limit); f != nil {
		return nil, f
	}
	if b.run != "" {
		out = append(out, `,"retrieved_context_ids":[`...)
		for i, doc := range b.ranked[id] {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendQuoted(out, doc)
		}
		out = append(out, ']')
		if b.texts {
			if out, f = b.appendTexts(out, "retrieved_contexts", b.ranked[id], limit); f != nil {
				return nil, f
			}
		}
	}
	if metadata.kind == kindObject {
		out = append(append(out, `,"metadata":`...), bytes.ReplaceAll(metadata.raw, []byte("\n"), []byte(" "))...)
	}
	return append(out, '}', '\n'), nil
}

// appendTexts adds the texts of documents, if all of them are in the corpus.
func (b *beir) appendTexts(out []byte, name string, docs []string, limit int) ([]byte, *fault) {
	if b.corpus == nil {
		return out, nil
	}
	for _, doc := range docs {
		if _, known := b.at[doc]; !known {
			b.gaps++
			return out, nil
		}
	}
	out = append(appendQuoted(append(out, ','), name), ':', '[')
	for i, doc := range docs {
		if i > 0 {
			out = append(out, ',')
		}
		in := bufio.NewReader(io.NewSectionReader(b.corpus, b.at[doc], math.MaxInt64-b.at[doc]))
		line, err := readLine(in, limit)
		if err != nil && err != io.EOF {
			return nil, faultf("the document %s can't be read again: %v", quoted(doc), err)
		}
		v, f := parseValue(bytes.TrimSpace(line))
		if f != nil {
			return nil, f
		}
		text := memberText(v, "text")
		if title := memberText(v, "title"); title != "" {
			text = title + "\n" + text
		}
		out = appendQuoted(out, text)
	}
	return append(out, ']'), nil
}

// readQrels reads the judgements: query-id, corpus-id and score under a
// header, or in the four columns of TREC.
func (b *beir) readQrels(limit int) error {
	b.grades = map[string]map[string]float64{}
	err := eachLine(b.qrels, limit, func(line int, _ int64, raw []byte) *fault {
		cells := strings.Split(string(raw), "\t")
		if len(cells) == 1 {
			cells = strings.Fields(string(raw))
		}
		if line == 1 && strings.HasPrefix(cells[0], "query") {
			return nil
		}
		if len(cells) == 4 {
			cells = []string{cells[0], cells[2], cells[3]}
		}
		if len(cells) != 3 {
			return faultf("has %d columns, where query-id, corpus-id and score are expected", len(cells))
		}
		grade, err := strconv.ParseFloat(strings.TrimSpace(cells[2]), 64)
		if err != nil || math.IsInf(grade, 0) || math.IsNaN(grade) {
			return faultf("the score %s is not a number", quoted(cells[2]))
		}
		query, doc := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])
		if query == "" || doc == "" {
			return faultf("an id is blank")
		}
		if b.grades[query] == nil {
			b.grades[query] = map[string]float64{}
		}
		if _, twice := b.grades[query][doc]; twice {
			return faultf("the query %s and the document %s are judged twice", quoted(query), quoted(doc))
		}
		b.grades[query][doc] = grade
		return nil
	})
	if err == nil && len(b.grades) == 0 {
		err = lineFault(b.qrels, 0, faultf("holds no judgements"))
	}
	return err
}

// readRun reads a run of TREC: query, Q0, document, rank, score, name. The
// order is that of trec_eval: by score, ties by descending id.
func (b *beir) readRun(limit int) error {
	type hit struct {
		doc   string
		score float32
	}
	hits, seen := map[string][]hit{}, map[[2]string]bool{}
	err := eachLine(b.run, limit, func(line int, _ int64, raw []byte) *fault {
		cells := strings.Fields(string(raw))
		if len(cells) != 6 {
			return faultf("has %d columns, where a run has 6: query, Q0, document, rank, score, name", len(cells))
		}
		score, err := strconv.ParseFloat(cells[4], 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(score) {
			return faultf("the score %s is not a number", quoted(cells[4]))
		}
		key := [2]string{cells[0], cells[2]}
		if seen[key] {
			return faultf("the document %s stands twice for the query %s", quoted(cells[2]), quoted(cells[0]))
		}
		seen[key] = true
		hits[cells[0]] = append(hits[cells[0]], hit{cells[2], float32(score)})
		return nil
	})
	if err != nil {
		return err
	}
	b.ranked, b.texts = map[string][]string{}, true
	for query, list := range hits {
		slices.SortFunc(list, func(x, y hit) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(y.doc, x.doc)) })
		docs := make([]string, len(list))
		for i, h := range list {
			docs[i] = h.doc
		}
		b.ranked[query] = docs
		b.texts = b.texts && (len(docs) <= beirTexts || b.grades[query] == nil)
	}
	return nil
}

// findDocuments notes where the documents begin whose texts are wanted.
func (b *beir) findDocuments(limit int) error {
	path := filepath.Join(b.dir, "corpus.jsonl")
	if !isFile(path) {
		return nil // ids alone
	}
	b.at = map[string]int64{}
	for query, docs := range b.grades {
		for doc, grade := range docs {
			if grade > 0 {
				b.at[doc] = -1
			}
		}
		if b.texts {
			for _, doc := range b.ranked[query] {
				b.at[doc] = -1
			}
		}
	}
	err := eachLine(path, limit, func(line int, at int64, raw []byte) *fault {
		v, f := parseValue(raw)
		if f != nil {
			return f
		}
		id := memberText(v, "_id")
		old, wanted := b.at[id]
		if !wanted {
			return nil
		}
		if old >= 0 {
			return faultf("the id %s stands twice", quoted(id))
		}
		b.at[id] = at
		return nil
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(b.at, func(_ string, at int64) bool { return at < 0 })
	b.corpus, err = os.Open(path)
	return err
}
