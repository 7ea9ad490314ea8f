package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
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
	// ExtraBody are further members of each request's body: those that
	// CanonicalExtra takes. They change what is answered, so requests that go
	// through a cache must have them in Extra, as Extra returns them.
	ExtraBody map[string]any
	// CAFile is a file of certificates in PEM that are trusted beside the
	// system's; empty for none.
	CAFile string
	// Insecure takes any certificate. Whoever stands between then reads the key
	// and writes the replies: it is for the user to be warned of.
	Insecure bool
	// Timeout is the deadline of one attempt; 0 for DefaultTimeout.
	Timeout time.Duration
	// Concurrency is the most calls at once, for which connections are kept; 0
	// for DefaultConcurrency.
	Concurrency int
	// Structured is one of the constants of that name; empty for StructuredAuto.
	Structured string
	// OnHeaders is told what each reply says of the server's limits; may be nil.
	OnHeaders func(RateInfo)
	// Known is what an earlier process learnt of models, as Forms returned it.
	Known map[string]Form
	// OnLearn is told the whole Form of a model when something was learnt about
	// it, in the goroutine of the call that did; may be nil.
	OnLearn func(model string, f Form)
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
	address  address
	extra    json.RawMessage
	client   *openai.Client
	secrets  secrets
	forms    forms
}

// NewOpenAI returns a backend. It makes no call. Every error names the setting
// that is wrong.
func NewOpenAI(cfg OpenAIConfig) (*OpenAI, error) {
	addr, err := addressOf(cfg.Provider, cfg.BaseURL, cfg.APIVersion)
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
	extra, err := CanonicalExtra(cfg.ExtraBody)
	if err != nil {
		return nil, fmt.Errorf("judge.extra_body: %w", err)
	}
	headers, err := headersOf(cfg)
	if err != nil {
		return nil, err
	}
	rt, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}
	conf := openai.DefaultConfig(cfg.APIKey)
	conf.BaseURL = addr.base
	if cfg.Provider == ProviderAzure {
		conf = openai.DefaultAzureConfig(cfg.APIKey, addr.base)
		conf.APIVersion = addr.apiVersion
		// A deployment is called as it is named; go-openai would strip dots.
		conf.AzureModelMapperFunc = func(model string) string { return url.PathEscape(model) }
	}
	conf.OrgID = cfg.Organization
	conf.HTTPClient = &wire{rt: rt, headers: headers}
	return &OpenAI{
		cfg: cfg, endpoint: cmp.Or(cfg.Provider, ProviderOpenAI) + " " + addr.base, address: addr, extra: extra,
		client: openai.NewClientWithConfig(conf), secrets: newSecrets(cfg.APIKey, cfg.Headers),
		forms: forms{log: cfg.Logger, structured: cfg.Structured, known: cfg.Known, onLearn: cfg.OnLearn},
	}, nil
}

// EndpointOf is what Endpoint is of a backend that is made of these; see
// OpenAIConfig.
func EndpointOf(provider, baseURL, apiVersion string) (string, error) {
	addr, err := addressOf(provider, baseURL, apiVersion)
	return cmp.Or(provider, ProviderOpenAI) + " " + addr.base, err
}

// Endpoint identifies the endpoint in requests: provider and address, no key.
func (o *OpenAI) Endpoint() string { return o.endpoint }

// Extra are the members of OpenAIConfig.ExtraBody, for Request.Extra; nil for
// none.
func (o *OpenAI) Extra() json.RawMessage { return o.extra }

// Learnt says in words what each model's server was found not to take.
func (o *OpenAI) Learnt() []string { return o.forms.learnt() }

// Forms returns what is known of each model, learnt or restored, to be kept for
// OpenAIConfig.Known.
func (o *OpenAI) Forms() map[string]Form { return o.forms.all() }

// Complete sends one request, and once more for each thing that is learnt about
// the server by it.
func (o *OpenAI) Complete(ctx context.Context, req *Request) (*Response, error) {
	if len(req.Embed) > 0 {
		return o.embed(ctx, req)
	}
	done, err := o.forms.enter(ctx, req.Model)
	if err != nil {
		return nil, err
	}
	resp, err := o.attempt(ctx, o.withExtra(req))
	done(err)
	return resp, err
}

// first sends a request of which it is not known yet in which form the server
// takes it. Live reports whether that was so; else nothing was sent.
func (o *OpenAI) first(ctx context.Context, req *Request) (resp *Response, live bool, err error) {
	done, err := o.forms.enter(ctx, req.Model)
	if err != nil || o.forms.settled(req.Model) {
		return nil, false, err
	}
	resp, err = o.attempt(ctx, o.withExtra(req))
	done(err)
	return resp, true, err
}

// maxForms bounds the tries of one call: there are fewer things to learn.
const maxForms = 12

func (o *OpenAI) attempt(ctx context.Context, req *Request) (*Response, error) {
	room := 0 // for this request's reply; 0 for any
	for try := 1; ; try++ {
		form := o.forms.get(req.Model)
		x, err := o.exchange(req, form, room)
		if err != nil {
			return nil, err
		}
		err = o.send(ctx, x, form, req)
		if x.header != nil && o.cfg.OnHeaders != nil {
			if info := o.rates(x.header); !info.empty() {
				o.cfg.OnHeaders(info)
			}
		}
		if err != nil {
			return nil, o.clean(err)
		}
		resp, d := decodeReply(x)
		if resp != nil {
			o.forms.proved(req.Model)
			resp.Shortened = form.bound(req, room) < req.MaxTokens
			resp.Logprobs = keepLogprobs(resp.Logprobs, req.LogprobsOf)
			return resp, nil
		}
		d.err.Message = o.secrets.redact(d.err.Message)
		if try < maxForms && o.adapt(req, form, d, &room) {
			continue
		}
		if try < maxForms && d.err.Kind == Row && d.err.Code == "bad_request" && o.forms.forget(req.Model, form, d.err.Message) {
			continue
		}
		return nil, o.clean(o.explained(req, form, x, d))
	}
}

// exchange is the request in the form.
func (o *OpenAI) exchange(req *Request, f form, room int) (*exchange, error) {
	messages, err := f.messages(req)
	if err != nil {
		return nil, err
	}
	body, err := f.body(req)
	if err != nil {
		return nil, err
	}
	return &exchange{messages: messages, extra: f.extra(req, room), members: body}, nil
}

// adapt takes up the first of the changes that a refusal allows. A smaller
// bound on one reply is tried once.
func (o *OpenAI) adapt(req *Request, sent form, d diagnosis, room *int) bool {
	asked := sent.bound(req, *room)
	for _, c := range d.adapt {
		switch c {
		case changeRoom:
			n, ok := d.facts.room(asked)
			if !ok || *room > 0 || sent.MaxTokens == NoMaxTokens {
				continue
			}
			o.cfg.Logger.Debug("the request fits with less room for the reply", "model", req.Model, "max_tokens", n, "asked", asked, "metric", req.Tag.Metric, "step", req.Tag.Step)
			*room = n
			return true
		default:
			ceiling := 0
			if c == changeCeiling {
				n, ok := d.facts.ceiling(asked)
				if !ok {
					continue
				}
				ceiling = n
			}
			if o.forms.change(req, sent, c, ceiling, d.err.Message) {
				return true
			}
		}
	}
	return false
}

// withExtra is the request with the endpoint's extra members, if it has none of
// its own.
func (o *OpenAI) withExtra(req *Request) *Request {
	if len(req.Extra) > 0 || len(o.extra) == 0 {
		return req
	}
	r := *req
	r.Extra = o.extra
	return &r
}

// explained is the error of a refusal, with what only the sender knows of it.
func (o *OpenAI) explained(req *Request, sent form, x *exchange, d diagnosis) *Error {
	e := d.err
	switch e.Code {
	case "not_found", "deployment_not_found", "model_not_found":
		if o.cfg.Provider == ProviderAzure {
			e.Hint = hintAzure
			if name := o.address.deployment; name != "" && name != req.Model {
				e.Hint += fmt.Sprintf("; the address that was given names the deployment %q, and judge.model is %q", name, req.Model)
			}
		}
		e.Hint += "; what was called is " + x.url
		return e
	case "not_an_api", "unsupported":
		e.Hint += "; what was called is " + x.url
	}
	if e.Kind != Row && e.Kind != Transient {
		return e
	}
	if slices.Contains(d.adapt, changeFormat) && o.cfg.Structured != StructuredAuto && o.cfg.Structured != StructuredPlain && req.Schema != nil {
		e.Kind, e.Code, e.Hint = Fatal, "format_refused", fmt.Sprintf("the endpoint does not take judge.structured = %q; use %q", o.cfg.Structured, StructuredAuto)
		return e
	}
	for _, name := range slices.Sorted(maps.Keys(x.members)) {
		if d.facts.refusing() && (partName(d.facts.param) == strings.ToLower(name) || d.facts.names(strings.ToLower(name))) {
			e.Kind, e.Code, e.Hint = Fatal, "extra_body_refused", fmt.Sprintf("the endpoint does not take %q of judge.extra_body", name)
			return e
		}
	}
	if len(d.adapt) > 0 && e.Kind == Transient { // it is refused for its form, each time
		e.Kind, e.Code = Row, "bad_request"
	}
	return e
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
	case errors.Is(x.err, errPreview):
		return nil
	case x.err != nil:
		return netError(ctx, x.err, o.cfg.Timeout)
	case !x.sent && err != nil:
		// One of go-openai's own checks, which know some models by name.
		return &Error{Kind: Fatal, Code: "model_refused", Message: err.Error(), Hint: hintModel, Err: err}
	}
	return nil
}

// Preview is a request as it goes over the wire.
type Preview struct {
	// URL is what is called; Method how: POST.
	Method, URL string
	// Headers are the names of the headers that are set, in order. Their values
	// may be secrets.
	Headers []string
	// Body is the JSON of the body.
	Body json.RawMessage
}

// errPreview ends a request that is only looked at.
var errPreview = errors.New("the request is not sent")

// Preview returns exactly what Complete would send next for a request, without
// sending it.
func (o *OpenAI) Preview(req *Request) (Preview, error) {
	req = o.withExtra(req)
	f := o.forms.get(req.Model)
	x, err := o.exchange(req, f, 0)
	if err != nil {
		return Preview{}, err
	}
	x.preview = &Preview{}
	if err := o.send(context.Background(), x, f, req); err != nil {
		return Preview{}, o.clean(err)
	}
	if x.preview.URL == "" {
		return Preview{}, errors.New("preview the request: it was not written")
	}
	return *x.preview, nil
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
