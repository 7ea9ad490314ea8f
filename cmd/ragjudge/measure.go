package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// measuredRows is about how many rows of a run are measured for later estimates:
// enough for a ratio that is known to a few percent, and too few to take time.
const measuredRows = 300

// measurer learns by what estimates are to be corrected: for some rows it plans
// what a dry run would, beside what the judge is really asked, and sets the two
// side by side for each kind of call. What it costs is the time of planning those
// rows. It is safe for concurrent use.
type measurer struct {
	counter cost.Counter
	rows    func(row int) bool // which rows are measured

	mu    sync.Mutex
	kinds map[string]*cost.Measured
	at    map[string]connKey // of a kind
	vocab map[connKey]*cost.Vocabulary
}

// newMeasurer measures about so many of a number of rows, the same ones each time.
func newMeasurer(measure, of int) *measurer {
	share := 1.0
	if of > measure {
		share = float64(measure) / float64(of)
	}
	return &measurer{
		rows: func(row int) bool {
			return rand.New(rand.NewPCG(uint64(row), 0x5241474a)).Float64() < share
		},
		kinds: map[string]*cost.Measured{}, at: map[string]connKey{}, vocab: map[connKey]*cost.Vocabulary{},
	}
}

// observed is what one metric asks about one sample.
type observed struct {
	mu      sync.Mutex
	kinds   map[string]*observedKind
	seen    map[llm.Key]bool       // asked in a plan, or paid
	kept    map[llm.Key]keptAnswer // answered without a call
	unclear bool                   // something may have been paid of which nothing is known
}

type observedKind struct {
	amounts cost.Amounts
	counted float64
}

type keptAnswer struct {
	kind    string
	amounts cost.Amounts
	counted int
}

func newObserved() *observed {
	return &observed{kinds: map[string]*observedKind{}, seen: map[llm.Key]bool{}, kept: map[llm.Key]keptAnswer{}}
}

func (o *observed) add(kind string, a cost.Amounts, counted int) {
	k := o.kinds[kind]
	if k == nil {
		k = new(observedKind)
		o.kinds[kind] = k
	}
	k.amounts.Calls += a.Calls
	k.amounts.Input += a.Input
	k.amounts.Output += a.Output
	k.amounts.Items += a.Items
	k.amounts.Cached += a.Cached
	k.amounts.Reasoning += a.Reasoning
	k.counted += float64(counted)
}

type observedKey struct{}

func observedFrom(ctx context.Context) *observed {
	o, _ := ctx.Value(observedKey{}).(*observed)
	return o
}

// told is what a reply took, as the server says; false if it doesn't.
func told(req *llm.Request, resp *llm.Response) (cost.Amounts, bool) {
	u := resp.Usage
	if u.Unknown > 0 || u.PromptTokens <= 0 {
		return cost.Amounts{}, false
	}
	return cost.Amounts{Calls: 1, Input: float64(u.PromptTokens), Output: float64(u.CompletionTokens), Items: float64(items(req)),
		Cached: float64(u.CachedTokens), Reasoning: float64(u.ReasoningTokens)}, true
}

// items is the number of numbered items that a request asks about.
func items(req *llm.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += len(judge.ParseFenced(m.Content).Items)
	}
	return n
}

// calls is the outermost client: it sees what is answered without a call.
func (m *measurer) calls(next llm.Client) llm.Client {
	if m == nil {
		return next
	}
	return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		resp, err := next.Complete(ctx, req)
		o := observedFrom(ctx)
		if o == nil || err != nil || resp == nil || !resp.Cached {
			return resp, err
		}
		a, ok := told(req, resp)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.unclear = o.unclear || !ok
		o.kept[req.Key()] = keptAnswer{m.kind(req), a, m.counter.CountRequest(req).Total}
		return resp, err
	})
}

// attempts is the client above the backend: it sees what is paid.
func (m *measurer) attempts(next llm.Client) llm.Client {
	if m == nil {
		return next
	}
	return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		resp, err := next.Complete(ctx, req)
		o := observedFrom(ctx)
		if o == nil {
			return resp, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if err != nil || resp == nil {
			e := llm.AsError(err)
			o.unclear = o.unclear || e == nil || e.Kind != llm.RateLimited && e.Status == 0
			return resp, err
		}
		o.seen[req.Key()] = true
		a, ok := told(req, resp)
		if !ok {
			o.unclear = true
			return resp, err
		}
		counted := m.counter.CountRequest(req).Total
		o.add(m.kind(req), a, counted)
		m.spoken(connKey{req.Endpoint, req.Model}, counted, resp.Usage.PromptTokens)
		return resp, err
	})
}

func (m *measurer) spoken(at connKey, counted, told int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.vocab[at] == nil {
		m.vocab[at] = new(cost.Vocabulary)
	}
	m.vocab[at].Add(counted, told)
}

func (m *measurer) kind(req *llm.Request) string {
	kind := cost.KindOf(req)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at[kind] = connKey{req.Endpoint, req.Model}
	return kind
}

// plan answers as a dry run does, and notes what it would ask.
func (m *measurer) plan() llm.Client {
	return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		resp, err := judge.Lexical{}.Complete(ctx, req)
		o := observedFrom(ctx)
		if o == nil {
			return resp, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if key := req.Key(); !o.seen[key] {
			o.seen[key] = true
			n := m.counter.CountRequest(req).Total
			a := cost.Amounts{Calls: 1, Input: float64(n), Items: float64(items(req))}
			if resp != nil {
				a.Output = float64(cost.CountText(req.Model, resp.Content))
			} else {
				o.unclear = true // nothing can be said of what follows
			}
			o.add(cost.KindOf(req), a, n)
		}
		return resp, err
	})
}

// wrap wraps metrics over the real chain.
func (m *measurer) wrap(s *session, real []eval.Metric) ([]eval.Metric, error) {
	if m == nil {
		return real, nil
	}
	panel, err := s.panel(m.plan())
	if err != nil {
		return nil, err
	}
	planned, _, err := s.metrics(panel)
	if err != nil {
		return nil, err
	}
	out := make([]eval.Metric, len(real))
	for i := range real {
		out[i] = real[i]
		if real[i].Info().Judged {
			out[i] = measuredMetric{real[i], planned[i], m}
		}
	}
	return out, nil
}

type measuredMetric struct {
	eval.Metric
	planned eval.Metric
	m       *measurer
}

// Score scores the sample, and measures it if it is one of the chosen.
func (x measuredMetric) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if !x.m.rows(s.Row) {
		return x.Metric.Score(ctx, s)
	}
	took := newObserved()
	sc, err := x.Metric.Score(context.WithValue(ctx, observedKey{}, took), s)
	if err != nil || sc.Status == eval.Failed {
		return sc, err
	}
	plan := newObserved()
	if _, perr := x.planned.Score(context.WithValue(ctx, observedKey{}, plan), s); perr == nil {
		x.m.compare(plan, took)
	}
	return sc, err
}

// compare takes in one sample.
func (m *measurer) compare(plan, took *observed) {
	took.mu.Lock()
	defer took.mu.Unlock()
	plan.mu.Lock()
	defer plan.mu.Unlock()
	if plan.unclear || took.unclear {
		return
	}
	for key, k := range took.kept {
		if !took.seen[key] { // else it was paid for by this very sample
			took.add(k.kind, k.amounts, k.counted)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kinds := map[string]bool{}
	for kind := range plan.kinds {
		kinds[kind] = true
	}
	for kind := range took.kinds {
		kinds[kind] = true
	}
	for kind := range kinds {
		var p, a observedKind
		if k := plan.kinds[kind]; k != nil {
			p = *k
		}
		if k := took.kinds[kind]; k != nil {
			a = *k
		}
		if m.kinds[kind] == nil {
			m.kinds[kind] = new(cost.Measured)
		}
		m.kinds[kind].Add(p.amounts, a.amounts, a.counted)
	}
}

// What is measured is believed for so long: models are changed behind their names.
const believeMeasured = 180 * 24 * time.Hour

const (
	learntMeasured   = "measured "
	learntVocabulary = "vocabulary"
)

// keep adds what was measured to what earlier runs have.
func (m *measurer) keep(known *learnt) {
	if m == nil || known.disk == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for kind, now := range m.kinds {
		at, ok := m.at[kind]
		if !ok {
			continue
		}
		sum := cost.Measured{}
		_ = known.recall(at.endpoint, at.model, learntMeasured+kind, believeMeasured, &sum)
		sum.Merge(now)
		known.keep(at.endpoint, at.model, learntMeasured+kind, sum)
	}
	for at, now := range m.vocab {
		sum := known.vocabulary(at)
		sum.Merge(*now)
		known.keep(at.endpoint, at.model, learntVocabulary, sum)
	}
}

// vocabulary is what the server of a model told of input tokens so far.
func (l *learnt) vocabulary(at connKey) (v cost.Vocabulary) {
	_ = l.recall(at.endpoint, at.model, learntVocabulary, believeMeasured, &v)
	return v
}

// measured is what earlier runs tell of a kind of call; nil for nothing.
func (l *learnt) measured(at connKey, kind string) *cost.Measured {
	var m cost.Measured
	if !l.recall(at.endpoint, at.model, learntMeasured+kind, believeMeasured, &m) {
		return nil
	}
	return &m
}

// known returns the learnt of a chain, to which a run adds.
func (c *chain) known(log *slog.Logger) *learnt {
	return &learnt{disk: c.disk, log: log, now: time.Now}
}
