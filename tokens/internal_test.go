package tokens

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
)

// TestVocabularies turns the embedded vocabularies back into tiktoken's files
// and compares their SHA-256 with those that tiktoken checks its downloads by.
func TestVocabularies(t *testing.T) {
	for _, c := range []struct {
		enc  *Encoding
		want string
	}{
		{o200kBase, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
		{cl100kBase, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
	} {
		h, v := sha256.New(), c.enc.vocab()
		for rank := range v.Len() {
			fmt.Fprintf(h, "%s %d\n", base64.StdEncoding.EncodeToString(v.Token(rank)), rank)
			if got := v.rank(string(v.Token(rank))); got != uint32(rank) {
				t.Fatalf("%s: token %d is found as %d", c.enc.name, rank, got)
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != c.want {
			t.Errorf("%s: SHA-256 %s, want %s", c.enc.name, got, c.want)
		}
	}
}

func TestLoadRefusesDamage(t *testing.T) {
	damaged := append([]byte(nil), cl100kData...)
	damaged[len(damaged)/2] ^= 0xff
	if _, err := load(damaged); err == nil {
		t.Error("a damaged vocabulary was loaded")
	}
}

// TestClasses compares the table of classes with the reference's, over all of
// Unicode: testdata/classes.txt has the size and a hash of each class. If it
// fails after an update of Go, see newUpper and the tables beside it.
func TestClasses(t *testing.T) {
	data, err := os.ReadFile("testdata/classes.txt")
	if err != nil {
		t.Fatal(err)
	}
	bits := map[string]class{"upper": upper, "lower": lower, "letter": letter, "number": number, "space": space}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != len(bits) {
		t.Fatalf("%d classes, want %d", len(lines), len(bits))
	}
	cl := loadClasses()
	for _, line := range lines {
		var name string
		var count int
		var hash uint32
		if _, err := fmt.Sscan(line, &name, &count, &hash); err != nil {
			t.Fatal(err)
		}
		n, h := 0, uint32(0x811c9dc5)
		for c := range rune(unicode.MaxRune + 1) {
			if cl[c]&bits[name] == 0 {
				continue
			}
			n++
			for shift := 0; shift < 32; shift += 8 {
				h = (h ^ uint32(c>>shift)&255) * 0x01000193
			}
		}
		if n != count || h != hash {
			t.Errorf("class %s: %d characters (hash %d), want %d (hash %d)", name, n, h, count, hash)
		}
	}
}

// TestMergeLongIsMergeShort holds the two ways of merging to each other over
// all lengths that both can do.
func TestMergeLongIsMergeShort(t *testing.T) {
	v := cl100kBase.vocab()
	seed := uint32(1)
	for i := range 20 * maxScan {
		piece := make([]byte, max(2, i/20+1))
		for i := range piece {
			seed = seed*1664525 + 1013904223
			piece[i] = "aabcen tiosrABx\x80\xe6"[seed>>24%17]
		}
		short, long := v.mergeShort(string(piece), nil), v.mergeLong(string(piece), nil)
		if fmt.Sprint(short) != fmt.Sprint(long) {
			t.Fatalf("%q: tokens end at %v by scanning, %v by the heap", piece, short, long)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		mustLoad(o200kData)
	}
}
