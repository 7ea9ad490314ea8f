package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Example is a worked example for one template: data, and the reply that the
// judge should give to it. Only what the template's step shows may be filled
// in, and what it needs must be.
type Example struct {
	// Prompt is the template's name: "faithfulness/verdict".
	Prompt string `json:"prompt"`

	UserInput         string   `json:"user_input,omitempty"`
	Response          string   `json:"response,omitempty"`
	Reference         string   `json:"reference,omitempty"`
	RetrievedContexts []string `json:"retrieved_contexts,omitempty"`
	Text              string   `json:"text,omitempty"`
	Items             []string `json:"items,omitempty"`

	// Reply is the reply in the step's own form, such as
	// {"verdicts":[{"id":1,"reason":"...","verdict":"supported"}]}.
	Reply json.RawMessage `json:"reply"`

	// place is the file and line that it came from, if it came from a file.
	place string
}

// ReadExamples reads examples from a file of JSON lines. Blank lines are left
// out; every line that is wrong is reported, with its number.
func ReadExamples(path string) ([]Example, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the examples: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var examples []Example
	var problems []error
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e := Example{place: fmt.Sprintf("%s:%d", path, n)}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil {
			problems = append(problems, fmt.Errorf("%s: decode the example: %w", e.place, err))
			continue
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			problems = append(problems, fmt.Errorf("%s: decode the example: one line holds one object and nothing else", e.place))
			continue
		}
		examples = append(examples, e)
	}
	if len(problems) == 0 && len(examples) == 0 {
		problems = append(problems, fmt.Errorf("%s: the file holds no example", path))
	}
	return examples, errors.Join(problems...)
}

// Where says where the example stands, the i-th from 0 of its list: file and line
// if it came from a file.
func (e Example) Where(i int) string {
	if e.place == "" {
		return fmt.Sprintf("example %d", i+1)
	}
	return e.place
}

// addExamples checks the examples and writes them into the overlays.
func addExamples(examples []Example, specs []spec, forms map[string]Form, over map[string]overlay) []error {
	var problems []error
	count := map[string]int{}
	for i, e := range examples {
		e.place = e.Where(i)
		k := slices.IndexFunc(specs, func(sp spec) bool { return sp.name == e.Prompt })
		if k < 0 {
			problems = append(problems, fmt.Errorf("%s: no prompt template %q%s", e.place, e.Prompt, didYouMean(e.Prompt, namesOf(specs))))
			continue
		}
		if err := checkExample(specs[k], e, forms[e.Prompt]); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", e.place, err))
			continue
		}
		count[e.Prompt]++
		text := fmt.Sprintf("Example %d\n%s", count[e.Prompt], showExample(e))
		if o := over[e.Prompt]; o[Examples] == "" {
			o[Examples] = text
		} else {
			o[Examples] += "\n\n" + text
		}
	}
	return problems
}

// field is one piece of an example's data.
type field struct {
	name, tag string
	texts     []string
	list      bool
}

// fields lists the data of an example, in the order in which it is shown. The
// tags are those of the judge's fence, without its nonce.
func (e Example) fields() []field {
	one := func(s string) []string {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	return []field{
		{UserInput, "question", one(e.UserInput), false},
		{Response, "response", one(e.Response), false},
		{Reference, "reference", one(e.Reference), false},
		{Text, "text", one(e.Text), false},
		{RetrievedContexts, "context", e.RetrievedContexts, true},
		{Items, "item", e.Items, true},
	}
}

func checkExample(sp spec, e Example, form Form) error {
	for _, f := range e.fields() {
		switch known := slices.Contains(sp.data(), f.name); {
		case len(f.texts) > 0 && !known:
			return fmt.Errorf("%s is not known in %s; its data are %s", f.name, sp.name, strings.Join(sp.data(), ", "))
		case len(f.texts) == 0 && slices.Contains(sp.required, f.name):
			return fmt.Errorf("%s is missing; %s needs it", f.name, sp.name)
		}
	}
	return checkReply(sp, e, form)
}

// checkReply reports a reply in another form than the step asks for: the judge
// would learn the wrong form from it.
func checkReply(sp spec, e Example, form Form) error {
	var reply struct {
		Claims   *[]string `json:"claims"`
		Verdicts *[]struct {
			ID      int    `json:"id"`
			Reason  string `json:"reason"`
			Verdict string `json:"verdict"`
			Chunks  *[]int `json:"chunks"`
		} `json:"verdicts"`
		Questions *[]string `json:"questions"`
		Entities  *[]string `json:"entities"`

		Rating *int   `json:"rating"`
		Reason string `json:"reason"`
	}
	if !json.Valid(e.Reply) {
		return errors.New("the reply is missing or is not JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(e.Reply))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&reply); err != nil {
		return fmt.Errorf("decode the reply: %w", err)
	}
	has := map[string]bool{"claims": reply.Claims != nil, "verdicts": reply.Verdicts != nil, "rating": reply.Rating != nil,
		"questions": reply.Questions != nil, "entities": reply.Entities != nil}
	has["chunks"] = has["verdicts"]
	if !has[sp.reply] {
		return fmt.Errorf("the reply has no %q, as %s asks for", sp.reply, sp.name)
	}
	if reply.Rating != nil {
		return form.rating(*reply.Rating)
	}
	if reply.Verdicts == nil {
		return nil
	}
	for i, v := range *reply.Verdicts {
		if v.ID != i+1 || (v.Verdict == "") != (sp.reply == "chunks") || (v.Chunks != nil) != (sp.reply == "chunks") {
			return fmt.Errorf("verdict %d of the reply must have the id %d and %s", i+1, i+1, map[bool]string{false: "a verdict", true: "a list of chunks"}[sp.reply == "chunks"])
		}
		if err := form.verdict(v.Verdict); err != nil && sp.reply != "chunks" {
			return fmt.Errorf("verdict %d of the reply: %w", i+1, err)
		}
		if v.Chunks != nil && slices.ContainsFunc(*v.Chunks, func(n int) bool { return n < 1 || n > len(e.RetrievedContexts) }) {
			return fmt.Errorf("verdict %d of the reply names a chunk that the example doesn't have", i+1)
		}
	}
	if got, want := len(*reply.Verdicts), len(e.Items); got != want {
		return fmt.Errorf("the reply has %d verdicts for %d items", got, want)
	}
	return nil
}

func showExample(e Example) string {
	var b strings.Builder
	for _, f := range e.fields() {
		for i, text := range f.texts {
			number := ""
			if f.list {
				number = fmt.Sprintf(` n="%d"`, i+1)
			}
			fmt.Fprintf(&b, "<%s%s>\n%s\n</%s>\n", f.tag, number, clean(text), f.tag)
		}
	}
	var reply bytes.Buffer
	// The reply has been decoded before.
	if err := json.Compact(&reply, e.Reply); err != nil {
		panic(fmt.Sprintf("prompts: an example's reply is not JSON: %v", err))
	}
	return b.String() + "Reply: " + reply.String()
}
