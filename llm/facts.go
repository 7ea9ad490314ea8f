package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// facts are what an error reply says, dug out of whatever form it has: an
// object, a string or an array, nested, JSON or Python text inside a string,
// XML, or a page.
type facts struct {
	// status is the HTTP status, or the one that the body gives in its place.
	status int
	// message is the first thing said to people, with what was passed on where
	// the first thing says nothing.
	message string
	// codes are all values of code, type, status, reason and the like, in lower
	// case; param is the parameter that is named.
	codes []string
	param string
	// text is everything that is said, in lower case, for the look-up of words.
	text string
	// isError reports that there is an error in it at all, html that it is a page.
	isError, html bool
	// wait is what the reply asks for; 0 for none.
	wait time.Duration
	// generated is what a model wrote that its server then refused to pass on.
	generated string
}

// factsOf reads an error reply, or a reply with status 200 that may be one.
func factsOf(status int, h http.Header, body []byte) facts {
	f := facts{status: status}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	if code, _, _ := strings.Cut(h.Get("X-Amzn-Errortype"), ":"); code != "" {
		f.codes = append(f.codes, strings.ToLower(code))
	}
	lower := strings.ToLower(string(prolog.ReplaceAll(trimmed[:min(len(trimmed), 512)], nil)))
	w := &factWalk{f: &f}
	var v any
	switch {
	case strings.HasPrefix(lower, "<!doctype html"), strings.HasPrefix(lower, "<html"), strings.HasPrefix(lower, "<head"),
		strings.Contains(h.Get("Content-Type"), "text/html") && strings.HasPrefix(lower, "<"):
		f.html = true
		w.page(trimmed)
	case strings.HasPrefix(lower, "<") && w.xml(trimmed):
	case decodeNumber(trimmed, &v) == nil && !startsAsNumber(trimmed, v):
		if _, ok := v.(string); ok {
			w.walk("message", v, 0)
			break
		}
		w.walk("", v, 0)
	case isStream(h, trimmed):
		for _, event := range streamEvents(trimmed) {
			if decodeNumber(event, &v) == nil {
				w.walk("", v, 0)
			}
		}
	default:
		w.said("message", string(trimmed[:min(len(trimmed), maxFacts)]), 0)
	}
	f.text = strings.ToLower(w.text.String())
	f.message = readable(w.message())
	f.statusInText()
	return f
}

// prolog is what may stand before a page.
var prolog = regexp.MustCompile(`^(?s:\s*(?:<!--.*?-->|<\?xml.*?\?>))+\s*`)

// maxFacts bounds what is read of an error reply, in bytes; maxDepth how deep.
const (
	maxFacts = 1 << 16
	maxDepth = 12
)

func decodeNumber(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// startsAsNumber reports a text of which only the first word is JSON: "429
// Resource exhausted".
func startsAsNumber(b []byte, v any) bool {
	switch v.(type) {
	case string, []any, map[string]any:
		return false
	}
	return bytes.ContainsAny(b, " \t\r\n:,;")
}

// factWalk gathers the facts of one body.
type factWalk struct {
	f    *facts
	text strings.Builder
	told []string
}

// empty are messages that say that there was an error, and not which.
var empty = regexp.MustCompile(`(?i)^(?:provider returned(?: an)? error|upstream(?: request)? (?:error|failed)|bad ?request|(?:an? )?(?:unknown |internal )?(?:server )?error(?: occurred)?|request failed|failed|error code: \d+|[45]\d\d)[.:]?$`)

// message is the first message, with the last one where the first is empty.
func (w *factWalk) message() string {
	if len(w.told) == 0 {
		return ""
	}
	first, last := w.told[0], w.told[len(w.told)-1]
	if len(w.told) > 1 && empty.MatchString(strings.TrimSpace(first)) {
		return strings.TrimSuffix(strings.TrimSpace(first), ".") + ": " + last
	}
	return first
}

// walk gathers what stands under a key. Depth bounds a body made to hurt.
func (w *factWalk) walk(key string, v any, depth int) {
	if depth > maxDepth || w.text.Len() > maxFacts {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		w.object(v, depth)
	case []any:
		for _, sub := range v {
			if s, ok := sub.(string); ok && key == "loc" { // FastAPI: the last is the parameter
				w.f.param = s
			}
			w.walk(key, sub, depth+1)
		}
	case json.Number:
		if isCode(key) {
			w.code(v.String())
		}
	case string:
		w.said(key, v, depth)
	}
}

// first are the members in which a server speaks for itself; they come before
// what it passes on.
var first = []string{"error", "errors", "message", "msg", "detail", "code", "type", "status"}

// echoed are members in which what was sent may come back: a sample's words are
// not the server's.
var echoed = []string{"input", "body", "request", "messages", "prompt", "content", "ctx", "choices", "failed_generation"}

// echoedName is the name of such a member in the words of many servers.
var echoedName = regexp.MustCompile(`(?i)input|prompt$|payload|received|content$|query|sample|(?:request|response)[_-]?body|^(?:text|value|answer)$`)

// echoes reports a member in which what was sent may come back. What a sample
// says must never pass for what the server says.
func echoes(key string) bool {
	return slices.Contains(echoed, key) || (echoedName.MatchString(key) && !strings.Contains(flatName(key), "ratelimit"))
}

func (w *factWalk) object(v map[string]any, depth int) {
	for _, k := range first {
		if sub, ok := v[k]; ok {
			w.f.isError = w.f.isError || ((k == "error" || k == "errors") && sub != nil && depth < 2)
			w.walk(k, sub, depth+1)
		}
	}
	if s, ok := v["failed_generation"].(string); ok {
		w.f.generated = s
	}
	rest := make([]string, 0, len(v))
	for k := range v {
		if !slices.Contains(first, k) && !echoes(k) {
			rest = append(rest, k)
		}
	}
	slices.Sort(rest) // the same body gives the same facts
	for _, k := range rest {
		if k == "blockReason" || k == "block_reason" {
			w.f.codes = append(w.f.codes, "block_reason")
		}
		w.walk(k, v[k], depth+1)
	}
}

// isCode reports a member that holds a word for machines.
func isCode(key string) bool {
	switch key {
	case "code", "type", "status", "reason", "quota_limit", "quotaId", "quota_id", "@type", "status_code", "error_code", "error_type", "errorCode", "errorType", "__type", "err_code", "errcode":
		return true
	}
	return false
}

func (w *factWalk) said(key, s string, depth int) {
	inner, more := any(nil), false
	if isMessage(key) {
		var before string
		// What stands around an object that is passed on counts, the object's
		// members are walked, and what they echo is left out.
		if before, inner, more = embedded(s); more {
			s = strings.TrimRight(strings.TrimSpace(before), ":- ")
		}
		if s != "" {
			w.told = append(w.told, s)
		}
	}
	w.text.WriteString(s)
	w.text.WriteByte('\n')
	switch {
	case isCode(key):
		w.code(s)
	case key == "param":
		w.f.param = s
	case more:
		w.walk(key, inner, depth+1)
	}
}

// isMessage reports a member that holds words for people.
func isMessage(key string) bool {
	switch key {
	case "error", "errors", "message", "msg", "detail", "raw", "error_description", "error_message", "errorMessage", "error_msg", "errorMsg", "err_msg", "errmsg", "status_msg", "Message", "title":
		return true
	}
	return false
}

// code keeps a code; one that is an HTTP status of an error goes before the
// status of the reply, which gateways commit to before they know better.
func (w *factWalk) code(s string) {
	name := s[strings.LastIndexByte(s, '#')+1:] // com.amazon.coral.availability#ThrottlingException
	w.f.codes = append(w.f.codes, strings.ToLower(name))
	s, _, _ = strings.Cut(s, " ") // "429 Too Many Requests"
	if n, err := strconv.Atoi(s); err == nil {
		w.f.takeStatus(n)
	}
}

// takeStatus believes a status in the body if the reply's own says nothing of
// the kind, or only that something went wrong behind it.
func (f *facts) takeStatus(n int) {
	switch {
	case n < 400 || n > 599:
	case f.status < 400, f.status >= 500 && n < 500:
		f.status = n
	case f.status == http.StatusBadRequest && (n == http.StatusTooManyRequests || n == http.StatusServiceUnavailable || n == 529):
		f.status = n
	}
}

var textStatus = regexp.MustCompile(`(?:error code|status code|status|http|http error)\s*[:=]?\s*\(?([45]\d\d)\b`)

// statusInText takes the status of a message such as "Error code: 429 - ...",
// and of the names under which LiteLLM passes errors on.
func (f *facts) statusInText() {
	if f.html {
		return
	}
	if m := textStatus.FindStringSubmatch(f.text); m != nil {
		n, _ := strconv.Atoi(m[1])
		f.takeStatus(n)
	}
	for _, e := range []struct {
		name   string
		status int
	}{{"ratelimiterror", 429}, {"authenticationerror", 401}, {"permissiondeniederror", 403}, {"notfounderror", 404}, {"badrequesterror", 400}, {"unprocessableentityerror", 422}} {
		if strings.Contains(f.text, e.name+":") || f.code(e.name) {
			f.takeStatus(e.status)
		}
	}
}

func (f facts) code(any ...string) bool {
	for _, c := range f.codes {
		if slices.Contains(any, c) {
			return true
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

// matches reports whether a pattern is in what is said, or in a code.
func (f facts) matches(re *regexp.Regexp) bool {
	return re.MatchString(f.text) || slices.ContainsFunc(f.codes, re.MatchString)
}

// names reports whether one of the words is said, as a word of its own: "seed"
// is not in "seed-oss".
func (f facts) names(words ...string) bool {
	for _, word := range words {
		for rest, from := f.text, 0; ; {
			at := strings.Index(rest[from:], word)
			if at < 0 {
				break
			}
			at += from
			end := at + len(word)
			if (at == 0 || !wordByte(rest[at-1])) && (end == len(rest) || !wordByte(rest[end])) {
				return true
			}
			from = end
		}
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
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
