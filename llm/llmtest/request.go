package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
)

// Request is a chat request as the server sees it.
type Request struct {
	// N is the number of the request among all chat requests, by arrival, from 1.
	N int
	// Attempt is the number of the request among those with the same body, from
	// 1.
	Attempt int
	// Body is the body, byte for byte. It must not be changed.
	Body []byte
	// Model is the model that is asked for; on Azure's path, the deployment.
	Model string
	// Messages is the chat.
	Messages []llm.Message
	// Ask is the request rebuilt from the wire.
	Ask *llm.Request

	// path is the path that was called, key the key that came with it.
	path string
	key  string
	// members are the names of the body's members, format the type of
	// response_format.
	members map[string]json.RawMessage
	format  string
}

// contains reports whether one of the messages, or the raw body, contains text.
func (r *Request) contains(text string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Content, text) {
			return true
		}
	}
	return strings.Contains(string(r.Body), text)
}

// wireRequest is OpenAI's form of a chat request, as far as it is read.
type wireRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Temperature         *float64 `json:"temperature"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	Seed                *int     `json:"seed"`
	Stream              bool     `json:"stream"`
	ResponseFormat      *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// decodeRequest reads a chat request. The error says what is wrong with it, as
// the server replies it.
func decodeRequest(body []byte, deployment string) (*Request, error) {
	r := &Request{Body: body}
	if err := json.Unmarshal(body, &r.members); err != nil {
		return r, fmt.Errorf("could not parse the JSON body of your request: %w", err)
	}
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return r, fmt.Errorf("read the request: %w", err)
	}
	r.Model = w.Model
	if deployment != "" {
		r.Model = deployment
	}
	r.Ask = &llm.Request{Model: r.Model, Temperature: w.Temperature, MaxTokens: max(w.MaxTokens, w.MaxCompletionTokens), Seed: w.Seed}
	for i, m := range w.Messages {
		text, ok := contentText(m.Content)
		if !ok {
			return r, fmt.Errorf("invalid content of messages[%d]: want a string or an array of text parts", i)
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Role(m.Role), Content: text})
	}
	r.Ask.Messages = r.Messages
	if f := w.ResponseFormat; f != nil {
		r.format = f.Type
		if f.JSONSchema != nil {
			r.Ask.Schema = &llm.Schema{Name: f.JSONSchema.Name, JSON: f.JSONSchema.Schema}
		}
	}
	return r, r.check(w.Stream)
}

// check refuses what OpenAI refuses of any model.
func (r *Request) check(stream bool) error {
	switch {
	case r.Model == "":
		return fmt.Errorf("you must provide a model parameter")
	case len(r.Messages) == 0:
		return fmt.Errorf("invalid 'messages': empty array, expected an array with minimum length 1")
	case stream:
		return fmt.Errorf("this server does not stream")
	case r.format == "json_schema" && (r.Ask.Schema == nil || r.Ask.Schema.Name == "" || len(r.Ask.Schema.JSON) == 0):
		return fmt.Errorf("missing required parameter: 'response_format.json_schema'")
	case r.format == "json_object" && !r.says("json"):
		return fmt.Errorf("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'")
	}
	return nil
}

// says reports whether a message holds the word, in lower case, in any case.
func (r *Request) says(word string) bool {
	for _, m := range r.Messages {
		if strings.Contains(strings.ToLower(m.Content), word) {
			return true
		}
	}
	return false
}

// contentText is a message's text: a string, null, or a list of text parts.
func contentText(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		s += p.Text
	}
	return s, true
}
