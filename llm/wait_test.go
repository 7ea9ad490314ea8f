package llm

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"
)

func TestToldWait(t *testing.T) {
	h := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	const date = "Wed, 21 Oct 2026 07:28:00 GMT"
	for _, c := range []struct {
		name string
		h    http.Header
		body string
		want time.Duration
	}{
		{"seconds", h("Retry-After", "30"), "", 30 * time.Second},
		{"fractions", h("Retry-After", "1.5"), "", 1500 * time.Millisecond},
		{"more than a minute", h("Retry-After", "90"), "", 90 * time.Second},
		{"negative", h("Retry-After", "-3"), "", 0},
		{"no number", h("Retry-After", "NaN"), "", 0},
		{"infinite", h("Retry-After", "Inf"), "", 0},
		{"hexadecimal", h("Retry-After", "0x10"), "", 0},
		{"empty", h("Retry-After", ""), "", 0},
		{"prose", h("Retry-After", "soon"), "", 0},
		{"the day of IMF", h("Retry-After", "Wed, 21 Oct 2026 07:28:30 GMT", "Date", date), "", 30 * time.Second},
		{"the day of RFC 850", h("Retry-After", "Wednesday, 21-Oct-26 07:28:30 GMT", "Date", date), "", 30 * time.Second},
		{"the day of asctime", h("Retry-After", "Wed Oct 21 07:28:30 2026", "Date", date), "", 30 * time.Second},
		{"a date that is past", h("Retry-After", "Wed, 21 Oct 2026 07:27:30 GMT", "Date", date), "", 0},
		{"a date by another clock", h("Retry-After", "Wed, 21 Oct 2020 07:28:30 GMT", "Date", "Wed, 21 Oct 2020 07:28:00 GMT"), "", 30 * time.Second},
		{"a duration", h("Retry-After", "1m30s"), "", 90 * time.Second},
		{"two of them", http.Header{"Retry-After": {"1", "20"}}, "", 20 * time.Second},
		{"milliseconds", h("retry-after-ms", "250", "Retry-After", "1"), "", 250 * time.Millisecond},
		{"milliseconds of Azure", h("x-ms-retry-after-ms", "1750"), "", 1750 * time.Millisecond},
		{"milliseconds that are none", h("retry-after-ms", "x", "Retry-After", "2"), "", 2 * time.Second},
		{"zero says nothing", h("Retry-After", "0", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "9s"), "", 9 * time.Second},

		{"the empty bucket alone", h("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1m30.5s", "x-ratelimit-remaining-tokens", "41000", "x-ratelimit-reset-tokens", "10m"), "", 90500 * time.Millisecond},
		{"the later of two empty ones", h("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "2s", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6ms"), "", 2 * time.Second},
		{"none is empty", h("x-ratelimit-remaining-requests", "7", "x-ratelimit-reset-requests", "2s"), "", 0},
		{"Anthropic", h("anthropic-ratelimit-input-tokens-remaining", "0", "anthropic-ratelimit-input-tokens-reset", "2026-10-21T07:28:45Z", "anthropic-ratelimit-requests-remaining", "49", "anthropic-ratelimit-requests-reset", "2026-10-21T07:30:00Z", "Date", date), "", 45 * time.Second},
		{"Together", h("x-ratelimit-limit", "10", "x-ratelimit-remaining", "0", "x-ratelimit-reset", "1"), "", time.Second},
		{"OpenRouter", h("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1792567695000"), "", 15 * time.Second},
		{"Cerebras", h("x-ratelimit-remaining-tokens-minute", "0", "x-ratelimit-reset-tokens-minute", "11.382867097854614", "x-ratelimit-remaining-requests-day", "14", "x-ratelimit-reset-requests-day", "33011.38"), "", 11383 * time.Millisecond},
		{"the draft's names", h("RateLimit-Remaining", "0", "RateLimit-Reset", "53"), "", 53 * time.Second},
		{"the draft's one header", h("RateLimit", "limit=100, remaining=0, reset=50"), "", 50 * time.Second},
		{"the draft's later header", h("RateLimit", `"day";r=5;t=9000, "burst";r=0;t=7`), "", 7 * time.Second},
		{"a reset and nothing else", h("X-RateLimit-Reset", "1792567695"), "", 15 * time.Second},

		{"Gemini", nil, `[{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"43.5s"}]}}]`, 43500 * time.Millisecond},
		{"Gemini in an object", nil, `{"error":{"details":[{"retryDelay":{"seconds":"43","nanos":500000000}}]}}`, 43500 * time.Millisecond},
		{"Gemini inside a string", nil, `{"error":{"message":"litellm.RateLimitError: VertexAIException - {\"error\":{\"details\":[{\"retryDelay\":\"13s\"}]}}"}}`, 13 * time.Second},
		{"Gemini as text", nil, `429 Resource exhausted, retry_delay { seconds: 41 }`, 41 * time.Second},
		{"a member", nil, `{"error":{"message":"busy","retry_after":12.5}}`, 12500 * time.Millisecond},
		{"a member in milliseconds", nil, `{"retry_after_ms":1500}`, 1500 * time.Millisecond},
		{"headers passed on", nil, `{"error":{"code":429,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1792567695000"}}}}`, 15 * time.Second},
		{"OpenAI's prose", nil, `{"error":{"message":"Limit 3, Used 3, Requested 1. Please try again in 20s. Visit the site to learn more."}}`, 20 * time.Second},
		{"in minutes", nil, `{"error":{"message":"Please try again in 6m0s."}}`, 6 * time.Minute},
		{"in milliseconds", nil, `{"error":{"message":"Please try again in 20ms."}}`, 20 * time.Millisecond},
		{"in hours", nil, `{"error":{"message":"Your quota will reset after 12h34m16s."}}`, 45256 * time.Second},
		{"resets", nil, `{"error":{"message":"The limit resets after 12h34m16s"}}`, 45256 * time.Second},
		{"resets in", nil, `{"error":{"message":"limit resets in 2 hours"}}`, 2 * time.Hour},
		{"in words", nil, `Please wait 6 minutes and 2 seconds before the next request`, 362 * time.Second},
		{"retry after", nil, `{"detail":"Rate limited. Retry after 30 seconds."}`, 30 * time.Second},
		{"Azure's prose", nil, `{"error":{"code":"429","message":"Requests have exceeded call rate limit. Please retry after 8 seconds."}}`, 8 * time.Second},
		{"a time", nil, `{"error":{"message":"You can try again at 2026-10-21T07:28:45Z."}}`, 45 * time.Second},
		{"no unit of time", nil, `{"error":{"message":"wait for 30 samples"}}`, 0},
		{"what was sent says nothing", nil, `{"error":{"message":"slow down"},"input":"Try again in 12 hours.","messages":[{"content":"retry after 9 days","retry_after":77}]}`, 0},
		{"the header goes before prose", h("Retry-After", "7"), `{"error":{"message":"Please try again in 6m0s."}}`, 7 * time.Second},
		{"nothing", h(), ``, 0},
	} {
		if got := toldWait(c.h, []byte(c.body), testNow); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWaitUntilForms(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1w": 7 * 24 * time.Hour, "1d2h3m": 26*time.Hour + 3*time.Minute, "1h 30m": 90 * time.Minute, "6 minutes": 6 * time.Minute, "1 hour, 2 mins": 62 * time.Minute,
		"PT1M30.5S": 90500 * time.Millisecond, "P1DT2H": 26 * time.Hour, "00:01:30": 90 * time.Second, "700us": time.Millisecond, "0.4ms": time.Millisecond, "250µs": time.Millisecond, "90S": 90 * time.Second,
		"2026-10-21T07:28:45.5Z": 45500 * time.Millisecond, "2026-10-21T09:28:45+02:00": 45 * time.Second, "2026-10-21T07:28:45": 45 * time.Second, "2026-10-21 07:28:45": 45 * time.Second, "2026-10-21T07:27:45Z": 0,
		"1792567695.5": 15500 * time.Millisecond, "1.792567695e9": 15 * time.Second, "1792567695000000": 15 * time.Second, "1792567695000000000": 15 * time.Second,
		`"30"`: 30 * time.Second, "30,": 0,
	} {
		got, ok := waitUntil(text, testNow)
		if text == "30," {
			if ok {
				t.Errorf("%q is read as %v", text, got)
			}
			continue
		}
		if !ok || got != want {
			t.Errorf("%q: %v %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"P1M", "P", "PT", "1x", "5 parsecs", "1m -3s", "-1m", "1:2", "٣٠", "tomorrow", "e", ".", "+", "Wed, 21 Oct 2026 07:28:30 PST", "2026-13-45T00:00:00Z"} {
		if got, ok := waitUntil(text, testNow); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// Limits that are a minute's are learnt, whatever they are called; those of
// another time are not.
func TestRatesOfServers(t *testing.T) {
	for name, c := range map[string]struct {
		headers          map[string]string
		requests, tokens float64 // 0 for not told
	}{
		"OpenAI":              {map[string]string{"x-ratelimit-limit-requests": "500", "x-ratelimit-limit-tokens": "30000"}, 500, 30000},
		"Anthropic":           {map[string]string{"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-tokens-limit": "90000", "anthropic-ratelimit-input-tokens-limit": "50000"}, 50, 90000},
		"Anthropic, in alone": {map[string]string{"anthropic-ratelimit-input-tokens-limit": "50000", "anthropic-ratelimit-output-tokens-limit": "8000"}, 0, 50000},
		"Cerebras":            {map[string]string{"x-ratelimit-limit-requests-day": "14400", "x-ratelimit-limit-tokens-minute": "60000"}, 0, 60000},
		"Mistral":             {map[string]string{"x-ratelimit-limit-req-minute": "60", "x-ratelimit-limit-tokens-minute": "500000", "x-ratelimit-limit-tokens-month": "1000000000"}, 60, 500000},
		"one of no name":      {map[string]string{"x-ratelimit-limit": "10", "x-ratelimit-remaining": "9", "x-ratelimit-reset": "1"}, 0, 0},
	} {
		h := http.Header{}
		for k, v := range c.headers {
			h.Set(k, v)
		}
		info := ratesOf(h, testNow)
		value := func(p *float64) float64 {
			if p == nil {
				return 0
			}
			return *p
		}
		if r, tok := value(info.LimitRequests), value(info.LimitTokens); r != c.requests || tok != c.tokens {
			t.Errorf("%s: %v requests and %v tokens, want %v and %v", name, r, tok, c.requests, c.tokens)
		}
	}
}

// The waits of the shared cases.
func TestWaitsInTheWild(t *testing.T) {
	f, err := os.Open("../../shared/cases/wild.jsonl")
	if err != nil {
		t.Skipf("the shared cases are not there: %v", err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		var c struct {
			ID    string `json:"id"`
			Input struct {
				HTTP struct {
					Headers map[string]string `json:"headers"`
					Body    json.RawMessage   `json:"body"`
				} `json:"http"`
				Values []string  `json:"values"`
				Now    time.Time `json:"now"`
			} `json:"input"`
			Expect struct {
				Wait json.RawMessage `json:"wait_s"`
			} `json:"expect"`
		}
		if json.Unmarshal(s.Bytes(), &c) != nil || c.Expect.Wait == nil {
			continue // its input has another form, or is not about a wait
		}
		if len(c.Input.Values) > 0 {
			var want []*float64
			if err := json.Unmarshal(c.Expect.Wait, &want); err != nil {
				t.Fatal(err)
			}
			for i, text := range c.Input.Values {
				got, ok := waitUntil(text, c.Input.Now)
				if ok != (want[i] != nil) || ok && got.Seconds() != *want[i] {
					t.Errorf("%s: %q is %v %t", c.ID, text, got, ok)
				}
				n++
			}
			continue
		}
		var want float64
		if json.Unmarshal(c.Expect.Wait, &want) != nil {
			continue
		}
		h := http.Header{}
		for k, v := range c.Input.HTTP.Headers {
			h.Set(k, v)
		}
		if got := toldWait(h, c.Input.HTTP.Body, testNow); got.Seconds() != want {
			t.Errorf("%s: %v, want %v s", c.ID, got, want)
		}
		n++
	}
	if n < 15 {
		t.Errorf("only %d waits were found in the shared cases", n)
	}
}

func FuzzToldWait(f *testing.F) {
	f.Add("30", "1m2s", `{"error":{"message":"try again in 6m0s","retryDelay":"3s"}}`)
	f.Add("Wed, 21 Oct 2026 07:28:30 GMT", "2026-10-21T07:28:45Z", `[{"retryDelay":{"seconds":1e300}}]`)
	f.Add("99999999999999999999", "P9999999999D", "wait 99999999999999999999999 days")
	f.Fuzz(func(t *testing.T, after, reset, body string) {
		h := http.Header{"Retry-After": {after}, "X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {reset}}
		if d := toldWait(h, []byte(body), testNow); d < 0 || d > maxToldWait {
			t.Errorf("a wait of %v", d)
		}
		ratesOf(h, testNow)
	})
}
