package prompts

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// wild returns the cases of a category that broke other tools, by id.
func wild(t *testing.T, category string) map[string]json.RawMessage {
	t.Helper()
	f, err := os.Open("../../shared/cases/wild.jsonl")
	if err != nil {
		t.Skip("the collected cases are not beside the repository")
	}
	defer f.Close()
	cases := map[string]json.RawMessage{}
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		var c struct{ ID, Category string }
		if len(line) > 0 {
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			if c.Category == category {
				cases[c.ID] = line
			}
		}
		if err != nil {
			return cases
		}
	}
}

func TestWildTemplatesRender(t *testing.T) {
	ran := 0
	for id, raw := range wild(t, "e_prompt") {
		var c struct {
			Input struct {
				Template string
				Vars     json.RawMessage
			}
			Expect struct{ Rendered *string }
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			continue // another form of case
		}
		var vars map[string]string
		if c.Expect.Rendered == nil || json.Unmarshal(c.Input.Vars, &vars) != nil {
			continue
		}
		ran++
		got, err := fill(split(c.Input.Template), vars)
		if err != nil || got != *c.Expect.Rendered {
			t.Errorf("%s: got %q, %v, want %q", id, got, err, *c.Expect.Rendered)
		}
	}
	if ran < 4 {
		t.Errorf("ran %d cases only", ran)
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		text string
		want []string // names, or literal text with a leading =
	}{
		{"", nil},
		{"a {{text}} b", []string{"=a ", "text", "= b"}},
		{"{{text}}{{items}}", []string{"text", "items"}},
		{"{{{text}}}", []string{"={", "text", "=}"}},
		{"{{ text }} {{text|trim}} {text} {{}} {{1}} {{a-b}}", []string{"={{ text }} {{text|trim}} {text} {{}} {{1}} {{a-b}}"}},
		{"{{text", []string{"={{text"}},
		{"{{te\nxt}}", []string{"={{te\nxt}}"}},
		{"{{a1_}}{{_}}", []string{"a1_", "_"}},
		{"{\"a\": {{\"b\": 1}}}", []string{"={\"a\": {{\"b\": 1}}}"}},
	}
	for _, tt := range tests {
		var got []string
		for _, p := range split(tt.text) {
			if p.name != "" {
				got = append(got, p.name)
			} else {
				got = append(got, "="+p.text)
			}
		}
		if strings.Join(got, "\x00") != strings.Join(tt.want, "\x00") {
			t.Errorf("split(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// FuzzFill compares the one-pass insertion with the standard library's own
// one-pass replacement, over any template and any data.
func FuzzFill(f *testing.F) {
	f.Add("Q: {{user_input}}\n{\"a\": {{\"b\": 1}}} {{{items}}}", "{{items}}", "x")
	f.Add("{{{{items}}}}{{items}", "}}", "{{")
	f.Fuzz(func(t *testing.T, template, a, b string) {
		pieces := split(template)
		values := map[string]string{}
		for _, p := range pieces {
			if p.name != "" {
				values[p.name] = "{{" + p.name + "}}"
			}
		}
		values["user_input"], values["items"] = a, b
		got, err := fill(pieces, values)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("{{user_input}}", a, "{{items}}", b).Replace(template)
		if got != want {
			t.Errorf("template %q with %q and %q gave %q, want %q", template, a, b, got, want)
		}
		for i, p := range pieces {
			if want := strings.Count(show(pieces[:i]), "\n"); p.line != want {
				t.Errorf("piece %d of %q is on line %d, want %d", i, template, p.line, want)
			}
		}
	})
}

// FuzzParse: no file makes the parser panic, and what it takes has both parts
// and every placeholder it needs.
func FuzzParse(f *testing.F) {
	f.Add("---\nversion: 1\n---\n[system]\n{{domain}}\n\n{{reply_format}}\n[user]\n{{text}}\n")
	f.Add("---\r\nversion: 1\r\n---\r\n[system]\r\n{{rubric}}\r\n{{examples}}{{reply_format}}\r\n[user]\r\n{{text}}")
	f.Add("[user]\n[system]\n---")
	f.Add("---\n")
	sp := specs[1]
	f.Fuzz(func(t *testing.T, text string) {
		tpl, errs := parse(sp, "f.md", []byte(text))
		if len(errs) > 0 {
			for _, err := range errs {
				if !strings.HasPrefix(err.Error(), "f.md:") {
					t.Errorf("an error without its place: %v", err)
				}
			}
			return
		}
		if errs := tpl.apply(overlay{Domain: "", Rubric: "", Examples: "", Language: "x"}); len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, name := range sp.required {
			if !tpl.Uses(name) {
				t.Errorf("%q was taken without {{%s}}", text, name)
			}
		}
		system, err := fill(tpl.system, map[string]string{ReplyFormat: "r"})
		if err != nil {
			t.Error(err)
		}
		user, err := fill(tpl.user, map[string]string{ReplyFormat: "r", Text: "t"})
		if err != nil || user == "" {
			t.Errorf("user part %q, %v", user, err)
		}
		if strings.HasSuffix(system, "\n") {
			t.Errorf("the system part of %q ends in a newline", text)
		}
		lint(tpl, overlay{})
		again, errs := parse(sp, "f.md", []byte(tpl.Source))
		if len(errs) > 0 {
			t.Fatalf("the source of %q can't be parsed again: %v", text, errs)
		}
		again.apply(overlay{Language: "x"})
		if again.Hash != tpl.Hash {
			t.Errorf("%q: its source has another hash", text)
		}
	})
}
