package llm

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// waitInBody is the wait that an error's body asks for: Google's RetryInfo and
// the members of other servers, headers that a router passes on, and at last
// prose. What the server echoes of the request is not looked at.
func waitInBody(body []byte, now time.Time) (time.Duration, bool) {
	w := bodyWait{now: now}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	var v any
	if len(trimmed) > maxFacts {
		trimmed = trimmed[:maxFacts]
	}
	// A body of text may begin with a number, such as the status.
	if len(trimmed) > 0 && strings.IndexByte(`{["`, trimmed[0]) >= 0 && decodeNumber(trimmed, &v) == nil {
		w.walk("", v, 0)
	} else {
		w.text.Write(trimmed)
	}
	if w.found {
		return w.wait, true
	}
	return waitInText(w.text.String(), now)
}

// bodyWait gathers what a body says about waiting.
type bodyWait struct {
	now   time.Time
	wait  time.Duration // the longest that a member tells
	found bool
	text  strings.Builder
}

func (w *bodyWait) walk(key string, v any, depth int) {
	if depth > maxDepth || w.text.Len() > maxFacts {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		w.object(v, depth)
	case []any:
		for _, sub := range v {
			w.walk(key, sub, depth+1)
		}
	case json.Number:
		w.member(key, v.String())
	case string:
		if w.member(key, v) {
			return
		}
		before, inner, ok := embedded(v)
		if ok {
			w.walk(key, inner, depth+1)
			v = before
		}
		w.text.WriteString(v)
		w.text.WriteByte('\n')
	}
}

func (w *bodyWait) object(v map[string]any, depth int) {
	keys := make([]string, 0, len(v))
	for k := range v {
		if !echoes(k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if d, ok := protoDuration(v[k]); ok && isWaitMember(k) {
			w.take(d)
			continue
		}
		if reset, ok := resetBeside(k); ok { // a router that passes headers on in the body
			w.passedOn(v, k, reset)
		}
		w.walk(k, v[k], depth+1)
	}
}

// passedOn takes the reset of a budget of which nothing remains.
func (w *bodyWait) passedOn(v map[string]any, remaining, reset string) {
	if n, ok := plainNumber(textOf(v[remaining])); !ok || n > 0 {
		return
	}
	for k, sub := range v {
		if strings.EqualFold(k, reset) {
			if d, ok := waitUntil(textOf(sub), w.now); ok {
				w.take(d)
			}
		}
	}
}

func (w *bodyWait) take(d time.Duration) {
	w.wait, w.found = max(w.wait, d), w.found || d > 0
}

// member takes the value of a member that is made to tell a wait.
func (w *bodyWait) member(key, value string) bool {
	if !isWaitMember(key) {
		return false
	}
	d, ok := waitUntil(value, w.now)
	if n, isNumber := plainNumber(value); isNumber && strings.HasSuffix(flatName(key), "ms") {
		d = bounded(n / 1000)
	}
	if ok {
		w.take(d)
	}
	return ok
}

// isWaitMember reports a name such as retryDelay, retry_after_ms or Retry-After.
func isWaitMember(key string) bool {
	switch flatName(key) {
	case "retrydelay", "retryafter", "retryafterms", "retryafterseconds", "retryaftersecs", "retryin", "waitseconds", "resetsinseconds", "resetinseconds", "resetsat", "resetat", "estimatedtime":
		return true
	}
	return false
}

func flatName(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(key))
}

// protoDuration reads {"seconds": 43, "nanos": 500000000}.
func protoDuration(v any) (time.Duration, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return 0, false
	}
	s, ok := plainNumber(textOf(m["seconds"]))
	if !ok {
		return 0, false
	}
	nanos, _ := plainNumber(textOf(m["nanos"])) // absent is 0
	return bounded(s + nanos/1e9), true
}

func textOf(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}

var (
	// "try again in 1m2.5s", "resets after 12h34m16s", "retry after 20 seconds",
	// "please wait 6 minutes and 2 seconds", "retry_delay { seconds: 43 }".
	waitPhrase = regexp.MustCompile(`(?i)(?:again|retry|retrying|resets?|available|restored|refreshed|refreshes|wait)(?:\s+(?:your|the|this|request|will|be|about|at|least|approximately|for|in|after|again)){0,5}[\s:]+(?:~\s*)?` +
		`((?:` + durationPart + `(?:\s*(?:,|and)\s*|\s*))+)(?:[^a-zA-Z0-9]|$)`)
	// "available again at 2026-10-21T07:28:45Z", "resets on ...".
	momentPhrase = regexp.MustCompile(`(?i)(?:again|retry|resets?|available|until)(?:\s+(?:will|be|at|on|after|until|not|before)){0,4}[\s:]+(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d| UTC)?)`)
	protoText    = regexp.MustCompile(`retry_delay\s*\{\s*seconds:\s*(\d+)`)
)

// waitInText finds a wait in an error's prose.
func waitInText(text string, now time.Time) (time.Duration, bool) {
	if m := protoText.FindStringSubmatch(text); m != nil {
		return bounded(parse(m[1])), true
	}
	if m := waitPhrase.FindStringSubmatch(text); m != nil {
		phrase := strings.TrimRight(strings.TrimSpace(m[1]), ",. ")
		return duration(strings.TrimSpace(strings.TrimSuffix(phrase, "and")))
	}
	if m := momentPhrase.FindStringSubmatch(text); m != nil {
		return waitUntil(m[1], now)
	}
	return 0, false
}
