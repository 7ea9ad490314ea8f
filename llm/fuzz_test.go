package llm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Whatever a server sends, there is either an error of a known kind or a reply
// whose content stood in what was sent.
func FuzzDecodeReply(f *testing.F) {
	for _, seed := range []struct {
		status int
		body   string
	}{
		{200, `{"error":{"code":429}}`}, {500, `[[{"error":"{\"message\":\"x\"}"}]]`}, {400, `{"error":{"message":"Error code: 400 - {'error': {'message': \"it's\", 'x': None}}"}}`},
		{200, `{"choices":[{"message":{"content":"{\"rating\":4}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":NaN}}`},
		{200, `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"no"}],"reasoning":"b"}}]}`},
		{200, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n"},
		{400, `{"error":{"message":"Failed","code":"json_validate_failed","failed_generation":"{"}}`}, {200, `{"choices":[{"message":{"content":{"rating":4}}}]}`},
		{200, "\ufeff\n{\"choices\":null}"}, {413, `{"error":{"message":"Limit 12,000, Requested 13,096 tokens per minute"}}`}, {502, "<html><title>x</title>"}, {400, "<Error><Code>a</Code></Error>"},
		{400, `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`}, {400, "[{'a': '\\x41\\'"}, {500, strings.Repeat(`{"error":`, 100)},
	} {
		f.Add(seed.status, seed.body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		x := &exchange{status: status, header: http.Header{}, body: []byte(body)}
		resp, d := decodeReply(x)
		if resp == nil {
			if e := d.err; e == nil || e.Kind < Transient || e.Kind > WaitTooLong || e.Code == "" || len(e.Message) > maxMessage+10 || e.RetryAfter < 0 {
				t.Fatalf("%+v", d.err)
			}
			for _, asked := range []int{1, 100, 4096} {
				if n, ok := d.facts.room(asked); ok && (n < 1 || n >= asked) {
					t.Fatalf("room for %d of %d", n, asked)
				}
				if n, ok := d.facts.ceiling(asked); ok && (n < 1 || n >= asked) {
					t.Fatalf("at most %d of %d", n, asked)
				}
			}
			return
		}
		if u := resp.Usage; u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens > u.PromptTokens || u.ReasoningTokens > u.CompletionTokens {
			t.Fatalf("usage %+v", u)
		}
		said := saidIn(body)
		for _, text := range []string{resp.Content, resp.Refusal, resp.Reasoning} {
			if !strings.Contains(said, text) && !madeOf(text, body) {
				t.Fatalf("%q is not in %q", text, body)
			}
		}
	})
}

// saidIn is every string of a reply's events one after the other, and the body
// itself, without blanks between the tokens of JSON.
func saidIn(body string) string {
	var b strings.Builder
	b.WriteString(body)
	events := [][]byte{[]byte(strings.TrimPrefix(strings.TrimSpace(body), "\ufeff"))}
	if isStream(http.Header{}, []byte(strings.TrimSpace(body))) {
		events = streamEvents([]byte(strings.TrimSpace(body)))
	}
	for _, event := range events {
		event = bareNumber.ReplaceAll(event, []byte("${1}null${2}"))
		b.WriteString("\x00" + string(event))
		d := json.NewDecoder(strings.NewReader(string(event)))
		for {
			token, err := d.Token()
			if err != nil {
				break
			}
			if s, ok := token.(string); ok {
				b.WriteString("\x00" + s)
			}
		}
	}
	return b.String()
}

// madeOf reports whether a text can be put together of the strings of a body,
// each begun at its start and used in order, as the pieces of a stream and the
// parts of a content are.
func madeOf(text, body string) bool {
	for _, piece := range strings.Split(saidIn(body), "\x00")[1:] {
		if rest, ok := strings.CutPrefix(text, piece); ok {
			if text = rest; text == "" {
				return true
			}
		}
	}
	return false
}

// Whatever stands in a message, the facts are read without harm.
func FuzzEmbedded(f *testing.F) {
	f.Add(`Error code: 400 - {'error': {'message': "it's", 'ok': True, 'n': None}}`)
	f.Add(`x {"a":1} [{'a':'\''}]`)
	f.Add(`{'a': '\`)
	f.Fuzz(func(t *testing.T, s string) {
		before, v, ok := embedded(s)
		if ok && (v == nil || len(before) > len(s)) || !ok && before != s {
			t.Fatalf("%q: %q, %v, %t", s, before, v, ok)
		}
		factsOf(400, http.Header{}, []byte(s))
	})
}
