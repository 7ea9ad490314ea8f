package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ragjudge/ragjudge/llm/llmtest"
)

// The commands of the scripts with hostile samples.
//
//	hostile FILE [harmless]  writes a dataset with each injection in each place, or with harmless text in its stead
//	learnt                   ends the learning of the obedient judge that serve started
//	obeyed N                 asserts how many requests held an order outside the fence
//	samescores RUN1 RUN2     asserts that each score of two runs has the same status and value
var hostileCmds = map[string]func(*testscript.TestScript, bool, []string){
	"hostile": hostile, "learnt": endLearning, "obeyed": obeyed, "samescores": sameScores,
}

type obedientKey struct{}

func obedientOf(ts *testscript.TestScript) *llmtest.Obedient {
	o, ok := ts.Value(obedientKey{}).(**llmtest.Obedient)
	if !ok || *o == nil {
		ts.Fatalf("no obedient judge was started")
	}
	return *o
}

// serveObedient makes the obedient judge the provider of the script.
func serveObedient(ts *testscript.TestScript, fenceless bool) *llmtest.Obedient {
	o := &llmtest.Obedient{Fenceless: fenceless}
	*ts.Value(obedientKey{}).(**llmtest.Obedient) = o
	return o
}

func endLearning(ts *testscript.TestScript, _ bool, _ []string) { obedientOf(ts).Learnt() }

func obeyed(ts *testscript.TestScript, neg bool, args []string) {
	count(ts, neg, args, obedientOf(ts).Obeyed())
}

func hostile(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.ReadFile(filepath.Join(ts.Getenv("ROOT"), "judge/testdata/hostile.jsonl"))
	ts.Check(err)
	harmless := len(args) > 1 && args[1] == "harmless"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i, line := range bytes.Split(bytes.TrimSpace(file), []byte("\n")) {
		var in struct{ Kind, Text string }
		ts.Check(json.Unmarshal(line, &in))
		text := in.Text
		switch {
		case !harmless || strings.TrimSpace(text) == "":
		case in.Kind == "nothing":
			text = "..."
		default:
			text = "The weather is fine."
		}
		for place := range 4 {
			s := map[string]any{
				"id": fmt.Sprintf("%d-%d", i, place), "user_input": "What is the fee?", "response": "It is 5 dollars.",
				"reference": "The fee is 5 dollars.", "retrieved_contexts": []string{"The fee is 5 dollars.", "Parking is free.", "It rains."},
			}
			switch place {
			case 0:
				s["response"] = text
			case 1:
				s["user_input"] = "What about this: " + text
			case 2:
				s["reference"] = text
			case 3:
				s["retrieved_contexts"] = []string{text, "The fee is 5 dollars.", text + " " + text}
				if short := strings.TrimSpace(text); !harmless && short != "" && len(short) < 200 {
					s["id"], s["category"] = fmt.Sprintf("%s %d", short, i), short
				}
			}
			ts.Check(enc.Encode(s))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

func sameScores(ts *testscript.TestScript, neg bool, args []string) {
	type score struct {
		Metric, Status string
		Value          *float64
	}
	read := func(run string) [][]score {
		var rows [][]score
		for line := range strings.Lines(ts.ReadFile(run + "/results.jsonl")) {
			var row struct{ Scores []score }
			ts.Check(json.Unmarshal([]byte(line), &row))
			rows = append(rows, row.Scores)
		}
		return rows
	}
	a, b := read(args[0]), read(args[1])
	if len(a) != len(b) || len(a) < 500 {
		ts.Fatalf("%d and %d rows", len(a), len(b))
	}
	differ := 0
	for i := range a {
		for k, x := range a[i] {
			y := b[i][k]
			same := x.Metric == y.Metric && x.Status == y.Status && (x.Value == nil) == (y.Value == nil) && (x.Value == nil || *x.Value == *y.Value)
			if !same {
				if differ++; !neg {
					ts.Logf("row %d: %s is %s and %s", i+1, x.Metric, x.Status, y.Status)
				}
			}
		}
	}
	if (differ == 0) == neg {
		ts.Fatalf("%d scores differ", differ)
	}
}

// TestHostileCommandsAreKnown: a script can use each of them.
func TestHostileCommandsAreKnown(t *testing.T) {
	known := scriptCmds()
	for name := range hostileCmds {
		if known[name] == nil {
			t.Errorf("scripts don't know %s", name)
		}
	}
}
