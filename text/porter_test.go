package text_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/ragjudge/ragjudge/text"
	"pgregory.net/rapid"
)

// The stems are NLTK's own; testdata/porter_golden.json says of which version.
func TestStem(t *testing.T) {
	data, err := os.ReadFile("testdata/porter_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Stems map[string]string }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Stems) < 5000 {
		t.Fatalf("only %d stems", len(golden.Stems))
	}
	for word, want := range golden.Stems {
		if got := text.Stem(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

func TestStemTakesAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z]{0,12}`), rapid.StringMatching(`[ayedbl]{0,9}(ed|ing|ies|logi|alli|ion|ll|e)?`)).Draw(t, "word")
		if got := text.Stem(w); len(got) > len(w)+1 {
			t.Errorf("%q became %q", w, got)
		}
	})
}
