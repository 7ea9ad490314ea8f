package dataset_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"github.com/ragjudge/ragjudge/dataset"
)

func gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

func zst(text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

func u16(text string, order int) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		pair := []byte{byte(u), byte(u >> 8)}
		if order == 1 {
			slices.Reverse(pair)
		}
		b = append(b, pair...)
	}
	return string(b)
}

func u32(text string) string {
	var b []byte
	for _, r := range text {
		b = append(b, byte(r), byte(r>>8), byte(r>>16), 0)
	}
	return string(b)
}

// TestContainers reads the same two samples out of everything they may come in,
// under endings that say something else.
func TestContainers(t *testing.T) {
	const jsonl = "{\"id\":1,\"question\":\"café 東京 😀\"}\n{\"id\":2,\"question\":\"q\"}\n"
	const csv = "id,question\r\n1,café 東京 😀\r\n2,q\r\n"
	const tsv = "id\tquestion\r\n1\tcafé 東京 😀\r\n2\tq\r\n"
	const array = "[{\"id\":1,\"question\":\"café 東京 😀\"},\n {\"id\":2,\"question\":\"q\"}]"
	lines := strings.SplitAfter(jsonl, "\n")
	for name, c := range map[string]struct{ text, encoding string }{
		"gzip":                         {gz(jsonl), "utf-8"},
		"gzip, csv":                    {gz(csv), "utf-8"},
		"gzip, array":                  {gz(array), "utf-8"},
		"gzip, two members":            {gz(lines[0]) + gz(lines[1]), "utf-8"},
		"gzip, an empty member":        {gz("") + gz(jsonl) + gz(""), "utf-8"},
		"zstd":                         {zst(jsonl), "utf-8"},
		"zstd, two frames":             {zst(lines[0]) + zst(lines[1]), "utf-8"},
		"zstd after a skippable frame": {"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zst(jsonl), "utf-8"},
		"gzip in zstd":                 {zst(gz(jsonl)), "utf-8"},
		"gzip in gzip":                 {gz(gz(jsonl)), "utf-8"},
		"BOM in gzip":                  {gz("\ufeff" + csv), "utf-8"},
		"BOMs of joined parts":         {"\ufeff" + lines[0] + "\ufeff" + lines[1], "utf-8"},
		"BOMs of joined arrays":        {"\ufeff" + strings.ReplaceAll(array, "\n", "\ufeff\n"), "utf-8"},
		"UTF-16 LE":                    {"\xff\xfe" + u16(jsonl, 0), "utf-16le"},
		"UTF-16 BE":                    {"\xfe\xff" + u16(jsonl, 1), "utf-16be"},
		"UTF-16 LE, no mark":           {u16(jsonl, 0), "utf-16le"},
		"UTF-16 BE, no mark, csv":      {u16(csv, 1), "utf-16be"},
		"Excel's Unicode text":         {"\xff\xfe" + u16(tsv, 0), "utf-16le"},
		"UTF-16 in gzip":               {gz("\xff\xfe" + u16(csv, 0)), "utf-16le"},
		"UTF-32 LE":                    {"\xff\xfe\x00\x00" + u32(jsonl), "utf-32le"},
		"UTF-32 LE, no mark":           {u32(array), "utf-32le"},
		"CR only":                      {strings.ReplaceAll(csv, "\r\n", "\r"), "utf-8"},
		"sep line":                     {"sep=;\r\n" + strings.ReplaceAll(csv, ",", ";"), "utf-8"},
		"sep line in quotes":           {"\"sep=|\"\n" + strings.ReplaceAll(csv, ",", "|"), "utf-8"},
		"caret":                        {strings.ReplaceAll(csv, ",", "^"), "utf-8"},
		"Hive's delimiter":             {strings.ReplaceAll(csv, ",", "\x01"), "utf-8"},
		"a NUL behind the end":         {csv + "", "utf-8"},
	} {
		for _, ending := range []string{"a.jsonl", "a.csv.gz", "a.json"} {
			path := write(t, ending, c.text)
			samples, bad := readAll(t, path, dataset.Options{})
			if len(bad) > 0 || !slices.Equal(ids(samples), []string{"1", "2"}) || samples[0].UserInput != "café 東京 😀" {
				t.Errorf("%s in %s: %v, bad %v", name, ending, ids(samples), bad)
				continue
			}
			info, err := dataset.Scan(path, dataset.Options{})
			if err != nil || info.Rows != 2 || info.Size != int64(len(c.text)) || info.Files[0].Encoding != c.encoding {
				t.Errorf("%s in %s: %+v, %v", name, ending, info, err)
			}
			r, err := dataset.Open("-", dataset.Options{Stdin: strings.NewReader(c.text), TempDir: t.TempDir()})
			if err != nil {
				t.Errorf("%s from standard input: %v", name, err)
				continue
			}
			if info, err := r.Scan(); err != nil || info.Rows != 2 {
				t.Errorf("%s from standard input: %v", name, err)
			}
			if got := ids(rest(t, r)); len(got) != 2 {
				t.Errorf("%s from standard input, again: %v", name, got)
			}
			r.Close()
		}
	}
}

// TestCutStreams cuts a packed file at every byte: the rows before the cut are
// read, and the cut is an error that is not to be skipped.
func TestCutStreams(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "{\"id\":%d,\"question\":\"%x\"}\n", i, i*7919*7919)
	}
	for name, packed := range map[string]string{"gzip": gz(text.String()), "zstd": zst(text.String())} {
		for _, n := range []int{1, 2, 3, 5, 9, 20, len(packed) / 2, len(packed) - 5, len(packed) - 1} {
			if n < 4 { // too little to know what it is
				continue
			}
			_, err := dataset.Scan(write(t, "a.jsonl", packed[:n]), dataset.Options{SkipBadLines: true})
			var le *dataset.LineError
			if !errors.As(err, &le) || !strings.Contains(le.Reason, name+" stream is cut off") || !le.Fatal() || le.Hint == "" {
				t.Errorf("%s cut to %d of %d bytes: %v", name, n, len(packed), err)
			}
		}
		broken := []byte(packed)
		broken[len(broken)-3] ^= 0x55 // of the checksum
		if _, err := dataset.Scan(write(t, "a.jsonl", string(broken)), dataset.Options{}); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%s with a wrong checksum: %v", name, err)
		}
	}
	for text, want := range map[string]string{
		gz(text.String()) + "\x00\x00\x00\x00": "after 40 rows",
		gz(gz(gz(gz(gz("{}"))))):               "packed more than 4 times",
		gz("PAR1"):                             "Parquet file inside gzip",
		gz("PK\x03\x04"):                       "spreadsheet",
		gz(strings.Repeat("x", 257) + "ustar\x00" + strings.Repeat("\x00", 300)): "tar archive",
		gz(""): "is empty",
	} {
		if _, err := dataset.Scan(write(t, "a.jsonl", text), dataset.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestBomb reads what unpacks to far more than it takes: lines are held to the
// limit, and nothing else grows.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprint(w, "{\"id\":1,\"question\":\"q\"}\n{\"id\":2,\"question\":\"")
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 200 {
		_, _ = w.Write(chunk)
	}
	fmt.Fprint(w, "\"}\n{\"id\":3,\"question\":\"q\"}\n")
	_ = w.Close()
	path := write(t, "a.jsonl", b.String())
	before := heap()
	samples, bad := readAll(t, path, dataset.Options{MaxRecord: 1 << 20, SkipBadLines: false})
	if !slices.Equal(ids(samples), []string{"1", "3"}) || len(bad) != 1 || bad[0].Line != 2 || !strings.Contains(bad[0].Reason, "limit of") {
		t.Errorf("%v %v", ids(samples), bad)
	}
	if held := heap() - before; held > 32<<20 {
		t.Errorf("%d bytes held after it", held)
	}
}

func TestEncodings(t *testing.T) {
	const text = "id,question\n1,Müller – 5 €\n"
	latin, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "a.csv", latin)
	_, bad := readAll(t, path, dataset.Options{})
	if len(bad) != 1 || bad[0].Line != 2 || bad[0].Offset != 4 || !strings.Contains(bad[0].Hint, "--encoding windows-1252") {
		t.Errorf("%+v", bad)
	}
	for _, name := range []string{"windows-1252", "cp1252", "latin1", "latin-1", "ISO-8859-1", "Windows_1252"} {
		samples, bad := readAll(t, path, dataset.Options{Encoding: name})
		if len(bad) > 0 || samples[0].UserInput != "Müller – 5 €" {
			t.Errorf("%s: %v %v", name, samples, bad)
		}
	}
	sjis, err := japanese.ShiftJIS.NewEncoder().String("{\"question\":\"東京ソ\"}\n") // its second byte is a backslash
	if err != nil {
		t.Fatal(err)
	}
	samples, bad := readAll(t, write(t, "a.jsonl", sjis), dataset.Options{Encoding: "shift_jis"})
	if len(bad) > 0 || samples[0].UserInput != "東京ソ" {
		t.Errorf("%v %v", samples, bad)
	}
	// A byte that the encoding does not have is an error with its place.
	_, bad = readAll(t, write(t, "a.jsonl", "{\"question\":\"a\"}\n{\"question\":\"b\x81\"}\n"), dataset.Options{Encoding: "windows-1253"})
	_, bad2 := readAll(t, write(t, "a.jsonl", "{\"question\":\"a\"}\n{\"question\":\"b\xff\"}\n"), dataset.Options{Encoding: "euc-kr"})
	if bad = append(bad, bad2...); len(bad) == 0 || bad[len(bad)-1].Line != 2 || !strings.Contains(bad[len(bad)-1].Reason, "no text in euc-kr") {
		t.Errorf("%v", bad)
	}
	// A mark goes before what was named, and plain UTF-8 under another name is told.
	samples, _ = readAll(t, write(t, "a.csv", "\ufeff"+text), dataset.Options{Encoding: "windows-1252"})
	if samples[0].UserInput != "Müller – 5 €" {
		t.Errorf("with a mark: %q", samples[0].UserInput)
	}
	info, err := dataset.Scan(write(t, "a.csv", text), dataset.Options{Encoding: "windows-1252"})
	if err != nil || len(info.Warnings) != 1 || info.Warnings[0].Kind != "encoding_doubtful" {
		t.Errorf("%+v, %v", info.Warnings, err)
	}
	for _, name := range []string{"utf-9", "replacement", "iso-2022-kr", "x-user-defined"} {
		if _, err := dataset.Open(path, dataset.Options{Encoding: name}); err == nil || !strings.Contains(err.Error(), "is not known") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Half of a pair, and half of a unit, at the end.
	for _, tail := range []string{"\x3d\xd8", "x"} {
		_, bad := readAll(t, write(t, "a.csv", "\xff\xfe"+u16("question\nq\nhalf", 0)+tail), dataset.Options{})
		if len(bad) != 1 || bad[0].Line != 3 || !strings.Contains(bad[0].Reason, "UTF-16LE") {
			t.Errorf("%q: %v", tail, bad)
		}
	}
}

func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("b.jsonl", "{\"id\":1,\"question\":\"q\",\"answer\":\"a\"}\n\n{\"id\":2,\"question\":\"q\"}\n")
	put("a.csv", "id;frage\n3;q\n4;r\n")
	put("c.jsonl.gz", gz("{\"id\":5,\"query\":\"q\"}\n"))
	put("sub/d.jsonl", "{\"id\":6,\"question\":\"q\"}\n")
	put("sub/.hidden.jsonl", "no JSON")
	put("odd[1].jsonl", "{\"id\":7,\"question\":\"q\"}\n")
	put("z/empty.jsonl", "")
	at := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(dir, n))
		}
		return paths
	}
	opt := dataset.Options{}
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{at("b.jsonl", "c.jsonl.gz"), "1 2 5"}, {at("c.jsonl.gz", "b.jsonl"), "5 1 2"},
		{at("[bc].jsonl*"), "1 2 5"}, {at("b.*", "sub/*"), "1 2 6"}, {at("**/*.jsonl*"), "1 2 5 7 6"}, {at("odd[1].jsonl"), "7"},
		{at("*/d.jsonl"), "6"}, {at("s*/**"), "6"}, {at("z/empty.jsonl", "b.jsonl"), "1 2"},
	} {
		r, err := dataset.OpenFiles(c.paths, opt)
		if err != nil {
			t.Errorf("%v: %v", c.paths, err)
			continue
		}
		info, err := r.Scan()
		if err != nil {
			t.Errorf("%v: %v", c.paths, err)
		}
		got := rest(t, r)
		if s := strings.Join(ids(got), " "); s != c.want || info.Rows != len(got) {
			t.Errorf("%v: %s, want %s", c.paths, s, c.want)
		}
		for i, s := range got {
			if s.Row != i+1 {
				t.Errorf("%v: row %d is %d", c.paths, i+1, s.Row)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}

	// The hash is over the files in order.
	one, _ := scanFiles(t, at("b.jsonl", "c.jsonl.gz"), opt)
	two, _ := scanFiles(t, at("c.jsonl.gz", "b.jsonl"), opt)
	if one.SHA256 == two.SHA256 || one.Files[0].SHA256 != two.Files[1].SHA256 || one.Size != two.Size || one.Files[0].Rows != 2 {
		t.Errorf("%+v\n%+v", one, two)
	}
	if one.Format != dataset.JSONL || one.Columns[1].Rows != 2 {
		t.Errorf("%+v", one)
	}
	mixed, err := scanFiles(t, at("a.csv", "b.jsonl"), dataset.Options{Columns: map[string]string{"user_input": "frage"}})
	if err != nil || mixed.Format != dataset.Mixed || mixed.Rows != 4 || mixed.Files[0].Delimiter != ';' {
		t.Errorf("%+v, %v", mixed, err)
	}

	// What is wrong names its file.
	put("dup.jsonl", "{\"id\":9,\"question\":\"q\"}\n{\"id\":2,\"question\":\"q\"}\n{\"question\":7,}\n")
	_, err = scanFiles(t, at("b.jsonl", "dup.jsonl"), opt)
	var bad *dataset.BadInputError
	if !errors.As(err, &bad) || bad.Count != 2 || bad.Bad[0].File != at("dup.jsonl")[0] || bad.Bad[0].Line != 2 || bad.Bad[0].Row != 4 ||
		!strings.Contains(bad.Bad[0].Reason, "row 2 ("+at("b.jsonl")[0]+":3)") || bad.Bad[1].Line != 3 {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{at("*.parquet"), "matches no file"}, {at("none.jsonl", "b.jsonl"), "can't be opened"}, {at("b.jsonl", "b.jsonl"), "is named twice"},
		{at("b*", "sub/../b.jsonl"), "is named twice"}, {at("z/empty.jsonl"), "is empty"}, {at("sub"), "is a folder"}, {at("sub[", "b.jsonl"), "is not a pattern"},
		{[]string{}, "no file is named"}, {at("none", "other"), "none: can't be opened: no such file or directory\n"},
	} {
		if _, err := dataset.OpenFiles(c.paths, opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.paths, err, c.want)
		}
	}
	if err := os.Symlink(at("b.jsonl")[0], at("link.jsonl")[0]); err == nil {
		if _, err := dataset.OpenFiles(at("link.jsonl", "b.jsonl"), opt); err == nil || !strings.Contains(err.Error(), "is the same file as") {
			t.Errorf("a link to a file that is named: %v", err)
		}
	}
	if err := os.Symlink(at("loop.jsonl")[0], at("loop.jsonl")[0]); err == nil {
		if _, err := dataset.OpenFiles(at("loop.jsonl"), opt); err == nil || !strings.Contains(err.Error(), "can't be opened") {
			t.Errorf("a link to itself: %v", err)
		}
	}
}

func scanFiles(t *testing.T, paths []string, opt dataset.Options) (dataset.Info, error) {
	t.Helper()
	r, err := dataset.OpenFiles(paths, opt)
	if err != nil {
		return dataset.Info{}, err
	}
	defer r.Close()
	return r.Scan()
}

// TestManyFilesAreOpenedInTurn reads more files than are kept open.
func TestManyFilesAreOpenedInTurn(t *testing.T) {
	dir := t.TempDir()
	const files = 200
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i)), fmt.Appendf(nil, "{\"id\":%d,\"question\":\"q\"}\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := dataset.Open(filepath.Join(dir, "*.jsonl"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if info, err := r.Scan(); err != nil || info.Rows != files || len(info.Files) != files {
		t.Fatalf("%d rows, %v", info.Rows, err)
	}
	if n := openFiles(); n > 100 {
		t.Errorf("%d files are open between the passes", n)
	}
	// One that is replaced before it is read again is found out.
	if err := os.WriteFile(filepath.Join(dir, "150.jsonl"), []byte("{\"id\":15,\"question\":\"q\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		_, err = r.Next()
	}
	if !strings.Contains(err.Error(), "150.jsonl: changed while it was in use") || n > 153 {
		t.Errorf("after %d rows: %v", n, err)
	}
}

func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// TestSoundCSV holds what spreadsheets and scripts make of CSV.
func TestSoundCSV(t *testing.T) {
	for _, c := range []struct {
		text, want string
		row        int
	}{
		{"id,question\n1,q\nid,question\n2,r\n", "repeats the header", 2},
		{"id,question\n1,q\n\ufeffid,question\n2,r\n", "repeats the header", 2},
		{"id,question\n1,\"never closed\n2,q\n3,q\n", "never closed", 1},
		{"id,question\n1,\"not closed\n2,\"q\"\n3,q\n", "opens 1 line above", 1},
		{"id,question,id\n1,q,2\n", "stands twice", 0},
		{"id,question\n1,q,\n", "has 3 fields", 1},
		{"id,question,answer\n1,q\n", "has 2 fields", 1},
		{"question;answer,response\n", "may be separated by", 0},
		{"// made by hand\n{\"id\":1,\"question\":\"q\"}\n", "comment", 0},
		{"{\"id\":1,\"question\":\"q\"} // c\n", "JSON has no comments", 1},
		{"{\"id\":1,\"question\":\"q\"},\n", "nor between the lines", 1},
		{"{\"id\":1,\"question\":\"q\"}\n\x00\x00\x00", "leaves NULs behind", 2},
		{"{\n \"id\": 1,\n \"question\": \"q\",\n}\n", "a comma stands before", 1},
		{"{\n \"id\": 1,\n \"question\": \"q\"\n", "the file ends inside", 1},
		{"Export of today\n\nid,question,answer\n1,q,a\n", "line 3 looks like the header", 0},
		{"<!DOCTYPE html>\n<html>", "HTML", 0},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "git lfs pull", 0},
	} {
		_, err := dataset.Scan(write(t, "a.csv", c.text), dataset.Options{})
		var le *dataset.LineError
		if !errors.As(err, &le) || !strings.Contains(le.Error()+le.Hint, c.want) || le.Row != c.row {
			t.Errorf("%q: %v (row %d), want %q", c.text, err, le.Row, c.want)
		}
	}
	for text, want := range map[string]string{
		"id;question;answer\n1;\"a,b;c\";x,y\n2;q;z\n":       "a,b;c",
		"question,answer\n\"a;b;c\",\"d;e\"\n":               "a;b;c",
		"question|answer\n5\" pipe|a,b,c,d\n":                "5\" pipe",
		"\tquestion\tanswer\n0\tq\ta\n":                      "q",
		",question,answer\n0,q,a\n":                          "q",
		"question,answer,\nq,a,\n":                           "q",
		"QUESTION,Answer\r\rq,a\r":                           "q",
		"question:answer\nq:a\n":                             "q",
		"\n\n\nquestion,answer\nq,a\n":                       "q",
		"{\"question\":\"q\",\r\"answer\":\"a\"}\r":          "q",
		"{\"question\":\"q\"}\r{\"question\":\"r\"}\r":       "q",
		"question,answer\n\"q\"\"\nx\",\"a\"\n\"r\",\"s\"\n": "q\"\nx",
		"question,answer\nq,a\n\x1a":                         "q",
	} {
		samples, _ := readAll(t, write(t, "a.csv", text), dataset.Options{SkipBadLines: true})
		if len(samples) == 0 || samples[0].UserInput != want {
			t.Errorf("%q: %+v, want %q", text, samples, want)
		}
	}
}

// FuzzContainers feeds the bytes of packed and encoded files.
func FuzzContainers(f *testing.F) {
	const text = "id,question\r\n1,\"caf\u00e9\"\r\n"
	for _, s := range []string{gz(text), zst(text), gz(zst(text)), "\xff\xfe" + u16(text, 0), u16(text, 1), u32(text), gz(text)[:30], zst(text)[:12], "sep=;\n" + text} {
		f.Add([]byte(s), "")
	}
	f.Add([]byte("{\"question\":\"caf\xe9\"}\n"), "windows-1252")
	f.Add([]byte("{\"question\":\"\x93\x8c\"}\n"), "shift_jis")
	f.Fuzz(func(t *testing.T, text []byte, encoding string) {
		r, err := dataset.Open("-", dataset.Options{Stdin: bytes.NewReader(text), Encoding: encoding, SkipBadLines: true, MaxRecord: 1 << 16, TempDir: t.TempDir()})
		if err != nil {
			return
		}
		defer r.Close()
		info, err := r.Scan()
		if err != nil {
			return
		}
		n := 0
		for ; ; n++ {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("after a sound scan: %v", err)
			}
		}
		if n != info.Rows {
			t.Errorf("%d rows, the scan found %d", n, info.Rows)
		}
	})
}
