package llm

import (
	"net/http"
	"testing"
	"time"
)

// TestBodyThatStartsWithANumber: the first word of a text is no JSON body.
func TestBodyThatStartsWithANumber(t *testing.T) {
	for body, want := range map[string]string{
		"429 Resource exhausted, quota exceeded for requests per minute": "rate_limited",
		"400: This model's maximum context length is 4096 tokens":        "context_too_long",
		"401\nIncorrect API key provided":                                "invalid_api_key",
		"true story: insufficient credits":                               "insufficient_quota",
	} {
		status := http.StatusTooManyRequests
		if want != "rate_limited" {
			status = http.StatusBadRequest
		}
		if got := classify(status, http.Header{}, []byte(body), time.Now()); got.Code != want || got.Message == "" {
			t.Errorf("%q: %s %q, want %s", body, got.Code, got.Message, want)
		}
	}
}
