package cache_test

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ragjudge/ragjudge/cache"
)

// benchWorkers is how many goroutines put or get at once: the default
// concurrency of a run.
const benchWorkers = 64

// spread shares b.N calls of fn among the workers and reports calls a second.
func spread(b *testing.B, fn func(i uint64) error) {
	var next atomic.Uint64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range benchWorkers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= uint64(b.N) {
					return
				}
				if err := fn(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func numbered(i uint64) [32]byte {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], i)
	return key(string(n[:]))
}

var benchValue = []byte(strings.Repeat("a reply of a judge, ", 40)) // 800 bytes

func BenchmarkPut(b *testing.B) {
	d := open(b, filepath.Join(b.TempDir(), cache.FileName), cache.Options{})
	spread(b, func(i uint64) error { return d.Put(context.Background(), numbered(i), benchValue) })
}

func BenchmarkGet(b *testing.B) {
	const entries = 20_000
	d := open(b, filepath.Join(b.TempDir(), cache.FileName), cache.Options{})
	var wg sync.WaitGroup
	for g := range uint64(benchWorkers) {
		wg.Go(func() {
			for i := g; i < entries; i += benchWorkers {
				if err := d.Put(context.Background(), numbered(i), benchValue); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	spread(b, func(i uint64) error {
		_, _, _, err := d.Get(context.Background(), numbered(i*7919%entries))
		return err
	})
}
