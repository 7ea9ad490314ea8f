package cost

import (
	"sync"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/tokens"
)

// What a chat's form takes beside its text, as OpenAI documents it (cookbook,
// "How to count tokens with tiktoken"): three tokens about each message, the
// message's role and content, and three that start the reply.
const (
	tokensPerMessage = 3
	tokensPerReply   = 3
)

// tokensPerSchema is what a JSON schema takes beside its own name and text. How
// a provider turns a schema into prompt tokens is not documented; the text of
// the schema and a few tokens about it is what bills show.
const tokensPerSchema = 8

// RequestTokens is the input tokens of a request.
type RequestTokens struct {
	// Total is all of them.
	Total int
	// Text is the contents of the messages, Form the roles and what is about
	// each message, Schema what the schema takes.
	Text, Form, Schema int
	// Prefix is what is the same in all requests of a kind and comes first: the
	// schema, which providers put ahead, and the system message.
	Prefix int
	// Encoding is the name of the vocabulary by which the text was counted.
	Encoding string
	// Own reports that the vocabulary is known to be the model's own, so that
	// Text and Form are what the server will count.
	Own bool
}

// Exact reports whether Total is what the server will count: the vocabulary is
// the model's own and there is no schema, whose tokens are an estimate always.
func (r RequestTokens) Exact() bool { return r.Own && r.Schema == 0 }

// Counter counts the tokens of requests. The system message is the same in
// millions of requests, and so is the schema: their counts are kept. It is safe
// for concurrent use; the zero Counter is ready.
type Counter struct {
	mu   sync.RWMutex
	kept map[keptText]int
}

// keptText is a text that was counted before.
type keptText struct {
	enc  *tokens.Encoding
	text string
}

// maxKept bounds the counts that are kept. A run has a system message and a
// schema per step; more than this means that they are not the same after all.
const maxKept = 1024

// CountRequest counts the input tokens of a request.
func (c *Counter) CountRequest(req *llm.Request) RequestTokens {
	enc, own := tokens.ForModel(req.Model)
	r := RequestTokens{Encoding: enc.Name(), Own: own, Form: tokensPerReply}
	for _, text := range req.Embed {
		r.Text += enc.Count(text)
	}
	for _, m := range req.Messages {
		r.Form += tokensPerMessage + c.known(enc, string(m.Role))
		if m.Role == llm.System {
			r.Text += c.known(enc, m.Content)
		} else {
			r.Text += enc.Count(m.Content)
		}
	}
	if s := req.Schema; s != nil {
		r.Schema = tokensPerSchema + c.known(enc, s.Name) + c.known(enc, string(s.JSON))
	}
	if len(req.Embed) > 0 {
		r.Form = 0 // there is no chat
	}
	if len(req.Messages) > 0 && req.Messages[0].Role == llm.System {
		r.Prefix = r.Schema + tokensPerMessage + c.known(enc, string(llm.System)) + c.known(enc, req.Messages[0].Content)
	}
	r.Total = r.Text + r.Form + r.Schema
	return r
}

// known counts a text that is likely to come again.
func (c *Counter) known(enc *tokens.Encoding, text string) int {
	key := keptText{enc, text}
	c.mu.RLock()
	n, ok := c.kept[key]
	c.mu.RUnlock()
	if ok {
		return n
	}
	n = enc.Count(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[keptText]int{}
	}
	if len(c.kept) < maxKept {
		c.kept[key] = n
	}
	return n
}

// CountText counts the tokens of a text by the vocabulary of a model, such as
// those of a predicted reply.
func CountText(model, text string) int {
	enc, _ := tokens.ForModel(model)
	return enc.Count(text)
}
