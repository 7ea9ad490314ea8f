package dataset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/dataset"
)

const promptfooYAML = `# promptfoo's own form
description: questions about the library
prompts:
  - "Answer by the context: {{context}} {{query}}"
defaultTest: &base
  options: {provider: openai:gpt-4.1}
tests:
  - vars:
      query: When does it open?
      context: |
        It opens at nine.
        It closes at seven.
    assert:
      - type: contains
        value: nine
  - description: 'quoted: "yes"'
    vars:
      query: Does it lend maps?
      context: >-
        Maps are lent,
        for a week.
      code: 007
      size: 12345678901234567890
      open: yes
      since: 2019-04-01
`

func yamlFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPromptfooYAML(t *testing.T) {
	r, err := dataset.Open(yamlFile(t, "promptfooconfig.yaml", promptfooYAML), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, err := r.Scan()
	if err != nil || info.Rows != 2 || string(info.Shape) != "promptfoo" {
		t.Fatalf("%+v, %v", info, err)
	}
	first, err := r.Next()
	if err != nil || first.UserInput != "When does it open?" || len(first.RetrievedContexts) != 1 || first.RetrievedContexts[0] != "It opens at nine.\nIt closes at seven.\n" {
		t.Errorf("%+v, %v", first, err)
	}
	second, err := r.Next()
	if err != nil || second.UserInput != "Does it lend maps?" || second.RetrievedContexts[0] != "Maps are lent, for a week." {
		t.Errorf("%+v, %v", second, err)
	}
	var all strings.Builder
	for _, v := range second.Metadata {
		all.Write(v)
	}
	for _, want := range []string{`"007"`, `12345678901234567890`, `"yes"`, `"2019-04-01"`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%s is not in the metadata as it was spelt: %s", want, all.String())
		}
	}
}

// TestYAMLRecords: a list of records, documents one after another, anchors and
// merges.
func TestYAMLRecords(t *testing.T) {
	for name, text := range map[string]string{
		"list":      "- {id: a, question: q1, answer: a1}\n- {id: b, question: q2, answer: a1}\n",
		"documents": "id: a\nquestion: q1\nanswer: a1\n---\nid: b\nquestion: q2\nanswer: a1\n",
		"merged":    "- &one\n  id: a\n  question: q1\n  answer: a1\n- <<: *one\n  id: b\n  question: q2\n",
	} {
		r, err := dataset.Open(yamlFile(t, "x.yml", text), dataset.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, id := range []string{"a", "b"} {
			s, err := r.Next()
			if err != nil || s.ID != id || s.Response != "a1" || s.UserInput != map[string]string{"a": "q1", "b": "q2"}[id] {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
		}
		r.Close()
	}
}

// TestYAMLErrors: what is wrong is told with the line of the YAML.
func TestYAMLErrors(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"syntax":     {"- id: a\n  question: [\n", "no YAML that can be read: line 2"},
		"not UTF-8":  {"- id: caf\xe9\n", "not UTF-8"},
		"bomb":       {bomb, "aliases"},
		"deep":       {strings.Repeat("- ", 500) + "x", "nesting"},
		"key":        {"- ? [a, b]\n  : c\n", "key at line 1"},
		"bad record": {"- id: a\n  question: q\n  answer: x\n\n# a comment\n- id: b\n  question: q\n  answer: {a: 1}\n", "x.yaml:6"},
		"empty":      {"# nothing\n", "is empty"},
	} {
		info, err := dataset.Scan(yamlFile(t, "x.yaml", c.text), dataset.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v (%d rows), want %q", name, err, info.Rows, c.want)
		}
	}
}

func FuzzYAML(f *testing.F) {
	f.Add(promptfooYAML)
	f.Add("- &a {x: *a}\n")
	f.Add("a: !!binary aGk=\n<<: [1, {b: 2}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = dataset.Scan(path, dataset.Options{SkipBadLines: true}) //nolint:errcheck // it must not panic or hang
	})
}
