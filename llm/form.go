package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// Form is how requests to one model are written: what its server was found to
// take. The zero Form stands for nothing learnt. It is stable as JSON, so that
// it can be kept on disk, by endpoint and model, and given back as
// OpenAIConfig.Known: a Form that has become wrong is corrected by the server's
// next refusal. What a server takes again can't be noticed that way, so a Form
// should be believed for some weeks only.
type Form struct {
	// Structured is the form of JSON reply that is asked for: StructuredSchema,
	// StructuredObject or StructuredPlain; empty for the strongest. It counts
	// only under StructuredAuto.
	Structured string `json:"structured,omitempty"`
	// MaxTokens is the name of the parameter that bounds a reply,
	// "max_tokens" or "max_completion_tokens", or NoMaxTokens; empty for the
	// one that the model's name suggests.
	MaxTokens string `json:"max_tokens,omitempty"`
	// MaxOutput is the most tokens that a reply may be bounded to; 0 for any.
	MaxOutput int `json:"max_output,omitempty"`
	// NoTemperature, NoTopP and NoSeed leave these parameters out.
	NoTemperature bool `json:"no_temperature,omitempty"`
	NoTopP        bool `json:"no_top_p,omitempty"`
	NoSeed        bool `json:"no_seed,omitempty"`
	// MergeSystem sends the system message with the user's.
	MergeSystem bool `json:"merge_system,omitempty"`
	// JSONWord puts the word JSON into the prompt.
	JSONWord bool `json:"json_word,omitempty"`
	// TopLogprobs is the most alternatives of a token that the server gives: 0 for
	// any number, below 0 for none.
	TopLogprobs int `json:"top_logprobs,omitempty"`
}

// NoMaxTokens is the value of Form.MaxTokens for a server that takes neither
// name of the parameter.
const NoMaxTokens = "none"

// The names of the parameter that bounds a reply.
const (
	oldMaxTokens = "max_tokens"
	newMaxTokens = "max_completion_tokens"
)

// reasoningName tells the models that are known to want the newer name, with
// or without a provider's prefix. A wrong guess costs one refused call.
var reasoningName = regexp.MustCompile(`(?:^|/)(?:o[1-9]|gpt-[5-9])`)

// form is a Form with every choice made, for one model and one configuration.
type form struct {
	Form
	// tried are the parts that were refused since this process began: a form
	// that was kept may be wrong today, so it rules nothing out.
	tried []string
}

// firstForm is the form for a model, with what is known of it.
func firstForm(model, structured string, known Form) form {
	f := form{Form: known}
	if !slices.Contains([]string{StructuredSchema, StructuredObject, StructuredPlain}, f.Structured) {
		f.Structured = StructuredSchema
	}
	if structured != StructuredAuto {
		f.Structured = structured
	}
	if !slices.Contains([]string{oldMaxTokens, newMaxTokens, NoMaxTokens}, f.MaxTokens) {
		f.MaxTokens = maxTokensFor(model)
	}
	f.MaxOutput = max(f.MaxOutput, 0)
	return f
}

func maxTokensFor(model string) string {
	if reasoningName.MatchString(model) {
		return newMaxTokens
	}
	return oldMaxTokens
}

// learnt is what there is to keep of the form: nothing of what is so anyway.
func (f form) learnt(model, structured string) Form {
	l := f.Form
	if l.Structured == StructuredSchema || structured != StructuredAuto {
		l.Structured = ""
	}
	if l.MaxTokens == maxTokensFor(model) {
		l.MaxTokens = ""
	}
	return l
}

// request is the part of the request that go-openai writes.
func (f form) request(req *Request) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{Model: req.Model}
	if req.Seed != nil && !f.NoSeed {
		r.Seed = req.Seed
	}
	if req.Schema != nil {
		switch f.Structured {
		case StructuredSchema:
			r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
				JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: req.Schema.Name, Schema: req.Schema.JSON, Strict: true}}
		case StructuredObject:
			r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
		}
	}
	return r
}

// jsonLine is put into a prompt where a server wants the word.
const jsonLine = "\n\nReply in JSON."

// messages are the chat as JSON. go-openai would encode each message three
// times over (to itself, then checked, then compacted), which for some
// kilobytes takes as long as all the rest of a call; so they are put into its
// place for them.
func (f form) messages(req *Request) ([]byte, error) {
	list := slices.Clone(req.Messages)
	for i, m := range list {
		list[i].Content = cmp.Or(m.Content, "(nothing)") // an empty one is refused by servers
	}
	first := func(role Role) int {
		return slices.IndexFunc(list, func(m Message) bool { return m.Role == role })
	}
	sys, user := first(System), first(User)
	// Servers that take json_object may want the word in a message, which a
	// prompt in another language or of a team's own need not have.
	wantsWord := f.JSONWord || (f.Structured == StructuredObject && req.Schema != nil && !saysJSON(list))
	if at := max(sys, 0); wantsWord && len(list) > 0 {
		list[at].Content += jsonLine
	}
	if f.MergeSystem && sys >= 0 && user > sys {
		list[user].Content = list[sys].Content + "\n\n" + list[user].Content
		list = slices.Delete(list, sys, sys+1)
	}
	return appendMessages(make([]byte, 0, textBytes(req)*9/8+256), list), nil
}

func saysJSON(list []Message) bool {
	return slices.ContainsFunc(list, func(m Message) bool {
		return strings.Contains(m.Content, "JSON") || strings.Contains(strings.ToLower(m.Content), "json")
	})
}

// bound is the most tokens that are asked for; 0 for no bound. Room is what
// this one request has room for; 0 for any.
func (f form) bound(req *Request, room int) int {
	n := req.MaxTokens
	if f.MaxOutput > 0 {
		n = min(n, f.MaxOutput)
	}
	if room > 0 {
		n = min(n, room)
	}
	return n
}

// extra are the members of the request that go-openai would leave out where
// they are zero, or refuse by a model's name: they are written past it.
func (f form) extra(req *Request, room int) []byte {
	var b []byte
	add := func(name, value string) { b = append(b, `,"`+name+`":`+value...) }
	if req.Temperature != nil && !f.NoTemperature {
		v, err := json.Marshal(*req.Temperature)
		if err == nil { // NaN is no temperature
			add("temperature", string(v))
		}
	}
	if n := f.topLogprobs(req); n > 0 { // go-openai refuses them for some models by name
		add("logprobs", "true")
		add("top_logprobs", strconv.Itoa(n))
	}
	if n := f.bound(req, room); n > 0 && f.MaxTokens != NoMaxTokens {
		add(f.MaxTokens, strconv.Itoa(n))
	}
	return b
}

// body are the members of Request.Extra that are sent.
func (f form) body(req *Request) (map[string]json.RawMessage, error) {
	if len(req.Extra) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(req.Extra, &members); err != nil {
		return nil, &Error{Kind: Fatal, Code: "bad_extra_body", Message: fmt.Sprintf("the extra members of the request are no JSON object: %v", err), Err: err}
	}
	if f.NoTopP {
		delete(members, "top_p")
	}
	return members, nil
}

func sendsTopP(req *Request) bool {
	return len(req.Extra) > 0 && bytes.Contains(req.Extra, []byte(`"top_p"`))
}

// without returns the form that does without what was refused, and whether
// there is one. Ceiling is the longest reply, for changeCeiling.
func (f form) without(c change, structured string, req *Request, ceiling int) (form, bool) {
	next := f
	next.tried = slices.Clone(f.tried)
	switch {
	case c == changeFormat && structured == StructuredAuto && req.Schema != nil && f.Structured != StructuredPlain:
		next.tried = append(next.tried, f.Structured)
		next.Structured = StructuredPlain
		for _, weaker := range []string{StructuredObject, StructuredSchema} {
			if !slices.Contains(next.tried, weaker) {
				next.Structured = weaker
				break
			}
		}
	case c == changeMaxTokens && req.MaxTokens > 0 && !slices.Contains(f.tried, f.MaxTokens):
		next.tried = append(next.tried, f.MaxTokens)
		next.MaxTokens = NoMaxTokens
		for _, name := range []string{newMaxTokens, oldMaxTokens} {
			if !slices.Contains(next.tried, name) {
				next.MaxTokens = name
				break
			}
		}
	case c == changeCeiling && ceiling > 0 && (f.MaxOutput == 0 || ceiling < f.MaxOutput):
		next.MaxOutput = ceiling
	case c == changeTemperature && req.Temperature != nil && !f.NoTemperature:
		next.NoTemperature = true
	case c == changeTopP && sendsTopP(req) && !f.NoTopP:
		next.NoTopP = true
	case c == changeSeed && req.Seed != nil && !f.NoSeed:
		next.NoSeed = true
	case c == changeLogprobs && f.topLogprobs(req) > 0:
		next.TopLogprobs = noLogprobs
		if f.topLogprobs(req) > fewLogprobs {
			next.TopLogprobs = fewLogprobs
		}
	case c == changeSystem && !f.MergeSystem && slices.ContainsFunc(req.Messages, func(m Message) bool { return m.Role == System }):
		next.MergeSystem = true
	case c == changeJSONWord && !f.JSONWord:
		next.JSONWord = true
	default:
		return f, false
	}
	return next, true
}

// words says what the form does without.
func (f Form) words() []string {
	var out []string
	if f.Structured != "" {
		out = append(out, "replies are asked for as "+f.Structured)
	}
	if f.MaxTokens != "" {
		out = append(out, "the reply is bounded by "+strings.Replace(f.MaxTokens, NoMaxTokens, "nothing", 1))
	}
	if f.MaxOutput > 0 {
		out = append(out, fmt.Sprintf("a reply has at most %d tokens", f.MaxOutput))
	}
	if f.TopLogprobs > 0 {
		out = append(out, fmt.Sprintf("at most %d probabilities are asked for each token", f.TopLogprobs))
	}
	for _, w := range []struct {
		is   bool
		text string
	}{
		{f.NoTemperature, "temperature is not sent"}, {f.NoTopP, "top_p is not sent"}, {f.NoSeed, "seed is not sent"},
		{f.MergeSystem, "the system message is sent with the user's"}, {f.JSONWord, "the word JSON is put into the prompt"},
		{f.TopLogprobs < 0, "probabilities of tokens are not asked for"},
	} {
		if w.is {
			out = append(out, w.text)
		}
	}
	return out
}
