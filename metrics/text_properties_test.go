package metrics_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
	"pgregory.net/rapid"
)

var compatOf = map[string]string{
	"exact_match": "squad", "token_f1": "squad", "rouge_l": "rouge_score", "bleu": "sacrebleu", "chrf": "sacrebleu",
}

// everyTextMetric makes each text metric under each option that changes much.
func everyTextMetric(t testing.TB) map[string]eval.Metric {
	t.Helper()
	all := map[string]eval.Metric{}
	add := func(name string, k keys) {
		opt, err := metrics.Options{}.With(name, k)
		if err != nil {
			t.Fatal(err)
		}
		m, err := metrics.New(name, opt)
		if err != nil {
			t.Fatal(err)
		}
		label := name
		for _, key := range slices.Sorted(mapKeys(k)) {
			label += " " + key
		}
		all[label] = m
	}
	for _, name := range textMetricNames {
		add(name, nil)
		add(name, keys{"compat": compatOf[name]})
	}
	add("rouge_l", keys{"level": "summary"})
	add("rouge_l", keys{"level": "summary", "stem": true})
	add("bleu", keys{"tokenizer": "intl", "smoothing": "add_k"})
	add("chrf", keys{"word_order": int64(2)})
	return all
}

func mapKeys(k keys) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range k {
			if !yield(key) {
				return
			}
		}
	}
}

// wordy draws texts that have words, of few different ones so that they meet.
var wordy = rapid.Custom(func(t *rapid.T) string {
	word := rapid.SampledFrom([]string{
		"red", "Red", "blue,", "blue", "running", "1,000", "3.5", "state-of-the-art", "the", "it's", "(x)", "\n", "-5",
		"Straße", "caf\u00e9", "cafe\u0301", "東京", "です。", "ภาษา", "“q”", "١٠", "😀",
	})
	return "w" + strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
})

func textValueOf(t *rapid.T, m eval.Metric, response string, references ...string) float64 {
	s := sampleOf(response, references...)
	got, err := m.Score(t.Context(), &s)
	if err != nil || got.Status != eval.Scored || got.Check() != nil {
		t.Fatalf("%q, %q: %s %s, %v, %v", response, references, got.Status, got.Reason, err, got.Check())
	}
	return *got.Value
}

func TestTextProperties(t *testing.T) {
	for name, m := range everyTextMetric(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a, b := wordy.Draw(t, "a"), wordy.Draw(t, "b")
				v := textValueOf(t, m, a, b)
				if v < 0 || v > 1 {
					t.Errorf("%v is not within 0..1", v)
				}
				if same := textValueOf(t, m, a, a); math.Abs(same-1) > 1e-12 {
					t.Errorf("%q has %v with itself", a, same)
				}
				switch {
				case strings.HasPrefix(name, "bleu"):
					return // its brevity penalty knows no symmetry and turns to the nearest reference
				case strings.HasPrefix(name, "exact_match"), strings.HasPrefix(name, "token_f1"), name == "rouge_l", name == "rouge_l compat":
					if back := textValueOf(t, m, b, a); math.Abs(v-back) > 1e-12 {
						t.Errorf("%v one way, %v the other", v, back)
					}
				}
				c := wordy.Draw(t, "one more reference")
				if more := textValueOf(t, m, a, b, c); more < v {
					t.Errorf("one more reference: %v, before %v", more, v)
				}
			})
		})
	}
}

// On printable ASCII the metrics are their tools', so that nobody has to
// choose before there is another script in the data.
func TestNativeIsTheToolsOnASCII(t *testing.T) {
	ascii := rapid.StringMatching(`[ -~]{0,30}[a-z0-9]( the |, a |-|'s |[.!] |[ -~\n]){0,4}[ -~]{0,10}`)
	for _, name := range textMetricNames {
		native, compat := metricWith(t, name, nil), metricWith(t, name, keys{"compat": compatOf[name]})
		rapid.Check(t, func(t *rapid.T) {
			a, b := ascii.Draw(t, "a"), ascii.Draw(t, "b")
			if strings.Contains(a+b, "<skipped>") {
				t.Skip("leaves nothing")
			}
			if x, y := textValueOf(t, native, a, b), textValueOf(t, compat, a, b); x != y {
				t.Errorf("%s of %q and %q: %v, with compat %v", name, a, b, x, y)
			}
		})
	}
}

func metricWith(t *testing.T, name string, k keys) eval.Metric {
	t.Helper()
	opt, err := metrics.Options{}.With(name, k)
	if err != nil {
		t.Fatal(err)
	}
	m, err := metrics.New(name, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func FuzzTextMetrics(f *testing.F) {
	for _, s := range [][2]string{
		{"", ""}, {"a", "a"}, {"The Eiffel Tower.", "eiffel tower"}, {"\xff\xfe a", "a\xff"}, {"ΑΣ", "ας"}, {"İ", "i̇"},
		{"東京は日本", "東京\n日本"}, {"e\u0301\u0301", "\u0301"}, {"1,000.5-2 &lt;a&gt;", "<skipped>-\n"}, {"yyyyyying", "yyying"},
		{"\x00\x1c\u2028", "👨‍👩‍👧🇩🇪"}, {strings.Repeat("a b\n", 50), strings.Repeat("b a\n", 50)},
	} {
		f.Add(s[0], s[1])
	}
	all := everyTextMetric(f)
	f.Fuzz(func(t *testing.T, response, reference string) {
		s := sampleOf(response, reference)
		for name, m := range all {
			got, err := m.Score(t.Context(), &s)
			if err != nil || got.Check() != nil {
				t.Fatalf("%s: %v, %v", name, err, got.Check())
			}
			if got.Value != nil && (*got.Value < 0 || *got.Value > 1) {
				t.Errorf("%s: %v", name, *got.Value)
			}
		}
	})
}

// Texts of 50 KB, in the forms that are dear to one metric or another.
func TestTextMetricsOnLongTexts(t *testing.T) {
	const size = 50 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	texts := map[string][2]string{
		"one word":    {fill("a "), fill("a ")},
		"one letter":  {fill("y"), fill("yy ")},
		"two orders":  {fill("red green blue "), fill("blue green red ")},
		"no spaces":   {fill("東京は日本の首都です"), fill("日本の首都は東京")},
		"points":      {fill("1,.2-"), fill(".,")},
		"marks":       {"e" + fill("\u0301"), "a" + fill("\u0300\u0301")},
		"one line":    {fill("one two\n"), fill("two one ")},
		"entities":    {fill("&amp;lt;"), fill("&lt;&amp;")},
		"not UTF-8":   {fill("\xff "), fill("\xfe\xff")},
		"long Porter": {fill("yingly"), fill("yalli")},
	}
	for name, m := range everyTextMetric(t) {
		for kind, c := range texts {
			s := sampleOf(c[0], c[1])
			began := time.Now()
			got, err := m.Score(t.Context(), &s)
			if err != nil || got.Check() != nil {
				t.Errorf("%s, %s: %v, %v", name, kind, err, got.Check())
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s, %s: took %s", name, kind, took)
			} else if took > time.Second {
				t.Logf("%s, %s: %s, %s", name, kind, took.Round(time.Millisecond), got.Status)
			}
		}
	}
}

func TestTextMetricsThatAreStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := sampleOf("one two", "two one")
	for _, k := range []keys{nil, {"level": "summary"}} {
		if got, err := metricWith(t, "rouge_l", k).Score(ctx, &s); !errors.Is(err, context.Canceled) || got.Status != "" {
			t.Errorf("%v: %v, %s", k, err, got.Status)
		}
	}
}
