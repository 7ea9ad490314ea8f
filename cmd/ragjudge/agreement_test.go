package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// judgedByPeople is one sample with what people said of it.
type judgedByPeople struct {
	response string
	contexts []string
	// supported is the share of what it claims that people found supported.
	supported float64
}

// sharedLines reads a file of the recorded data beside the repository, or skips.
func sharedLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/data", path))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the recorded data are not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}

// beginSamples reads BEGIN: a response with the knowledge that it should rest on.
func beginSamples(t *testing.T) []judgedByPeople {
	var all []judgedByPeople
	for _, line := range sharedLines(t, "begin/begin_dev_wow.tsv")[1:] {
		c := strings.Split(strings.TrimRight(line, "\r"), "\t")
		s := judgedByPeople{response: c[4], contexts: []string{c[2]}}
		if c[5] == "Fully attributable" {
			s.supported = 1
		}
		all = append(all, s)
	}
	return all
}

var citationMark = regexp.MustCompile(`\[\d+\]`)

// expertSamples reads ExpertQA: by claim, or by answer with all its claims that
// have evidence.
func expertSamples(t *testing.T, byAnswer bool) []judgedByPeople {
	var all []judgedByPeople
	for _, line := range sharedLines(t, "expertqa/rand_test.first60.jsonl") {
		var row struct {
			Answers map[string]struct {
				Claims []struct {
					Claim    string   `json:"claim_string"`
					Evidence []string `json:"evidence"`
					Support  string   `json:"support"`
				} `json:"claims"`
			} `json:"answers"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		for _, answer := range row.Answers {
			var whole judgedByPeople
			n := 0.0
			for _, c := range answer.Claims {
				one := judgedByPeople{response: citationMark.ReplaceAllString(c.Claim, "")}
				for _, e := range c.Evidence {
					if _, text, ok := strings.Cut(e, "\n\n"); ok && strings.TrimSpace(text) != "" {
						one.contexts = append(one.contexts, text)
					}
				}
				if len(one.contexts) == 0 || !slices.Contains([]string{"Complete", "Partial", "Incomplete", "Missing"}, c.Support) {
					continue
				}
				if c.Support == "Complete" {
					one.supported = 1
				}
				if !byAnswer {
					all = append(all, one)
					continue
				}
				whole.response += one.response + "\n"
				whole.contexts = append(whole.contexts, one.contexts...)
				whole.supported += one.supported
				n++
			}
			if n > 1 {
				whole.supported /= n
				all = append(all, whole)
			}
		}
	}
	return all
}

// faithfulnessOf runs the program over the samples, from the file to the results,
// and returns the scores by row; NaN for a sample without one.
func faithfulnessOf(t *testing.T, samples []judgedByPeople) []float64 {
	t.Helper()
	dir := t.TempDir()
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	for i, s := range samples {
		if err := enc.Encode(map[string]any{"id": "s" + strconv.Itoa(i), "response": s.response, "retrieved_contexts": s.contexts}); err != nil {
			t.Fatal(err)
		}
	}
	input, config := filepath.Join(dir, "samples.jsonl"), filepath.Join(dir, "ragjudge.toml")
	if err := os.WriteFile(input, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("[judge]\nprovider = \"lexical\"\n[cache]\nmode = \"off\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if own := os.Getenv("AGREEMENT_CONFIG"); own != "" {
		config = own
	}
	out := filepath.Join(dir, "run")
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"run", "--config", config, "--input", input, "--metrics", "faithfulness", "--out", out, "--progress", "none"}, os.Environ(), nil, &stdout, &stderr)
	if code != exitOK && code != exitGate && code != exitCoverage {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	f, err := os.Open(filepath.Join(out, "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var scores []float64
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		var row struct{ Scores []struct{ Value *float64 } }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if v := row.Scores[0].Value; v != nil {
			scores = append(scores, *v)
		} else {
			scores = append(scores, math.NaN())
		}
	}
	return scores
}

// agreementFigures are how far scores and people agree.
type agreementFigures struct {
	n, unscored int
	// accuracy and kappa: a sample is faithful to both if all of it is supported.
	// auc is the chance that of two samples the better one has the higher score
	// (0.5 by guessing).
	accuracy, kappa, auc float64
}

func agreementOf(samples []judgedByPeople, scores []float64) agreementFigures {
	f := agreementFigures{n: len(samples)}
	same, said, meant, n := 0.0, 0.0, 0.0, 0.0
	better, pairs := 0.0, 0.0
	for i, s := range samples {
		if math.IsNaN(scores[i]) {
			f.unscored++
			continue
		}
		n++
		x, y := scores[i] == 1, s.supported == 1
		same, said, meant = same+truth(x == y), said+truth(x), meant+truth(y)
		for k := range samples {
			if math.IsNaN(scores[k]) || samples[k].supported >= s.supported {
				continue
			}
			pairs++
			switch {
			case scores[i] > scores[k]:
				better++
			case scores[i] == scores[k]:
				better += 0.5
			}
		}
	}
	p, q := said/n, meant/n
	chance := p*q + (1-p)*(1-q)
	f.accuracy = same / n
	f.kappa = (f.accuracy - chance) / (1 - chance)
	f.auc = better / pairs
	return f
}

// TestAgreementWithPeople runs faithfulness from the file to the results over
// samples that people have judged. With the offline judge the figures are the
// floor that docs/prompts.md tells; AGREEMENT_CONFIG names the configuration of
// another judge, whose figures are only told.
func TestAgreementWithPeople(t *testing.T) {
	for _, c := range []struct {
		name  string
		read  func(*testing.T) []judgedByPeople
		n     int
		floor agreementFigures
	}{
		{"BEGIN, responses", beginSamples, 430, agreementFigures{accuracy: 0.83, kappa: 0.66, auc: 0.84}},
		{"ExpertQA, claims", func(t *testing.T) []judgedByPeople { return expertSamples(t, false) }, 208, agreementFigures{accuracy: 0.48, kappa: 0.10, auc: 0.56}},
		{"ExpertQA, answers", func(t *testing.T) []judgedByPeople { return expertSamples(t, true) }, 33, agreementFigures{accuracy: 0.66, kappa: 0.10, auc: 0.50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			samples := c.read(t)
			if len(samples) != c.n {
				t.Errorf("%d samples, want %d", len(samples), c.n)
			}
			f := agreementOf(samples, faithfulnessOf(t, samples))
			t.Logf("%d samples, %d without a score: accuracy %.3f, kappa %.3f, AUC %.3f", f.n, f.unscored, f.accuracy, f.kappa, f.auc)
			if os.Getenv("AGREEMENT_CONFIG") != "" {
				return
			}
			if f.accuracy < c.floor.accuracy || f.kappa < c.floor.kappa || f.auc < c.floor.auc {
				t.Errorf("below the floor of %.2f, %.2f and %.2f", c.floor.accuracy, c.floor.kappa, c.floor.auc)
			}
		})
	}
}
