package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// CacheMode says what Cached does with its Store.
type CacheMode string

// The modes of a cache.
const (
	// CacheReadWrite answers from the store and puts new replies into it.
	CacheReadWrite CacheMode = "read_write"
	// CacheReadOnly answers from the store and puts nothing.
	CacheReadOnly CacheMode = "read_only"
	// CacheRefresh asks the judge anew and puts its replies; entries put at or
	// after Since are those of this run, and do answer.
	CacheRefresh CacheMode = "refresh"
	// CacheOff leaves the store alone. What this run asks twice is still asked
	// once as long as it is in memory.
	CacheOff CacheMode = "off"
)

// CacheModes lists every mode.
var CacheModes = []CacheMode{CacheReadWrite, CacheReadOnly, CacheRefresh, CacheOff}

// DefaultCacheMemory bounds the replies of this run that are kept in memory.
const DefaultCacheMemory = 8 << 20

// storeTimeout bounds a Put, which goes on when the call's context is done.
const storeTimeout = 30 * time.Second

// Cached answers requests from a store and makes identical requests in flight
// one call. Set the exported fields before the first call and not after.
//
// A reply is kept only if it is complete (not a refusal, not empty, not cut,
// not filtered) and the request's Check accepts it. A kept reply that can't be
// decoded or that Check does not accept is a miss. Check runs on every reply,
// kept or new, once for each caller; a new reply is returned whatever it says,
// for the caller to decide on. A store that fails costs no reply: the error is counted,
// and the first is told to Warn.
//
// A hit and a shared reply have Cached set, and take no slot, token or money.
type Cached struct {
	// Store keeps the replies; nil works as CacheOff.
	Store Store
	// Mode is CacheReadWrite if empty.
	Mode CacheMode
	// Since is the start of the run, for CacheRefresh.
	Since time.Time
	// Next answers what the cache does not.
	Next Client
	// MemoryBytes bounds the replies kept in memory; 0 means DefaultCacheMemory,
	// below 0 none.
	MemoryBytes int64
	// DryRun makes it keep and share nothing: what Next gives is no reply of a
	// judge. The store is only read.
	DryRun bool
	// OnHit is told every request that is answered from the store; may be nil.
	OnHit func(req *Request, resp *Response)
	// Warn is told the first error of the store in reading and the first in
	// writing; may be nil.
	Warn func(error)

	mu      sync.Mutex
	flights map[Key]*flight
	memory  memory
	stats   CacheStats
}

// CacheStats counts what went wrong with kept replies. None of it fails a call.
type CacheStats struct {
	// GetErrors and PutErrors are the failed operations of the store.
	GetErrors, PutErrors int64
	// Unusable is the number of kept replies that could not be decoded or that
	// Check did not accept.
	Unusable int64
	// NotKept is the number of new replies that were not fit to be kept.
	NotKept int64
}

// Stats returns the counts so far.
func (c *Cached) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// flight is one request that is being answered. Its fields are set before done
// is closed, and not changed after.
type flight struct {
	done chan struct{}
	resp *Response
	err  error
	by   answeredBy // who answers the followers
	// abandoned says that the leader gave up for a reason of its own.
	abandoned bool
}

// Complete answers from memory, the store, an identical call in flight, or the
// next client. A call that waits for an identical one whose context then ends
// does not end with it: it tries again by itself.
//
// The first of several identical calls is made in its caller's own goroutine.
// (The singleflight of golang.org/x/sync starts another where those who wait
// may leave early; then a write could still be going on to a store that the
// run, which no longer waits, is closing.)
func (c *Cached) Complete(ctx context.Context, req *Request) (*Response, error) {
	key := req.Key()
	if c.DryRun {
		return c.dry(ctx, key, req)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, leads := c.join(key)
		if leads {
			return c.lead(ctx, key, req, f)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case f.abandoned:
			continue
		case f.err != nil:
			return nil, f.err
		}
		resp := shared(f.resp)
		_ = check(req, resp) // the caller decides; Check may also decode for it
		noteAnsweredBy(ctx, f.by)
		return resp, nil
	}
}

func (c *Cached) join(key Key) (f *flight, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flights[key]; f != nil {
		return f, false
	}
	if c.flights == nil {
		c.flights = map[Key]*flight{}
	}
	f = &flight{done: make(chan struct{}), abandoned: true}
	c.flights[key] = f
	return f, true
}

// lead answers for all who wait for the flight.
func (c *Cached) lead(ctx context.Context, key Key, req *Request, f *flight) (*Response, error) {
	defer func() { // also if Next panics: the flight is then abandoned
		c.mu.Lock()
		delete(c.flights, key)
		c.mu.Unlock()
		close(f.done)
	}()
	resp, by, err := c.kept(ctx, key, req)
	if resp == nil && err == nil {
		by = byTwin
		if resp, err = c.Next.Complete(ctx, req); err == nil {
			c.keep(ctx, key, req, resp)
		}
	} else if resp != nil {
		noteAnsweredBy(ctx, by)
	}
	f.err, f.by = err, by
	if resp != nil {
		f.resp = shared(resp) // a copy: the leader's caller owns resp
	}
	f.abandoned = err != nil && ctx.Err() != nil
	return resp, err
}

// kept returns a reply that was kept and is accepted, or nil.
func (c *Cached) kept(ctx context.Context, key Key, req *Request) (*Response, answeredBy, error) {
	c.mu.Lock()
	inMemory, by := c.memory.get(key)
	c.mu.Unlock()
	if inMemory != nil {
		if resp := shared(inMemory); c.accepts(req, resp) {
			return resp, by, nil
		}
	}
	resp, err := c.stored(ctx, key)
	if resp == nil || err != nil || !c.accepts(req, resp) {
		return nil, 0, err
	}
	c.remember(key, resp, byStore)
	if c.OnHit != nil {
		c.OnHit(req, resp)
	}
	return resp, byStore, nil
}

// dry answers from the store, else from Next, and keeps nothing.
func (c *Cached) dry(ctx context.Context, key Key, req *Request) (*Response, error) {
	resp, err := c.stored(ctx, key)
	if err != nil {
		return nil, err
	}
	if resp == nil || !c.accepts(req, resp) {
		resp, err := c.Next.Complete(ctx, req)
		if err == nil {
			_ = check(req, resp)
		}
		return resp, err
	}
	noteAnsweredBy(ctx, byStore)
	if c.OnHit != nil {
		c.OnHit(req, resp)
	}
	return resp, nil
}

// stored returns the store's reply, or nil. The only error is the context's.
func (c *Cached) stored(ctx context.Context, key Key) (*Response, error) {
	if c.Store == nil || c.Mode == CacheOff {
		return nil, nil
	}
	value, putAt, ok, err := c.Store.Get(ctx, key)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.storeFailed(&c.stats.GetErrors, fmt.Errorf("read the cache: %w", err))
		return nil, nil
	}
	if !ok || (c.Mode == CacheRefresh && putAt < c.Since.UnixMilli()) {
		return nil, nil
	}
	resp, err := decodeEntry(value)
	if err != nil {
		c.count(&c.stats.Unusable)
		return nil, nil
	}
	return shared(resp), nil
}

// accepts reports whether a kept reply may answer the request.
func (c *Cached) accepts(req *Request, resp *Response) bool {
	if complete(resp) == nil && check(req, resp) == nil {
		return true
	}
	c.count(&c.stats.Unusable)
	return false
}

// keep puts a new reply in memory and into the store if it is fit for it.
func (c *Cached) keep(ctx context.Context, key Key, req *Request, resp *Response) {
	if errors.Join(check(req, resp), complete(resp)) != nil {
		c.count(&c.stats.NotKept)
		return
	}
	c.remember(key, resp, byTwin)
	if c.Store == nil || c.Mode == CacheOff || c.Mode == CacheReadOnly {
		return
	}
	// The reply is paid: it is stored even if the run is being stopped.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	value, err := encodeEntry(resp)
	if err == nil {
		err = c.Store.Put(ctx, key, value)
	}
	if err != nil {
		c.storeFailed(&c.stats.PutErrors, fmt.Errorf("write to the cache: %w", err))
	}
}

func (c *Cached) remember(key Key, resp *Response, by answeredBy) {
	limit := c.MemoryBytes
	if limit == 0 {
		limit = DefaultCacheMemory
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory.put(key, *resp, by, limit)
}

func (c *Cached) count(n *int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

func (c *Cached) storeFailed(n *int64, err error) {
	c.mu.Lock()
	*n++
	first := *n == 1
	c.mu.Unlock()
	if first && c.Warn != nil {
		c.Warn(err)
	}
}

// shared returns a copy of a reply that took no call.
func shared(resp *Response) *Response {
	r := *resp
	r.Cached = true
	return &r
}

func check(req *Request, resp *Response) error {
	if req.Check == nil {
		return nil
	}
	return req.Check(resp)
}

// complete reports why a reply is not worth keeping, whatever its form.
func complete(resp *Response) error {
	switch {
	case resp.Refusal != "":
		return errors.New("the model refused")
	case resp.FinishReason == FinishLength:
		return errors.New("the reply was cut at the limit of tokens")
	case resp.FinishReason == FinishContentFilter:
		return errors.New("the reply was filtered")
	case strings.TrimSpace(resp.Content) == "":
		return errors.New("the reply is empty")
	case !utf8.ValidString(resp.Content):
		return errors.New("the reply is not valid UTF-8, so JSON can't keep it as it is")
	}
	return nil
}

// entryVersion is the version of the form of a stored reply.
const entryVersion = 1

// entry is the form of a stored reply.
type entry struct {
	Version  int       `json:"v"`
	Response *Response `json:"response"`
}

func encodeEntry(resp *Response) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(entry{entryVersion, resp})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func decodeEntry(value []byte) (*Response, error) {
	var e entry
	if err := json.Unmarshal(value, &e); err != nil {
		return nil, err
	}
	if e.Version != entryVersion || e.Response == nil {
		return nil, fmt.Errorf("version %d of a stored reply is not known", e.Version)
	}
	return e.Response, nil
}
