package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/sashabaranov/go-openai"
)

// shipment is one batch on its way: to be uploaded, or made by an earlier
// process.
type shipment struct {
	batch *Batch
	asked []*asked // to be uploaded; nil for one of an earlier process
	keys  []Key    // in the order of the lines
	token string
	id    string // at the provider; empty if it is not known yet
	old   bool   // of an earlier process

	// Held by the Batch's lock.
	started          bool
	tokens, reserved int
	state            string
	finished         int
	// over says that nothing more will come of it; kept are the results that
	// nobody has asked for yet.
	over bool
	kept map[Key]batchResult
}

// The states of a batch at the provider.
const (
	batchFailed    = "failed"
	batchCompleted = "completed"
	batchExpired   = "expired"
	batchCancelled = "cancelled"
)

// run takes the batch to its end. Whatever comes, each of its requests gets an
// answer, or a place in another batch; only the end of ctx leaves them to the
// next process.
func (s *shipment) run(ctx context.Context) {
	b := s.batch
	defer b.ended(s)
	err := s.make(ctx)
	if errors.As(err, new(*enqueuedError)) {
		err = s.tooMuch(ctx, err)
		if err == nil {
			return
		}
	}
	if err == nil && s.id == "" { // it was never made
		b.again(s.keys)
		return
	}
	var ended openai.Batch
	if err == nil {
		ended, err = s.wait(ctx)
	}
	if e := AsError(err); e != nil && e.Status == http.StatusNotFound && s.id != "" {
		b.cfg.Log.Warn("the provider has no such batch any more; its requests go into another", "batch", s.id, "requests", len(s.keys), "error", e)
		if err = s.strike(); err == nil {
			b.again(s.keys)
			return
		}
	}
	if err == nil {
		err = s.unpack(ctx, ended)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	for _, k := range s.keys {
		b.answer(k, nil, err)
	}
}

// make uploads the requests and makes the batch, or finds out what became of
// one whose making an earlier process has begun.
func (s *shipment) make(ctx context.Context) error {
	if s.id != "" {
		return nil
	}
	if s.old {
		return s.find(ctx)
	}
	b := s.batch
	if err := b.reserve(ctx, s); err != nil {
		return err
	}
	s.token = newToken()
	keys := make([]string, len(s.keys))
	for i, k := range s.keys {
		keys[i] = k.String()
	}
	if err := b.journal.note(batchEntry{Token: s.token, Keys: keys}); err != nil {
		return &Error{Kind: Fatal, Code: "journal", Message: err.Error(), Hint: "the run directory must be writable", Err: err}
	}
	var data []byte
	for _, a := range s.asked {
		data = append(append(data, a.line...), '\n')
	}
	s.asked = nil // the lines may be large, and are in the file now
	var file openai.File
	err := s.patiently(ctx, "upload a batch", func(ctx context.Context) (err error) {
		file, err = b.cfg.Backend.uploadBatch(ctx, data)
		return err
	})
	if err != nil {
		return errors.Join(err, s.strike())
	}
	return s.create(ctx, file.ID)
}

// create makes the batch. Where the answer is lost, the batch is looked for
// before it is made again; and where that can't be found out, it stays in the
// journal, for the next process to look for.
func (s *shipment) create(ctx context.Context, fileID string) error {
	unsure := false // it may have been made
	err := s.patiently(ctx, "make a batch", func(ctx context.Context) error {
		if unsure {
			if err := s.look(ctx); err != nil || s.id != "" {
				return err
			}
		}
		made, err := s.batch.cfg.Backend.createBatch(ctx, fileID, s.token)
		s.id = made.ID
		e := AsError(err)
		unsure = e != nil && e.Kind == Transient
		return err
	})
	if err != nil {
		if unsure || ctx.Err() != nil {
			return err
		}
		return errors.Join(err, s.strike())
	}
	s.batch.cfg.Log.Info("batch made", "batch", s.id, "requests", len(s.keys))
	return s.batch.journal.note(batchEntry{Token: s.token, Batch: s.id})
}

// find looks for the batch of an earlier process that died while it made it.
// If there is none, nothing was paid, and s.id stays empty.
func (s *shipment) find(ctx context.Context) error {
	err := s.patiently(ctx, "look for a batch", s.look)
	if err != nil {
		return err
	}
	if s.id == "" {
		return s.strike()
	}
	return s.batch.journal.note(batchEntry{Token: s.token, Batch: s.id})
}

// look sets s.id if the provider has a batch with the token.
func (s *shipment) look(ctx context.Context) error {
	after := ""
	for {
		page, err := s.batch.cfg.Backend.listBatches(ctx, after)
		if err != nil {
			return err
		}
		for _, x := range page.Data {
			if x.Metadata[batchTokenName] == s.token {
				s.id = x.ID
				return nil
			}
		}
		if !page.HasMore || len(page.Data) == 0 {
			return nil
		}
		after = page.Data[len(page.Data)-1].ID
	}
}

// strike takes the batch out of the journal, of which nothing was paid.
func (s *shipment) strike() error {
	return s.batch.journal.note(batchEntry{Token: s.token, Over: true})
}

// wait looks at the batch until it has ended.
func (s *shipment) wait(ctx context.Context) (openai.Batch, error) {
	b := s.batch
	for {
		var seen openai.Batch
		err := s.patiently(ctx, "look at a batch", func(ctx context.Context) (err error) {
			seen, err = b.cfg.Backend.batchState(ctx, s.id)
			return err
		})
		if err != nil {
			return seen, err
		}
		b.mu.Lock()
		s.state, s.finished = seen.Status, seen.RequestCounts.Completed+seen.RequestCounts.Failed
		b.progress()
		b.mu.Unlock()
		switch seen.Status {
		case batchFailed, batchCompleted, batchExpired, batchCancelled:
			b.cfg.Log.Info("batch ended", "batch", s.id, "state", seen.Status, "completed", seen.RequestCounts.Completed, "failed", seen.RequestCounts.Failed)
			return seen, nil
		}
		if err := sleep(ctx, b.cfg.Poll); err != nil {
			return seen, err
		}
	}
}

// The waits between tries of a call about a batch. A batch lives for a day, so
// a provider that is away for hours is waited for.
const (
	batchFirstWait = time.Second
	batchMaxWait   = 2 * time.Minute
	batchPatience  = 25 * time.Hour
)

// patiently repeats a call about a batch that failed for a reason that passes.
func (s *shipment) patiently(ctx context.Context, what string, call func(context.Context) error) error {
	policy := backoff.NewExponentialBackOff(backoff.WithInitialInterval(min(batchFirstWait, s.batch.cfg.Poll)), backoff.WithMaxInterval(batchMaxWait), backoff.WithMaxElapsedTime(batchPatience))
	for {
		err := call(ctx)
		e := AsError(err)
		if err == nil || ctx.Err() != nil || e == nil || e.Kind != Transient && e.Kind != RateLimited {
			return err
		}
		wait := policy.NextBackOff()
		if wait == backoff.Stop {
			return err
		}
		if e.RetryAfter > wait {
			wait = e.RetryAfter + jitter(e.RetryAfter)
		}
		s.batch.cfg.Log.Warn("a call about a batch failed and is tried again", "call", what, "batch", s.id, "error", e, "wait", wait.Round(time.Second))
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unpack gives every request of a batch that has ended its answer.
func (s *shipment) unpack(ctx context.Context, ended openai.Batch) error {
	if ended.Status == batchFailed {
		return s.refused(ctx, ended)
	}
	results := map[Key]batchResult{}
	for _, id := range []*string{ended.ErrorFileID, ended.OutputFileID} { // what was answered goes before what failed
		if id == nil || *id == "" {
			continue
		}
		err := s.patiently(ctx, "fetch the results of a batch", func(ctx context.Context) error {
			return s.batch.cfg.Backend.batchResults(ctx, *id, func(k Key, r batchResult) { results[k] = r })
		})
		if err != nil {
			return err
		}
	}
	var left []Key
	for _, k := range s.keys {
		r, ok := results[k]
		switch {
		case ok && !r.unanswered():
			s.deliver(k, r)
		case ok || ended.Status != batchCompleted:
			left = append(left, k)
		default:
			s.batch.answer(k, nil, &Error{Kind: Transient, Code: "missing_result", Message: "batch " + s.id + " has ended without a result for this request"})
		}
	}
	s.batch.mu.Lock()
	s.over = true
	s.batch.mu.Unlock()
	s.leftover(ctx, ended.Status, left)
	return nil
}

// deliver answers a request of which a result came, or keeps the result for
// whoever asks later: a run that is resumed comes to its samples one by one, and
// one that is being stopped has nobody left who would keep the answer.
func (s *shipment) deliver(k Key, r batchResult) {
	b := s.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.waiting(k); a != nil {
		delete(b.inside, k)
		delete(b.asked, k)
		a.finish(b.cfg.Backend.batchReply(a.req, r))
	} else if b.inside[k] == s {
		if s.kept == nil {
			s.kept = map[Key]batchResult{}
		}
		s.kept[k] = r
	}
}

// leftover deals with the requests that a batch was ended without: expired or
// cancelled.
func (s *shipment) leftover(ctx context.Context, status string, left []Key) {
	b := s.batch
	switch {
	case len(left) == 0:
	case status == batchCancelled:
		err := &Error{Kind: WaitTooLong, Code: "batch_cancelled", Message: fmt.Sprintf("batch %s was cancelled with %d of %d requests unanswered", s.id, len(left), len(s.keys)),
			Hint: "the same command puts them into a new batch"}
		for _, k := range left {
			b.answer(k, nil, err)
		}
	case b.cfg.ExpiredLive:
		b.cfg.Log.Warn("a batch has expired; what it left is asked live", "batch", s.id, "requests", len(left))
		s.askLive(ctx, left)
	default:
		b.cfg.Log.Warn("a batch has expired; what it left goes into another", "batch", s.id, "requests", len(left))
		b.again(left)
	}
}

// askLive answers requests by live calls, as many at once as the rest of the
// chain allows.
func (s *shipment) askLive(ctx context.Context, keys []Key) {
	b := s.batch
	for chunk := range slices.Chunk(keys, DefaultConcurrency) {
		done := make(chan struct{}, len(chunk))
		for _, k := range chunk {
			b.mu.Lock()
			a := b.waiting(k)
			delete(b.inside, k)
			b.mu.Unlock()
			if a == nil {
				done <- struct{}{}
				continue
			}
			go func() {
				defer func() { done <- struct{}{} }()
				resp, err := b.cfg.Live.Complete(ctx, a.req)
				if ctx.Err() == nil {
					b.answer(k, resp, err)
				}
			}()
		}
		for range chunk {
			<-done
		}
	}
}

// refused deals with a batch that failed when it was validated: nothing of it
// was paid.
func (s *shipment) refused(ctx context.Context, ended openai.Batch) error {
	b := s.batch
	code, message, bad := "batch_failed", "the provider gives no reason", map[int]string{}
	if ended.Errors != nil {
		for i, e := range ended.Errors.Data {
			if i == 0 {
				code, message = e.Code, e.Message
			}
			if e.Line != nil && *e.Line >= 1 && *e.Line <= len(s.keys) {
				bad[*e.Line] = e.Message
			}
		}
	}
	if err := s.strike(); err != nil {
		return err
	}
	if e := enqueued(code, message); e != nil {
		return s.tooMuch(ctx, e)
	}
	if len(bad) == 0 {
		e := classify(http.StatusBadRequest, nil, errorBody(code, message), time.Now())
		e.Message = fmt.Sprintf("batch %s was refused: %s", s.id, e.Message)
		if e.Kind == Row { // it is not about one row
			e.Kind, e.Code = Fatal, "batch_failed"
		}
		return e
	}
	var again []Key
	for i, k := range s.keys {
		if msg, ok := bad[i+1]; ok {
			b.answer(k, nil, &Error{Kind: Row, Code: "bad_request", Message: fmt.Sprintf("line %d of batch %s: %s", i+1, s.id, msg)})
		} else {
			again = append(again, k)
		}
	}
	b.again(again)
	return nil
}

// enqueuedError is a batch that is beyond the tokens that may be enqueued.
type enqueuedError struct {
	limit   int // in tokens, as the provider tells it; 0 if it doesn't
	message string
}

func (e *enqueuedError) Error() string { return e.message }

// tooMuch puts the requests of such a batch into the queue again, for batches
// that are small enough. What stands in the way may be another process's, so
// where no batch of this one will end, some time is let pass.
func (s *shipment) tooMuch(ctx context.Context, err error) error {
	var e *enqueuedError
	errors.As(err, &e)
	b := s.batch
	b.mu.Lock()
	alone := b.tokens == s.reserved
	switch {
	case e.limit > 0 && (b.most == 0 || e.limit < b.most):
		b.most = e.limit
	case alone && len(s.keys) > 1: // it doesn't fit by itself, by the provider's own count
		b.most = max(s.tokens/2, 1)
	}
	most := b.most
	b.mu.Unlock()
	if alone {
		if len(s.keys) == 1 && s.tokens > e.limit/2 {
			return &Error{Kind: Row, Code: "request_above_token_limit", Message: e.message, Hint: "this sample alone is above what the provider lets be enqueued"}
		}
		if err := sleep(ctx, b.cfg.Poll); err != nil {
			return err
		}
	}
	b.cfg.Log.Warn("the provider lets fewer tokens be enqueued at once; the requests go into smaller batches", "tokens", most, "reason", e.message)
	b.again(s.keys)
	return nil
}
