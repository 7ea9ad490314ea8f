package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// The tags of the blocks in which data stands. TagContext and TagItem are
// numbered: there is one block for each chunk and each item.
const (
	TagQuestion  = "question"
	TagResponse  = "response"
	TagReference = "reference"
	TagText      = "text"
	TagContext   = "context"
	TagItem      = "item"
)

var tagNames = []string{TagQuestion, TagResponse, TagReference, TagText, TagContext, TagItem}

// Fenced is the data of one ask, as ParseFenced reads it back out of a prompt.
type Fenced struct {
	// Nonce is the name that the fence carries; empty if there is no fence.
	Nonce string
	// Fields holds the single texts by their tag: TagQuestion, TagResponse,
	// TagReference, TagText.
	Fields map[string]string
	// Contexts are the chunks in their order.
	Contexts []string
	// Before is the number of contexts that stand in front of these and were shown
	// in another request.
	Before int
	// Items are the numbered items in the order in which they stand.
	Items []Item
}

// Item is one thing that a verdict is asked for.
type Item struct {
	// N is the number under which the reply must answer it.
	N int
	// Text is the claim, statement or chunk.
	Text string
}

// block is one piece of data: its tag, its number (0 for none) and its text.
type block struct {
	tag  string
	n    int
	text string
}

// nonceOf returns 8 hexadecimal digits that stand in none of the texts. They
// are the start of a hash over all the data of an ask: the same data always
// gives the same prompt, so that the cache works, and yet whoever wrote the
// data could not know the name of the fence while writing.
func nonceOf(blocks []block) string {
	for try := 0; ; try++ {
		h := sha256.New()
		fmt.Fprintf(h, "fence %d\n", try)
		for _, b := range blocks {
			fmt.Fprintf(h, "%s %d %d\n", b.tag, b.n, len(b.text))
			h.Write([]byte(b.text))
		}
		nonce := hex.EncodeToString(h.Sum(nil)[:4])
		if !standsIn(nonce, blocks) {
			return nonce
		}
	}
}

func standsIn(nonce string, blocks []block) bool {
	for _, b := range blocks {
		if strings.Contains(b.text, nonce) {
			return true
		}
	}
	return false
}

// fence writes the blocks one under the other, each between its tags.
func fence(nonce string, blocks []block) string {
	var s strings.Builder
	for i, b := range blocks {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString("<" + b.tag + "-" + nonce)
		if b.n > 0 {
			fmt.Fprintf(&s, ` n="%d"`, b.n)
		}
		s.WriteString(">\n" + defuse(b.text) + "\n</" + b.tag + "-" + nonce + ">")
	}
	return s.String()
}

// onLines puts every tag of the fence on a line of its own, for templates that
// hold a placeholder in the middle of a line: the end of a block is then as
// plain to see as that of any other. What is on lines of its own stays as it is.
func onLines(content, nonce string) string {
	var b strings.Builder
	done := 0
	for at := 0; ; {
		n := strings.Index(content[at:], "-"+nonce)
		if n < 0 {
			return b.String() + content[done:]
		}
		at += n + 1 + len(nonce)
		start := strings.LastIndexByte(content[:at], '<')
		if start < 0 {
			continue
		}
		if content[start+1] != '/' {
			if start > 0 && content[start-1] != '\n' {
				b.WriteString(content[done:start] + "\n")
				done = start
			}
			continue
		}
		if end := at + len(">"); end < len(content) && content[end] != '\n' {
			b.WriteString(content[done:end] + "\n")
			done = end
		}
	}
}

// isGap reports white space and characters that don't show.
func isGap(r rune) bool {
	return unicode.IsSpace(r) || r > unicode.MaxASCII && unicode.In(r, unicode.Z, unicode.Cf)
}

// opening matches an opening tag that fence wrote. Data holds none: a
// look-alike in it has been defused.
var opening = regexp.MustCompile(`<(` + strings.Join(tagNames, "|") + `)-([0-9a-f]{8})(?: n="([0-9]{1,9})")?>\n`)

// ParseFenced reads the data back out of a prompt's text, for judges that are
// not language models and for tests. Texts come back as they stand in the
// prompt: with look-alikes of our tags defused, and otherwise as they were. A
// text without a fence gives an empty Fenced; a block that never closes is left
// out.
func ParseFenced(text string) Fenced {
	f := Fenced{Fields: map[string]string{}}
	seen := map[int]bool{}
	for {
		m := opening.FindStringSubmatchIndex(text)
		if m == nil {
			return f
		}
		tag, nonce := text[m[2]:m[3]], text[m[4]:m[5]]
		n := 0
		if m[6] >= 0 {
			n, _ = strconv.Atoi(text[m[6]:m[7]])
		}
		rest := text[m[1]:]
		// The newline before the closing tag is the fence's own.
		end := strings.Index(rest, "\n</"+tag+"-"+nonce+">")
		if end < 0 || f.Nonce != "" && nonce != f.Nonce {
			text = rest
			continue
		}
		body := rest[:end]
		text = rest[end:]
		f.Nonce = nonce
		switch {
		case tag == TagItem:
			if n > 0 && !seen[n] {
				seen[n] = true
				f.Items = append(f.Items, Item{N: n, Text: body})
			}
		case tag == TagContext:
			if len(f.Contexts) == 0 && n > 0 {
				f.Before = n - 1
			}
			if n == f.Before+len(f.Contexts)+1 {
				f.Contexts = append(f.Contexts, body)
			}
		default:
			f.Fields[tag] = body
		}
	}
}
