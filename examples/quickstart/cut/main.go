// Command cut makes the quickstart's samples.jsonl from the recorded results
// of Azure-Samples/ai-rag-chat-evaluator:
//
//	go run ./examples/quickstart/cut SOURCE > examples/quickstart/samples.jsonl
//
// SOURCE is example_results/baseline/eval_results.jsonl of that repository:
// 200 rows with question, truth, answer and context. README.md beside the
// samples states the rule; this is the rule as code.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// Every third row, beginning with the first, until there are 60.
const (
	every    = 3
	wantRows = 60
)

// chunksPerRow is how many chunks the recorded system retrieved each time.
const chunksPerRow = 3

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cut SOURCE > samples.jsonl")
		os.Exit(2)
	}
	if err := cutFile(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cut:", err)
		os.Exit(1)
	}
}

// sourceRow is what is taken of a row of the source.
type sourceRow struct {
	Question, Truth, Answer, Context string
}

// chunk is one retrieved chunk.
type chunk struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// sample is a line of samples.jsonl, in canonical fields.
type sample struct {
	ID                string   `json:"id"`
	Category          string   `json:"category"`
	UserInput         string   `json:"user_input"`
	Response          string   `json:"response"`
	Reference         string   `json:"reference"`
	RetrievedContexts []chunk  `json:"retrieved_contexts"`
	RelevantIDs       []string `json:"reference_context_ids"`
}

func cutFile(path string, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return cut(f, out)
}

// cut writes the chosen rows of the source as samples.
func cut(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	written := 0
	for row := 1; written < wantRows; row++ {
		line, err := r.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return fmt.Errorf("read row %d of the source: %w", row, err)
		}
		if (row-1)%every != 0 {
			continue
		}
		var src sourceRow
		if err := json.Unmarshal(line, &src); err != nil {
			return fmt.Errorf("decode row %d of the source: %w", row, err)
		}
		s, err := convert(row, src)
		if err != nil {
			return fmt.Errorf("convert row %d of the source: %w", row, err)
		}
		b, err := eval.MarshalJSON(s)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(b, '\n')); err != nil {
			return err
		}
		written++
	}
	return nil
}

func convert(row int, src sourceRow) (sample, error) {
	chunks, err := splitChunks(src.Context)
	if err != nil {
		return sample{}, err
	}
	cited, category, err := citations(src.Truth)
	if err != nil {
		return sample{}, err
	}
	return sample{
		ID: fmt.Sprintf("azure-%03d", row), Category: category,
		UserInput: src.Question, Response: src.Answer, Reference: src.Truth,
		RetrievedContexts: chunks, RelevantIDs: cited,
	}, nil
}

// chunkHead is how a chunk begins: at the start of the context or after an
// empty line, with its id, a colon and one space.
var chunkHead = regexp.MustCompile(`(?:^|\n\n)([^\s:#]+\.pdf#page=\d+): `)

// splitChunks takes the context apart. Texts are kept byte for byte; what goes
// is the empty line between chunks, and the id with its ": ".
func splitChunks(context string) ([]chunk, error) {
	heads := chunkHead.FindAllStringSubmatchIndex(context, -1)
	if len(heads) != chunksPerRow || heads[0][0] != 0 {
		return nil, fmt.Errorf("found %d chunks, want %d from the first byte on", len(heads), chunksPerRow)
	}
	chunks := make([]chunk, len(heads))
	for i, h := range heads {
		end := len(context)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		chunks[i] = chunk{ID: context[h[2]:h[3]], Text: context[h[1]:end]}
	}
	return chunks, nil
}

// citation is how the truth cites: [file-3.pdf], pages counted from 0.
var citation = regexp.MustCompile(`\[([^\[\]\s]+)-(\d+)\.pdf\]`)

// categories names the documents in short.
var categories = map[string]string{
	"Benefit_Options":                        "benefit_options",
	"Northwind_Health_Plus_Benefits_Details": "health_plus",
	"Northwind_Standard_Benefits_Details":    "standard",
	"PerksPlus":                              "perks_plus",
	"employee_handbook":                      "employee_handbook",
	"role_library":                           "role_library",
}

// citations gives the ids of the cited chunks and the category: the document
// that is cited first.
func citations(truth string) (ids []string, category string, err error) {
	for _, m := range citation.FindAllStringSubmatch(truth, -1) {
		page, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, "", err
		}
		ids = append(ids, fmt.Sprintf("%s.pdf#page=%d", m[1], page+1))
		if category == "" {
			category = categories[m[1]]
		}
		if categories[m[1]] == "" {
			return nil, "", fmt.Errorf("the document %q has no category", m[1])
		}
	}
	if len(ids) == 0 || len(ids) != strings.Count(truth, ".pdf]") {
		return nil, "", fmt.Errorf("understood %d citations of %d in the truth", len(ids), strings.Count(truth, ".pdf]"))
	}
	return ids, category, nil
}
