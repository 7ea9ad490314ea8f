package cache_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/cache"
)

// filled makes a closed cache of n entries "e0", "e1"... each with a value of
// size bytes that starts with its name.
func filled(t testing.TB, n, size int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), cache.FileName)
	d, err := cache.Open(path, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := fmt.Sprintf("e%d", i)
		mustPut(t, d, name, sized(name, size))
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func sized(name string, size int) string {
	return name + strings.Repeat(".", max(0, size-len(name)))
}

func TestDamagedEntryIsAMiss(t *testing.T) {
	for name, sql := range map[string]string{
		"value":         "UPDATE entries SET v = CAST('forged' AS BLOB) WHERE k = ?",
		"one bit":       "UPDATE entries SET v = CAST(replace(CAST(v AS TEXT), 'v', 'w') AS BLOB) WHERE k = ?",
		"time":          "UPDATE entries SET t = t + 1 WHERE k = ?",
		"checksum":      "UPDATE entries SET s = zeroblob(32) WHERE k = ?",
		"no checksum":   "UPDATE entries SET s = x'' WHERE k = ?",
		"cut value":     "UPDATE entries SET v = substr(v, 1, 2) WHERE k = ?",
		"other's value": "UPDATE entries SET (t, s, v) = (SELECT t, s, v FROM entries WHERE k != ?1) WHERE k = ?1",
	} {
		t.Run(name, func(t *testing.T) {
			var w warnings
			path := filepath.Join(t.TempDir(), cache.FileName)
			d := open(t, path, cache.Options{Warn: w.add})
			mustPut(t, d, "bad", "value")
			mustPut(t, d, "good", "value")
			bad := key("bad")
			if err := d.ExecForTest(sql, bad[:]); err != nil {
				t.Fatal(err)
			}
			ro := open(t, path, cache.Options{ReadOnly: true})
			wantMiss(t, ro, "bad")
			wantMiss(t, ro, "bad")
			if ro.Corrupt() != 2 {
				t.Errorf("the reader counts %d, want 2: it may not remove the entry", ro.Corrupt())
			}
			wantMiss(t, d, "bad")
			wantMiss(t, d, "bad")
			wantHit(t, d, "good", "value")
			s, err := d.Stats(t.Context())
			if err != nil || s.Entries != 1 || s.Corrupt != 1 {
				t.Errorf("Stats = %+v, %v; want 1 entry, 1 corrupt", s, err)
			}
			if !strings.Contains(w.String(), "damaged") {
				t.Errorf("warnings: %q", w.String())
			}
			mustPut(t, d, "bad", "again")
			wantHit(t, d, "bad", "again")
		})
	}
}

// damages are ways in which the file as a whole can be broken so that Open
// meets it.
var damages = map[string]func([]byte) []byte{
	"not SQLite":       func(b []byte) []byte { return []byte(strings.Repeat("this is not a database\n", 50)) },
	"zeros":            func(b []byte) []byte { return make([]byte, len(b)) },
	"garbage":          func(b []byte) []byte { return bytes.Repeat([]byte{0xA5, 0x5A, 0x17}, len(b)/3) },
	"cut in half":      func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
	"cut inside":       func(b []byte) []byte { return b[:len(b)/2+100] },
	"header cut":       func(b []byte) []byte { return b[:60] },
	"schema destroyed": func(b []byte) []byte { copy(b[100:4096], bytes.Repeat([]byte{0xff}, 4096)); return b },
}

func TestDamagedFileIsReplaced(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := filled(t, 200, 500)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			broken := damage(whole)
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}

			if d, err := cache.Open(path, cache.Options{ReadOnly: true}); err == nil {
				d.Close()
				t.Error("opened for reading")
			} else if !errors.Is(err, cache.ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("for reading: %v", err)
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, broken) {
				t.Error("opening for reading changed the file")
			}

			var w warnings
			d := open(t, path, cache.Options{Warn: w.add})
			wantMiss(t, d, "e0")
			mustPut(t, d, "e0", "new")
			wantHit(t, d, "e0", "new")
			aside := asideOf(t, path)
			if kept, _ := os.ReadFile(aside); !bytes.Equal(kept, broken) {
				t.Error("the damaged file was not kept as it was")
			}
			if !strings.Contains(w.String(), aside) || !strings.Contains(w.String(), path) {
				t.Errorf("warnings: %q", w.String())
			}
			if v, err := d.Verify(t.Context()); err != nil || !v.OK() {
				t.Errorf("Verify of the new file: %+v, %v", v, err)
			}
		})
	}
}

// asideOf returns the one damaged file that was moved aside.
func asideOf(t *testing.T, path string) string {
	t.Helper()
	names, err := filepath.Glob(path + ".damaged-*Z")
	if err != nil || len(names) != 1 {
		t.Fatalf("files moved aside: %v, %v", names, err)
	}
	return names[0]
}

// An old log beside a new file must not be taken for the new one's.
func TestDamagedFileWithItsLog(t *testing.T) {
	path := filled(t, 10, 100)
	for name, text := range map[string]string{path: "garbage\n", path + "-wal": "log", path + "-shm": "index"} {
		if err := os.WriteFile(name, bytes.Repeat([]byte(text), 5000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, path, cache.Options{})
	mustPut(t, d, "a", "1")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	wantHit(t, open(t, path, cache.Options{}), "a", "1")
	asideOf(t, path)
}

func TestGarbageBesideAGoodFile(t *testing.T) {
	path := filled(t, 10, 100)
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.WriteFile(path+suffix, bytes.Repeat([]byte("garbage"), 9000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, path, cache.Options{})
	wantHit(t, d, "e3", sized("e3", 100))
	mustPut(t, d, "a", "1")
	wantHit(t, d, "a", "1")
}

// garble overwrites every page but the first few: what Open reads is sound,
// what comes later is not.
func garble(t *testing.T, path string, from, to float64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := float64(len(b) / 4096)
	for p := int(max(6, pages*from)); p < int(pages*to); p++ {
		copy(b[p*4096:(p+1)*4096], bytes.Repeat([]byte{0xA5}, 4096))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamageFoundLater(t *testing.T) {
	path := filled(t, 500, 500)
	garble(t, path, 0, 1)
	var w warnings
	d := open(t, path, cache.Options{Warn: w.add})
	for i := range 500 {
		name := fmt.Sprintf("e%d", i)
		v, _, ok, err := d.Get(t.Context(), key(name))
		if err != nil || ok && string(v) != sized(name, 500) {
			t.Fatalf("Get(%s) = %q, %t, %v", name, v, ok, err)
		}
	}
	if d.Corrupt() == 0 {
		t.Error("no damage was counted")
	}
	for i := range 300 {
		name := fmt.Sprintf("new%d", i)
		mustPut(t, d, name, sized(name, 500))
	}
	for i := range 300 {
		name := fmt.Sprintf("new%d", i)
		wantHit(t, d, name, sized(name, 500))
	}
	if !strings.Contains(w.String(), asideOf(t, path)) {
		t.Errorf("warnings: %q", w.String())
	}
}

func TestVerifyRemovesDamagedEntries(t *testing.T) {
	path := filled(t, 1200, 20)
	d := open(t, path, cache.Options{})
	if err := d.ExecForTest("UPDATE entries SET v = zeroblob(3) WHERE rowid % 100 = 0"); err != nil {
		t.Fatal(err)
	}
	ro := open(t, path, cache.Options{ReadOnly: true})
	for range 2 {
		if v, err := ro.Verify(t.Context()); err != nil || v.Checked != 1200 || v.Damaged != 12 || v.OK() {
			t.Errorf("Verify with ReadOnly: %+v, %v", v, err)
		}
	}
	if v, err := d.Verify(t.Context()); err != nil || v.Checked != 1200 || v.Damaged != 12 || v.OK() {
		t.Errorf("first Verify: %+v, %v", v, err)
	}
	if v, err := d.Verify(t.Context()); err != nil || v.Checked != 1188 || v.Damaged != 0 || !v.OK() {
		t.Errorf("second Verify: %+v, %v", v, err)
	}
}

func TestVerifySavesWhatIsIntact(t *testing.T) {
	const n = 800
	path := filled(t, n, 700)
	garble(t, path, 0.5, 0.6)
	d := open(t, path, cache.Options{})
	v, err := d.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.OK() || v.Aside != asideOf(t, path) || v.Saved < n/2 || v.Saved >= n {
		t.Errorf("Verify: %+v", v)
	}
	found := int64(0)
	for i := range n {
		name := fmt.Sprintf("e%d", i)
		got, _, ok, err := d.Get(t.Context(), key(name))
		if err != nil || ok && string(got) != sized(name, 700) {
			t.Fatalf("Get(%s) = %.20q, %t, %v", name, got, ok, err)
		}
		if ok {
			found++
		}
	}
	if found != v.Saved {
		t.Errorf("%d entries are there, %d were saved", found, v.Saved)
	}
	if v, err := d.Verify(t.Context()); err != nil || !v.OK() || v.Checked != found {
		t.Errorf("second Verify: %+v, %v", v, err)
	}
}

func TestVerifyOfADamagedFileWithReadOnly(t *testing.T) {
	path := filled(t, 500, 500)
	garble(t, path, 0.3, 0.9)
	before, _ := os.ReadFile(path)
	d := open(t, path, cache.Options{ReadOnly: true})
	if v, err := d.Verify(t.Context()); err != nil || len(v.Structure) == 0 || v.Aside != "" {
		t.Errorf("Verify: %+v, %v", v, err)
	}
	after, _ := os.ReadFile(path)
	if !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

// A cache that two handles share is replaced once, and both go on with the new
// file.
func TestReplacedByAnother(t *testing.T) {
	path := filled(t, 500, 500)
	garble(t, path, 0.3, 0.9)
	a, b := open(t, path, cache.Options{}), open(t, path, cache.Options{})
	if v, err := a.Verify(t.Context()); err != nil || v.Aside == "" {
		t.Fatalf("Verify: %+v, %v", v, err)
	}
	mustPut(t, b, "from b", "1")
	mustPut(t, a, "from a", "2")
	wantHit(t, a, "from b", "1")
	wantHit(t, b, "from a", "2")
	asideOf(t, path)
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, cache.FileName)
	if _, err := cache.Open(path, cache.Options{}); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "RAGJUDGE_CACHE") {
		t.Errorf("Open: %v", err)
	}
}
