package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// BatchOptions say how the server's Batch API behaves: POST /v1/files, POST and
// GET /v1/batches, GET /v1/batches/ID, POST /v1/batches/ID/cancel and GET
// /v1/files/ID/content. Each line of a batch is answered, struck by faults,
// recorded and charged for as a chat request of its own.
//
// A batch moves on when it is looked at: a state for every look, from
// validating over in_progress and finalizing to the last one.
type BatchOptions struct {
	// Looks is how often a batch is seen in progress before it ends.
	Looks int
	// Fault is what goes wrong with the nth batch that is created, from 1; nil
	// for nothing.
	Fault func(n int) BatchFault
	// MaxTokens is the most tokens that may be enqueued at once, reckoned as a
	// fourth of the bytes; 0 for any. A batch beyond it fails when it is
	// validated, as OpenAI's do.
	MaxTokens int
	// MaxRequests is the most lines of a batch; 0 for 50,000.
	MaxRequests int
}

// BatchFault is what goes wrong with one batch. The zero value is nothing.
type BatchFault struct {
	// UploadStatus refuses the upload with this status; CreateStatus refuses to
	// make the batch, LostReply makes it and then breaks the connection off.
	UploadStatus, CreateStatus int
	LostReply                  bool
	// ListStatus refuses the first list of batches after it was made.
	ListStatus int
	// Code fails the batch while it is validated, with Message and, if it is
	// not 0, the number of a line.
	Code, Message string
	Line          int
	// Answered is how many lines are answered before the batch expires (Expire)
	// or is cancelled (Cancel).
	Expire, Cancel bool
	Answered       int
	// Forget are the numbers of lines, from 1, of which nothing comes back.
	Forget []int
	// LookStatus answers so many looks at the batch with this status.
	LookStatus, LookFails int
	// CutOutput sends only half of the output file, so many times.
	CutOutput int
	// Garbage adds lines to the output that are no results.
	Garbage bool
}

// batches is the state of the Batch API.
type batches struct {
	mu      sync.Mutex
	uploads int
	files   map[string][]byte
	hurry   bool
	// progressed counts the batches that were seen in progress; change is closed
	// when it grows.
	progressed int
	change     chan struct{}
	list       []*batch
}

type batch struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Endpoint         string            `json:"endpoint"`
	Errors           *batchErrors      `json:"errors"`
	InputFileID      string            `json:"input_file_id"`
	CompletionWindow string            `json:"completion_window"`
	Status           string            `json:"status"`
	OutputFileID     *string           `json:"output_file_id"`
	ErrorFileID      *string           `json:"error_file_id"`
	CreatedAt        int64             `json:"created_at"`
	ExpiresAt        int64             `json:"expires_at"`
	Counts           batchCounts       `json:"request_counts"`
	Metadata         map[string]string `json:"metadata"`

	fault   BatchFault
	looks   int
	failing int
	cut     int
}

type batchErrors struct {
	Object string       `json:"object"`
	Data   []batchError `json:"data"`
}

type batchError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    *int   `json:"line"`
}

type batchCounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

// The states of a batch.
const (
	batchValidating = "validating"
	batchInProgress = "in_progress"
	batchFinalizing = "finalizing"
	batchCompleted  = "completed"
	batchFailed     = "failed"
	batchExpired    = "expired"
	batchCancelling = "cancelling"
	batchCancelled  = "cancelled"
)

// BatchInfo is what a test may know of a batch.
type BatchInfo struct {
	ID, Status string
	// Requests is the number of its lines.
	Requests int
}

// Batches returns every batch that was made, in order.
func (s *Server) Batches() []BatchInfo {
	s.batches.mu.Lock()
	defer s.batches.mu.Unlock()
	var out []BatchInfo
	for _, b := range s.batches.list {
		out = append(out, BatchInfo{b.ID, b.Status, b.Counts.Total})
	}
	return out
}

// AwaitBatches returns when so many batches were seen in progress.
func (s *Server) AwaitBatches(n int) {
	for {
		s.batches.mu.Lock()
		seen, next := s.batches.progressed, s.batches.change
		if next == nil {
			next = make(chan struct{})
			s.batches.change = next
		}
		s.batches.mu.Unlock()
		if seen >= n {
			return
		}
		<-next
	}
}

// FinishBatches lets every batch go through its states without staying in
// progress, whatever BatchOptions.Looks is.
func (s *Server) FinishBatches() {
	s.batches.mu.Lock()
	defer s.batches.mu.Unlock()
	s.batches.hurry = true
}

func (s *Server) batchRoutes(mux *http.ServeMux) {
	for pattern, serve := range map[string]func(http.ResponseWriter, *http.Request){
		"POST /v1/files":               s.upload,
		"GET /v1/files/{id}/content":   s.content,
		"POST /v1/batches":             s.createBatch,
		"GET /v1/batches":              s.listBatches,
		"GET /v1/batches/{id}":         s.lookAtBatch,
		"POST /v1/batches/{id}/cancel": s.cancelBatch,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if refusal, ok := s.admitted(bearer(r), false); !ok {
				respond(w, http.StatusUnauthorized, jsonType, nil, []byte(refusal))
				return
			}
			if s.opts.Batch == nil {
				s.noSuchPath(w, r)
				return
			}
			serve(w, r)
		})
	}
}

func (s *Server) batchFault(n int) BatchFault {
	if s.opts.Batch.Fault == nil {
		return BatchFault{}
	}
	return s.opts.Batch.Fault(n)
}

func fail(w http.ResponseWriter, status int, message string) {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	respond(w, status, jsonType, nil, fmt.Appendf(nil, `{"error":{"message":%q,"type":%q,"param":null,"code":null}}`, message, kind))
}

func send(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types
	}
	respond(w, http.StatusOK, jsonType, nil, b)
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	b := &s.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	b.uploads++
	if f := s.batchFault(len(b.list) + 1); f.UploadStatus != 0 && b.uploads == len(b.list)+1 {
		fail(w, f.UploadStatus, "the upload failed")
		return
	}
	file, _, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" {
		fail(w, http.StatusBadRequest, "no file with purpose batch")
		return
	}
	data, err := io.ReadAll(file)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	send(w, map[string]any{"id": b.keep(data), "object": "file", "bytes": len(data), "purpose": "batch", "filename": "batch.jsonl"})
}

// keep stores a file and returns its id.
func (b *batches) keep(data []byte) string {
	if b.files == nil {
		b.files = map[string][]byte{}
	}
	id := fmt.Sprintf("file-%d", len(b.files)+1)
	b.files[id] = data
	return id
}

func (s *Server) content(w http.ResponseWriter, r *http.Request) {
	b := &s.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	id := r.PathValue("id")
	data, ok := b.files[id]
	if !ok {
		fail(w, http.StatusNotFound, "No such File object: "+id)
		return
	}
	for _, x := range b.list {
		if x.OutputFileID != nil && *x.OutputFileID == id && x.cut > 0 {
			x.cut--
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data[:len(data)/2]) //nolint:errcheck // it is meant to break
			panic(http.ErrAbortHandler)
		}
	}
	respond(w, http.StatusOK, "application/octet-stream", nil, data)
}

func (s *Server) createBatch(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		InputFileID      string            `json:"input_file_id"`
		Endpoint         string            `json:"endpoint"`
		CompletionWindow string            `json:"completion_window"`
		Metadata         map[string]string `json:"metadata"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	b := &s.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.files[asked.InputFileID]
	if !ok || asked.Endpoint != "/v1/chat/completions" || asked.CompletionWindow != "24h" {
		fail(w, http.StatusBadRequest, "no such input file, endpoint or completion_window")
		return
	}
	n := len(b.list) + 1
	f := s.batchFault(n)
	made := &batch{
		ID: fmt.Sprintf("batch_%d", n), Object: "batch", Endpoint: asked.Endpoint, InputFileID: asked.InputFileID,
		CompletionWindow: asked.CompletionWindow, Status: batchValidating, CreatedAt: s.opts.Now().Unix(),
		ExpiresAt: s.opts.Now().Unix() + 86400, Counts: batchCounts{Total: bytes.Count(bytes.TrimSpace(data), []byte("\n")) + 1},
		Metadata: asked.Metadata, fault: f, failing: f.LookFails, cut: f.CutOutput,
	}
	if f.CreateStatus != 0 {
		made.Status, made.fault, made.Metadata = batchFailed, BatchFault{}, nil // it counts as the nth, and is none
		b.list = append(b.list, made)
		fail(w, f.CreateStatus, "the batch could not be made")
		return
	}
	b.list = append(b.list, made)
	if f.LostReply {
		panic(http.ErrAbortHandler)
	}
	send(w, made)
}

func (s *Server) listBatches(w http.ResponseWriter, r *http.Request) {
	b := &s.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := 20
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && n > 0 {
		limit = n
	}
	newest := slices.Clone(b.list)
	slices.Reverse(newest)
	for _, x := range newest {
		if status := x.fault.ListStatus; status != 0 {
			x.fault.ListStatus = 0
			fail(w, status, "batches can't be listed")
			return
		}
	}
	if after := r.URL.Query().Get("after"); after != "" {
		at := slices.IndexFunc(newest, func(x *batch) bool { return x.ID == after })
		newest = newest[at+1:]
	}
	more := len(newest) > limit
	newest = newest[:min(limit, len(newest))]
	last := ""
	if len(newest) > 0 {
		last = newest[len(newest)-1].ID
	}
	send(w, map[string]any{"object": "list", "data": newest, "last_id": last, "has_more": more})
}

func (b *batches) find(w http.ResponseWriter, r *http.Request) *batch {
	id := r.PathValue("id")
	for _, x := range b.list {
		if x.ID == id {
			return x
		}
	}
	fail(w, http.StatusNotFound, "No batch found with id '"+id+"'.")
	return nil
}

func (s *Server) lookAtBatch(w http.ResponseWriter, r *http.Request) {
	b := &s.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.find(w, r)
	if x == nil {
		return
	}
	if x.failing > 0 {
		x.failing--
		fail(w, x.fault.LookStatus, "the server has trouble")
		return
	}
	s.advance(x)
	send(w, x)
}

func (s *Server) cancelBatch(w http.ResponseWriter, r *http.Request) {
	b := &s.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	if x := b.find(w, r); x != nil {
		if x.Status == batchValidating || x.Status == batchInProgress {
			x.Status = batchCancelling
		}
		send(w, x)
	}
}
