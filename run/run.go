// Package run carries out a scoring run and keeps it on disk so that nothing
// finished is ever lost or paid for again.
//
// A run directory holds
//
//	manifest.json   what was run: identity, configuration, past executions
//	results.jsonl   one line a sample, in input order, written whole
//	journal.jsonl   rows finished since then, in the order they finished
//	costs.jsonl     what each row has cost, in each execution
//	summary.json    the aggregate, written by the caller
//	.lock           held while a process works on the run
//
// While a run is under way, every finished row is appended to the journal.
// When it ends, for whatever reason, Settle merges results and journal into a
// new results.jsonl. A process that is killed leaves the journal; Open reads
// it, drops a torn last line, and the run goes on with the rows that are
// missing. The same samples give the same bytes in results.jsonl, whatever
// the concurrency and however often the run was interrupted.
//
// The package knows samples, metrics and scores, and no model and no prompt.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ragjudge/ragjudge/eval"
)

// Source gives samples one at a time, io.EOF at the end. Its samples are
// numbered by Sample.Row, each number once, in rising order.
type Source interface {
	Next() (*eval.Sample, error)
}

// Usage is what rows have cost: judge calls, hits, tokens and money.
type Usage struct {
	// Calls counts the replies that the judge itself gave; CacheHits those
	// that were taken from the cache or shared with an identical call.
	Calls     int `json:"calls"`
	CacheHits int `json:"cache_hits"`
	// Attempts counts requests sent, retries included.
	Attempts         int `json:"attempts"`
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	ReasoningTokens  int `json:"reasoning_tokens"`
	// UnknownUsage counts paid attempts whose tokens the server did not tell.
	UnknownUsage int `json:"unknown_usage"`
	// CostUSD is the money spent where it is known; UnpricedCalls counts the
	// paid attempts for which it is not.
	CostUSD       float64 `json:"cost_usd"`
	UnpricedCalls int     `json:"unpriced_calls"`
	// CacheWriteTokens are the prompt tokens written to the provider's prompt
	// cache, where it tells. SavedUSD is the money that hits would have cost.
	CacheWriteTokens int     `json:"cache_write_tokens,omitempty"`
	SavedUSD         float64 `json:"saved_usd,omitempty"`
}

// Part is what the calls of one metric to one judge have cost for a row. The
// judge has a name where there are several.
type Part struct {
	Metric string `json:"metric"`
	Judge  string `json:"judge,omitempty"`
	Usage
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls: u.Calls + v.Calls, CacheHits: u.CacheHits + v.CacheHits, Attempts: u.Attempts + v.Attempts,
		PromptTokens: u.PromptTokens + v.PromptTokens, CompletionTokens: u.CompletionTokens + v.CompletionTokens,
		CachedTokens: u.CachedTokens + v.CachedTokens, ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		UnknownUsage: u.UnknownUsage + v.UnknownUsage,
		CostUSD:      u.CostUSD + v.CostUSD, UnpricedCalls: u.UnpricedCalls + v.UnpricedCalls,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens, SavedUSD: u.SavedUSD + v.SavedUSD,
	}
}

// Options steers Execute.
type Options struct {
	// Metrics score every sample, in this order.
	Metrics []eval.Metric
	// Workers is the number of samples in hand at once; at least 1.
	Workers int
	// Again reports whether a score that the run already has is to be made
	// anew. Nil makes the failed ones anew.
	Again func(eval.Score) bool
	// Drain, when closed, stops the taking of new samples; those in hand are
	// finished. Cancelling the context abandons them too.
	Drain <-chan struct{}
	// Track wraps the context of one sample and returns a function that tells
	// what the sample has cost. Nil counts nothing.
	Track func(context.Context) (context.Context, func() Usage)
	// Parts tells, of the context that Track has made, how the sample's cost is made
	// up; nil for not.
	Parts func(context.Context) []Part
	// OnRow is called from one goroutine after a row has been kept; may be nil.
	OnRow func(*eval.Result, Usage)
	// OnPanic is told of a metric that panicked; the score is then Failed.
	OnPanic func(metric string, row int, reason string)
}

// Stats says what one execution did.
type Stats struct {
	// Scored counts rows for which at least one metric was computed, Reused
	// rows that were complete already, Abandoned rows that were begun and are
	// to be done again when the run is resumed.
	Scored, Reused, Abandoned int
	// Drained reports that samples were left because Drain was closed or the
	// context ended.
	Drained bool
	// Usage is what this execution cost.
	Usage Usage
}

// Execute scores the samples of src that the run does not have yet and keeps
// each in the journal as soon as it is done. It returns the first error that
// stops the run; rows in hand at that moment are finished where they can be.
// After a return, with or without error, Settle makes the results readable.
func (d *Dir) Execute(ctx context.Context, src Source, opt Options) (Stats, error) {
	if opt.Again == nil {
		opt.Again = func(s eval.Score) bool { return s.Status == eval.Failed }
	}
	x := &execution{dir: d, opt: opt, rows: make(chan finished, opt.Workers), inHand: inHand{rows: map[int]*begun{}}}
	var writer errgroup.Group
	writer.Go(x.write)

	err := each(ctx, src, max(1, opt.Workers), opt.Drain, &x.halt, x.one)
	close(x.rows)
	werr := writer.Wait()

	x.stats.Reused = int(x.reused.Load())
	x.stats.Drained = errors.Is(err, errDrained) || ctx.Err() != nil
	if errors.Is(err, errDrained) {
		err = nil
	}
	// A full disk is the cause of what follows it, so it is told first.
	return x.stats, cmpErr(werr, x.halt.err(), err)
}

// Each scores every sample without keeping anything: the way of a dry run.
func Each(ctx context.Context, src Source, opt Options) (rows int, err error) {
	var n atomic.Int64
	var h halt
	err = each(ctx, src, max(1, opt.Workers), opt.Drain, &h, func(ctx context.Context, s *eval.Sample) {
		if _, err := score(ctx, s, opt, nil); err != nil {
			h.stop(err)
			return
		}
		n.Add(1)
	})
	return int(n.Load()), cmpErr(h.err(), err)
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// halt is the first error that stops the run, and the sign for the reader to
// take no further sample.
type halt struct {
	once  sync.Once
	done  atomic.Bool
	cause error
}

func (h *halt) stop(err error) {
	h.once.Do(func() { h.cause = err; h.done.Store(true) })
}

func (h *halt) err() error {
	if h.done.Load() {
		return h.cause
	}
	return nil
}

var errDrained = errors.New("drained")

// each reads samples and hands them to workers until the source ends, drain is
// closed, the context is cancelled or a worker calls for a halt. It returns
// when every worker is done.
func each(ctx context.Context, src Source, workers int, drain <-chan struct{}, h *halt, fn func(context.Context, *eval.Sample)) error {
	samples := make(chan *eval.Sample)
	var g errgroup.Group
	for range workers {
		g.Go(func() error {
			for s := range samples {
				fn(ctx, s)
			}
			return nil
		})
	}
	err := feed(ctx, src, samples, drain, h)
	close(samples)
	_ = g.Wait() // the workers return no error: what stops the run is in h
	return err
}

func feed(ctx context.Context, src Source, samples chan<- *eval.Sample, drain <-chan struct{}, h *halt) error {
	for !h.done.Load() {
		select {
		case <-drain:
			return errDrained
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		s, err := src.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case samples <- s:
		case <-drain:
			return errDrained
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// finished is a row on its way to the journal. A nil result is a row that was
// abandoned: what it has cost is kept all the same.
type finished struct {
	row    int
	result *eval.Result
	usage  Usage
	parts  []Part
}

type execution struct {
	dir    *Dir
	opt    Options
	rows   chan finished
	inHand inHand
	halt   halt
	reused atomic.Int64
	stats  Stats // of the writer, until it is done
}

// one scores one sample, or finds that there is nothing to do.
func (x *execution) one(ctx context.Context, s *eval.Sample) {
	if x.halt.done.Load() {
		return // taken from the source just before the halt
	}
	prior, err := x.dir.result(s.Row)
	if err != nil {
		x.halt.stop(err)
		return
	}
	if prior != nil && !slices.ContainsFunc(prior.Scores, x.opt.Again) {
		x.reused.Add(1)
		return
	}
	cost := func() Usage { return Usage{} }
	if x.opt.Track != nil {
		ctx, cost = x.opt.Track(ctx)
	}
	parts := func() []Part { return nil }
	if x.opt.Parts != nil {
		parts = func() []Part { return x.opt.Parts(ctx) }
	}
	x.inHand.begin(s.Row, cost, parts)
	r, err := score(ctx, s, x.opt, prior)
	if err != nil {
		x.halt.stop(err)
		r = nil
	}
	x.rows <- finished{row: s.Row, result: r, usage: cost(), parts: parts()}
}

// write keeps finished rows. It goes on draining after an error, so that no
// worker is left waiting.
func (x *execution) write() error {
	var werr error
	tick := time.NewTicker(bookEvery)
	defer tick.Stop()
	for {
		var f finished
		var ok bool
		select {
		case f, ok = <-x.rows:
		case now := <-tick.C:
			if werr == nil {
				if werr = x.inHand.book(x.dir.journal, now); werr != nil {
					x.halt.stop(werr)
				}
			}
			continue
		}
		if !ok {
			break
		}
		x.inHand.end(f.row)
		x.stats.Usage = x.stats.Usage.Add(f.usage)
		if f.result == nil {
			x.stats.Abandoned++
		}
		if werr != nil {
			continue
		}
		if err := x.dir.journal.append(f, len(x.rows) == 0); err != nil {
			werr = err
			x.halt.stop(err)
			continue
		}
		if f.result != nil {
			x.stats.Scored++
			if x.opt.OnRow != nil {
				x.opt.OnRow(f.result, f.usage)
			}
		}
	}
	if werr != nil {
		return werr
	}
	return x.dir.journal.sync()
}

// score computes every metric of a sample, those that ask the judge at the same
// time. Scores of the prior result that need not be made again are kept.
func score(ctx context.Context, s *eval.Sample, opt Options, prior *eval.Result) (*eval.Result, error) {
	r := &eval.Result{Schema: eval.ResultSchema, Row: s.Row, ID: s.ID, Category: s.Category,
		Scores: make([]eval.Score, len(opt.Metrics))}
	var g errgroup.Group
	var stop error
	for i, m := range opt.Metrics {
		info := m.Info()
		if old := find(prior, info.Name); old != nil && !opt.Again(*old) {
			r.Scores[i] = *old
			continue
		}
		one := func() (err error) {
			r.Scores[i], err = safely(ctx, m, info, s, opt.OnPanic)
			return err
		}
		if !info.Judged {
			if stop = one(); stop != nil {
				break
			}
			continue
		}
		g.Go(one)
	}
	// Whatever happened, no metric is left running without an owner.
	if err := cmpErr(g.Wait(), stop); err != nil {
		return nil, err
	}
	return r, nil
}

func find(r *eval.Result, metric string) *eval.Score {
	if r == nil {
		return nil
	}
	for i := range r.Scores {
		if r.Scores[i].Metric == metric {
			return &r.Scores[i]
		}
	}
	return nil
}

// safely runs one metric. A panic is a fault of ours, and must not cost a
// night's work: the score is Failed and says so.
func safely(ctx context.Context, m eval.Metric, info eval.Info, s *eval.Sample, onPanic func(string, int, string)) (sc eval.Score, err error) {
	defer func() {
		if p := recover(); p != nil {
			if onPanic != nil {
				onPanic(info.Name, s.Row, fmt.Sprintf("%v\n%s", p, debug.Stack()))
			}
			sc, err = eval.Without(eval.Failed, "internal_error: %v", p).Of(info), nil
		}
	}()
	sc, err = m.Score(ctx, s)
	if err != nil {
		return sc, err
	}
	sc = sc.Of(info)
	if cerr := sc.Check(); cerr != nil {
		return eval.Without(eval.Failed, "internal_error: %v", cerr).Of(info), nil
	}
	return sc, nil
}
