package llm

import (
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
// go before the body, since the servers round in the body's prose; of the
// body, members that are made for it go before prose.
func toldWait(h http.Header, body []byte, now time.Time) time.Duration {
	now = serverTime(h, now)
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if ms, ok := plainNumber(h.Get(name)); ok && ms > 0 {
			return bounded(ms / 1000)
		}
	}
	for _, source := range []func() (time.Duration, bool){
		func() (time.Duration, bool) { return retryAfter(h, now) },
		func() (time.Duration, bool) { return exhaustedReset(h, now) },
		func() (time.Duration, bool) { return waitInBody(body, now) },
		func() (time.Duration, bool) { return onlyReset(h, now) },
	} {
		if d, ok := source(); ok && d > 0 {
			return d
		}
	}
	return 0
}

// retryAfter is the longest of the headers of that name: a gateway may put its
// own beside that of the server.
func retryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, name := range []string{"Retry-After", "X-Ratelimit-Retry-After"} {
		for _, v := range h.Values(name) {
			if d, readable := waitUntil(v, now); readable {
				wait, ok = max(wait, d), true
			}
		}
	}
	return wait, ok
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
// budgets of which nothing remains. Every server has names of its own, and they
// have this in common: "ratelimit", then "remaining" beside "reset", with the
// budget's name before or after.
func exhaustedReset(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for name := range h {
		reset, is := resetBeside(name)
		if !is {
			continue
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(h.Get(name)), 64); err != nil || n > 0 {
			continue
		}
		if d, readable := waitUntil(h.Get(reset), now); readable {
			wait, ok = max(wait, d), true
		}
	}
	// The form of the draft standard: "limit=10, remaining=0, reset=7", or
	// `"default";r=0;t=7`.
	for _, v := range h.Values("Ratelimit") {
		for budget := range strings.SplitSeq(v, `"`) {
			m := draftBudget.FindStringSubmatch(budget)
			if m == nil {
				continue
			}
			if d, readable := waitUntil(m[1], now); readable {
				wait, ok = max(wait, d), true
			}
		}
	}
	return wait, ok
}

var draftBudget = regexp.MustCompile(`\b(?:remaining|r)=0\b.*?\b(?:reset|t)=(\d+)`)

// resetBeside returns the name of the header that says when a budget is whole
// again, given the one that says what remains of it.
func resetBeside(remaining string) (reset string, ok bool) {
	lower := strings.ToLower(remaining)
	at := strings.Index(lower, "remaining")
	if at < 0 || !strings.Contains(strings.ReplaceAll(lower, "-", ""), "ratelimit") {
		return "", false
	}
	return http.CanonicalHeaderKey(lower[:at] + "reset" + lower[at+len("remaining"):]), true
}

// onlyReset is the time of the one reset of a server that tells nothing else.
func onlyReset(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for name := range h {
		flat := strings.ReplaceAll(strings.ToLower(name), "-", "")
		switch {
		case !strings.Contains(flat, "ratelimit"):
		case strings.Contains(flat, "remaining"):
			return 0, false
		case strings.HasSuffix(flat, "ratelimitreset"):
			wait, ok = waitUntil(h.Get(name), now)
		}
	}
	return wait, ok
}

// rateNames are the names under which a server tells one limit.
type rateNames struct{ limit, remaining, reset string }

// namesFor makes the names of several servers, in the form in which a Header
// keeps them: they are looked up at every reply.
func namesFor(patterns ...string) (names []rateNames) {
	for _, p := range patterns {
		name := func(what string) string { return http.CanonicalHeaderKey(strings.Replace(p, "%s", what, 1)) }
		names = append(names, rateNames{name("limit"), name("remaining"), name("reset")})
	}
	return names
}

// The names under which servers tell their limits a minute: OpenAI's and its
// many followers', with the minute in the name, Mistral's, and Anthropic's,
// whose own limit of input tokens is the tighter one for a judge where no sum
// is told. A name that stands for another time is not among them.
var (
	requestNames = namesFor("x-ratelimit-%s-requests", "x-ratelimit-%s-requests-minute", "x-ratelimit-%s-req-minute", "anthropic-ratelimit-requests-%s")
	tokenNames   = namesFor("x-ratelimit-%s-tokens", "x-ratelimit-%s-tokens-minute", "anthropic-ratelimit-tokens-%s", "anthropic-ratelimit-input-tokens-%s")
)

// ratesOf reads what the headers say about limits. What is absent or can't be
// read is nil, never 0.
func ratesOf(h http.Header, now time.Time) RateInfo {
	var info RateInfo
	var server time.Time // parsed once it is needed: most servers tell nothing
	for _, kind := range []struct {
		names            []rateNames
		limit, remaining **float64
		reset            **time.Duration
	}{
		{requestNames, &info.LimitRequests, &info.RemainingRequests, &info.ResetRequests},
		{tokenNames, &info.LimitTokens, &info.RemainingTokens, &info.ResetTokens},
	} {
		for _, name := range kind.names {
			if *kind.limit != nil {
				break // what remains of another budget is not what remains of this one
			}
			setNumber(kind.limit, firstValue(h[name.limit]))
			setNumber(kind.remaining, firstValue(h[name.remaining]))
			text := firstValue(h[name.reset])
			if text == "" || *kind.reset != nil {
				continue
			}
			if server.IsZero() {
				server = serverTime(h, now)
			}
			if d, ok := waitUntil(text, server); ok {
				*kind.reset = &d
			}
		}
	}
	return info
}

// firstValue is the first of a header's values.
func firstValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func setNumber(p **float64, text string) {
	if v, ok := plainNumber(text); ok && *p == nil {
		*p = &v
	}
}

func (r RateInfo) empty() bool { return r == RateInfo{} }

// waitUntil reads the ways in which servers tell a wait: seconds, whole or not;
// durations ("1m30.5s", "2d", "6 minutes", "PT1M30S", "00:01:30"); the three
// dates of HTTP and RFC 3339 times; seconds, or parts of them, since 1970. A
// time in the past is no wait. It reports false for whatever else, and for a
// negative wait.
func waitUntil(text string, now time.Time) (time.Duration, bool) {
	text = strings.Trim(strings.TrimSpace(text), `"`)
	if n, ok := plainNumber(text); ok {
		epoch := float64(now.UnixMilli()) / 1000
		switch {
		case n >= 1e17: // nanoseconds since 1970
			return bounded(n/1e9 - epoch), true
		case n >= 1e14: // microseconds
			return bounded(n/1e6 - epoch), true
		case n >= 1e11: // milliseconds
			return bounded(n/1e3 - epoch), true
		case n >= 1e9: // seconds
			return bounded(n - epoch), true
		}
		return bounded(n), true
	}
	if d, ok := duration(text); ok {
		return d, true
	}
	if t, ok := moment(text); ok {
		return bounded(t.Sub(now).Seconds()), true
	}
	return 0, false
}

// moments are the forms of a point in time. One without a zone is meant in
// UTC; a zone of another name than GMT and UTC is not known here.
var moments = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05",
	"Mon, 02 Jan 2006 15:04:05 UTC", time.RFC1123Z,
}

func moment(text string) (time.Time, bool) {
	if t, err := http.ParseTime(text); err == nil {
		return t, true
	}
	for _, form := range moments {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// plainNumber reads a number that is 0 or more and written as people write it.
func plainNumber(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(".eE+", r) }) {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

var (
	clockForm    = regexp.MustCompile(`^(\d+):([0-5]?\d):([0-5]?\d(?:\.\d+)?)$`)
	durationForm = regexp.MustCompile(`(?i)^(?:` + durationPart + `(?:\s*(?:,|and)\s*|\s*))+$`)
	partForm     = regexp.MustCompile(`(?i)` + durationPart)
)

// durationPart is one number with its unit. The longer units come first.
const durationPart = `(\d+(?:\.\d+)?)\s*(milliseconds?|millis|msecs?|ms|microseconds?|us|µs|μs|ns|weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)`

// duration reads Go's durations, also in days and weeks, and those in words or
// of ISO 8601.
func duration(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if m := clockForm.FindStringSubmatch(text); m != nil {
		return bounded(parse(m[1])*3600 + parse(m[2])*60 + parse(m[3])), true
	}
	if iso, ok := strings.CutPrefix(strings.ToUpper(text), "P"); ok {
		days, clock, _ := strings.Cut(iso, "T")
		if strings.ContainsAny(days, "MY") {
			return 0, false // months and years have no fixed length
		}
		text = days + clock
	}
	if !durationForm.MatchString(text) {
		return 0, false
	}
	var sum float64
	for _, m := range partForm.FindAllStringSubmatch(text, -1) {
		sum += parse(m[1]) * unitSeconds(strings.ToLower(m[2]))
	}
	return bounded(sum), true
}

func parse(digits string) float64 {
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return math.MaxFloat64 // the digits are digits: there are too many of them
	}
	return n
}

func unitSeconds(unit string) float64 {
	switch {
	case strings.HasPrefix(unit, "mil"), unit == "ms", strings.HasPrefix(unit, "msec"):
		return 1e-3
	case strings.HasPrefix(unit, "mic"), unit == "us", unit == "µs", unit == "μs":
		return 1e-6
	case unit == "ns":
		return 1e-9
	case strings.HasPrefix(unit, "m"):
		return 60
	case strings.HasPrefix(unit, "h"):
		return 3600
	case strings.HasPrefix(unit, "d"):
		return 86400
	case strings.HasPrefix(unit, "w"):
		return 7 * 86400
	}
	return 1
}

// bounded makes a duration of seconds, to the millisecond, and none of a
// negative number. A wait is never rounded to none.
func bounded(s float64) time.Duration {
	if s >= maxToldWait.Seconds() {
		return maxToldWait
	}
	d := time.Duration(max(s, 0) * float64(time.Second))
	if rounded := d.Round(time.Millisecond); rounded > 0 || d == 0 {
		return rounded
	}
	return time.Millisecond
}
