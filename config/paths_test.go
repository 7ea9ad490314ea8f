package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
)

func TestSeveralFiles(t *testing.T) {
	c := load(t, least+"[dataset]\npath = [\"a.jsonl\", \"/b/*.csv\", \"-\"]\n", config.Options{})
	if len(c.Dataset.Paths) != 3 || filepath.Base(c.Dataset.Paths[0]) != "a.jsonl" || !slices.Equal(c.Dataset.Paths[1:], []string{"/b/*.csv", "-"}) {
		t.Errorf("paths %q", c.Dataset.Paths)
	}
	flags := []config.Flag{{Key: "dataset.path", Value: "x,y", Name: "--input"}, {Key: "dataset.path", Value: "z", Name: "--input"}}
	c = load(t, least+"[dataset]\npath = \"a.jsonl\"\n", config.Options{Flags: flags, Environ: []string{"RAGJUDGE_DATASET_PATH=e,f"}})
	if !slices.Equal(c.Dataset.Paths, []string{"x,y", "z"}) {
		t.Errorf("flags give %q", c.Dataset.Paths)
	}
	dataset := c.Resolved()["dataset"].(map[string]any)
	if got, ok := dataset["path"].([]string); !ok || len(got) != 2 {
		t.Errorf("resolved %v", dataset["path"])
	}
	c = load(t, least, config.Options{Environ: []string{"RAGJUDGE_DATASET_PATH=e,f"}})
	if !slices.Equal(c.Dataset.Paths, []string{"e,f"}) { // a comma may stand in a name
		t.Errorf("the environment gives %q", c.Dataset.Paths)
	}
}

func TestBadPaths(t *testing.T) {
	for text, want := range map[string]string{
		`["-", "-"]`: "named twice", `["a", 1]`: "item 2 is a whole number", `["", "a"]`: "item 1 is empty", `true`: "a text, or a list", `["~/a"]`: "only known to a shell",
	} {
		if _, err := config.Load(write(t, least+"[dataset]\npath = "+text+"\n"), config.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
