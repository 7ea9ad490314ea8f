package llm

import (
	"context"
	"encoding/binary"
	"sync"
)

// Planned is one call that a run would make.
type Planned struct {
	// Request is the call; it must not be changed or kept.
	Request *Request
	// Reply is the predicted reply, or for a hit the stored one. It is nil if
	// Err is set.
	Reply *Response
	// Err is the error of a prediction that was not possible.
	Err error
	// Hit reports that the store answers: the call takes no token and no money.
	Hit bool
	// Repeat reports that an identical request was planned before in this dry
	// run, so that a run pays for it no second time.
	Repeat bool
}

// DryRun stands in for everything below Cached (which needs its DryRun field
// set): it makes no call to the judge, and reports what would have been called.
// So an estimate runs the code of a real run and sees the real cache. Set its
// fields before the first call. It is safe for concurrent use.
//
// Repeats are told by the first 64 bits of the requests' keys, which takes
// little memory in a run of millions: with 10 million requests, the odds are 1 to
// 370,000 that two different ones are taken for the same.
type DryRun struct {
	// Predict answers in place of the judge, for the steps that stand on an
	// earlier reply. It must need no network.
	Predict Client
	// Plan is told every planned call, by several goroutines at once.
	Plan func(Planned)

	mu   sync.Mutex
	seen map[uint64]struct{}
}

// Complete reports the call to Plan and returns the predicted reply, marked as
// Cached if it is a repeat.
func (d *DryRun) Complete(ctx context.Context, req *Request) (*Response, error) {
	resp, err := d.Predict.Complete(ctx, req)
	if err != nil && ctx.Err() != nil {
		return nil, err // the dry run was stopped: nothing is known of this call
	}
	repeat := d.repeat(req.Key())
	if resp != nil {
		r := *resp
		r.Cached = repeat
		resp = &r
	}
	if repeat {
		noteAnsweredBy(ctx, byTwin)
	}
	d.Plan(Planned{Request: req, Reply: resp, Err: err, Repeat: repeat})
	return resp, err
}

// Hit reports a request that the store answers; it fits Cached.OnHit.
func (d *DryRun) Hit(req *Request, resp *Response) {
	d.Plan(Planned{Request: req, Reply: resp, Hit: true})
}

// repeat notes the key and reports whether it was noted before.
func (d *DryRun) repeat(k Key) bool {
	short := binary.LittleEndian.Uint64(k[:])
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[uint64]struct{}{}
	}
	_, again := d.seen[short]
	d.seen[short] = struct{}{}
	return again
}
