package dataset_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/dataset"
)

// wildCase is one input as somebody really had it.
type wildCase struct {
	ID    string
	Input struct {
		File, Text string
		B64        []byte
		Gen        struct {
			File  string
			Lines []struct {
				AnswerBytes int `json:"answer_bytes"`
			}
		}
	}
}

func (c wildCase) write(t *testing.T) string {
	name, text := c.Input.File, c.Input.Text
	if c.Input.B64 != nil {
		text = string(c.Input.B64)
	}
	for i, l := range c.Input.Gen.Lines {
		name = c.Input.Gen.File
		text += fmt.Sprintf("{\"id\":%d,\"question\":\"q\",\"answer\":%q}\n", i, strings.Repeat("x", l.AnswerBytes))
	}
	return write(t, name, text)
}

// TestWildCases runs the inputs of ../shared/cases/wild.jsonl. Two of its
// expectations were decided otherwise: CRLF in a CSV field is kept, since text
// is passed on byte for byte (B003), and names that differ in case only are an
// error rather than a warning (B021). A semicolon is found out (B005).
func TestWildCases(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "shared", "cases", "wild.jsonl"))
	if err != nil {
		t.Skip("the collection of cases is not there:", err)
	}
	defer file.Close()
	want := map[string]string{
		"A059": "rows 1 ids 1; warn answer_looks_like_error 1",
		"B001": "rows 1 ids 1",
		"B003": "rows 1 ids 1; answers a\r\nb",
		"B005": "rows 1 ids 1; warn no_contexts 1",
		"B007": "rows 1 ids 1; contexts first, with comma|it's second|tab\t and é",
		"B009": "rows 5 ids 1 2 3 4 5; warn no_contexts 2; contexts c1|c2 / just text / [] / [] / missing",
		"B011": "rows 3 ids 0 1 2",
		"B013": "rows 2 ids 1 3; warn no_contexts 2; line 4: a comma stands before",
		"B015": "line 1: 0xe9 is not UTF-8",
		"B017": "rows 1 ids 1; warn nul_character 1",
		"B019": "rows 3 ids 9007199254740993 9007199254740992 1000000; warn no_contexts 3",
		"B021": `line 1: "answer" and "Answer"`,
		"B023": "rows 3 ids 1 2 3; line 4: is an object",
		"B025": "refused: xlsx",
		"B027": "refused: empty",
	}
	seen := 0
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var head struct{ ID string }
		if err := json.Unmarshal(in.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		if want[head.ID] == "" {
			continue
		}
		var c wildCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		seen++
		t.Run(c.ID, func(t *testing.T) { checkWild(t, c.write(t), want[c.ID]) })
	}
	if err := in.Err(); err != nil || seen != len(want) {
		t.Errorf("%d of %d cases found, %v", seen, len(want), err)
	}
}

func checkWild(t *testing.T, path, want string) {
	r, err := dataset.Open(path, dataset.Options{SkipBadLines: true})
	if text, refused := strings.CutPrefix(want, "refused: "); refused {
		var le *dataset.LineError
		if !errors.As(err, &le) || !strings.Contains(le.Reason, text) {
			t.Errorf("%v, want %s", err, text)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, _ := r.Scan()
	samples := rest(t, r)
	var answers, contexts []string
	for _, s := range samples {
		answers = append(answers, s.Response)
		switch {
		case s.RetrievedContexts == nil:
			contexts = append(contexts, "missing")
		case len(s.RetrievedContexts) == 0:
			contexts = append(contexts, "[]")
		default:
			contexts = append(contexts, strings.Join(s.RetrievedContexts, "|"))
		}
	}
	facts := []string{
		fmt.Sprintf("rows %d ids %s", info.Rows, strings.Join(ids(samples), " ")),
		"answers " + strings.Join(answers, "|"), "contexts " + strings.Join(contexts, " / "),
	}
	for _, w := range info.Warnings {
		facts = append(facts, fmt.Sprintf("warn %s %d", w.Kind, w.Count))
	}
	bad := 0
	for _, w := range strings.Split(want, "; ") {
		if line, reason, ok := strings.Cut(w, ": "); ok && strings.HasPrefix(w, "line ") {
			bad++
			if info.BadLines != 1 || fmt.Sprintf("line %d", info.Bad[0].Line) != line || !strings.Contains(info.Bad[0].Reason, reason) {
				t.Errorf("bad lines %v, want %s", info.Bad, w)
			}
			continue
		}
		if !slices.Contains(facts, w) {
			t.Errorf("found %q, want %q", facts, w)
		}
	}
	if info.BadLines != bad {
		t.Errorf("bad lines %v", info.Bad)
	}
	if n := strings.Count(want, "warn "); n != len(info.Warnings) {
		t.Errorf("warnings %+v", info.Warnings)
	}
}

// TestRealRecords reads the recorded data that is not made for this package.
func TestRealRecords(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the recorded data is not there:", err)
	}
	info, err := dataset.Scan(filepath.Join(dir, "azure_rag", "baseline.eval_results.jsonl"), dataset.Options{
		Columns: map[string]string{"reference": "truth"},
	})
	if err != nil || info.Rows != 200 || len(info.Missing) != 4 { // ids of both kinds, reference contexts, category
		t.Errorf("%+v, %v", info, err)
	}
	info, err = dataset.Scan(filepath.Join(dir, "anthropic_cookbook", "docs_evaluation_dataset.json"), dataset.Options{
		Columns: map[string]string{"reference_context_ids": "correct_chunks", "reference": "correct_answer"},
	})
	if err != nil || info.Rows != 100 || info.Format != dataset.JSON || info.NoID != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	// Paths lead into nested objects, and into the one list of a document.
	info, err = dataset.Scan(filepath.Join(dir, "expertqa", "rand_test.first60.jsonl"), dataset.Options{
		Columns: map[string]string{"response": "answers.gpt4.answer_string", "category": "metadata.field"}, SkipBadLines: true,
	})
	if err != nil || info.Rows != 60 || info.Missing["category"] != 0 || info.Missing["response"] == 0 || info.Missing["response"] == 60 {
		t.Errorf("%+v, %v", info, err)
	}
	info, err = dataset.Scan(filepath.Join(dir, "ragas", "annotated_data.json"), dataset.Options{
		Columns: map[string]string{"user_input": "metric_input.user_input", "response": "metric_input.response"},
	})
	if err != nil || info.Rows < 10 || info.Missing["response"] != 0 || info.Missing["user_input"] != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	// Six texts begin with [ and are no list: none is guessed at.
	info, err = dataset.Scan(filepath.Join(dir, "unieval", "topical_chat_result.json"), dataset.Options{
		Columns: map[string]string{"user_input": "source", "response": "system_output"}, SkipBadLines: true,
	})
	if err != nil || info.Rows != 354 || info.BadLines != 6 || info.Missing["response"] != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}
