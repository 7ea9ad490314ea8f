package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ragjudge/ragjudge/llm"
)

// LexicalModel is the name under which the lexical judge answers. It changes
// whenever the same request would get another answer, so that stored replies
// and older runs are told apart.
const LexicalModel = "lexical-1"

// Lexical is a judge that needs no model, no key and no network: it answers
// the same requests by the overlap of words. It makes a first run work on any
// machine and tests whole pipelines; it is no measure of a RAG system, since it
// sees words and not their meaning. It is deterministic, counts no tokens and
// costs nothing. The zero value is ready for use.
//
// Only the data between the fences and the form of the reply are read, so that
// it works with templates of any wording and language. It knows the forms of
// Judge: lists, verdicts, chunks and a rating, and texts to be embedded.
//
//   - claims: the sentences and list items of the text, without questions,
//     courtesies and "I don't know".
//   - verdicts: the first label if one chunk holds at least 0.7 of a
//     statement's content words and all its numbers; Contradicted, where that
//     is a label, if it holds them with another number or turned round by a
//     negation; the last label otherwise. A chunk is Useful if it holds at least
//     0.3 of the content words of the reference or response.
//   - chunks: every chunk that would by itself give a statement the verdict
//     "supported".
//   - questions: as many of the text's statements as are asked for, as
//     questions; none for a text that states nothing.
//   - entities: runs of words in capitals, and numbers.
//   - rating: by the share of the question's content words in the response; the
//     lowest for a response that states nothing.
type Lexical struct{}

var _ llm.Client = Lexical{}

// Complete answers a request. A request that is none of the known forms, or
// that has no fenced data, is an *llm.Error of kind llm.Row.
func (Lexical) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(req.Embed) > 0 {
		return &llm.Response{Content: llm.EncodeVectors(lexicalVectors(req.Embed)), FinishReason: llm.FinishStop, Model: LexicalModel}, nil
	}
	content, err := lexicalAnswer(req)
	if err != nil {
		return nil, &llm.Error{
			Kind: llm.Row, Code: "lexical_cannot_answer", Message: err.Error(), Err: err,
			Hint: "the lexical judge answers ragjudge's own forms of request only: keep {{reply_format}} and the data placeholders in a template of your own",
		}
	}
	return &llm.Response{Content: content, FinishReason: llm.FinishStop, Model: LexicalModel}, nil
}

// LexicalAnswer returns the text of the lexical judge's reply, for fake
// servers. To a request that it can't answer it says so in prose, which is no
// verdict to anybody.
func LexicalAnswer(req *llm.Request) string {
	content, err := lexicalAnswer(req)
	if err != nil {
		return "I can't answer: " + err.Error()
	}
	return content
}

func lexicalAnswer(req *llm.Request) (string, error) {
	form, err := formOf(req)
	if err != nil {
		return "", err
	}
	data, ok := fencedIn(req)
	if !ok {
		return "", fmt.Errorf("find the data of the request: no fenced block in its messages")
	}
	switch form.name {
	case SchemaRating:
		rating, reason := lexicalRating(data.Fields[TagQuestion], firstField(data, TagResponse, TagText), form.lo, form.hi)
		return ratingReply(rating, reason), nil
	}
	if list := lexicalList(form, req, data); list != "" {
		return list, nil
	}
	if len(data.Contexts) > 0 && data.Before < maxBefore { // so that they have their numbers
		data.Contexts = append(make([]string, data.Before), data.Contexts...)
	}
	items := make([]string, len(data.Items))
	for i, it := range data.Items {
		items[i] = it.Text
	}
	switch {
	case form.name == SchemaChunks:
		return chunksReply(data.Items, lexicalBacking(items, data.Contexts)), nil
	case form.labels[0] == Consistent:
		return verdictsReply(data.Items, agreementVerdicts(items, lexicalClaims(data.Fields[TagResponse]), form.labels)), nil
	case len(data.Contexts) == 0 && data.Fields[TagText] != "":
		return verdictsReply(data.Items, supportVerdicts(items, []string{data.Fields[TagText]}, form.labels)), nil
	}
	// Chunks are the items if it is asked whether they are useful, or if there
	// is nothing else to judge the items by.
	if form.labels[0] == Useful || len(data.Contexts) == 0 {
		answer := firstField(data, TagReference, TagResponse, TagQuestion)
		return verdictsReply(data.Items, usefulVerdicts(items, answer, form.labels)), nil
	}
	return verdictsReply(data.Items, supportVerdicts(items, data.Contexts, form.labels)), nil
}

// maxBefore bounds the contexts that a number can stand for.
const maxBefore = 1 << 20

// firstField returns the first of the fields that is there.
func firstField(data Fenced, tags ...string) string {
	for _, t := range tags {
		if s := data.Fields[t]; s != "" {
			return s
		}
	}
	return ""
}

// fencedIn returns the data of the last message that holds any: a later
// message may ask again for a part of the items.
func fencedIn(req *llm.Request) (Fenced, bool) {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == llm.Assistant {
			continue
		}
		if f := ParseFenced(req.Messages[i].Content); f.Nonce != "" {
			return f, true
		}
	}
	return Fenced{}, false
}

// form is what kind of reply is asked for.
type form struct {
	name   string   // a schema's name
	labels []string // of SchemaVerdicts
	lo, hi int      // of SchemaRating
}

func formOf(req *llm.Request) (form, error) {
	if req.Schema != nil {
		return formOfSchema(req.Schema)
	}
	for _, m := range req.Messages {
		if f, ok := formInWords(beforeFence(m.Content)); ok && m.Role != llm.Assistant {
			return f, nil
		}
	}
	return form{}, fmt.Errorf("tell what is asked for: the request has no schema, and no message says the form of the reply")
}

// schemaForms remembers what the few schemas of a run mean.
var schemaForms sync.Map // string(Schema.JSON) -> form

func formOfSchema(s *llm.Schema) (form, error) {
	f := form{name: s.Name}
	switch s.Name {
	case SchemaClaims, SchemaQuestions, SchemaEntities, SchemaChunks:
		return f, nil
	}
	if known, ok := schemaForms.Load(string(s.JSON)); ok {
		return known.(form), nil
	}
	switch s.Name {
	case SchemaVerdicts:
		f.labels = Labels(s)
	case SchemaRating:
		f.lo, f.hi, _ = Scale(s)
	default:
		return f, fmt.Errorf("answer schema %q: not one of %s", s.Name, strings.Join([]string{SchemaClaims, SchemaQuestions, SchemaEntities, SchemaVerdicts, SchemaChunks, SchemaRating}, ", "))
	}
	if f.name == SchemaVerdicts && len(f.labels) == 0 || f.name == SchemaRating && f.hi == 0 && f.lo == 0 {
		return f, fmt.Errorf("answer schema %q: it lists no labels and no scale", s.Name)
	}
	schemaForms.Store(string(s.JSON), f)
	return f, nil
}

// beforeFence returns the instructions of a message: what stands before the
// data.
func beforeFence(content string) string {
	if at := opening.FindStringIndex(content); at != nil {
		return content[:at[0]]
	}
	return content
}

var (
	labelsInWords = regexp.MustCompile(`(?m)^verdict: [^"\n]*("[^"\n]+"(?:, "[^"\n]+")*)`)
	scaleInWords  = regexp.MustCompile(`(?m)^rating: [^0-9\n]*(-?[0-9]{1,6}) to (-?[0-9]{1,6})`)
)

// formInWords reads the form of the reply from the reply format that every
// template holds.
func formInWords(s string) (form, bool) {
	if strings.Contains(s, `"chunks":[`) {
		return form{name: SchemaChunks}, true
	}
	if strings.Contains(s, `{"verdicts":[`) {
		m := labelsInWords.FindStringSubmatch(s)
		if m == nil {
			return form{}, false
		}
		labels := strings.Split(m[1], ", ")
		for i, l := range labels {
			labels[i] = strings.Trim(l, `"`)
		}
		return form{name: SchemaVerdicts, labels: labels}, true
	}
	if m := scaleInWords.FindStringSubmatch(s); m != nil {
		lo, _ := strconv.Atoi(m[1])
		hi, _ := strconv.Atoi(m[2])
		return form{name: SchemaRating, lo: lo, hi: hi}, lo < hi
	}
	for _, k := range []list{claimsList, questionsList, entitiesList} {
		if strings.Contains(s, `{"`+k.name+`":[`) {
			return form{name: k.name}, true
		}
	}
	return form{}, false
}

// The replies, in the forms that SchemaClaims and its kin tell. A string
// always encodes, so that the encoder's error can't be.

func listReply(name string, texts []string) string {
	return encodeReply(map[string][]string{name: texts})
}

func ratingReply(rating int, reason string) string {
	return encodeReply(struct {
		Reason string `json:"reason"`
		Rating int    `json:"rating"`
	}{reason, rating})
}

func chunksReply(items []Item, backed []lexicalBacked) string {
	type verdict struct {
		ID     int    `json:"id"`
		Reason string `json:"reason"`
		Chunks []int  `json:"chunks"`
	}
	all := make([]verdict, len(items))
	for i, b := range backed {
		all[i] = verdict{items[i].N, b.reason, b.chunks}
	}
	return encodeReply(struct {
		Verdicts []verdict `json:"verdicts"`
	}{all})
}

func verdictsReply(items []Item, verdicts []lexicalVerdict) string {
	type verdict struct {
		ID      int    `json:"id"`
		Reason  string `json:"reason"`
		Verdict string `json:"verdict"`
	}
	all := make([]verdict, len(items))
	for i, v := range verdicts {
		all[i] = verdict{items[i].N, v.reason, v.label}
	}
	return encodeReply(struct {
		Verdicts []verdict `json:"verdicts"`
	}{all})
}

func encodeReply(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("judge: a reply of the lexical judge can't be encoded: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
