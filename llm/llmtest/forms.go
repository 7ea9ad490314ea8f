package llmtest

import (
	"regexp"
	"strconv"

	"github.com/ragjudge/ragjudge/llm"
)

// The kinds of reply beside those of answer.go.
const (
	chunks    = "chunks"
	questions = "questions"
	entities  = "entities"
)

// chunkVerdict is a verdict that is a list of chunks.
type chunkVerdict struct {
	ID     int    `json:"id"`
	Reason string `json:"reason"`
	Chunks []int  `json:"chunks"`
}

func chunksAnswer(all []chunkVerdict) string {
	return encode(struct {
		Verdicts []chunkVerdict `json:"verdicts"`
	}{all})
}

// textsAnswer is a list of texts under its own name.
func textsAnswer(name string, texts []string) string {
	return encode(map[string][]string{name: texts})
}

var (
	exactly     = regexp.MustCompile(`Otherwise exactly ([0-9]+),`)
	contextOpen = regexp.MustCompile(`<context-[0-9A-Za-z]+ n="(\d+)">`)
	capitals    = regexp.MustCompile(`\b[A-Z][\w-]*(?: [A-Z][\w-]*)*|\b\d[\d.,]*\d\b`)
)

// numberedQuestions are as many questions as are asked for, the same to every
// text.
func numberedQuestions(req *llm.Request) []string {
	n := 1
	if m := exactly.FindStringSubmatch(instructions(req)); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	list := make([]string, n)
	for i := range list {
		list[i] = "What is question " + strconv.Itoa(i+1) + "?"
	}
	return list
}

// capitalised are the runs of words in capitals, and the numbers, of the text.
func capitalised(req *llm.Request) []string {
	list, seen := []string{}, map[string]bool{}
	for _, s := range sentences(req) {
		for _, e := range capitals.FindAllString(s, -1) {
			if !seen[e] {
				seen[e] = true
				list = append(list, e)
			}
		}
	}
	return list
}

// numbersOf are the numbers of the chunks in the request.
func numbersOf(req *llm.Request) []int {
	out := []int{}
	for _, m := range contextOpen.FindAllStringSubmatch(lastWith(req, contextOpen), -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}
