package llm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxBody bounds a reply's body. A judge's reply has a few kilobytes.
const maxBody = 16 << 20

// errTooLong is a reply beyond that. It has been paid for, and would come again.
var errTooLong = fmt.Errorf("the reply is longer than %d bytes", maxBody)

// errAttemptTimeout is the cause of a context that ended by an attempt's own
// deadline, and not by the caller's.
var errAttemptTimeout = errors.New("the attempt's own deadline passed")

// newTransport makes a transport for many calls to one host: with the default
// of two idle connections every second call would open a new one. Proxies are
// those of the environment: HTTPS_PROXY, HTTP_PROXY, NO_PROXY; never for
// localhost.
func newTransport(cfg OpenAIConfig) (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 proxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:          cfg.Concurrency,
		MaxIdleConnsPerHost:   cfg.Concurrency,
		MaxConnsPerHost:       cfg.Concurrency,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
			return onProxyConnect(res)
		},
	}
	if cfg.CAFile == "" && !cfg.Insecure {
		return t, nil
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: cfg.Insecure} //nolint:gosec // only where the user asks for it
	if cfg.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(cfg.CAFile)
	if err != nil {
		return nil, fmt.Errorf("judge.ca_file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // no store on this system: the file's alone
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("judge.ca_file: %s holds no certificate in PEM (-----BEGIN CERTIFICATE-----)", cfg.CAFile)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

// proxyFromEnvironment is http.ProxyFromEnvironment, but for an address that is
// none: that one would be passed over, and the calls would go past the proxy.
func proxyFromEnvironment(req *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(req)
	if err != nil || (u == nil && !isAddress(proxyVariable(req.URL.Scheme)) && !isLocal(req.URL.Hostname())) {
		return nil, errProxyAddress
	}
	return u, nil
}

func proxyVariable(scheme string) string {
	if scheme == "https" {
		return cmp.Or(os.Getenv("HTTPS_PROXY"), os.Getenv("https_proxy"))
	}
	return cmp.Or(os.Getenv("HTTP_PROXY"), os.Getenv("http_proxy"))
}

// isAddress reports what can be the address of a proxy, or is none at all.
func isAddress(text string) bool {
	_, err := url.Parse(text)
	_, bare := url.Parse("http://" + text)
	return text == "" || err == nil || bare == nil
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// headersOf are the headers that are sent beside those of go-openai.
func headersOf(cfg OpenAIConfig) (map[string]string, error) {
	headers := map[string]string{}
	if cfg.Project != "" {
		headers["OpenAI-Project"] = cfg.Project
	}
	for k, v := range cfg.Headers {
		if !headerName.MatchString(k) {
			return nil, fmt.Errorf("judge.headers: %q is no name of a header", k)
		}
		headers[k] = v
	}
	named := maps.Clone(headers)
	named["organization"] = cfg.Organization
	for k, v := range named {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Errorf("judge.headers: the value of %s holds a line end or another control character", k)
		}
	}
	return headers, nil
}

// exchange is what really went over the wire in one attempt. go-openai's types
// lose or refuse some of it, so it is kept here, past them.
type exchange struct {
	messages []byte                     // the chat, put where go-openai writes none
	extra    []byte                     // members to put into the request's body
	members  map[string]json.RawMessage // put over all but model and messages
	preview  *Preview                   // if not nil: is filled in, and nothing is sent
	plain    bool                       // no chat: the request and a good reply are go-openai's own
	url      string
	status   int
	header   http.Header
	body     []byte
	err      error // no whole reply came
	sent     bool
}

type exchangeKey struct{}

// wire is the HTTPDoer under go-openai. For the exchange in the request's
// context it completes the body, sends it once (no redirect is followed),
// and reads the whole reply. go-openai gets an empty object in its place:
// its own decoding is not used.
type wire struct {
	rt      http.RoundTripper
	headers map[string]string
}

func (w *wire) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("a request without its exchange")
	}
	if !x.plain {
		if err := x.complete(req); err != nil {
			x.err = err
			return nil, err
		}
	}
	for k, v := range w.headers {
		req.Header.Set(k, v)
	}
	x.url = req.URL.String()
	x.sent = true
	if x.preview != nil {
		return nil, x.look(req)
	}
	res, err := w.rt.RoundTrip(req)
	if err != nil {
		x.err = err
		return nil, err
	}
	x.status, x.header = res.StatusCode, res.Header
	if x.plain && res.StatusCode/100 == 2 {
		return res, nil
	}
	x.body, x.err = readBody(res)
	if x.err != nil {
		return nil, x.err
	}
	return &http.Response{Status: res.Status, StatusCode: http.StatusOK, Header: res.Header, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// look fills in the preview.
func (x *exchange) look(req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		x.err = err
		return err
	}
	*x.preview = Preview{Method: req.Method, URL: x.url, Headers: slices.Sorted(maps.Keys(req.Header)), Body: body}
	x.err = errPreview
	return errPreview
}

// complete puts the extra members at the end of the request's object. They are
// such as go-openai leaves out where they are zero, so none stands there twice.
func (x *exchange) complete(req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	body = bytes.TrimRight(body, " \n")
	const none = `"messages":null` // no JSON string holds bare quotes
	before, after, ok := bytes.Cut(body, []byte(none))
	if !ok || !bytes.HasSuffix(after, []byte("}")) {
		return errors.New("encode the request: it is no JSON object with a place for messages")
	}
	whole := make([]byte, 0, len(body)+len(x.messages)+len(x.extra))
	whole = append(append(whole, before...), none[:len(none)-len("null")]...)
	whole = append(append(whole, x.messages...), after[:len(after)-1]...)
	if body, err = withMembers(append(append(whole, x.extra...), '}'), x.members); err != nil {
		return err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.ContentLength = int64(len(body))
	return nil
}

// readBody reads a whole body and closes it; a body that is left unread would
// cost its connection. A gzip that some proxy forgot to announce is unpacked.
func readBody(res *http.Response) (body []byte, err error) {
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	body, err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, errTooLong
	}
	return unpacked(body)
}

// unpacked is a body without the gzip around it, if there is one.
func unpacked(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unpack the reply: %w", err)
	}
	body, err = io.ReadAll(io.LimitReader(z, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = errTooLong
	}
	return body, err
}

// withDeadline gives an attempt a deadline that can be told from the caller's.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, errAttemptTimeout)
}

// secrets takes keys out of text. Servers echo a wrong key, wholly or in part,
// and gateways echo headers.
type secrets []string

// minSecret is the length from which a header's value is looked for: shorter
// ones are words.
const minSecret = 12

func newSecrets(key string, headers map[string]string) secrets {
	var s secrets
	if key != "" {
		s = append(s, key)
	}
	for _, v := range headers {
		if v = strings.TrimPrefix(v, "Bearer "); len(v) >= minSecret {
			s = append(s, v)
		}
	}
	return s
}

// keyLike is what looks like a key, or like one with its middle starred out.
var keyLike = regexp.MustCompile(`\b(?:sk|gsk|xai|pk|key)-[A-Za-z0-9_*.-]{4,}|[A-Za-z0-9_.-]*\*{3,}[A-Za-z0-9_.-]*`)

func (s secrets) redact(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "[key]")
	}
	return keyLike.ReplaceAllString(text, "[key]")
}
