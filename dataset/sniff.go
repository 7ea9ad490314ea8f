package dataset

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
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
	// Parquet is read row group by row group.
	Parquet Format = "parquet"
	// TREC is a run with judgements, which Options.Qrels names: the queries of
	// the run in its order, then those that have judgements and no documents,
	// with an empty list. A query without judgements has no
	// reference_context_ids. It can't be named in Options.Format.
	TREC Format = "trec"
	// Mixed is what several files of different formats are; it can't be named
	// in Options.
	Mixed Format = "mixed"
)

const (
	asText     = "write it as JSONL, CSV or Parquet"
	asCSVUTF8  = "export the sheet: File, Save as, \"CSV UTF-8 (comma delimited)\"; or in Python pandas.read_excel(FILE).to_json(OUT, orient=\"records\", lines=True)"
	packedHint = "unpack it, or pipe it in: %s FILE | ragjudge run --input -"
)

// foreign lists what a file may be instead, by its first bytes.
var foreign = []struct{ magic, name, hint string }{
	{"PARE", "an encrypted Parquet file", asText},
	{"BZh", "compressed with bzip2", strings.Replace(packedHint, "%s", "bzip2 -dc", 1)},
	{"\xfd7zXZ\x00", "compressed with xz", strings.Replace(packedHint, "%s", "xz -dc", 1)},
	{"\x04\x22\x4d\x18", "compressed with lz4", strings.Replace(packedHint, "%s", "lz4 -dc", 1)},
	{"\x1f\x9d", "compressed with compress", strings.Replace(packedHint, "%s", "gzip -dc", 1)},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"},
	{"Rar!", "a rar archive", "unpack it"},
	{"PK\x03\x04", "a spreadsheet (xlsx) or another zip archive", asCSVUTF8 + "; or unpack the archive"},
	{"PK\x05\x06", "an empty zip archive", "pack it again"},
	{"\xd0\xcf\x11\xe0", "an old Office file (xls)", asCSVUTF8},
	{"SQLite format 3\x00", "an SQLite database", "export the table as CSV: sqlite3 -header -csv FILE \"select ...\""},
	{"ARROW1", "an Arrow file", asText},
	{"FEA1", "a Feather file", asText},
	{"ORC", "an ORC file", asText},
	{"Obj\x01", "an Avro file", asText},
	{"\x89HDF", "an HDF5 file", asText},
	{"\x93NUMPY", "a NumPy file", asText},
	{"\x80\x02", "a Python pickle", asText}, {"\x80\x03", "a Python pickle", asText},
	{"\x80\x04", "a Python pickle", asText}, {"\x80\x05", "a Python pickle", asText},
	{"%PDF", "a PDF file", "samples are read from JSONL, JSON, CSV or Parquet"},
	{"\x89PNG", "a picture", "samples are read from JSONL, JSON, CSV or Parquet"},
	{"\xff\xd8\xff", "a picture", "samples are read from JSONL, JSON, CSV or Parquet"},
	{"version https://git-lfs.github.com/", "a pointer of Git LFS, which stands for a file that was not fetched", "fetch it: git lfs pull"},
}

var (
	trecRun   = regexp.MustCompile(`^\S+[ \t]+Q0[ \t]+\S+[ \t]+-?\d+[ \t]+\S+[ \t]+\S+\r?$`)
	trecQrels = regexp.MustCompile(`^\S+[ \t]+\S+[ \t]+\S+[ \t]+-?\d+\r?$`)
	yamlText  = regexp.MustCompile(`^(---|- +[\w"'-]+:( .*)?)\r?$`)
	markup    = regexp.MustCompile(`(?i)^\s*<(!doctype|html|\?xml|head|body|error)`)
)

// refuse says what a file is that can't be read; nil if it may be readable.
func refuse(head []byte) *fault {
	for _, f := range foreign {
		binary := f.name != "an ORC file" && f.name != "compressed with bzip2" || bytes.IndexByte(head, 0) >= 0 || !plainText(head)
		if hasWord(head, f.magic) && binary {
			return faultf("is %s, which can't be read", f.name).withHint(f.hint)
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return faultf("is a tar archive, which can't be read").withHint("unpack it, and name the files in it")
	}
	return nil
}

// plainText reports whether there is no control character but white space.
func plainText(head []byte) bool {
	return bytes.IndexFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' }) < 0
}

// refuseText is refuse for what is text.
func refuseText(head []byte, named Format) *fault {
	line := firstLine(head)
	const hint = "\"ragjudge retrieval RUN QRELS\" scores a run; with dataset.qrels (--qrels) a run is a dataset"
	switch {
	case named != "":
		return nil
	case trecRun.Match(line):
		return faultf("is a TREC run, which holds no samples").withHint(hint)
	case trecQrels.Match(line):
		return faultf("is a file of TREC relevance judgements (qrels), which holds no samples").withHint(hint)
	case yamlText.Match(line):
		return faultf("looks like YAML, which is known by the ending of its file").withHint("name the file .yaml, or write it as JSON")
	case markup.Match(line):
		return faultf("is a page of HTML or XML, which holds no samples").
			withHint("a download that fails may leave an error page behind: look into the file")
	}
	return nil
}

// firstLine is the first line of b, ended by LF, CRLF or a CR on its own.
func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	line, _, _ = bytes.Cut(line, []byte("\r"))
	return line
}

// findFormat tells the format by the first bytes (without a byte order mark
// and leading white space), and by the file's ending only where they may mean
// both.
func (p *part) findFormat(head []byte, opt *Options, columns *columns) (Format, *fault) {
	switch {
	case head[0] == '[':
		return JSON, nil
	case head[0] == '{':
		return JSONL, nil
	case opt.Delimiter != 0 || excelSep.Match(firstLine(head)):
		return CSV, nil
	}
	ending := p.ending()
	if slices.Contains([]string{".csv", ".tsv", ".tab", ".txt"}, ending) && !isComment(head) {
		return CSV, nil
	}
	for i := range len(delimiters) {
		for _, name := range headerCells(firstLine(head), delimiters[i]) {
			if columns.names(strings.TrimSpace(name)) {
				return CSV, nil
			}
		}
	}
	start := quoted(string(head[:min(len(head), 20)]))
	switch {
	case isComment(head):
		return "", faultf("begins with a comment, %s, which JSON and CSV don't have", start).withHint("take comments out")
	case ending == ".jsonl" || ending == ".ndjson":
		return JSONL, nil // its first line is broken
	case ending == ".json":
		return "", faultf("is not JSON: it begins with %s", start)
	}
	return "", faultf("is neither JSONL, a JSON array, CSV nor Parquet: it begins with %s", start).
		withHint("a CSV file needs a header line with at least one known column, such as question or response; a file in another encoding than UTF-8 needs --encoding")
}

// ending is the file's ending below those of packing.
func (p *part) ending() string {
	name := strings.ToLower(p.path)
	for {
		switch ext := filepath.Ext(name); ext {
		case ".gz", ".gzip", ".zst", ".zstd":
			name = strings.TrimSuffix(name, ext)
		default:
			return ext
		}
	}
}

func isComment(head []byte) bool {
	return hasWord(head, "//") || hasWord(head, "/*") || hasWord(head, "# ")
}
