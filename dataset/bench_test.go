package dataset_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/dataset"
)

const benchRows = 5000

// benchFile writes samples of about 4 KB.
func benchFile(b testing.TB, name string, rows int) (path string, size int64) {
	b.Helper()
	path = filepath.Join(b.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	chunk := strings.Repeat("The plan covers \"preventive\" care, in-network.\\nSee the handbook: 3.5 km. ", 16)
	cell := strings.ReplaceAll(chunk, `"`, `""`)
	if strings.HasSuffix(name, ".csv") {
		fmt.Fprintln(w, "id,question,answer,contexts,category")
	}
	for i := range rows {
		if strings.HasSuffix(name, ".csv") {
			fmt.Fprintf(w, "%d,what is covered in case %d?,\"yes: %.400s\",\"[\"\"a\"\", \"\"b\"\"]%s\",x\n", i, i, cell[:398], strings.Repeat(" ", 3300))
			continue
		}
		c := strings.ReplaceAll(chunk, `"`, `\"`)
		fmt.Fprintf(w, `{"id":%d,"question":"what is covered in case %d?","answer":"yes: %.400s","contexts":[{"id":"d1","text":"%s"},{"id":"d2","text":"%s"},{"id":"d3","text":"%s"}],"category":"x","latency":1.25}`+"\n", i, i, chunk[:16], c, c, c)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	st, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return path, st.Size()
}

func BenchmarkReadAndSplitOnly(b *testing.B) {
	path, size := benchFile(b, "a.jsonl", benchRows)
	b.SetBytes(size)
	for b.Loop() {
		splitOnly(b, path, size)
	}
}

// splitOnly reads a file and makes a slice of each line.
func splitOnly(b *testing.B, path string, size int64) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 256<<10)
	n := 0
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		n += len(line)
	}
	if int64(n) != size {
		b.Fatal(n)
	}
}

// BenchmarkInputPath compares turn by turn: reading and splitting a file, the
// pass that gives samples, and the scan before it. It reports how many times as
// long each takes, by the clock, which other work on the machine disturbs, and
// in processor time.
func BenchmarkInputPath(b *testing.B) {
	const rounds = 9
	path, size := benchFile(b, "a.jsonl", benchRows)
	steps := []func(){func() { splitOnly(b, path, size) }, func() { readOnce(b, path, false) }, func() { readOnce(b, path, true) }}
	for b.Loop() {
		var wall, cpu [3][]float64
		for range rounds {
			for i, step := range steps {
				began, used := time.Now(), processorTime()
				step()
				wall[i] = append(wall[i], time.Since(began).Seconds())
				cpu[i] = append(cpu[i], (processorTime() - used).Seconds())
			}
		}
		median := func(v []float64) float64 { slices.Sort(v); return v[len(v)/2] }
		split, splitCPU := median(wall[0]), median(cpu[0])
		b.ReportMetric(float64(size)/split/1e6, "split-MB/s")
		b.ReportMetric(float64(size)/median(wall[1])/1e6, "next-MB/s")
		b.ReportMetric(median(wall[1])/split, "next/split")
		b.ReportMetric(median(wall[2])/split, "scan/split")
		if splitCPU > 0 {
			b.ReportMetric(median(cpu[1])/splitCPU, "next/split-cpu")
			b.ReportMetric(median(cpu[2])/splitCPU, "scan/split-cpu")
		}
	}
}

func BenchmarkEncodingJSON(b *testing.B) {
	path, size := benchFile(b, "a.jsonl", benchRows)
	b.SetBytes(size)
	for b.Loop() {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var s struct {
				ID       json.Number
				Question string
				Answer   string
				Contexts []struct{ ID, Text string }
				Category string
			}
			if err := json.Unmarshal(line, &s); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkEncodingCSV(b *testing.B) {
	path, size := benchFile(b, "a.csv", benchRows)
	b.SetBytes(size)
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := csv.NewReader(f).ReadAll(); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

func benchNext(b *testing.B, name string, scan bool) {
	path, size := benchFile(b, name, benchRows)
	b.SetBytes(size)
	for b.Loop() {
		readOnce(b, path, scan)
	}
}

// readOnce reads a file of benchRows rows from its start to its end.
func readOnce(b *testing.B, path string, scan bool) {
	r, err := dataset.Open(path, dataset.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	if scan {
		if _, err := r.Scan(); err != nil {
			b.Fatal(err)
		}
		return
	}
	n := 0
	for ; ; n++ {
		if _, err := r.Next(); err == io.EOF {
			break
		} else if err != nil {
			b.Fatal(err)
		}
	}
	if n != benchRows {
		b.Fatal(n)
	}
}

func BenchmarkNextJSONL(b *testing.B) { benchNext(b, "a.jsonl", false) }
func BenchmarkNextCSV(b *testing.B)   { benchNext(b, "a.csv", false) }
func BenchmarkScanJSONL(b *testing.B) { benchNext(b, "a.jsonl", true) }

// TestMemoryIsFlat reads ten times as many rows and looks at what is held: no
// more than the ids need.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a file of some megabytes")
	}
	const rows, perRow = 50_000, 100
	path := filepath.Join(t.TempDir(), "a.jsonl")
	var text bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&text, "{\"id\":%d,\"question\":\"q\",\"answer\":%q}\n", i, strings.Repeat("x", 400))
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text = bytes.Buffer{}
	r, err := dataset.Open(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := heap()
	for range rows - 1 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if held := heap() - before; held > rows*perRow {
		t.Errorf("without a scan: %d bytes held after %d rows", held, rows)
	}
	if _, err := r.Scan(); err != nil {
		t.Fatal(err)
	}
	for range rows - 1 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if held := heap() - before; held > 4<<20 {
		t.Errorf("after a scan: %d bytes held after %d rows", held, rows)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
