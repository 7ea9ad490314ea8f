package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/ragjudge/ragjudge/cache"
	"github.com/ragjudge/ragjudge/eval"
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
