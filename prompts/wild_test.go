package prompts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWildTemplates: every collected case of prompts that broke other tools has
// a place here, so that a new one is not passed over.
func TestWildTemplates(t *testing.T) {
	load := func(t *testing.T, name, text string) (*Template, error) {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name)+".md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Load(Options{Dir: dir})
		if err != nil {
			return nil, err
		}
		return s.Get(name)
	}
	form := func(body string) string {
		return "---\nversion: 1\n---\n[system]\nJudge. {{language}} {{reply_format}}\n[user]\n" + body
	}
	for id, raw := range wild(t, "e_prompt") {
		t.Run(id, func(t *testing.T) {
			var c struct {
				Sub    string
				Input  map[string]json.RawMessage
				Expect map[string]json.RawMessage
			}
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			text := func(key string) (s string) {
				_ = json.Unmarshal(c.Input[key], &s)
				return s
			}
			switch {
			case c.Expect["rendered"] != nil: // TestWildTemplatesRender
			case c.Sub == "unknown":
				_, err := load(t, "faithfulness/verdict", form(text("template")))
				if err == nil || !strings.Contains(err.Error(), "unknown placeholder") && !strings.Contains(err.Error(), "is missing") {
					t.Errorf("got %v", err)
				}
			case c.Input["file_lf"] != nil:
				one, err1 := load(t, "claims/split", form(strings.ReplaceAll(text("file_lf"), "{{answer}}", "{{text}}")))
				two, err2 := load(t, "claims/split", strings.ReplaceAll(form(""), "\n", "\r\n")+strings.ReplaceAll(text("file_crlf"), "{{answer}}", "{{text}}"))
				if err1 != nil || err2 != nil || one.Hash != two.Hash {
					t.Errorf("%v, %v, or two hashes", err1, err2)
				}
			case c.Input["prompt"] != nil:
				if _, err := Load(Options{Dir: filepath.Join(t.TempDir(), text("prompt"))}); err == nil {
					t.Error("a path that isn't there was passed over")
				}
			case c.Input["prompt_v1"] != nil:
				one, err1 := load(t, "claims/split", form(strings.ReplaceAll(text("prompt_v1"), "{{answer}}", "{{text}}")))
				two, err2 := load(t, "claims/split", form(strings.ReplaceAll(text("prompt_v2"), "{{answer}}", "{{text}}")))
				if err1 != nil || err2 != nil || one.Hash == two.Hash {
					t.Errorf("%v, %v, or one hash for two prompts", err1, err2)
				}
			case c.Expect["fence_not_in_data"] != nil: // package judge makes the fences and tests them
			default:
				t.Errorf("no test knows this case: %s", raw)
			}
		})
	}
}
