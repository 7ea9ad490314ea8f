package llmtest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
)

// The kinds of reply that DefaultAnswer knows.
const (
	claims   = "claims"
	verdicts = "verdicts"
	rating   = "rating"
)

// DefaultAnswer replies in the form that a request asks for, the same to the
// same request:
//
//   - claims: the sentences of the fenced text.
//   - verdicts: the first label of the schema, or the one that the reply format
//     shows, for each item, by the n of its tag.
//   - chunks: the first chunk for each item.
//   - questions: as many as are asked for, the same to every text.
//   - entities: the runs of words in capitals, and the numbers, of the text.
//   - rating: the best rating but one.
//   - anything else: "ok".
//
// The form is told by the schema's name, or else by what the system message (the
// first message, where there is none) says of the reply.
func DefaultAnswer(req *llm.Request) string {
	switch kindOf(req) {
	case claims:
		return encode(struct {
			Claims []string `json:"claims"`
		}{sentences(req)})
	case verdicts:
		all := make([]verdict, 0, 8)
		for _, n := range itemNumbers(req) {
			all = append(all, verdict{ID: n, Reason: "It is so.", Verdict: labelsOf(req)[0]})
		}
		return encode(struct {
			Verdicts []verdict `json:"verdicts"`
		}{all})
	case chunks:
		all := []chunkVerdict{}
		for _, n := range itemNumbers(req) {
			all = append(all, chunkVerdict{ID: n, Reason: "It is so.", Chunks: numbersOf(req)[:min(1, len(numbersOf(req)))]})
		}
		return chunksAnswer(all)
	case questions:
		return textsAnswer(questions, numberedQuestions(req))
	case entities:
		return textsAnswer(entities, capitalised(req))
	case rating:
		return encode(struct {
			Reason string `json:"reason"`
			Rating int    `json:"rating"`
		}{"It is good.", ratingOf(req)})
	}
	return "ok"
}

type verdict struct {
	ID      int    `json:"id"`
	Reason  string `json:"reason"`
	Verdict string `json:"verdict"`
}

// encode is JSON as a model writes it: < and & stand as they are.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error() // not for the types of this package
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func kindOf(req *llm.Request) string {
	if req.Schema != nil {
		return req.Schema.Name
	}
	text := instructions(req)
	// The form itself is a surer sign than its name, which prose may hold too.
	for _, form := range []struct{ sign, kind string }{
		{`"chunks":[`, chunks}, {`{"questions":[`, questions}, {`{"entities":[`, entities},
		{`{"claims":[`, claims}, {`{"verdicts":[`, verdicts}, {`"rating":`, rating},
		{`"claims"`, claims}, {`"verdicts"`, verdicts}, {`"rating"`, rating},
	} {
		if strings.Contains(text, form.sign) {
			return form.kind
		}
	}
	return ""
}

// instructions are the system messages, or the first message where there are
// none, up to the data.
func instructions(req *llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		if m.Role == llm.System || m.Role == "developer" {
			b.WriteString(m.Content)
		}
	}
	if b.Len() > 0 || len(req.Messages) == 0 {
		return b.String()
	}
	first := req.Messages[0].Content
	if at := fence.FindStringIndex(first); at != nil {
		first = first[:at[0]]
	}
	return first
}

var (
	fence    = regexp.MustCompile(`(?m)^<(?:question|response|reference|text|context|item)-[0-9a-f]+[^>\n]*>\n`)
	textOpen = regexp.MustCompile(`<text-([0-9a-f]+)>\n`)
	itemOpen = regexp.MustCompile(`<item-[0-9A-Za-z]+ n="(\d+)">`)
	stop     = regexp.MustCompile(`[.!?]\s+|\n+`)
	shown    = regexp.MustCompile(`"verdict":\s*"([^"]+)"`)
	listed   = regexp.MustCompile(`(?m)^verdict:.*$`)
	word     = regexp.MustCompile(`"([^"]+)"`)
	scale    = regexp.MustCompile(`from (-?\d+) to (-?\d+)`)
)

// lastWith returns the last message of somebody else than the assistant that
// the pattern matches.
func lastWith(req *llm.Request, re *regexp.Regexp) string {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role != llm.Assistant && re.MatchString(m.Content) {
			return m.Content
		}
	}
	return ""
}

func itemNumbers(req *llm.Request) []int {
	var out []int
	for _, m := range itemOpen.FindAllStringSubmatch(lastWith(req, itemOpen), -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func sentences(req *llm.Request) []string {
	text := lastWith(req, textOpen)
	if at := textOpen.FindStringSubmatchIndex(text); at != nil {
		nonce := text[at[2]:at[3]]
		text, _, _ = strings.Cut(text[at[1]:], "</text-"+nonce+">")
	}
	out := []string{}
	for _, s := range stop.Split(text, -1) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// labelsOf returns the labels that a verdict may have: at least one.
func labelsOf(req *llm.Request) []string {
	var form struct {
		Properties struct {
			Verdicts struct {
				Items struct {
					Properties struct {
						Verdict struct {
							Enum []string `json:"enum"`
						} `json:"verdict"`
					} `json:"properties"`
				} `json:"items"`
			} `json:"verdicts"`
		} `json:"properties"`
	}
	if req.Schema != nil && json.Unmarshal(req.Schema.JSON, &form) == nil && len(form.Properties.Verdicts.Items.Properties.Verdict.Enum) > 0 {
		return form.Properties.Verdicts.Items.Properties.Verdict.Enum
	}
	text := instructions(req)
	var out []string
	for _, m := range word.FindAllStringSubmatch(listed.FindString(text), -1) {
		out = append(out, m[1])
	}
	if m := shown.FindStringSubmatch(text); len(out) == 0 && m != nil {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		out = []string{"supported"}
	}
	return out
}

func ratingOf(req *llm.Request) int {
	var form struct {
		Properties struct {
			Rating struct {
				Enum             []int `json:"enum"`
				Minimum, Maximum *int
			} `json:"rating"`
		} `json:"properties"`
	}
	lo, hi := 1, 5
	if req.Schema != nil && json.Unmarshal(req.Schema.JSON, &form) == nil {
		r := form.Properties.Rating
		if len(r.Enum) > 0 {
			lo, hi = slices.Min(r.Enum), slices.Max(r.Enum)
		} else if r.Minimum != nil && r.Maximum != nil {
			lo, hi = *r.Minimum, *r.Maximum
		}
	} else if m := scale.FindStringSubmatch(instructions(req)); m != nil {
		lo, _ = strconv.Atoi(m[1])
		hi, _ = strconv.Atoi(m[2])
	}
	return max(lo, hi-1)
}
