package text_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/text"
)

func TestSentenceEnds(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"He works at Acme Inc. They pay well.", []string{"He works at Acme Inc.", "They pay well."}},
		{"He works at Acme Inc. and sleeps.", []string{"He works at Acme Inc. and sleeps."}},
		{"It was 5 p.m.", []string{"It was 5 p.m."}},
		{"Plan A. Plan B.", []string{"Plan A. Plan B."}}, // an initial, for all we know
		{"So do I. You too.", []string{"So do I.", "You too."}},
		{"Siehe Abs. 3 und vgl. Nr. 4. Danach bzw. später.", []string{"Siehe Abs. 3 und vgl. Nr. 4.", "Danach bzw. später."}},
		{"1. First\n2. Second", []string{"1. First", "2. Second"}},
		{"In 2009. Then", []string{"In 2009.", "Then"}},
		{"See fig. 3 here. The fig. Was ripe.", []string{"See fig. 3 here.", "The fig.", "Was ripe."}},
		{"file.txt is here. www.example.org too.", []string{"file.txt is here.", "www.example.org too."}},
		{"(He left.) [1] She stayed.", []string{"(He left.) [1]", "She stayed."}},
		{"**Bold.** Next", []string{"**Bold.**", "Next"}},
		{"a\u2028b\u2029C", []string{"a\u2028b", "C"}},
		{"one\n\n\n   two", []string{"one", "two"}},
		{"Really?!! Yes…  No", []string{"Really?!!", "Yes…", "No"}},
		{"မြန်မာ။ ဟုတ်။", []string{"မြန်မာ။", "ဟုတ်။"}},
		{"ሰላም። እሺ", []string{"ሰላም።", "እሺ"}},
		{"「はい。」彼は言った。", []string{"「はい。」", "彼は言った。"}},
		{"...", []string{"..."}},
		{". a", []string{".", "a"}},
	} {
		if got := text.Sentences(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Sentences(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// TestLongTexts: a text of one kind of mark, however long, is no trap.
func TestLongTexts(t *testing.T) {
	for _, piece := range []string{".", "a.", "a. ", "[", "[1] ", "【", "\n", "。", "漢", "1,", "\u0301", "\xff", " ", "Dr. ", "1. "} {
		s := strings.Repeat(piece, 1<<18/len(piece))
		if fault := sentencesCover(s); fault != "" {
			t.Errorf("%q repeated: %.60s", piece, fault)
		}
		text.Words(s)
		text.StripCitations(s)
	}
}

func FuzzStripCitations(f *testing.F) {
	for _, s := range []string{"A [1] b", "[a.pdf] [[1]]", "【1†s】 [x](y)", "[\xff", "[1][", " \t[1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := text.StripCitations(s)
		// What is left is the text with parts left out.
		rest := s
		for i := range len(got) {
			at := strings.IndexByte(rest, got[i])
			if at < 0 {
				t.Fatalf("StripCitations(%q) = %q, which is not in the text", s, got)
			}
			rest = rest[at+1:]
		}
	})
}
