package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sashabaranov/go-openai"
)

// form is how a request is written for one model: what its server takes.
type form struct {
	structured    string // StructuredSchema, StructuredObject or StructuredPlain
	maxTokens     string // the parameter's name; empty for none
	noTemperature bool
	noSeed        bool
	mergeSystem   bool // the system message goes into the user's
	jsonWord      bool // the word JSON is put into the prompt
	tried         []string
}

// The names of the parameter that bounds a reply.
const (
	oldMaxTokens = "max_tokens"
	newMaxTokens = "max_completion_tokens"
)

// reasoningName tells the models that are known to want the newer name, with
// or without a provider's prefix. A wrong guess costs one refused call.
var reasoningName = regexp.MustCompile(`(?:^|/)(?:o[1-9]|gpt-[5-9])`)

func firstForm(model, structured string) form {
	f := form{structured: structured, maxTokens: oldMaxTokens}
	if structured == StructuredAuto {
		f.structured = StructuredSchema
	}
	if reasoningName.MatchString(model) {
		f.maxTokens = newMaxTokens
	}
	return f
}

// request is the part of the request that go-openai writes.
func (f form) request(req *Request) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{Model: req.Model}
	if req.Seed != nil && !f.noSeed {
		r.Seed = req.Seed
	}
	if req.Schema != nil {
		switch f.structured {
		case StructuredSchema:
			r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
				JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: req.Schema.Name, Schema: req.Schema.JSON, Strict: true}}
		case StructuredObject:
			r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
		}
	}
	return r
}

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
	sys := first(System)
	if f.jsonWord && sys >= 0 {
		list[sys].Content += "\n\nReply in JSON."
	}
	if user := first(User); f.mergeSystem && sys >= 0 && user > sys {
		list[user].Content = list[sys].Content + "\n\n" + list[user].Content
		list = slices.Delete(list, sys, sys+1)
	}
	return json.Marshal(list)
}

// extra are the members of the request that go-openai would leave out where
// they are zero, or refuse by a model's name: they are written past it.
func (f form) extra(req *Request) []byte {
	var b []byte
	add := func(name, value string) { b = append(b, `,"`+name+`":`+value...) }
	if req.Temperature != nil && !f.noTemperature {
		v, err := json.Marshal(*req.Temperature)
		if err == nil { // NaN is no temperature
			add("temperature", string(v))
		}
	}
	if req.MaxTokens > 0 && f.maxTokens != "" {
		add(f.maxTokens, strconv.Itoa(req.MaxTokens))
	}
	return b
}

// without returns the form that does without what was refused, and whether
// there is one.
func (f form) without(c change, structured string, req *Request) (form, bool) {
	next := f
	next.tried = slices.Clone(f.tried)
	switch {
	case c == changeFormat && structured == StructuredAuto && req.Schema != nil && f.structured == StructuredSchema:
		next.structured = StructuredObject
	case c == changeFormat && structured == StructuredAuto && req.Schema != nil && f.structured == StructuredObject:
		next.structured = StructuredPlain
	case c == changeMaxTokens && req.MaxTokens > 0 && f.maxTokens != "":
		other := map[string]string{oldMaxTokens: newMaxTokens, newMaxTokens: oldMaxTokens}[f.maxTokens]
		next.tried = append(next.tried, f.maxTokens)
		next.maxTokens = other
		if slices.Contains(f.tried, other) {
			next.maxTokens = "" // both were refused
		}
	case c == changeTemperature && req.Temperature != nil && !f.noTemperature:
		next.noTemperature = true
	case c == changeSeed && req.Seed != nil && !f.noSeed:
		next.noSeed = true
	case c == changeSystem && !f.mergeSystem:
		next.mergeSystem = true
	case c == changeJSONWord && !f.jsonWord:
		next.jsonWord = true
	default:
		return f, false
	}
	return next, true
}

// words says what the form does without.
func (f form) words(structured string) []string {
	var out []string
	if structured == StructuredAuto && f.structured != StructuredSchema {
		out = append(out, "replies are asked for as "+f.structured)
	}
	if len(f.tried) > 0 {
		out = append(out, "the reply is bounded by "+cmp.Or(f.maxTokens, "nothing"))
	}
	for _, w := range []struct {
		is   bool
		text string
	}{
		{f.noTemperature, "temperature is not sent"}, {f.noSeed, "seed is not sent"},
		{f.mergeSystem, "the system message is sent with the user's"}, {f.jsonWord, "the word JSON is put into the prompt"},
	} {
		if w.is {
			out = append(out, w.text)
		}
	}
	return out
}

// forms holds what was learnt, by model, and lets the first call of each model
// go alone.
type forms struct {
	log        *slog.Logger
	structured string

	mu     sync.Mutex
	models map[string]*modelForm
}

type modelForm struct {
	form form
	// turn is held by the call that goes alone; known is closed when the model
	// needs no such call any more; fatal, set before that, is why no call can be
	// answered.
	turn  chan struct{}
	known chan struct{}
	fatal error
}

// unsent is the error of a call that was not made, since it could not be
// answered.
func (m *modelForm) unsent() error {
	if m.fatal == nil {
		return nil
	}
	return notSent{m.fatal}
}

func (f *forms) of(model string) *modelForm {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.models[model]
	if m == nil {
		m = &modelForm{form: firstForm(model, f.structured), turn: make(chan struct{}, 1), known: make(chan struct{})}
		if f.models == nil {
			f.models = map[string]*modelForm{}
		}
		f.models[model] = m
	}
	return m
}

func (f *forms) get(model string) form {
	m := f.of(model)
	f.mu.Lock()
	defer f.mu.Unlock()
	return m.form
}

// enter waits until the call may go, and returns what to tell its end to.
func (f *forms) enter(ctx context.Context, model string) (done func(error), err error) {
	m := f.of(model)
	select {
	case <-m.known: // first, since a select of several takes any
		return func(error) {}, m.unsent()
	default:
	}
	select {
	case <-m.known:
		return func(error) {}, m.unsent()
	case m.turn <- struct{}{}:
		return func(err error) { f.leave(m, err) }, nil
	case <-ctx.Done():
		return nil, notSent{ctx.Err()}
	}
}

// leave ends the turn of a call that went alone. Those that wait go on together
// if the server answered it, or took it without an answer, and one by one as
// long as it was not reached.
func (f *forms) leave(m *modelForm, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { <-m.turn }()
	select {
	case <-m.known:
		return // another call had its turn in the same moment
	default:
	}
	e := AsError(err)
	switch {
	case err == nil, e != nil && (e.Kind == Row || e.Kind == RateLimited || e.Status >= 500 || e.Code == "timeout"):
		close(m.known)
	case e != nil && e.Kind == Fatal:
		m.fatal = err
		close(m.known)
	}
}

// change takes up that the server refused a part of the form that was sent. It
// reports whether the request can be tried in another form.
func (f *forms) change(req *Request, sent form, c change, reason string) bool {
	m := f.of(req.Model)
	f.mu.Lock()
	defer f.mu.Unlock()
	next, ok := sent.without(c, f.structured, req)
	if !ok {
		return false
	}
	if !slices.Equal(m.form.words(f.structured), sent.words(f.structured)) {
		return true // another call has learnt meanwhile: try what it found
	}
	m.form = next
	f.log.Warn("the endpoint refuses a part of the request, which is left out from now on", "model", req.Model, "refused", string(c),
		"now", strings.Join(next.words(f.structured), ", "), "reason", reason)
	return true
}

func (f *forms) learnt() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for model, m := range f.models {
		for _, w := range m.form.words(f.structured) {
			out = append(out, fmt.Sprintf("%s: %s", model, w))
		}
	}
	slices.Sort(out)
	return out
}
