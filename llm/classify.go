package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// change is something about the form of a request that a server refused, and
// that another form can do without.
type change string

// The changes that a server can be met with.
const (
	noChange          change = ""
	changeFormat      change = "response_format"
	changeMaxTokens   change = "max_tokens"
	changeTemperature change = "temperature"
	changeSeed        change = "seed"
	changeSystem      change = "system role"
	changeJSONWord    change = "the word JSON"
)

// rule is one line of the table by which a refusal is understood. What the body
// says goes before the status, so the order of the table matters.
type rule struct {
	when func(facts) bool
	kind Kind
	code string
	hint string
}

// The hints that more than one rule gives.
const (
	hintKey   = "check that the environment variable named by judge.api_key_env holds a valid key for this endpoint"
	hintURL   = "check judge.base_url: is the /v1 at its end missing, or doubled?"
	hintMoney = "the account has no money left: add credit at the provider, then run the same command again"
	hintModel = "check judge.model against the endpoint's list of models"
)

var rules = []rule{
	{func(f facts) bool { return f.html && f.status < 300 }, Fatal, "not_an_api", "a web page answers there: " + hintURL},
	{func(f facts) bool {
		return f.code("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "insufficient_credits")
	}, Fatal, "insufficient_quota", hintMoney},
	{func(f facts) bool {
		return f.says("perday", "per day", "per-day", "per_day", "(rpd)", "(tpd)", "daily") && f.limitLike()
	},
		WaitTooLong, "daily_quota", "the quota is for a day; run again after it is reset, or ask the provider for more"},
	{func(f facts) bool {
		return f.says("perminute", "per min", "per-min", "per_min", "(rpm)", "(tpm)", "retryinfo") && f.limitLike() && !f.tooLargeForLimit()
	},
		RateLimited, "rate_limited", ""},
	{func(f facts) bool {
		return f.status == http.StatusPaymentRequired ||
			f.code("credit_limit_reached") ||
			f.says("insufficient balance", "insufficient credit", "insufficient funds", "credit balance is too low", "exceeded your current quota", "payment required", "out of credit", "no remaining credit")
	}, Fatal, "insufficient_quota", hintMoney},
	{facts.tooLargeForLimit, Row, "request_above_token_limit", "this sample alone is above the endpoint's tokens a minute; shorten its contexts or lower judge.max_tokens"},
	{func(f facts) bool {
		return f.code("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed", "moderation_blocked") ||
			f.says("content management policy", "contentpolicyviolation", "content_filter", "responsibleaipolicyviolation", "flagged by moderation", "requires moderation", "inappropriate content", "safety policy", "prohibited_content")
	}, Row, "content_filter", "the provider's filter refuses this sample"},
	{facts.overflow, Row, "context_too_long", "this sample is too long for the judge; retrieve less for it, or take a judge with a longer context"},
	{func(f facts) bool {
		return f.status == http.StatusUnauthorized || f.code("invalid_api_key", "authentication_error", "invalid_authentication", "account_deactivated") ||
			f.says("incorrect api key", "invalid api key", "api key not valid", "missing api key", "no auth credentials")
	}, Fatal, "invalid_api_key", hintKey},
	{func(f facts) bool {
		return f.code("rate_limit_exceeded", "rate_limit_error", "ratelimitreached", "throttling", "throttlingexception")
	}, RateLimited, "rate_limited", ""},
	{func(f facts) bool { return f.status == http.StatusForbidden }, Fatal, "forbidden", hintKey + "; it may lack a permission, or the endpoint may refuse this place"},
	{func(f facts) bool {
		// A 5xx that says so is about a model that is not up at present.
		return f.code("model_not_found", "deploymentnotfound", "model_decommissioned", "invalid_model") ||
			(f.status < 500 && f.says("model", "deployment") && f.says("does not exist", "not found", "decommissioned", "no longer available", "has been deprecated", "is not available", "not a valid model", "invalid model"))
	}, Fatal, "model_not_found", hintModel + "; on Azure check host, deployment name and api_version"},
	{func(f facts) bool { return f.status == http.StatusNotFound || f.status == http.StatusMethodNotAllowed },
		Fatal, "not_found", hintURL},
	{func(f facts) bool { return f.status == 529 || f.code("overloaded_error") }, RateLimited, "overloaded", ""},
	{func(f facts) bool {
		return f.status == http.StatusTooManyRequests || f.code("resource_exhausted")
	}, RateLimited, "rate_limited", ""},
	{func(f facts) bool { return f.status >= 300 && f.status < 400 }, Fatal, "redirected", "the endpoint sends elsewhere; give the address that it names as judge.base_url"},
	{func(f facts) bool { return f.status == http.StatusNotImplemented || f.status == 505 }, Fatal, "unsupported", hintURL},
	{func(f facts) bool {
		return f.status >= 500 || f.status == http.StatusRequestTimeout || f.status == http.StatusConflict || f.status == http.StatusTooEarly
	}, Transient, "", ""},
	{func(f facts) bool { return f.status >= 400 && f.says("temperature") && f.outOfRange() },
		Fatal, "bad_parameter", "the endpoint does not take this judge.temperature"},
	{func(f facts) bool { return f.status >= 400 }, Row, "bad_request", ""},
	{func(f facts) bool { return f.isError }, Transient, "error_in_reply", ""},
}

// classify says what a reply that is no answer means for the run.
func classify(status int, h http.Header, body []byte, now time.Time) *Error {
	f := factsOf(status, h.Get("Content-Type"), body)
	for _, r := range rules {
		if !r.when(f) {
			continue
		}
		e := &Error{Kind: r.kind, Code: r.code, Status: status, Message: f.message, Hint: r.hint, RetryAfter: toldWait(h, body, now)}
		if e.Code == "" {
			e.Code = fmt.Sprintf("http_%d", f.status)
		}
		if e.Kind == Fatal && f.status/100 == 3 {
			e.Message = "to " + h.Get("Location")
		}
		return e
	}
	return &Error{Kind: Transient, Code: "unreadable_reply", Status: status, Message: f.message}
}

// limitLike reports that the reply is about a limit of use, and not about a
// parameter whose description happens to hold the same words.
func (f facts) limitLike() bool {
	return f.status == http.StatusTooManyRequests || f.status == http.StatusPaymentRequired || f.status == http.StatusForbidden ||
		f.status == http.StatusRequestEntityTooLarge || f.code("resource_exhausted", "rate_limit_exceeded", "rate_limit_error", "insufficient_quota", "requests", "tokens")
}

// outOfRange reports that a parameter's value, and not the parameter, is refused.
func (f facts) outOfRange() bool {
	return f.says("between", "less than or equal", "greater than", "at most", "exceeds", "too large", "non-negative")
}

// tooLargeForLimit reports a single request above the whole limit of tokens a
// minute: no wait helps.
func (f facts) tooLargeForLimit() bool {
	return f.status == http.StatusRequestEntityTooLarge || f.says("request too large")
}

// overflow reports a prompt that is too long for the model. The phrases are
// those of OpenAI, Azure, vLLM, llama.cpp, Ollama, Anthropic, Gemini, Groq and
// Mistral; "exceeds" or "too long" alone say nothing of the kind.
func (f facts) overflow() bool {
	return f.code("context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "context_window_exceeded") ||
		f.says("maximum context length", "max context length", "context length exceeded", "exceeds the available context size", "context window",
			"context size has been exceeded", "exceeds the context", "exceed context limit", "larger than the context", "prompt is too long", "prompt too long",
			"input is too long", "input too long", "too many input tokens", "too large for model with", "reduce the length of the messages") ||
		(f.says("input token count", "prompt contains", "input tokens") && f.says("exceeds the maximum", "exceeds the limit", "maximum number of tokens allowed"))
}

// refusedForm says which part of the request's form a server refuses, if it
// is that. Some tell it with a 500.
func refusedForm(status int, contentType string, body []byte) change {
	f := factsOf(status, contentType, body)
	switch f.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests:
		return noChange
	}
	if f.overflow() {
		return noChange
	}
	refused := f.says("unsupported", "not support", "unrecognized", "unknown", "unexpected", "not permitted", "not allowed", "extra inputs", "extra_forbidden",
		"deprecated", "only the default", "must be", "invalid", "unavailable", "use 'max_completion_tokens'", "cannot both be specified")
	about := func(names ...string) bool {
		for _, n := range names {
			if f.param == n {
				return true
			}
		}
		return f.says(names...)
	}
	switch {
	case f.says("roles must alternate", "system role not supported", "developer instruction is not enabled", "only one system message", "system message must be") ||
		(f.says("system role", "role 'system'", "role: system", "'system'") && f.says("support")):
		return changeSystem
	case f.says("must contain the word 'json'", "must contain the word \"json\"", "contain the word json"):
		return changeJSONWord
	case !refused:
		return noChange
	case about("max_tokens", "max_completion_tokens") && !f.outOfRange():
		return changeMaxTokens
	case about("response_format", "json_schema", "json_object", "structured output", "guided_json", "grammar"):
		return changeFormat
	case about("temperature") && !f.outOfRange():
		return changeTemperature
	case about("seed"):
		return changeSeed
	}
	return noChange
}

// netError says what it means that no whole reply came.
func netError(ctx context.Context, err error, timeout time.Duration) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errAttemptTimeout) {
		return ctx.Err() // the caller gave up
	}
	var timedOut net.Error
	var badCert *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(context.Cause(ctx), errAttemptTimeout), errors.As(err, &timedOut) && timedOut.Timeout():
		return &Error{Kind: Transient, Code: "timeout", Message: fmt.Sprintf("no whole reply within %s", timeout), Hint: "raise judge.timeout if the judge is slow", Err: err}
	case errors.Is(err, errTooLong):
		return &Error{Kind: Row, Code: "reply_too_long", Message: err.Error(), Err: err}
	case errors.As(err, &noTLS), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return &Error{Kind: Fatal, Code: "no_tls", Message: err.Error(), Hint: "the endpoint does not speak TLS there; judge.base_url must begin with http:// for it", Err: err}
	case errors.As(err, &badCert):
		return &Error{Kind: Fatal, Code: "tls", Message: err.Error(), Hint: "the endpoint's certificate is not trusted here; if a proxy signs anew, name its CA file in SSL_CERT_FILE", Err: err}
	case errors.As(err, &dns):
		return &Error{Kind: Transient, Code: "host_not_found", Message: err.Error(), Hint: "check the host in judge.base_url, and the network", Err: err}
	case errors.As(err, &op) && op.Op == "dial":
		return &Error{Kind: Transient, Code: "can_not_connect", Message: err.Error(), Hint: "is the endpoint up, and judge.base_url right?", Err: err}
	}
	return &Error{Kind: Transient, Code: "connection_lost", Message: err.Error(), Err: err}
}
