package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/run"
	"github.com/ragjudge/ragjudge/tokens"
)

// planner turns planned calls into an estimate.
type planner struct {
	counter     cost.Counter
	opt         cost.Options
	made        sync.Once
	estimator   *cost.Estimator
	free        string // the model of an offline judge beside paid ones, or ""
	flies       bool   // preflights are made
	known       *learnt
	probed      *measurer
	at          sync.Map // connKey by kind
	flown       sync.Map // by endpoint and model
	unpredicted atomic.Int64

	sampled *cost.Sampled // nil for all rows
	mu      sync.Mutex
	weights map[int][]float64 // of sampled rows, call by call
}

// pastDrift and probeDrift are by how much samples may differ from those that were
// measured, as a share: of another dataset and day, and of the same dataset.
const (
	pastDrift  = 0.15
	probeDrift = 0.02
)

// newPlanner returns a planner for so many rows. What probed has measured goes
// before what earlier runs have.
func newPlanner(cfg *config.Config, price *prices, known *learnt, probed *measurer, rows int) (*planner, error) {
	p := &planner{flies: cfg.Run.Preflight, known: known, probed: probed, weights: map[int][]float64{}}
	p.opt = cost.Options{
		PriceDate: price.table.Date, MaxAttempts: cfg.Limits.MaxAttempts, Concurrency: cfg.Limits.Concurrency,
		RequestsPerMinute: int(cfg.Limits.RequestsPerMinute), TokensPerMinute: int(cfg.Limits.TokensPerMinute),
		Measured: p.measured, Samples: rows, Batch: cfg.Run.Backend == config.InBatches,
	}
	opt := &p.opt
	if opt.Batch {
		opt.Notes = append(opt.Notes, "A provider's batch takes up to a day; the duration is that of live calls.")
	}
	for i, j := range cfg.AllJudges() {
		model := judgeModel(j)
		enc, own := tokens.ForModel(model)
		one := cost.JudgeOptions{Model: model, Encoding: enc.Name(), OwnEncoding: own, Reasoning: cost.Reasons(model)}
		if found, ok := price.books[i].Lookup(model); ok {
			one.Price, one.PrefixMinimum = &found, cost.PrefixMinimum(found.Provider)
		}
		endpoint, _, err := wireOf(cfg, j)
		if err != nil {
			return nil, ofJudge(cfg, i, err)
		}
		if r, ok := known.vocabulary(connKey{endpoint, model}).Ratio(); ok {
			one.Ratio = r
		}
		switch {
		case seats(cfg) == 1:
			opt.Model, opt.Price, opt.Encoding, opt.OwnEncoding, opt.Reasoning = one.Model, one.Price, one.Encoding, one.OwnEncoding, one.Reasoning
			opt.Ratio, opt.PrefixMinimum = one.Ratio, one.PrefixMinimum
			continue
		case j.Provider == config.Lexical && !offline(cfg):
			p.free = model // it costs neither calls nor time
			opt.Notes = append(opt.Notes, fmt.Sprintf("Judge %s is the offline one: what it is asked makes no call.", judgeLabel(j)))
			continue
		}
		one.Name = judgeLabel(j)
		opt.Judges = append(opt.Judges, one)
	}
	planEmbedder(cfg, opt, price)
	return p, nil
}

// sums is the estimator; it is made with the first call.
func (p *planner) sums() *cost.Estimator {
	p.made.Do(func() {
		opt := p.opt // other calls read it meanwhile
		opt.Sampled = p.sampled
		p.estimator = cost.NewEstimator(opt)
	})
	return p.estimator
}

// measured fits cost.Options.
func (p *planner) measured(kind string) (*cost.Measured, float64) {
	if p.probed != nil {
		p.probed.mu.Lock()
		defer p.probed.mu.Unlock()
		if m := p.probed.kinds[kind]; m.Usable() {
			return m, probeDrift
		}
	}
	if at, ok := p.at.Load(kind); ok {
		return p.known.measured(at.(connKey), kind), pastDrift
	}
	return nil, 0
}

// preflight plans the call that a run makes before its first to a model.
func (p *planner) preflight(first *llm.Request) {
	if !p.flies || first.Endpoint == lexicalEndpoint {
		return
	}
	if _, before := p.flown.LoadOrStore(connKey{first.Endpoint, first.Model}, true); before || p.known.passed(first.Endpoint, first.Model) {
		return
	}
	probe := preflightRequest(first)
	p.sums().Add(cost.Call{Metric: probe.Tag.Metric, Step: probe.Tag.Step, Judge: probe.Tag.Judge, OutputCap: probe.MaxTokens,
		Input: probe.PromptTokens, Output: cost.CountText(probe.Model, preflightReply)})
}

func (p *planner) add(c llm.Planned) {
	req := c.Request
	if req.Model == p.free && p.free != "" || offlineVectors(req, p.opt) {
		return
	}
	if !c.Hit && len(req.Embed) == 0 {
		p.preflight(req)
	}
	call := p.call(req, c.Reply)
	call.Hit, call.Repeat = c.Hit, c.Repeat
	if c.Reply == nil {
		p.unpredicted.Add(1)
	}
	p.sums().Add(call)
}

// call describes a request, with the reply that is predicted or kept; without one
// the estimator has a length of its own.
func (p *planner) call(req *llm.Request, reply *llm.Response) cost.Call {
	call := cost.Call{Metric: req.Tag.Metric, Step: req.Tag.Step, Judge: req.Tag.Judge, Trial: req.Trial, OutputCap: req.MaxTokens,
		Kind: cost.KindOf(req), Embedding: len(req.Embed) > 0, Items: items(req)}
	n := p.counter.CountRequest(req)
	call.Input, call.Prefix = n.Total, n.Prefix
	if reply != nil && !call.Embedding {
		call.Output = cost.CountText(req.Model, reply.Content)
	}
	for _, m := range req.Messages {
		for _, it := range judge.ParseFenced(m.Content).Items {
			call.ItemTokens += cost.CountText(req.Model, it.Text) + itemForm
		}
	}
	p.at.LoadOrStore(call.Kind, connKey{req.Endpoint, req.Model})
	return call
}

// itemForm is about what the tags of one item take, in tokens.
const itemForm = 27

// estimate is that of all calls so far.
func (p *planner) estimate() *cost.Estimate {
	if p.sampled != nil {
		var rows cost.Scatter
		p.mu.Lock()
		for _, row := range slices.Sorted(maps.Keys(p.weights)) { // in one order, or the last digits would be chance
			sum := 0.0
			for _, w := range slices.Sorted(slices.Values(p.weights[row])) {
				sum += w
			}
			rows.Add(sum)
			p.sampled.Total += sum
		}
		for range p.sampled.Rows - len(p.weights) {
			rows.Add(0)
		}
		p.mu.Unlock()
		p.sampled.Total *= float64(p.sampled.Of) / float64(p.sampled.Rows)
		p.sampled.StandardError = rows.StandardError(p.sampled.Of)
	}
	return p.sums().Estimate()
}

type rowKey struct{}

// rowsOf is a client that weighs each row by what its new calls are expected to
// take; where all rows are planned nobody wants to know.
func (p *planner) rowsOf(next llm.Client) llm.Client {
	if p.sampled == nil {
		return next
	}
	return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		resp, err := next.Complete(ctx, req)
		row, ok := ctx.Value(rowKey{}).(int)
		if !ok || resp != nil && resp.Cached || req.Model == p.free && p.free != "" || offlineVectors(req, p.opt) {
			return resp, err
		}
		weight := p.sums().Weigh(p.call(req, resp))
		p.mu.Lock()
		p.weights[row] = append(p.weights[row], weight)
		p.mu.Unlock()
		return resp, err
	})
}

// rowed tells the chain which row is asked about.
func rowed(list []eval.Metric) []eval.Metric {
	out := make([]eval.Metric, len(list))
	for i, m := range list {
		out[i] = rowedMetric{m}
	}
	return out
}

type rowedMetric struct{ eval.Metric }

func (m rowedMetric) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	return m.Metric.Score(context.WithValue(ctx, rowKey{}, s.Row), s)
}

// drawn gives some of the samples of a source, each set of that size being as
// likely (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S). It reads
// its source to the end.
type drawn struct {
	run.Source
	rng        *rand.Rand
	want, left int
}

func newDrawn(src run.Source, want, of int, seed uint64) *drawn {
	return &drawn{src, rand.New(rand.NewPCG(seed, 0x5241474a)), want, of}
}

func (d *drawn) Next() (*eval.Sample, error) {
	for {
		s, err := d.Source.Next()
		if err != nil || d.left <= 0 {
			return s, err
		}
		take := d.rng.IntN(d.left) < d.want
		if d.left--; take {
			d.want--
			return s, nil
		}
	}
}

// undone leaves out the samples that are done.
type undone struct {
	run.Source
	has func(row int) bool
}

func (u undone) Next() (*eval.Sample, error) {
	for {
		s, err := u.Source.Next()
		if err != nil || !u.has(s.Row) {
			return s, err
		}
	}
}
