package trec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/ranking"
)

// FuzzEvaluate: whatever the bytes of the two files, there is a result or an
// *Error, no panic and no hang; the block size changes neither; every share
// lies within 0..1.
func FuzzEvaluate(f *testing.F) {
	for _, pattern := range []string{"testdata/edge/*.run"} {
		runs, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range runs {
			run, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			qrels, err := os.ReadFile(path[:len(path)-len("run")] + "qrels")
			if err != nil {
				f.Fatal(err)
			}
			f.Add(run, qrels, uint8(0), false)
			f.Add(run, qrels, uint8(3), true)
		}
	}
	f.Add([]byte("\x1f\x8b"), []byte("\x28\xb5\x2f\xfd"), uint8(0), false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, run, qrels []byte, size uint8, rag bool) {
		opt := Options{Measures: all(t), Complete: size%2 == 1, Depth: int(size % 5)}
		if rag {
			opt.Convention = ranking.RAG
		}
		want, err := evaluateBytes(t, dir, run, qrels, opt)
		checkError(t, err)
		opt.block, opt.Workers = int(size)+1, 1+int(size%3)
		got, err2 := evaluateBytes(t, dir, run, qrels, opt)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("%v, and by blocks of %d: %v", err, opt.block, err2)
		}
		if err != nil {
			return
		}
		for i, m := range want.Measures {
			if a, b := want.All[i], got.All[i]; a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
				t.Fatalf("%s: %v, and by blocks of %d: %v", m.Name, a, opt.block, b)
			}
			if v := want.All[i]; !m.Whole() && !m.Text() && m.Overall() && m.def.name != "utility" && !math.IsNaN(v) && !(v >= 0 && v <= 1) {
				t.Fatalf("%s: %v", m.Name, v)
			}
		}
		for _, format := range Formats {
			if err := want.Write(io.Discard, format, About{Options: opt}, true); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.File == "" || e.Reason == "") {
		t.Fatalf("%T: %v, want an *Error with file and reason", err, err)
	}
}

// FuzzEachQuery: the same for the reader of samples.
func FuzzEachQuery(f *testing.F) {
	f.Add([]byte("2 Q0 b 1 5 r\n1 Q0 a 1 5 r\n2 Q0 c 2 9 r\n"))
	f.Add([]byte("1 Q0 a 1 5 r\n\n1 Q0 a 1 inf r"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, run []byte) {
		path := filepath.Join(dir, "run")
		if err := os.WriteFile(path, run, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		seen := map[string]bool{}
		size := 0
		err = EachQuery(ctx, in, func(r Ranked) error {
			if seen[r.Query] || len(r.Documents) == 0 {
				t.Fatalf("query %q came again, or has no documents", r.Query)
			}
			seen[r.Query] = true
			for _, d := range r.Documents {
				size += len(d)
			}
			return nil
		})
		checkError(t, err)
		if packed := bytes.HasPrefix(run, []byte{0x1f, 0x8b}) || bytes.HasPrefix(run, []byte{0x28, 0xb5}); size > len(run) && !packed {
			t.Fatalf("%d bytes of ids of %d bytes", size, len(run))
		}
	})
}
