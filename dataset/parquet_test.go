package dataset_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

// TestParquetOfPyArrow reads files that pyarrow 26 wrote from one table: packed
// with zstd in row groups of two rows, in pages of version 2, with INT96 times
// and checksums, and with lists named as they were before 2023.
func TestParquetOfPyArrow(t *testing.T) {
	want := []*eval.Sample{
		{ID: "9007199254740993", Row: 1, UserInput: "q1", Response: "aaaaaaaaaa", RetrievedContexts: []string{"c1", "c2"},
			ReferenceContexts: []string{"r1"}, ReferenceContextIDs: map[string]float64{"d1": 2}, Category: "x"},
		{ID: "2", Row: 2, UserInput: "q2 \"x\"\n", Response: "é東京", RetrievedContexts: []string{}, RetrievedContextIDs: []string{}, Category: "y"},
		{ID: "3", Row: 3, Response: "z", RetrievedContexts: []string{}, RetrievedContextIDs: []string{}, ReferenceContexts: []string{"x", ""},
			ReferenceContextIDs: map[string]float64{}, Category: "x"},
	}
	metadata := map[string][3]string{
		"d": {`"2024-01-02"`, `"2024-01-02"`, `"2024-01-02"`}, "dec": {"-1.050", "-1.050", "-1.050"}, "f": {"1.5", "null", "1e+300"},
		"b": {"true", "null", "false"}, "u": {"1", "2", "18446744073709551615"}, "i8": {"1", "-2", "3"}, "bin": {`{"base64":"/wA="}`, `"ok"`, "null"},
		"nest": {`{"a":{"b":[1,2]}}`, "null", `{"a":null}`}, "lol": {`[["a"],[]]`, `[[null]]`, `[]`},
		"docs_meta": {`[{"id":1,"score":0.5}]`, `[]`, `[{"id":null,"score":null}]`}, "t64": {`"00:00:00.000001"`, `"00:00:00.000002"`, `"00:00:00.000003"`},
	}
	for _, name := range []string{"pyarrow", "pyarrow-v2", "pyarrow-int96", "pyarrow-legacy-lists"} {
		path := filepath.Join("testdata", "parquet", name+".parquet")
		got, bad := readAll(t, path, dataset.Options{})
		if len(bad) > 0 {
			t.Errorf("%s: %v", name, bad[0])
			continue
		}
		for i, s := range got {
			for key, values := range metadata {
				if string(s.Metadata[key]) != values[i] {
					t.Errorf("%s: row %d: %s is %s, want %s", name, i+1, key, s.Metadata[key], values[i])
				}
			}
			if ts := string(s.Metadata["ts"]); !strings.HasPrefix(ts, `"2024-01-02T03:04:05.678`) {
				t.Errorf("%s: ts is %s", name, ts)
			}
			s.Metadata = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	_, err := dataset.Scan(filepath.Join("testdata", "parquet", "pyarrow-no-rows.parquet"), dataset.Options{})
	if err == nil || !strings.Contains(err.Error(), "holds no samples") {
		t.Errorf("no rows: %v", err)
	}
}

// parquetFile writes rows as parquet-go lays them out, in row groups of ten.
func parquetFile[T any](t testing.TB, rows []T, opt ...parquet.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, opt...)
	for chunk := range slices.Chunk(rows, 10) {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type qa struct {
	ID       int64    `parquet:"id"`
	Question string   `parquet:"question"`
	Answer   *string  `parquet:"answer,optional,dict"`
	Contexts []string `parquet:"contexts"` // two levels: a bare repeated field
}

func qas(n int) (rows []qa) {
	for i := range n {
		a := fmt.Sprintf("answer %d", i%3)
		rows = append(rows, qa{int64(i), fmt.Sprintf("q%d", i), &a, []string{"c1", fmt.Sprint("c", i)}})
	}
	return rows
}

func TestParquetLayouts(t *testing.T) {
	for name, codec := range map[string]parquet.WriterOption{
		"none": parquet.Compression(&parquet.Uncompressed), "snappy": parquet.Compression(&parquet.Snappy),
		"gzip": parquet.Compression(&parquet.Gzip), "zstd": parquet.Compression(&parquet.Zstd),
	} {
		text := parquetFile(t, qas(25), codec)
		for _, ending := range []string{"a.parquet", "a.jsonl"} {
			samples, bad := readAll(t, write(t, ending, text), dataset.Options{})
			if len(bad) > 0 || len(samples) != 25 || samples[24].UserInput != "q24" || samples[24].Response != "answer 0" || !slices.Equal(samples[24].RetrievedContexts, []string{"c1", "c24"}) {
				t.Errorf("%s in %s: %d rows, bad %v", name, ending, len(samples), bad)
			}
		}
		r, err := dataset.Open("-", dataset.Options{Stdin: strings.NewReader(text), TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := r.Scan(); err != nil || info.Rows != 25 || info.Format != dataset.Parquet {
			t.Errorf("%s from standard input: %+v, %v", name, info, err)
		}
		if n := len(rest(t, r)); n != 25 {
			t.Errorf("%s from standard input, again: %d rows", name, n)
		}
		r.Close()
	}
	dup := append(qas(3), qas(1)...)
	_, err := dataset.Scan(write(t, "a.parquet", parquetFile(t, dup)), dataset.Options{})
	var le *dataset.LineError
	if !errors.As(err, &le) || le.Row != 4 || le.Line != 0 || !strings.Contains(le.Reason, "row 1") {
		t.Errorf("a doubled id: %v", err)
	}
	_, err = dataset.Scan(write(t, "a.parquet", parquetFile(t, qas(3))), dataset.Options{MaxRecord: 40})
	if !errors.As(err, &le) || !strings.Contains(le.Reason, "limit of 40") {
		t.Errorf("rows beyond the limit: %v", err)
	}
	if _, err := dataset.Open(write(t, "a", parquetFile(t, qas(1))), dataset.Options{Format: dataset.CSV}); err == nil || !strings.Contains(err.Error(), "is a Parquet file, not csv") {
		t.Error(err)
	}
	if _, err := dataset.Open(write(t, "a", "{}"), dataset.Options{Format: dataset.Parquet}); err == nil || !strings.Contains(err.Error(), "not a Parquet file") {
		t.Error(err)
	}
}

// TestDamagedParquet cuts and spoils a file: the rows before the damage are
// read, and the error names file and row group.
func TestDamagedParquet(t *testing.T) {
	text := parquetFile(t, qas(30))
	for _, n := range []int{4, 8, 11, len(text) / 2, len(text) - 1, len(text) - 8} {
		if _, err := dataset.Scan(write(t, "a.parquet", text[:n]), dataset.Options{}); err == nil || !strings.Contains(err.Error(), "damaged Parquet file: its footer") {
			t.Errorf("cut to %d of %d: %v", n, len(text), err)
		}
	}
	// The second row group's bytes, spoilt.
	f, err := parquet.OpenFile(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	at := f.Metadata().RowGroups[1].Columns[1].MetaData.DataPageOffset
	broken := []byte(text)
	for i := range 40 {
		broken[int(at)+i] = 0xff
	}
	r, err := dataset.Open(write(t, "a.parquet", string(broken)), dataset.Options{SkipBadLines: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, err := r.Scan()
	var le *dataset.LineError
	if !errors.As(err, &le) || !le.Fatal() || !strings.Contains(err.Error(), "a.parquet: row 11: is a damaged Parquet file: row group 2 of 3") || info.Rows != 10 {
		t.Errorf("%d rows, %v", info.Rows, err)
	}
	// A footer that asks for gigabytes.
	for _, footer := range []string{"\x15\x02\x19\xfc\xff\xff\xff\xff\x07", "\x15\x02\x28\xff\xff\xff\xff\x07abc", strings.Repeat("\x1c", 100)} {
		bomb := "PAR1" + footer + string([]byte{byte(len(footer)), 0, 0, 0}) + "PAR1"
		if _, err := dataset.Open(write(t, "a.parquet", bomb), dataset.Options{}); err == nil || !strings.Contains(err.Error(), "its footer can't be read") {
			t.Errorf("%q: %v", footer, err)
		}
	}
}

func FuzzParquet(f *testing.F) {
	f.Add([]byte(parquetFile(f, qas(3))))
	f.Add([]byte(parquetFile(f, qas(12), parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(2))))
	files, err := filepath.Glob(filepath.Join("testdata", "parquet", "*.parquet"))
	if err != nil || len(files) == 0 {
		f.Fatal("no files to start from", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := dataset.Open("-", dataset.Options{Stdin: bytes.NewReader(text), Format: dataset.Parquet, SkipBadLines: true, MaxRecord: 1 << 16, TempDir: t.TempDir()})
		if err != nil {
			return
		}
		defer r.Close()
		for {
			if _, err := r.Next(); err != nil {
				if err != io.EOF && !errors.As(err, new(*dataset.LineError)) {
					t.Fatal(err)
				}
				return
			}
		}
	})
}

// TestMutatedParquet spoils files in many ways, always the same: none makes the
// reader panic, hang or take more memory than such a file is worth.
func TestMutatedParquet(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	files, err := filepath.Glob(filepath.Join("testdata", "parquet", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files to spoil", err)
	}
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 400
	for i := range rounds {
		text, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + chance.IntN(6) {
			text[chance.IntN(len(text))] = byte(chance.IntN(256))
			text[len(text)-9-chance.IntN(1000)] = byte(chance.IntN(256)) // of the footer
		}
		if i%3 == 0 {
			at := chance.IntN(len(text))
			text = slices.Delete(text, at, min(len(text), at+1+chance.IntN(30)))
		}
		r, err := dataset.Open("-", dataset.Options{Stdin: bytes.NewReader(text), MaxRecord: 1 << 16, SkipBadLines: true, TempDir: t.TempDir()})
		if err != nil {
			continue
		}
		for err == nil {
			_, err = r.Next()
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > 8<<20 {
		t.Errorf("%d bytes taken for each file of some 10 KB", each)
	}
}
