package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
)

// advance moves a batch one state on.
func (s *Server) advance(x *batch) {
	switch x.Status {
	case batchValidating:
		x.Status = batchInProgress
		if e := s.invalid(x); e != nil {
			x.Status, x.Errors = batchFailed, &batchErrors{Object: "list", Data: []batchError{*e}}
			return
		}
		s.batches.progressed++
		if s.batches.change != nil {
			close(s.batches.change)
			s.batches.change = nil
		}
	case batchInProgress:
		if x.looks++; x.looks <= s.opts.Batch.Looks && !s.batches.hurry {
			x.Counts.Completed = x.Counts.Total * x.looks / (s.opts.Batch.Looks + 1)
			return
		}
		x.Status = batchFinalizing
	case batchFinalizing:
		x.Status = batchCompleted
		if x.fault.Expire {
			x.Status = batchExpired
		}
		if x.fault.Cancel {
			x.Status = batchCancelled
		}
		s.finish(x)
	case batchCancelling:
		x.Status, x.fault.Cancel, x.fault.Answered = batchCancelled, true, x.Counts.Completed
		s.finish(x)
	}
}

// invalid is why a batch fails when it is validated, or nil.
func (s *Server) invalid(x *batch) *batchError {
	f := x.fault
	if f.Code != "" {
		e := &batchError{Code: f.Code, Message: f.Message}
		if f.Line > 0 {
			e.Line = &f.Line
		}
		return e
	}
	most := s.opts.Batch.MaxRequests
	if most == 0 {
		most = 50_000
	}
	if x.Counts.Total > most {
		return &batchError{Code: "too_many_requests", Message: fmt.Sprintf("the file has %d requests, the most is %d", x.Counts.Total, most)}
	}
	if limit := s.opts.Batch.MaxTokens; limit > 0 {
		enqueued := 0
		for _, other := range s.batches.list {
			if other.Status == batchInProgress || other.Status == batchFinalizing {
				enqueued += len(s.batches.files[other.InputFileID]) / 4
			}
		}
		if enqueued > limit {
			return &batchError{Code: "token_limit_exceeded", Message: fmt.Sprintf("Enqueued token limit reached for judge-m in organization org-x. Limit: %d enqueued tokens. Please try again once some in_progress batches have been completed.", limit)}
		}
	}
	return nil
}

// finish answers the lines of a batch and writes its files.
func (s *Server) finish(x *batch) {
	data := bytes.TrimSpace(s.batches.files[x.InputFileID])
	var output, errs bytes.Buffer
	x.Counts.Completed, x.Counts.Failed = 0, 0
	n := 0
	for line := range bytes.Lines(data) {
		n++
		var asked struct {
			CustomID string          `json:"custom_id"`
			Method   string          `json:"method"`
			URL      string          `json:"url"`
			Body     json.RawMessage `json:"body"`
		}
		if json.Unmarshal(line, &asked) != nil || asked.CustomID == "" || asked.Method != http.MethodPost || asked.URL != x.Endpoint {
			fmt.Fprintf(&errs, `{"id":"r%d","custom_id":%q,"response":null,"error":{"code":"invalid_json_line","message":"line %d is no request"}}`+"\n", n, asked.CustomID, n)
			x.Counts.Failed++
			continue
		}
		if slices.Contains(x.fault.Forget, n) {
			continue
		}
		if (x.fault.Expire || x.fault.Cancel) && n > x.fault.Answered {
			if x.fault.Expire {
				fmt.Fprintf(&errs, `{"id":"r%d","custom_id":%q,"response":null,"error":{"code":"batch_expired","message":"This request could not be executed before the completion window expired."}}`+"\n", n, asked.CustomID)
			}
			x.Counts.Failed++
			continue
		}
		status, body := s.answerLine(asked.Body)
		out := &output
		if x.Counts.Completed++; status != http.StatusOK {
			x.Counts.Completed--
			x.Counts.Failed++
			out = &errs
		}
		fmt.Fprintf(out, `{"id":"r%d","custom_id":%q,"response":{"status_code":%d,"request_id":"q%d","body":%s},"error":null}`+"\n", n, asked.CustomID, status, n, body)
	}
	if x.fault.Garbage {
		output.WriteString("\n{\"custom_id\":\"nobody\",\"response\":{\"status_code\":200,\"body\":{}}}\nno JSON at all\n")
	}
	for _, f := range []struct {
		data *bytes.Buffer
		id   **string
	}{{&output, &x.OutputFileID}, {&errs, &x.ErrorFileID}} {
		if f.data.Len() > 0 {
			id := s.batches.keep(reversed(f.data.Bytes()))
			*f.id = &id
		}
	}
}

// answerLine answers a line as a chat request of its own. One whose connection
// is broken off has a server error.
func (s *Server) answerLine(body []byte) (status int, reply []byte) {
	defer func() {
		if p := recover(); p != nil {
			status, reply = http.StatusInternalServerError, []byte(`{"error":{"message":"the server had an error","type":"server_error"}}`)
		}
	}()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+s.opts.Key)
	s.chat(w, r, "")
	reply = w.Body.Bytes()
	if !json.Valid(reply) {
		reply, _ = json.Marshal(string(reply)) //nolint:errcheck // a string
	}
	return w.Code, reply
}

// reversed turns the lines of a file round: results come in any order.
func reversed(data []byte) []byte {
	lines := slices.Collect(bytes.Lines(data))
	slices.Reverse(lines)
	return bytes.Join(lines, nil)
}
