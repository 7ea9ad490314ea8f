package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
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

type place struct{ row, line uint32 }

// tracker knows the ids that were met, as 128 bits of their hash.
type tracker struct {
	seen    map[[16]byte]place
	repeats map[[16]byte]int
}

func newTracker() *tracker {
	return &tracker{seen: make(map[[16]byte]place), repeats: make(map[[16]byte]int)}
}

func hashID(id string) (h [16]byte) {
	sum := sha256.Sum256([]byte(id))
	copy(h[:], sum[:])
	return h
}

// add notes an id and returns it; a generated id that was met before comes
// back with a number. first is where a given id was met before, if it was.
func (t *tracker) add(id string, generated bool, at place) (unique string, first place, twice bool) {
	h := hashID(id)
	first, twice = t.seen[h]
	if !twice {
		t.seen[h] = at
		return id, first, false
	}
	if !generated {
		return id, first, true
	}
	n := max(t.repeats[h], 1)
	for {
		n++
		unique = fmt.Sprintf("%s#%d", id, n)
		hn := hashID(unique)
		if _, taken := t.seen[hn]; !taken {
			t.seen[hn] = at
			t.repeats[h] = n
			return unique, first, false
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
