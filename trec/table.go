package trec

import "hash/maphash"

// seed makes the places in a table differ from one process to the next, so that
// no file can be made to collide.
var seed = maphash.MakeSeed()

func hashOf(id []byte) uint64 { return maphash.Bytes(seed, id) }

// table finds the number of an id by the id's hash: open addressing, at most
// half full.
type table struct {
	slots []slot
	mask  uint64
}

// slot is a place in a table.
type slot struct {
	hash  uint32 // upper half
	index int32  // from 1; 0 is a free place
}

// reset empties the table and makes it large enough for n ids. It keeps its
// memory.
func (t *table) reset(n int) {
	size := 8
	for size < 2*n {
		size *= 2
	}
	if cap(t.slots) < size {
		t.slots = make([]slot, size)
	}
	t.slots = t.slots[:size]
	clear(t.slots)
	t.mask = uint64(size - 1)
}

// find returns the number of the id, from 0, or -1; same says whether the
// number that is given to it belongs to the id.
func (t *table) find(h uint64, same func(i int) bool) (i int, place uint64) {
	for p := h & t.mask; ; p = (p + 1) & t.mask {
		s := t.slots[p]
		if s.index == 0 {
			return -1, p
		}
		if s.hash == uint32(h>>32) && same(int(s.index)-1) {
			return int(s.index) - 1, p
		}
	}
}

// put puts the number i, from 0, into a free place that find gave.
func (t *table) put(place, h uint64, i int) {
	t.slots[place] = slot{hash: uint32(h >> 32), index: int32(i) + 1}
}
