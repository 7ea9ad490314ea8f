package dataset

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
)

// Format is how a file is written.
type Format string

// The formats that can be read. Formats are told by content; naming one in
// Options.Format is only needed where that goes wrong.
const (
	// JSONL is one object a line, or objects one after another.
	JSONL Format = "jsonl"
	// JSON is one array of objects.
	JSON Format = "json"
	// CSV has a header line; the delimiter is found there.
	CSV Format = "csv"
	// TSV is CSV with tabs.
	TSV Format = "tsv"
)

// foreign lists what a file may be instead, by its first bytes.
var foreign = []struct{ magic, name, hint string }{
	{"PAR1", "a Parquet file", "write it as JSONL: df.to_json(path, orient=\"records\", lines=True)"},
	{"\x1f\x8b", "compressed with gzip", "unpack it, or pipe it in: gzip -dc FILE | ragjudge run --input -"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it, or pipe it in: zstd -dc FILE | ragjudge run --input -"},
	{"BZh", "compressed with bzip2", "unpack it, or pipe it in: bzip2 -dc FILE | ragjudge run --input -"},
	{"\xfd7zXZ\x00", "compressed with xz", "unpack it, or pipe it in: xz -dc FILE | ragjudge run --input -"},
	{"PK\x03\x04", "a spreadsheet (xlsx) or another zip archive", "save the sheet as \"CSV UTF-8\", or unpack the archive"},
	{"\xd0\xcf\x11\xe0", "an old Office file (xls)", "save the sheet as \"CSV UTF-8\""},
	{"SQLite format 3\x00", "an SQLite database", "export the table as CSV: sqlite3 -header -csv FILE \"select ...\""},
	{"ARROW1", "an Arrow file", "write it as JSONL"},
	{"ORC", "an ORC file", "write it as JSONL"},
	{"Obj\x01", "an Avro file", "write it as JSONL"},
	{"%PDF", "a PDF file", "samples are read from JSONL, JSON or CSV"},
	{"\xff\xfe\x00\x00", "UTF-32 text", "convert it: iconv -f UTF-32 -t UTF-8"},
	{"\x00\x00\xfe\xff", "UTF-32 text", "convert it: iconv -f UTF-32 -t UTF-8"},
	{"\xff\xfe", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"},
}

const bom = "\xef\xbb\xbf"

var (
	trecRun   = regexp.MustCompile(`^\S+[ \t]+Q0[ \t]+\S+[ \t]+-?\d+[ \t]+\S+[ \t]+\S+\r?$`)
	trecQrels = regexp.MustCompile(`^\S+[ \t]+\S+[ \t]+\S+[ \t]+-?\d+\r?$`)
)

// refuse says what a file is that can't be read; nil if it may be readable.
func refuse(head []byte) *fault {
	for _, f := range foreign {
		if hasWord(head, f.magic) && (f.name != "an ORC file" || bytes.IndexByte(head, 0) >= 0) {
			return faultf("is %s, which can't be read", f.name).withHint(f.hint)
		}
	}
	if len(head) >= 4 && (head[0] == 0) != (head[1] == 0) && (head[2] == 0) != (head[3] == 0) {
		return faultf("is UTF-16 text, which can't be read").withHint("convert it: iconv -f UTF-16LE -t UTF-8 (or UTF-16BE)")
	}
	line := firstLine(head)
	if trecRun.Match(line) {
		return faultf("is a TREC run, which holds no samples").withHint("samples are read from JSONL, JSON or CSV")
	}
	if trecQrels.Match(line) {
		return faultf("is a file of TREC relevance judgements (qrels), which holds no samples").withHint("samples are read from JSONL, JSON or CSV")
	}
	return nil
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return line
}

// findFormat tells the format by the first bytes (without a byte order mark
// and leading white space), and by the file's ending only where they may mean
// both.
func findFormat(head []byte, path string, columns *columns) (Format, *fault) {
	switch {
	case head[0] == '[':
		return JSON, nil
	case head[0] == '{':
		return JSONL, nil
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".tab":
		return CSV, nil
	}
	line := firstLine(head)
	for i := range len(delimiters) {
		for _, name := range headerCells(line, delimiters[i]) {
			if columns.names(strings.TrimSpace(name)) {
				return CSV, nil
			}
		}
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".jsonl" || ext == ".ndjson" {
		return JSONL, nil // its first line is broken
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".json" {
		return "", faultf("is not JSON: it begins with %s", quoted(string(head[:min(len(head), 20)])))
	}
	return "", faultf("is neither JSONL, a JSON array nor CSV: it begins with %s", quoted(string(head[:min(len(head), 20)]))).
		withHint("a CSV file needs a header line with at least one known column, such as question or response")
}
