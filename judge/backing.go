package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
)

// Backing says which chunks entail one item, each by itself.
type Backing struct {
	// Item is the item's text.
	Item string
	// Chunks are the numbers of the chunks that entail it, from 1, rising; none
	// if no chunk does.
	Chunks []int
	// Reason is the judge's own reason, as it came; may be empty.
	Reason string
}

// Backing asks which of the chunks entail each item, for all items at once, and
// returns the answers in the order of the items: so the whole table of claims
// and chunks is one call. The rules are those of Verdicts: each item exactly
// once; a list with a number that is none of a chunk is no answer. Labels are
// not read. No item, or no chunk with any text, needs no call: then nothing is
// entailed.
func (j *Judge) Backing(ctx context.Context, a Ask) ([]Backing, error) {
	all := make([]Backing, len(a.Items))
	for i, item := range a.Items {
		all[i].Item = item
	}
	if len(all) == 0 || !slices.ContainsFunc(a.Contexts, func(c string) bool { return strings.TrimSpace(c) != "" }) {
		return all, nil
	}
	s := j.session(a)
	s.chunks = len(a.Contexts)
	got, err := s.verdicts(ctx)
	if err != nil {
		return nil, err
	}
	for i, v := range got {
		all[i].Reason = v.Reason
		for n := range strings.SplitSeq(v.Label, ",") {
			if k, err := strconv.Atoi(n); err == nil {
				all[i].Chunks = append(all[i].Chunks, k)
			}
		}
	}
	return all, nil
}

// chunksForm is the form of a reply with a list of chunks for each item.
func chunksForm(chunks, before int, items []Item, data source) replyForm[verdicts] {
	return replyForm[verdicts]{
		schema: &llm.Schema{Name: SchemaChunks, JSON: json.RawMessage(chunksSchema)},
		format: formatOfChunks,
		decode: func(content string) (verdicts, *problem) {
			return labeler{names: chunkKeys, chunks: chunks, before: before}.decode(content, items, data)
		},
	}
}

// The schema is the same for any number of chunks, since providers prepare each
// new schema anew, and take their time for it.
const (
	chunksSchema   = `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"reason":{"type":"string"},"chunks":{"type":"array","items":{"type":"integer"}}},"required":["id","reason","chunks"],"additionalProperties":false}}},"required":["verdicts"],"additionalProperties":false}`
	formatOfChunks = replyIntro + `{"verdicts":[{"id":1,"reason":"...","chunks":[1,3]}]}
verdicts: an array with exactly one object for each item, in the order of the items.
id: the number of the item, as in its tag.
reason: one short sentence that says what the verdict rests on.
chunks: an array with the numbers of all passages that state the item, each by itself. An empty array if none does.`
)

// chunkKeys are the keys of a verdict that is a list of chunks. What names a
// chunk is never taken for the number of an item.
var chunkKeys = names{
	verdict: []string{"chunks", "chunk", "passages", "passage", "contexts", "context", "chunkids", "passageids", "contextids", "chunknumbers", "supportedby", "backedby", "verdict"},
	id:      []string{"id", "itemid", "claimid", "statementid", "number", "index", "n"},
	item:    []string{"item", "claim", "statement"},
}

// noChunk is the label of an empty list.
const noChunk = "none"

// readChunks returns a list of chunk numbers in one spelling, "1,3".
func (l labeler) readChunks(v value) (label, word string, undecided, ok bool) {
	v = v.inner()
	var words []string
	switch v.kind {
	case arrayKind:
		for _, item := range v.list {
			if item.kind != numberKind && item.kind != stringKind {
				return "", fmt.Sprintf("%d values", len(v.list)), false, false
			}
			words = append(words, item.text)
		}
		word = strings.Join(words, ",")
	case numberKind:
		words, word = []string{v.text}, v.text
	case stringKind:
		if word = v.text; spelling(word) != noChunk {
			words = strings.Split(strings.NewReplacer(";", ",", "\uff0c", ",", "\u3001", ",").Replace(word), ",")
		}
	default:
		return "", "no list", false, false
	}
	var numbers []int
	for _, w := range words {
		n, isNumber := number(w)
		if !isNumber || n <= l.before || n > l.before+l.chunks {
			return "", word, false, false
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return noChunk, word, false, true
	}
	slices.Sort(numbers)
	spelt := make([]string, len(numbers))
	for i, n := range numbers {
		spelt[i] = strconv.Itoa(n)
	}
	return strings.Join(spelt, ","), word, false, true
}
