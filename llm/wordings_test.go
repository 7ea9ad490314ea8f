package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// openAIError is an error object with only a message.
func openAIError(message string) string {
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": nil}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// diagnosed wraps a body in the ways in which it reaches us: as it is, passed on
// by a router and by a gateway, and with a status that says less.
func diagnosed(t *testing.T, status int, body string, check func(t *testing.T, d diagnosis)) {
	t.Helper()
	quoted, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		name   string
		status int
		body   string
	}{
		{"as it is", status, body},
		{"in a list", status, "[" + body + "]"},
		{"a router's raw text", status, fmt.Sprintf(`{"error":{"message":"Provider returned error","code":%d,"metadata":{"provider_name":"X","raw":%s}}}`, status, quoted)},
		{"a router's 200", 200, fmt.Sprintf(`{"id":"gen-1","error":{"message":"Provider returned error","code":%d,"metadata":{"raw":%s}}}`, status, quoted)},
		{"in a message", status, fmt.Sprintf(`{"error":{"message":%s,"type":null,"code":"%d"}}`, mustQuote("litellm.APIError: OpenAIException - "+body), status)},
		{"in the text of another error", 500, fmt.Sprintf(`{"error":{"message":%s}}`, mustQuote(fmt.Sprintf("Error code: %d - %s", status, body)))},
		{"FastAPI's detail", status, `{"detail":` + string(quoted) + `}`},
		{"with a mark of byte order", status, "\ufeff\n" + body},
	} {
		d := diagnose(w.status, http.Header{}, []byte(w.body), testNow)
		t.Run(w.name, func(t *testing.T) { check(t, d) })
	}
}

func mustQuote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func wants(kind Kind, code string) func(t *testing.T, d diagnosis) {
	return func(t *testing.T, d diagnosis) {
		t.Helper()
		if d.err.Kind != kind || d.err.Code != code {
			t.Errorf("%v %s (%s), want %v %s", d.err.Kind, d.err.Code, d.err.Message, kind, code)
		}
	}
}

// The ways to say that a prompt is too long, of servers and their versions.
var overflowWordings = []string{
	"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
	"Your input exceeds the context window of this model. Please adjust your input and try again.",
	"prompt is too long: 210000 tokens > 200000 maximum",
	"input length and `max_tokens` exceed context limit: 199990 + 2048 > 200000, decrease input length or `max_tokens` and try again",
	"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
	"Unable to submit request because the input token count is 40000 but the model only supports up to 32768.",
	"Input is too long for requested model.",
	"Malformed input request: expected maxLength: 51200, actual: 60000, please reformat your input and try again.",
	"Please reduce the length of the messages or completion.",
	"Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
	"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
	"Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
	"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
	"The prompt (total length 5000) is too long to fit into the model (context length 4096).",
	"You passed 5000 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens.",
	"The input (5000 tokens) is longer than the model's context length (4096 tokens).",
	"request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
	"input is too large to process. increase the physical batch size",
	"the input length exceeds the context length",
	"prompt too long; exceeded max context length by 1234 tokens",
	"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
	"Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)",
	"Range of input length should be [1, 30720]",
	"Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
	"invalid params, context window exceeds limit (2013)",
	"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
	"Request body too large for gpt-4o model. Max size: 8000 tokens.",
	"The prompt is too long: 5000, model maximum context length: 4096",
	"Prompt exceeds max length",
	"prompt token count of 130000 exceeds the limit of 128000",
	"the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
	"Input length 5000 exceeds maximum allowed token size 4096",
	"Conversation is too long for this model",
	"Requested tokens (5000) exceed context window of 4096",
	"The requested tokens exceeds the context size (n_ctx)",
	"Prompt 超长",
	"context shift is disabled",
	"The total number of tokens exceeds the model's context window",
}

func TestTooLongInManyWords(t *testing.T) {
	for _, message := range overflowWordings {
		for _, status := range []int{400, 422, 500} {
			t.Run(fmt.Sprint(status, " ", message), func(t *testing.T) {
				diagnosed(t, status, openAIError(message), wants(Row, "context_too_long"))
			})
		}
	}
}

// What sounds like it and is something else.
func TestSoundsLikeTooLong(t *testing.T) {
	for message, status := range map[string]int{
		"max_tokens must be less than or equal to 4096": 400, "Requested max_tokens exceeds the model output limit": 400,
		"Current token count exceeds your organization quota": 429, "temperature exceeds maximum allowed value": 400, "schema is too long": 400,
		"context deadline exceeded": 500, "context canceled": 500, "request URI too long": 414, "request header too large": 431,
		"max_tokens is too large: 100000. This model supports at most 16384 completion tokens.":                                   400,
		"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.": 429,
		"Invalid 'tools[0].name': string too long. Expected a string with maximum length 64":                                      400, "metadata value is too long": 400, "the stop sequence is too long": 400,
		"Number of concurrent requests exceeds the limit": 429, "The number of input tokens per minute exceeds your organization's rate limit of 40,000 input tokens": 429,
		"user name is too long": 400, "upstream response too large": 502, "response time exceeds limit": 504,
	} {
		t.Run(message, func(t *testing.T) {
			diagnosed(t, status, openAIError(message), func(t *testing.T, d diagnosis) {
				if d.err.Code == "context_too_long" {
					t.Errorf("it passes for a context overflow")
				}
			})
		})
	}
}

// The meanings of 429, and of statuses that say one thing and mean another.
func TestLimitsInManyWords(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   Kind
		code   string
	}{
		// Out of money.
		{429, `{"error":{"message":"Your account has no remaining credit for this month.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, Fatal, "insufficient_quota"},
		{429, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}`, Fatal, "insufficient_quota"},
		{400, `{"error":{"message":"Billing hard limit has been reached","type":"billing_limit_user_error"}}`, Fatal, "insufficient_quota"},
		{429, `{"error":{"message":"Your account is not active, please check your billing details on our website.","type":"billing_not_active","code":"billing_not_active"}}`, Fatal, "insufficient_quota"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, Fatal, "insufficient_quota"},
		{429, `{"error":{"message":"Your account org-x is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}`, Fatal, "insufficient_quota"},
		{402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 2048 tokens, but can only afford 1200.","code":402}}`, Fatal, "insufficient_quota"},
		{403, `{"error":{"message":"Key limit exceeded (total limit). Manage it using https://x/keys","code":403}}`, Fatal, "insufficient_quota"},
		{400, `{"error":{"message":"Budget has been exceeded! Current cost: 10.1, Max budget: 10.0","type":"budget_exceeded","code":"400"}}`, Fatal, "insufficient_quota"},
		{400, `{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}`, Fatal, "insufficient_quota"},
		{429, `{"error":{"code":"1113","message":"您的账户余额不足"}}`, Fatal, "insufficient_quota"},
		{402, `{"error":"You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get more."}`, Fatal, "insufficient_quota"},
		// A minute's limits, also where they speak of credit or quota.
		{429, `{"error":{"message":"Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.","type":"requests","code":"rate_limit_exceeded"}}`, RateLimited, "rate_limited"},
		{429, `{"error":{"message":"Rate limit reached on tokens per min (TPM): Limit 30000, Used 29500, Requested 1200.","type":"tokens","code":"rate_limit_exceeded"}}`, RateLimited, "rate_limited"},
		{402, `{"error":{"message":"Credit limit exceeded: new accounts may spend $0.10 per minute, retry in 20s","type":"credit_limit"}}`, RateLimited, "rate_limited"},
		{429, `{"error":{"message":"You exceeded your current quota (60 requests/minute).","type":"insufficient_quota","code":"insufficient_quota"}}`, RateLimited, "rate_limited"},
		{429, `{"message":"You are using a Trial key, which is limited to 10 API calls / minute."}`, RateLimited, "rate_limited"},
		{429, `{"error":{"message":"You have reached the rate limit specific to this model. The maximum rate limit is 6.0 queries and 96000 tokens per minute.","type":"model_rate_limit"}}`, RateLimited, "rate_limited"},
		{429, `{"error":{"message":"Quota exceeded for quota metric 'Generate Content API requests per minute'","status":"RESOURCE_EXHAUSTED"}}`, RateLimited, "rate_limited"},
		{403, `{"error":{"message":"Rate limit exceeded: 60 requests per minute"}}`, RateLimited, "rate_limited"},
		{503, `{"error":{"message":"Rate limit exceeded, too many requests"}}`, RateLimited, "rate_limited"},
		{429, `{"error":{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit."}}`, RateLimited, "rate_limited"},
		// A day's, or a month's.
		{429, `{"error":{"message":"Rate limit reached on tokens per day (TPD): Limit 100000, Used 99000, Requested 2000. Please try again in 14m24s.","type":"tokens","code":"rate_limit_exceeded"}}`, WaitTooLong, "daily_quota"},
		{429, `{"error":{"message":"Rate limit exceeded: free-models-per-day-high-balance","code":429}}`, WaitTooLong, "daily_quota"},
		{403, `{"error":{"message":"Daily quota exceeded"}}`, WaitTooLong, "daily_quota"},
		{429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota.","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}]}}`, WaitTooLong, "daily_quota"},
		{429, `{"message":"You are using a Trial key, which is limited to 1000 API calls / month."}`, WaitTooLong, "usage_limit"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-11-01 at 00:00 UTC."}}`, WaitTooLong, "usage_limit"},
		// One request above the whole limit.
		{429, `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`, Row, "request_above_token_limit"},
		{413, `{"error":{"message":"Request too large on tokens per minute (TPM): Limit 12000, Requested 13096, please reduce your message size.","type":"tokens","code":"rate_limit_exceeded"}}`, Row, "request_above_token_limit"},
		{429, `{"error":{"message":"Rate limit on tokens per minute: Limit: 10,000, Requested: 12,500.","code":"rate_limit_exceeded"}}`, Row, "request_above_token_limit"},
		// Somebody else's load.
		{429, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}`, RateLimited, "overloaded"},
		{429, `{"error":{"message":"meta/x is temporarily rate-limited upstream. Please retry shortly.","code":429}}`, RateLimited, "overloaded"},
		{503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, RateLimited, "overloaded"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, RateLimited, "overloaded"},
		{500, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, RateLimited, "overloaded"},
		// Too many at once.
		{429, `{"error":{"message":"Too many concurrent requests for this model","code":"concurrency_limit_exceeded"}}`, RateLimited, "concurrency_limit"},
		{429, `{"error":{"message":"Max parallel request limit reached for key","type":"None","code":"429"}}`, RateLimited, "concurrency_limit"},
		// And what says none of it.
		{429, `{"error":{"message":"slow down"}}`, RateLimited, "rate_limited"},
	} {
		t.Run(c.body, func(t *testing.T) { diagnosed(t, c.status, c.body, wants(c.kind, c.code)) })
	}
}

// What is refused for the sample's words, for the asker, or for the model.
func TestRefusalsInManyWords(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   Kind
		code   string
	}{
		{400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true}}}}}`, Row, "content_filter"},
		{400, `{"error":{"message":"Input data may contain inappropriate content.","code":"data_inspection_failed"}}`, Row, "content_filter"},
		{400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","code":"invalid_request_error"}}`, Row, "content_filter"},
		{400, `{"error":{"message":"The request was rejected because it was considered high risk","type":"content_filter"}}`, Row, "content_filter"},
		{400, `{"error":{"message":"Your request was rejected as a result of our safety system.","code":"content_policy_violation"}}`, Row, "content_filter"},
		{400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","code":"invalid_prompt"}}`, Row, "content_filter"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, Row, "content_filter"},
		{403, `{"error":"Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}`, Row, "content_filter"},
		{403, `{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged for \"violence\"","metadata":{"reasons":["violence"]}}}`, Row, "content_filter"},
		{404, `{"error":{"message":"The model 'gpt-4-0314' has been deprecated, learn more here","type":"invalid_request_error","code":"model_not_found"}}`, Fatal, "model_not_found"},
		{410, `{"error":{"message":"gone"}}`, Fatal, "model_not_found"},
		{400, `{"error":{"message":"The model llama3-70b-8192 has been decommissioned and is no longer supported.","code":"model_decommissioned"}}`, Fatal, "model_not_found"},
		{400, `{"error":{"message":"Invalid model name passed in model=judge. Call /v1/models to view available models."}}`, Fatal, "model_not_found"},
		{400, `{"error":{"message":"x/y is not a valid model ID","code":400}}`, Fatal, "model_not_found"},
		{404, `{"error":{"message":"No endpoints found for x/y.","code":404}}`, Fatal, "model_not_found"},
		{400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}`, Fatal, "model_not_found"},
		{404, `{"error":{"message":"Model not found, inaccessible, and/or not deployed","code":"NOT_FOUND"}}`, Fatal, "model_not_found"},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-2 not found"}}`, Fatal, "model_not_found"},
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."}}`, Fatal, "deployment_not_found"},
		{403, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}`, Fatal, "region_refused"},
		{400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, Fatal, "region_refused"},
		{404, `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error","param":"model"}}`, Fatal, "not_a_chat_model"},
		{400, `{"error":{"message":"This is not a chat model and thus not supported in the v1/chat/completions endpoint."}}`, Fatal, "not_a_chat_model"},
		{400, `{"error":{"message":"The API key doesn't exist","code":"AuthenticationError"}}`, Fatal, "invalid_api_key"},
		{401, `{"error":{"message":"No auth credentials found","code":401}}`, Fatal, "invalid_api_key"},
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, Fatal, "invalid_api_key"},
		{400, `{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}`, Fatal, "invalid_api_key"},
		{500, `{"error":{"message":"litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided"}}`, Fatal, "invalid_api_key"},
	} {
		t.Run(c.body, func(t *testing.T) { diagnosed(t, c.status, c.body, wants(c.kind, c.code)) })
	}
}

// A 500 that the same request meets each time is not tried again; one that
// passes is.
func TestStatus500(t *testing.T) {
	for message, kind := range map[string]Kind{
		"Jinja Exception: undefined value": Row, "Error rendering the chat template": Row, "Failed to parse grammar": Row, "Invalid JSON schema: unsupported keyword": Row,
		"JSON schema conversion failed: unrecognized schema": Row, "1 validation error for ChatCompletionRequest": Row,
		"this model's maximum context length is 4096 tokens":                       Row,
		"The server had an error while processing your request. Sorry about that!": Transient, "CUDA out of memory": Transient, "upstream connect error": Transient, "Internal server error": Transient,
		"model is not available yet": Transient, "Loading model": Transient, "context deadline exceeded": Transient,
	} {
		body := `{"error":{"message":` + mustQuote(message) + `,"type":"server_error","code":500}}`
		if d := diagnose(500, http.Header{}, []byte(body), testNow); d.err.Kind != kind {
			t.Errorf("%s: %v %s, want %v", message, d.err.Kind, d.err.Code, kind)
		}
	}
	for body, want := range map[string]Kind{`{"detail":"Internal Server Error"}`: Transient, `Internal Server Error`: Transient, ``: Transient,
		`<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>`:       Transient,
		`<Error><Code>InvalidArgument</Code><Message>maximum context length is 4096 tokens</Message></Error>`: Row} {
		if d := diagnose(500, http.Header{}, []byte(body), testNow); d.err.Kind != want {
			t.Errorf("%s: %v %s, want %v", body, d.err.Kind, d.err.Code, want)
		}
	}
}

// The ways to refuse a part of the form.
func TestRefusedPartsInManyWords(t *testing.T) {
	for message, want := range map[string]change{
		"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.":                     changeFormat,
		"This response_format type is unavailable now":                                                                     changeFormat,
		"json_schema is not supported by this model":                                                                       changeFormat,
		"unknown variant `json_schema`, expected `text` or `json_object`":                                                  changeFormat,
		"response_format.type: Input should be 'text' or 'json_object'":                                                    changeFormat,
		"value is not a valid enumeration member; permitted: 'text', 'json_object' (response_format)":                      changeFormat,
		"Invalid value: 'json_schema'. Supported values are: 'text' and 'json_object'.":                                    changeFormat,
		"JSON mode is not enabled for models/gemma-3":                                                                      changeFormat,
		"Structured outputs are not supported for this model":                                                              changeFormat,
		"Unrecognized request argument supplied: response_format":                                                          changeFormat,
		"Additional properties are not allowed ('response_format' was unexpected)":                                         changeFormat,
		"create() got an unexpected keyword argument 'response_format'":                                                    changeFormat,
		"Invalid schema for response_format 'verdicts': 'additionalProperties' is required to be supplied and to be false": changeFormat,
		"Unknown name \"additionalProperties\" at 'generation_config.response_schema': Cannot find field.":                 changeFormat,
		"The specified schema produces a constraint that has too many states for serving.":                                 changeFormat,
		"Failed to initialize samplers: failed to parse grammar":                                                           changeFormat,
		"guided decoding is not supported with this backend":                                                               changeFormat,
		"'response_format.type' must be 'json_schema' or 'text'":                                                           changeFormat,
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.":       changeMaxTokens,
		"Unrecognized request argument supplied: max_completion_tokens":                                                    changeMaxTokens,
		"max_tokens: Field required":                                                                                       changeMaxTokens,
		"property 'max_completion_tokens' is unsupported":                                                                  changeMaxTokens,
		"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.":    changeTemperature,
		"`temperature` may only be set to 1 when thinking is enabled, other values are not supported":                      changeTemperature,
		"invalid temperature: only 1 is allowed for this model":                                                            changeTemperature,
		"`temperature` is deprecated for this model.":                                                                      changeTemperature,
		"`temperature` and `top_p` cannot both be specified for this model.":                                               changeTopP,
		"property 'seed' is unsupported":                                                                                   changeSeed,
		"Unknown parameter: 'seed'. Supported parameters: temperature, max_tokens, response_format":                        changeSeed,
		"Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...":                      changeSystem,
		"Developer instruction is not enabled for models/gemma-3-27b-it":                                                   changeSystem,
		"System role not supported":                                                                                        changeSystem,
		"Invalid role 'system': only user and assistant roles are supported":                                               changeSystem,
		"'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.":            changeJSONWord,
		"max_tokens is too large: 100000. This model supports at most 16384 completion tokens.":                            changeCeiling,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                             changeCeiling,
		"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x":                    changeCeiling,
		"Requested max_tokens exceeds the model output limit":                                                              changeCeiling,
		// What is no refusal of a part.
		"temperature must be between 0 and 1": noChange, "the model 'seed-oss' was not found": noChange, "top_k must be non-negative": noChange,
		"Invalid value for 'content': expected a string, got null": noChange,
	} {
		for _, status := range []int{400, 422, 500} {
			if got := firstChange(status, openAIError(message)); got != want {
				t.Errorf("%d %s: %q, want %q", status, message, got, want)
			}
		}
	}
}

// How much room is left, as refusals tell it, for a reply that was to have 2048
// tokens; 0 where a shorter one doesn't help.
func TestRoomForTheReply(t *testing.T) {
	for message, want := range map[string]int{
		"Request too large on tokens per minute (TPM): Limit 12000, Requested 13096, please reduce your message size.":                                                                                   952,
		"Request too large for gpt-4 on tokens per min (TPM): Limit 10,000, Requested 11,000.":                                                                                                           1048,
		"Request too large on tokens per minute (TPM): Limit 12000, Requested 14000":                                                                                                                     0,
		"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (6952 in the messages, 2048 in the completion). Please reduce the length.":                               1240,
		"This model's maximum context length is 4097 tokens, however you requested 5048 tokens (3000 in your prompt; 2048 for the completion).":                                                          1097,
		"This model's maximum context length is 8192 tokens. However, you requested 11000 tokens (8952 in the messages, 2048 in the completion).":                                                        0,
		"input length and `max_tokens` exceed context limit: 199000 + 2048 > 200000, decrease input length or `max_tokens` and try again":                                                                1000,
		"'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is 4096 tokens and your request has 3000 input tokens (2048 > 4096 - 3000).":                    1096,
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 7000 `inputs` tokens and 2048 `max_new_tokens`":                                                              1193,
		"Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5048 tokens: 3000 tokens from the input messages and 2048 tokens for the completion.": 1096,
		"You passed 3000 input tokens and requested 2048 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 2048 tokens.":                    1096,
		"This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (6952 of text input, 2048 in the output). Please reduce the length of either one.":              1240,
		"prompt is too long: 210000 tokens > 200000 maximum":                                            0,
		"This model's maximum context length is 8192 tokens. Please reduce the length of the messages.": 0,
	} {
		d := diagnose(400, http.Header{}, []byte(openAIError(message)), testNow)
		if len(d.adapt) == 0 || d.adapt[0] != changeRoom {
			t.Errorf("%s: changes %q", message, d.adapt)
		}
		got, ok := d.facts.room(2048)
		if !ok {
			got = 0
		}
		if got != want {
			t.Errorf("%s: %d, want %d", message, got, want)
		}
	}
}

func TestCeiling(t *testing.T) {
	for message, want := range map[string]int{
		"max_tokens is too large: 100000. This model supports at most 1,024 completion tokens.": 1024,
		"max_tokens must be less than or equal to `1500`":                                       1500, "max_tokens must be <= 1600": 1600,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 1024]":                1024,
		"max_tokens: 2048 > 1024, which is the maximum allowed number of output tokens for x": 1024,
		"Requested max_tokens exceeds the model output limit":                                 1024,
		"max_tokens must be at most 16":                                                       0,
	} {
		d := diagnose(400, http.Header{}, []byte(openAIError(message)), testNow)
		got, ok := d.facts.ceiling(2048)
		if !ok {
			got = 0
		}
		if got != want {
			t.Errorf("%s: %d, want %d", message, got, want)
		}
	}
}

// A short wait says that money is not what is missing.
func TestMoneyWithAWait(t *testing.T) {
	for body, want := range map[string]Kind{
		`{"error":{"message":"You exceeded your current quota. Please retry in 38.9s."}}`: RateLimited,
		`{"error":{"message":"You exceeded your current quota."}}`:                        Fatal,
	} {
		if e := classify(429, http.Header{}, []byte(body), testNow); e.Kind != want {
			t.Errorf("%s: %v, want %v", body, e.Kind, want)
		}
	}
	h := http.Header{"Retry-After": {"20"}}
	if e := classify(402, h, []byte(`{"error":{"message":"Credit limit reached","type":"credit_limit"}}`), testNow); e.Kind != RateLimited || e.RetryAfter != 20*time.Second {
		t.Errorf("a limit on credit that passes in 20 s: %v", e)
	}
	if e := classify(402, h, []byte(`{"error":{"message":"Insufficient balance"}}`), testNow); e.Kind != Fatal {
		t.Errorf("no balance: %v", e)
	}
}

// What is passed on is dug out, and what was sent is not taken for it.
func TestFactsOfWrappedBodies(t *testing.T) {
	for _, c := range []struct{ body, message string }{
		{`{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"the prompt was odd\"}}"}}}`, "Provider returned error: the prompt was odd"},
		{`{"error":{"message":"Error code: 400 - {'error': {'message': \"it's odd\", 'type': None, 'ok': True}}"}}`, "Error code: 400: it's odd"},
		{`{"errors":[{"message":"first"},{"message":"second"}]}`, "first"},
		{`{"errors":["first","second"]}`, "first"},
		{`{"detail":"not so"}`, "not so"},
		{`{"message":"not so","request_id":"1"}`, "not so"},
		{`"not so"`, "not so"},
		{`<html><head><title>502 Bad Gateway</title></head></html>`, "502 Bad Gateway"},
		{`<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>not so</Message></Error>`, "not so"},
		{"data: {\"error\":{\"message\":\"not so\"}}\n\n", "not so"},
	} {
		if f := factsOf(400, http.Header{}, []byte(c.body)); f.message != c.message {
			t.Errorf("%s: %q, want %q", c.body, f.message, c.message)
		}
	}
	wrapped := `{"error":{"message":"Error code: 422 - {'detail': [{'loc': ['body', 'top_k'], 'msg': 'no', 'input': {'messages': 'insufficient balance, invalid api key, maximum context length'}}]}"}}`
	if d := diagnose(422, http.Header{}, []byte(wrapped), testNow); d.err.Kind != Row || d.err.Code != "bad_request" || d.facts.param != "top_k" {
		t.Errorf("%v %s, parameter %q", d.err.Kind, d.err.Code, d.facts.param)
	}
}

// Replies with status 200 that are odd: an error, an answer, or neither.
func TestOddReplies(t *testing.T) {
	for body, want := range map[string]struct {
		content string
		kind    Kind
		code    string
	}{
		`{"error":{"code":"rate_limit_exceeded","message":"x"}}`:                       {kind: RateLimited, code: "rate_limited"},
		`{"error":{"code":"503","message":"Service unavailable"}}`:                     {kind: Transient, code: "http_503"},
		`{"error":"upstream timeout"}`:                                                 {kind: Transient, code: "error_in_reply"},
		`{"code":500,"msg":"internal"}`:                                                {kind: Transient, code: "http_500"},
		`{"status":"error","message":"Too many requests"}`:                             {kind: RateLimited, code: "rate_limited"},
		`{"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}`: {kind: Fatal, code: "invalid_api_key"},
		`{"choices":[]}`:     {kind: Transient, code: "empty_response"},
		`{"choices":[{}]}`:   {kind: Transient, code: "empty_response"},
		`{"choices":[null]}`: {kind: Transient, code: "empty_response"},
		`null`:               {kind: Transient, code: "empty_response"},
		`[]`:                 {kind: Transient, code: "unreadable_reply"},
		``:                   {kind: Transient, code: "unreadable_reply"},
		`{"choices":null,"promptFeedback":{"blockReason":"SAFETY"}}`:                                                                    {kind: Row, code: "content_filter"},
		`{"choices":[{"finish_reason":"error","error":{"code":502},"message":{"content":"part"}}]}`:                                     {kind: Transient, code: "http_502"},
		`{"choices":[{"finish_reason":"insufficient_system_resource","message":{"content":"part"}}]}`:                                   {kind: Transient, code: "error_in_reply"},
		`{"error":null,"choices":[{"message":{"content":"ok"}}]}`:                                                                       {content: "ok"},
		`{"error":{"message":"","code":0},"choices":[{"message":{"content":"ok"}}]}`:                                                    {content: "ok"},
		`{"choices":[{"text":"ok","finish_reason":"stop"}]}`:                                                                            {content: "ok"},
		`{"model":5,"usage":[],"choices":[{"message":{"content":"ok"}}]}`:                                                               {content: "ok"},
		"\n\n\ufeff{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"o\"},{\"type\":\"text\",\"text\":\"k\"}]}}]}": {content: "ok"},
	} {
		resp, d := decodeReply(&exchange{status: 200, header: http.Header{}, body: []byte(body)})
		switch {
		case want.code == "" && (resp == nil || resp.Content != want.content):
			t.Errorf("%s: %+v, %v", body, resp, d.err)
		case want.code != "" && (resp != nil || d.err.Kind != want.kind || d.err.Code != want.code):
			t.Errorf("%s: %+v, %v, want %v %s", body, resp, d.err, want.kind, want.code)
		}
	}
}
