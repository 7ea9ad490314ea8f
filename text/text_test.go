package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragjudge/ragjudge/text"
)

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{" \n\t ", nil},
		{"One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"you can write. until 2009, blogs were single.", []string{"you can write.", "until 2009, blogs were single."}},
		{"Dr. Who met Mr. J. R. Cash at 5 p.m. in the U.S. Capitol.", []string{"Dr. Who met Mr. J. R. Cash at 5 p.m. in the U.S. Capitol."}},
		{"He came at 5 p.m. She left.", []string{"He came at 5 p.m.", "She left."}},
		{"Tea, coffee, etc. are hot. Tea, coffee, etc. Both are hot.", []string{"Tea, coffee, etc. are hot.", "Tea, coffee, etc.", "Both are hot."}},
		{"The answer is no. See No. 5 for more, e.g. tea.", []string{"The answer is no.", "See No. 5 for more, e.g. tea."}},
		{"It costs 3.5 million. Version 1.2.3 is out.", []string{"It costs 3.5 million.", "Version 1.2.3 is out."}},
		{"Rates are low [plan.pdf#page=4]. Check it. [1] [2] Then go.", []string{"Rates are low [plan.pdf#page=4].", "Check it. [1] [2]", "Then go."}},
		{`He said "Go." Then "Why?" (She knew.) End`, []string{`He said "Go."`, `Then "Why?"`, "(She knew.)", "End"}},
		{"Wait... what?! Yes", []string{"Wait...", "what?!", "Yes"}},
		{"Plans:\n1. Dental care\n2. Vision care.\n- Hearing\n* Travel", []string{"Plans:", "1. Dental care", "2. Vision care.", "- Hearing", "* Travel"}},
		{"a line that was\nwrapped goes on\n\nNew paragraph", []string{"a line that was\nwrapped goes on", "New paragraph"}},
		{"one\r\nTwo", []string{"one", "Two"}},
		{"東京は首都です。人口は多い！本当？はい", []string{"東京は首都です。", "人口は多い！", "本当？", "はい"}},
		{"他说「好。」然后走了。", []string{"他说「好。」", "然后走了。"}},
		{"यह एक वाक्य है। यह दूसरा है।", []string{"यह एक वाक्य है।", "यह दूसरा है।"}},
		{"هل هذا صحيح؟ نعم.", []string{"هل هذا صحيح؟", "نعم."}},
		{"Это правда. Да, т.е. верно.", []string{"Это правда.", "Да, т.е. верно."}},
		{"bad \xff bytes. More", []string{"bad \xff bytes.", "More"}},
	} {
		if got := text.Sentences(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Sentences(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// sentencesCover checks the promise of Sentences: parts in order, trimmed, and
// nothing but white space left out.
func sentencesCover(s string) string {
	rest := s
	for _, part := range text.Sentences(s) {
		if part == "" || part != strings.TrimSpace(part) {
			return "a part is empty or not trimmed: " + part
		}
		before, after, found := strings.Cut(rest, part)
		if !found {
			return "a part is not in the text, or out of order: " + part
		}
		if strings.TrimSpace(before) != "" {
			return "text was left out: " + before
		}
		rest = after
	}
	if strings.TrimSpace(rest) != "" {
		return "text was left out at the end: " + rest
	}
	return ""
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"One. Two", "a.\n\nb", "[1]. [2]", "。。", "\xff.\xff", "1.\n2.", "U.S.", "【1†s】。x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if fault := sentencesCover(s); fault != "" {
			t.Fatalf("Sentences(%q): %s", s, fault)
		}
	})
}

func TestSentencesCover(t *testing.T) {
	piece := rapid.SampledFrom([]string{"word", "Dr", ".", "?", " ", "\n", "- ", "1", "[1]", "(", ")", "\"", "。", "漢", "é", "\xfe", "…", "etc"})
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOf(piece).Draw(rt, "pieces"), "")
		if fault := sentencesCover(s); fault != "" {
			rt.Fatalf("Sentences(%q): %s", s, fault)
		}
	})
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"... - !", nil},
		{"The Quick-Brown fox", []string{"the", "quick", "brown", "fox"}},
		{"don’t l'eau", []string{"don", "t", "l", "eau"}},
		{"$1,000,000.50 and 1,5 and 3.14.", []string{"1000000.50", "and", "1,5", "and", "3.14"}},
		{"1,000,00 12,34,567", []string{"1,000,00", "12,34,567"}},
		{"10th COVID19 4k", []string{"10th", "covid19", "4k"}},
		{"ＦＵＬＬ ﬁne", []string{"full", "fine"}},
		{"Cafe\u0301 Café", []string{"café", "café"}},
		{"東京都は", []string{"東京", "京都", "都は"}},
		{"日 x日本y", []string{"日", "x", "日本", "y"}},
		{"Привет, Мир", []string{"привет", "мир"}},
		{"a\xffb", []string{"a", "b"}},
	} {
		if got := text.Words(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Words(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"a b", "1,000.5,", "東\u0301京", "\u0301", "\xff1,", "ก็ x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range text.Words(s) {
			if w == "" || strings.ContainsAny(w, " \n\t!?\"'") {
				t.Fatalf("Words(%q) has the word %q", s, w)
			}
			if utf8.ValidString(s) && !utf8.ValidString(w) {
				t.Fatalf("Words(%q) cut a character: %q", s, w)
			}
		}
		text.Wordless(s)
		if n := len(text.StripCitations(s)); n > len(s) {
			t.Fatalf("StripCitations(%q) grew to %d bytes", s, n)
		}
	})
}

func TestStripCitations(t *testing.T) {
	for in, want := range map[string]string{
		"Low rates [plan.pdf#page=4].":              "Low rates.",
		"True [1][2], also [3, 4] and [^5^].":       "True, also and.",
		"From 【4†source】 here.":                     "From here.",
		"See [https://example.org/a?b=1] now":       "See now",
		"[sic] and [the bank] and [link](http://x)": "[sic] and [the bank] and [link](http://x)",
		"[unclosed 1": "[unclosed 1",
		"a[1] = b":    "a = b",
		"[]":          "[]",
		"[3.5]":       "[3.5]",
	} {
		if got := text.StripCitations(in); got != want {
			t.Errorf("StripCitations(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWordless(t *testing.T) {
	for in, want := range map[string]bool{
		"": true, " \n": true, "...": true, "-": true, "—…": true, "|---|": true, "\u200b": true, "\xff": true,
		"a": false, "7": false, "漢": false, "👍": false, "∞": false, "(b)": false,
	} {
		if got := text.Wordless(in); got != want {
			t.Errorf("Wordless(%q) = %t, want %t", in, got, want)
		}
	}
}

func TestSameWords(t *testing.T) {
	if !text.SameWords("What is RAG?", "what  is rag") {
		t.Error("case, space and punctuation must not matter")
	}
	if text.SameWords("What is RAG?", "What RAG is") || text.SameWords("?", "!") {
		t.Error("other words, or none, are not the same words")
	}
}

func TestOverlap(t *testing.T) {
	set := text.SetOf("Paris is the capital", "of France")
	for in, want := range map[string]float64{
		"Paris is the capital": 1, "Paris was founded by Romans": 0.2, "Paris Paris Paris": 1, "Rome": 0,
	} {
		if got, ok := set.Overlap(text.Words(in)); !ok || got != want {
			t.Errorf("Overlap(%q) = %v, %t, want %v", in, got, ok, want)
		}
	}
	if _, ok := set.Overlap(nil); ok {
		t.Error("no words have no overlap")
	}
}
