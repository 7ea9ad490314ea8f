package cache_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ragjudge/ragjudge/cache"
)

// Several processes that book side by side never have more than the bound
// together, and what they have given back can be booked by others.
func TestLedgerKeepsTheBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", cache.LedgerName)
	const most = 1.0
	var total atomic.Int64
	var wg sync.WaitGroup
	for p := range 4 {
		l, err := cache.OpenLedger(path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		wg.Go(func() {
			have := 0
			for range 40 { // by a cent each: 160 are wanted, 100 fit
				_, ok, err := l.Book(t.Context(), "2026-12-02", fmt.Sprint(p), float64(have+1)/100, most)
				if err != nil {
					t.Error(err)
				}
				if ok {
					have++
				}
			}
			total.Add(int64(have))
		})
	}
	wg.Wait()
	if total.Load() != 100 {
		t.Errorf("%d cents were booked of 100", total.Load())
	}
	l, err := cache.OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if sum, err := l.Spent(t.Context(), "2026-12-02"); err != nil || sum < 0.9999999 || sum > 1.0000001 {
		t.Errorf("spent %v (%v), want 1", sum, err)
	}
	if _, ok, _ := l.Book(t.Context(), "2026-12-02", "late", 0.01, most); ok {
		t.Error("more than the bound was booked")
	}
	for p := range 4 {
		if _, ok, err := l.Book(t.Context(), "2026-12-02", fmt.Sprint(p), 0, most); !ok || err != nil {
			t.Errorf("giving back: %t, %v", ok, err)
		}
	}
	if others, ok, err := l.Book(t.Context(), "2026-12-02", "late", 0.01, most); !ok || err != nil || others > 0.99 {
		t.Errorf("after giving back: %t, %v, others %v", ok, err, others)
	}
	if _, ok, _ := l.Book(t.Context(), "2026-12-03", "late", 0.5, most); !ok {
		t.Error("another day has its own bound")
	}
	if _, _, err := l.Book(t.Context(), "2026-12-03", "late", -1, most); err == nil {
		t.Error("less than nothing was booked")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: want mode 0600", info, err)
	}
}

// A reply cache is no ledger.
func TestLedgerRefusesOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	d, err := cache.Open(path, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Put(t.Context(), [32]byte{1}, []byte("v")); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.OpenLedger(path); !errors.Is(err, cache.ErrForeign) {
		t.Errorf("error %v, want ErrForeign", err)
	}
}
