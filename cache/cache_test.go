package cache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragjudge/ragjudge/cache"
	"github.com/ragjudge/ragjudge/llm"
)

// Only the test imports llm: the cache itself knows nothing of it.
var _ llm.Store = (*cache.Disk)(nil)

func TestMain(m *testing.M) {
	if childMain() {
		return
	}
	goleak.VerifyTestMain(m)
}

// warnings collects what a cache warns of.
type warnings struct {
	mu   sync.Mutex
	text []string
}

func (w *warnings) add(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, s)
}

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.text, "\n")
}

func open(t testing.TB, path string, opt cache.Options) *cache.Disk {
	t.Helper()
	d, err := cache.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func key(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func mustPut(t testing.TB, d *cache.Disk, k, v string) {
	t.Helper()
	if err := d.Put(context.Background(), key(k), []byte(v)); err != nil {
		t.Fatal(err)
	}
}

// wantHit and wantMiss check what is under the key of a name.
func wantHit(t testing.TB, d *cache.Disk, k, want string) {
	t.Helper()
	v, _, ok, err := d.Get(context.Background(), key(k))
	if err != nil || !ok || string(v) != want {
		t.Fatalf("Get(%s) = %q, %t, %v; want %q", k, v, ok, err, want)
	}
}

func wantMiss(t testing.TB, d *cache.Disk, k string) {
	t.Helper()
	v, _, ok, err := d.Get(context.Background(), key(k))
	if err != nil || ok {
		t.Fatalf("Get(%s) = %q, %t, %v; want a miss", k, v, ok, err)
	}
}

func TestPutGet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", cache.FileName)
	d := open(t, path, cache.Options{})
	wantMiss(t, d, "absent")
	before := time.Now().UnixMilli()
	big := strings.Repeat("x", 3<<20)
	values := map[string]string{"plain": "value", "empty": "", "binary": "\x00\xff\n\x00", "big": big}
	for k, v := range values {
		mustPut(t, d, k, v)
	}
	if err := d.Put(t.Context(), key("nil"), nil); err != nil {
		t.Fatal(err)
	}
	values["nil"] = ""
	mustPut(t, d, "plain", "replaced")
	values["plain"] = "replaced"
	for k, v := range values {
		wantHit(t, d, k, v)
	}
	_, at, _, _ := d.Get(t.Context(), key("plain"))
	if at < before || at > time.Now().UnixMilli() {
		t.Errorf("put time %d is not between %d and now", at, before)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open(t, path, cache.Options{})
	for k, v := range values {
		wantHit(t, d, k, v)
	}
	s, err := d.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Entries != 5 || s.Bytes != int64(len("replaced")+4+len(big)) || s.FileSize < s.Bytes || s.Path != path || s.Corrupt != 0 {
		t.Errorf("Stats = %+v", s)
	}
	if s.Oldest.UnixMilli() < before || s.Newest.Before(s.Oldest) {
		t.Errorf("times: %v to %v", s.Oldest, s.Newest)
	}
}

func TestValueIsCopied(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), cache.FileName), cache.Options{})
	buf := []byte("first")
	if err := d.Put(t.Context(), key("a"), buf); err != nil {
		t.Fatal(err)
	}
	copy(buf, "other")
	wantHit(t, d, "a", "first")
	v, _, _, _ := d.Get(t.Context(), key("a"))
	copy(v, "wrong")
	wantHit(t, d, "a", "first")
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"with space", "per%20cent", "quest?ion=1&mode=ro", "ha#sh", "naïve-日本", "semi;colon"} {
		path := filepath.Join(t.TempDir(), name, "c?a%h#e.db")
		d := open(t, path, cache.Options{})
		mustPut(t, d, "a", "1")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the file is not at its path: %v", err)
		}
		wantHit(t, open(t, path, cache.Options{ReadOnly: true}), "a", "1")
	}
}

func TestClosed(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), cache.FileName), cache.Options{})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	_, _, _, getErr := d.Get(t.Context(), key("a"))
	_, statsErr := d.Stats(t.Context())
	_, clearErr := d.Clear(t.Context())
	for name, err := range map[string]error{
		"Get": getErr, "Put": d.Put(t.Context(), key("a"), nil), "Stats": statsErr, "Clear": clearErr,
	} {
		if !errors.Is(err, cache.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func TestCloseCommitsWhatIsBeingPut(t *testing.T) {
	path := filepath.Join(t.TempDir(), cache.FileName)
	d := open(t, path, cache.Options{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var acknowledged []string
	for g := range 16 {
		wg.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("%d-%d", g, i)
				err := d.Put(context.Background(), key(name), []byte(name))
				if errors.Is(err, cache.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, name)
				mu.Unlock()
			}
		})
	}
	for {
		mu.Lock()
		n := len(acknowledged)
		mu.Unlock()
		if n > 200 {
			break
		}
		runtime.Gosched()
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	d = open(t, path, cache.Options{})
	for _, name := range acknowledged {
		wantHit(t, d, name, name)
	}
}

func TestCancelledContext(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), cache.FileName), cache.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Put(ctx, key("a"), []byte("1")); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
	if _, _, _, err := d.Get(ctx, key("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: %v", err)
	}
	wantMiss(t, d, "a")
}

func TestTooLargeValue(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), cache.FileName), cache.Options{})
	err := d.Put(t.Context(), key("a"), make([]byte, cache.MaxValue+1))
	if err == nil || !strings.Contains(err.Error(), d.Path()) {
		t.Errorf("Put of too much: %v", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), cache.FileName)
	// Two handles in one process stand for two parts of a program.
	disks := []*cache.Disk{open(t, path, cache.Options{}), open(t, path, cache.Options{})}
	const goroutines, each = 32, 40
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			d := disks[g%2]
			for i := range each {
				name := fmt.Sprintf("%d-%d", g, i)
				value := []byte(strings.Repeat(name, 1+i))
				if err := d.Put(context.Background(), key(name), value); err != nil {
					t.Error(err)
					return
				}
				got, _, ok, err := disks[(g+1)%2].Get(context.Background(), key(name))
				if err != nil || !ok || !bytes.Equal(got, value) {
					t.Errorf("%s through the other handle: %t, %v", name, ok, err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for range 5 {
			if _, err := disks[0].Stats(context.Background()); err != nil {
				t.Error(err)
			}
			if v, err := disks[1].Verify(context.Background()); err != nil || !v.OK() {
				t.Errorf("Verify: %+v, %v", v, err)
			}
		}
	})
	wg.Wait()
	s, err := disks[0].Stats(t.Context())
	if err != nil || s.Entries != goroutines*each {
		t.Errorf("Stats: %+v, %v", s, err)
	}
}

func TestFullDisk(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), cache.FileName), cache.Options{})
	mustPut(t, d, "before", "kept")
	if err := d.ExecForTest("PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	err := d.Put(t.Context(), key("big"), make([]byte, 1<<20))
	if err == nil || !strings.Contains(err.Error(), d.Path()) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("Put on a full disk: %v", err)
	}
	wantHit(t, d, "before", "kept")
	wantMiss(t, d, "big")
	if err := d.ExecForTest("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	mustPut(t, d, "after", "stored once there is space")
	wantHit(t, d, "after", "stored once there is space")
}

func TestRemovedWhileInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	path := filepath.Join(dir, cache.FileName)
	var w warnings
	d := open(t, path, cache.Options{Warn: w.add})
	mustPut(t, d, "a", "1")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	mustPut(t, d, "b", "2")
	wantHit(t, d, "b", "2")
	if !strings.Contains(w.String(), "removed or replaced while in use") {
		t.Errorf("warnings: %q", w.String())
	}
	wantHit(t, open(t, path, cache.Options{}), "b", "2")
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	db, err := cache.RawForTest(foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE notes (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	newer := filepath.Join(dir, "newer.db")
	d := open(t, newer, cache.Options{})
	if err := d.ExecForTest("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	d.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		is   error
		say  string
	}{
		{foreign, cache.ErrForeign, "another program"},
		{newer, cache.ErrForeign, "format 99"},
		{dir, nil, "not a regular file"},
		{filepath.Join(file, "x.db"), nil, "not a"},
	} {
		before, _ := os.ReadFile(c.path)
		mode := fs.FileMode(0)
		if info, err := os.Stat(c.path); err == nil {
			mode = info.Mode()
		}
		for _, readOnly := range []bool{false, true} {
			d, err := cache.Open(c.path, cache.Options{ReadOnly: readOnly})
			if err == nil {
				d.Close()
				t.Errorf("%s: opened", c.path)
				continue
			}
			if !strings.Contains(err.Error(), c.path) || !strings.Contains(err.Error(), c.say) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: %v", c.path, err)
			}
		}
		after, _ := os.ReadFile(c.path)
		if info, err := os.Stat(c.path); err == nil && info.Mode() != mode {
			t.Errorf("%s: the mode was changed to %v", c.path, info.Mode())
		}
		if !bytes.Equal(before, after) {
			t.Errorf("%s was changed", c.path)
		}
	}
}

func TestReadOnlyNeedsAFile(t *testing.T) {
	dir := t.TempDir()
	_, err := cache.Open(filepath.Join(dir, "no.db"), cache.Options{ReadOnly: true})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("the folder was written: %v", entries)
	}
}

func TestDefaultDir(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env       map[string]string
		dir, from string
	}{
		"named":            {map[string]string{"RAGJUDGE_CACHE": "some/dir", "XDG_CACHE_HOME": home, "HOME": home}, "some/dir", "RAGJUDGE_CACHE"},
		"xdg":              {map[string]string{"XDG_CACHE_HOME": home + "/xdg/deep", "HOME": home}, home + "/xdg/deep/ragjudge", "XDG_CACHE_HOME"},
		"relative xdg":     {map[string]string{"XDG_CACHE_HOME": "xdg", "HOME": home}, home + "/.cache/ragjudge", "HOME"},
		"home":             {map[string]string{"HOME": home}, home + "/.cache/ragjudge", "HOME"},
		"nothing":          {map[string]string{"PATH": "/usr/bin"}, ".ragjudge-cache", "the working directory"},
		"root as home":     {map[string]string{"HOME": "/"}, ".ragjudge-cache", "the working directory"},
		"home is a file":   {map[string]string{"HOME": file}, ".ragjudge-cache", "the working directory"},
		"unusable xdg":     {map[string]string{"XDG_CACHE_HOME": file, "HOME": home}, home + "/.cache/ragjudge", "HOME"},
		"empty is not set": {map[string]string{"RAGJUDGE_CACHE": "", "XDG_CACHE_HOME": "", "HOME": home}, home + "/.cache/ragjudge", "HOME"},
	} {
		dir, from := cache.DefaultDir(func(k string) string { return c.env[k] })
		if dir != c.dir || !strings.HasPrefix(from, c.from) {
			t.Errorf("%s: %q from %q, want %q from %q", name, dir, from, c.dir, c.from)
		}
	}
	if entries, _ := os.ReadDir(home); len(entries) != 1 {
		t.Errorf("DefaultDir wrote: %v", entries)
	}
}
