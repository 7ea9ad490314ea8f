package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is one step of docs/add-a-metric.md: a file, and the text under it.
type step struct{ path, text string }

var (
	stepTitle  = regexp.MustCompile("(?m)^\\*\\*[0-9]+\\. `([^`]+)`\\*\\*.*$")
	familyName = regexp.MustCompile(`(?m)^var (\w+Family) = Family\{`)
)

// stepsOf reads the steps of the page: each title with the first block of code
// behind it.
func stepsOf(t *testing.T, page string) []step {
	t.Helper()
	var steps []step
	titles := stepTitle.FindAllStringSubmatchIndex(page, -1)
	for i, m := range titles {
		end := len(page)
		if i+1 < len(titles) {
			end = titles[i+1][0]
		}
		_, rest, ok := strings.Cut(page[m[1]:end], "\n```")
		if !ok {
			continue // a step in words
		}
		_, rest, _ = strings.Cut(rest, "\n")
		text, _, ok := strings.Cut(rest, "\n```")
		if !ok {
			t.Fatalf("the block under %s has no end", page[m[0]:m[1]])
		}
		steps = append(steps, step{page[m[2]:m[3]], text + "\n"})
	}
	return steps
}

// insert puts lines behind the first line of the file that holds the anchor.
func insert(t *testing.T, text, anchor, lines string) string {
	t.Helper()
	before, after, ok := strings.Cut(text, anchor)
	if !ok {
		t.Fatalf("the file has no line %q any more, behind which the page puts %q", anchor, lines)
	}
	end, rest, _ := strings.Cut(after, "\n")
	return before + anchor + end + "\n" + lines + rest
}

// TestAddAMetricPage does what docs/add-a-metric.md says, over the source as it
// is: the files are made, the lines put into the lists, and what the page runs
// is run. Nothing is written into the source: the compiler lays the files over
// it.
func TestAddAMetricPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program anew")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	steps := stepsOf(t, read("docs/add-a-metric.md"))
	files := map[string]string{"metrics/metrics.go": read("metrics/metrics.go"), "prompts/known.go": read("prompts/known.go")}
	seen := map[string]bool{}
	for _, s := range steps {
		seen[s.path] = true
		switch s.path {
		case "metrics/metrics.go":
			anchor, lines, _ := strings.Cut(s.text, "\n")
			files[s.path] = insert(t, files[s.path], anchor, strings.TrimSuffix(lines, "}\n"))
		case "prompts/known.go":
			files[s.path] = insert(t, files[s.path], "var specs = []spec{", s.text)
		default:
			if _, err := os.Stat(filepath.Join(root, s.path)); err == nil {
				t.Fatalf("the page makes %s, which is there already", s.path)
			}
			files[s.path] = s.text
			m := familyName.FindStringSubmatch(s.text)
			if m != nil && !strings.Contains(files["metrics/metrics.go"], "\t"+m[1]+",\n") && s.path == "metrics/clarity.go" {
				files["metrics/metrics.go"] = insert(t, files["metrics/metrics.go"], "\tcitedSentencesFamily,", "\t"+m[1]+",\n")
			}
		}
	}
	for _, want := range []string{"metrics/cited_sentences.go", "metrics/metrics.go", "metrics/cited_sentences_test.go", "prompts/templates/clarity/rating.md", "prompts/known.go", "metrics/clarity.go"} {
		if !seen[want] {
			t.Errorf("the page has no step %s with its text", want)
		}
	}
	overlay := writeOverlay(t, root, files)

	gotool := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	program := filepath.Join(t.TempDir(), "ragjudge")
	gotool("vet", "-overlay", overlay, "./metrics")
	gotool("test", "-overlay", overlay, "-run", "TestCitedSentences|TestFamilies", "./metrics")
	gotool("build", "-overlay", overlay, "-o", program, "./cmd/ragjudge")

	ask := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "RAGJUDGE_CACHE="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("ragjudge %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out := ask("metrics", "cited_sentences"); !strings.Contains(out, "sentences of the response with a citation mark") {
		t.Errorf("the metric isn't described: %s", out)
	}
	dir := t.TempDir()
	out := ask("run", "--config", "examples/quickstart/ragjudge.toml", "--metrics", "cited_sentences,clarity", "--out", dir)
	for _, want := range []string{"cited_sentences ", "clarity ", "clarity: mean rating"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary lacks %q:\n%s", want, out)
		}
	}
	if out := ask("prompts", "show", "clarity/rating"); !strings.Contains(out, "You rate how clearly a response is written") {
		t.Errorf("the template isn't shown: %s", out)
	}
}

// writeOverlay writes the files beside the source, for the compiler's -overlay.
func writeOverlay(t *testing.T, root string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range files {
		to := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, filepath.FromSlash(path))] = to
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}
