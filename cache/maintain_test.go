package cache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/cache"
)

// age sets the put times: entry i of n was put n-i hours ago. The checksums no
// longer hold then, which Prune does not look at.
func age(t *testing.T, d *cache.Disk, n int) {
	t.Helper()
	if err := d.ExecForTest("UPDATE entries SET t = ? - (? - rowid + 1) * 3600000", time.Now().UnixMilli(), n); err != nil {
		t.Fatal(err)
	}
}

func TestPruneByAge(t *testing.T) {
	const n = 1500
	d := open(t, filled(t, n, 1000), cache.Options{})
	age(t, d, n)
	before, err := d.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Prune(t.Context(), time.Now().Add(-500*time.Hour-time.Minute), 0)
	if err != nil || p.Entries != 1000 || p.Bytes != 1000*1000 {
		t.Errorf("Prune = %+v, %v", p, err)
	}
	s, err := d.Stats(t.Context())
	if err != nil || s.Entries != 500 || s.FileSize > before.FileSize/2 || s.FileSize != p.FileSize {
		t.Errorf("after: %+v, %v; before %+v", s, err, before)
	}
	if since := time.Since(s.Oldest); since > 501*time.Hour {
		t.Errorf("the oldest is %v old", since)
	}
	if p, err := d.Prune(t.Context(), time.Time{}, 0); err != nil || p.Entries != 0 {
		t.Errorf("without limits: %+v, %v", p, err)
	}
	if v, err := d.Verify(t.Context()); err != nil || len(v.Structure) != 0 {
		t.Errorf("Verify: %+v, %v", v, err)
	}
}

func TestPruneBySize(t *testing.T) {
	const n = 3000
	d := open(t, filled(t, n, 1000), cache.Options{})
	age(t, d, n)
	const limit = 1 << 20
	p, err := d.Prune(t.Context(), time.Time{}, limit)
	if err != nil || p.FileSize > limit || p.FileSize < limit/2 {
		t.Errorf("Prune = %+v, %v", p, err)
	}
	s, err := d.Stats(t.Context())
	if err != nil || s.Entries+p.Entries != n || s.Entries == 0 {
		t.Errorf("Stats = %+v, %v", s, err)
	}
	// The newest are left.
	if since := time.Since(s.Oldest).Hours(); since > float64(s.Entries)+1 {
		t.Errorf("the oldest of %d entries is %v hours old", s.Entries, since)
	}
	if p, err := d.Prune(t.Context(), time.Time{}, 1); err != nil || p.FileSize > 64<<10 {
		t.Errorf("to nothing: %+v, %v", p, err)
	}
}

func TestPruneWhileOthersPut(t *testing.T) {
	const n = 2000
	d := open(t, filled(t, n, 500), cache.Options{})
	age(t, d, n)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				name := fmt.Sprintf("new%d-%d", g, i)
				if err := d.Put(context.Background(), key(name), []byte(name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if p, err := d.Prune(t.Context(), time.Now().Add(-30*time.Minute), 0); err != nil || p.Entries != n {
		t.Errorf("Prune = %+v, %v", p, err)
	}
	wg.Wait()
	for g := range 4 {
		for i := range 200 {
			name := fmt.Sprintf("new%d-%d", g, i)
			wantHit(t, d, name, name)
		}
	}
}

func TestClear(t *testing.T) {
	d := open(t, filled(t, 1000, 1000), cache.Options{})
	if n, err := d.Clear(t.Context()); err != nil || n != 1000 {
		t.Errorf("Clear = %d, %v", n, err)
	}
	s, err := d.Stats(t.Context())
	if err != nil || s.Entries != 0 || !s.Oldest.IsZero() || s.FileSize > 64<<10 {
		t.Errorf("Stats = %+v, %v", s, err)
	}
	mustPut(t, d, "a", "1")
	wantHit(t, d, "a", "1")
}

func TestReadOnlyRefusesWrites(t *testing.T) {
	d := open(t, filled(t, 3, 10), cache.Options{ReadOnly: true})
	_, pruneErr := d.Prune(t.Context(), time.Now(), 0)
	_, clearErr := d.Clear(t.Context())
	_, importErr := d.Import(t.Context(), strings.NewReader(exported))
	for name, err := range map[string]error{
		"Put": d.Put(t.Context(), key("a"), nil), "Prune": pruneErr, "Clear": clearErr, "Import": importErr,
	} {
		if !errors.Is(err, cache.ErrReadOnly) || !strings.Contains(err.Error(), d.Path()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantHit(t, d, "e1", sized("e1", 10))
	if s, err := d.Stats(t.Context()); err != nil || s.Entries != 3 {
		t.Errorf("Stats = %+v, %v", s, err)
	}
}

func TestExportImport(t *testing.T) {
	from := open(t, filled(t, 700, 50), cache.Options{})
	mustPut(t, from, "binary", "\x00\xff")
	if err := from.ExecForTest("UPDATE entries SET v = zeroblob(1) WHERE rowid = 5"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if n, err := from.Export(t.Context(), &b); err != nil || n != 700 || strings.Count(b.String(), "\n") != 700 {
		t.Fatalf("Export = %d, %v", n, err)
	}
	if from.Corrupt() != 1 {
		t.Errorf("%d damaged entries counted, want 1", from.Corrupt())
	}
	to := open(t, filepath.Join(t.TempDir(), cache.FileName), cache.Options{})
	mustPut(t, to, "e7", "put later, must stay")
	if n, err := to.Import(t.Context(), bytes.NewReader(b.Bytes())); err != nil || n != 699 {
		t.Errorf("Import = %d, %v", n, err)
	}
	if n, err := to.Import(t.Context(), bytes.NewReader(b.Bytes())); err != nil || n != 0 {
		t.Errorf("second Import = %d, %v", n, err)
	}
	wantHit(t, to, "e7", "put later, must stay")
	wantHit(t, to, "binary", "\x00\xff")
	wantMiss(t, to, "e4")
	_, want, _, _ := from.Get(t.Context(), key("e9"))
	if _, at, ok, _ := to.Get(t.Context(), key("e9")); !ok || at != want {
		t.Errorf("put time %d, want %d", at, want)
	}
}

const exported = `{"schema":1,"key":"0000000000000000000000000000000000000000000000000000000000000001","put_at":5,"value":"YQ=="}` + "\n"

func TestImportRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, say string }{
		"not JSON":      {exported + "\n{", "line 3"},
		"other schema":  {strings.Replace(exported, `"schema":1`, `"schema":2`, 1), "schema 2"},
		"no schema":     {strings.Replace(exported, `"schema":1,`, ``, 1), "schema 0"},
		"short key":     {strings.Replace(exported, `"key":"00`, `"key":"`, 1), "64 hexadecimal digits"},
		"bad base64":    {strings.Replace(exported, `YQ==`, `*`, 1), "line 1"},
		"unknown field": {strings.Replace(exported, `"put_at"`, `"putt_at"`, 1), "putt_at"},
		"two values":    {strings.TrimSpace(exported) + exported, "more than one"},
	} {
		d := open(t, filepath.Join(t.TempDir(), cache.FileName), cache.Options{})
		if _, err := d.Import(t.Context(), strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(exported))
	f.Add([]byte("\n\n" + exported + exported))
	f.Add([]byte(`{"schema":1,"key":"","put_at":-1e9,"value":null}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	d := open(f, filepath.Join(f.TempDir(), cache.FileName), cache.Options{})
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := d.Import(context.Background(), bytes.NewReader(data))
		if n > int64(bytes.Count(data, []byte("\n"))+1) {
			t.Errorf("%d entries from %d lines, %v", n, bytes.Count(data, []byte("\n"))+1, err)
		}
		var b bytes.Buffer
		if _, err := d.Export(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		if again, err := d.Import(context.Background(), &b); err != nil || again != 0 {
			t.Errorf("an export does not import as nothing new: %d, %v", again, err)
		}
		if _, err := d.Clear(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzOpen opens a file of any content: it may be refused or replaced, but a
// cache that opens must work, or Verify must find what is wrong and mend it.
func FuzzOpen(f *testing.F) {
	good, err := os.ReadFile(filled(f, 20, 200))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(good[:100])
	f.Add([]byte("SQLite format 3\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), cache.FileName)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := cache.Open(path, cache.Options{})
		if err != nil {
			return
		}
		defer d.Close()
		if v, _, ok, err := d.Get(context.Background(), key("e3")); err != nil || ok && string(v) != sized("e3", 200) {
			t.Errorf("Get = %q, %t, %v", v, ok, err)
		}
		if putGet(t, d) {
			return
		}
		// SQLite looks only at the pages that it needs: a table whose rows are
		// out of order takes an entry and does not find it again.
		if v, err := d.Verify(context.Background()); err != nil || v.OK() {
			t.Fatalf("an entry was lost and Verify says %+v, %v", v, err)
		}
		if !putGet(t, d) {
			t.Error("the cache does not work after Verify")
		}
	})
}

// putGet puts an entry and reports whether it is there. What is there must be
// right.
func putGet(t *testing.T, d *cache.Disk) bool {
	t.Helper()
	if err := d.Put(context.Background(), key("a"), []byte("1")); err != nil {
		return false
	}
	v, _, ok, err := d.Get(context.Background(), key("a"))
	if err != nil || ok && string(v) != "1" {
		t.Fatalf("Get = %q, %t, %v", v, ok, err)
	}
	return ok
}
