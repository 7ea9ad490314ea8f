package metrics_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
)

var textMetricNames = []string{"exact_match", "token_f1", "rouge_l", "bleu", "chrf"}

// Where a script other than ASCII's is at stake the metrics go their own way;
// squad is what SQuAD's script says of the same texts.
func TestExactMatchInEveryScript(t *testing.T) {
	for _, c := range []struct {
		name, response, reference string
		native, squad             float64
	}{
		{"sharp s", "Straße", "STRASSE", 1, 0},
		{"final sigma", "ΟΔΟΣ", "οδοσ", 1, 0},
		{"accents composed or not", "cafe\u0301", "caf\u00e9", 1, 0},
		{"other accents", "Crème brûlée", "creme brulee", 0, 0},
		{"quotation marks", "“Paris”", "«Paris»", 1, 0},
		{"typographic apostrophe", "l’eau", "l'eau", 1, 0},
		{"en dash", "2010–2015", "2010-2015", 1, 0},
		{"em dash", "Paris—France", "Paris, France", 1, 0},
		{"full width", "ＡＢＣ１２３", "abc123", 1, 0},
		{"Arabic digits", "١٠ ملايين", "10 ملايين", 1, 0},
		{"Devanagari digits", "१४० करोड़", "140 करोड़", 1, 0},
		{"Arabic question mark", "القاهرة؟", "القاهرة", 1, 0},
		{"ideographic full stop and spaces", "東京 は日本の首都です。", "東京は日本の首都です", 1, 0},
		{"half-width kana", "ｶﾞﾗｽ", "ガラス", 1, 0},
		{"soft hyphen", "soft\u00adhyphen", "softhyphen", 1, 0},
		{"emoji with and without its selector", "❤\ufe0f", "❤", 1, 0},
		{"a square is no digit", "10²", "102", 0, 0},
		{"a half is not twelve", "½", "12", 0, 0},
		{"articles", "the Eiffel Tower", "Eiffel Tower.", 1, 1},
		{"points in numbers, as SQuAD has it", "3.5", "35", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := textScore(t, "exact_match", nil, sampleOf(c.response, c.reference)); *got.Value != c.native {
				t.Errorf("%v, want %v", *got.Value, c.native)
			}
			if got := textScore(t, "exact_match", keys{"compat": "squad"}, sampleOf(c.response, c.reference)); *got.Value != c.squad {
				t.Errorf("compat squad: %v, want %v", *got.Value, c.squad)
			}
		})
	}
}

func TestTextMetricsInEveryScript(t *testing.T) {
	for _, c := range []struct {
		name, metric        string
		keys                keys
		response, reference string
		want                float64
	}{
		// 10 letters against 8 of them: P = 0.8, R = 1.
		{"Japanese letters", "token_f1", nil, "東京は日本の首都です。", "東京は日本の首都", 8.0 / 9},
		// กรุงเทพ is ก รุ ง เ ท พ, six letters with their marks; five of them are here.
		{"Thai letters", "token_f1", nil, "กรุงเท", "กรุงเทพ", 10.0 / 11},
		{"letters between Latin words", "token_f1", nil, "AI模型", "AI 模型 v2", 6.0 / 7},
		{"Japanese", "rouge_l", nil, "東京は首都", "東京は日本の首都", 10.0 / 13}, // 5 of 5 and 5 of 8
		{"Japanese, as rouge-score has it", "rouge_l", keys{"compat": "rouge_score"}, "東京は首都", "東京は首都", 0},
		{"Cyrillic", "rouge_l", nil, "Москва — столица", "Столица: Москва", 0.5},
		{"line by line", "rouge_l", keys{"level": "summary"}, "c d\na b", "a b\nc d", 1},
		{"the same as one text", "rouge_l", nil, "c d\na b", "a b\nc d", 0.5},
		{"stems", "rouge_l", keys{"stem": true}, "runners running", "runner runs", 1},
		// 4/5, 2/4, then no match: half of 1/3, a quarter of 1/2.
		{"Japanese", "bleu", nil, "東京は日本", "東京も日本", math.Pow(0.8*0.5*(0.5/3)*(0.25/2), 0.25)},
		{"Japanese, as sacrebleu has it", "bleu", keys{"compat": "sacrebleu"}, "東京は日本", "東京も日本", 0},
		{"accents composed or not", "bleu", nil, "cafe\u0301 noir", "caf\u00e9 noir", 1},
		{"accents composed or not", "chrf", nil, "cafe\u0301", "caf\u00e9", 1},
		{"case", "chrf", keys{"lowercase": true}, "ÉTÉ", "été", 1},
		// One of two letters, no pair: P = R = (1/2 + 0) / 2.
		{"two letters", "chrf", nil, "ab", "ac", 0.25},
	} {
		t.Run(c.metric+"/"+c.name, func(t *testing.T) {
			got := textScore(t, c.metric, c.keys, sampleOf(c.response, c.reference))
			if got.Value == nil || math.Abs(*got.Value-c.want) > 1e-12 {
				t.Errorf("%v %s, want %v", deref(got.Value), got.Reason, c.want)
			}
		})
	}
}

func TestTextMetricsWithoutWords(t *testing.T) {
	const none = "no_reference_words: the reference holds nothing to compare with"
	for _, c := range []struct {
		name, metric        string
		keys                keys
		response, reference string
		status              eval.Status
		value               float64
		reason              string
	}{
		{"neither has words, by SQuAD", "exact_match", nil, "...", "The!", eval.Scored, 1, ""},
		{"neither has words, by SQuAD", "token_f1", nil, "...", "The!", eval.Scored, 1, ""},
		{"only the reference has", "token_f1", nil, "...", "Paris", eval.Scored, 0, ""},
		{"only the response has", "token_f1", nil, "Paris", "...", eval.Scored, 0, ""},
		{"neither has words", "rouge_l", nil, "...", "!!!", eval.Undefined, 0, none},
		{"neither has words, by rouge-score", "rouge_l", keys{"compat": "rouge_score"}, "...", "!!!", eval.Scored, 0, ""},
		{"only the reference has", "rouge_l", nil, "!!!", "Paris", eval.Scored, 0, ""},
		{"only the response has", "rouge_l", nil, "Paris", "!!!", eval.Undefined, 0, none},
		{"a mark that BLEU leaves out", "bleu", nil, "Paris", "<skipped>", eval.Undefined, 0, none},
		{"the same, by sacrebleu", "bleu", keys{"compat": "sacrebleu"}, "Paris", "<skipped>", eval.Scored, 0, ""},
		{"a response that BLEU leaves out", "bleu", nil, "<skipped>", "Paris", eval.Scored, 0, ""},
		{"characters only", "chrf", nil, "...", "...", eval.Scored, 1, ""},
		{"what only Python takes for space", "chrf", nil, "a", "\x1c", eval.Undefined, 0, none},
	} {
		t.Run(c.metric+"/"+c.name, func(t *testing.T) {
			got := textScore(t, c.metric, c.keys, sampleOf(c.response, c.reference))
			if got.Status != c.status || got.Reason != c.reason || got.Value != nil && *got.Value != c.value {
				t.Errorf("%s %v %q, want %s %v %q", got.Status, deref(got.Value), got.Reason, c.status, c.value, c.reason)
			}
		})
	}
	for _, m := range textMetricNames {
		for want, s := range map[string]eval.Sample{
			"missing_field: response":  sampleOf(" \n", "Paris"),
			"missing_field: reference": sampleOf("Paris", "\t"),
		} {
			if got := textScore(t, m, nil, s); got.Status != eval.Skipped || got.Reason != want {
				t.Errorf("%s: %s %q, want %q", m, got.Status, got.Reason, want)
			}
		}
	}
}

func TestSeveralReferences(t *testing.T) {
	for metric, want := range map[string]float64{
		"exact_match": 1, "token_f1": 1, "rouge_l": 1, "chrf": 1, "bleu": 1,
	} {
		got := textScore(t, metric, nil, sampleOf("the Eiffel Tower", "a tower", " ", "the Eiffel Tower", "Eiffel"))
		if got.Value == nil || *got.Value != want {
			t.Errorf("%s: %v, want %v", metric, deref(got.Value), want)
		}
	}
	var d metrics.OverlapDetail
	mustDecode(t, textScore(t, "token_f1", nil, sampleOf("red", "green", "blue and red", "red blue")).Detail, &d)
	if want := (metrics.OverlapDetail{Precision: 1, Recall: 0.5, Reference: 3}); d != want {
		t.Errorf("%+v, want %+v", d, want)
	}
	// SQuAD leaves out references that normalise to nothing, unless all do.
	if got := textScore(t, "exact_match", nil, sampleOf("...", "the", "Paris")); *got.Value != 0 {
		t.Errorf("a reference without words counted: %v", *got.Value)
	}
	// BLEU: pairs from either reference, the nearer length (3, not 8).
	got := textScore(t, "bleu", keys{"smoothing": "floor"}, sampleOf("a b c", "a b x x x x x x", "x b c"))
	if want := math.Pow(1*1*0.1, 1.0/3); math.Abs(*got.Value-want) > 1e-12 {
		t.Errorf("bleu: %v, want %v", *got.Value, want)
	}
}

func TestTextOptions(t *testing.T) {
	for _, c := range []struct {
		metric string
		keys   keys
		want   []string
	}{
		{"exact_match", keys{"compat": "sacrebleu"}, []string{"compat", "exact_match", `known are "squad"`}},
		{"token_f1", keys{"verbatim": true}, []string{"verbatim", "token_f1", "known is compat"}},
		{"rouge_l", keys{"stemm": true}, []string{"stemm", "rouge_l", "the nearest name is stem"}},
		{"rouge_l", keys{"stem": "yes"}, []string{"stem", "want true or false"}},
		{"rouge_l", keys{"level": "sentence"}, []string{"level", `"text", "summary"`}},
		{"bleu", keys{"tokeniser": "13a"}, []string{"the nearest name is tokenizer"}},
		{"bleu", keys{"tokenizer": "14b"}, []string{`"13a", "intl", "char", "none"`}},
		{"bleu", keys{"smoothing": int64(1)}, []string{"smoothing", "want a text"}},
		{"chrf", keys{"word_order": int64(3)}, []string{"word_order", "want 0, 1 or 2"}},
		{"chrf", keys{"word_order": 2.0}, []string{"word_order", "want 0, 1 or 2"}},
	} {
		_, err := metrics.Options{}.With(c.metric, c.keys)
		if err == nil {
			t.Errorf("%s %v: no error", c.metric, c.keys)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s %v: %v, without %q", c.metric, c.keys, err, w)
			}
		}
	}
	if _, err := metrics.New("chrf", metrics.Options{Text: metrics.TextOptions{WordOrder: 9}}); err == nil {
		t.Error("a word order of 9 is taken")
	}
}
