package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

var samplesPath = filepath.Join("..", "samples.jsonl")

func source(t *testing.T) string {
	path := filepath.Join("..", "..", "..", "..", "shared", "data", "azure_rag", "baseline.eval_results.jsonl")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the source of the samples is not there:", err)
	}
	return path
}

func TestSamplesAreWhatTheRuleGives(t *testing.T) {
	var got bytes.Buffer
	if err := cutFile(source(t), &got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(samplesPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("samples.jsonl is not what cut makes of its source")
	}
}

// TestEveryRowOfTheSource: the rule loses no byte on any of the 200 rows.
func TestEveryRowOfTheSource(t *testing.T) {
	f, err := os.Open(source(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	rows, cited := 0, 0
	for in.Scan() {
		rows++
		var src sourceRow
		if err := json.Unmarshal(in.Bytes(), &src); err != nil {
			t.Fatal(err)
		}
		s, err := convert(rows, src)
		if err != nil {
			t.Errorf("row %d: %v", rows, err)
			continue
		}
		var parts []string
		hit := 0
		for _, c := range s.RetrievedContexts {
			parts = append(parts, c.ID+": "+c.Text)
			if c.ID == s.RelevantIDs[0] {
				hit = 1
			}
		}
		if strings.Join(parts, "\n\n") != src.Context {
			t.Errorf("row %d: the chunks do not add up to the context", rows)
		}
		if len(s.RelevantIDs) != 1 {
			t.Errorf("row %d: cited %v", rows, s.RelevantIDs)
		}
		cited += hit
	}
	// The source's own description: in 160 of 200 rows the cited chunk was
	// retrieved, which holds only if pages are counted as they are here.
	if in.Err() != nil || rows != 200 || cited != 160 {
		t.Errorf("%d rows, the cited chunk retrieved in %d, %v", rows, cited, in.Err())
	}
}

func TestCutRefusesWhatItDoesNotKnow(t *testing.T) {
	const good = `{"question":"q","truth":"t [role_library-0.pdf]","answer":"a","context":"a.pdf#page=1: x\n\na.pdf#page=2: y\n\nb.pdf#page=3:  z"}`
	s, err := splitChunks("a.pdf#page=1: x\n\na.pdf#page=2: y\n\nnot a head\n\nb.pdf#page=3:  z")
	if err != nil || s[1].Text != "y\n\nnot a head" || s[2] != (chunk{"b.pdf#page=3", " z"}) {
		t.Errorf("%q, %v", s, err)
	}
	for name, bad := range map[string]string{
		"two chunks":         strings.Replace(good, "a.pdf#page=2: ", "", 1),
		"no citation":        strings.Replace(good, "[role_library-0.pdf]", "", 1),
		"unknown document":   strings.Replace(good, "[role_library-0.pdf]", "[novel-0.pdf]", 1),
		"unknown page":       strings.Replace(good, "[role_library-0.pdf]", "[role_library.pdf]", 1),
		"too few rows":       good,
		"not an object":      "[]",
		"text before chunks": strings.Replace(good, `"context":"`, `"context":"x`+"\\n\\n", 1),
	} {
		if err := cut(strings.NewReader(bad+"\n"), io.Discard); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestSamplesLoad: the copied file is good input with every field it claims.
func TestSamplesLoad(t *testing.T) {
	info, err := dataset.Scan(samplesPath, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if info.Rows != wantRows || info.NoID != 0 || len(info.Warnings) != 0 || info.LikeErrors != 0 {
		t.Errorf("%+v", info)
	}
	for f, n := range info.Missing {
		if f != eval.FieldReferenceContexts {
			t.Errorf("%d samples lack %s", n, f)
		}
	}
}
