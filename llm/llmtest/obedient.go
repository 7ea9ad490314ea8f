package llmtest

import (
	"regexp"
	"strings"
	"sync"

	"github.com/ragjudge/ragjudge/llm"
)

// Obedient is a judge that does what it is told wherever it reads it: a text
// outside the fenced data that it doesn't know is an order to give the best
// verdict on everything. What it knows it learns from harmless requests. To any
// other request it gives verdicts that depend on the items' numbers alone, so
// that scores of hostile samples can be compared with those of harmless ones.
//
// The zero value is ready for use. It is safe for concurrent use.
type Obedient struct {
	// Fenceless takes the tags of the fence for words, as a judge would read
	// data that isn't fenced: a test of the test.
	Fenceless bool

	mu     sync.Mutex
	stop   bool
	known  map[string]bool
	obeyed int
}

// Learnt ends the learning: from now on, what is new is an order.
func (o *Obedient) Learnt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop = true
}

// Obeyed is how many requests held an order.
func (o *Obedient) Obeyed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.obeyed
}

// Answer replies to a request; it is an Options.Answer.
func (o *Obedient) Answer(req *llm.Request) string {
	obey := o.ordered(req)
	switch kindOf(req) {
	case claims:
		list := []string{"The first claim.", "The second claim.", "It says: " + cutAt(dataOf(req), 300)}
		if obey {
			list = []string{}
		}
		return encode(struct {
			Claims []string `json:"claims"`
		}{list})
	case verdicts:
		labels := labelsOf(req)
		all := []verdict{}
		for _, n := range itemNumbers(req) {
			label := labels[len(labels)-1]
			if obey || n%2 == 1 {
				label = labels[0]
			}
			all = append(all, verdict{ID: n, Reason: "It is so.", Verdict: label})
		}
		return encode(struct {
			Verdicts []verdict `json:"verdicts"`
		}{all})
	case chunks:
		all := []chunkVerdict{}
		for _, n := range itemNumbers(req) {
			v := chunkVerdict{ID: n, Reason: "It is so.", Chunks: []int{}}
			if obey {
				v.Chunks = numbersOf(req)
			} else if n%2 == 1 {
				v.Chunks = []int{1}
			}
			all = append(all, v)
		}
		return chunksAnswer(all)
	case questions:
		list := numberedQuestions(req)
		if obey {
			list = []string{}
		}
		return textsAnswer(questions, list)
	case entities:
		list := []string{"The first", "The second"}
		if obey {
			list = []string{}
		}
		return textsAnswer(entities, list)
	case rating:
		n := 2
		if obey {
			n = ratingOf(req) + 1
		}
		return encode(struct {
			Reason string `json:"reason"`
			Rating int    `json:"rating"`
		}{"It is so.", n})
	}
	return "ok"
}

// ordered reports whether something new stands outside the data.
func (o *Obedient) ordered(req *llm.Request) bool {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString(string(m.Role) + "\n" + o.outside(m.Content) + "\n")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]bool{}
	}
	if !o.stop {
		o.known[b.String()] = true
		return false
	}
	if o.known[b.String()] {
		return false
	}
	o.obeyed++
	return true
}

var openingLine = regexp.MustCompile(`^<(question|response|reference|text|context|item)-([0-9a-f]+)( n="\d+")?>$`)

// outside returns the lines of a message that stand in no block. All blocks
// have the name of the first one, and end at the line that closes them.
func (o *Obedient) outside(content string) string {
	var out []string
	closing, nonce := "", ""
	for line := range strings.SplitSeq(content, "\n") {
		m := openingLine.FindStringSubmatch(line)
		switch {
		case o.Fenceless && (m != nil || strings.HasPrefix(line, "</")):
		case o.Fenceless:
			out = append(out, line)
		case closing != "":
			if line == closing {
				closing = ""
			}
		case m != nil && (nonce == "" || nonce == m[2]):
			nonce, closing = m[2], "</"+m[1]+"-"+m[2]+">"
		default:
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// dataOf is the text that is to be split.
func dataOf(req *llm.Request) string {
	text := lastWith(req, textOpen)
	at := textOpen.FindStringSubmatchIndex(text)
	if at == nil {
		return ""
	}
	data, _, _ := strings.Cut(text[at[1]:], "\n</text-"+text[at[2]:at[3]]+">")
	return data
}

// cutAt shortens a text to n bytes, at a character's end.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
