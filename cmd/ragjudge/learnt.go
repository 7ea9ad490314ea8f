package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/ragjudge/ragjudge/cache"
	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/llm"
)

// How long something that was learnt about a server is believed. Both are
// renewed by a call: a server that can do more today than it could last month
// is found out, and one whose context window was set anew.
const (
	believeForm      = 30 * 24 * time.Hour
	believePreflight = 24 * time.Hour
)

// learnt keeps what was learnt about servers beside the replies, in the cache:
// it is shared by processes, survives a crash, and is forgotten with "cache
// clear". Without a cache nothing is remembered.
type learnt struct {
	disk *cache.Disk // nil without a cache
	log  *slog.Logger
	now  func() time.Time
	anew bool // whether preflights are made though they have passed
}

// The kinds of knowledge.
const (
	learntForm      = "form"
	learntPreflight = "preflight"
)

// fact is an entry, written so that a person can read it.
type fact struct {
	Endpoint string          `json:"endpoint"`
	Model    string          `json:"model"`
	What     string          `json:"what"`
	Value    json.RawMessage `json:"value"`
}

func factKey(endpoint, model, what string) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "ragjudge/learnt/1\n%q %q %q", endpoint, model, what))
}

// recall puts what is known into v and reports whether it is still believed.
func (l *learnt) recall(endpoint, model, what string, age time.Duration, v any) bool {
	if l.disk == nil {
		return false
	}
	b, at, ok, err := l.disk.Get(context.Background(), factKey(endpoint, model, what))
	var f fact
	if err != nil || !ok || json.Unmarshal(b, &f) != nil || l.now().Sub(time.UnixMilli(at)) > age {
		return false // it is learnt again, for one call
	}
	return json.Unmarshal(f.Value, v) == nil
}

// forms is what is known of how requests to a judge are written, and where to
// what is learnt about it goes.
func (l *learnt) forms(j *config.Judge) (map[string]llm.Form, func(string, llm.Form), error) {
	if l.disk == nil {
		return nil, nil, nil
	}
	endpoint, err := llm.EndpointOf(j.Provider, j.BaseURL, j.APIVersion)
	if err != nil {
		return nil, nil, err
	}
	var f llm.Form
	known := map[string]llm.Form{}
	if l.recall(endpoint, j.Model, learntForm, believeForm, &f) {
		known[j.Model] = f
	}
	return known, func(model string, f llm.Form) { l.keep(endpoint, model, learntForm, f) }, nil
}

// passed reports that the preflight of a model need not be made.
func (l *learnt) passed(endpoint, model string) bool {
	var passed bool
	return !l.anew && l.recall(endpoint, model, learntPreflight, believePreflight, &passed) && passed
}

// keep remembers v. What can't be kept is learnt again.
func (l *learnt) keep(endpoint, model, what string, v any) {
	if l.disk == nil {
		return
	}
	value, err := eval.MarshalJSON(v)
	if err == nil {
		value, err = eval.MarshalJSON(fact{Endpoint: endpoint, Model: model, What: what, Value: value})
	}
	if err == nil {
		err = l.disk.Put(context.Background(), factKey(endpoint, model, what), value)
	}
	if err != nil {
		l.log.Debug("what was learnt about the endpoint is not kept", "what", what, "error", err)
	}
}
