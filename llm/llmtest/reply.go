package llmtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/ragjudge/ragjudge/llm"
)

// Tokens is how many tokens the server counts in a text: a token for each 4
// bytes, rounded up.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// PromptTokens is how many tokens the server counts in a chat: Tokens of the
// contents of all messages together. A reply's completion tokens are the Tokens
// of its content or refusal.
func PromptTokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Content)
	}
	return (n + 3) / 4
}

// completion is a reply, before it is written.
type completion struct {
	content *string
	refusal *string
	finish  string
	// noChoices and noUsage leave these parts out.
	noChoices, noUsage bool
	// thoughts stand in the field of the message that is named.
	thoughtsIn, thoughts string
	// promptTokens is what the usage tells in place of the truth; 0 for the truth.
	promptTokens int
}

type wireMessage struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Refusal *string `json:"refusal"`
	// The fields under which servers give thoughts.
	Reasoning        string `json:"reasoning,omitempty"`
	ReasoningContent string `json:"reasoning_content,omitempty"`
}

type wireChoice struct {
	Index        int         `json:"index"`
	Message      wireMessage `json:"message"`
	Logprobs     *struct{}   `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type wireUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

type wireCompletion struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	Model       string       `json:"model"`
	Choices     []wireChoice `json:"choices"`
	Usage       *wireUsage   `json:"usage,omitempty"`
	Fingerprint string       `json:"system_fingerprint"`
}

func (c *completion) tokens() int {
	n := Tokens(c.thoughts)
	for _, s := range []*string{c.content, c.refusal} {
		if s != nil {
			n += Tokens(*s)
		}
	}
	return n
}

// wire is the body of a reply. Its id is made of the request's body and number
// of attempt.
func (c *completion) wire(r *Request, served string, created int64) []byte {
	w := wireCompletion{
		ID: fmt.Sprintf("chatcmpl-%x-%d", sha256.Sum256(r.Body), r.Attempt), Object: "chat.completion", Created: created,
		Model: served, Choices: []wireChoice{}, Fingerprint: Fingerprint,
	}
	if !c.noChoices {
		m := wireMessage{Role: "assistant", Content: c.content, Refusal: c.refusal}
		switch c.thoughtsIn {
		case "reasoning":
			m.Reasoning = c.thoughts
		case "reasoning_content":
			m.ReasoningContent = c.thoughts
		}
		w.Choices = append(w.Choices, wireChoice{Message: m, FinishReason: c.finish})
	}
	if !c.noUsage {
		p, n := PromptTokens(r.Messages), c.tokens()
		if c.promptTokens > 0 {
			p = c.promptTokens
		}
		w.Usage = &wireUsage{p, n, p + n}
	}
	return []byte(encode(w))
}

// apiError is OpenAI's error object. Param and code are null where they are "".
type apiError struct {
	message, kind, param, code string
}

func (e apiError) String() string {
	return encode(map[string]any{"error": struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}{e.message, e.kind, orNull(e.param), orNull(e.code)}})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// azureError is the error object of Azure's gateway.
func azureError(code, message string) string {
	return encode(map[string]any{"error": map[string]string{"code": code, "message": message}})
}

// wrongKey is the reply to a wrong key, which tells a part of it, as OpenAI
// does.
func wrongKey(key string) string {
	if key == "" {
		return apiError{message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
			kind: "invalid_request_error"}.String()
	}
	return apiError{message: "Incorrect API key provided: " + masked(key) + ". You can find your API key at https://platform.openai.com/account/api-keys.",
		kind: "invalid_request_error", code: "invalid_api_key"}.String()
}

// masked is a key with its middle made stars.
func masked(key string) string {
	if len(key) <= 12 {
		return key[:min(2, len(key))] + "****"
	}
	return key[:8] + "****************" + key[len(key)-4:]
}

// respond writes a whole reply.
func respond(w http.ResponseWriter, status int, contentType string, header http.Header, body []byte) {
	for k, v := range header {
		w.Header()[http.CanonicalHeaderKey(k)] = v
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone is no matter of ours
}

// models lists the models.
func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	s.log.other(r.URL.Path)
	if body, ok := s.admitted(bearer(r), false); !ok {
		respond(w, http.StatusUnauthorized, jsonType, nil, []byte(body))
		return
	}
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := []model{}
	for _, m := range s.opts.Models {
		list = append(list, model{ID: m, Object: "model", Created: 1767225600, OwnedBy: "llmtest"})
	}
	respond(w, http.StatusOK, jsonType, nil, []byte(encode(map[string]any{"object": "list", "data": list})))
}

// embeddings answers each input with 8 numbers made of its SHA-256.
func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	s.log.other(r.URL.Path)
	if body, ok := s.admitted(bearer(r), false); !ok {
		respond(w, http.StatusUnauthorized, jsonType, nil, []byte(body))
		return
	}
	var ask struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	body, err := readAll(r)
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	var inputs []string
	var one string
	if json.Unmarshal(ask.Input, &one) == nil {
		inputs = []string{one}
	} else if json.Unmarshal(ask.Input, &inputs) != nil || err != nil {
		respond(w, http.StatusBadRequest, jsonType, nil, []byte(invalid("invalid 'input': want a string or an array of strings").String()))
		return
	}
	type vector struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	data, tokens := []vector{}, 0
	for i, in := range inputs {
		sum := sha256.Sum256([]byte(in))
		v := vector{Object: "embedding", Index: i}
		for _, b := range sum[:8] {
			v.Embedding = append(v.Embedding, (float64(b)-127.5)/127.5)
		}
		data, tokens = append(data, v), tokens+Tokens(in)
	}
	respond(w, http.StatusOK, jsonType, nil, []byte(encode(map[string]any{
		"object": "list", "data": data, "model": ask.Model, "usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	})))
}

func (s *Server) noSuchPath(w http.ResponseWriter, r *http.Request) {
	s.log.other(r.URL.Path)
	respond(w, http.StatusNotFound, jsonType, nil, []byte(invalid(fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)).String()))
}

func invalid(message string) apiError {
	return apiError{message: message, kind: "invalid_request_error"}
}
