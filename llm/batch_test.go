package llm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

const batchKey = "sk-batch-Zq8vT3mW0pL5xR7n"

// batching is a Batch over a fake provider.
type batching struct {
	*testing.T
	server  *llmtest.Server
	journal string
	cfg     llm.BatchConfig
}

func newBatching(t *testing.T, opt llmtest.Options) *batching {
	t.Helper()
	if opt.Batch == nil {
		opt.Batch = &llmtest.BatchOptions{Looks: 1}
	}
	opt.Key = batchKey
	opt.Answer = func(r *llm.Request) string { return "about " + r.Messages[len(r.Messages)-1].Content }
	s := llmtest.New(opt)
	t.Cleanup(s.Close)
	return &batching{T: t, server: s, journal: filepath.Join(t.TempDir(), "batches.jsonl"),
		cfg: llm.BatchConfig{Quiet: 20 * time.Millisecond, Poll: time.Millisecond}}
}

// start opens a Batch, as a process does.
func (x *batching) start() *llm.Batch {
	x.Helper()
	backend, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: x.server.URL(), APIKey: batchKey})
	if err != nil {
		x.Fatal(err)
	}
	cfg := x.cfg
	cfg.Backend, cfg.Journal = backend, x.journal
	b, err := llm.NewBatch(cfg)
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() { _ = b.Close() })
	return b
}

func batchRequest(i int) *llm.Request {
	return &llm.Request{Endpoint: "e", Model: "judge-m", MaxTokens: 50, Messages: []llm.Message{
		{Role: llm.System, Content: "Judge."}, {Role: llm.User, Content: fmt.Sprintf("sample %d", i)}}}
}

// all asks for n requests at once and returns the errors by their number.
func (x *batching) all(c llm.Client, from, to int) map[int]error {
	x.Helper()
	errs := map[int]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := from; i <= to; i++ {
		wg.Go(func() {
			resp, err := c.Complete(x.Context(), batchRequest(i))
			if want := fmt.Sprintf("about sample %d", i); err == nil && resp.Content != want {
				err = fmt.Errorf("got %q, want %q", resp.Content, want)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs[i] = err
			}
		})
	}
	wg.Wait()
	return errs
}

// nothingTwice holds that every request was paid for at most once.
func (x *batching) nothingTwice() {
	x.Helper()
	for _, r := range x.server.Repeats() {
		if r.Paid > 1 {
			x.Errorf("paid %d times: %s", r.Paid, r.Body)
		}
	}
}

func (x *batching) closed(b *llm.Batch) {
	x.Helper()
	if err := b.Close(); err != nil {
		x.Error(err)
	}
	if _, err := os.Stat(x.journal); !errors.Is(err, os.ErrNotExist) {
		data, _ := os.ReadFile(x.journal)
		x.Errorf("the journal is still there: %s", data)
	}
}

// TestBatch: everything is answered by its own result, though results come in
// any order, with one live call to learn from.
func TestBatch(t *testing.T) {
	x := newBatching(t, llmtest.Options{})
	b := x.start()
	if errs := x.all(b, 1, 100); len(errs) > 0 {
		t.Fatal(errs)
	}
	made := x.server.Batches()
	if len(made) != 1 || made[0].Requests != 99 || made[0].Status != "completed" {
		t.Errorf("batches %+v", made)
	}
	x.nothingTwice()
	if x.server.Paid() != 100 {
		t.Errorf("%d paid", x.server.Paid())
	}
	x.closed(b)
}

// TestBatchSaysItsPrice: a reply of a batch is told apart from a live one.
func TestBatchSaysItsPrice(t *testing.T) {
	x := newBatching(t, llmtest.Options{})
	b := x.start()
	first, err := b.Complete(t.Context(), batchRequest(1))
	if err != nil || first.Usage.Batched {
		t.Errorf("the live call: %+v, %v", first, err)
	}
	second, err := b.Complete(t.Context(), batchRequest(2))
	if err != nil || !second.Usage.Batched || second.Usage.PromptTokens == 0 {
		t.Errorf("the one in a batch: %+v, %v", second, err)
	}
}

// TestBatchIsSplit by count, by bytes, and by the tokens that may be enqueued,
// told or found out.
func TestBatchIsSplit(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*batching)
		most int // requests in a batch
	}{
		"count":          {func(x *batching) { x.cfg.MaxRequests = 10 }, 10},
		"bytes":          {func(x *batching) { x.cfg.MaxBytes = 3000 }, 12},
		"tokens, told":   {func(x *batching) { x.cfg.MaxTokens = 30 }, 10},
		"tokens, learnt": {func(*batching) {}, 99},
	} {
		t.Run(name, func(t *testing.T) {
			opt := llmtest.BatchOptions{Looks: 1}
			if name == "tokens, learnt" {
				opt.MaxTokens = 2000
			}
			x := newBatching(t, llmtest.Options{Batch: &opt})
			c.set(x)
			b := x.start()
			if errs := x.all(b, 1, 100); len(errs) > 0 {
				t.Fatal(errs)
			}
			made := x.server.Batches()
			for _, m := range made {
				if m.Requests > c.most {
					t.Errorf("batch %+v, want at most %d requests", m, c.most)
				}
			}
			if len(made) < 2 {
				t.Errorf("%d batches", len(made))
			}
			x.nothingTwice()
			x.closed(b)
		})
	}
}

// TestBatchFaults: whatever becomes of a batch, every request is answered, and
// none is paid for twice.
func TestBatchFaults(t *testing.T) {
	onFirst := func(f llmtest.BatchFault) *llmtest.BatchOptions {
		return &llmtest.BatchOptions{Looks: 1, Fault: func(n int) llmtest.BatchFault {
			if n == 1 {
				return f
			}
			return llmtest.BatchFault{}
		}}
	}
	for name, c := range map[string]struct {
		fault   llmtest.BatchFault
		batches int
		failed  map[int]string // by number
		all     string         // of every request but the live one
	}{
		"expired":               {fault: llmtest.BatchFault{Expire: true, Answered: 4}, batches: 2},
		"lost reply":            {fault: llmtest.BatchFault{LostReply: true}, batches: 1},
		"upload refused once":   {fault: llmtest.BatchFault{UploadStatus: 503}, batches: 1},
		"making refused once":   {fault: llmtest.BatchFault{CreateStatus: 500}, batches: 2},
		"provider away":         {fault: llmtest.BatchFault{LookStatus: 502, LookFails: 1}, batches: 1},
		"results cut":           {fault: llmtest.BatchFault{CutOutput: 1}, batches: 1},
		"garbage in results":    {fault: llmtest.BatchFault{Garbage: true}, batches: 1},
		"cancelled":             {fault: llmtest.BatchFault{Cancel: true}, batches: 1, all: "batch_cancelled"},
		"refused for the model": {fault: llmtest.BatchFault{Code: "model_not_found", Message: "The provided model 'judge-m' is not supported by the Batch API."}, batches: 1, all: "model_not_found"},
		"refused":               {fault: llmtest.BatchFault{Code: "empty_file", Message: "The input file is empty."}, batches: 1, all: "batch_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newBatching(t, llmtest.Options{Batch: onFirst(c.fault)})
			b := x.start()
			if _, err := b.Complete(t.Context(), batchRequest(0)); err != nil {
				t.Fatal(err)
			}
			errs := x.all(b, 1, 10)
			for i := 1; i <= 10; i++ {
				switch err := errs[i]; {
				case c.all == "" && err != nil, c.all != "" && (llm.AsError(err) == nil || llm.AsError(err).Code != c.all):
					t.Errorf("sample %d: %v, want %q", i, err, c.all)
				}
			}
			if got := len(x.server.Batches()); got != c.batches {
				t.Errorf("%d batches, want %d", got, c.batches)
			}
			x.nothingTwice()
			x.closed(b)
		})
	}
}

// TestBatchOfWhichNothingIsKnown: the answer to its making is lost, and the
// provider does not let batches be listed. It may be paid for, so the next
// process looks for it again, and waits for it.
func TestBatchOfWhichNothingIsKnown(t *testing.T) {
	x := newBatching(t, llmtest.Options{Batch: &llmtest.BatchOptions{Fault: func(int) llmtest.BatchFault {
		return llmtest.BatchFault{LostReply: true, ListStatus: 403}
	}}})
	first := x.start()
	if _, err := first.Complete(t.Context(), batchRequest(0)); err != nil {
		t.Fatal(err)
	}
	errs := x.all(first, 1, 10)
	for i := 1; i <= 10; i++ {
		if e := llm.AsError(errs[i]); e == nil || e.Kind != llm.Fatal {
			t.Errorf("sample %d: %v", i, errs[i])
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := x.start()
	if errs := x.all(second, 1, 10); len(errs) > 0 {
		t.Error(errs)
	}
	if made := x.server.Batches(); len(made) != 1 {
		t.Errorf("batches %+v", made)
	}
	x.nothingTwice()
	x.closed(second)
}

// TestBatchLineFaults: what goes wrong with a line is an error of its request
// alone; a result that is missing is one, and is not waited for.
func TestBatchLineFaults(t *testing.T) {
	fault := llmtest.FirstOf(llmtest.On("sample 3", llmtest.ContentFilter()), llmtest.On("sample 4", llmtest.Status(500)), llmtest.On("sample 5", llmtest.ContextTooLong()))
	x := newBatching(t, llmtest.Options{Fault: fault, Batch: &llmtest.BatchOptions{Fault: func(int) llmtest.BatchFault {
		return llmtest.BatchFault{Forget: []int{1}}
	}}})
	x.cfg.MaxRequests = 9
	b := x.start()
	if _, err := b.Complete(t.Context(), batchRequest(0)); err != nil {
		t.Fatal(err)
	}
	errs := x.all(b, 1, 9)
	codes := map[string]int{}
	for i, err := range errs {
		codes[llm.AsError(err).Code]++
		if i == 3 && llm.AsError(err).Kind != llm.Row && llm.AsError(err).Code != "missing_result" {
			t.Errorf("sample 3: %v", err)
		}
	}
	if codes["missing_result"] != 1 || len(errs) < 3 || len(errs) > 4 {
		t.Errorf("%v", errs)
	}
	x.nothingTwice()
}

// TestBatchLearnsForm: a part of the request that the server refuses costs one
// live call, and no batch.
func TestBatchLearnsForm(t *testing.T) {
	x := newBatching(t, llmtest.Options{Rejects: []string{"max_tokens"}})
	b := x.start()
	if errs := x.all(b, 1, 20); len(errs) > 0 {
		t.Fatal(errs)
	}
	if made := x.server.Batches(); len(made) != 1 {
		t.Errorf("batches %+v", made)
	}
}

// TestBatchIsTakenUpAgain ends a process at several moments of a batch's life:
// the next one waits for the same batch.
func TestBatchIsTakenUpAgain(t *testing.T) {
	for name, looks := range map[string]int{"before it was in progress": 100_000, "when it had ended": 0} {
		t.Run(name, func(t *testing.T) {
			x := newBatching(t, llmtest.Options{Batch: &llmtest.BatchOptions{Looks: looks}})
			seen := make(chan struct{})
			var once sync.Once
			x.cfg.OnProgress = func(p llm.BatchProgress) {
				if p.Open["in_progress"]+p.Open["completed"] > 0 {
					once.Do(func() { close(seen) })
				}
			}
			first := x.start()
			if _, err := first.Complete(t.Context(), batchRequest(0)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for i := 1; i <= 10; i++ {
				wg.Go(func() { _, _ = first.Complete(ctx, batchRequest(i)) })
			}
			<-seen // so it was made, and noted before
			data, err := os.ReadFile(x.journal)
			if err != nil || !strings.Contains(string(data), `"batch":"batch_1"`) {
				t.Fatalf("the journal is %s, %v", data, err)
			}
			cancel()
			wg.Wait()
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			// As after a kill: with the journal as it was then, and half a line.
			if err := os.WriteFile(x.journal, append(data, `{"schema":1,"tok`...), 0o600); err != nil {
				t.Fatal(err)
			}
			x.server.FinishBatches()
			second := x.start()
			for i := 10; i >= 1; i-- { // one by one, and in another order
				if errs := x.all(second, i, i); len(errs) > 0 {
					t.Error(errs)
				}
			}
			if made := x.server.Batches(); len(made) != 1 {
				t.Errorf("batches %+v", made)
			}
			x.nothingTwice()
			x.closed(second)
		})
	}
}

// TestBatchLeavesEmbeddingsLive: vectors go into no batch.
func TestBatchLeavesEmbeddingsLive(t *testing.T) {
	x := newBatching(t, llmtest.Options{})
	b := x.start()
	resp, err := b.Complete(t.Context(), &llm.Request{Endpoint: "e", Model: "embed-m", Embed: []string{"one text", "another"}})
	if err != nil || resp.Content == "" {
		t.Errorf("%+v, %v", resp, err)
	}
	if made := x.server.Batches(); len(made) != 0 {
		t.Errorf("batches %+v", made)
	}
	x.closed(b)
}

// TestBatchExpiredLive: what an expired batch left is answered live.
func TestBatchExpiredLive(t *testing.T) {
	x := newBatching(t, llmtest.Options{Batch: &llmtest.BatchOptions{Fault: func(int) llmtest.BatchFault {
		return llmtest.BatchFault{Expire: true, Answered: 3}
	}}})
	x.cfg.ExpiredLive = true
	b := x.start()
	if errs := x.all(b, 1, 10); len(errs) > 0 {
		t.Fatal(errs)
	}
	if made := x.server.Batches(); len(made) != 1 {
		t.Errorf("batches %+v", made)
	}
	x.nothingTwice()
	x.closed(b)
}

// TestBatchThatIsGone: a batch that the provider doesn't know any more does not
// stand in the way of the run that noted it.
func TestBatchThatIsGone(t *testing.T) {
	x := newBatching(t, llmtest.Options{})
	key := batchRequest(1).Key()
	note := fmt.Sprintf(`{"schema":1,"token":"ragjudge-x","batch":"batch_99","keys":[%q]}`+"\n", key)
	if err := os.WriteFile(x.journal, []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	b := x.start()
	if errs := x.all(b, 1, 5); len(errs) > 0 {
		t.Fatal(errs)
	}
	x.nothingTwice()
	x.closed(b)
}

// TestBatchCallerWhoGivesUp: of two callers of one request, one that gives up
// does not take the answer from the other.
func TestBatchCallerWhoGivesUp(t *testing.T) {
	x := newBatching(t, llmtest.Options{})
	x.cfg.Quiet = 100 * time.Millisecond
	b := x.start()
	if _, err := b.Complete(t.Context(), batchRequest(0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := b.Complete(ctx, batchRequest(1)); !errors.Is(err, context.Canceled) {
			t.Errorf("the one who gave up: %v", err)
		}
	})
	wg.Go(func() {
		if _, err := b.Complete(t.Context(), batchRequest(1)); err != nil {
			t.Errorf("the one who waits: %v", err)
		}
	})
	cancel()
	wg.Wait()
}

// TestBatchOfWhichAllGaveUp: what comes when all callers have gone, as when a run
// is stopped, is kept for the next who asks, in this process or the next.
func TestBatchOfWhichAllGaveUp(t *testing.T) {
	x := newBatching(t, llmtest.Options{Batch: &llmtest.BatchOptions{Looks: 100_000}})
	ended, open := make(chan struct{}), make(chan struct{})
	var once, onceOpen sync.Once
	x.cfg.OnProgress = func(p llm.BatchProgress) {
		switch {
		case p.Open["in_progress"] > 0:
			onceOpen.Do(func() { close(open) })
		case len(p.Open) == 0 && p.Waiting == 0: // told last of all, when its results are unpacked
			once.Do(func() { close(ended) })
		}
	}
	b := x.start()
	if _, err := b.Complete(t.Context(), batchRequest(0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := 1; i <= 10; i++ {
		wg.Go(func() {
			if _, err := b.Complete(ctx, batchRequest(i)); !errors.Is(err, context.Canceled) {
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	<-open
	cancel()
	wg.Wait()
	x.server.FinishBatches()
	<-ended
	if errs := x.all(b, 1, 3); len(errs) > 0 {
		t.Error(errs)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	second := x.start()
	if errs := x.all(second, 4, 10); len(errs) > 0 {
		t.Error(errs)
	}
	if made := x.server.Batches(); len(made) != 1 {
		t.Errorf("batches %+v", made)
	}
	x.nothingTwice()
}
