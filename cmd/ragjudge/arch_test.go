package main_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports says which packages of the module each package may import; a package
// that is not named here has no place yet. docs/architecture.md explains why.
var imports = map[string][]string{
	"bench":                   {},
	"cache":                   {},
	"cmd/ragjudge":            {"cache", "config", "cost", "dataset", "eval", "judge", "llm", "metrics", "prompts", "ranking", "report", "run", "tokens", "trec", "testset"},
	"config":                  {"text"},
	"cost/internal/gen":       {"cost"},
	"cost":                    {"llm", "tokens"},
	"dataset":                 {"eval", "ranking", "trec"},
	"eval":                    {},
	"examples/quickstart/cut": {"eval"},
	"judge":                   {"llm", "prompts", "text"},
	"llm":                     {},
	"llm/llmtest":             {"llm"},
	"metrics":                 {"eval", "judge", "llm", "ranking", "text"},
	"prompts":                 {"text"},
	"ranking":                 {},
	"report":                  {"eval"},
	"run":                     {"eval"},
	"testset":                 {"eval", "text"},
	"text":                    {},
	"tokens":                  {"tokens/internal/pack"},
	"tokens/internal/gen":     {"tokens/internal/pack"},
	"tokens/internal/pack":    {},
	"trec":                    {"ranking"},
}

func TestWhoImportsWhom(t *testing.T) {
	const module = "github.com/ragjudge/ragjudge/"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, ok := strings.CutPrefix(fields[0], module)
		if !ok {
			continue
		}
		allowed, known := imports[pkg]
		if !known {
			t.Errorf("%s is in no room: say in arch_test.go what it may import", pkg)
			continue
		}
		seen++
		for _, imp := range fields[1:] {
			if name, ours := strings.CutPrefix(imp, module); ours && !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s, which it must not", pkg, name)
			}
		}
	}
	if seen != len(imports) {
		t.Errorf("%d packages of %d seen: the list names one that is gone", seen, len(imports))
	}
}
