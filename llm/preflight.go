package llm

import (
	"context"
	"sync"
)

// Preflight makes one call of its own for each model before the first call of
// others goes through, so that a wrong address, key or model, or a server that
// cuts long prompts, is found while nothing else is paid. Calls that come
// meanwhile wait for it. It stands below the cache: a run that asks the server
// nothing makes no preflight either.
type Preflight struct {
	// Probe makes the request of the preflight for the model of the first
	// request; nil from it means that none is needed.
	Probe func(first *Request) *Request
	// Done is told how the preflight ended, once for each model, before other
	// calls go on. It may be nil.
	Done func(probe *Request, resp *Response, err error)
	// Next is the rest of the chain: the preflight is retried, reserved and
	// limited like any other call.
	Next Client

	mu     sync.Mutex
	models map[judgeName]*flown
}

// judgeName tells the models of several endpoints apart.
type judgeName struct{ endpoint, model string }

// probeKey marks the context of the preflight's own call: nothing in it is a
// sample's, so that how it ends tells more of the endpoint.
type probeKey struct{}

func isProbe(ctx context.Context) bool {
	is, _ := ctx.Value(probeKey{}).(bool)
	return is
}

// flown is the preflight of one model.
type flown struct {
	turn chan struct{} // holds a token while somebody flies
	over chan struct{} // closed when the preflight is over
}

// Complete passes the call on once its model's preflight is over. An error of
// the preflight that stops the run is the call's own; any other is left to the
// calls themselves, each of which is tried.
func (p *Preflight) Complete(ctx context.Context, req *Request) (*Response, error) {
	if len(req.Embed) > 0 { // no chat, and so cheap that it is its own probe
		return p.Next.Complete(ctx, req)
	}
	f := p.of(req)
	select {
	case <-f.over: // the usual way, without a lock held by anybody
		return p.Next.Complete(ctx, req)
	default:
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.over:
	case f.turn <- struct{}{}:
		err := p.fly(ctx, f, req)
		<-f.turn
		if err != nil {
			return nil, err
		}
	}
	return p.Next.Complete(ctx, req)
}

// fly makes the preflight, unless it is over by now. The error stops the run,
// or is that of a caller who gave up; then it is the next one's turn.
func (p *Preflight) fly(ctx context.Context, f *flown, first *Request) error {
	select {
	case <-f.over:
		return nil
	default:
	}
	probe := p.Probe(first)
	if probe == nil {
		close(f.over)
		return nil
	}
	resp, err := p.Next.Complete(context.WithValue(ctx, probeKey{}, true), probe)
	if err != nil && AsError(err) == nil {
		return err
	}
	if p.Done != nil {
		p.Done(probe, resp, err)
	}
	if StopsRun(err) {
		return err
	}
	close(f.over)
	return nil
}

func (p *Preflight) of(req *Request) *flown {
	name := judgeName{req.Endpoint, req.Model}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.models[name]
	if f == nil {
		f = &flown{turn: make(chan struct{}, 1), over: make(chan struct{})}
		if p.models == nil {
			p.models = map[judgeName]*flown{}
		}
		p.models[name] = f
	}
	return f
}
