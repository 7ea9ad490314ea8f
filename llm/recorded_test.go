package llm

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// recordedCase is a reply of a provider that broke other tools, and what it
// means.
type recordedCase struct {
	ID       string
	Category string
	Input    struct {
		HTTP *struct {
			Status  int
			Headers map[string]string
			Body    json.RawMessage
			RawBody string `json:"raw_body"`
			Gzip    string `json:"body_b64_gzip_of"`
			Then    string
		}
	}
	Expect struct {
		Class   string
		Reason  string
		Change  string
		Verdict *int
		Usage   map[string]any
		WaitS   *float64 `json:"wait_s"`
	}
}

// The classes and reasons of the recorded cases in our words.
var (
	caseClasses = map[string][]Kind{
		"run_fatal": {Fatal}, "run_stop_resumable": {WaitTooLong}, "retry": {Transient, RateLimited}, "row_error": {Row},
	}
	caseReasons = map[string]string{
		"quota": "insufficient_quota", "quota_day": "daily_quota", "overloaded": "overloaded", "bad_base_url": "not_an_api", "rate_limit": "rate_limited",
		"empty_content": "suspected_context_overflow", "auth": "invalid_api_key", "content_filter": "content_filter", "context_overflow": "context_too_long", "deployment": "deployment_not_found",
	}
	caseChanges = map[string][]change{
		"max_output_tokens -= 1096": {changeRoom}, "max_tokens->max_completion_tokens": {changeMaxTokens}, "drop top_p": {changeTopP}, "json_object->json_schema|plain": {changeFormat},
		"append JSON instruction": {changeJSONWord}, "merge system into user": {changeSystem},
	}
)

func TestRecordedProviderReplies(t *testing.T) {
	b, err := os.ReadFile("../../shared/cases/wild.jsonl")
	if err != nil {
		t.Skip("../shared is not here: ", err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(b)) {
		var c recordedCase
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.Category != "a_provider" || c.Input.HTTP == nil || c.Input.HTTP.Then == "close" {
			continue // other categories have other forms; a cut body is llmtest's
		}
		t.Run(c.ID, func(t *testing.T) { seen[c.Expect.Class]++; checkRecorded(t, c) })
	}
	for class, n := range map[string]int{"run_fatal": 5, "run_stop_resumable": 1, "retry": 7, "row_error": 4, "adapt": 6, "ok": 2, "reask": 1, "decoded": 1} {
		if seen[class] < n {
			t.Errorf("%d cases of %s were checked, want %d", seen[class], class, n)
		}
	}
}

func checkRecorded(t *testing.T, c recordedCase) {
	resp, d := decodeReply(recordedExchange(t, c))
	switch c.Expect.Class {
	case "ok":
		if resp == nil {
			t.Fatal(d.err)
		}
		if c.Expect.Verdict != nil && resp.Content != `{"verdict":1}` {
			t.Errorf("content %q", resp.Content)
		}
		if c.Expect.Usage != nil && (resp.Usage.PromptTokens != 812 || resp.Usage.Unknown != 1) {
			t.Errorf("usage %+v", resp.Usage)
		}
	case "reask": // the judge asks again: the answer stands in the thoughts
		if resp == nil || resp.Content != "" || resp.Reasoning == "" {
			t.Errorf("%+v, %v", resp, d.err)
		}
	case "decoded":
		if resp != nil || d.err.Code != "empty_response" {
			t.Errorf("%+v, %v", resp, d.err)
		}
	case "adapt":
		want := caseChanges[c.Expect.Change]
		if want == nil {
			t.Fatalf("the change %q is not known here", c.Expect.Change)
		}
		if resp != nil || !slices.Equal(d.adapt[:min(len(d.adapt), 1)], want) {
			t.Errorf("changes %q, want %q", d.adapt, want)
		}
		if n, ok := d.facts.room(2048); want[0] == changeRoom && (!ok || n != 2048-1096) {
			t.Errorf("room for %d, %t", n, ok)
		}
	default:
		checkRecordedError(t, c, resp, d.err)
	}
}

func checkRecordedError(t *testing.T, c recordedCase, resp *Response, e *Error) {
	if c.Expect.Reason == "refusal" {
		if resp == nil || resp.Refusal == "" {
			t.Errorf("%+v, %v", resp, e)
		}
		return
	}
	if e == nil {
		t.Fatalf("an answer: %+v", resp)
	}
	if !slices.Contains(caseClasses[c.Expect.Class], e.Kind) {
		t.Errorf("%v %s, want %s", e.Kind, e.Code, c.Expect.Class)
	}
	switch want := caseReasons[c.Expect.Reason]; {
	case want == "" && c.Expect.Reason != "":
		t.Errorf("the reason %q is not known here", c.Expect.Reason)
	case want != "" && e.Code != want:
		t.Errorf("code %s, want %s", e.Code, want)
	}
	if w := c.Expect.WaitS; w != nil && e.RetryAfter != time.Duration(*w*float64(time.Second)) {
		t.Errorf("wait %v, want %v s", e.RetryAfter, *w)
	}
}

func recordedExchange(t *testing.T, c recordedCase) *exchange {
	in := c.Input.HTTP
	body := []byte(in.Body)
	var s string
	switch {
	case in.RawBody != "":
		body = []byte(in.RawBody)
	case in.Gzip != "":
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(in.Gzip)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		body = b.Bytes()
	case json.Unmarshal(body, &s) == nil:
		body = []byte(s)
	}
	h := http.Header{}
	for k, v := range in.Headers {
		h.Set(k, v)
	}
	body, err := unpacked(body)
	if err != nil {
		t.Fatal(err)
	}
	return &exchange{status: in.Status, header: h, body: body}
}
