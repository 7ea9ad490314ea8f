package dataset_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

func TestScanCountsWhatIsThere(t *testing.T) {
	text := `{"question":"q","answer":"a","contexts":[]}

{"question":"q2","answer":"Error code: 400 - This model's maximum context length is 200 tokens.","contexts":["c"],"tag":"x"}
{"question":"q3","answer":"  "}
`
	info, err := dataset.Scan(write(t, "a.jsonl", text), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if info.Rows != 3 || info.NoID != 3 || info.NothingRetrieved != 1 || info.LikeErrors != 1 || !slices.Equal(info.LikeErrorRows, []int{2}) {
		t.Errorf("%+v", info)
	}
	if info.Size != int64(len(text)) || info.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) {
		t.Errorf("size %d, hash %s", info.Size, info.SHA256)
	}
	want := map[eval.Field]int{
		eval.FieldResponse: 1, eval.FieldRetrievedContexts: 1, eval.FieldReference: 3, eval.FieldReferenceContexts: 3,
		eval.FieldRetrievedContextIDs: 2, eval.FieldReferenceContextIDs: 3, eval.FieldCategory: 2,
	}
	if diff := cmp.Diff(want, info.Missing); diff != "" {
		t.Error(diff)
	}
	columns := []dataset.Column{
		{Name: "question", Field: eval.FieldUserInput, Rows: 3}, {Name: "answer", Field: eval.FieldResponse, Rows: 3},
		{Name: "contexts", Field: eval.FieldRetrievedContexts, Rows: 2}, {Name: "tag", Field: eval.FieldCategory, Rows: 1},
	}
	if diff := cmp.Diff(columns, info.Columns); diff != "" {
		t.Error(diff)
	}
	var kinds []string
	for _, w := range info.Warnings {
		kinds = append(kinds, fmt.Sprint(w.Kind, w.Count, w.Row, w.Line))
	}
	if want := []string{"no_contexts1 1 1", "answer_looks_like_error1 2 3"}; !slices.Equal(kinds, want) {
		t.Errorf("warnings %v, want %v", kinds, want)
	}
}

func TestErrorsAreToldFromAnswers(t *testing.T) {
	for answer, want := range map[string]bool{
		"Error code: 429 - {'error': {'message': 'Rate limit reached'}}": true,
		"\nTraceback (most recent call last):\n  File \"a.py\"":          true,
		"openai.BadRequestError: Error code: 400":                        true,
		"<html>\r\n<head><title>502 Bad Gateway</title></head>":          true,
		"upstream connect error or disconnect/reset before headers":      true,
		"{\"error\": {\"message\": \"bad\"}}":                            true,
		"The error code 404 means that the page was not found.":          false,
		"An internal server error is answered with status 500.":          false,
		"Errors in the plan must be reported within 30 days.":            false,
		"": false,
	} {
		info, err := dataset.Scan(write(t, "a.jsonl", string(must(eval.MarshalJSON(map[string]string{"question": "q", "answer": answer})))), dataset.Options{})
		if err != nil || (info.LikeErrors == 1) != want {
			t.Errorf("%q: %d, %v", answer, info.LikeErrors, err)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestDuplicateIDsNameBothRows(t *testing.T) {
	text := "{\"id\":7,\"question\":\"q\"}\n\n{\"id\":\"x\",\"question\":\"q\"}\n{\"id\":\"7\",\"question\":\"r\"}\n"
	path := write(t, "a.jsonl", text)
	info, err := dataset.Scan(path, dataset.Options{})
	var le *dataset.LineError
	if !errors.As(err, &le) || le.Row != 3 || le.Line != 4 || le.Reason != `the id "7" is that of row 1 (line 1) as well` {
		t.Errorf("%v", err)
	}
	if info.Rows != 2 || info.BadLines != 1 {
		t.Errorf("%+v", info)
	}
	// Without a scan the reader finds it as well, and skipping leaves the
	// second row out either way.
	for _, scan := range []bool{false, true} {
		r, err := dataset.Open(path, dataset.Options{SkipBadLines: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if scan {
			if info, err := r.Scan(); err != nil || info.Rows != 2 || info.BadLines != 1 {
				t.Errorf("%+v, %v", info, err)
			}
		}
		if got := rest(t, r); !slices.Equal(ids(got), []string{"7", "x"}) || got[1].Row != 2 {
			t.Errorf("scan %t: %v", scan, ids(got))
		}
		if kept, n := r.Bad(); n != 1 || kept[0].Row != 3 {
			t.Errorf("scan %t: bad %v", scan, kept)
		}
	}
}

// rest reads what is left of a reader, where nothing may go wrong.
func rest(t testing.TB, r *dataset.Reader) (out []*eval.Sample) {
	t.Helper()
	for {
		s, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
}

func TestContentIDs(t *testing.T) {
	a := `{"question":"q","answer":"a","contexts":["c"]}`
	b := `{"answer":"a","contexts":"[\"c\"]","question":"q","tag":"x","note":1}` // the same content, otherwise written
	c := `{"question":"q","answer":"a"}`
	r, err := dataset.Open(write(t, "a.jsonl", strings.Join([]string{a, c, b, a}, "\n")), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := ids(rest(t, r))
	info, err := r.Scan()
	if err != nil || info.NoID != 4 {
		t.Fatalf("%+v, %v", info, err)
	}
	if after := ids(rest(t, r)); !slices.Equal(before, after) {
		t.Errorf("ids after a scan %v, without one %v", after, before)
	}
	if before[2] != before[0]+"#2" || before[3] != before[0]+"#3" || before[1] == before[0] {
		t.Errorf("%v", before)
	}
	if w := info.Warnings; len(w) != 1 || w[0].Kind != "identical_rows" || w[0].Count != 2 {
		t.Errorf("%+v", w)
	}
	// Runs are resumed by these ids: they must be the same in later versions.
	if want := "sha256-"; !strings.HasPrefix(before[0], want) || len(before[0]) != len(want)+16 {
		t.Errorf("%s", before[0])
	}
	if before[0] != "sha256-b3c043a2539cf491" {
		t.Errorf("the id of known content changed: %s", before[0])
	}
	turned, _ := readAll(t, write(t, "b.jsonl", c+"\n"+a), dataset.Options{})
	if got := ids(turned); got[0] != before[1] || got[1] != before[0] {
		t.Errorf("ids depend on the order: %v, %v", got, before)
	}
}

func TestBadLinesAreCountedAndKept(t *testing.T) {
	text := strings.Repeat("{\"question\":\"q\",}\n", 250) + "{\"question\":\"q\"}\n"
	path := write(t, "a.jsonl", text)
	info, err := dataset.Scan(path, dataset.Options{})
	var bad *dataset.BadInputError
	if !errors.As(err, &bad) || bad.Count != 250 || len(bad.Bad) != dataset.DefaultKeepBad || info.BadLines != 250 || info.Rows != 1 {
		t.Errorf("%v, %+v", err, info)
	}
	if !strings.HasSuffix(err.Error(), "and 150 more") {
		t.Errorf("%v", err)
	}
	info, err = dataset.Scan(path, dataset.Options{SkipBadLines: true, KeepBad: 3})
	if err != nil || info.BadLines != 250 || len(info.Bad) != 3 || info.Rows != 1 {
		t.Errorf("%v, %+v", err, info)
	}
	if _, err = dataset.Scan(write(t, "b.jsonl", "{\"question\":\"q\",}\n"), dataset.Options{SkipBadLines: true}); err == nil {
		t.Error("a file of bad lines alone is accepted")
	}
}

// TestBrokenStructureIsFatal: where the records can't be told apart any more,
// skipping must not lose the others in silence.
func TestBrokenStructureIsFatal(t *testing.T) {
	for _, c := range []struct {
		text, reason string
		line         int
	}{
		{"[{\"question\":\"q\"}\n{\"question\":\"q\"}]", "expected a comma or ]", 2},
		{"[{\"question\":\"q\"},\n]", "a comma stands before", 2},
		{"[{\"question\":\"q\"}\n", "the file ends before the list is closed", 2},
		{"[{\"question\":\"q\"}] x", "after the end of the list", 1},
		{"[{\"question\":\"q\"},\n{\"question\":\"q\"", "the file ends inside the record", 2},
		{"[{\"question\":\"q\"},\n{\"question\" \"q\"}]", "expected a colon", 2},
		{"{\n\"question\":\"q\"}\nx", "expected an object", 3},
		{"question,answer\nq,a\nq,\"a\nq,a\nq,a\n", "never closed", 3},
	} {
		_, err := dataset.Scan(write(t, "a", c.text), dataset.Options{SkipBadLines: true})
		var le *dataset.LineError
		if !errors.As(err, &le) || !le.Fatal() || le.Line != c.line || !strings.Contains(le.Reason, c.reason) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestRecordLimit(t *testing.T) {
	long := strings.Repeat("x", 400_000)
	opt := dataset.Options{MaxRecord: 300_000}
	samples, bad := readAll(t, write(t, "a.jsonl", "{\"id\":1,\"question\":\"q\"}\n{\"id\":2,\"question\":\""+long+"\"}\n{\"id\":3,\"question\":\"q\"}"), opt)
	if !slices.Equal(ids(samples), []string{"1", "3"}) || len(bad) != 1 || bad[0].Line != 2 || !strings.Contains(bad[0].Reason, "limit of 300000 bytes") {
		t.Errorf("%v %v", ids(samples), bad)
	}
	for _, text := range []string{
		"[{\"question\":\"q\"},\n{\"question\":\"" + long + "\"}]", "{\n\"question\":\"q\"}\n{\"question\":\"" + long + "\"}",
		"question,answer\nq,\"" + strings.Repeat(strings.Repeat("x", 1000)+"\n", 400) + "\"\n",
	} {
		_, bad := readAll(t, write(t, "a", text), opt)
		if line := 2 + strings.Count(text[:2], "{\n"); len(bad) != 1 || bad[0].Line != line || !bad[0].Fatal() || !strings.Contains(bad[0].Reason, "limit of") {
			t.Errorf("%.30q: %v", text, bad)
		}
	}
	s := one(t, "b.jsonl", "{\"question\":\"q\",\"answer\":\""+strings.Repeat("x", 20<<20)+"\"}")
	if len(s.Response) != 20<<20 {
		t.Errorf("%d bytes of a response of 20 MiB", len(s.Response))
	}
}

func TestWhatCantBeRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a.jsonl":   {"", "empty"},
		"b.jsonl":   {" \n\n", "empty"},
		"bom.csv":   {"\ufeff\n", "empty"},
		"c.csv":     {"question,answer\n", "nothing below"},
		"d.json":    {"[]", "holds no samples"},
		"e.csv":     {"PK\x03\x04\x14\x00\x06\x00", "spreadsheet (xlsx)"},
		"f.jsonl":   {"\x1f\x8b\x08\x00", "the gzip stream is cut off"},
		"g.jsonl":   {"\x28\xb5\x2f\xfd\x00", "the zstd stream is cut off"},
		"h.parquet": {"PAR1\x15\x04", "Parquet"},
		"i.csv":     {"\xff\xfei\x00d\x00", "nothing below"},
		"j.csv":     {"i\x00d\x00,\x00", "nothing below"},
		"k.log":     {"Once upon a time\nthere was a log\n", "neither JSONL"},
		"l.json":    {"Once upon", "not JSON"},
		"m.csv":     {"foo,bar\n1,2\n", `the header has "foo", "bar"`},
		"n.run":     {"301 Q0 FBIS3-1 1 3.5 tag\n", "TREC run"},
		"o.qrels":   {"301 0 FBIS3-1 1\n", "qrels"},
		"p.jsonl":   {"hello\n", "holds no samples"},
	} {
		_, err := dataset.Scan(write(t, name, c.text), dataset.Options{SkipBadLines: true})
		var le *dataset.LineError
		if !errors.As(err, &le) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := dataset.Open(dir, dataset.Options{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	if _, err := dataset.Open(filepath.Join(dir, "none"), dataset.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := dataset.Open("-", dataset.Options{}); err == nil {
		t.Error("no standard input is accepted")
	}
	if _, err := dataset.Open(write(t, "a", "[]"), dataset.Options{Format: "xml"}); err == nil {
		t.Error("an unknown format is accepted")
	}
}

func TestStandardInputIsReadTwice(t *testing.T) {
	dir := t.TempDir()
	in := iotest.OneByteReader(strings.NewReader("{\"id\":1,\"question\":\"q\"}\n{\"id\":2,\"question\":\"q\"}\n"))
	r, err := dataset.Open("-", dataset.Options{Stdin: in, TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := r.Scan(); err != nil || info.Rows != 2 || info.Path != "-" {
		t.Errorf("%+v, %v", info, err)
	}
	if got := ids(rest(t, r)); !slices.Equal(got, []string{"1", "2"}) {
		t.Error(got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	broken := iotest.ErrReader(errors.New("pipe burst"))
	if _, err := dataset.Open("-", dataset.Options{Stdin: broken, TempDir: dir}); err == nil || !strings.Contains(err.Error(), "pipe burst") {
		t.Error(err)
	}
}

func TestFileThatChangesAfterTheScan(t *testing.T) {
	text := "{\"id\":1,\"question\":\"q\"}\n{\"id\":2,\"question\":\"q\"}"
	open := func() (*dataset.Reader, string, *[]string) {
		path := write(t, "a.jsonl", text)
		var told []string
		r, err := dataset.Open(path, dataset.Options{Warn: func(w dataset.Warning) { told = append(told, w.Kind) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		if _, err := r.Scan(); err != nil {
			t.Fatal(err)
		}
		return r, path, &told
	}
	r, path, told := open()
	if err := os.WriteFile(path, []byte(text+"}\n{\"id\":3,\"question\":\"q\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ids(rest(t, r)); !slices.Equal(got, []string{"1", "2"}) || !slices.Equal(*told, []string{"file_grew"}) {
		t.Errorf("grown: %v, warned of %v", got, *told)
	}
	for _, changed := range []string{strings.Replace(text, "2", "3", 1), text[:25]} {
		r, path, _ = open()
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.Rewind(); err != nil { // drop what was read ahead before the change
			t.Fatal(err)
		}
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF || !strings.Contains(err.Error(), "changed while it was in use") {
			t.Errorf("%q: %v", changed, err)
		}
	}
}

func TestWarningsAreToldOnce(t *testing.T) {
	text := strings.Repeat("{\"question\":\"q\\u0000\",\"contexts\":[]}\n", 3)
	var told []string
	r, err := dataset.Open(write(t, "a.jsonl", text), dataset.Options{Warn: func(w dataset.Warning) { told = append(told, w.Kind) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Scan(); err != nil {
		t.Fatal(err)
	}
	rest(t, r)
	if want := []string{"nul_character", "no_contexts", "identical_rows"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	for _, w := range r.Warnings() {
		if w.Kind == "nul_character" && w.Count != 3 {
			t.Errorf("%+v", w)
		}
	}
}
