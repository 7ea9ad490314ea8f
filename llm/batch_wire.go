package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"
)

// batchTokenName is the member of a batch's metadata by which it is found again.
const batchTokenName = "ragjudge_token"

// batchWindow is the time that a batch is given; OpenAI has no other.
const batchWindow = "24h"

// batchFileTimeout is the deadline of sending or fetching a file.
const batchFileTimeout = 30 * time.Minute

// batchPath is the path that a batch's requests are for.
func (o *OpenAI) batchPath() string {
	if o.cfg.Provider == ProviderAzure {
		return "/chat/completions"
	}
	return string(openai.BatchEndpointChatCompletions)
}

// about makes a call about files or batches, and says in this package's terms
// what went wrong.
func (o *OpenAI) about(ctx context.Context, timeout time.Duration, call func(context.Context) error) error {
	x := &exchange{plain: true}
	ctx, cancel := withDeadline(ctx, timeout)
	defer cancel()
	err := call(context.WithValue(ctx, exchangeKey{}, x))
	switch {
	case x.err != nil:
		return o.clean(netError(ctx, x.err, timeout))
	case x.status >= 300:
		d := diagnose(x.status, x.header, x.body, time.Now())
		if full := enqueued(strings.Join(d.facts.codes, " "), d.facts.message); full != nil {
			return full
		}
		if d.err.Kind == Row { // there is no row here
			d.err.Kind = Fatal
		}
		d.err.Hint += "; what was called is " + x.url
		d.err.Hint = strings.TrimPrefix(d.err.Hint, "; ")
		return o.clean(d.err)
	case err == nil:
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return o.clean(netError(ctx, err, timeout))
	}
	return o.clean(&Error{Kind: Transient, Code: "unreadable_reply", Status: x.status, Message: err.Error(), Err: err})
}

func (o *OpenAI) uploadBatch(ctx context.Context, data []byte) (file openai.File, err error) {
	err = o.about(ctx, batchFileTimeout, func(ctx context.Context) (err error) {
		file, err = o.client.CreateFileBytes(ctx, openai.FileBytesRequest{Name: "ragjudge.jsonl", Bytes: data, Purpose: openai.PurposeBatch})
		if err == nil && file.ID == "" {
			err = errors.New("the reply to an upload names no file")
		}
		return err
	})
	return file, err
}

func (o *OpenAI) createBatch(ctx context.Context, fileID, token string) (made openai.Batch, err error) {
	err = o.about(ctx, o.cfg.Timeout, func(ctx context.Context) error {
		resp, err := o.client.CreateBatch(ctx, openai.CreateBatchRequest{InputFileID: fileID, Endpoint: openai.BatchEndpoint(o.batchPath()),
			CompletionWindow: batchWindow, Metadata: map[string]any{batchTokenName: token}})
		if made = resp.Batch; err == nil && made.ID == "" {
			err = errors.New("the reply names no batch")
		}
		return err
	})
	return made, err
}

func (o *OpenAI) batchState(ctx context.Context, id string) (seen openai.Batch, err error) {
	err = o.about(ctx, o.cfg.Timeout, func(ctx context.Context) error {
		resp, err := o.client.RetrieveBatch(ctx, id)
		if seen = resp.Batch; err == nil && seen.Status == "" {
			err = errors.New("the reply tells no state of the batch")
		}
		return err
	})
	return seen, err
}

func (o *OpenAI) listBatches(ctx context.Context, after string) (page openai.ListBatchResponse, err error) {
	limit := 100
	var from *string
	if after != "" {
		from = &after
	}
	err = o.about(ctx, o.cfg.Timeout, func(ctx context.Context) (err error) {
		page, err = o.client.ListBatch(ctx, from, &limit)
		return err
	})
	return page, err
}

// BatchState is how a batch stands at the provider.
type BatchState struct {
	// State is the provider's word: "in_progress", "completed", "expired".
	State string
	// Requests, Completed and Failed count its requests.
	Requests, Completed, Failed int
}

// BatchState asks the provider how a batch stands.
func (o *OpenAI) BatchState(ctx context.Context, id string) (BatchState, error) {
	seen, err := o.batchState(ctx, id)
	return BatchState{State: seen.Status, Requests: seen.RequestCounts.Total, Completed: seen.RequestCounts.Completed, Failed: seen.RequestCounts.Failed}, err
}

// CancelBatch asks the provider to end a batch: what it has answered by then is
// paid for, and is fetched by the run that waits for it.
func (o *OpenAI) CancelBatch(ctx context.Context, id string) error {
	return o.about(ctx, o.cfg.Timeout, func(ctx context.Context) error {
		_, err := o.client.CancelBatch(ctx, id)
		return err
	})
}

// batchResult is a line of a result file.
type batchResult struct {
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error json.RawMessage `json:"error"`
}

// unanswered reports a request that the provider did not come to.
func (r batchResult) unanswered() bool {
	return r.Response == nil && (bytes.Contains(r.Error, []byte("batch_expired")) || bytes.Contains(r.Error, []byte("batch_cancelled")))
}

// batchResults reads a result file, whose lines are in any order. Lines that
// are no result, and results of which nobody knows, are passed over: the
// requests they may be about are missing then. A file that breaks off is an
// error, and is fetched again.
func (o *OpenAI) batchResults(ctx context.Context, fileID string, each func(Key, batchResult)) error {
	return o.about(ctx, batchFileTimeout, func(ctx context.Context) error {
		content, err := o.client.GetFileContent(ctx, fileID)
		if err != nil {
			return err
		}
		defer content.Close() //nolint:errcheck // it was read to its end, or failed
		r := bufio.NewReaderSize(content, 1<<20)
		for {
			line, err := r.ReadBytes('\n')
			if k, result, ok := parseResult(line); ok {
				each(k, result)
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("the file of results breaks off: %w", err)
			}
		}
	})
}

func parseResult(line []byte) (Key, batchResult, bool) {
	var r struct {
		CustomID string `json:"custom_id"`
		batchResult
	}
	if json.Unmarshal(line, &r) != nil {
		return Key{}, batchResult{}, false
	}
	k, err := parseKey(r.CustomID)
	return k, r.batchResult, err == nil && (r.Response != nil || told(r.Error))
}

// batchReply makes of a result what a live call would have given. A refusal of
// the request's form is learnt from, and the request can be tried again.
func (o *OpenAI) batchReply(req *Request, r batchResult) (*Response, error) {
	x := &exchange{status: http.StatusBadRequest, header: http.Header{}, body: append(append([]byte(`{"error":`), r.Error...), '}')}
	if r.Response != nil {
		x.status, x.body = r.Response.Status, r.Response.Body
	}
	resp, d := decodeReply(x)
	if resp != nil {
		resp.Usage.Batched = true
		resp.Logprobs = keepLogprobs(resp.Logprobs, req.LogprobsOf)
		return resp, nil
	}
	d.err.Message = o.secrets.redact(d.err.Message)
	req = o.withExtra(req)
	f, room := o.forms.get(req.Model), 0
	if o.adapt(req, f, d, &room) && room == 0 {
		return nil, &Error{Kind: Transient, Code: "form_refused", Status: x.status, Message: d.err.Message}
	}
	return nil, o.clean(o.explained(req, f, x, d))
}

func errorBody(code, message string) []byte {
	b, err := json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": message}})
	if err != nil {
		return nil // two strings
	}
	return b
}

var enqueuedLimit = regexp.MustCompile(`(?i)limit:?\s*([\d,]+)`)

// enqueued recognizes a batch that is beyond the tokens that may be enqueued.
func enqueued(code, message string) *enqueuedError {
	text := strings.ToLower(code + " " + message)
	if !strings.Contains(text, "enqueued") && !strings.Contains(text, "token_limit_exceeded") {
		return nil
	}
	e := &enqueuedError{message: message}
	if m := enqueuedLimit.FindStringSubmatch(message); m != nil {
		e.limit, _ = strconv.Atoi(strings.ReplaceAll(m[1], ",", "")) // 0 if it is no number
	}
	return e
}
