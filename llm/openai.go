package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"
)

// The defaults of OpenAIConfig.
const (
	DefaultBaseURL    = "https://api.openai.com/v1"
	DefaultAPIVersion = "2024-10-21" // of Azure: the latest that is generally available
	DefaultTimeout    = 60 * time.Second
)

// The providers that OpenAI speaks to.
const (
	ProviderOpenAI = "openai"
	ProviderAzure  = "azure"
)

// The values of OpenAIConfig.Structured: which forms of JSON reply are asked for.
const (
	StructuredAuto   = "auto"        // the strongest that the server takes
	StructuredSchema = "json_schema" // a schema, or nothing
	StructuredObject = "json_object" // a JSON object
	StructuredPlain  = "plain"       // only the prompt asks for JSON
)

// OpenAIConfig says which endpoint is called, and how.
type OpenAIConfig struct {
	// Provider is ProviderOpenAI, for any compatible endpoint, or ProviderAzure.
	Provider string
	// BaseURL is the endpoint; empty for OpenAI itself. For Azure it is the
	// resource's address, https://NAME.openai.azure.com.
	BaseURL string
	// APIKey is sent with each request; empty for none.
	APIKey string
	// Organization and Project go into OpenAI's headers of these names.
	Organization, Project string
	// APIVersion is Azure's; empty for DefaultAPIVersion.
	APIVersion string
	// Headers are sent with each request, over all others.
	Headers map[string]string
	// Timeout is the deadline of one attempt; 0 for DefaultTimeout.
	Timeout time.Duration
	// Concurrency is the most calls at once, for which connections are kept; 0
	// for DefaultConcurrency.
	Concurrency int
	// Structured is one of the constants of that name; empty for StructuredAuto.
	Structured string
	// OnHeaders is told what each reply says of the server's limits; may be nil.
	OnHeaders func(RateInfo)
	// Logger gets a line when something is learnt about the server; nil for none.
	Logger *slog.Logger
}

// OpenAI calls any OpenAI-compatible chat endpoint, through go-openai. What a
// server refuses of a request's form it learns once for each model and leaves
// out from then on: see Learnt. While nothing is known of a model, its first
// call goes alone, so that a wrong key or a refused parameter costs one call
// and not one for each worker.
type OpenAI struct {
	cfg      OpenAIConfig
	endpoint string
	client   *openai.Client
	secrets  secrets
	forms    forms
}

// NewOpenAI returns a backend. It makes no call.
func NewOpenAI(cfg OpenAIConfig) (*OpenAI, error) {
	base, err := baseURL(cfg.Provider, cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), DefaultTimeout)
	cfg.Concurrency = cmp.Or(max(cfg.Concurrency, 0), DefaultConcurrency)
	cfg.Structured = cmp.Or(cfg.Structured, StructuredAuto)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.APIKey = strings.TrimSpace(cfg.APIKey); strings.ContainsFunc(cfg.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key holds a blank, a line end or a character that no key has: was it pasted whole?")
	}
	conf := openai.DefaultConfig(cfg.APIKey)
	conf.BaseURL = base
	if cfg.Provider == ProviderAzure {
		conf = openai.DefaultAzureConfig(cfg.APIKey, base)
		conf.APIVersion = cmp.Or(cfg.APIVersion, DefaultAPIVersion)
		// A deployment is called as it is named; go-openai would strip dots.
		conf.AzureModelMapperFunc = func(model string) string { return url.PathEscape(model) }
	}
	conf.OrgID = cfg.Organization
	headers := map[string]string{}
	if cfg.Project != "" {
		headers["OpenAI-Project"] = cfg.Project
	}
	for k, v := range cfg.Headers {
		headers[k] = v
	}
	conf.HTTPClient = &wire{rt: newTransport(cfg.Concurrency), headers: headers}
	return &OpenAI{
		cfg: cfg, endpoint: cmp.Or(cfg.Provider, ProviderOpenAI) + " " + base,
		client: openai.NewClientWithConfig(conf), secrets: newSecrets(cfg.APIKey, cfg.Headers),
		forms: forms{log: cfg.Logger, structured: cfg.Structured},
	}, nil
}

// baseURL checks an address and takes off what is often pasted with it.
func baseURL(provider, text string) (string, error) {
	if text == "" && provider != ProviderAzure {
		return DefaultBaseURL, nil
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("judge.base_url: it is no URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", fmt.Errorf("judge.base_url: %q must begin with https:// or http:// and name a host", u.Redacted())
	case u.User != nil:
		return "", errors.New("judge.base_url: user and password don't belong in the address; use judge.headers or a key")
	case u.RawQuery != "":
		return "", errors.New("judge.base_url: it must not hold a query; Azure's version is judge.api_version")
	}
	u.Fragment = ""
	u.Path = strings.TrimRight(u.Path, "/")
	u.Path = strings.TrimSuffix(u.Path, "/chat/completions")
	if provider == ProviderAzure {
		u.Path, _, _ = strings.Cut(u.Path, "/openai") // go-openai puts the rest behind it
	}
	return u.String(), nil
}

// Endpoint identifies the endpoint in requests: provider and address, no key.
func (o *OpenAI) Endpoint() string { return o.endpoint }

// Learnt says in words what each model's server was found not to take.
func (o *OpenAI) Learnt() []string { return o.forms.learnt() }

// Complete sends one request, and once more for each thing that is learnt about
// the server by it.
func (o *OpenAI) Complete(ctx context.Context, req *Request) (*Response, error) {
	done, err := o.forms.enter(ctx, req.Model)
	if err != nil {
		return nil, err
	}
	resp, err := o.attempt(ctx, req)
	done(err)
	return resp, err
}

func (o *OpenAI) attempt(ctx context.Context, req *Request) (*Response, error) {
	for {
		form := o.forms.get(req.Model)
		messages, merr := form.messages(req)
		if merr != nil {
			return nil, merr
		}
		x := &exchange{messages: messages, extra: form.extra(req)}
		err := o.send(ctx, x, form, req)
		if x.header != nil && o.cfg.OnHeaders != nil {
			if info := o.rates(x.header); !info.empty() {
				o.cfg.OnHeaders(info)
			}
		}
		if err != nil {
			return nil, o.clean(err)
		}
		resp, rerr := decodeReply(x)
		if rerr == nil {
			return resp, nil
		}
		// Again, without any key that it may echo: from here on it is told to
		// people. What it means stays.
		x.body = []byte(o.secrets.redact(string(x.body)))
		if rerr.Code != "empty_response" && rerr.Code != "redirected" {
			rerr.Message = factsOf(x.status, x.header.Get("Content-Type"), x.body).message
		}
		refused := noChange
		if rerr.Kind != Fatal || rerr.Code == "not_found" {
			refused = refusedForm(x.status, x.header.Get("Content-Type"), x.body)
		}
		if refused == noChange || !o.forms.change(req, form, refused, rerr.Message) {
			return nil, o.clean(rerr)
		}
	}
}

// rates reads what the headers tell of limits. Groq's header for requests is
// about a day, and would make a pace of a thousand times too many a minute.
func (o *OpenAI) rates(h http.Header) RateInfo {
	info := ratesOf(h, time.Now())
	if strings.Contains(o.endpoint, ".groq.com") {
		info.LimitRequests, info.RemainingRequests, info.ResetRequests = nil, nil, nil
	}
	return info
}

// send makes one HTTP call; x then holds what came of it.
func (o *OpenAI) send(ctx context.Context, x *exchange, form form, req *Request) error {
	ctx, cancel := withDeadline(ctx, o.cfg.Timeout)
	defer cancel()
	_, err := o.client.CreateChatCompletion(context.WithValue(ctx, exchangeKey{}, x), form.request(req))
	switch {
	case x.err != nil:
		return netError(ctx, x.err, o.cfg.Timeout)
	case !x.sent && err != nil:
		// One of go-openai's own checks, which know some models by name.
		return &Error{Kind: Fatal, Code: "model_refused", Message: err.Error(), Hint: hintModel, Err: err}
	}
	return nil
}

func (o *OpenAI) clean(err error) error {
	if e, ok := err.(*Error); ok {
		e.Message = o.secrets.redact(e.Message)
		if e.Err != nil && o.secrets.redact(e.Err.Error()) != e.Err.Error() {
			e.Err = nil // it would print the key
		}
	}
	return err
}

// reply is a chat completion, with the fields that servers write in several
// ways left raw.
type reply struct {
	Model       string          `json:"model"`
	Fingerprint string          `json:"system_fingerprint"`
	Error       json.RawMessage `json:"error"`
	Choices     []struct {
		Error        json.RawMessage `json:"error"`
		FinishReason json.RawMessage `json:"finish_reason"`
		Message      struct {
			Content json.RawMessage `json:"content"`
			Refusal json.RawMessage `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage map[string]json.RawMessage `json:"usage"`
}

// decodeReply makes a Response of a reply, or says what else it is.
func decodeReply(x *exchange) (*Response, *Error) {
	if x.status != http.StatusOK && x.status/100 != 2 {
		return nil, classify(x.status, x.header, x.body, time.Now())
	}
	r, err := readReply(x.body)
	if err != nil || len(r.Choices) == 0 || told(r.Error) || told(r.Choices[0].Error) {
		body := x.body
		if err == nil && len(r.Choices) > 0 && told(r.Choices[0].Error) {
			body = append(append([]byte(`{"error":`), r.Choices[0].Error...), '}')
		}
		e := classify(x.status, x.header, body, time.Now())
		if err == nil && e.Code == "unreadable_reply" {
			e.Code, e.Message = "empty_response", "the reply has no choices"
		}
		return nil, e
	}
	c := r.Choices[0]
	resp := &Response{
		Refusal: text(c.Message.Refusal), FinishReason: finishReason(text(c.FinishReason)),
		Model: r.Model, Fingerprint: r.Fingerprint, Usage: usageOf(r.Usage),
	}
	var refused string
	resp.Content, refused = content(c.Message.Content)
	resp.Refusal = cmp.Or(resp.Refusal, refused)
	if resp.FinishReason == "error" { // a router whose upstream broke off
		return nil, &Error{Kind: Transient, Code: "error_in_reply", Status: x.status, Message: readable(resp.Content)}
	}
	return resp, nil
}

// bareNumber is a number that is none in JSON, where some servers write one.
var bareNumber = regexp.MustCompile(`([:\[,]\s*)(?:-?Infinity|NaN)(\s*[,\]}])`)

// readReply decodes a reply. A reply has been paid for: what is odd about it
// beside the answer is no reason to buy it again.
func readReply(body []byte) (r reply, err error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if err = json.Unmarshal(body, &r); err == nil {
		return r, nil
	}
	var again reply
	if json.Unmarshal(bareNumber.ReplaceAll(body, []byte("${1}null${2}")), &again) == nil {
		return again, nil
	}
	return r, err
}

// told reports that an error member holds something.
func told(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != `""` && s != "{}" && s != "false"
}

// finishReason puts the words of other servers into OpenAI's.
func finishReason(s string) FinishReason {
	switch strings.ToLower(s) {
	case "max_tokens", "model_length", "max_output_tokens":
		return FinishLength
	case "safety", "prohibited_content", "blocklist":
		return FinishContentFilter
	}
	return FinishReason(strings.ToLower(s))
}

// text is a JSON string, or "" for whatever else stands there.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// content is a message's text: a string, or a list of parts.
func content(raw json.RawMessage) (said, refused string) {
	if bytes.HasPrefix(raw, []byte("{")) {
		return string(raw), "" // some servers give the JSON itself
	}
	if bytes.HasPrefix(raw, []byte(`"`)) {
		return text(raw), ""
	}
	var parts []struct{ Type, Text, Refusal string }
	if json.Unmarshal(raw, &parts) != nil {
		return text(raw), ""
	}
	for _, p := range parts {
		if p.Type == "" || p.Type == "text" || p.Type == "output_text" {
			said += p.Text
		}
		refused += p.Refusal
	}
	return said, refused
}

// usageOf reads usage in its dialects. Unless both prompt and completion tokens
// are told, it is unknown.
func usageOf(raw map[string]json.RawMessage) Usage {
	count := func(m map[string]json.RawMessage, names ...string) (int, bool) {
		for _, name := range names {
			s := strings.Trim(string(m[name]), `" `)
			if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e12 {
				return int(n), true
			}
		}
		return 0, false
	}
	object := func(name string) (m map[string]json.RawMessage) {
		_ = json.Unmarshal(raw[name], &m) // absent or odd: there is nothing to read
		return m
	}
	prompt, ok1 := count(raw, "prompt_tokens", "input_tokens")
	completion, ok2 := count(raw, "completion_tokens", "output_tokens")
	if !ok1 || !ok2 {
		return Usage{Unknown: 1}
	}
	u := Usage{PromptTokens: prompt, CompletionTokens: completion}
	if u.CachedTokens, ok1 = count(object("prompt_tokens_details"), "cached_tokens"); !ok1 {
		u.CachedTokens, _ = count(raw, "prompt_cache_hit_tokens", "cached_tokens")
	}
	u.CachedTokens = min(u.CachedTokens, prompt)
	u.ReasoningTokens, _ = count(object("completion_tokens_details"), "reasoning_tokens")
	// Where hidden reasoning stands beside the completion, only the total shows it.
	if total, ok := count(raw, "total_tokens"); ok && total > prompt+completion {
		u.CompletionTokens = total - prompt
		u.ReasoningTokens = max(u.ReasoningTokens, total-prompt-completion)
	}
	if u.ReasoningTokens > u.CompletionTokens {
		u.CompletionTokens += u.ReasoningTokens // it stands beside, and no total says so
	}
	return u
}
