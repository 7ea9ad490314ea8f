package llm

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
)

// DefaultOutage is how many calls in a row fail for good before the endpoint
// counts as down.
const DefaultOutage = 32

// Outage ends a run whose endpoint is down. It stands in front of Retry and
// looks at calls that failed for good, after all their tries: with Limit of
// them in a row and no reply in between, going on would only fail every
// remaining sample, slowly. It sets Stop to a Fatal error, so that the run
// stops and can be resumed. An error that is about one request alone (Row)
// shows that the endpoint is up.
//
// The call of a Preflight tells more, since no sample has a part in it. If it
// reached nobody after all its tries, the run ends there. If it was refused as
// a bad request, samples that are refused in the same way count as failed, until
// one call is answered: what the endpoint refuses then is how it is asked.
type Outage struct {
	// Limit is the number of failed calls in a row; 0 means DefaultOutage.
	Limit int
	// Stop is the switch of the chain.
	Stop *Stop
	// Next is the Retry.
	Next Client

	row     atomic.Int64
	refused atomic.Bool // the preflight was, and no call was answered since
}

// Complete passes the call on, and counts how it ended.
func (o *Outage) Complete(ctx context.Context, req *Request) (*Response, error) {
	resp, err := o.Next.Complete(ctx, req)
	e := AsError(err)
	switch {
	case err != nil && e == nil: // the caller gave up
	case err != nil && isProbe(ctx) && unreached(e):
		return nil, o.end("endpoint_down", fmt.Sprintf("the preflight call reached nobody: %v", e), err)
	case err != nil && e.Kind == Row && e.Code == "bad_request" && (isProbe(ctx) || o.refused.Load()):
		o.refused.Store(true)
		if n := o.row.Add(1); n >= o.limit() {
			_ = o.end("every_call_refused", fmt.Sprintf("%d calls in a row were refused, the preflight among them, and none was answered; the last one with: %v", n, e), err)
		}
	case err == nil, e.Kind == Row:
		o.row.Store(0)
		o.refused.Store(false)
	case e.Kind == Transient || e.Kind == RateLimited:
		if n := o.row.Add(1); n >= o.limit() {
			_ = o.end("endpoint_down", fmt.Sprintf("%d calls in a row failed after all their tries, the last one with: %v", n, e), err)
		}
	}
	return resp, err
}

func (o *Outage) limit() int64 {
	if o.Limit <= 0 {
		return DefaultOutage
	}
	return int64(o.Limit)
}

// end stops the run for what the last call failed with, and returns the error
// that all calls get from now on.
func (o *Outage) end(code, message string, cause error) error {
	e := AsError(cause)
	o.Stop.Set(&Error{Kind: Fatal, Code: code, Status: e.Status, Err: cause, Message: message, Hint: e.Hint})
	return cmp.Or(o.Stop.Err(), cause)
}

// unreached reports a call that nobody was there to take.
func unreached(e *Error) bool {
	return e.Kind == Transient && (e.Code == "host_not_found" || e.Code == "can_not_connect" || e.Code == "proxy_failed")
}
