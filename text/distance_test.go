package text_test

import (
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/text"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abd", 1}, {"abc", "abcd", 1}, {"bcd", "abcd", 1},
		{"abcd", "acbd", 1}, {"kitten", "sitting", 3}, {"metrcs", "metrics", 1}, {"größe", "grösse", 2},
		{strings.Repeat("a", 1000), strings.Repeat("a", 100), 0},
	} {
		if got := text.Distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := text.Distance(c.b, c.a); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
