package text_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/text"
)

// TestFold: Fold is NFKC and then lower case, by whichever way it gets there.
func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "ABC": "abc", "ÀÉ": "àé", "“Quote” It’S": "“quote” it’s", "ＡＢＣ": "abc", "ﬁ": "fi", "Ⅳ": "iv",
		"E\u0301": "é", "ΑΣ": "ας", "ПРИВЕТ": "привет", "a\xffB": "a\xffb", "①": "1", "x²": "x2",
	} {
		if want == "ας" {
			want = "ασ" // letters are folded one by one
		}
		if got := text.Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if got, want := text.Fold(s), strings.ToLower(norm.NFKC.String(s)); got != want {
			t.Fatalf("Fold(%q) = %q, want %q", s, got, want)
		}
	})
}

// TestWordsWithoutSpaces: scripts that put no space between words give pairs of
// letters; a mark stays with its letter.
func TestWordsWithoutSpaces(t *testing.T) {
	for in, want := range map[string][]string{
		"漢":         {"漢"},
		"カタカナ":      {"カタ", "タカ", "カナ"},
		"ㇰㇱㇲ":       {"ㇰㇱ", "ㇱㇲ"},
		"ไทย":       {"ไท", "ทย"},
		"น้ำใจ":     {"น้ํา", "าใ", "ใจ"},
		"မြန်မာ":    {"မြန်", "န်မာ"},
		"ខ្មែរ":     {"ខ្មែ", "មែរ"},
		"第42回":      {"第", "42", "回"},
		"東京 Tokyo":  {"東京", "tokyo"},
		"データbaseを":  {"デー", "ータ", "base", "を"},
		"\u0e49":    {"\u0e49"},
		"한국어 문장":    {"한국어", "문장"}, // Korean has spaces
		"Ελλάδα ок": {"ελλάδα", "ок"},
	} {
		if got := text.Words(in); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string][]string{
		"1,000":        {"1000"},
		"12,345,678.9": {"12345678.9"},
		"1,0000":       {"1,0000"},
		"1234,567":     {"1234,567"},
		"0.5.":         {"0.5"},
		"1.2.3":        {"1.2.3"},
		"3,5":          {"3,5"},
		"5,":           {"5"},
		",5":           {"5"},
		"$5-10":        {"5", "10"},
		"1,000kg":      {"1,000kg"}, // "000kg" is no group of three
		"a,b":          {"a", "b"},
		"v1.2":         {"v1.2"},
		"x1,000":       {"x1,000"},
	} {
		if got := text.Words(in); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]bool{
		"42": true, "3.5": true, "10th": true, "4k": true, "٣": true, "": false, "k4": false, "x": false, "漢": false, "\xff": false, "½": false,
	} {
		if got := text.IsNumber(in); got != want {
			t.Errorf("IsNumber(%q) = %t, want %t", in, got, want)
		}
	}
}

// TestAppendWords: what stood in dst stays.
func TestAppendWords(t *testing.T) {
	got := text.AppendWords([]string{"before"}, "one two")
	if !slices.Equal(got, []string{"before", "one", "two"}) {
		t.Errorf("got %q", got)
	}
}

// TestSameWordsAndOverlap: a text has its own words, whole, whatever its case
// and spacing.
func TestSameWordsAndOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9]{1,4}`), 1, 8).Draw(t, "words")
		a, b := strings.Join(words, " "), strings.ToUpper(strings.Join(words, " -- "))+"."
		if !text.SameWords(a, b) {
			t.Fatalf("%q and %q have the same words", a, b)
		}
		if share, ok := text.SetOf(a, "and more").Overlap(text.Words(b)); !ok || share != 1 {
			t.Fatalf("the overlap of %q with itself is %v, %t", a, share, ok)
		}
		if text.SameWords(a, a+" more") {
			t.Fatalf("%q has one word more", a)
		}
	})
}

func TestCitationMarks(t *testing.T) {
	long := strings.Repeat("x", 400)
	for in, want := range map[string]string{
		"A [guide.md#page=4]":           "A",
		"A [my file.pdf].":              "A.", // a name may hold spaces
		"A [v1.2] and [3.14]":           "A [v1.2] and [3.14]",
		"A [.pdf]":                      "A [.pdf]",
		"A [x.abcdef]":                  "A [x.abcdef]",
		"A [x.]":                        "A [x.]",
		"A [x.é]":                       "A [x.é]",
		"A [x.p-f]":                     "A [x.p-f]",
		"A [^1^] [2-4] [5–7] [1; 2]":    "A",
		"A [,]":                         "A [,]",
		"A [ ]":                         "A [ ]",
		"A [1\n2]":                      "A [1\n2]",
		"A [[1]]":                       "A []",
		"A [1](http://example.org)":     "A [1](http://example.org)",
		"A 【7:0†source】【8】 B":           "A B",
		"A 【unclosed":                   "A 【unclosed",
		"A [" + long + ".pdf] B":        "A [" + long + ".pdf] B",
		"A [http://example.org/" + long: "A [http://example.org/" + long,
		"line one [1]\nline two":        "line one\nline two",
		"A [\xff.pdf]":                  "A [\xff.pdf]",
		"[1] starts":                    " starts",
	} {
		if got := text.StripCitations(in); got != want {
			t.Errorf("StripCitations(%.60q) = %.60q, want %.60q", in, got, want)
		}
	}
}
