package llmtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a server that ends with the test, and with it its clients'
// connections.
func start(t *testing.T, o llmtest.Options) *llmtest.Server {
	t.Helper()
	s := llmtest.New(o)
	t.Cleanup(func() {
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// reply is a chat completion, or an error, as it is on the wire.
type reply struct {
	status int
	header http.Header
	raw    string
	Model  string
	Print  string `json:"system_fingerprint"`
	Usage  *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	Choices []struct {
		Finish  string `json:"finish_reason"`
		Message struct {
			Content, Refusal *string
		}
	}
	Error *struct {
		Message, Type string
		Param, Code   any
	}
}

func (r *reply) content() string {
	if len(r.Choices) == 0 || r.Choices[0].Message.Content == nil {
		return "(none)"
	}
	return *r.Choices[0].Message.Content
}

func post(t *testing.T, url, body string, header ...string) (*reply, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	r := &reply{status: res.StatusCode, header: res.Header, raw: string(b)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(b, r); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	}
	return r, nil
}

// chat posts a chat and wants a whole reply.
func chat(t *testing.T, s *llmtest.Server, body string, header ...string) *reply {
	t.Helper()
	r, err := post(t, s.URL()+"/chat/completions", body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const hello = `{"model":"m","messages":[{"role":"system","content":"Say hello."},{"role":"user","content":"Now."}]}`

// ask is a request for verdicts on n items.
func ask(t *testing.T, n int, structured bool) string {
	t.Helper()
	var items strings.Builder
	for i := range n {
		items.WriteString(`<item-0a1b2c3d n="` + string(rune('1'+i)) + "\">\nAn item.\n</item-0a1b2c3d>\n")
	}
	m := map[string]any{"model": "m", "messages": []map[string]string{
		{"role": "system", "content": "Judge.\n{\"verdicts\":[{\"id\":1,\"reason\":\"...\",\"verdict\":\"good\"}]}\nverdict: exactly one of \"good\", \"bad\", spelt as here."},
		{"role": "user", "content": items.String()},
	}}
	if structured {
		m["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "verdicts", "schema": json.RawMessage(
			`{"properties":{"verdicts":{"items":{"properties":{"verdict":{"enum":["yes","no"]}}}}}}`)}}
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestChat(t *testing.T) {
	s := start(t, llmtest.Options{Answer: func(r *llm.Request) string { return r.Model + " says hello" }})
	if !strings.HasSuffix(s.URL(), "/v1") {
		t.Errorf("URL %s", s.URL())
	}
	r := chat(t, s, hello)
	if r.status != 200 || r.content() != "m says hello" || r.Choices[0].Finish != "stop" || r.Model != "m-2026-01-01" || r.Print != llmtest.Fingerprint {
		t.Errorf("%+v", r)
	}
	// 14 bytes of prompt and 12 of reply.
	if u := r.Usage; u == nil || u.Prompt != 4 || u.Completion != 3 || u.Total != 7 {
		t.Errorf("usage %+v", u)
	}
}

func TestAnswerGetsTheRequest(t *testing.T) {
	var got *llm.Request
	s := start(t, llmtest.Options{Answer: func(r *llm.Request) string { got = r; return "" }})
	body := `{"model":"m","temperature":0,"max_completion_tokens":77,"seed":5,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":null}],
		"response_format":{"type":"json_schema","json_schema":{"name":"rating","strict":true,"schema":{"type":"object"}}}}`
	if r := chat(t, s, body); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if got.Model != "m" || got.Temperature == nil || *got.Temperature != 0 || got.MaxTokens != 77 || got.Seed == nil || *got.Seed != 5 ||
		len(got.Messages) != 2 || got.Messages[0] != (llm.Message{Role: llm.User, Content: "ab"}) ||
		got.Schema == nil || got.Schema.Name != "rating" || string(got.Schema.JSON) != `{"type":"object"}` {
		t.Errorf("%+v", got)
	}
}

func TestDefaultAnswer(t *testing.T) {
	system := func(text string) []llm.Message {
		return []llm.Message{{Role: llm.System, Content: text}, {Role: llm.User, Content: "<text-0a1b>\nOne is 1. Two is 2.\n\nDone\n</text-0a1b>\nMore."}}
	}
	for _, c := range []struct {
		name string
		req  llm.Request
		want string
	}{
		{"claims by schema", llm.Request{Messages: system(""), Schema: &llm.Schema{Name: "claims"}}, `{"claims":["One is 1","Two is 2","Done"]}`},
		{"claims in words", llm.Request{Messages: system(`Reply {"claims":["..."]}, "rating" is none.`)}, `{"claims":["One is 1","Two is 2","Done"]}`},
		{"no text", llm.Request{Messages: system(`"claims"`)[:1]}, `{"claims":[]}`},
		{"rating by schema", llm.Request{Schema: &llm.Schema{Name: "rating", JSON: []byte(`{"properties":{"rating":{"enum":[1,2,3,4,5,6,7]}}}`)}}, `{"reason":"It is good.","rating":6}`},
		{"rating in words", llm.Request{Messages: system("{\"reason\":\"...\",\"rating\":3}\nrating: a whole number from 0 to 3.")}, `{"reason":"It is good.","rating":2}`},
		{"verdicts in words, no system message", llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "{\"verdicts\":[{\"id\":1,\"verdict\":\"good\"}]}\n<item-0a n=\"3\">\nsays \"claims\"\n</item-0a>"}}},
			`{"verdicts":[{"id":3,"reason":"It is so.","verdict":"good"}]}`},
		{"verdicts without items", llm.Request{Messages: system(`"verdicts"`)}, `{"verdicts":[]}`},
		{"free", llm.Request{Messages: system("Hello.")}, "ok"},
		{"nothing", llm.Request{}, "ok"},
	} {
		if got := llmtest.DefaultAnswer(&c.req); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	s := start(t, llmtest.Options{})
	if got := chat(t, s, ask(t, 2, true)).content(); got != `{"verdicts":[{"id":1,"reason":"It is so.","verdict":"yes"},{"id":2,"reason":"It is so.","verdict":"yes"}]}` {
		t.Errorf("by the schema's labels: %s", got)
	}
	if got := chat(t, s, ask(t, 1, false)).content(); got != `{"verdicts":[{"id":1,"reason":"It is so.","verdict":"good"}]}` {
		t.Errorf("by the labels in words: %s", got)
	}
}

func TestKey(t *testing.T) {
	s := start(t, llmtest.Options{Key: "sk-right-key-1234567890"})
	if r := chat(t, s, hello, "Authorization", "Bearer sk-right-key-1234567890"); r.status != 200 {
		t.Errorf("the right key: %d", r.status)
	}
	r := chat(t, s, hello, "Authorization", "Bearer sk-wrong-key-0987654321")
	if r.status != 401 || r.Error == nil || r.Error.Code != "invalid_api_key" || !strings.Contains(r.Error.Message, "sk-wrong*") || strings.Contains(r.raw, "key-0987654321") {
		t.Errorf("a wrong key: %s", r.raw)
	}
	if r := chat(t, s, hello); r.status != 401 {
		t.Errorf("no key: %d", r.status)
	}
	azure := s.AzureURL() + "/openai/deployments/judge.v2/chat/completions?api-version=2024-10-21"
	if r, err := post(t, azure, hello, "api-key", "sk-right-key-1234567890"); err != nil || r.status != 200 || r.Model != "judge.v2-2026-01-01" {
		t.Errorf("azure: %+v %v", r, err)
	}
	if r, err := post(t, azure, hello, "Authorization", "Bearer sk-right-key-1234567890"); err != nil || r.status != 401 {
		t.Errorf("azure with another's header: %+v %v", r, err)
	}
	if s.Requests() != 5 || s.Paid() != 2 || s.Statuses()[401] != 3 {
		t.Errorf("%d requests, %d paid, %v", s.Requests(), s.Paid(), s.Statuses())
	}
}

func TestMalformedRequests(t *testing.T) {
	s := start(t, llmtest.Options{Models: []string{"m"}})
	for body, want := range map[string]int{
		hello: 200, `{`: 400, `[]`: 400, `null`: 400, `{"model":"m"}`: 400, `{"messages":[{"role":"user","content":"x"}]}`: 400,
		`{"model":"other","messages":[{"role":"user","content":"x"}]}`:                                            404,
		`{"model":"m","messages":[{"role":"user","content":5}]}`:                                                  400,
		`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`:                                  400,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_object"}}`:       400,
		`{"model":"m","messages":[{"role":"user","content":"as JSON"}],"response_format":{"type":"json_object"}}`: 200,
		`{"model":"m","messages":[{"role":"user","content":"as JSON"}],"response_format":{"type":"json_schema"}}`: 400,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":"hot"}`:                            400,
	} {
		if r := chat(t, s, body); r.status != want || (want != 200 && (r.Error == nil || r.Error.Message == "")) {
			t.Errorf("%s: %d %s, want %d", body, r.status, r.raw, want)
		}
	}
	if r, err := post(t, s.URL()+"/v1/chat/completions", hello); err != nil || r.status != 404 || r.Error == nil {
		t.Errorf("a doubled /v1: %+v %v", r, err)
	}
	if r, err := post(t, s.AzureURL()+"/openai/deployments/m/chat/completions", hello); err != nil || r.status != 404 {
		t.Errorf("azure without a version: %+v %v", r, err)
	}
}

func TestModelsAndEmbeddings(t *testing.T) {
	s := start(t, llmtest.Options{Models: []string{"a", "b"}, Key: "k"})
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer k")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Data) != 2 || list.Data[1].ID != "b" {
		t.Errorf("%+v %v", list, err)
	}
	r, err := post(t, s.URL()+"/embeddings", `{"model":"e","input":["x","y","x"]}`, "Authorization", "Bearer k")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Data []struct{ Embedding []float64 }
	}
	if err := json.Unmarshal([]byte(r.raw), &vectors); err != nil || len(vectors.Data) != 3 || len(vectors.Data[0].Embedding) != 8 ||
		vectors.Data[0].Embedding[0] != vectors.Data[2].Embedding[0] || vectors.Data[0].Embedding[0] == vectors.Data[1].Embedding[0] {
		t.Errorf("%s %v", r.raw, err)
	}
	if r, err := post(t, s.URL()+"/embeddings", `{"input":5}`, "Authorization", "Bearer k"); err != nil || r.status != 400 {
		t.Errorf("%+v %v", r, err)
	}
	if s.Requests() != 0 || s.Others()["/v1/models"] != 1 || s.Others()["/v1/embeddings"] != 2 {
		t.Errorf("%d %v", s.Requests(), s.Others())
	}
}

func TestRecords(t *testing.T) {
	gate := make(chan struct{})
	var arrived sync.WaitGroup
	arrived.Add(3)
	s := start(t, llmtest.Options{
		KeepBodies: 3,
		LatencyOf:  func(*llmtest.Request) time.Duration { arrived.Done(); <-gate; return 0 },
	})
	var all sync.WaitGroup
	for _, text := range []string{"a", "a", "b"} {
		all.Go(func() { chat(t, s, strings.Replace(hello, "Now.", text, 1), "X-Test", text) })
	}
	arrived.Wait()
	if s.Requests() != 3 || s.Paid() != 0 {
		t.Errorf("%d requests, %d paid in flight", s.Requests(), s.Paid())
	}
	close(gate)
	all.Wait()
	arrived.Add(1)
	chat(t, s, hello)
	if s.Requests() != 4 || s.Paid() != 4 || s.MaxInFlight() != 3 || s.Statuses()[200] != 4 || len(s.Bodies()) != 3 || len(s.Records()) != 3 {
		t.Errorf("%d requests, %d paid, %d at once, %v, %d bodies, %d records", s.Requests(), s.Paid(), s.MaxInFlight(), s.Statuses(), len(s.Bodies()), len(s.Records()))
	}
	for _, again := range [][]llmtest.Repeat{s.Repeats(), s.Wasted()} {
		if len(again) != 1 || again[0].Body != strings.Replace(hello, "Now.", "a", 1) || again[0].Requests != 2 || again[0].Paid != 2 {
			t.Errorf("%+v", again)
		}
	}
	for i, r := range s.Records() {
		if r.N != i+1 || r.Status != 200 || !r.Paid || !strings.Contains(r.Body, `"`+r.Header.Get("X-Test")+`"`) {
			t.Errorf("%+v", r)
		}
	}
}
