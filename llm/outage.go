package llm

import (
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
type Outage struct {
	// Limit is the number of failed calls in a row; 0 means DefaultOutage.
	Limit int
	// Stop is the switch of the chain.
	Stop *Stop
	// Next is the Retry.
	Next Client

	row atomic.Int64
}

// Complete passes the call on, and counts how it ended.
func (o *Outage) Complete(ctx context.Context, req *Request) (*Response, error) {
	resp, err := o.Next.Complete(ctx, req)
	e := AsError(err)
	switch {
	case err == nil, e != nil && e.Kind == Row:
		o.row.Store(0)
	case e != nil && (e.Kind == Transient || e.Kind == RateLimited):
		limit := int64(o.Limit)
		if limit <= 0 {
			limit = DefaultOutage
		}
		if n := o.row.Add(1); n >= limit {
			o.Stop.Set(&Error{Kind: Fatal, Code: "endpoint_down", Status: e.Status, Err: err,
				Message: fmt.Sprintf("%d calls in a row failed after all their tries, the last one with: %v", n, e), Hint: e.Hint})
		}
	}
	return resp, err
}
