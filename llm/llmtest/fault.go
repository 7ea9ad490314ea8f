package llmtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Fault is one thing that goes wrong with a request. The zero value is none.
//
// Those of the transport and of the account take the place of the answer. Those
// of the model (FencedJSON to Refusal) spoil an answer that is paid for.
type Fault struct {
	name string
	// delay comes before the reply.
	delay time.Duration
	// serve replies in place of the answer; nil if the answer goes out.
	serve func(*exchange)
	// change spoils the answer.
	change func(*completion, *Request)
	// useless says that no answer can be found in what goes out.
	useless bool
}

// String is the fault's name, as in Record.Fault; "" for none.
func (f Fault) String() string { return f.name }

// errorReply is a fault that replies with an error object.
func errorReply(name string, status int, body func(*Request) string) Fault {
	return Fault{name: name, serve: func(x *exchange) { x.refuse(status, body(x.req)) }}
}

func fixed(body string) func(*Request) string { return func(*Request) string { return body } }

// RateLimit is a 429 with the header Retry-After: seconds, or an HTTP date.
func RateLimit(retryAfter string) Fault {
	return RateLimitHeaders(map[string]string{"Retry-After": retryAfter})
}

// RateLimitHeaders is a 429 with headers, such as x-ratelimit-reset-requests.
func RateLimitHeaders(headers map[string]string) Fault {
	return Fault{name: "rate limit", serve: func(x *exchange) {
		for k, v := range headers {
			x.header.Set(k, v)
		}
		x.refuse(http.StatusTooManyRequests, rateLimited(x.req.Model, "requests", ""))
	}}
}

// RateLimitBare is a 429 that doesn't say how long to wait, and has no body.
func RateLimitBare() Fault {
	return Fault{name: "bare rate limit", serve: func(x *exchange) { x.reply(http.StatusTooManyRequests, "text/plain", "") }}
}

func rateLimited(model, kind, wait string) string {
	message := fmt.Sprintf("Rate limit reached for %s in organization org-llmtest on %s per min.", model, kind)
	if wait != "" {
		message += " Please try again in " + wait + "."
	}
	return apiError{message: message, kind: kind, code: "rate_limit_exceeded"}.String()
}

// Status is an error reply of the status, 400 to 599.
func Status(status int) Fault {
	return errorReply("status "+strconv.Itoa(status), status, fixed(apiError{
		message: "The server had an error while processing your request. Sorry about that!", kind: "server_error",
	}.String()))
}

// ServiceUnavailableHTML is a 503 with a page in place of JSON, as a gateway
// sends it.
func ServiceUnavailableHTML() Fault {
	return Fault{name: "503 page", serve: func(x *exchange) {
		x.reply(http.StatusServiceUnavailable, "text/html", "<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body>\r\n<center><h1>503 Service Temporarily Unavailable</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n")
	}}
}

// Slow answers well, but only after d. A client that gives up before has not
// paid.
func Slow(d time.Duration) Fault { return Fault{name: "slow", delay: d} }

// Hang never answers: it ends when the client gives up, or by Close.
func Hang() Fault {
	return Fault{name: "hang", serve: func(x *exchange) {
		select {
		case <-x.http.Context().Done():
		case <-x.s.done:
		}
		x.s.log.end(x.entry, 0, false, false)
		panic(http.ErrAbortHandler) // closes the connection without a reply
	}}
}

// CutBody answers, and closes the connection in the middle of the body: it ends
// before its Content-Length. The answer is paid for, and lost.
func CutBody() Fault {
	return Fault{name: "cut body", serve: func(x *exchange) {
		body := x.wire(x.complete())
		x.s.log.end(x.entry, http.StatusOK, true, false)
		x.w.Header().Set("Content-Type", jsonType)
		x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		x.w.WriteHeader(http.StatusOK)
		_, _ = x.w.Write(body[:len(body)/2]) // a client that is gone is no matter of ours
		_ = http.NewResponseController(x.w).Flush()
		panic(http.ErrAbortHandler)
	}}
}

// Reset breaks the connection off with a TCP reset, without a reply.
func Reset() Fault {
	return Fault{name: "reset", serve: func(x *exchange) {
		x.s.log.end(x.entry, 0, false, false)
		conn, _, err := http.NewResponseController(x.w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // on an error it is closed the usual way
		}
		_ = conn.Close()
	}}
}

// EmptyChoices is a completion, paid for, without choices.
func EmptyChoices() Fault {
	return Fault{name: "empty choices", useless: true, change: func(c *completion, _ *Request) { c.noChoices = true }}
}

// NullContent is a completion, paid for, whose content is null, without a
// refusal.
func NullContent() Fault {
	return Fault{name: "null content", useless: true, change: func(c *completion, _ *Request) { c.content = nil }}
}

// NoUsage answers well, but does not tell what it took.
func NoUsage() Fault {
	return Fault{name: "no usage", change: func(c *completion, _ *Request) { c.noUsage = true }}
}

// FencedJSON puts the answer into a Markdown fence.
func FencedJSON() Fault {
	return rewrite("fenced JSON", func(s string, _ *Request) string { return "```json\n" + s + "\n```" })
}

// Thinking puts a thought, in tags, before the answer.
func Thinking() Fault {
	return rewrite("thinking", func(s string, _ *Request) string {
		return "<think>\nLet me look at each of them. {\"verdicts\":[]} would be too easy.\n</think>\n\n" + s
	})
}

// ThinkingUnclosed is an answer inside a thought that doesn't end: it is none.
func ThinkingUnclosed() Fault {
	return rewrite("unclosed thinking", func(s string, _ *Request) string { return "<think>\nPerhaps this would do:\n" + s })
}

// FewerVerdicts leaves the last verdict out.
func FewerVerdicts() Fault {
	return rewriteVerdicts("fewer verdicts", func(all []verdict, _ *Request) []verdict { return all[:len(all)-1] })
}

// MoreVerdicts adds a verdict on an item that is not there.
func MoreVerdicts() Fault {
	return rewriteVerdicts("more verdicts", func(all []verdict, _ *Request) []verdict {
		extra := all[len(all)-1]
		for _, v := range all {
			extra.ID = max(extra.ID, v.ID)
		}
		extra.ID++
		return append(all, extra)
	})
}

// DuplicateVerdicts gives a second verdict on the first item, which contradicts
// the first.
func DuplicateVerdicts() Fault {
	return rewriteVerdicts("duplicate verdicts", func(all []verdict, r *Request) []verdict {
		again := all[0]
		labels := labelsOf(r.Ask)
		if again.Verdict = labels[len(labels)-1]; again.Verdict == all[0].Verdict {
			again.Verdict = labels[0]
		}
		if again.Verdict == all[0].Verdict { // only one label is known
			again.Verdict = "not_" + again.Verdict
		}
		again.Reason = "On second thoughts it is otherwise."
		return append(all, again)
	})
}

// Truncated cuts the answer in the middle, for its length.
func Truncated() Fault {
	return Fault{name: "truncated", change: func(c *completion, _ *Request) {
		cut := len(*c.content) / 2
		for cut > 0 && !utf8.RuneStart((*c.content)[cut]) {
			cut--
		}
		half := (*c.content)[:cut]
		c.content, c.finish = &half, "length"
	}}
}

// RefusalText is what Refusal says.
const RefusalText = "I'm sorry, but I can't assist with that request."

// Refusal is the model's own refusal, in the field of that name.
func Refusal() Fault {
	return Fault{name: "refusal", change: func(c *completion, _ *Request) {
		text := RefusalText
		c.content, c.refusal = nil, &text
	}}
}

// FilteredReply is a completion, paid for, that the provider's filter emptied.
func FilteredReply() Fault {
	return Fault{name: "filtered reply", change: func(c *completion, _ *Request) {
		c.content, c.finish = new(string), "content_filter"
	}}
}

func rewrite(name string, change func(string, *Request) string) Fault {
	return Fault{name: name, change: func(c *completion, r *Request) {
		text := change(*c.content, r)
		c.content = &text
	}}
}

// rewriteVerdicts changes a list of verdicts. It is not called for an empty
// one, and any other answer stays as it is.
func rewriteVerdicts(name string, change func([]verdict, *Request) []verdict) Fault {
	return rewrite(name, func(s string, r *Request) string {
		var form struct {
			Verdicts []verdict `json:"verdicts"`
		}
		if json.Unmarshal([]byte(s), &form) != nil || len(form.Verdicts) == 0 {
			return s
		}
		form.Verdicts = change(form.Verdicts, r)
		return encode(form)
	})
}

// Unauthorized is a 401 that echoes a part of the key, as OpenAI does.
func Unauthorized() Fault {
	return errorReply("unauthorized", http.StatusUnauthorized, func(r *Request) string { return wrongKey(r.key) })
}

// UnauthorizedEcho is a 401 that echoes the whole key, as some servers do.
func UnauthorizedEcho() Fault {
	return errorReply("unauthorized, key echoed", http.StatusUnauthorized, func(r *Request) string {
		return apiError{message: "invalid token: Bearer " + r.key, kind: "authentication_error"}.String()
	})
}

// PaymentRequired is a 402.
func PaymentRequired() Fault {
	return errorReply("payment required", http.StatusPaymentRequired, fixed(apiError{message: "Insufficient credits. Add more in your account's settings.", kind: "billing_error"}.String()))
}

// InsufficientQuota is a 429 that no wait helps: the account has no money left.
func InsufficientQuota() Fault {
	return errorReply("insufficient quota", http.StatusTooManyRequests, fixed(apiError{
		message: "You exceeded your current quota, please check your plan and billing details.", kind: "insufficient_quota", code: "insufficient_quota"}.String()))
}

// ErrorIn200 is a reply with status 200 and an error object for a body, as
// routers send it when their upstream fails. It is not paid for.
func ErrorIn200() Fault {
	return errorReply("error in 200", http.StatusOK, fixed(`{"error":{"message":"Provider returned error","code":502}}`))
}

// UnsupportedParameter is a 400 that refuses a parameter, whether it was sent
// or not. See Options.Rejects for a server that only refuses what is sent.
func UnsupportedParameter(name string) Fault {
	return errorReply("unsupported "+name, http.StatusBadRequest, fixed(unsupported(name)))
}

// ContentFilter is Azure's 400 for a prompt that its filter refuses.
func ContentFilter() Fault {
	return errorReply("content filter", http.StatusBadRequest, fixed(encode(map[string]any{"error": map[string]any{
		"message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
		"type":    nil, "param": "prompt", "code": "content_filter", "status": 400,
	}})))
}

// ContextTooLong is a 400 for a prompt that is longer than the model's context.
func ContextTooLong() Fault {
	return errorReply("context too long", http.StatusBadRequest, func(r *Request) string {
		n := PromptTokens(r.Messages)
		return apiError{message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", max(n-1, 0), n),
			kind: "invalid_request_error", param: "messages", code: "context_length_exceeded"}.String()
	})
}

// ModelNotFound is a 404 for the model.
func ModelNotFound() Fault {
	return errorReply("model not found", http.StatusNotFound, func(r *Request) string { return noModel(r, strings.HasPrefix(r.path, "/openai/")) })
}
