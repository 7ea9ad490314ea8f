package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FuzzRetrieval: whatever the bytes of the two files, the command ends with a
// result, or with a message and the exit code of bad input.
func FuzzRetrieval(f *testing.F) {
	f.Add([]byte("1 Q0 a 1 5 r\n"), []byte("1 0 a 1\n"), false)
	f.Add([]byte("1 Q0 a 1 5 r\n2 Q0 a 1 x r\n"), []byte("1 0 a -1\n\n"), true)
	f.Add([]byte("2 Q0 b 1 5 r\n1 Q0 a 1 5 r\n2 Q0 b 2 9 r\n"), []byte("2 0 b 2\n1 0 a 1.5\n"), true)
	f.Add([]byte("\x1f\x8b\x08"), []byte("\x28\xb5\x2f\xfd\x00"), false)
	f.Add([]byte("\xef\xbb\xbf1 Q0 a\x00 1 5 r\r\n"), []byte("a\xff\xfe\n"), false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, run, qrels []byte, rag bool) {
		runPath, qrelsPath := filepath.Join(dir, "run"), filepath.Join(dir, "qrels")
		for path, b := range map[string][]byte{runPath: run, qrelsPath: qrels} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"retrieval", "-q", "-m", "all_trec,rag", runPath, qrelsPath}
		if rag {
			args = append(args, "--convention", "rag", "--format", "json")
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		var out, errw bytes.Buffer
		code := Main(ctx, args, nil, strings.NewReader(""), &out, &errw)
		switch {
		case code == exitOK && out.Len() > 0:
		case code == exitUsage && out.Len() == 0 && errw.Len() > 0:
		default:
			t.Fatalf("exit code %d, %d bytes of results, and\n%s", code, out.Len(), errw.Bytes())
		}
	})
}
