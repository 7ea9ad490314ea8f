package llmtest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
)

// The faults of this file are quirks: replies that are odd in form, servers with
// a bound of their own, and refusals of any wording.

// Reply is any reply at all, in place of the answer. It is not paid for.
func Reply(status int, headers map[string]string, body string) Fault {
	return Fault{name: fmt.Sprintf("reply %d", status), serve: func(x *exchange) {
		contentType := jsonType
		for k, v := range headers {
			if http.CanonicalHeaderKey(k) == "Content-Type" {
				contentType = v
				continue
			}
			x.header.Set(k, v)
		}
		x.reply(status, contentType, body)
	}}
}

// ReasoningOnly puts the whole answer into the message's field for thoughts,
// and leaves the content empty.
func ReasoningOnly(field string) Fault {
	return Fault{name: "reasoning only", change: func(c *completion, _ *Request) {
		c.thoughtsIn, c.thoughts = field, *c.content
		c.content = new(string)
	}}
}

// EmptyContent is a completion whose content is empty and took no token, as
// servers send it for a prompt that is longer than their context.
func EmptyContent() Fault {
	return Fault{name: "empty content", useless: true, change: func(c *completion, _ *Request) { c.content = new(string) }}
}

// BlankLines answers well, after many blank lines.
func BlankLines() Fault {
	return encoded("blank lines", nil, func(b []byte) []byte { return append([]byte(strings.Repeat("\n", 50)), b...) })
}

// Gzip answers well, packed; announced says whether a header tells it.
func Gzip(announced bool) Fault {
	header := http.Header{}
	if announced {
		header.Set("Content-Encoding", "gzip")
	}
	return encoded(fmt.Sprintf("gzip, announced %t", announced), header, func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(b) // to memory
		_ = z.Close()
		return out.Bytes()
	})
}

// encoded changes the bytes of a reply.
func encoded(name string, header http.Header, change func([]byte) []byte) Fault {
	return Fault{name: name, serve: func(x *exchange) {
		body := change(x.wire(x.complete()))
		for k := range header {
			x.header.Set(k, header.Get(k))
		}
		x.s.log.end(x.entry, http.StatusOK, true, true)
		respond(x.w, http.StatusOK, jsonType, x.header, body)
	}}
}

// EventStream answers with a stream of events, though none was asked for; cut
// says that it breaks off after half of them.
func EventStream(cut bool) Fault {
	return Fault{name: fmt.Sprintf("event stream, cut %t", cut), serve: func(x *exchange) {
		c := x.complete()
		x.s.spent(c.tokens())
		text := []rune(*c.content)
		var b strings.Builder
		half := len(text) / 2
		for _, piece := range []string{string(text[:half]), string(text[half:])} {
			b.WriteString("data: " + encode(map[string]any{"object": "chat.completion.chunk", "model": x.s.opts.Served(x.req.Model),
				"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": piece}, "finish_reason": nil}}}) + "\n\n")
			if cut {
				break
			}
		}
		if !cut {
			prompt, n := PromptTokens(x.req.Messages), c.tokens()
			b.WriteString("data: " + encode(map[string]any{"object": "chat.completion.chunk", "model": x.s.opts.Served(x.req.Model), "system_fingerprint": Fingerprint,
				"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": c.finish}},
				"usage":   wireUsage{prompt, n, prompt + n}}) + "\n\ndata: [DONE]\n\n")
		}
		x.s.log.end(x.entry, http.StatusOK, true, !cut)
		respond(x.w, http.StatusOK, "text/event-stream", x.header, []byte(b.String()))
	}}
}

// CutsPrompts lets a server read no more than the last tokens of a prompt, and
// answer as if it had read it all; only the usage tells.
func CutsPrompts(context int) FaultFunc {
	return func(_ int, r *Request) Fault {
		if PromptTokens(r.Messages) <= context {
			return Fault{}
		}
		return Fault{name: "cut prompt", change: func(c *completion, _ *Request) { c.promptTokens = context }}
	}
}

// ContextOf refuses requests whose prompt and longest reply are together longer
// than the context, in vLLM's words.
func ContextOf(context int) FaultFunc {
	return func(_ int, r *Request) Fault {
		prompt, reply := PromptTokens(r.Messages), r.Ask.MaxTokens
		if prompt+reply <= context {
			return Fault{}
		}
		return errorReply("context and reply too long", http.StatusBadRequest, fixed(encode(map[string]any{
			"object": "error", "type": "BadRequestError", "param": nil, "code": 400,
			"message": fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", context, prompt+reply, prompt, reply),
		})))
	}
}

// LongestReply refuses requests that ask for replies of more tokens.
func LongestReply(tokens int) FaultFunc {
	return func(_ int, r *Request) Fault {
		if r.Ask.MaxTokens <= tokens {
			return Fault{}
		}
		return errorReply("reply too long", http.StatusBadRequest, fixed(apiError{
			message: fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", r.Ask.MaxTokens, tokens, r.Ask.MaxTokens),
			kind:    "invalid_request_error", param: "max_tokens", code: "invalid_value"}.String()))
	}
}

// TokensPerRequest refuses requests that are, with their longest reply, above
// the whole limit of tokens a minute, as Groq does.
func TokensPerRequest(limit int) FaultFunc {
	return func(_ int, r *Request) Fault {
		n := PromptTokens(r.Messages) + r.Ask.MaxTokens
		if n <= limit {
			return Fault{}
		}
		return errorReply("above the tokens a minute", http.StatusRequestEntityTooLarge, fixed(apiError{
			message: fmt.Sprintf("Request too large for model `%s` on tokens per minute (TPM): Limit %d, Requested %d, please reduce your message size and try again.", r.Model, limit, n),
			kind:    "tokens", code: "rate_limit_exceeded"}.String()))
	}
}

// Refuses refuses with a status and a message the requests of which the test
// says so: r is the request, members the members of its body, as raw JSON.
func Refuses(status int, message string, when func(r *Request, members map[string]string) bool) FaultFunc {
	return func(_ int, r *Request) Fault {
		members := map[string]string{}
		for name, raw := range r.members {
			members[name] = string(raw)
		}
		if !when(r, members) {
			return Fault{}
		}
		return errorReply("refused", status, fixed(invalid(message).String()))
	}
}
