package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/ragjudge/ragjudge/eval"
)

// contentID is the id of a sample that has none: a hash over the fields that
// are scored. Every text goes in with its length, and missing differs from
// empty, so that no two contents are spelt alike.
func contentID(s *eval.Sample) string {
	h := sha256.New()
	var buf []byte
	text := func(t string) {
		buf = binary.AppendUvarint(buf[:0], uint64(len(t)))
		h.Write(buf)
		h.Write([]byte(t))
	}
	list := func(l []string) {
		if l == nil {
			text("missing")
			return
		}
		text(strconv.Itoa(len(l)))
		for _, t := range l {
			text(t)
		}
	}
	text(s.UserInput)
	text(s.Response)
	text(s.Reference)
	list(s.RetrievedContexts)
	list(s.RetrievedContextIDs)
	list(s.ReferenceContexts)
	if s.OtherReferences != nil { // not for all, so that ids made before stay
		text("other_references")
		list(s.OtherReferences)
	}
	grades := slices.Sorted(maps.Keys(s.ReferenceContextIDs))
	if s.ReferenceContextIDs != nil && grades == nil {
		grades = []string{}
	}
	list(grades)
	for _, id := range grades {
		text(strconv.FormatUint(math.Float64bits(s.ReferenceContextIDs[id]), 16))
	}
	return "sha256-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// place is where a record stands: its number, and its line.
type place struct{ row, line uint32 }

// tracker knows the ids that were met, by 64 bits of a keyed hash. It takes
// about 18 bytes a row: a million rows, 18 MB. That two of them share a hash by
// chance, so that one row is refused wrongly, has a probability of 3 in 100
// million for a million rows; nobody can bring it about who doesn't know the
// key, which is another one in every process.
type tracker struct {
	shards  [256]shard
	lines   []lineShift
	repeats map[uint64]int
	seed    maphash.Seed
}

// shard is a hash table with open addressing. Many small tables grow one by
// one, so that never all of the rows are held twice.
type shard struct {
	hashes []uint64 // 0 is free
	rows   []uint32
	used   int
}

// lineShift says that from a row on, lines are further on than rows by so many.
type lineShift struct {
	row   uint32
	shift int32
}

func newTracker() *tracker {
	return &tracker{repeats: make(map[uint64]int), seed: maphash.MakeSeed()}
}

func (t *tracker) hash(id string) uint64 { return max(maphash.String(t.seed, id), 1) }

// find returns the slot of a hash, or the free one where it belongs.
func (s *shard) find(h uint64) int {
	i := int(h % uint64(len(s.hashes)))
	for s.hashes[i] != 0 && s.hashes[i] != h {
		if i++; i == len(s.hashes) {
			i = 0
		}
	}
	return i
}

// grow makes room for one more: four fifths of the slots are used at most.
func (s *shard) grow() {
	if 5*(s.used+1) <= 4*len(s.hashes) {
		return
	}
	old := *s
	n := max(8, len(old.hashes)+len(old.hashes)/4)
	s.hashes, s.rows = make([]uint64, n), make([]uint32, n)
	for i, h := range old.hashes {
		if h != 0 {
			at := s.find(h)
			s.hashes[at], s.rows[at] = h, old.rows[i]
		}
	}
}

// see returns the row at which a hash was met before, or notes it and returns 0.
func (t *tracker) see(h uint64, at place) (row uint32) {
	s := &t.shards[h>>56]
	s.grow()
	i := s.find(h)
	if s.hashes[i] == h {
		return s.rows[i]
	}
	s.hashes[i], s.rows[i] = h, at.row
	s.used++
	shift := int32(at.line) - int32(at.row)
	if n := len(t.lines); n == 0 || t.lines[n-1].shift != shift {
		t.lines = append(t.lines, lineShift{at.row, shift})
	}
	return 0
}

// place finds the line of a row that was noted.
func (t *tracker) place(row uint32) place {
	i, there := slices.BinarySearchFunc(t.lines, row, func(l lineShift, row uint32) int { return cmp.Compare(l.row, row) })
	if !there {
		i--
	}
	return place{row, uint32(int32(row) + t.lines[i].shift)}
}

// add notes an id and returns it; a generated id that was met before comes
// back with a number. first is where a given id was met before, if it was.
func (t *tracker) add(id string, generated bool, at place) (unique string, first place, twice bool) {
	h := t.hash(id)
	row := t.see(h, at)
	switch {
	case row == 0:
		return id, place{}, false
	case !generated:
		return id, t.place(row), true
	}
	n := max(t.repeats[h], 1)
	for {
		n++
		unique = fmt.Sprintf("%s#%d", id, n)
		if t.see(t.hash(unique), at) == 0 {
			t.repeats[h] = n
			return unique, place{}, false
		}
	}
}

// exception is what a scan found out about the id of one row, so that the pass
// after it needs no tracker.
type exception struct {
	id    string // the id to use instead
	twice bool
	first place
}
