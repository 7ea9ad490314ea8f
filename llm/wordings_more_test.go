package llm

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// More ways in which servers refuse, each as it reaches us and as others wrap
// it: what it means, and which part of the form is tried in another way first.
func TestRefusalsOfManyServers(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   Kind
		code   string
		adapt  change
	}{
		{429, `{"error": {"message": "The usage limit has been reached", "type": "usage_limit_reached", "plan_type": "free", "resets_at": 1792600000, "resets_in_seconds": 529498}}`, WaitTooLong, "usage_limit", noChange},
		{429, `{"error": {"code": "insufficient_quota", "message": "You have exceeded your current request limit. Requests rate limit exceeded, please try again later."}}`, RateLimited, "rate_limited", noChange},
		{400, `{"__type": "com.amazon.coral.availability#ThrottlingException", "message": "Too many requests, please wait before trying again."}`, RateLimited, "rate_limited", noChange},
		{200, `{"error_code": 18, "error_msg": "Open api qps request limit reached"}`, RateLimited, "rate_limited", noChange},
		{429, `{"error": {"message": "litellm.RateLimitError: terminal quota", "type": "terminal_quota_exhausted", "code": "terminal_quota_exhausted"}}`, Fatal, "insufficient_quota", noChange},
		{403, `{"error": {"message": "Billing account for project 1 is disabled. Enable it by visiting", "status": "PERMISSION_DENIED", "code": 403}}`, Fatal, "insufficient_quota", noChange},
		{403, `{"error": {"message": "This API method requires billing to be enabled. Please enable billing on project #1 by visiting", "status": "PERMISSION_DENIED", "code": 403}}`, Fatal, "insufficient_quota", noChange},
		{429, `{"error": {"message": "Free tier of the model has been exhausted. If you wish to continue, please disable the \"use free tier only\" mode in the management console.", "code": "AllocationQuota.FreeTierOnly"}}`, Fatal, "insufficient_quota", noChange},
		{403, `{"code": "AllocationQuota.FreeTierOnly", "message": "The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the \"use free tier only\" mode in the management console."}`, Fatal, "insufficient_quota", noChange},
		{429, `{"error": {"code": "QuotaExceeded", "message": "Your account has exhausted its free trial quota for the model. Please activate the service."}}`, Fatal, "insufficient_quota", noChange},
		{429, `{"error": {"code": "1304", "message": "已达到今日该API调用次数限额,如有更多请求,请联系客服购买"}}`, WaitTooLong, "daily_quota", noChange},
		{429, `{"error": {"message": "Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 43123 seconds before retrying.", "code": "RateLimitReached"}}`, WaitTooLong, "daily_quota", noChange},
		{429, `{"detail": "Rate limit exceeded: 1000 per 1 day"}`, WaitTooLong, "daily_quota", noChange},
		{200, `{"error_code": 17, "error_msg": "Open api daily request limit reached"}`, WaitTooLong, "daily_quota", noChange},
		{429, `{"error": {"code": "1302", "message": "您当前使用该API的并发数过高,请降低并发,或联系客服增加限额"}}`, RateLimited, "concurrency_limit", noChange},
		{200, `{"base_resp": {"status_code": 1004, "status_msg": "login fail: Please carry the API secret key in the 'Authorization' field of the request header"}, "choices": null}`, Fatal, "invalid_api_key", noChange},
		{200, `{"error_code": 110, "error_msg": "Access token invalid or no longer valid"}`, Fatal, "invalid_api_key", noChange},
		{200, `{"detail": "Not authenticated"}`, Fatal, "invalid_api_key", noChange},
		{400, `<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>`, Fatal, "no_tls", noChange},
		{400, `Client sent an HTTP request to an HTTPS server.
`, Fatal, "no_tls", noChange},
		{400, `{"error": "Unexpected endpoint or method. (POST /v1/v1/chat/completions)"}`, Fatal, "not_found", noChange},
		{200, `{"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}`, Fatal, "not_found", noChange},
		{400, `{"error": {"message": "This model only support stream mode, please enable the stream parameter to access the model."}}`, Fatal, "stream_only", noChange},
		{400, `{"error": {"message": "Stream must be set to true"}}`, Fatal, "stream_only", noChange},
		{400, `{"error": {"message": "Streaming is required for this model"}}`, Fatal, "stream_only", noChange},
		{401, `{"error": {"message": "Your API key was flagged for unusual activity", "code": "invalid_api_key"}}`, Fatal, "invalid_api_key", noChange},
		{403, `{"error": {"message": "Your account has been flagged for violating our usage policies and is disabled"}}`, Fatal, "forbidden", noChange},
		{403, `{"error": {"message": "Your account was flagged as high risk; access disabled"}}`, Fatal, "forbidden", noChange},
		{404, `{"error": {"message": "No endpoints available matching your guardrail restrictions and data policy. Configure: https://openrouter.ai/settings/privacy"}}`, Fatal, "not_found", noChange},
		{400, `{"message": "Invocation of model ID anthropic.x with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model."}`, Fatal, "model_not_found", noChange},
		{422, `{"detail": "Authorization header missing"}`, Fatal, "invalid_api_key", noChange},
		{400, `{"error": "Authorization header is missing"}`, Fatal, "invalid_api_key", noChange},
		{400, `{"error": {"message": "litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying to call. You passed model=x"}}`, Fatal, "model_not_found", noChange},
		{400, `{"error": {"message": "OperationNotSupported: The chatCompletion operation does not work with the specified model, text-embedding-3-large. Please choose different model and try again.", "code": "OperationNotSupported"}}`, Fatal, "not_a_chat_model", noChange},
		{400, `{"error": {"code": "BadRequest", "message": "API version not supported"}}`, Fatal, "bad_api_version", noChange},
		{429, `{"errors": [{"message": "Capacity temporarily exceeded, please try again.", "code": 3040}]}`, RateLimited, "overloaded", noChange},
		{200, `{"status": "error", "message": "model overloaded"}`, RateLimited, "overloaded", noChange},
		{503, `{"error": "server busy, please try again.  maximum pending requests exceeded"}`, RateLimited, "overloaded", noChange},
		{424, `{"message": "Too many connections, please wait before trying again."}`, RateLimited, "overloaded", noChange},
		{200, `{"error_code": 336007, "error_msg": "the max input characters is 11200"}`, Row, "context_too_long", changeRoom},
		{200, `<!-- comment -->
<!DOCTYPE html><html><body>Sign in</body></html>`, Fatal, "not_an_api", noChange},
		{500, `{"error": {"message": "boom", "debug": {"user_input": "Rate limit exceeded per day. insufficient balance. Incorrect API key provided. maximum context length. The model does not exist"}}}`, Transient, "http_500", noChange},
		{400, `{"error": {"message": "tokens in request more than max tokens allowed", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string with length 11436754 instead.", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "total tokens exceeds the model's max of 4096", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "The message you submitted was too long, please reload the conversation and submit something shorter.", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "your prompt has 9034 tokens, which is more than the model's limit of 8192", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "'max_tokens' must be at least 1, got -812.", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "max_tokens must be at least 1, got -842. (parameter=max_tokens, value=-842)", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "The sum of the prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Default max_tokens (-10) should be greater than 0, default max_tokens (-10) = max_seq_len (8192) - prompt_len (8202)", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "input_tokens limit exceeded: 9000 > 8192", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Model input is limited to 8192 tokens; received 9000", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "prompt_tokens 9000 > limit 8192", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "The request's token count (9000) exceeds the model's limit (8192).", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "request exceeds model's max_model_len of 8192", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Trying to submit 9000 prompt tokens to a model with max sequence length 8192", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "token count exceeds max sequence length", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Error: 9000 tokens exceed the 8192-token window of this model", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "The conversation exceeds the maximum number of tokens", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Your request exceeds the model's token limit of 8192", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Token limit exceeded", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Input is longer than the maximum allowed of 30000 characters", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Messages token length must be in (0, 8192], but got 9000", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "messages 参数非法。请检查文档。输入长度超过限制", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Prompt超过模型上下文长度限制", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "请求token数超过模型限制", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "the max input characters is 11200", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "the total length of the input and output exceeds 32768", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Sorry, the request is too large for this model: 9000 tokens (limit 8192)", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "The requested prompt of 9000 tokens is over the model limit of 8192", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Bad Request: context_length_exceeded", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{500, `{"error": {"message": "The text is longer than the maximum sequence length for this model (9000 > 8192)", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Input text exceeds maximum token count", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "The model's context length is 8192 tokens but the prompt is 9000 tokens", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "exceeds the limit of 8192 prompt tokens", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "Number of tokens in the prompt (9000) exceeds the maximum (8192)", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "request contains too many tokens (9000 > 8192)", "type": "invalid_request_error"}}`, Row, "context_too_long", changeRoom},
		{400, `{"code": 20015, "message": "length of prompt_tokens (9000) must be less than max_seq_len (8192)", "data": null}`, Row, "context_too_long", changeRoom},
		{400, `{"error": {"message": "response_format schema has too many properties: 5001 exceeds limit of 5000"}}`, Row, "bad_request", changeFormat},
		{404, `{"error": {"message": "No endpoints found that support the provided 'response_format' value"}}`, Fatal, "model_not_found", changeFormat},
		{400, `{"error": {"message": "Error in response_format: json_schema requires guided decoding backend"}}`, Row, "bad_request", changeFormat},
		{400, `{"error": {"message": "Grammar error: Unimplemented keys: [\"additionalProperties\"]"}}`, Row, "bad_request", changeFormat},
		{400, `{"error": {"message": "Compiling the schema failed: schema is too large"}}`, Row, "bad_request", changeFormat},
		{500, `{"error": {"message": "failed to load model vocabulary required for format"}}`, Transient, "http_500", changeFormat},
		{400, `{"error": {"message": "参数 response_format 不支持 json_schema"}}`, Row, "bad_request", changeFormat},
		{400, `{"error": {"message": "Constrained decoding is not supported"}}`, Row, "bad_request", changeFormat},
		{400, `{"error": {"message": "The model does not support JSON output"}}`, Row, "bad_request", changeFormat},
		{400, `{"error": {"code": "1210", "message": "API 调用参数有误，请检查文档。response_format"}}`, Row, "bad_request", changeFormat},
		{404, `{"error": {"message": "No endpoints found that can handle the requested parameters. To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection"}}`, Fatal, "model_not_found", changeFormat},
		{400, `{"error": {"message": "this model is not supported MaxTokens, please use MaxCompletionTokens"}}`, Fatal, "model_not_found", changeMaxTokens},
		{400, `{"error": {"message": "The maximum tokens you requested exceeds the model limit of 1500. Try again with a maximum tokens value that is lower than 1500."}}`, Row, "max_tokens_too_high", changeCeiling},
		{400, "{\"error\": {\"message\": \"`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.\"}}", Row, "bad_request", changeTemperature},
		{400, `{"error": {"message": "reasoning model does not accept parameter: temperature"}}`, Row, "bad_request", changeTemperature},
		{400, "{\"error\": {\"message\": \"`temperature` has to be a strictly positive float\"}}", Row, "bad_request", changeTemperature},
		{400, `{"error": {"message": "temperature参数非法"}}`, Row, "bad_request", changeTemperature},
		{400, `{"error": {"message": "Only one of temperature or top_p may be specified"}}`, Row, "bad_request", changeTopP},
		{400, `{"error": {"message": "Please ensure that multiturn requests alternate between user and model"}}`, Row, "bad_request", changeSystem},
		{400, `{"error": {"message": "Expected first message to be from user"}}`, Row, "bad_request", changeSystem},
		{400, `{"error": {"message": "Role must be in [user, assistant]"}}`, Row, "bad_request", changeSystem},
		{422, `{"error": {"message": "messages[0].role: Input should be 'user' or 'assistant'"}}`, Row, "bad_request", changeSystem},
		{400, `{"error": {"message": "The first message must be a user message"}}`, Row, "bad_request", changeSystem},
		{400, `{"error": {"message": "messages must start with a user role"}}`, Row, "bad_request", changeSystem},
		{400, `{"error": {"message": "When using JSON mode, the prompt must include the word \"json\""}}`, Row, "bad_request", changeJSONWord},
		{400, `{"error": {"message": "messages should mention json when response_format is json_object"}}`, Row, "bad_request", changeJSONWord},
		{400, `{"contentFilter": [{"level": 1, "role": "user"}], "error": {"code": "1301", "message": "The system detected potentially unsafe or sensitive content in input or generation."}}`, Row, "content_filter", noChange},
		{400, `{"error": {"code": "SensitiveContentDetected", "message": "The request failed because the input text may contain sensitive information."}}`, Row, "content_filter", noChange},
		{400, `{"error": {"code": "InputTextSensitiveContentDetected", "message": "The request failed because the input text may contain sensitive information."}}`, Row, "content_filter", noChange},
		{400, `{"error_code": 336104, "error_msg": "user content is illegal"}`, Row, "content_filter", noChange},
		{200, `{"error_code": 336104, "error_msg": "prompt contains unsafe content"}`, Row, "content_filter", noChange},
		{403, `{"error": {"message": "x requires moderation on OpenInference. Your input was flagged for \"violence\". No credits were charged.", "code": 403, "metadata": {"reasons": ["violence"], "flagged_input": "..."}}}`, Row, "content_filter", noChange},
		{400, `{"error": {"message": "Violated OpenAI moderation policy", "type": "None", "param": "None", "code": "400"}}`, Row, "content_filter", noChange},
		{400, `{"error": {"message": "unsafe content", "type": "moderation"}}`, Row, "content_filter", noChange},
		{400, `{"message": "Moderation: input rejected"}`, Row, "content_filter", noChange},
		{451, `{"error": {"message": "Unavailable For Legal Reasons: content blocked"}}`, Row, "content_filter", noChange},
		{400, `{"error": {"message": "Sensitive words detected", "type": "new_api_error", "code": "sensitive_words_detected"}}`, Row, "content_filter", noChange},
		{422, `{"error": {"message": "Jailbreak detected in prompt"}}`, Row, "content_filter", noChange},
		{400, `{"error": {"message": "Prompt injection detected by Azure Prompt Shields", "code": "prompt_injection"}}`, Row, "content_filter", noChange},
		{403, `{"error": {"message": "x requires moderation. Your input was flagged", "code": 403, "metadata": {"reasons": ["violence"], "flagged_input": "Rate limit exceeded per day. insufficient balance. Incorrect API key provided. maximum context length. The model does not exist", "provider_name": "OpenAI", "model_slug": "x"}}}`, Row, "content_filter", noChange},
		{400, `{"message": "The provided model identifier is invalid."}`, Fatal, "model_not_found", noChange},
		{400, `{"error": {"code": "1211", "message": "模型不存在，请检查模型代码。"}}`, Fatal, "model_not_found", noChange},
		{400, `{"error": {"message": "This model is not supported: x"}}`, Fatal, "model_not_found", noChange},
		{400, `{"error": {"message": "You didn't provide an API key. You need to provide your API key in an Authorization header"}}`, Fatal, "invalid_api_key", noChange},
		{400, `{"error": "\"x\" does not support chat"}`, Fatal, "not_a_chat_model", noChange},
		{400, `{"error": {"message": "registry.ollama.ai/library/nomic does not support chat", "type": "invalid_request_error"}}`, Fatal, "not_a_chat_model", noChange},
		{422, `{"error": {"message": "bad request", "failed_input": "Rate limit exceeded per day. insufficient balance. Incorrect API key provided. maximum context length. The model does not exist"}}`, Row, "bad_request", noChange},
		{422, `{"error": {"message": "bad request", "request_body": "Rate limit exceeded per day. insufficient balance. Incorrect API key provided. maximum context length. The model does not exist"}}`, Row, "bad_request", noChange},
		{422, `{"error": {"message": "bad request", "received": "Rate limit exceeded per day. insufficient balance. Incorrect API key provided. maximum context length. The model does not exist"}}`, Row, "bad_request", noChange},
		{400, `{"error": {"message": "bad request", "inputs": "Rate limit exceeded per day. insufficient balance. Incorrect API key provided. maximum context length. The model does not exist"}}`, Row, "bad_request", noChange},
		{400, `{"error": {"message": "Invalid request", "details": [{"value": "Rate limit exceeded per day. insufficient balance. Incorrect API key provided. maximum context length. The model does not exist"}]}}`, Row, "bad_request", noChange},
	} {
		check := func(t *testing.T, d diagnosis) {
			t.Helper()
			wants(c.kind, c.code)(t, d)
			first := noChange
			if len(d.adapt) > 0 {
				first = d.adapt[0]
			}
			if first != c.adapt {
				t.Errorf("%q is tried first, want %q", first, c.adapt)
			}
		}
		t.Run(c.body, func(t *testing.T) {
			if c.status < 300 || strings.HasPrefix(c.body, "<") { // a page is no error inside another
				check(t, diagnose(c.status, nil, []byte(c.body), testNow))
				return
			}
			diagnosed(t, c.status, c.body, check)
		})
	}
}

// What sounds like one of them, and is another thing.
func TestRefusalsThatSoundAlike(t *testing.T) {
	for message, c := range map[string]struct {
		status int
		kind   Kind
	}{
		"Maximum number of tokens per minute exceeded":                                           {429, RateLimited},
		"Too many tokens, please wait before trying again.":                                      {429, RateLimited},
		"upstream request exceeded the maximum time":                                             {504, Transient},
		"Max retries exceeded with url: /v1/chat (Caused by timeout)":                            {502, Transient},
		"Error: maximum recursion depth exceeded":                                                {500, Transient},
		"content filter service unavailable":                                                     {503, Transient},
		"Your prompt was flagged as potentially violating our usage policy. Try another prompt.": {400, Row},
		"The model x is currently unavailable":                                                   {503, Transient},
	} {
		t.Run(message, func(t *testing.T) {
			diagnosed(t, c.status, `{"error":{"message":`+mustQuote(message)+`}}`, func(t *testing.T, d diagnosis) {
				if d.err.Kind != c.kind || d.err.Code == "context_too_long" {
					t.Errorf("%v %s, want %v", d.err.Kind, d.err.Code, c.kind)
				}
			})
		})
	}
}

// What a usage limit tells of its end, and a model of its loading.
func TestWaitMembersOfMoreServers(t *testing.T) {
	for body, want := range map[string]float64{
		`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1792567695,"resets_in_seconds":15}}`: 15,
		`{"error":{"message":"limit reached","resets_at":1792567695}}`:                                                                        15,
		`{"error":"Model x is currently loading","estimated_time":20.5}`:                                                                      20.5,
	} {
		if got := toldWait(nil, []byte(body), testNow).Seconds(); got != want {
			t.Errorf("%s: %v s, want %v", body, got, want)
		}
	}
}

// A bound that the server lowered is told with the reply.
func TestShortenedReplies(t *testing.T) {
	for max, want := range map[int]bool{50: false, 100: false, 200: true} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				MaxTokens int `json:"max_tokens"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			if body.MaxTokens > 100 {
				w.WriteHeader(400)
				_, _ = w.Write([]byte(`{"error":{"message":"max_tokens must be at most 100"}}`))
				return
			}
			_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"length","message":{"content":"x"}}]}`))
		}))
		o, err := NewOpenAI(OpenAIConfig{BaseURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			resp, err := o.Complete(t.Context(), &Request{Model: "m", MaxTokens: max, Messages: []Message{{Role: User, Content: "x"}}})
			if err != nil || resp.Shortened != want {
				t.Errorf("max_tokens %d: %+v, %v, want %t", max, resp, err, want)
			}
		}
		s.Close()
	}
}

// Ends of a reply that are no ends of an answer.
func TestMoreWaysToEnd(t *testing.T) {
	for body, want := range map[string]struct {
		finish FinishReason
		kind   Kind
		code   string
	}{
		`{"choices":[{"finish_reason":"network_error","message":{"content":"{\"rating\":4}"}}]}`:                                                                {kind: Transient, code: "error_in_reply"},
		`{"choices":[{"finish_reason":"model_context_window_exceeded","message":{"content":"{\"rating\":4}"}}]}`:                                                {kind: Row, code: "context_too_long"},
		`{"choices":[{"finish_reason":"model_length","message":{"content":""}}]}`:                                                                               {kind: Row, code: "context_too_long"},
		`{"choices":[{"finish_reason":"length","message":{"content":""}}],"usage":{"prompt_tokens":32768,"completion_tokens":0}}`:                               {kind: Row, code: "suspected_context_overflow"},
		`{"choices":[{"finish_reason":"length","message":{"content":"","reasoning":"hm"}}],"usage":{"prompt_tokens":32768,"completion_tokens":9}}`:              {finish: FinishLength},
		`{"choices":[{"finish_reason":"stop","native_finish_reason":"MAX_TOKENS","message":{"content":"{\"rating\":4}"}}]}`:                                     {finish: FinishLength},
		`{"choices":[{"finish_reason":"stop","native_finish_reason":"SAFETY","message":{"content":"{\"rating\":4}"}}]}`:                                         {finish: FinishContentFilter},
		`{"choices":[{"finish_reason":"stop","native_finish_reason":"STOP","message":{"content":"{\"rating\":4}"}}]}`:                                           {finish: FinishStop},
		`{"choices":[{"finish_reason":"length","native_finish_reason":"stop","message":{"content":"{\"rating\":4}"}}]}`:                                         {finish: FinishLength},
		"data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\",\"native_finish_reason\":\"max_tokens\"}]}\n\ndata: [DONE]\n\n":          {finish: FinishLength},
		"data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"network_error\"}]}\n\ndata: [DONE]\n\n":                                         {kind: Transient, code: "error_in_reply"},
		`{"choices":[{"finish_reason":"stop","message":{"content":"","reasoning_details":[{"type":"reasoning.text","text":"hm {\"rating\":4}"}]}}],"usage":{}}`: {finish: FinishStop},
	} {
		resp, d := decodeReply(&exchange{status: 200, header: http.Header{}, body: []byte(body)})
		switch {
		case want.code == "" && (resp == nil || resp.FinishReason != want.finish):
			t.Errorf("%s: %+v, %v, want to end with %s", body, resp, d.err, want.finish)
		case want.code != "" && (resp != nil || d.err.Kind != want.kind || d.err.Code != want.code):
			t.Errorf("%s: %+v, %v, want %v %s", body, resp, d.err, want.kind, want.code)
		case want.code == "" && strings.Contains(body, "reasoning_details") && resp.Reasoning == "":
			t.Errorf("%s: its reasoning is lost", body)
		}
	}
}
