package judge

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWordTablesAgree(t *testing.T) {
	for _, words := range []map[meaning]string{plainWords, supportWords} {
		seen := map[string]meaning{}
		for m, list := range words {
			for _, w := range strings.Fields(list) {
				if other, ok := seen[spelling(w)]; ok && other != m {
					t.Errorf("%q has two meanings, %d and %d", w, other, m)
				}
				seen[spelling(w)] = m
			}
		}
	}
	for key, m := range supportTable {
		if p, ok := plainTable[key]; ok && p != m {
			t.Errorf("%q means %d as a plain word and %d as a word of support", key, p, m)
		}
	}
	for key := range unsureTable {
		if plainTable[key] != noMeaning || supportTable[key] != noMeaning {
			t.Errorf("%q is unsure and something else", key)
		}
	}
}

func TestLabel(t *testing.T) {
	faith, prec, recall := FaithfulnessLabels(), PrecisionLabels(), RecallLabels()
	const none = ""
	tests := []struct {
		labels []string
		words  []string
		want   string
	}{
		{faith, []string{"supported", "Supported.", " SUPPORTED\n", "**supported**", "`supported`", "\"yes\"", "Yes.", "YES", "yes ", "**Yes**", "true", "1", "1.0", "(1)", "fully supported", "entailed", "✅", "ｙｅｓ", "Ja", "sí", "oui", "да", "はい", "是", "支持", "unterstützt", "हाँ", "예", "نعم"}, Supported},
		{faith, []string{"contradicted", "Contradiction", "contradicts", "refuted", "widersprochen", "矛盾"}, Contradicted},
		{faith, []string{"not_found", "not found", "Not-Found", "notFound", "NOT FOUND!", "no", "No.", "false", "0", "0.0", "not supported", "unsupported", "isn't supported", "isn’t supported", "not mentioned", "nein", "нет", "いいえ", "不支持", "नहीं", "nicht unterstützt", "no respaldado", "❌"}, NotFound},
		{faith, []string{"idk", "I don't know", "unknown", "Partially", "partially supported", "n/a", "N/A", "unclear", "cannot determine", "neutral", "insufficient information", "不知道"}, NotFound},
		{faith, []string{"", "null", "maybe not", "yes?", "yes/no", "yes, but", "not yes", "!supported", "~supported", "-1", "-0", "+2", "2", "0.5", ".1", ".1.", "1%", "10", "01", "0-1", "supported by context 2", "supported contradicted", "purple", "NaN", "..."}, none},
		{prec, []string{"useful", "yes", "relevant", "1", "Is useful", "有用"}, Useful},
		{prec, []string{"not_useful", "Not useful.", "useless", "irrelevant", "no", "contradicted", "not supported"}, NotUseful},
		// What the judge leaves open is not said to be so.
		{prec, []string{"idk", "unknown", "partially", "n/a", "maybe"}, NotUseful},
		{prec, []string{"", "null", "useful?", "somewhat useful"}, none},
		{recall, []string{"attributable", "yes", "attributed", "supported", "1"}, Attributable},
		{recall, []string{"not_attributable", "Not attributable", "no", "contradicted", "not found", "0"}, NotAttributable},
		{recall, []string{"unclear", "mixed"}, NotAttributable},
		{[]string{"yes", "no"}, []string{"unclear", "idk", "partially"}, none},
		{[]string{"yes", "no", "unclear"}, []string{"unknown", "idk", "Unclear"}, "unclear"},
		// Where the labels don't speak of support, words that do have no meaning.
		{[]string{"hallucinated", "clean"}, []string{"supported", "not found", "relevant", "contradicted"}, none},
		{[]string{"hallucinated", "clean"}, []string{"yes", "Hallucinated", "1", "true"}, "hallucinated"},
		{[]string{"hallucinated", "clean"}, []string{"no", "CLEAN", "0"}, "clean"},
	}
	for _, tt := range tests {
		for _, w := range tt.words {
			got, _, ok := newLabeler(tt.labels).label(w)
			if got != tt.want || ok != (tt.want != none) {
				t.Errorf("%q is %q (%t) among %v, want %q", w, got, ok, tt.labels, tt.want)
			}
		}
	}
}

// Whatever the spelling of a label, it is understood; whatever is put before
// it, it isn't taken for it.
func TestSpellingsOfLabels(t *testing.T) {
	for _, labels := range [][]string{FaithfulnessLabels(), PrecisionLabels(), RecallLabels()} {
		l := newLabeler(labels)
		for _, label := range labels {
			words := strings.ReplaceAll(label, "_", " ")
			for _, w := range []string{label, words, strings.ToUpper(label), strings.ReplaceAll(label, "_", "-"), "**" + words + "**.", "\u201c" + label + "\u201d"} {
				if got, _, ok := l.label(w); !ok || got != label {
					t.Errorf("%q is %q, want %q", w, got, label)
				}
			}
			for _, w := range []string{"not really " + words, words + " (not sure)", "!" + words, words + "?"} {
				if got, _, ok := l.label(w); ok && got == labels[0] {
					t.Errorf("%q passes for %q", w, got)
				}
			}
		}
	}
}

func TestSchemas(t *testing.T) {
	labels := []string{"a", `b"<>&`, "c"}
	s := schemaOfVerdicts(labels)
	if !json.Valid(s.JSON) || strings.Join(Labels(s), "|") != strings.Join(labels, "|") {
		t.Errorf("labels %v came back as %v from %s", labels, Labels(s), s.JSON)
	}
	lo, hi, ok := Scale(schemaOfRating(0, 10))
	if lo != 0 || hi != 10 || !ok {
		t.Errorf("the scale 0 to 10 came back as %d to %d, %t", lo, hi, ok)
	}
	if Labels(claimsList.schema()) != nil || Labels(nil) != nil {
		t.Error("labels of a schema without labels")
	}
	if _, _, ok := Scale(s); ok {
		t.Error("a scale of a schema without one")
	}
	var strict func(v any) bool
	strict = func(v any) bool {
		m, isObject := v.(map[string]any)
		if !isObject {
			return true
		}
		if m["type"] == "object" {
			props, _ := m["properties"].(map[string]any)
			required, _ := m["required"].([]any)
			if m["additionalProperties"] != false || len(required) != len(props) {
				return false
			}
		}
		for _, child := range m {
			if !strict(child) {
				return false
			}
		}
		return true
	}
	for _, raw := range []json.RawMessage{s.JSON, claimsList.schema().JSON, schemaOfRating(1, 5).JSON} {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil || !strict(v) {
			t.Errorf("not a strict schema: %s (%v)", raw, err)
		}
	}
}

// TestLabelsOfManyLanguages: each language has its words for yes and no and for
// the labels, and none of its negations is taken for the positive one.
func TestLabelsOfManyLanguages(t *testing.T) {
	for language, words := range map[string][]string{ // yes; supported; useful | no; not supported; not useful | contradicted
		"English":    {"yes", "Supported", "useful", "no", "isn't supported", "isn't useful", "contradicted"},
		"German":     {"Ja", "belegt", "nützlich", "Nein", "nicht belegt", "nicht nützlich", "widersprochen"},
		"French":     {"Oui", "étayé", "utile", "Non", "non étayé", "pas utile", "contredit"},
		"Spanish":    {"Sí", "respaldado", "útil", "No", "no respaldado", "no útil", "contradicho"},
		"Italian":    {"Sì", "supportato", "utile", "No", "non supportato", "non utile", "contraddetto"},
		"Portuguese": {"Sim", "suportado", "útil", "Não", "não suportado", "não útil", "contradito"},
		"Dutch":      {"Ja", "ondersteund", "nuttig", "Nee", "niet ondersteund", "niet nuttig", "tegengesproken"},
		"Polish":     {"Tak", "potwierdzone", "przydatne", "Nie", "niepotwierdzone", "nieprzydatne", "sprzeczne"},
		"Russian":    {"Да", "подтверждено", "полезно", "Нет", "не подтверждено", "бесполезно", "противоречит"},
		"Chinese":    {"是", "支持", "有用", "否", "不支持", "无用", "矛盾"},
		"Japanese":   {"はい", "支持されている", "役に立つ", "いいえ", "支持されていない", "役に立たない", "矛盾している"},
		"Korean":     {"예", "지지됨", "유용함", "아니요", "지지되지 않음", "유용하지 않음", "모순됨"},
		"Arabic":     {"نعم", "مدعوم", "مفيد", "لا", "غير مدعوم", "غير مفيد", "متناقض"},
		"Turkish":    {"Evet", "destekleniyor", "yararlı", "Hayır", "desteklenmiyor", "yararlı değil", "çelişiyor"},
		"Hindi":      {"हाँ", "समर्थित", "उपयोगी", "नहीं", "असमर्थित", "उपयोगी नहीं", "खंडित"},
		"signs":      {"✅", "✔️", "👍🏽", "❌", "✖️", "👎", "contradicted"},
	} {
		faith, useful := FaithfulnessLabels(), PrecisionLabels()
		for i, want := range []string{Supported, Supported, "", NotFound, NotFound, "", Contradicted} {
			if want == "" {
				continue
			}
			for _, w := range []string{words[i], "**" + words[i] + "**", words[i] + ".", strings.ToUpper(words[i]), " \u200b" + words[i]} {
				if got, _, ok := newLabeler(faith).label(w); !ok || got != want {
					if language == "Turkish" && w == strings.ToUpper(words[i]) {
						continue // its capitals are others
					}
					t.Errorf("%s: %q is %q, want %q", language, w, got, want)
				}
			}
		}
		for i, want := range map[int]string{0: Useful, 2: Useful, 3: NotUseful, 5: NotUseful} {
			if got, _, ok := newLabeler(useful).label(words[i]); !ok || got != want {
				t.Errorf("%s: %q is %q, want %q", language, words[i], got, want)
			}
		}
	}
	for _, w := range []string{
		"kaum belegt", "nicht wirklich nützlich", "pas vraiment utile", "no muy útil", "niet echt nuttig", "не очень полезно", "不太有用", "あまり役に立たない",
		"hardly supported", "unsupported by 2, supported by 3", "not not supported", "supported?", "nor supported", "never supported", "supported: no", "yes and no", "in no way supported", "un-supported", "dis-supported",
	} {
		for _, labels := range [][]string{FaithfulnessLabels(), PrecisionLabels()} {
			if got, _, ok := newLabeler(labels).label(w); ok && got == labels[0] {
				t.Errorf("%q passes for %q", w, got)
			}
		}
	}
}
