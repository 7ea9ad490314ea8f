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
		{prec, []string{"idk", "unknown", "partially", "n/a", "maybe"}, none},
		{recall, []string{"attributable", "yes", "attributed", "supported", "1"}, Attributable},
		{recall, []string{"not_attributable", "Not attributable", "no", "contradicted", "not found", "0"}, NotAttributable},
		{recall, []string{"unclear", "mixed"}, none},
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
	if Labels(schemaOfClaims()) != nil || Labels(nil) != nil {
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
	for _, raw := range []json.RawMessage{s.JSON, schemaOfClaims().JSON, schemaOfRating(1, 5).JSON} {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil || !strict(v) {
			t.Errorf("not a strict schema: %s (%v)", raw, err)
		}
	}
}
