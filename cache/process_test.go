//go:build unix

package cache_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ragjudge/ragjudge/cache"
)

// The test binary runs itself as another process: CACHE_CHILD says what to do.
//
//	put PATH PREFIX N   puts N entries with 8 goroutines (N = 0: without end) and
//	                    prints each name when Put has returned
//	get PATH NAME       reads an entry with ReadOnly and prints it
func childMain() bool {
	args := strings.Split(os.Getenv("CACHE_CHILD"), "|")
	var err error
	switch args[0] {
	case "put":
		n, _ := strconv.Atoi(args[3])
		err = childPut(args[1], args[2], n)
	case "get":
		err = childGet(args[1], args[2])
	default:
		return false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func childPut(path, prefix string, n int) error {
	syscall.Umask(0o022)
	d, err := cache.Open(path, cache.Options{Warn: func(s string) { fmt.Fprintln(os.Stderr, s) }})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var out sync.Mutex
	errs := make(chan error, 8)
	for g := range 8 {
		wg.Go(func() {
			for i := g; n == 0 || i < n; i += 8 {
				name := fmt.Sprintf("%s%d", prefix, i)
				if err := d.Put(context.Background(), key(name), []byte(valueOf(name))); err != nil {
					errs <- err
					return
				}
				out.Lock()
				fmt.Println(name)
				out.Unlock()
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return d.Close()
	}
}

func childGet(path, name string) error {
	d, err := cache.Open(path, cache.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer d.Close()
	v, _, ok, err := d.Get(context.Background(), key(name))
	fmt.Printf("%s %t", v, ok)
	return err
}

func valueOf(name string) string { return strings.Repeat(name+" ", 1+len(name)*20) }

func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "CACHE_CHILD="+strings.Join(args, "|"))
	cmd.Stderr = os.Stderr
	return cmd
}

func TestSeveralProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", cache.FileName)
	const processes, each = 3, 300
	var wg sync.WaitGroup
	for p := range processes {
		cmd := child(t, "put", path, fmt.Sprintf("p%d-", p), strconv.Itoa(each))
		wg.Go(func() {
			if out, err := cmd.Output(); err != nil || strings.Count(string(out), "\n") != each {
				t.Errorf("process %d: %d lines, %v", p, strings.Count(string(out), "\n"), err)
			}
		})
	}
	wg.Wait()
	d := open(t, path, cache.Options{})
	for p := range processes {
		for i := range each {
			name := fmt.Sprintf("p%d-%d", p, i)
			wantHit(t, d, name, valueOf(name))
		}
	}
}

// TestKill9 kills a writing process and expects every entry that it had been
// told was stored.
func TestKill9(t *testing.T) {
	path := filepath.Join(t.TempDir(), cache.FileName)
	for round, after := range []int{1, 57, 400} {
		names := putAndKill(t, path, fmt.Sprintf("r%d-", round), after)
		// Reading first: it must see what is in the log, and leave all as it is.
		before := snapshot(t, filepath.Dir(path))
		ro, err := cache.Open(path, cache.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			wantHit(t, ro, name, valueOf(name))
		}
		ro.Close()
		if now := snapshot(t, filepath.Dir(path)); now != before {
			t.Errorf("reading changed the folder\nfrom %s\nto   %s", before, now)
		}
		d, err := cache.Open(path, cache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			wantHit(t, d, name, valueOf(name))
		}
		if v, err := d.Verify(t.Context()); err != nil || !v.OK() {
			t.Errorf("Verify: %+v, %v", v, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// putAndKill starts a writing process, kills it after so many acknowledged
// entries, and returns all that it acknowledged.
func putAndKill(t *testing.T, path, prefix string, after int) (names []string) {
	t.Helper()
	cmd := child(t, "put", path, prefix, "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReader(out); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			break // a torn last line was not acknowledged in full
		}
		names = append(names, strings.TrimSpace(line))
		if len(names) == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(names) < after {
		t.Fatalf("the process was not killed: %v, %d entries", err, len(names))
	}
	return names
}

// snapshot describes everything in a folder: names, modes, sizes, times.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		at := info.ModTime().UnixNano()
		if strings.HasSuffix(e.Name(), "-shm") && info.Mode().Perm()&0o200 != 0 {
			at = 0 // memory shared with a writer, where readers say what they read
		}
		fmt.Fprintf(&b, "%s %v %d %d\n", e.Name(), info.Mode(), info.Size(), at)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPermissions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, cache.FileName)
	// The child sets umask 022; killed, it leaves the log and its index.
	putAndKill(t, path, "x", 20)
	seen := 0
	for name, want := range map[string]fs.FileMode{
		filepath.Dir(dir): 0o700, dir: 0o700,
		path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
			continue
		}
		seen++
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o, want %04o", name, info.Mode().Perm(), want)
		}
	}
	if seen != 6 {
		t.Errorf("%d of 6 files are there", seen)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Chmod(path+suffix, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var w warnings
	open(t, path, cache.Options{Warn: w.add})
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path+suffix, info.Mode(), err)
		}
	}
	if !strings.Contains(w.String(), "0644") {
		t.Errorf("warnings: %q", w.String())
	}
}

// TestReadOnlyFolder reads a cache in a folder that the process may not write.
func TestReadOnlyFolder(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir, err := os.MkdirTemp("", "cache-ro-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o755); os.RemoveAll(dir) })
		path := filepath.Join(dir, cache.FileName)
		name := "x7"
		if killed {
			name = putAndKill(t, path, "x", 40)[7]
		} else {
			cmd := child(t, "put", path, "x", "40")
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
		}
		cmd := child(t, "get", path, name)
		if os.Getuid() == 0 {
			// Root may write everywhere, so the reader is somebody else.
			cmd.Path = copyBinary(t, cmd.Path, dir)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		for _, e := range glob(t, filepath.Join(dir, cache.FileName+"*")) {
			if err := os.Chmod(e, 0o444); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, dir)
		out, err := cmd.Output()
		if err != nil || string(out) != valueOf(name)+" true" {
			t.Errorf("killed %t: read %.40q, %v", killed, out, err)
		}
		if now := snapshot(t, dir); now != before {
			t.Errorf("killed %t: reading changed the folder\nfrom %s\nto   %s", killed, before, now)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names
}

// copyBinary puts the test binary where another user can run it.
func copyBinary(t *testing.T, exe, dir string) string {
	t.Helper()
	in, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	to := filepath.Join(dir, "child")
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestReadOnlySeesAWriter opens for reading before another process writes.
func TestReadOnlySeesAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), cache.FileName)
	d, err := cache.Open(path, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, d, "old", "1")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	ro := open(t, path, cache.Options{ReadOnly: true})
	wantHit(t, ro, "old", "1")
	wantMiss(t, ro, "new1")
	if out, err := child(t, "put", path, "new", "9").Output(); err != nil {
		t.Fatal(err, string(out))
	}
	wantHit(t, ro, "new1", valueOf("new1"))
	names := putAndKill(t, path, "later", 5)
	wantHit(t, ro, names[4], valueOf(names[4]))
}
