package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// The defaults of BatchConfig. OpenAI takes 50,000 requests and 200 MB in a
// batch, and finishes it within a day. A batch's file is held in memory three
// times over while it is uploaded, and several small batches are as good as a
// large one.
const (
	DefaultBatchRequests = 50_000
	DefaultBatchBytes    = 48 << 20
	DefaultBatchQuiet    = 5 * time.Second
	DefaultBatchPoll     = 30 * time.Second
)

// BatchConfig says how requests are gathered into batches.
type BatchConfig struct {
	// Backend writes and reads the requests, and carries the files.
	Backend *OpenAI
	// Journal is the path of the file in which batches are noted before they are
	// made and waited for, so that another process can go on waiting for them.
	// It is made if it is not there. One process at a time may use it.
	Journal string
	// MaxRequests and MaxBytes bound one batch; 0 for the defaults.
	MaxRequests int
	MaxBytes    int
	// MaxTokens bounds the input tokens that are enqueued at the provider at one
	// time, reckoned as in Request.PromptTokens; 0 learns it when the provider
	// refuses a batch for it.
	MaxTokens int
	// Quiet is how long no request came before those that wait are sent off; 0
	// for DefaultBatchQuiet.
	Quiet time.Duration
	// Poll is how often a batch is looked at; 0 for DefaultBatchPoll.
	Poll time.Duration
	// Live answers what goes into no batch, which is embeddings: they are cheap,
	// and come one at a time. Nil for Backend.
	Live Client
	// ExpiredLive lets Live answer what an expired batch left unanswered; else it
	// goes into another batch.
	ExpiredLive bool
	// OnProgress is told whenever a batch has changed; nil for nobody. It must
	// not block.
	OnProgress func(BatchProgress)
	// Log gets a line when a batch is made and when it ends; nil for none.
	Log *slog.Logger
}

// BatchProgress is what is known of all batches of a process.
type BatchProgress struct {
	// Waiting counts the requests that are in no batch yet.
	Waiting int
	// Open counts the batches at the provider by their state.
	Open map[string]int
	// Requests and Done count the requests in open batches, and those of them
	// that the provider has finished.
	Requests, Done int
}

// Batch is a backend over a provider's Batch API: requests are gathered, sent
// as files, and answered when their batch has ended, for about half the price.
// Complete blocks until then, so a run needs as many workers as a batch is to
// have requests.
//
// Which request a result belongs to is told by its custom_id, which is the
// request's Key. A batch is noted in the journal before it is made: a process
// that starts with the journal of one that died waits for the same batches, and
// pays nothing twice. A request of which nothing comes back has an error, and
// is not waited for any longer.
//
// The first request of each model goes live, since only a live call finds out
// which form of request the server takes. It is safe for concurrent use.
type Batch struct {
	cfg    BatchConfig
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	journal *batchJournal
	asked   map[Key]*asked    // being waited for
	queue   []*asked          // in no batch yet
	bytes   int               // of the queue's lines
	counted int               // tokens of the queue
	inside  map[Key]*shipment // the latest batch that holds a request
	open    map[*shipment]bool
	over    []*shipment // of which nothing more will come
	tokens  int         // enqueued in open batches
	most    int         // MaxTokens, given or learnt
	timer   *time.Timer
	closed  bool
	change  chan struct{} // closed and made anew when a batch has ended
}

// asked is a request that is waited for.
type asked struct {
	key    Key
	req    *Request
	line   []byte
	tokens int
	wanted int           // by how many callers; under the Batch's lock
	done   chan struct{} // closed when resp and err are there
	resp   *Response
	err    error
}

func (a *asked) finish(resp *Response, err error) {
	a.resp, a.err = resp, err
	close(a.done)
}

// NewBatch opens the journal. The caller must Close it.
func NewBatch(cfg BatchConfig) (*Batch, error) {
	cfg.MaxRequests = cmp.Or(max(cfg.MaxRequests, 0), DefaultBatchRequests)
	cfg.MaxBytes = cmp.Or(max(cfg.MaxBytes, 0), DefaultBatchBytes)
	cfg.Quiet = cmp.Or(max(cfg.Quiet, 0), DefaultBatchQuiet)
	cfg.Poll = cmp.Or(max(cfg.Poll, 0), DefaultBatchPoll)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Live == nil {
		cfg.Live = cfg.Backend
	}
	j, old, err := openBatchJournal(cfg.Journal)
	if err != nil {
		return nil, err
	}
	b := &Batch{cfg: cfg, journal: j, asked: map[Key]*asked{}, inside: map[Key]*shipment{}, open: map[*shipment]bool{},
		most: cfg.MaxTokens, change: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	for _, s := range old {
		s.batch = b
		for _, k := range s.keys {
			b.inside[k] = s
		}
	}
	return b, nil
}

// Complete waits until the request's batch has ended.
func (b *Batch) Complete(ctx context.Context, req *Request) (*Response, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(req.Embed) > 0 {
		return b.cfg.Live.Complete(ctx, req)
	}
	if !b.holds(req.Key()) {
		resp, live, err := b.cfg.Backend.first(ctx, req)
		if live || err != nil {
			return resp, err
		}
	}
	a, err := b.ask(req)
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		if !b.giveUp(a) {
			return nil, ctx.Err()
		}
	}
	if a.resp == nil {
		return nil, a.err
	}
	resp := *a.resp // each caller's own
	return &resp, nil
}

// holds reports that a batch has the request, be it one of an earlier process.
func (b *Batch) holds(key Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inside[key] != nil
}

// ask puts a request where it will be answered: beside the same request, into
// the batch that holds it already, or into the queue.
func (b *Batch) ask(req *Request) (*asked, error) {
	key := req.Key()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, context.Canceled
	}
	if a := b.asked[key]; a != nil {
		a.wanted++
		return a, nil
	}
	a := &asked{key: key, req: req, wanted: 1, done: make(chan struct{})}
	if s := b.inside[key]; s != nil {
		if r, ok := s.kept[key]; ok {
			delete(s.kept, key)
			delete(b.inside, key)
			a.finish(b.cfg.Backend.batchReply(req, r))
			return a, nil
		}
		b.asked[key] = a
		b.carry(s)
		return a, nil
	}
	if err := b.write(a); err != nil {
		return nil, err
	}
	b.asked[key] = a
	b.enqueue(a)
	return a, nil
}

// write makes the request's line of a batch file.
func (b *Batch) write(a *asked) error {
	p, err := b.cfg.Backend.Preview(a.req)
	if err != nil {
		return err
	}
	a.line, err = json.Marshal(batchLine{CustomID: a.key.String(), Method: p.Method, URL: b.cfg.Backend.batchPath(), Body: p.Body})
	if err != nil {
		return fmt.Errorf("encode a request of a batch: %w", err)
	}
	if len(a.line) >= b.cfg.MaxBytes {
		return &Error{Kind: Row, Code: "request_too_large", Message: fmt.Sprintf("the request has %d bytes, a batch at most %d", len(a.line), b.cfg.MaxBytes)}
	}
	if a.tokens = a.req.PromptTokens; a.tokens <= 0 {
		a.tokens = textBytes(a.req)/4 + 1
	}
	return nil
}

// batchLine is a line of a batch file, encoded here: go-openai's type would
// write the body anew, and an empty line where it can't.
type batchLine struct {
	CustomID string          `json:"custom_id"`
	Method   string          `json:"method"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

// enqueue adds to the queue, and sends it off when it is full, or when nothing
// more has come for a while: what is asked next hangs on the answers then.
// b.mu is held.
func (b *Batch) enqueue(a *asked) {
	b.queue = append(b.queue, a)
	b.bytes += len(a.line) + 1
	b.counted += a.tokens
	if b.full() {
		b.sendOff()
		return
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(b.cfg.Quiet, b.quiet)
		return
	}
	b.timer.Reset(b.cfg.Quiet)
}

func (b *Batch) quiet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.sendOff()
	}
}

// full reports that the queue makes a batch.
func (b *Batch) full() bool {
	return len(b.queue) >= b.cfg.MaxRequests || b.bytes >= b.cfg.MaxBytes || b.most > 0 && b.counted >= b.most
}

// sendOff cuts the queue into batches and starts each. b.mu is held.
func (b *Batch) sendOff() {
	for len(b.queue) > 0 {
		n := b.cut()
		s := &shipment{batch: b, asked: b.queue[:n:n]}
		b.queue = b.queue[n:]
		for _, a := range s.asked {
			s.keys = append(s.keys, a.key)
			s.tokens += a.tokens
			b.inside[a.key] = s
		}
		b.carry(s)
	}
	b.queue, b.bytes, b.counted = nil, 0, 0
	b.progress()
}

// cut is how many requests from the top of the queue fit into one batch; one
// does always.
func (b *Batch) cut() int {
	size, tokens := 0, 0
	for i, a := range b.queue {
		size += len(a.line) + 1
		tokens += a.tokens
		if i > 0 && (i >= b.cfg.MaxRequests || size > b.cfg.MaxBytes || b.most > 0 && tokens > b.most) {
			return i
		}
	}
	return len(b.queue)
}

// carry starts a batch, or takes up again one of an earlier process, unless
// that has been done. b.mu is held.
func (b *Batch) carry(s *shipment) {
	if s.started {
		return
	}
	s.started = true
	b.open[s] = true
	b.wg.Go(func() { s.run(b.ctx) })
}

// giveUp forgets a request that its caller waits for no longer, unless it is in
// a batch: that is paid for anyway. It reports that the answer has come after
// all, and is the caller's to keep.
func (b *Batch) giveUp(a *asked) (answered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-a.done:
		return true
	default:
	}
	if a.wanted--; a.wanted > 0 {
		return false
	}
	for i, q := range b.queue {
		if q == a {
			b.queue = append(b.queue[:i:i], b.queue[i+1:]...)
			b.bytes -= len(a.line) + 1
			b.counted -= a.tokens
			delete(b.asked, a.key)
			a.finish(nil, context.Canceled)
			return false
		}
	}
	return false
}

// waiting returns the request that somebody waits for, or nil; one that all its
// callers have given up is forgotten. b.mu is held.
func (b *Batch) waiting(key Key) *asked {
	a := b.asked[key]
	if a != nil && a.wanted <= 0 {
		delete(b.asked, key)
		return nil
	}
	return a
}

// answer gives a request its result.
func (b *Batch) answer(key Key, resp *Response, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.inside, key)
	if a := b.asked[key]; a != nil {
		delete(b.asked, key)
		a.finish(resp, err)
	}
}

// again puts what is still waited for back into the queue.
func (b *Batch) again(keys []Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		delete(b.inside, k)
		a := b.waiting(k)
		if a == nil {
			continue // nobody asks for it in this process; if somebody does, it is new
		}
		if a.line == nil {
			if err := b.write(a); err != nil {
				delete(b.asked, k)
				a.finish(nil, err)
				continue
			}
		}
		b.enqueue(a)
	}
}

// ended notes that a batch is over.
func (b *Batch) ended(s *shipment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, s)
	if s.over {
		b.over = append(b.over, s)
	}
	b.tokens -= s.reserved
	s.reserved = 0
	close(b.change)
	b.change = make(chan struct{})
	b.progress()
}

// reserve waits until the tokens of a batch may be enqueued.
func (b *Batch) reserve(ctx context.Context, s *shipment) error {
	for {
		b.mu.Lock()
		if b.most <= 0 || b.tokens == 0 || b.tokens+s.tokens <= b.most {
			s.reserved = s.tokens
			b.tokens += s.tokens
			b.mu.Unlock()
			return nil
		}
		change := b.change
		b.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// progress tells how things stand. b.mu is held.
func (b *Batch) progress() {
	if b.cfg.OnProgress == nil {
		return
	}
	p := BatchProgress{Waiting: len(b.queue), Open: map[string]int{}}
	for s := range b.open {
		p.Open[cmp.Or(s.state, "uploading")]++
		p.Requests += len(s.keys)
		p.Done += s.finished
	}
	b.cfg.OnProgress(p)
}

// Close ends the waiting. Batches that are still open stay at the provider and
// in the journal, for the next process; the others are struck from it. Call it
// when everything that Complete has returned is where it shall stay: until then
// a process that is killed finds the results again.
func (b *Batch) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
	for _, a := range b.queue {
		delete(b.asked, a.key)
		a.finish(nil, context.Canceled)
	}
	b.queue = nil
	b.mu.Unlock()
	b.cancel()
	b.wg.Wait()
	for _, a := range b.asked { // in open batches; nobody else is left to touch it
		a.finish(nil, context.Canceled)
	}
	for _, s := range b.over {
		if len(s.kept) == 0 { // all was handed over, and kept by those who asked
			b.journal.take(batchEntry{Token: s.token, Over: true})
		}
	}
	return b.journal.close()
}
