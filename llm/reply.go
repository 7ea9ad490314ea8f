package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reply is a chat completion, with the fields that servers write in several
// ways left raw.
type reply struct {
	Model       json.RawMessage `json:"model"`
	Fingerprint json.RawMessage `json:"system_fingerprint"`
	Error       json.RawMessage `json:"error"`
	Choices     []choice        `json:"choices"`
	Usage       json.RawMessage `json:"usage"`
}

type choice struct {
	Error        json.RawMessage `json:"error"`
	FinishReason json.RawMessage `json:"finish_reason"`
	// NativeFinish is what a router was told, where it says "stop" whatever it was.
	NativeFinish json.RawMessage `json:"native_finish_reason"`
	Message      json.RawMessage `json:"message"`
	Delta        json.RawMessage `json:"delta"` // of a stream
	Text         json.RawMessage `json:"text"`  // of servers that take a chat for a completion
	Logprobs     json.RawMessage `json:"logprobs"`
}

// finish is why the choice ended. A router's own word is believed where the
// server's says less than a whole answer.
func (c choice) finish() FinishReason {
	f := finishReason(text(c.FinishReason))
	if native := finishReason(text(c.NativeFinish)); f == FinishStop && (native == FinishLength || native == finishContext || native == FinishContentFilter) {
		return native
	}
	return f
}

// message is the choice's message; false if it has none.
func (c choice) message() (m message, ok bool) {
	if told(c.Message) && json.Unmarshal(c.Message, &m) == nil {
		return m, true
	}
	m.Content = c.Text
	return m, len(c.Text) > 0
}

type message struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	Thinking         json.RawMessage `json:"thinking"`
}

// decodeReply makes a Response of a reply, or says what else it is.
func decodeReply(x *exchange) (*Response, diagnosis) {
	now := time.Now()
	if x.status/100 != 2 {
		d := diagnose(x.status, x.header, x.body, now)
		if d.facts.generated != "" && d.facts.status == http.StatusBadRequest {
			// The model wrote what its server could not read as JSON. It was
			// written, so it is looked at as any other reply.
			return &Response{Content: d.facts.generated, Usage: Usage{Unknown: 1}}, diagnosis{}
		}
		return nil, d
	}
	if trimmed := bytes.TrimSpace(x.body); isStream(x.header, trimmed) {
		return decodeStream(x, trimmed, now)
	}
	r, err := readReply(x.body)
	if err != nil || len(r.Choices) == 0 || told(r.Error) || told(r.Choices[0].Error) {
		body := x.body
		if err == nil && len(r.Choices) > 0 && !told(r.Error) {
			body = append(append([]byte(`{"error":`), r.Choices[0].Error...), '}')
		}
		d := diagnose(x.status, x.header, body, now)
		if err == nil && d.err.Code == "unreadable_reply" {
			d.err.Code, d.err.Message = "empty_response", "the reply has no choices"
		}
		return nil, d
	}
	c := r.Choices[0]
	m, ok := c.message()
	if !ok && !told(c.FinishReason) {
		return nil, diagnosis{err: &Error{Kind: Transient, Code: "empty_response", Status: x.status, Message: "the reply has no message"}}
	}
	resp := &Response{
		Refusal: text(m.Refusal), FinishReason: c.finish(),
		Model: text(r.Model), Fingerprint: text(r.Fingerprint), Usage: usageOf(r.Usage),
	}
	var refused string
	resp.Content, refused = content(m.Content)
	resp.Refusal = cmp.Or(resp.Refusal, refused)
	resp.Logprobs = logprobsOf(c.Logprobs, resp.Content)
	if strings.TrimSpace(resp.Content) == "" {
		resp.Reasoning = cmp.Or(text(m.Reasoning), text(m.ReasoningContent), text(m.Thinking), details(m.ReasoningDetails))
	}
	if e := unfinished(x.status, resp); e != nil {
		return nil, diagnosis{err: e}
	}
	return resp, diagnosis{}
}

// cutPromptTokens is the length from which a prompt that brings nothing at all is
// suspected of being too long: no server's context is shorter than that by
// default.
const cutPromptTokens = 1024

// unfinished is the error of a reply that has the form of an answer and is none.
func unfinished(status int, r *Response) *Error {
	switch r.FinishReason {
	case "error", "abort", "aborted", "cancelled", "canceled", "timeout", "insufficient_system_resource", "network_error", "system_error", "server_error", "internal_error", "failed", "interrupted":
		// A router whose upstream broke off.
		return &Error{Kind: Transient, Code: "error_in_reply", Status: status, Message: readable(cmp.Or(r.Content, "the reply ends with "+string(r.FinishReason)))}
	case finishContext:
		return &Error{Kind: Row, Code: "context_too_long", Status: status,
			Message: "the reply breaks off where the model's context is full, so that a longer bound would not help", Hint: hintLong}
	case FinishStop, FinishLength, "":
		u := r.Usage
		if u.Unknown == 0 && u.PromptTokens >= cutPromptTokens && u.CompletionTokens == 0 && r.Content+r.Refusal+r.Reasoning == "" {
			return &Error{Kind: Row, Code: "suspected_context_overflow", Status: status,
				Message: fmt.Sprintf("the reply is empty, and not a token was generated for a prompt of %d tokens: it is probably longer than the context with which the server loaded the model", u.PromptTokens),
				Hint:    "load the model with a longer context, or retrieve less for this sample"}
		}
	}
	return nil
}

// decodeStream puts the pieces of a stream together, which some servers send
// although none was asked for. One that was cut is no answer.
func decodeStream(x *exchange, body []byte, now time.Time) (*Response, diagnosis) {
	var resp Response
	var usage json.RawMessage
	pieces, ended := 0, false
	for _, event := range streamEvents(body) {
		r, err := readReply(event)
		if err != nil || told(r.Error) || (len(r.Choices) > 0 && told(r.Choices[0].Error)) {
			return nil, diagnose(x.status, x.header, event, now)
		}
		resp.Model, resp.Fingerprint = cmp.Or(resp.Model, text(r.Model)), cmp.Or(resp.Fingerprint, text(r.Fingerprint))
		if len(r.Usage) > 0 && string(r.Usage) != "null" {
			usage = r.Usage
		}
		if len(r.Choices) == 0 {
			continue
		}
		c := r.Choices[0]
		var m message
		if json.Unmarshal(c.Delta, &m) != nil || len(c.Delta) == 0 {
			_ = json.Unmarshal(c.Message, &m) // the whole at once
		}
		said, refused := content(m.Content)
		resp.Content += said
		resp.Refusal += cmp.Or(text(m.Refusal), refused)
		resp.Reasoning += cmp.Or(text(m.Reasoning), text(m.ReasoningContent), text(m.Thinking))
		if f := text(c.FinishReason); f != "" {
			resp.FinishReason, ended = c.finish(), true
		}
		pieces++
	}
	if pieces == 0 || !ended {
		e := &Error{Kind: Transient, Code: "cut_stream", Status: x.status, Message: "the reply came as a stream of events, though none was asked for, and it has no end"}
		return nil, diagnosis{err: e}
	}
	resp.Usage = usageOf(usage)
	if strings.TrimSpace(resp.Content) != "" {
		resp.Reasoning = ""
	}
	if e := unfinished(x.status, &resp); e != nil {
		return nil, diagnosis{err: e}
	}
	return &resp, diagnosis{}
}

// bareNumber is a number that is none in JSON, where some servers write one.
var bareNumber = regexp.MustCompile(`([:\[,]\s*)(?:-?Infinity|NaN)(\s*[,\]}])`)

// readReply decodes a reply. A reply has been paid for: what is odd about it
// beside the answer is no reason to buy it again.
func readReply(body []byte) (r reply, err error) {
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff"))
	if err = json.Unmarshal(body, &r); err == nil {
		return r, nil
	}
	var again reply
	if json.Unmarshal(bareNumber.ReplaceAll(body, []byte("${1}null${2}")), &again) == nil {
		return again, nil
	}
	return r, err
}

// told reports that a member holds something. An object or a list that holds
// nothing is none: some servers send an error with empty members always.
func told(raw json.RawMessage) bool { return toldWithin(raw, 3) }

// toldWithin looks depth levels deep; what lies deeper holds something.
func toldWithin(raw json.RawMessage, depth int) bool {
	switch s := strings.TrimSpace(string(raw)); {
	case s == "", s == "null", s == `""`, s == "false", s == "0":
		return false
	case depth == 0:
		return true
	case strings.HasPrefix(s, "{"):
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return true
		}
		for _, m := range members {
			if toldWithin(m, depth-1) {
				return true
			}
		}
		return false
	case strings.HasPrefix(s, "["):
		var items []json.RawMessage
		return json.Unmarshal(raw, &items) != nil || slices.ContainsFunc(items, func(m json.RawMessage) bool { return toldWithin(m, depth-1) })
	}
	return true
}

// finishContext is a reply that ended where the model's context is full. It is
// made an error before anybody sees it.
const finishContext FinishReason = "context"

// finishReason puts the words of other servers into OpenAI's.
func finishReason(s string) FinishReason {
	switch strings.ToLower(s) {
	case "max_tokens", "max_output_tokens", "max_new_tokens", "max_length", "token_limit", "length_limit", "incomplete":
		return FinishLength
	case "model_length", "model_context_window_exceeded", "context_length_exceeded":
		return finishContext
	case "safety", "prohibited_content", "blocklist", "content_filtered", "content_filter_error", "guardrail_intervened", "recitation", "spii", "sensitive", "refusal":
		return FinishContentFilter
	case "end_turn", "stop_sequence", "eos", "eos_token", "completed", "complete", "finished", "finish_reason_stop":
		return FinishStop
	}
	return FinishReason(strings.ToLower(s))
}

// text is a JSON string, or "" for whatever else stands there.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// details is the text of reasoning that comes in parts.
func details(raw json.RawMessage) (all string) {
	var parts []struct{ Text, Summary string }
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		all += cmp.Or(p.Text, p.Summary)
	}
	return all
}

// content is a message's text: a string, or a list of parts.
func content(raw json.RawMessage) (said, refused string) {
	if bytes.HasPrefix(raw, []byte("{")) {
		return string(raw), "" // some servers give the JSON itself
	}
	if bytes.HasPrefix(raw, []byte(`"`)) {
		return text(raw), ""
	}
	var parts []struct{ Type, Text, Refusal string }
	if json.Unmarshal(raw, &parts) != nil {
		return text(raw), ""
	}
	for _, p := range parts {
		if p.Type == "" || p.Type == "text" || p.Type == "output_text" {
			said += p.Text
		}
		refused += p.Refusal
	}
	return said, refused
}

// usageOf reads usage in its dialects. Unless both prompt and completion tokens
// are told, it is unknown; what is told stands there all the same.
func usageOf(told json.RawMessage) Usage {
	var raw map[string]json.RawMessage
	if json.Unmarshal(told, &raw) != nil {
		return Usage{Unknown: 1}
	}
	object := func(name string) (m map[string]json.RawMessage) {
		_ = json.Unmarshal(raw[name], &m) // absent or odd: there is nothing to read
		return m
	}
	prompt, ok1 := count(raw, "prompt_tokens")
	if !ok1 {
		// Anthropic's words: the tokens of its prompt cache stand beside.
		if prompt, ok1 = count(raw, "input_tokens", "prompt_eval_count", "promptTokenCount"); ok1 {
			read, _ := count(raw, "cache_read_input_tokens")
			written, _ := count(raw, "cache_creation_input_tokens")
			prompt += read + written
		}
	}
	completion, ok2 := count(raw, "completion_tokens", "output_tokens", "eval_count", "candidatesTokenCount")
	if !ok1 || !ok2 {
		return Usage{PromptTokens: prompt, CompletionTokens: completion, Unknown: 1}
	}
	var u Usage
	details := object("prompt_tokens_details")
	if details == nil {
		details = object("input_tokens_details")
	}
	if u.CachedTokens, ok1 = count(details, "cached_tokens"); !ok1 {
		u.CachedTokens, _ = count(raw, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
	}
	if u.CacheWriteTokens, ok1 = count(details, "cache_write_tokens", "cache_creation_tokens"); !ok1 {
		u.CacheWriteTokens, _ = count(raw, "cache_creation_input_tokens")
	}
	total, totalTold := count(raw, "total_tokens")
	// Some gateways have Anthropic's numbers under OpenAI's names: the total shows
	// it, or a cached part that is more than the whole.
	if beside := u.CachedTokens + u.CacheWriteTokens; beside > 0 &&
		(totalTold && total == prompt+completion+beside || !totalTold && u.CachedTokens > prompt) {
		prompt += beside
	}
	u.PromptTokens, u.CompletionTokens = prompt, completion
	u.CachedTokens = min(u.CachedTokens, prompt)
	u.CacheWriteTokens = min(u.CacheWriteTokens, prompt-u.CachedTokens)
	if u.ReasoningTokens, ok1 = count(object("completion_tokens_details"), "reasoning_tokens"); !ok1 {
		if u.ReasoningTokens, ok1 = count(object("output_tokens_details"), "reasoning_tokens"); !ok1 {
			u.ReasoningTokens, _ = count(raw, "reasoning_tokens")
		}
	}
	// Where hidden reasoning stands beside the completion, only the total shows it.
	if totalTold && total > prompt+completion {
		u.CompletionTokens = total - prompt
		u.ReasoningTokens = max(u.ReasoningTokens, total-prompt-completion)
	}
	if u.ReasoningTokens > u.CompletionTokens {
		u.CompletionTokens += u.ReasoningTokens // it stands beside, and no total says so
	}
	return u
}

// count is the first of the members that holds a number of tokens.
func count(m map[string]json.RawMessage, names ...string) (int, bool) {
	for _, name := range names {
		s := strings.Trim(string(m[name]), `" `)
		if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e12 {
			return int(n), true
		}
	}
	return 0, false
}
