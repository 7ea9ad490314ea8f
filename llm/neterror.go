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

const hintProxy = "check HTTPS_PROXY and HTTP_PROXY with their user and password; hosts that need no proxy belong in NO_PROXY"

// errProxyAddress is a proxy whose address in the environment is none. What
// net/http says of it would print the address, which may hold a password.
var errProxyAddress = errors.New("HTTPS_PROXY or HTTP_PROXY holds no address of a proxy")

// proxyError is the refusal of a proxy to open a connection.
type proxyError struct {
	status int
	text   string
}

func (e *proxyError) Error() string { return "the proxy answers " + e.text }

// onProxyConnect keeps the status with which a proxy refuses a connection.
func onProxyConnect(res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{status: res.StatusCode, text: res.Status}
}

// netError says what it means that no whole reply came.
func netError(ctx context.Context, err error, timeout time.Duration) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errAttemptTimeout) {
		return ctx.Err() // the caller gave up
	}
	var timedOut net.Error
	if errors.Is(context.Cause(ctx), errAttemptTimeout) || (errors.As(err, &timedOut) && timedOut.Timeout()) {
		return &Error{Kind: Transient, Code: "timeout", Message: fmt.Sprintf("no whole reply within %s", timeout), Hint: "raise judge.timeout if the judge is slow", Err: err}
	}
	if errors.Is(err, errTooLong) {
		return &Error{Kind: Row, Code: "reply_too_long", Message: err.Error(), Err: err}
	}
	for _, read := range []func(error) *Error{tlsError, proxyFault, dialError} {
		if e := read(err); e != nil {
			e.Message = err.Error()
			return e
		}
	}
	return &Error{Kind: Transient, Code: "connection_lost", Message: err.Error(), Err: err}
}

func tlsError(err error) *Error {
	var badCert *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	switch text := err.Error(); {
	case errors.As(err, &noTLS), strings.Contains(text, "HTTP response to HTTPS client"):
		return &Error{Kind: Fatal, Code: "no_tls", Hint: "the endpoint does not speak TLS there; judge.base_url must begin with http:// for it", Err: err}
	case errors.As(err, &badCert):
		return &Error{Kind: Fatal, Code: "tls", Hint: "the endpoint's certificate is not trusted here; if a proxy signs anew, name its CA file in judge.ca_file (--ca-file)", Err: err}
	case strings.Contains(text, "remote error: tls:"), strings.Contains(text, "tls: no supported versions"), strings.Contains(text, "tls: protocol version"):
		return &Error{Kind: Fatal, Code: "tls", Hint: "the endpoint refuses the TLS connection; it may want a client certificate, or speak an old version only", Err: err}
	}
	return nil
}

func proxyFault(err error) *Error {
	var refused *proxyError
	var op *net.OpError
	switch {
	case errors.Is(err, errProxyAddress):
		return &Error{Kind: Fatal, Code: "proxy_address", Hint: hintProxy, Err: notSent{err}}
	case errors.As(err, &refused) && refused.status == http.StatusProxyAuthRequired:
		return &Error{Kind: Fatal, Code: "proxy_auth", Hint: hintProxy, Err: notSent{err}}
	case errors.As(err, &refused) && refused.status/100 == 4:
		return &Error{Kind: Fatal, Code: "proxy_refused", Hint: "the proxy does not let calls to this host through; " + hintProxy, Err: notSent{err}}
	case errors.As(err, &refused):
		return &Error{Kind: Transient, Code: "proxy_failed", Hint: hintProxy, Err: notSent{err}}
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return &Error{Kind: Transient, Code: "can_not_connect", Hint: "the proxy can't be reached: " + hintProxy, Err: notSent{err}}
	}
	return nil
}

func dialError(err error) *Error {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return &Error{Kind: Transient, Code: "host_not_found", Hint: "check the host in judge.base_url, and the network", Err: err}
	case errors.As(err, &op) && op.Op == "dial":
		return &Error{Kind: Transient, Code: "can_not_connect", Hint: "is the endpoint up, and judge.base_url right?", Err: err}
	}
	return nil
}
