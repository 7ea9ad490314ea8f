package llm

import (
	"fmt"
	"net/http"
	"slices"
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
	changeTopP        change = "top_p"
	changeSeed        change = "seed"
	changeSystem      change = "system role"
	changeJSONWord    change = "the word JSON"
	changeLogprobs    change = "logprobs"
	// changeRoom makes this request's bound on the reply smaller; changeCeiling
	// that of every request of the model.
	changeRoom    change = "room for the reply"
	changeCeiling change = "longest reply"
)

// rule is one line of the table by which a refusal is understood: either
// another form of the request that may be taken (adapt), which is noted, or what
// the refusal means where no such form is left, which ends the search. What the
// body says goes before the status, so the order of the table matters.
type rule struct {
	when  func(facts) bool
	adapt change
	kind  Kind
	code  string
	hint  string
}

// The hints that more than one rule gives.
const (
	hintKey   = "check that the environment variable named by judge.api_key_env holds a valid key for this endpoint"
	hintURL   = "check judge.base_url: is the /v1 at its end missing, or doubled?"
	hintMoney = "the account has no money left, or has reached a bound on what may be spent: see to it at the provider, then run the same command again"
	hintModel = "check judge.model against the endpoint's list of models"
	hintAzure = "check three things: the host in judge.base_url (https://NAME.openai.azure.com, no path), the deployment's name in judge.model (not the model's), and judge.api_version (a version of the API, not of the model)"
	hintLong  = "this sample is too long for the judge; retrieve less for it, or take a judge with a longer context"
	hintReply = "lower judge.max_tokens"
)

func status(any ...int) func(facts) bool {
	return func(f facts) bool { return slices.Contains(any, f.status) }
}

func code(any ...string) func(facts) bool { return func(f facts) bool { return f.code(any...) } }

// refuses is a refusal of a part of the request, by its names.
func refuses(names ...string) func(facts) bool {
	return func(f facts) bool { return f.refusing() && f.about(names...) }
}

// rules is the table. Its parts: what is no API; limits and money; what the
// sample says or how long it is; who may ask; the form of the request; the model
// and the address; and, at the end, what the status alone tells.
var rules = []rule{
	{when: func(f facts) bool { return f.html && f.status < 300 }, kind: Fatal, code: "not_an_api", hint: "a web page answers there: " + hintURL},
	{when: func(f facts) bool {
		return f.status < 500 && f.says("request was sent to https port", "http request to an https server")
	}, kind: Fatal, code: "no_tls", hint: "the endpoint speaks TLS there; judge.base_url must begin with https:// for it"},
	{when: func(f facts) bool {
		return f.status < 500 && f.says("unexpected endpoint or method", "unknown endpoint")
	}, kind: Fatal, code: "not_found", hint: hintURL},
	{when: status(http.StatusProxyAuthRequired), kind: Fatal, code: "proxy_auth", hint: hintProxy},

	{when: facts.tooLargeForLimit, adapt: changeRoom},
	{when: facts.tooLargeForLimit, kind: Row, code: "request_above_token_limit", hint: "this sample alone is above the endpoint's tokens a minute; shorten its contexts or lower judge.max_tokens"},
	{when: facts.daily, kind: WaitTooLong, code: "daily_quota", hint: "the quota is for a day; run again after it is reset, or ask the provider for more"},
	{when: func(f facts) bool { return f.limitLike() && f.matches(concurrent) }, kind: RateLimited, code: "concurrency_limit", hint: "lower limits.concurrency"},
	{when: func(f facts) bool { return f.limitLike() && f.matches(perMinute) }, kind: RateLimited, code: "rate_limited"},
	{when: facts.money, kind: Fatal, code: "insufficient_quota", hint: hintMoney},
	{when: status(http.StatusPaymentRequired), kind: RateLimited, code: "rate_limited"}, // it passes in a short while
	{when: func(f facts) bool {
		return f.limitLike() && (f.matches(perMonth) || (f.code("usage_limit_reached") && (f.wait == 0 || f.wait > time.Hour)))
	}, kind: WaitTooLong, code: "usage_limit", hint: "the account's use for this period is spent; run again when it is renewed, or raise the limit at the provider"},

	{when: func(f facts) bool {
		return f.code("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed", "datainspectionfailed", "moderation_blocked", "contentpolicyviolationerror", "block_reason", "invalid_prompt", "contentfilter", "guardrail_intervened", "sensitivecontentdetected", "inputtextsensitivecontentdetected", "sensitive_words_detected") ||
			f.filtered()
	}, kind: Row, code: "content_filter", hint: "the provider's filter refuses this sample"},
	{when: facts.overflow, adapt: changeRoom},
	{when: facts.overflow, kind: Row, code: "context_too_long", hint: hintLong},

	{when: func(f facts) bool { return f.matches(regionRefused) }, kind: Fatal, code: "region_refused", hint: "the provider takes no calls from this place; use an endpoint that does"},
	{when: func(f facts) bool {
		return f.status == http.StatusUnauthorized || f.code("invalid_api_key", "authentication_error", "invalid_authentication", "invalid_authentication_error", "authenticationerror", "account_deactivated", "unauthenticated") ||
			(!f.html && wrongKey.MatchString(f.text))
	}, kind: Fatal, code: "invalid_api_key", hint: hintKey},
	{when: code("rate_limit_exceeded", "rate_limit_error", "ratelimitreached", "throttling", "throttlingexception", "too_many_requests"), kind: RateLimited, code: "rate_limited"},

	{when: facts.aboveCeiling, adapt: changeCeiling},
	{when: facts.aboveCeiling, kind: Row, code: "max_tokens_too_high", hint: hintReply},
	{when: facts.noSystemRole, adapt: changeSystem},
	{when: func(f facts) bool {
		return !f.html && wantsJSONWord.MatchString(f.text)
	}, adapt: changeJSONWord},
	{when: func(f facts) bool { return refuses(maxTokensWords...)(f) && !f.outOfRange() }, adapt: changeMaxTokens},
	{when: func(f facts) bool { return f.status < 500 && f.says("max_tokens") && f.says("required", "missing") }, adapt: changeMaxTokens},
	{when: func(f facts) bool { return f.says("no endpoints found that can handle the requested parameters") }, adapt: changeFormat},
	{when: func(f facts) bool { return f.says("no endpoints found that can handle the requested parameters") }, adapt: changeSeed},
	{when: refuses("top_p"), adapt: changeTopP},
	{when: func(f facts) bool { return refuses("temperature")(f) && !f.outOfRange() }, adapt: changeTemperature},
	{when: refuses("seed"), adapt: changeSeed},
	{when: func(f facts) bool {
		return refuses(logprobsWords...)(f) || f.status >= 400 && f.status < 500 && f.names(logprobsWords...) && f.outOfRange()
	}, adapt: changeLogprobs},
	{when: refuses(formatWords...), adapt: changeFormat},
	{when: func(f facts) bool {
		return f.status >= 400 && f.status < 500 && f.names("temperature") && f.outOfRange()
	},
		kind: Fatal, code: "bad_parameter", hint: "the endpoint does not take this judge.temperature"},

	{when: func(f facts) bool { return f.status < 500 && !f.html && streamOnly.MatchString(f.text) }, kind: Fatal, code: "stream_only", hint: "this model answers in pieces only, and whole replies are asked for; take another model, or a gateway that puts them together"},
	{when: func(f facts) bool {
		return f.status < 500 && f.says("api version not supported", "unsupported api version")
	}, kind: Fatal, code: "bad_api_version", hint: hintAzure},
	{when: func(f facts) bool { return !f.html && notChat.MatchString(f.text) }, kind: Fatal, code: "not_a_chat_model", hint: "this model does not answer chats; " + hintModel},
	{when: status(http.StatusGone), kind: Fatal, code: "model_not_found", hint: hintModel + "; this one may have been retired"},
	{when: code("deploymentnotfound", "deployment_not_found"), kind: Fatal, code: "deployment_not_found", hint: hintAzure},
	{when: func(f facts) bool {
		// A 5xx that says so is about a model that is not up at present.
		return f.code("model_not_found", "model_decommissioned", "model_deprecated", "model_not_available", "invalid_model", "unknown_model", "model_not_supported", "modelnotfound") ||
			(f.status >= 400 && f.status < 500 && !f.html && f.names(aboutModel...) && modelGone.MatchString(f.text))
	}, kind: Fatal, code: "model_not_found", hint: hintModel},
	{when: status(http.StatusForbidden), kind: Fatal, code: "forbidden", hint: hintKey + "; it may lack a permission, or the endpoint may refuse this place"},
	{when: status(http.StatusNotFound, http.StatusMethodNotAllowed), kind: Fatal, code: "not_found", hint: hintURL},

	{when: func(f facts) bool {
		return f.status == 529 || f.code("overloaded_error", "engine_overloaded_error", "server_overloaded", "model_overloaded") || ((f.status >= 424 || f.status < 300) && f.matches(overloaded))
	},
		kind: RateLimited, code: "overloaded"},
	{when: func(f facts) bool {
		return f.status == http.StatusTooManyRequests || f.code("resource_exhausted") || ((f.status >= 500 || f.status < 300) && !f.html && f.says("rate limit", "ratelimit", "request limit")) || (!f.html && f.says("too many requests"))
	}, kind: RateLimited, code: "rate_limited"},
	{when: func(f facts) bool { return f.status >= 300 && f.status < 400 }, kind: Fatal, code: "redirected", hint: "the endpoint sends elsewhere; give the address that it names as judge.base_url"},
	{when: status(http.StatusNotImplemented, http.StatusHTTPVersionNotSupported), kind: Fatal, code: "unsupported", hint: hintURL},
	{when: func(f facts) bool { return f.status == http.StatusRequestEntityTooLarge }, kind: Row, code: "request_too_large", hint: "the endpoint, or a gateway before it, takes no request of this size; retrieve less for this sample"},
	{when: func(f facts) bool { return f.status >= 500 && !f.html && f.matches(neverHeals) }, kind: Row, code: "bad_request", hint: "the server fails at this request each time; its message says at what"},
	{when: func(f facts) bool {
		return f.status >= 500 || f.status == http.StatusRequestTimeout || f.status == http.StatusConflict || f.status == http.StatusTooEarly || f.status == 499
	}, kind: Transient},
	{when: func(f facts) bool { return f.status >= 400 }, kind: Row, code: "bad_request"},
	{when: func(f facts) bool { return f.isError && f.matches(neverHeals) }, kind: Row, code: "bad_request"},
	{when: func(f facts) bool { return f.isError }, kind: Transient, code: "error_in_reply"},
}

// noSystemRole reports a model whose template has no place for a system
// message.
func (f facts) noSystemRole() bool {
	return f.says("roles must alternate", "role must alternate", "system role not supported", "developer instruction is not enabled", "one system message", "multiple system messages", "system message must be",
		"system messages are not", "only user and assistant roles", "only user, assistant", "first message must be from user", "must start with a user message", "alternate between user", "first message to be from user", "first message must be a user", "must start with a user", "role must be in", "should be 'user' or 'assistant'", "unexpected role system", "unknown role: system", "unknown role system") ||
		(f.says("system role", "role 'system'", "role \"system\"", "role: system", "role `system`", "'system'", "system prompt", "system message", "system instruction") && f.says("support", "not allowed", "not permitted", "invalid", "unexpected", "is not one of", "not enabled"))
}

// filtered reports that what a sample says is refused, and not who asks, nor
// that the filter is down.
func (f facts) filtered() bool {
	switch {
	case f.html, f.status == http.StatusUnauthorized, f.status == http.StatusNotFound, f.status == http.StatusTooManyRequests:
		return false
	case f.status >= 500 && f.says("unavailable", "timed out", "timeout"):
		return false
	}
	return f.matches(contentFilter) && !aboutAccount.MatchString(f.text)
}

// diagnosis is what a refusal means: the error, and the changes of form that
// the request may be tried in before it counts.
type diagnosis struct {
	err   *Error
	adapt []change
	facts facts
}

// diagnose reads a reply that is no answer.
func diagnose(status int, h http.Header, body []byte, now time.Time) diagnosis {
	f := factsOf(status, h, body)
	f.wait = toldWait(h, body, now)
	d := diagnosis{facts: f, err: &Error{Kind: Transient, Code: "unreadable_reply", Status: status, Message: f.message}}
	for _, r := range rules {
		if !r.when(f) {
			continue
		}
		if r.adapt != noChange {
			if !slices.Contains(d.adapt, r.adapt) {
				d.adapt = append(d.adapt, r.adapt)
			}
			continue
		}
		d.err = &Error{Kind: r.kind, Code: r.code, Status: status, Message: f.message, Hint: r.hint, RetryAfter: f.wait}
		if r.code == "" {
			d.err.Code = fmt.Sprintf("http_%d", f.status)
		}
		if r.code == "redirected" {
			d.err.Message = "to " + h.Get("Location")
		}
		return d
	}
	return d
}

// classify says what a reply that is no answer means for the run.
func classify(status int, h http.Header, body []byte, now time.Time) *Error {
	return diagnose(status, h, body, now).err
}
