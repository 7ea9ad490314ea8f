package pack_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/tokens/internal/pack"
)

func TestRoundTrip(t *testing.T) {
	long := bytes.Repeat([]byte("x"), pack.MaxTokenLen)
	cases := map[string][][]byte{
		"none":     nil,
		"one":      {[]byte("a")},
		"prefixes": {[]byte("b"), []byte("ab"), []byte("a"), []byte("abc"), []byte("abd"), {0}, {0xff, 0xff}},
		"longest":  {long, long[:254], []byte("x")},
	}
	var many [][]byte
	for i := range 70_000 { // enough for all three planes of the ranks
		many = append(many, fmt.Appendf(nil, "%d", i*7919%70_000))
	}
	cases["many"] = many
	for name, tokens := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := pack.Pack(tokens)
			if err != nil {
				t.Fatal(err)
			}
			v, err := pack.Unpack(data)
			if err != nil {
				t.Fatal(err)
			}
			if v.Len() != len(tokens) {
				t.Fatalf("%d tokens, want %d", v.Len(), len(tokens))
			}
			for i, want := range tokens {
				if got := v.Token(i); !bytes.Equal(got, want) {
					t.Fatalf("token %d is %q, want %q", i, got, want)
				}
			}
		})
	}
}

func TestPackRefuses(t *testing.T) {
	for name, tokens := range map[string][][]byte{
		"empty token":  {[]byte("a"), {}},
		"twice":        {[]byte("a"), []byte("b"), []byte("a")},
		"length 1..25": {bytes.Repeat([]byte("x"), pack.MaxTokenLen+1)},
	} {
		if _, err := pack.Pack(tokens); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	good, err := pack.Pack([][]byte{[]byte("a"), []byte("ab"), []byte("b")})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing":     nil,
		"other magic": append([]byte("bpe0"), good[4:]...),
		"cut":         good[:len(good)-3],
		"head only":   good[:5],
	} {
		if _, err := pack.Unpack(data); err == nil || !strings.HasPrefix(err.Error(), "unpack vocabulary: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// FuzzUnpack holds that damaged data gives an error or a sound vocabulary.
func FuzzUnpack(f *testing.F) {
	for _, tokens := range [][][]byte{nil, {[]byte("a")}, {[]byte("ab"), []byte("a"), []byte("b")}} {
		data, err := pack.Pack(tokens)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := pack.Unpack(data)
		if err != nil {
			return
		}
		var tokens [][]byte
		for i := range v.Len() {
			tokens = append(tokens, v.Token(i))
		}
		if _, err := pack.Pack(tokens); err != nil {
			t.Fatalf("an unpacked vocabulary can't be packed: %v", err)
		}
	})
}
