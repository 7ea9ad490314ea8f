//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What stands at OUT and is no file is written to, not replaced: with --force
// /dev/null would become a file, for the whole machine. A link stays a link, and
// a replaced file keeps who may read it.
func TestConvertKeepsWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	in, pipe, link, real := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "pipe.jsonl"), filepath.Join(dir, "link.jsonl"), filepath.Join(dir, "real.jsonl")
	const want = `{"id":"1","user_input":"q","response":"a"}` + "\n"
	for path, text := range map[string]string{in: `{"id":1,"question":"q","answer":"a"}`, real: "old"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	read := make(chan string)
	go func() {
		b, err := os.ReadFile(pipe)
		if err != nil {
			b = []byte(err.Error())
		}
		read <- string(b)
	}()
	for _, out := range []string{pipe, link} {
		var errw bytes.Buffer
		if code := Main(context.Background(), []string{"data", "convert", "--force", in, out}, nil, strings.NewReader(""), &bytes.Buffer{}, &errw); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", out, code, errw.Bytes())
		}
	}
	if got := <-read; got != want {
		t.Errorf("the pipe gave %q", got)
	}
	if st, err := os.Lstat(pipe); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", st.Mode(), err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", st.Mode(), err)
	}
	if b, err := os.ReadFile(real); err != nil || string(b) != want {
		t.Errorf("behind the link stands %q, %v", b, err)
	}
	if st, err := os.Stat(real); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("behind the link: %v, %v", st.Mode(), err)
	}
}
