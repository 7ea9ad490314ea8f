package config_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/ragjudge/ragjudge/config"
)

const examplePath = "../config.example.toml"

// commented are lines of the example that show a setting or a table that is not
// set: "# seed = 7", "# [judge.headers]".
var commented = regexp.MustCompile(`(?m)^# (\[\[?[a-z].*\]|[A-Za-z0-9_"@./-]+ = .*)$`)

func readExample(t *testing.T) (plain, full string) {
	t.Helper()
	b, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), commented.ReplaceAllString(string(b), "$1")
}

// TestExampleHasEveryKey compares the keys of config.example.toml with those
// that are known, and their order.
func TestExampleHasEveryKey(t *testing.T) {
	_, full := readExample(t)
	placeholder := regexp.MustCompile(`^(gates|metric|dataset\.columns|judge\.headers|prompts\.rubric|prompts\.faithfulness|judges)\.(.+)$`)
	var got []string
	for _, key := range leaves(t, full) {
		if m := placeholder.FindStringSubmatch(key); m != nil {
			switch m[1] {
			case "gates":
				_, part, _ := strings.Cut(m[2], ".")
				key = "gates.<metric>." + part
			case "metric":
				key = "metric.<name>.<option>"
			case "dataset.columns":
				key = "dataset.columns.<field>"
			case "prompts.faithfulness":
				key = "prompts.<metric>." + m[2]
			case "judges":
				key = "judges.<setting>"
			default:
				key = m[1] + ".<name>"
			}
		}
		if !slices.Contains(got, key) {
			got = append(got, key)
		}
	}
	if d := cmp.Diff(config.Keys(), got); d != "" {
		t.Errorf("config.Keys (-) and config.example.toml (+) differ:\n%s", d)
	}
}

// leaves are the dotted keys of a document, in order.
func leaves(t *testing.T, text string) []string {
	t.Helper()
	var p unstable.Parser
	p.Reset([]byte(text))
	var keys []string
	prefix := ""
	for p.NextExpression() {
		n := p.Expression()
		var parts []string
		for it := n.Key(); it.Next(); {
			parts = append(parts, string(it.Node().Data))
		}
		if n.Kind == unstable.Table || n.Kind == unstable.ArrayTable {
			prefix = strings.Join(parts, ".") + "."
			continue
		}
		keys = append(keys, prefix+strings.Join(parts, "."))
	}
	if err := p.Error(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestExampleShowsDefaults loads the example and compares every value that has
// a default with it.
func TestExampleShowsDefaults(t *testing.T) {
	plain, full := readExample(t)
	c, err := config.Load(examplePath, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) > 0 || c.Dataset.Paths[0] != "../samples.jsonl" {
		t.Errorf("warnings %q, dataset %q", c.Warnings, c.Dataset.Paths)
	}
	for _, key := range leaves(t, plain) {
		if key == "metrics" || key == "dataset.path" || key == "judge.model" {
			continue // those have none
		}
		if got, want := lookUp(t, c, key), lookUp(t, config.Default(), key); !cmp.Equal(got, want) {
			t.Errorf("%s is %v in the example, and %v by default", key, got, want)
		}
	}
	if _, err := config.Load(write(t, full), config.Options{}); err != nil {
		t.Errorf("with everything set: %v", err)
	}
}

// TestExampleExplains wants a comment above every setting, or above the group
// that it stands in.
func TestExampleExplains(t *testing.T) {
	plain, _ := readExample(t)
	explained := false
	for i, line := range strings.Split(plain, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			explained = true
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "["):
			explained = false
		case !explained:
			t.Errorf("line %d: %s has no comment", i+1, line)
		}
	}
}
