package llm

import (
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxToldWait bounds what is believed of a wait, so that no sum of it can
// overflow: a year is as good as for ever.
const maxToldWait = 365 * 24 * time.Hour

// toldWait is the wait that a reply asks for: 0 if it asks for none. Headers
// go before the body, since the servers round in the body's prose.
func toldWait(h http.Header, body []byte, now time.Time) time.Duration {
	if d, ok := seconds(h.Get("Retry-After-Ms")); ok {
		return bounded(d / 1000)
	}
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if d, ok := waitUntil(v, serverTime(h, now)); ok {
			return d
		}
	}
	if d, ok := exhaustedReset(h, now); ok {
		return d
	}
	if d, ok := retryInfo(body); ok {
		return d
	}
	return waitInText(string(body))
}

// serverTime is the server's own clock, against which its times are meant; ours
// may be wrong, or jump.
func serverTime(h http.Header, now time.Time) time.Time {
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		return t
	}
	return now
}

// exhaustedReset is the longest time until a budget is whole again, of those
// budgets of which nothing remains.
func exhaustedReset(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	info := ratesOf(h, now)
	// Together and OpenRouter tell one budget, without its name.
	if n, err := strconv.ParseFloat(strings.TrimSpace(h.Get("X-Ratelimit-Remaining")), 64); err == nil && n <= 0 {
		wait, ok = waitUntil(h.Get("X-Ratelimit-Reset"), serverTime(h, now))
	}
	for _, b := range []struct {
		remaining *float64
		reset     *time.Duration
	}{{info.RemainingRequests, info.ResetRequests}, {info.RemainingTokens, info.ResetTokens}} {
		if b.remaining != nil && *b.remaining <= 0 && b.reset != nil {
			wait, ok = max(wait, *b.reset), true
		}
	}
	return wait, ok
}

// rateHeaders are the prefixes under which servers tell their limits: OpenAI's
// and its many followers', and Anthropic's.
var rateHeaders = []struct{ limit, remaining, reset string }{
	{"X-Ratelimit-Limit-", "X-Ratelimit-Remaining-", "X-Ratelimit-Reset-"},
	{"Anthropic-Ratelimit-%s-Limit", "Anthropic-Ratelimit-%s-Remaining", "Anthropic-Ratelimit-%s-Reset"},
}

// ratesOf reads what the headers say about limits. What is absent or can't be
// read is nil, never 0.
func ratesOf(h http.Header, now time.Time) RateInfo {
	var info RateInfo
	now = serverTime(h, now)
	for _, kind := range []struct {
		name             string
		limit, remaining **float64
		reset            **time.Duration
	}{
		{"Requests", &info.LimitRequests, &info.RemainingRequests, &info.ResetRequests},
		{"Tokens", &info.LimitTokens, &info.RemainingTokens, &info.ResetTokens},
	} {
		for _, names := range rateHeaders {
			get := func(pattern string) string {
				if strings.Contains(pattern, "%s") {
					return h.Get(strings.Replace(pattern, "%s", kind.name, 1))
				}
				return h.Get(pattern + kind.name)
			}
			setNumber(kind.limit, get(names.limit))
			setNumber(kind.remaining, get(names.remaining))
			if d, ok := waitUntil(get(names.reset), now); ok && *kind.reset == nil {
				*kind.reset = &d
			}
		}
	}
	return info
}

func setNumber(p **float64, text string) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if *p == nil && err == nil && v >= 0 && !math.IsInf(v, 0) {
		*p = &v
	}
}

func (r RateInfo) empty() bool { return r == RateInfo{} }

// waitUntil reads the ways in which servers tell a wait: seconds, whole or not;
// Go's durations ("1m30.5s"), also in days; HTTP dates and RFC 3339 times;
// seconds or milliseconds since 1970. A time in the past is no wait. It
// reports false for whatever else, and for a negative wait.
func waitUntil(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, false
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case math.IsNaN(n) || math.IsInf(n, 0) || n < 0:
			return 0, false
		case n >= 1e11: // milliseconds since 1970
			return bounded(n/1000 - float64(now.UnixMilli())/1000), true
		case n >= 1e9: // seconds since 1970
			return bounded(n - float64(now.UnixMilli())/1000), true
		}
		return bounded(n), true
	}
	if d, ok := duration(text); ok {
		return d, true
	}
	if t, err := http.ParseTime(text); err == nil {
		return bounded(t.Sub(now).Seconds()), true
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return bounded(t.Sub(now).Seconds()), true
	}
	return 0, false
}

var dayPart = regexp.MustCompile(`^(\d+(?:\.\d+)?)d`)

// duration is time.ParseDuration with days.
func duration(text string) (time.Duration, bool) {
	var days float64
	if m := dayPart.FindStringSubmatch(text); m != nil {
		days, _ = strconv.ParseFloat(m[1], 64)
		if text = text[len(m[0]):]; text == "" {
			return bounded(days * 86400), true
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, false
	}
	return bounded(days*86400 + d.Seconds()), true
}

func seconds(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 0)
}

func bounded(s float64) time.Duration {
	if s >= maxToldWait.Seconds() {
		return maxToldWait
	}
	return time.Duration(max(s, 0) * float64(time.Second)).Round(time.Millisecond)
}

// retryInfo finds the retryDelay of google.rpc.RetryInfo in an error's details.
func retryInfo(body []byte) (time.Duration, bool) {
	m := retryDelay.FindSubmatch(body)
	if m == nil {
		return 0, false
	}
	var text string
	if err := json.Unmarshal(m[1], &text); err != nil {
		return 0, false
	}
	return duration(text)
}

var (
	retryDelay = regexp.MustCompile(`"retryDelay"\s*:\s*("[^"]*")`)
	// "try again in 1m2.5s", "reset after 12h34m16s", "retry after 20 seconds"
	waitPhrase = regexp.MustCompile(`(?i)(?:again|retry|reset|available)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:d|h|ms|m|s)[a-z]*\s*)+)`)
	waitPart   = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|millisecond|d|h|m|s)`)
)

// waitInText finds a wait in an error's prose; 0 for none.
func waitInText(text string) time.Duration {
	m := waitPhrase.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	units := map[string]float64{"ms": 0.001, "millisecond": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
	var sum float64
	for _, part := range waitPart.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0
		}
		sum += n * units[strings.ToLower(part[2])]
	}
	return bounded(sum)
}
