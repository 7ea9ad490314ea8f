package llm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// forms holds what was learnt, by model, and lets the first call of each model
// go alone.
type forms struct {
	log        *slog.Logger
	structured string
	known      map[string]Form            // of an earlier process
	onLearn    func(model string, f Form) // may be nil

	mu     sync.Mutex
	models map[string]*modelForm
}

type modelForm struct {
	form form
	// kept reports a form of an earlier process in which no call was answered
	// yet in this one.
	kept bool
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
		known := f.known[model]
		m = &modelForm{form: firstForm(model, f.structured, known), kept: known != Form{}, turn: make(chan struct{}, 1), known: make(chan struct{})}
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

// settled reports that no call of the model needs to go alone any more.
func (f *forms) settled(model string) bool {
	select {
	case <-f.of(model).known:
		return true
	default:
		return false
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
func (f *forms) change(req *Request, sent form, c change, ceiling int, reason string) bool {
	next, ok := sent.without(c, f.structured, req, ceiling)
	if !ok {
		return false
	}
	if l, changed := f.take(req.Model, sent, next); changed {
		f.log.Warn("the endpoint refuses a part of the request, which is left out from now on", "model", req.Model, "refused", string(c),
			"now", strings.Join(l.words(), ", "), "reason", reason)
		if f.onLearn != nil {
			f.onLearn(req.Model, l)
		}
	}
	return true
}

// proved notes that a call was answered.
func (f *forms) proved(model string) {
	m := f.of(model)
	f.mu.Lock()
	m.kept = false
	f.mu.Unlock()
}

// forget takes a form that was kept from an earlier process for outdated, once,
// if no call was answered in it: a server of today may want what the one of
// yesterday refused. It reports whether the request can be tried anew.
func (f *forms) forget(model string, sent form, reason string) bool {
	m := f.of(model)
	f.mu.Lock()
	again := m.kept && m.form.Form == sent.Form
	if again {
		m.kept, m.form = false, firstForm(model, f.structured, Form{})
	}
	l := m.form.learnt(model, f.structured)
	f.mu.Unlock()
	if !again {
		return false
	}
	f.log.Warn("the endpoint refuses requests as it was known to take them; that is found out anew", "model", model, "reason", reason)
	if f.onLearn != nil {
		f.onLearn(model, l)
	}
	return true
}

// take makes next the form of the model, unless another call has learnt
// something meanwhile: what it found is tried then.
func (f *forms) take(model string, sent, next form) (Form, bool) {
	m := f.of(model)
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.form.Form != sent.Form {
		return Form{}, false
	}
	m.form = next
	return next.learnt(model, f.structured), true
}

// all returns what is known of each model that was called or restored.
func (f *forms) all() map[string]Form {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]Form{}
	for model, known := range f.known {
		out[model] = known
	}
	for model, m := range f.models {
		out[model] = m.form.learnt(model, f.structured)
	}
	return out
}

// learnt says in words what the models that were called do without.
func (f *forms) learnt() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for model, m := range f.models {
		for _, w := range m.form.learnt(model, f.structured).words() {
			out = append(out, fmt.Sprintf("%s: %s", model, w))
		}
	}
	slices.Sort(out)
	return out
}
