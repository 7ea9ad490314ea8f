package prompts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/prompts"
)

// values fills every placeholder with a text that tells where it went.
func values() map[string]string {
	v := map[string]string{}
	for _, n := range []string{"user_input", "response", "reference", "retrieved_contexts", "text", "items", "reply_format"} {
		v[n] = "<<" + n + ">>"
	}
	return v
}

// write puts files into a new folder and returns its path.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, o prompts.Options) *prompts.Set {
	t.Helper()
	s, err := prompts.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t *testing.T, s *prompts.Set, name string) *prompts.Template {
	t.Helper()
	tpl, err := s.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func render(t *testing.T, s *prompts.Set, name string, v map[string]string) (system, user string) {
	t.Helper()
	ms, err := s.Render(name, v)
	if err != nil {
		t.Fatal(err)
	}
	if len(ms) != 2 || ms[0].Role != "system" || ms[1].Role != "user" {
		t.Fatalf("want one system and one user message, got %+v", ms)
	}
	return ms[0].Content, ms[1].Content
}

const verdict = `---
version: 7
---
[system]
Judge. {{reply_format}}
[user]
{{retrieved_contexts}}
{{items}}
`

func TestBuiltIn(t *testing.T) {
	s := prompts.Default()
	want := []string{
		"answer_relevance/questions", "answer_relevance/rubric", "answer_relevance/statements",
		"claims/backing", "claims/match", "claims/split", "context_entity_recall/entities", "context_precision/verdict",
		"context_precision/verdict_by_response", "context_recall/verdict", "context_relevance/rating",
		"context_relevance/rating_again", "context_relevance/statements", "context_relevance/verdict",
		"faithfulness/verdict", "hallucination/agreement",
	}
	if d := cmp.Diff(want, prompts.Names()); d != "" {
		t.Fatal(d)
	}
	if ws := s.Lint(); len(ws) != 0 {
		t.Errorf("the built-in templates have warnings: %v", ws)
	}
	for _, tpl := range s.List() {
		system, user := render(t, s, tpl.Name, values())
		if strings.Contains(system+user, "{{") || strings.Contains(system+user, "\n\n\n") {
			t.Errorf("%s renders with a placeholder or a gap left:\n%s\n%s", tpl.Name, system, user)
		}
		if !strings.HasSuffix(system, "<<reply_format>>") || !strings.HasSuffix(user, ">>") {
			t.Errorf("%s: the reply format must end the system part, and data the user part", tpl.Name)
		}
		if !strings.Contains(system, "never an instruction") || !strings.Contains(system, "the language of the text that is judged") {
			t.Errorf("%s doesn't say that data is data, or in which language to write", tpl.Name)
		}
		if !tpl.BuiltIn || tpl.Version < 1 || len(tpl.Hash) != 64 {
			t.Errorf("%s: BuiltIn %t, version %d, hash %q", tpl.Name, tpl.BuiltIn, tpl.Version, tpl.Hash)
		}
	}
}

// What the metrics rely on: which data stands in which prompt.
func TestBuiltInData(t *testing.T) {
	want := map[string][]string{
		"answer_relevance/questions":            {"text"},
		"answer_relevance/statements":           {"user_input", "items"},
		"claims/backing":                        {"user_input", "retrieved_contexts", "items"},
		"claims/match":                          {"user_input", "text", "items"},
		"context_entity_recall/entities":        {"text"},
		"context_relevance/rating":              {"user_input", "retrieved_contexts"},
		"context_relevance/rating_again":        {"user_input", "retrieved_contexts"},
		"context_relevance/statements":          {"user_input", "items"},
		"context_relevance/verdict":             {"user_input", "items"},
		"hallucination/agreement":               {"response", "items"},
		"answer_relevance/rubric":               {"user_input", "response"},
		"claims/split":                          {"text"},
		"context_precision/verdict":             {"user_input", "reference", "items"},
		"context_precision/verdict_by_response": {"user_input", "response", "items"},
		"context_recall/verdict":                {"user_input", "retrieved_contexts", "items"},
		"faithfulness/verdict":                  {"user_input", "retrieved_contexts", "items"},
	}
	got := map[string][]string{}
	for _, tpl := range prompts.Default().List() {
		for _, n := range []string{"user_input", "response", "reference", "retrieved_contexts", "text", "items"} {
			if tpl.Uses(n) {
				got[tpl.Name] = append(got[tpl.Name], n)
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestOverride(t *testing.T) {
	dir := write(t, map[string]string{
		"faithfulness/verdict.md": verdict,
		"faithfulness/README.md":  "notes",
		".git/config":             "x",
		"examples.jsonl":          "{}",
	})
	s := load(t, prompts.Options{Dir: dir})
	tpl := get(t, s, "faithfulness/verdict")
	if tpl.BuiltIn || tpl.Version != 7 || tpl.Path != filepath.Join(dir, "faithfulness", "verdict.md") {
		t.Errorf("the override isn't in place: %+v", tpl)
	}
	system, user := render(t, s, "faithfulness/verdict", values())
	if system != "Judge. <<reply_format>>" || user != "<<retrieved_contexts>>\n<<items>>" {
		t.Errorf("got %q and %q", system, user)
	}
	if got, want := get(t, s, "claims/split").Hash, get(t, prompts.Default(), "claims/split").Hash; got != want {
		t.Error("an override of one template changed another one")
	}
	if s.Hash() == prompts.Default().Hash() {
		t.Error("the set's hash doesn't show the override")
	}
}

func TestOtherLanguages(t *testing.T) {
	dir := write(t, map[string]string{"claims/split.md": "\ufeff---\r\nversion: 2\r\n---\r\n[system]\r\n把文本拆分成独立的事实陈述。「{不是占位符}」 {{reply_format}}\r\n[user]\r\nنص: {{text}} — конец 🙂\r\n"})
	system, user := render(t, load(t, prompts.Options{Dir: dir}), "claims/split", values())
	if system != "把文本拆分成独立的事实陈述。「{不是占位符}」 <<reply_format>>" || user != "نص: <<text>> — конец 🙂" {
		t.Errorf("got %q and %q", system, user)
	}
}

func TestAdditions(t *testing.T) {
	plain := prompts.Default()
	s := load(t, prompts.Options{
		Domain:   "The samples are about {{items}} of tenancy law.\r\n",
		Language: "German",
		Rubric:   map[string]string{"context_precision": "Statutes count.", "context_precision/verdict": "Only statutes count."},
		Examples: []prompts.Example{{
			Prompt: "faithfulness/verdict", RetrievedContexts: []string{"Sky is <blue>."}, Items: []string{"The sky is blue."},
			Reply: []byte(`{"verdicts": [{"id": 1, "reason": "a < b", "verdict": "supported"}]}`),
		}, {
			Prompt: "faithfulness/verdict", UserInput: "Why?", RetrievedContexts: []string{"c1", "c2"}, Items: []string{"i"},
			Reply: []byte(`{"verdicts":[{"id":1,"reason":"","verdict":"not_found"}]}`),
		}},
	})
	v := values()
	system, _ := render(t, s, "faithfulness/verdict", v)
	for _, want := range []string{
		"Write the reasons in German.\n\nThe samples are about {{items}} of tenancy law.\n\nExample 1\n",
		"Example 1\n<context n=\"1\">\nSky is <blue>.\n</context>\n<item n=\"1\">\nThe sky is blue.\n</item>\nReply: {\"verdicts\":[{\"id\":1,\"reason\":\"a < b\",\"verdict\":\"supported\"}]}\n\nExample 2\n<question>\nWhy?\n</question>\n<context n=\"1\">\nc1\n</context>\n<context n=\"2\">",
	} {
		if !strings.Contains(system, want) {
			t.Errorf("the system part lacks %q:\n%s", want, system)
		}
	}
	for name, want := range map[string]string{
		"context_precision/verdict":             "\n\nOnly statutes count.\n\n",
		"context_precision/verdict_by_response": "\n\nStatutes count.\n\n",
	} {
		if system, _ := render(t, s, name, v); !strings.Contains(system, want) {
			t.Errorf("%s lacks its rubric %q", name, want)
		}
	}
	for _, tpl := range s.List() {
		if tpl.Hash == get(t, plain, tpl.Name).Hash {
			t.Errorf("%s: the additions are not in the hash", tpl.Name)
		}
	}
}

func TestLoadReportsEverything(t *testing.T) {
	head := "---\nversion: 1\n---\n"
	ok := func(body string) string { return head + "[system]\n" + body + "\n{{reply_format}}\n[user]\n{{text}}\n" }
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"empty", map[string]string{"claims/split.md": " \r\n"}, []string{"claims/split.md:1: the template is empty"}},
		{"unknown placeholder", map[string]string{"claims/split.md": ok("Look at\n{{txet}} and {{ответ}}")}, []string{
			`claims/split.md:6: unknown placeholder {{txet}} (did you mean "text"?)`, "claims/split.md:6: unknown placeholder {{ответ}} (known: "}},
		{"a peer's name", map[string]string{"claims/split.md": ok("{{answer}}")}, []string{`split.md:5: unknown placeholder {{answer}} (did you mean "response"?)`}},
		{"another step's data", map[string]string{"claims/split.md": head + "[system]\nx {{reply_format}}\n[user]\n{{text}}\n{{user_input}}"}, []string{"split.md:8: {{user_input}} is not known in claims/split; its data are text"}},
		{"forgotten", map[string]string{"faithfulness/verdict.md": head + "[system]\nx\n[user]\n{{items}}"}, []string{
			"verdict.md:1: the placeholder {{retrieved_contexts}} is missing", "verdict.md:1: the placeholder {{reply_format}} is missing"}},
		{"data in the system part", map[string]string{"claims/split.md": ok("{{text}}")}, []string{"split.md:5: {{text}} changes with every sample and belongs behind [user]"}},
		{"no front matter", map[string]string{"claims/split.md": "[system]\n{{reply_format}}\n[user]\n{{text}}"}, []string{"split.md:1: the front matter is missing"}},
		{"front matter", map[string]string{"claims/split.md": "---\nversoin: 1\nname\nversion: x\nversion: 2\n---\n[system]\n{{reply_format}}\n[user]\n{{text}}"}, []string{
			`split.md:2: unknown key "versoin" in the front matter (did you mean "version"?)`, "split.md:3: the front matter needs lines of the form key: value",
			`split.md:4: version must be a whole number from 1, not "x"`, "split.md:5: a second version"}},
		{"no version", map[string]string{"claims/split.md": "---\n---\n[system]\n{{reply_format}}\n[user]\n{{text}}"}, []string{"split.md:1: the front matter has no version"}},
		{"parts", map[string]string{"claims/split.md": head + "Hello\n[user]\n{{text}}\n[system]\n{{reply_format}}\n"}, []string{
			"split.md:4: text in front of [system]", "split.md:7: a second [system], or one behind [user]", "the line [system] is missing"}},
		{"empty part", map[string]string{"claims/split.md": head + "[system]\n\n[user]\n{{text}}{{reply_format}}"}, []string{"split.md:4: the system part is empty"}},
		{"nothing without the additions", map[string]string{"claims/split.md": head + "[system]\n{{domain}}\n[user]\n{{text}}{{reply_format}}"}, []string{"split.md:1: the system part is empty without additions"}},
		{"not UTF-8", map[string]string{"claims/split.md": head + "[system]\n\xff"}, []string{"split.md:5: the file is not UTF-8 here"}},
		{"misspelt step", map[string]string{"faithfulness/verdicts.md": verdict}, []string{`verdicts.md: no step reads this file (did you mean "faithfulness/verdict"?)`}},
		{"other ending", map[string]string{"faithfulness/verdict.txt": verdict}, []string{"verdict.txt: no step reads this file"}},
		{"misspelt metric", map[string]string{"faithfulnes/verdict.md": verdict}, []string{`faithfulnes: no metric of that name has prompts (did you mean "faithfulness"?)`}},
		{"too high up", map[string]string{"verdict.md": verdict}, []string{"verdict.md: a template belongs in its metric's folder"}},
		{"a directory", map[string]string{"claims/split.md/x": ""}, []string{"split.md: a template must be a file, this is a directory"}},
		{"nothing", map[string]string{"README.md": ""}, []string{"the prompt folder holds no template"}},
		{"several files", map[string]string{"claims/split.md": "", "faithfulness/verdict.md": "", "x/y.md": ""}, []string{"split.md:1:", "verdict.md:1:", "x: no metric"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := prompts.Load(prompts.Options{Dir: write(t, tt.files)})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(filepath.ToSlash(err.Error()), want) {
					t.Errorf("the error lacks %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestLoadOptionErrors(t *testing.T) {
	file := filepath.Join(write(t, map[string]string{"f": ""}), "f")
	noRubric := write(t, map[string]string{"faithfulness/verdict.md": verdict})
	reply := []byte(`{"claims":[]}`)
	tests := []struct {
		name string
		o    prompts.Options
		want string
	}{
		{"missing folder", prompts.Options{Dir: file + "x"}, "read the prompt folder"},
		{"a file as folder", prompts.Options{Dir: file}, "read the prompt folder"},
		{"rubric for nothing", prompts.Options{Rubric: map[string]string{"faithfullness": "x"}}, `did you mean "faithfulness"?`},
		{"rubric without a place", prompts.Options{Dir: noRubric, Rubric: map[string]string{"faithfulness": "x"}}, "has no {{rubric}}"},
		{"example for nothing", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/spit"}}}, `example 1: no prompt template "claims/spit" (did you mean "claims/split"?)`},
		{"example without data", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/split", Reply: reply}}}, "example 1: text is missing"},
		{"example with other data", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/split", Text: "t", UserInput: "q", Reply: reply}}}, "user_input is not known in claims/split"},
		{"example without reply", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/split", Text: "t"}}}, "the reply is missing"},
		{"example with garbage", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/split", Text: "t", Reply: []byte(`{"claims":[]} x`)}}}, "is not JSON"},
		{"example of another form", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/split", Text: "t", Reply: []byte(`{"rating":1}`)}}}, `the reply has no "claims"`},
		{"example with too few verdicts", prompts.Options{Examples: []prompts.Example{{Prompt: "faithfulness/verdict", RetrievedContexts: []string{"c"}, Items: []string{"a", "b"}, Reply: []byte(`{"verdicts":[{"id":1,"verdict":"supported"}]}`)}}}, "1 verdicts for 2 items"},
		{"example with a label for chunks", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/backing", RetrievedContexts: []string{"c"}, Items: []string{"a"}, Reply: []byte(`{"verdicts":[{"id":1,"verdict":"supported"}]}`)}}}, "and a list of chunks"},
		{"example with a chunk that is not there", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/backing", RetrievedContexts: []string{"c"}, Items: []string{"a"}, Reply: []byte(`{"verdicts":[{"id":1,"chunks":[1,2]}]}`)}}}, "names a chunk that the example doesn't have"},
		{"example with chunks for a label", prompts.Options{Examples: []prompts.Example{{Prompt: "claims/match", Text: "t", Items: []string{"a"}, Reply: []byte(`{"verdicts":[{"id":1,"chunks":[1]}]}`)}}}, "and a verdict"},
		{"example of claims for questions", prompts.Options{Examples: []prompts.Example{{Prompt: "answer_relevance/questions", Text: "t", Reply: []byte(`{"claims":[]}`)}}}, `the reply has no "questions"`},
		{"example with other ids", prompts.Options{Examples: []prompts.Example{{Prompt: "faithfulness/verdict", RetrievedContexts: []string{"c"}, Items: []string{"a"}, Reply: []byte(`{"verdicts":[{"id":2,"verdict":"supported"}]}`)}}}, "must have the id 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := prompts.Load(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want something about %q", err, tt.want)
			}
		})
	}
}

func TestReadExamples(t *testing.T) {
	good := `{"prompt":"claims/split","text":"t","reply":{"claims":["t"]}}`
	dir := write(t, map[string]string{"good": "\ufeff" + good + "\r\n\n" + good, "bad": good + "\n{\"promt\":1}\nx\n" + good + good, "none": "\n"})
	es, err := prompts.ReadExamples(filepath.Join(dir, "good"))
	if err != nil || len(es) != 2 {
		t.Fatalf("got %d examples and %v, want 2", len(es), err)
	}
	load(t, prompts.Options{Examples: es})
	load(t, prompts.Options{Examples: []prompts.Example{
		{Prompt: "claims/backing", RetrievedContexts: []string{"c", "d"}, Items: []string{"a", "b"}, Reply: []byte(`{"verdicts":[{"id":1,"reason":"r","chunks":[2]},{"id":2,"reason":"r","chunks":[]}]}`)},
		{Prompt: "answer_relevance/questions", Text: "t", Reply: []byte(`{"questions":["What?"]}`)},
		{Prompt: "context_entity_recall/entities", Text: "t", Reply: []byte(`{"entities":[]}`)},
	}})
	es[1].Prompt = "?"
	if _, err := prompts.Load(prompts.Options{Examples: es}); err == nil || !strings.Contains(err.Error(), "good:3: ") {
		t.Errorf("the error doesn't name the line: %v", err)
	}
	for file, wants := range map[string][]string{"bad": {"bad:2: ", "bad:3: ", "bad:4: "}, "none": {"holds no example"}, "missing": {"read the examples"}} {
		_, err := prompts.ReadExamples(filepath.Join(dir, file))
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want something about %q", file, err, want)
			}
		}
	}
}

func TestRender(t *testing.T) {
	s := prompts.Default()
	v := values()
	hostile := "{{items}} {{purpose | trim}} {{}} \"<a href='x'>&amp;\" \r\n{{{response}}} $1 %s"
	v["text"] = hostile
	if _, user := render(t, s, "claims/split", v); !strings.HasSuffix(user, "\n\n"+hostile) {
		t.Errorf("the data was changed: %q", user)
	}
	delete(v, "text")
	if _, err := s.Render("claims/split", v); err == nil || !strings.Contains(err.Error(), "no value for {{text}}") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Render("claims/splt", v); err == nil || !strings.Contains(err.Error(), `did you mean "claims/split"?`) {
		t.Errorf("got %v", err)
	}
}

func TestHash(t *testing.T) {
	lf := "---\nversion: 1\n---\n[system]\nRate:\n{{reply_format}}\n[user]\n{{text}}\n"
	hash := func(text string) string {
		return get(t, load(t, prompts.Options{Dir: write(t, map[string]string{"claims/split.md": text})}), "claims/split").Hash
	}
	base := hash(lf)
	for name, same := range map[string]string{
		"CRLF":                  strings.ReplaceAll(lf, "\n", "\r\n"),
		"no final newline":      strings.TrimSuffix(lf, "\n"),
		"more final newlines":   lf + "\n\n",
		"BOM":                   "\ufeff" + lf,
		"blank lines at a part": strings.ReplaceAll(lf, "[user]\n", "\n\n[user]\n\n"),
	} {
		if hash(same) != base {
			t.Errorf("%s changes the hash", name)
		}
	}
	for name, other := range map[string]string{
		"a word":    strings.Replace(lf, "Rate:", "Rate strictly:", 1),
		"a version": strings.Replace(lf, "version: 1", "version: 2", 1),
		"the part":  strings.Replace(lf, "{{reply_format}}\n[user]", "[user]\n{{reply_format}}", 1),
		"a space":   strings.Replace(lf, "Rate:", "Rate: ", 1),
	} {
		if hash(other) == base {
			t.Errorf("%s doesn't change the hash", name)
		}
	}
	withDomain := func(text, domain string) string {
		dir := write(t, map[string]string{"claims/split.md": text})
		return get(t, load(t, prompts.Options{Dir: dir, Domain: domain}), "claims/split").Hash
	}
	if withDomain(strings.Replace(lf, "Rate:", "{{domain}}", 1), "Rate:") != base {
		t.Error("the same text by way of an addition has another hash")
	}
	if withDomain(lf+"{{domain}}", "{{text}}") == hash(lf+"{{text}}") {
		t.Error("literal text and a placeholder have the same hash")
	}
}

func TestLint(t *testing.T) {
	dir := write(t, map[string]string{"claims/split.md": "---\nversion: 1\n---\n[system]\nUse {{ text }} or\n{response} or ${query}. JSON: {\"text\": {\"a\": 1}} {x}\n[user]\nText: {{text}}\n{{text}}\n{{reply_format}}\n" + strings.Repeat("Be strict. ", 30)})
	s := load(t, prompts.Options{Dir: dir, Domain: "law", Language: "German"})
	var got []string
	for _, w := range s.Lint() {
		if w.Template != "claims/split" {
			t.Errorf("warning for another template: %v", w)
		}
		got = append(got, filepath.Base(strings.ReplaceAll(w.String(), "/", "_")))
	}
	want := []string{
		"split.md:1: domain is given, but the template has no {{domain}}",
		"split.md:1: language is given, but the template has no {{language}}",
		"split.md:5: {{ text }} is literal text; the placeholder is {{text}}",
		"split.md:6: {response} is literal text; the placeholder is {{response}}",
		"split.md:6: ${query} is literal text; the placeholder is {{user_input}}",
		"split.md:8: {{text}} should stand on a line of its own",
		"split.md:9: {{text}} stands here a second time",
		"split.md:10: {{reply_format}} is the same for every sample",
		"split.md:10: fixed text stands behind the data",
	}
	if len(got) != len(want) {
		t.Fatalf("got %d warnings, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.Contains(got[i], strings.ReplaceAll(want[i], "/", "_")) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	paths, err := prompts.Default().Export(dir)
	if err != nil || len(paths) != len(prompts.Names()) {
		t.Fatalf("wrote %v, %v", paths, err)
	}
	s := load(t, prompts.Options{Dir: dir})
	for _, tpl := range s.List() {
		if tpl.BuiltIn || tpl.Hash != get(t, prompts.Default(), tpl.Name).Hash {
			t.Errorf("%s didn't come back from its exported file as it was", tpl.Name)
		}
	}
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := prompts.Default().Export(dir); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("an existing file was no error: %v", err)
	}
	if _, err := os.Stat(paths[0]); err == nil {
		t.Error("a refused export wrote a file")
	}
}

// What another tool would evaluate, and this one sends as it stands, is told
// whether or not its name is known here.
func TestLintForeignSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"{{ expected }}":          "the placeholder is {{reference}}",
		"{{ verdict_style }}":     "no placeholder",
		"{{purpose | trim}}":      "no placeholder",
		"{{user.name}}":           "no placeholder",
		"{{#if reference}}x":      "no placeholder",
		"{% for c in contexts %}": "no placeholder",
		"{{retrieved-contexts}}":  "no placeholder",
		`{"a": {{"b": 1}}}`:       "",
		`{{"name"}} {{}} {x}`:     "",
		"{\n{{\"verdicts\": []}}": "",
	} {
		dir := write(t, map[string]string{"claims/split.md": "---\nversion: 1\n---\n[system]\nLook.\n" + text + "\n{{language}} {{reply_format}}\n[user]\n{{text}}\n"})
		var got []string
		for _, w := range load(t, prompts.Options{Dir: dir}).Lint() {
			got = append(got, w.Message)
		}
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%s: warned of for nothing: %q", text, got)
		case want != "" && (len(got) != 1 || !strings.Contains(got[0], want)):
			t.Errorf("%s: got %q, want one about %q", text, got, want)
		}
	}
}
