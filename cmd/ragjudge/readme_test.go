package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

var update = flag.Bool("update", false, "write the output of the README's commands into it")

// elsewhere are the commands of the README that .ci/run runs, and those that
// are for the shell alone.
var elsewhere = []string{
	"go test -race -timeout 20m ./...",
	"CGO_ENABLED=0 go build -o ragjudge ./cmd/ragjudge",
	"export OPENAI_API_KEY=...",
}

// block is a fenced block of the README.
type block struct {
	kind        string
	text        string
	start, stop int // of the text
}

func blocks(md string) []block {
	var out []block
	for at := 0; ; {
		open := strings.Index(md[at:], "\n```")
		if open < 0 {
			return out
		}
		open += at + len("\n```")
		nl := open + strings.Index(md[open:], "\n") + 1
		end := nl + strings.Index(md[nl:], "```\n")
		out = append(out, block{kind: strings.TrimSpace(md[open:nl]), text: md[nl:end], start: nl, stop: end})
		at = end + len("```")
	}
}

// Every command in the README runs, from a checkout, and prints what the README
// shows.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(work, "examples")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	provider := llmtest.New(llmtest.Options{Answer: judge.LexicalAnswer, Key: secretKey})
	defer provider.Close()
	env := []string{"HOME=" + work, "RAGJUDGE_CACHE=" + filepath.Join(work, "cache"), "OPENAI_API_KEY=" + secretKey}

	md, ran, shown := string(readme), 0, 0
	var last string
	var fresh []struct {
		block
		now string
	}
	for _, b := range blocks(md) {
		switch b.kind {
		case "sh":
			for line := range strings.Lines(b.text) {
				if line = strings.TrimSpace(line); !slices.Contains(elsewhere, line) {
					last = command(t, line, env, provider.URL())
					ran++
				}
			}
		case "text":
			shown++
			if b.text != last {
				fresh = append(fresh, struct {
					block
					now string
				}{b, last})
				if !*update {
					t.Errorf("the README shows other output than the command prints (go test ./cmd/ragjudge -run Readme -update writes it):\n%s", last)
				}
			}
		}
	}
	if ran < 15 || shown < 2 {
		t.Errorf("%d commands ran and %d outputs were compared: is the README read rightly?", ran, shown)
	}
	if provider.Requests() == 0 {
		t.Error("no command called a provider")
	}
	if *update {
		for _, f := range slices.Backward(fresh) {
			md = md[:f.start] + f.now + md[f.stop:]
		}
		if err := os.WriteFile(path, []byte(md), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// command runs one line in process and returns what it printed.
func command(t *testing.T, line string, env []string, url string) string {
	t.Helper()
	line = strings.Replace(line, "go run ./cmd/ragjudge", "ragjudge", 1)
	args := strings.Fields(line)
	if args[0] != "ragjudge" {
		t.Fatalf("a command that no test runs: %s", line)
	}
	if args[1] == "run" {
		env = append(slices.Clone(env), "RAGJUDGE_JUDGE_BASE_URL="+url)
	}
	var out, errw bytes.Buffer
	if code := Main(t.Context(), args[1:], env, strings.NewReader(""), &out, &errw); code != 0 {
		t.Errorf("%s: exit code %d\n%s", line, code, errw.String())
	}
	return out.String()
}
