package dataset

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestUnescapeAgainstEncodingJSON takes texts of every length around the eight
// bytes that are copied at a time, with escapes anywhere.
func TestUnescapeAgainstEncodingJSON(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 6))
	parts := []string{"a", "bc", "\"", "\\", "/", "\n", "\r", "\t", "\b", "\f", "\x00", "<", "é", "東", "😀", "\u2028", "plain text of more than eight bytes"}
	var scratch []byte
	for range 20_000 {
		var b strings.Builder
		for range chance.IntN(12) {
			b.WriteString(parts[chance.IntN(len(parts))])
		}
		want := b.String()
		quoted, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{quoted, appendQuoted(nil, want)} {
			v, f := parseValue(raw)
			if f != nil {
				t.Fatalf("%s: %s", raw, f.reason)
			}
			if got, lone := v.textWith(&scratch); got != want || lone {
				t.Fatalf("%s is %q, want %q (lone %t)", raw, got, want, lone)
			}
			var back string
			if err := json.Unmarshal(raw, &back); err != nil || back != want {
				t.Fatalf("%s: encoding/json reads %q, %v", raw, back, err)
			}
		}
	}
}
