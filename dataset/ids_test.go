package dataset

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
)

// TestTrackerAgainstAMap compares with a map of texts, over rows whose lines run
// ahead of them in jumps, as in a CSV file with long fields.
func TestTrackerAgainstAMap(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	tr, seen := newTracker(), map[string]place{}
	line := uint32(0)
	for row := uint32(1); row <= 50_000; row++ {
		line += 1 + uint32(chance.IntN(3)*chance.IntN(2))
		id := strconv.Itoa(chance.IntN(40_000))
		at := place{row, line}
		first, there := seen[id]
		if got, where, twice := tr.add(id, false, at); twice != there || got != id || there && where != first {
			t.Fatalf("row %d: %v %v, want %v %v", row, twice, where, there, first)
		}
		if !there {
			seen[id] = at
		}
	}
	names := map[string]bool{}
	tr = newTracker()
	for row := range uint32(1000) {
		name, _, twice := tr.add("sha256-"+strconv.Itoa(int(row%7)), true, place{row + 1, row + 1})
		if twice || names[name] {
			t.Fatalf("row %d: the name %s comes twice", row, name)
		}
		names[name] = true
	}
	if !names["sha256-0#2"] || !names["sha256-6#142"] {
		t.Error("generated ids are not numbered one by one")
	}
}

// TestTrackerIsSmall holds a million ids in less than 22 bytes each; 18 were measured.
func TestTrackerIsSmall(t *testing.T) {
	const rows, most = 1_000_000, 22
	before := heapInUse()
	tr := newTracker()
	for row := uint32(1); row <= rows; row++ {
		if _, _, twice := tr.add(fmt.Sprint("id-", row), false, place{row, row + 5}); twice {
			t.Fatalf("row %d is met twice", row)
		}
	}
	held := heapInUse() - before
	t.Logf("%.1f bytes a row", float64(held)/rows)
	if held > rows*most {
		t.Errorf("%d bytes for %d rows", held, rows)
	}
	runtime.KeepAlive(tr)
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
