package llm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

var testNow = time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		body   string
		kind   Kind
		code   string
		wait   time.Duration
	}{
		{"no money as 429", 429, nil, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, Fatal, "insufficient_quota", 0},
		{"402 with a misleading code", 402, nil, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, Fatal, "insufficient_quota", 0},
		{"402 that is a limit a minute", 402, nil, `{"error":{"message":"Credit limit per minute reached, retry in 20s","code":402}}`, RateLimited, "rate_limited", 20 * time.Second},
		{"per minute at Gemini", 429, nil, `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"27.5s"}]}}]`, RateLimited, "rate_limited", 27500 * time.Millisecond},
		{"per day at Gemini", 429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota used. Your quota will reset after 12h34m16s.","details":[{"metadata":{"quota_limit":"ModelRequestsPerDay"}}]}}`, WaitTooLong, "daily_quota", 45256 * time.Second},
		{"per day at Groq", 429, map[string]string{"retry-after": "900"}, `{"error":{"message":"Rate limit reached for model on requests per day (RPD): Limit 1000, Used 1000","type":"requests","code":"rate_limit_exceeded"}}`, WaitTooLong, "daily_quota", 15 * time.Minute},
		{"plain 429", 429, map[string]string{"retry-after-ms": "1500", "retry-after": "2"}, `{"error":{"message":"slow down"}}`, RateLimited, "rate_limited", 1500 * time.Millisecond},
		{"429 without a body", 429, nil, ``, RateLimited, "rate_limited", 0},
		{"429 by header of the empty bucket", 429, map[string]string{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30.5s", "x-ratelimit-remaining-tokens": "41000", "x-ratelimit-reset-tokens": "600s"}, `{"error":{"message":"rate limited","code":"rate_limit_exceeded"}}`, RateLimited, "rate_limited", 90500 * time.Millisecond},
		{"wait in prose", 429, nil, `{"error":{"message":"Rate limit reached. Please try again in 1m2.5s. Visit the site","code":"rate_limit_exceeded"}}`, RateLimited, "rate_limited", 62500 * time.Millisecond},
		{"one request above the limit", 413, nil, `{"error":{"message":"Request too large on tokens per minute (TPM): Limit 12000, Requested 13096","type":"tokens","code":"rate_limit_exceeded"}}`, Row, "request_above_token_limit", 0},
		{"overloaded", 529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, RateLimited, "overloaded", 0},
		{"router's error in a 200", 200, nil, `{"id":"gen-1","error":{"code":429,"message":"Provider returned error","metadata":{"raw":"rate limited upstream"}}}`, RateLimited, "rate_limited", 0},
		{"overflow in a 200", 200, nil, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error"}}`, Row, "context_too_long", 0},
		{"overflow as 500", 500, nil, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"server_error"}}`, Row, "context_too_long", 0},
		{"a page in a 200", 200, map[string]string{"content-type": "text/html"}, `<!doctype html><title>Chat</title>`, Fatal, "not_an_api", 0},
		{"a page in a 503", 503, map[string]string{"content-type": "text/html", "retry-after": "1.5"}, `<html>busy</html>`, Transient, "http_503", 1500 * time.Millisecond},
		{"choices null", 200, nil, `{"id":null,"choices":null}`, Transient, "unreadable_reply", 0},
		{"half a body", 200, nil, `{"choices":[{"mess`, Transient, "unreadable_reply", 0},
		{"wrong key", 401, nil, `{"error":{"message":"Incorrect API key provided: sk-abc***xyz.","code":"invalid_api_key"}}`, Fatal, "invalid_api_key", 0},
		{"wrong key as 400 at Gemini", 400, nil, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, Fatal, "invalid_api_key", 0},
		{"forbidden", 403, nil, `{"error":{"message":"Country not supported"}}`, Fatal, "region_refused", 0},
		{"no permission", 403, nil, `{"error":{"message":"You have no permission for this"}}`, Fatal, "forbidden", 0},
		{"moderation as 403", 403, nil, `{"error":{"code":403,"message":"Input was flagged by moderation"}}`, Row, "content_filter", 0},
		{"Azure's filter", 400, nil, `{"error":{"message":"The response was filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, Row, "content_filter", 0},
		{"a gateway's filter", 400, nil, `{"error":{"message":"BadRequestError: ContentPolicyViolationError: AzureException - prompt triggered content management policy","type":null,"code":"400"}}`, Row, "content_filter", 0},
		{"model gone", 404, nil, `{"error":{"message":"The model 'x' does not exist or you do not have access to it.","code":"model_not_found"}}`, Fatal, "model_not_found", 0},
		{"model gone at Ollama", 404, nil, `{"error":"model 'x' not found, try pulling it first"}`, Fatal, "model_not_found", 0},
		{"model retired", 400, nil, `{"error":{"message":"The model has been decommissioned and is no longer supported.","code":"model_decommissioned"}}`, Fatal, "model_not_found", 0},
		{"deployment", 404, nil, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, Fatal, "deployment_not_found", 0},
		{"model loading", 503, nil, `{"error":{"message":"model is not available yet"}}`, Transient, "http_503", 0},
		{"wrong path", 404, nil, `404 page not found`, Fatal, "not_found", 0},
		{"bad request of vLLM", 400, nil, `{"object":"error","message":"top_k must be non-negative","type":"BadRequestError","code":400}`, Row, "bad_request", 0},
		{"validation of FastAPI", 422, nil, `{"detail":[{"loc":["body"],"msg":"field required","type":"value_error"}]}`, Row, "bad_request", 0},
		{"redirect", 302, map[string]string{"location": "https://login.example"}, ``, Fatal, "redirected", 0},
		{"bad gateway", 502, nil, `upstream`, Transient, "http_502", 0},
		{"Gemini's quota with only a delay", 429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}`, RateLimited, "rate_limited", 34 * time.Second},
		{"requests per min", 429, nil, `{"error":{"message":"Rate limit: 3 requests per min. You exceeded your current quota"}}`, RateLimited, "rate_limited", 0},
		{"free models per day", 429, map[string]string{"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1792567695000"}, `{"error":{"message":"Rate limit exceeded: free-models-per-day","code":429}}`, WaitTooLong, "daily_quota", 15 * time.Second},
		{"a limit as 403", 403, nil, `{"error":{"code":"RateLimitReached","message":"Rate limit reached"}}`, RateLimited, "rate_limited", 0},
		{"a page that says context window", 200, map[string]string{"content-type": "text/html"}, `<html>our context window and safety policy</html>`, Fatal, "not_an_api", 0},
		{"an echo of the sample", 422, nil, `{"detail":[{"loc":["body","messages"],"msg":"field required","input":{"messages":[{"content":"insufficient balance, invalid api key"}]}}]}`, Row, "bad_request", 0},
		{"a temperature out of range", 400, nil, `{"error":{"message":"temperature must be between 0 and 1"}}`, Fatal, "bad_parameter", 0},
		{"infinite wait", 429, map[string]string{"retry-after": "Infinity"}, `slow down`, RateLimited, "rate_limited", 0},
		{"deep nesting", 500, nil, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), Transient, "http_500", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range c.header {
				h.Set(k, v)
			}
			e := classify(c.status, h, []byte(c.body), testNow)
			if e.Kind != c.kind || e.Code != c.code || e.RetryAfter != c.wait {
				t.Errorf("got %v %s wait %v (%s), want %v %s wait %v", e.Kind, e.Code, e.RetryAfter, e.Message, c.kind, c.code, c.wait)
			}
		})
	}
}

func TestLookAlikesAreNoOverflow(t *testing.T) {
	for _, msg := range []string{"max_tokens must be less than or equal to 4096", "Requested max_tokens exceeds the model output limit",
		"Current token count exceeds your organization quota", "temperature exceeds maximum allowed value", "schema is too long"} {
		body := `{"error":{"message":"` + msg + `"}}`
		if e := classify(400, http.Header{}, []byte(body), testNow); e.Code == "context_too_long" {
			t.Errorf("%q passes for a context overflow", msg)
		}
		if c := firstChange(400, body); c != noChange && c != changeCeiling {
			t.Errorf("%q passes for a refused %s", msg, c)
		}
	}
}

// firstChange is the change of form that a refusal is met with first.
func firstChange(status int, body string) change {
	if d := diagnose(status, http.Header{}, []byte(body), testNow); len(d.adapt) > 0 {
		return d.adapt[0]
	}
	return noChange
}

func TestRefusedForm(t *testing.T) {
	for body, want := range map[string]change{
		`{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`:          changeMaxTokens,
		`{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","param":"temperature"}}`:    changeTemperature,
		`{"error":"'response_format.type' must be 'json_schema' or 'text'"}`:                                                                                             changeFormat,
		`{"error":{"message":"'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."}}`:                                  changeJSONWord,
		`{"error":{"code":500,"message":"Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}`:           changeSystem,
		`{"detail":[{"loc":["body","seed"],"msg":"Extra inputs are not permitted","type":"extra_forbidden","input":"seed"}]}`:                                            changeSeed,
		`{"error":{"message":"This model's maximum context length is 8192 tokens, max_tokens must be lower"}}`:                                                           changeRoom,
		`{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role","code":"unsupported_value"}}`: changeSystem,
		`{"error":{"message":"no such thing"}}`:                                                           noChange,
		`{"error":{"message":"temperature must be between 0 and 1"}}`:                                     noChange,
		`{"detail":[{"loc":["body"],"msg":"unexpected value","input":"the temperature of the grammar"}]}`: noChange,
	} {
		if got := firstChange(400, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	if got := firstChange(429, `{"error":"max_tokens unsupported"}`); got != noChange {
		t.Errorf("a 429 is met by another form: %q", got)
	}
}

func TestWaitUntil(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"6m0s": 6 * time.Minute, "17ms": 17 * time.Millisecond, "30": 30 * time.Second, "1.5": 1500 * time.Millisecond, "2d": 48 * time.Hour, "1d2h": 26 * time.Hour,
		"2026-10-21T07:28:45Z": 45 * time.Second, "1792567695": 15 * time.Second, "1792567695000": 15 * time.Second, "0": 0,
		"Wed, 21 Oct 2026 07:28:30 GMT": 30 * time.Second, "Wed, 21 Oct 2020 07:28:30 GMT": 0, "99999999": maxToldWait,
	} {
		if got, ok := waitUntil(text, testNow); !ok || got != want {
			t.Errorf("%q: %v %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "-5", "NaN", "-3s", "d", "Inf s"} {
		if got, ok := waitUntil(text, testNow); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// A date is meant by the server's own clock, whatever ours says.
func TestWaitByTheServersClock(t *testing.T) {
	h := http.Header{}
	h.Set("Date", "Wed, 21 Oct 2026 07:28:00 GMT")
	h.Set("Retry-After", "Wed, 21 Oct 2026 07:28:20 GMT")
	for _, now := range []time.Time{testNow, testNow.AddDate(-6, 0, 0), testNow.AddDate(6, 0, 0)} {
		if got := toldWait(h, nil, now); got != 20*time.Second {
			t.Errorf("at %v: %v", now, got)
		}
	}
}

func TestRatesOf(t *testing.T) {
	h := http.Header{}
	h.Set("x-ratelimit-limit-requests", "500")
	h.Set("x-ratelimit-remaining-requests", "0")
	h.Set("x-ratelimit-reset-requests", "120ms")
	h.Set("anthropic-ratelimit-tokens-limit", "80000")
	h.Set("anthropic-ratelimit-tokens-reset", "2026-10-21T07:28:30Z")
	h.Set("x-ratelimit-remaining-tokens", "many")
	got := ratesOf(h, testNow)
	if got.LimitRequests == nil || *got.LimitRequests != 500 || got.RemainingRequests == nil || *got.RemainingRequests != 0 || *got.ResetRequests != 120*time.Millisecond {
		t.Errorf("requests: %+v", got)
	}
	if got.LimitTokens == nil || *got.LimitTokens != 80000 || *got.ResetTokens != 30*time.Second || got.RemainingTokens != nil {
		t.Errorf("tokens: %+v", got)
	}
	if !ratesOf(http.Header{}, testNow).empty() {
		t.Error("nothing told is something")
	}
}

func TestUsageDialects(t *testing.T) {
	for body, want := range map[string]Usage{
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`: {PromptTokens: 10, CompletionTokens: 5},
		`{"prompt_tokens":"812","completion_tokens":"7"}`:              {PromptTokens: 812, CompletionTokens: 7},
		`{"prompt_tokens":"812","completion_tokens":null}`:             {PromptTokens: 812, Unknown: 1},
		`null`: {Unknown: 1},
		`{"prompt_tokens":100,"completion_tokens":80,"total_tokens":180,"completion_tokens_details":{"reasoning_tokens":60},"prompt_tokens_details":null}`: {PromptTokens: 100, CompletionTokens: 80, ReasoningTokens: 60},
		`{"prompt_tokens":6,"completion_tokens":0,"total_tokens":22}`:                                                                                      {PromptTokens: 6, CompletionTokens: 16, ReasoningTokens: 16},
		`{"prompt_tokens":2006,"completion_tokens":300,"prompt_tokens_details":{"cached_tokens":1920}}`:                                                    {PromptTokens: 2006, CompletionTokens: 300, CachedTokens: 1920},
		`{"prompt_tokens":50,"completion_tokens":3,"prompt_cache_hit_tokens":40}`:                                                                          {PromptTokens: 50, CompletionTokens: 3, CachedTokens: 40},
		// The tokens of the provider's prompt cache beside the prompt's, in both names.
		`{"input_tokens":10,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":4}`:                          {PromptTokens: 105, CompletionTokens: 4, CachedTokens: 90, CacheWriteTokens: 5},
		`{"prompt_tokens":10,"completion_tokens":4,"total_tokens":109,"cache_read_input_tokens":90,"cache_creation_input_tokens":5}`:  {PromptTokens: 105, CompletionTokens: 4, CachedTokens: 90, CacheWriteTokens: 5},
		`{"prompt_tokens":105,"completion_tokens":4,"total_tokens":109,"cache_read_input_tokens":90,"cache_creation_input_tokens":5}`: {PromptTokens: 105, CompletionTokens: 4, CachedTokens: 90, CacheWriteTokens: 5},
		`{"prompt_tokens":10,"completion_tokens":4,"total_tokens":104,"prompt_tokens_details":{"cached_tokens":90}}`:                  {PromptTokens: 100, CompletionTokens: 4, CachedTokens: 90},
		`{"prompt_tokens":10,"completion_tokens":4,"cache_read_input_tokens":90}`:                                                     {PromptTokens: 100, CompletionTokens: 4, CachedTokens: 90},
		`{"input_tokens":5,"output_tokens":4}`:       {PromptTokens: 5, CompletionTokens: 4},
		`{"prompt_tokens":-5,"completion_tokens":4}`: {CompletionTokens: 4, Unknown: 1},
	} {
		if got := usageOf(json.RawMessage(body)); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}
