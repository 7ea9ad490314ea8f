package dataset_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/dataset"
)

// What programs print in place of a list is read as one where it is one, and
// told of where it is taken as one text.
func TestPrintedContexts(t *testing.T) {
	for _, c := range []struct {
		cell string
		want []string
		warn string
	}{
		{`('a', 'b')`, []string{"a", "b"}, ""},
		{`('a',)`, []string{"a"}, ""},
		{`("it's", "b")`, []string{"it's", "b"}, ""},
		{`('a')`, []string{"('a')"}, ""},
		{`(1, 2)`, []string{"(1, 2)"}, ""},
		{`(see page 4)`, []string{"(see page 4)"}, ""},
		{`"[\"a\",\"b\"]"`, []string{"a", "b"}, ""},
		{`"a quotation", he said`, []string{`"a quotation", he said`}, ""},
		{`"a quotation"`, []string{`"a quotation"`}, ""},
		{`{"text":"a","id":"1"}`, []string{`{"text":"a","id":"1"}`}, "printed_structure"},
		{`{'a', 'b'}`, []string{`{'a', 'b'}`}, "printed_structure"},
		{`page_content='a' metadata={'source': 'x'}`, []string{`page_content='a' metadata={'source': 'x'}`}, "printed_structure"},
		{"0    a\n1    b\nName: contexts, dtype: object", []string{"0    a\n1    b\nName: contexts, dtype: object"}, "printed_structure"},
		{`["['a', 'b']"]`, []string{"['a', 'b']"}, "printed_structure"},
		{`{ is a brace`, []string{"{ is a brace"}, ""},
		{`NULL`, []string{}, "no_contexts"},
		{`\N`, []string{}, "no_contexts"},
		{`<NA>`, []string{}, "no_contexts"},
		{`NULLIFY`, []string{"NULLIFY"}, ""},
	} {
		quoted, err := json.Marshal(c.cell)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"a.csv":   "question,contexts\nq,\"" + strings.ReplaceAll(c.cell, `"`, `""`) + "\"\n",
			"a.jsonl": `{"question":"q","contexts":` + string(quoted) + "}\n",
		} {
			samples, warned := withWarnings(t, name, text)
			if len(samples) != 1 || !slices.Equal(samples[0], c.want) {
				t.Errorf("%s, %s: %q, want %q", name, c.cell, samples, c.want)
			}
			if got := strings.Join(warned, " "); got != c.warn {
				t.Errorf("%s, %s: warnings %q, want %q", name, c.cell, got, c.warn)
			}
		}
	}
}

// withWarnings are the contexts of a file's rows, and the kinds of its warnings.
func withWarnings(t *testing.T, name, text string) (contexts [][]string, kinds []string) {
	t.Helper()
	r, err := dataset.Open(write(t, name, text), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, s := range rest(t, r) {
		contexts = append(contexts, s.RetrievedContexts)
	}
	for _, w := range r.Warnings() {
		kinds = append(kinds, w.Kind)
	}
	return contexts, kinds
}

// Text that was damaged before it came here is told of; half a surrogate pair,
// which becomes U+FFFD here, has a warning of its own.
func TestReplacementCharacter(t *testing.T) {
	for text, want := range map[string]string{
		`{"question":"Gr` + "\uFFFD" + `e","answer":"caf\ufffd"}`: "replacement_character",
		`{"question":"\ud83d"}`:                                   "lone_surrogate",
		`{"question":"` + "\uFFE9" + `"}`:                         "",
	} {
		if _, got := withWarnings(t, "a.jsonl", text); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// YAML that doesn't say so by its ending, and prose, is not read as CSV that is
// separated by colons, half of it lost.
func TestColonsAreNoDelimiter(t *testing.T) {
	for text, want := range map[string]string{
		"- question: q\n  answer: a\n":  "YAML",
		"---\nquestion: q\nanswer: a\n": "YAML",
		"question: q\nanswer: a\n":      "no column is known",
		"question: q, r\nanswer: a\n":   "no column is known",
	} {
		for _, name := range []string{"a.txt", "a", "a.csv"} {
			_, err := dataset.Open(write(t, name, text), dataset.Options{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %q: %v, want %s", name, text, err, want)
			}
		}
	}
	s := one(t, "a.csv", "id:question:answer\n1:q:a\n")
	if s.ID != "1" || s.UserInput != "q" || s.Response != "a" {
		t.Errorf("%+v", s)
	}
}

// A name means the same with what nobody sees in it.
func TestUnseenInNames(t *testing.T) {
	for _, name := range []string{"question\u00a0", "\u200bquestion", "\ufeffquestion", "ques\u2060tion", "user\u00a0input", "question\n"} {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"a.csv": "id,\"" + name + "\"\n1,q\n", "a.jsonl": `{"id":1,` + string(quoted) + `:"q"}`} {
			if s := one(t, file, text); s.UserInput != "q" || len(s.Metadata) > 0 {
				t.Errorf("%s, %q: %+v", file, name, s)
			}
		}
	}
}

// Numbers of 16 bits are numbers (pyarrow 26 wrote the file); bytes of the same
// length are bytes.
func TestHalfFloats(t *testing.T) {
	samples, bad := readAll(t, filepath.Join("testdata", "parquet", "pyarrow-half.parquet"), dataset.Options{})
	if len(bad) > 0 || len(samples) != 5 {
		t.Fatal(bad, len(samples))
	}
	for i, want := range []string{"0.099975586", "-2.0", "null", `"+Inf"`, "5.9604645e-08"} {
		m := samples[i].Metadata
		if string(m["h"]) != want || string(m["l"]) != "["+want+","+want+"]" || string(m["s"]) != `{"a":"x","h":`+want+"}" || string(m["raw"]) != `"ab"` {
			t.Errorf("row %d: %s, want %s", i+1, m, want)
		}
	}
}

// What can be told of a fault's cause is told.
func TestHints(t *testing.T) {
	const row = `{"question":"q"}`
	for name, c := range map[string]struct{ file, text, want string }{
		"trailing comma":  {"a.jsonl", `{"question":"q",}`, "take the comma out"},
		"of a list":       {"a.json", "[" + row + ",]", "take the comma out"},
		"commas between":  {"a.jsonl", row + "," + row, "objects on one line"},
		"fence":           {"a.jsonl", row + "\n```", "lines with ```"},
		"conflict":        {"a.jsonl", row + "\n=======\n" + row, "conflict"},
		"separator":       {"a.jsonl", "\x1e" + row, "RFC 7464"},
		"end mark":        {"a.jsonl", row + "\n\x1a", "Ctrl-Z"},
		"tab":             {"a.jsonl", "{\"question\":\"a\tb\"}", "write it as"},
		"zero width":      {"a.jsonl", row + "\n\u200b" + row, "not seen"},
		"number":          {"a.jsonl", `{"question":"q","score":.5}`, "0.5"},
		"two lists":       {"a.json", "[" + row + "][" + row + "]", "one list"},
		"cut list":        {"a.json", "[" + row, "cut off"},
		"open quote":      {"a.csv", "id,question\n1,\"q\n", "close it"},
		"column twice":    {"a.csv", "question,x,x\nq,1,2\n", "rename"},
		"list of lists":   {"a.jsonl", `{"question":"q","contexts":[["a"]]}`, "JSON list of texts"},
		"lists in object": {"a.jsonl", `{"question":"q","contexts":{"text":["a"]}}`, "JSON list of texts"},
		"text twice":      {"a.jsonl", `{"question":"q","contexts":[{"text":"a","content":"b"}]}`, "leave one"},
	} {
		r, err := dataset.Open(write(t, c.file, c.text), dataset.Options{SkipBadLines: true})
		var hints string
		if err == nil {
			info, _ := r.Scan()
			for _, b := range info.Bad {
				hints += b.Hint + "\n"
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		var le *dataset.LineError
		if errors.As(err, &le) {
			hints += le.Hint
		}
		if !strings.Contains(hints, c.want) {
			t.Errorf("%s: hints %q, want %q; %v", name, hints, c.want, err)
		}
	}
}

// SQuAD as Hugging Face has it: a row a question, in JSONL and in Parquet.
func TestSQuADRows(t *testing.T) {
	path := write(t, "a.jsonl", `{"id":"a","title":"T","question":"Who?","context":"By Bob.","answers":{"text":["Bob","by Bob","Bob"],"answer_start":[3,0,3]}}
{"id":"b","title":"T","question":"When?","context":"By Bob.","answers":{"text":[],"answer_start":[]}}
`)
	r, err := dataset.Open(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	samples := rest(t, r)
	a, b := samples[0], samples[1]
	if r.Shape() != dataset.SQuAD || a.Reference != "Bob" || !slices.Equal(a.OtherReferences, []string{"by Bob"}) ||
		!slices.Equal(a.ReferenceContexts, []string{"By Bob."}) || a.RetrievedContexts != nil || a.Metadata["answers"] == nil {
		t.Errorf("%s: %+v", r.Shape(), a)
	}
	if b.Reference != "" || b.OtherReferences != nil || len(b.ReferenceContexts) != 1 {
		t.Errorf("%+v", b)
	}
	s := one(t, "a.jsonl", `{"question":"q","context":"c","answer":"x","answers":{"text":["y"],"answer_start":[0]}}`)
	if s.Response != "x" || len(s.RetrievedContexts) != 1 {
		t.Errorf("with a response: %+v", s)
	}
}

// A judged document that the corpus lacks costs a query its texts, and that is
// told.
func TestBEIRCorpusGap(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "qrels"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"corpus.jsonl":   `{"_id":"d","text":"t"}`,
		"queries.jsonl":  `{"_id":"p","text":"why"}` + "\n" + `{"_id":"q","text":"who"}`,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\np\td\t1\nq\td\t1\nq\tx\t1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	info, err := dataset.Scan(dir, dataset.Options{})
	if err != nil || len(info.Warnings) != 1 || info.Warnings[0].Kind != "corpus_gap" || info.Warnings[0].Count != 1 {
		t.Errorf("%+v, %v", info.Warnings, err)
	}
}

// Japanese mail and old exports shift to two bytes a character by escapes: that
// is valid UTF-8, and must not be read as such.
func TestISO2022(t *testing.T) {
	const jis = "\x1b$BF|K\\8l\x1b(B" // 日本語
	for name, text := range map[string]string{"a.csv": "question,answer\n" + jis + ",a\n", "a.jsonl": `{"question":"` + strings.ReplaceAll(jis, `\`, `\\`) + `","answer":"a"}`} {
		_, bad := readAll(t, write(t, name, text), dataset.Options{})
		if len(bad) != 1 || !strings.Contains(bad[0].Reason, "ISO-2022") || !strings.Contains(bad[0].Hint, "iso-2022-jp") {
			t.Errorf("%s: %v", name, bad)
		}
	}
	path := write(t, "a.csv", "question,answer\n"+jis+",a\n")
	if samples, bad := readAll(t, path, dataset.Options{Encoding: "iso-2022-jp"}); len(bad) > 0 || samples[0].UserInput != "日本語" {
		t.Errorf("%v, %v", samples, bad)
	}
	if s := one(t, "a.csv", "question\n\x1b[31mred\x1b[0m costs \x1b $5\n"); s.UserInput != "\x1b[31mred\x1b[0m costs \x1b $5" {
		t.Errorf("%q", s.UserInput)
	}
}

// Of several files, one whose columns are named otherwise gives samples of which
// nothing is known; that is told, with the file.
func TestNothingToScore(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1.csv": "id,question\n1,q\n", "2.csv": "id,frage,antwort\n2,q,a\n3,q,a\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	info, err := dataset.Scan(filepath.Join(dir, "*.csv"), dataset.Options{})
	if err != nil || len(info.Warnings) != 1 {
		t.Fatalf("%+v, %v", info.Warnings, err)
	}
	if w := info.Warnings[0]; w.Kind != "nothing_to_score" || w.Count != 2 || filepath.Base(w.File) != "2.csv" || w.Row != 2 {
		t.Errorf("%+v", w)
	}
}
