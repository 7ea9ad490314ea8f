package llm

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Here stands what servers say, in lower case. The wording is that of OpenAI,
// Azure, Anthropic, Gemini, Bedrock, Mistral, Groq, Together, Fireworks,
// DeepSeek, Moonshot, DashScope, Zhipu, xAI, OpenRouter, LiteLLM, vLLM, SGLang,
// TGI, llama.cpp, Ollama and LM Studio.

var (
	perMinute  = regexp.MustCompile(`per(?: \d+)?[ _-]?(?:min|sec|hour)|[a-z)\d] ?/ ?(?:m|min|minute|s|sec|second|h|hour)\b|\b[rtq]p[ms]\b|(?:last|a|any|one) minute|每分钟|每秒|每小时|retryinfo`)
	perDay     = regexp.MustCompile(`per(?: \d+)?[ _-]?day|per 86400 ?s|by ?day\b|今日|每日|当日|每天|[a-z)\d] ?/ ?day\b|\b[rtq]pd\b|\bdaily\b|24[ -]?h(?:r|our)?s?\b`)
	perMonth   = regexp.MustCompile(`per(?: \d+)?[ _-]?(?:month|week)|本月|每月|每周|[a-z)\d] ?/ ?(?:month|week)\b|\bmonthly\b|\bweekly\b|specified api usage limits|will regain access on`)
	concurrent = regexp.MustCompile(`concurren(?:t|cy)|parallel request|simultaneous|too many (?:active|open|pending) requests|in[ -]flight|并发`)
	overloaded = regexp.MustCompile(`overloaded|over capacity|at capacity|out of capacity|no capacity|insufficient capacity|capacity (?:temporarily )?(?:exceeded|constraints|limits)|server(?: is)? busy|too many connections|maximum pending requests|too busy|engine is busy|high (?:demand|load|traffic)|rate-limited upstream|queue is full`)
)

// noMoney are the ways to say it; "quota" alone may be one of requests.
var noMoney = regexp.MustCompile(`insufficient[ _](?:user[ _]|account[ _])?(?:balance|credit|fund|quota)|credit balance is too low|exceeded your current quota|payment required|out of credit|(?:no|not enough|low) (?:remaining |more |available )?(?:credit|balance|fund)|(?:credit|balance|quota)s? (?:(?:is|are|has been|have been) )?(?:exhausted|used up|depleted|not enough|insufficient)|requires more credits|can only afford|hard limit|budget (?:has been )?exceeded|exceeded (?:your |the )?budget|exceeds? budget|spend(?:ing)? limit|included credits|arrear|overdue|billing[^.]{0,60} (?:not (?:active|enabled)|disabled|to be enabled)|free (?:tier|trial|quota)[^.]{0,40}exhausted|exhausted (?:its|your) free|not in good standing|trial (?:has )?(?:expired|ended)|key limit exceeded|余额不足|欠费|额度不足|账户已欠费`)

// notCharged says of money that none was taken, as moderation does.
var notCharged = regexp.MustCompile(`no (?:credits?|funds|balance) (?:was|were|has been|have been|will be) (?:charged|used|deducted|consumed|spent)`)

// rateLimitWords are a limit of requests, whatever the code beside them says:
// some servers have one code for that and for an empty account.
var rateLimitWords = regexp.MustCompile(`rate limit|requests? limit|allocated quota exceeded`)

// overflowPhrase is a prompt that is too long for the model. "exceeds" or "too
// long" alone say nothing of the kind: see notOverflow.
var overflowPhrase = regexp.MustCompile(strings.Join([]string{
	`max(?:imum)? context`, `context[ _-]?(?:length|window|size|limit)s?[^.]{0,40}(?:exceed|overflow|too (?:small|short))`,
	`(?:exceed|overflow|larger than|longer than|bigger than|over|beyond|greater than|outside)[a-z]*\b[^.]{0,60}(?:context[ _-]?(?:length|window|size|limit)|context of|\bn_ctx|kv (?:cache )?size)`,
	`context (?:window )?(?:overflow|is full)`, `context shift is disabled`, `out of context`, `fit (?:in|into|within) (?:the|this) (?:model|context)`,
	`maximum (?:prompt|model|input) length`, `max(?:imum)? (?:number of )?input tokens`,
	`(?:prompts?|inputs?|messages?|conversation|chat history|query|text) (?:is|are|was|were)? ?(?:far |much )?too (?:long|large|big)`,
	`(?:prompt|input) (?:tokens? )?(?:length|count|tokens)[^.]{0,40}(?:exceed|too (?:long|large))`, `(?:prompt|input) (?:length |size )?exceeds? (?:the )?(?:max|limit|model)`,
	`input token count[^.]{0,60}(?:exceed|supports? up to)`, `too many (?:input|prompt) tokens`, `too many tokens: `, `too large for (?:the )?model`,
	`reduce the (?:length|size|number of tokens) (?:of|in) (?:the|your) (?:input |chat )?(?:messages|prompt|input|contexts?)`, `(?:provide|use) a shorter (?:input|prompt)`,
	`range of input length`, `exceeded model token limit`, `n_keep\b[^.]{0,30}n_ctx`, `total tokens limit`, `must have less than \d+ tokens`,
	"inputs` tokens \\+", `expected maxlength`, `body too large for [^.]{1,40} model`, `超长|超出.{0,12}(?:长度|上下文)|(?:输入|上下文).{0,4}过长|(?:输入|上下文|token|prompt|消息).{0,8}超过.{0,12}(?:长度|上下文|token|限制)`,
}, "|"))

// overflowShape is what most ways to say it have in common: something of the
// prompt, and that it is more than a bound. Servers without a wording of their
// own for a limit a minute use the same words, so that it counts for no 429.
var overflowShape = regexp.MustCompile(strings.Join([]string{
	`\b(?:(?:prompt|input)[ _])?(?:tokens?|token (?:count|length)|length|prompt|input|input text|text|messages|conversation|context)\b[^.]{0,60}?(?:\bexceed[a-z]*|\b(?:more|greater|larger|longer|bigger) than|\bis (?:limited to|over)|must be (?:less than|in)|not exceed| > )[^.]{0,40}?(?:\bmax|\blimit|\bwindow|\bcontext|\d{3,})`,
	`exceed[a-z]*\b[^.]{0,40}(?:token limit|(?:max[a-z]*|limit of \d+) (?:number of |prompt |input )?tokens?\b|max_(?:model|seq|num)_|sequence length|max sequence)`,
	`token limit (?:was |has been |is )?exceeded|too many tokens|max(?:imum)? (?:sequence length|input characters|prompt tokens)|(?:request|prompt|input)[a-z ]*too large for (?:this|the) model|messages? you submitted (?:was|is) too long`,
	`context length is \d+ tokens but`,
}, "|"))

// notOverflow is something else that is too long, or a limit of use.
var notOverflow = regexp.MustCompile(`quota|rate limit|maximum tokens you requested|(?:output|completion|generated|new) tokens\b[^.]{0,40}exceed|per (?:minute|second|hour|day)|please wait|context (?:deadline|canceled)|(?:request )?(?:url|uri|header|name|id) (?:is )?too (?:long|large)`)

// contentFilter is a refusal of what a sample says.
var contentFilter = regexp.MustCompile(`content[ _]?management policy|content[ _-]?polic(?:y|ies)|content[ _-]filter|responsibleai|flagged (?:by|as|for)|requires moderation|inappropriate content|safety (?:policy|system|check|filter|settings)|prohibited[ _]content|content exists risk|considered high[ -]risk|new_sensitive|usage (?:guidelines|policy|policies)|guardrail|prompt was blocked|blocked by (?:the )?(?:safety|moderation|content)|content (?:was |is |has been )?blocked|content is illegal|(?:text|data|content|input) may contain (?:inappropriate|sensitive|unsafe)|(?:unsafe|sensitive)(?: or (?:sensitive|unsafe))? (?:content|words?|information)|moderation|jailbreak|prompt[ _]injection|敏感|违规内容|不安全`)

// aboutAccount is a refusal of who asks, in words that are also said of what is
// asked.
var aboutAccount = regexp.MustCompile(`(?:your|this|the) (?:api[ _-]?key|account|organi[sz]ation|project|team)[^.]{0,30} (?:flagged|violat|suspended|disabled|banned|blocked|terminated)|account (?:has been |is |was )(?:flagged|suspended|disabled|banned|terminated)`)

// regionRefused is a place from which no call is taken.
var regionRefused = regexp.MustCompile(`(?:country|region|territory|location)[^.]{0,40}(?:not (?:supported|available|allowed|permitted)|unsupported)|(?:not (?:supported|available|allowed|permitted)|unsupported) (?:in|for|from) (?:your|this) (?:country|region|territory|location)|unsupported_country`)

// modelGone says of a model that it isn't there, or not any more.
var (
	modelGone  = regexp.MustCompile(`does not exist|doesn't exist|not exist\b|not[ _]found|no such model|unknown model|invalid model|not a valid model|model identifier is invalid|provider not provided|on-demand throughput|不存在|decommissioned|no longer (?:available|supported|offered|served)|(?:has been|was|been|is) (?:deprecated|retired|removed|sunset|discontinued|shut ?down|disabled|deactivated|withdrawn)|end[ -]of[ -]life|(?:reached|past) its (?:retirement|shutdown)|is not available|not (?:been )?deployed|unable to access model|(?:no|not have|don't have|doesn't have|without) access|no models? loaded|no endpoints found|not supported (?:by|for|on|in) (?:this )?(?:api|endpoint|account|project)|model (?:is )?not supported|unsupported model`)
	aboutModel = []string{"model", "models", "deployment", "engine", "model_group", "model_id", "endpoints", "模型"}
)

// neverHeals is a fault that the same request meets again, whatever its status.
var neverHeals = regexp.MustCompile(`jinja|chat[ _-]?template|template(?:error| error| exception)|undefinederror|grammar|(?:json[ _-]?|response )schema|schema (?:conversion|validation|error)|invalid_request_error|invalid[ _]argument|validation ?error|unprocessable|badrequesterror`)

// wrongKey is a key that is not accepted.
var wrongKey = regexp.MustCompile(`(?:incorrect|invalid|missing|wrong|expired|revoked|disabled|bad|malformed|unknown|no) (?:api[ _-]?key|access token|auth token|credentials?|x-api-key|authentication)|api[ _-]?key (?:is |was |has |not )?(?:been )?(?:not valid|not found|invalid|missing|expired|revoked|disabled|required|incorrect|valid)|no auth credentials|unauthenticated|invalid (?:authorization|bearer)|token (?:is |has )?expired|authentication (?:error|failed)|api[ _-]?key (?:does not|doesn.t) exist|authorization header (?:is |was )?(?:missing|required|not)|missing (?:the )?authorization|(?:didn.t|not|must) provide an api[ _-]?key|not authenticated|access token (?:is )?(?:invalid|expired)|login fail|account (?:has been |is |was )?(?:deactivated|suspended|disabled|banned)`)

func (f facts) daily() bool {
	if !f.limitLike() || !f.matches(perDay) {
		return false
	}
	// A sentence that names both limits, with a short wait, is about the short one.
	return !(f.matches(perMinute) && f.wait > 0 && f.wait <= time.Hour && !f.codeMatches(perDay))
}

func (f facts) codeMatches(re *regexp.Regexp) bool {
	for _, c := range f.codes {
		if re.MatchString(c) {
			return true
		}
	}
	return false
}

// limitLike reports that the reply is about a limit of use, and not about a
// parameter whose description happens to hold the same words.
func (f facts) limitLike() bool {
	switch f.status {
	case http.StatusTooManyRequests, http.StatusPaymentRequired, http.StatusForbidden, http.StatusRequestEntityTooLarge:
		return true
	}
	return f.code("resource_exhausted", "rate_limit_exceeded", "rate_limit_error", "insufficient_quota", "requests", "tokens", "throttling", "throttlingexception", "usage_limit_reached") ||
		f.says("rate limit", "ratelimit", "rate-limit", "too many requests", "quota", "usage limit", "request limit", "requests limit")
}

// money reports an account that has none. A wait that is short says that it is
// a limit a minute after all, which new accounts have on what they spend.
func (f facts) money() bool {
	if f.code("insufficient_quota") && f.status == http.StatusTooManyRequests && rateLimitWords.MatchString(f.text) {
		return false
	}
	if f.code("insufficient_quota", "terminal_quota_exhausted", "allocationquota.freetieronly", "billing_hard_limit_reached", "billing_not_active", "billing_not_enabled", "insufficient_balance", "insufficient_credits", "insufficient_user_quota",
		"insufficient_funds", "exceeded_current_quota_error", "budget_exceeded", "billing_error", "billing_disabled", "arrearage", "payment_required") {
		return true
	}
	short := f.wait > 0 && f.wait <= time.Hour
	if noMoney.MatchString(notCharged.ReplaceAllString(f.text, "")) || slices.ContainsFunc(f.codes, noMoney.MatchString) {
		return !(short && f.status == http.StatusTooManyRequests)
	}
	return !short && (f.status == http.StatusPaymentRequired || f.code("credit_limit_reached", "credit_limit"))
}

// tooLargeForLimit reports a single request above the whole limit of tokens a
// minute: no wait helps.
func (f facts) tooLargeForLimit() bool {
	if f.says("request too large") && !f.html {
		return true
	}
	limit, requested, ok := f.limitAndRequested()
	return ok && requested > limit && f.limitLike() && f.matches(perMinute)
}

// overflow reports a prompt that is too long for the model.
func (f facts) overflow() bool {
	if f.code("context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "contextwindowexceedederror", "model_max_prompt_tokens_exceeded",
		"tokens_limit_reached", "context_too_long", "prompt_too_long", "input_too_long", "max_context_length_exceeded") {
		return true
	}
	if f.html || f.status == http.StatusNotFound {
		return false
	}
	if f.says("contextwindowexceedederror") || noRoomLeft.MatchString(f.text) || (f.says("string too long") && f.says("'messages[", "'input", "'prompt")) {
		return true
	}
	shape := f.status != http.StatusTooManyRequests && overflowShape.MatchString(f.text)
	return (shape || overflowPhrase.MatchString(f.text)) && !notOverflow.MatchString(f.text) && !f.onlyMaxTokens()
}

// noRoomLeft is a bound of the reply that the server worked out by itself, as
// what the prompt leaves of the context.
var noRoomLeft = regexp.MustCompile(`max_[a-z_]*tokens?\b[^.]{0,60}[ (=]-\d`)

// onlyMaxTokens reports a complaint about the bound of the reply that names no
// prompt.
func (f facts) onlyMaxTokens() bool {
	if !f.names("max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens") {
		return false
	}
	if maxTokensExceeds.MatchString(f.text) && !f.says("prompt", "input", "messages") {
		return true
	}
	return !f.says("context length", "context limit", "context size", "context window", "prompt", "input", "messages")
}

var maxTokensExceeds = regexp.MustCompile(`max_[a-z_]*tokens[^.]{0,40}exceed`)

// notChat is a model that is called in another way.
var notChat = regexp.MustCompile(`only (?:supported|available) (?:in|through|via|with) (?:the )?/?v1/responses|not a chat model|not supported in the v1/chat|does not support chat\b|chat ?completion operation does not work|is an? (?:embedding|completion|rerank)[a-z]* model`)

// streamOnly is a model that answers in pieces only.
var streamOnly = regexp.MustCompile(`only supports? stream|enable the stream parameter|stream(?:ing)? (?:must be|is) (?:set to true|required|enabled)|requires? stream`)

// wantsJSONWord is a server that takes json_object only where the prompt says so.
var wantsJSONWord = regexp.MustCompile(`(?:contain|include|mention|have)s? (?:the )?(?:word |string )?["'` + "`" + `]?json\b`)

// outOfRange reports that a parameter's value, and not the parameter, is refused.
func (f facts) outOfRange() bool {
	return f.says("between", "less than", "greater than", "at most", "at least", "exceed", "too large", "too high", "too low", "non-negative", "<=", ">=", "must be in", "range", "maximum", "out of bound", "which is the")
}

// refusing reports that a part of a request is refused.
func (f facts) refusing() bool {
	switch f.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return !f.html && refusing.MatchString(f.text)
}

var refusing = regexp.MustCompile(`unsupported|n[o']t support|not (?:yet |currently )?(?:supported|implemented|enabled|available|permitted|allowed|recognized|valid|accepted|compatible|applicable)|(?:is|are) (?:not|un)available|cannot be used|can't be used|unrecognized|unknown|unexpected|extra inputs|extra_forbidden|additional propert|deprecated|only the default|only (?:supports?|temperature)|must (?:be|not|contain)|should (?:be|not|match)|has to be|may only be|only one of|does(?: not|n.t) accept|requires|unimplemented|no endpoints found that|too large|vocabulary required|不支持|非法|有误|无效|invalid|incompatible|permitted:|supported values|unavailable|use 'max_completion_tokens'|cannot both|mutually exclusive|both be (?:specified|set)|either .{1,40} or |fail(?:ed)? to (?:compile|parse|initialize|convert)|could ?n.t (?:compile|parse)|too (?:complex|many)|disabled|conversion failed`)

// parameterName is what a message calls by its name, where it speaks of one.
var parameterName = regexp.MustCompile(`(?:unsupported|unknown|unrecognized|invalid|unexpected|extra|additional)[a-z ]*?(?:parameters?|arguments?|fields?|propert(?:y|ies)|names?|inputs?|supplied|keyword argument|value|variant)?s?\s*:?\s*["'` + "`" + `]([a-z_]+)`)

// about reports which of the parts is refused: the one that is named as a
// parameter, else one that is spoken of.
func (f facts) about(names ...string) bool {
	known := func(s string) bool { return partOf(s) != "" }
	for _, named := range []string{f.param, firstMatch(parameterName, f.text)} {
		if named = partName(named); known(named) {
			for _, n := range names {
				if n == named {
					return true
				}
			}
			return false
		}
	}
	return f.names(names...)
}

func firstMatch(re *regexp.Regexp, s string) string {
	if m := re.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// partName is the first part of a dotted name: response_format.type.
func partName(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(s), ".")
	return s
}

// The words for each part of a request that can be left out or replaced.
var (
	maxTokensWords = []string{"max_tokens", "max_completion_tokens", "maxtokens", "maxcompletiontokens"}
	logprobsWords  = []string{"top_logprobs", "logprobs", "logprob"}
	formatWords    = []string{"response_format", "json_schema", "json_object", "response format", "structured output", "structured outputs", "guided_json", "guided decoding", "grammar", "grammars",
		"json mode", "json output", "json schema", "constrained decoding", "required for format", "response_schema", "responseschema", "response_mime_type", "additionalproperties", "json_mode", "schema"}
)

func partOf(name string) change {
	for _, p := range []struct {
		change change
		words  []string
	}{{changeMaxTokens, maxTokensWords}, {changeFormat, formatWords}, {changeTemperature, []string{"temperature"}}, {changeTopP, []string{"top_p"}}, {changeSeed, []string{"seed"}}, {changeLogprobs, logprobsWords}} {
		for _, w := range p.words {
			if w == name {
				return p.change
			}
		}
	}
	return noChange
}
