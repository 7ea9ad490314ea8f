package llm

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// facts are what an error reply says, dug out of whatever form it has: an
// object, a string or an array, nested, or JSON inside a string.
type facts struct {
	// status is the HTTP status, or the one that the body gives in its place.
	status int
	// message is the first thing said to people.
	message string
	// codes are all values of code, type, status, reason and the like, in lower
	// case; param is the parameter that is named.
	codes []string
	param string
	// text is everything that is said, in lower case, for the look-up of words.
	text string
	// isError reports that there is an error in it at all, html that it is a page.
	isError, html bool
}

// factsOf reads an error reply, or a reply with status 200 that may be one.
func factsOf(status int, contentType string, body []byte) facts {
	f := facts{status: status}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	lower := strings.ToLower(string(trimmed[:min(len(trimmed), 512)]))
	f.html = strings.HasPrefix(lower, "<!doctype") || strings.HasPrefix(lower, "<html") ||
		(strings.Contains(contentType, "text/html") && strings.HasPrefix(lower, "<"))
	var v any
	if err := decodeNumber(trimmed, &v); err != nil {
		if !f.html {
			f.message = string(trimmed)
		}
		f.text = strings.ToLower(string(trimmed[:min(len(trimmed), 1<<16)]))
		f.message = readable(f.message)
		return f
	}
	w := &factWalk{f: &f}
	w.walk("", v, 0)
	f.text = strings.ToLower(w.text.String())
	f.message = readable(f.message)
	return f
}

func decodeNumber(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

type factWalk struct {
	f    *facts
	text strings.Builder
}

// walk gathers what stands under a key. Depth bounds a body made to hurt.
func (w *factWalk) walk(key string, v any, depth int) {
	if depth > 12 || w.text.Len() > 1<<16 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		// What the server says itself comes before what it passes on.
		for _, k := range []string{"error", "errors", "message", "msg", "detail", "code", "type", "status"} {
			if sub, ok := v[k]; ok {
				w.f.isError = w.f.isError || (k == "error" && sub != nil && depth < 2)
				w.walk(k, sub, depth+1)
			}
		}
		for k, sub := range v {
			switch k {
			case "error", "errors", "message", "msg", "detail", "code", "type", "status", "choices":
			case "input", "body", "request", "messages", "prompt", "content", "ctx":
				// What was sent may be echoed there: a sample's words are not the server's.
			default:
				w.walk(k, sub, depth+1)
			}
		}
	case []any:
		for _, sub := range v {
			w.walk(key, sub, depth+1)
		}
	case json.Number:
		if key == "code" || key == "status" {
			w.code(v.String())
		}
	case string:
		w.said(key, v, depth)
	}
}

func (w *factWalk) said(key, s string, depth int) {
	w.text.WriteString(s)
	w.text.WriteByte('\n')
	switch key {
	case "code", "type", "status", "reason", "quota_limit", "quotaId", "@type":
		w.code(s)
	case "param":
		w.f.param = s
	case "error", "message", "msg", "detail", "raw":
		if in := strings.TrimSpace(s); strings.HasPrefix(in, "{") {
			var v any
			if decodeNumber([]byte(in), &v) == nil {
				w.walk(key, v, depth+1)
				return
			}
		}
		if w.f.message == "" {
			w.f.message = s
		}
	}
}

// code keeps a code; one that is an HTTP status of an error goes before the
// status of the reply, which gateways commit to before they know better.
func (w *factWalk) code(s string) {
	w.f.codes = append(w.f.codes, strings.ToLower(s))
	if n, err := strconv.Atoi(s); err == nil && n >= 400 && n < 600 && (w.f.status < 400 || w.f.status == 500) {
		w.f.status = n
	}
}

func (f facts) code(any ...string) bool {
	for _, c := range f.codes {
		for _, want := range any {
			if c == want {
				return true
			}
		}
	}
	return false
}

func (f facts) says(any ...string) bool {
	for _, phrase := range any {
		if strings.Contains(f.text, phrase) {
			return true
		}
	}
	return false
}

// maxMessage is the readable length of a message, in bytes.
const maxMessage = 500

// readable cuts a message to one line of readable length.
func readable(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " ..."
}
