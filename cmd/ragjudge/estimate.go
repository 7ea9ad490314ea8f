package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/run"
)

// estimateFlags are those of an estimate alone.
type estimateFlags struct {
	format string
	probe  int
	sample int
	models []string
}

func (f *estimateFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.probe, "probe", 0, "of an estimate: really judge N samples drawn by chance, and go by what they take; their replies are kept in the cache")
	fs.IntVar(&f.sample, "sample", 0, "of an estimate: plan N samples drawn by chance, and tell the error of the total; 0 plans all")
	fs.StringSliceVar(&f.models, "models", nil, "of an estimate: compare the same set on these models, separated by commas")
}

func (a *app) estimateCommand() *cobra.Command {
	var f estimateFlags
	c := &cobra.Command{
		Use:   "estimate",
		Short: "Estimate calls, tokens, money and time of a run; makes no call but those of --probe",
		Long: `Estimate what "ragjudge run" would take with the same flags: calls, tokens, money
and time, per metric and in all, as low / expected / high, with what is in the
cache taken off. It is the same as "ragjudge run --dry-run". Without --probe no
network is used and nothing is written.

What earlier runs of the same prompts and judge took is reckoned with, where the
cache remembers it; --probe N measures it now. With --max-cost, --max-calls,
--max-tokens or --max-cost-per-day the exit code is 5 if the expected amount is
above the bound: the run would not get to its end.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.configured(cmd.Flags())
			if err != nil {
				return err
			}
			return a.estimate(cmd.Context(), cfg, f)
		},
	}
	configFlags(c)
	f.add(c.Flags())
	c.Flags().StringVarP(&f.format, "format", "f", "text", "text or json")
	return c
}

// estimate runs the whole pipeline over a chain that makes no call, and prints
// what it would have called.
func (a *app) estimate(ctx context.Context, cfg *config.Config, f estimateFlags) error {
	if f.format != "text" && f.format != "json" {
		return usagef("unknown format %q: an estimate is written as text or json", f.format)
	}
	if f.probe < 0 || f.sample < 0 {
		return usagef("--probe and --sample take a number of samples")
	}
	s, price, reader, data, err := a.prepare(cfg)
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it was only read
	if err := boundNeedsPrice(cfg, price); err != nil {
		return err
	}
	x := &estimating{app: a, s: s, price: price, reader: reader, data: data}
	var probe *cost.Probe
	if f.probe > 0 {
		if probe, err = x.probe(ctx, f.probe); err != nil {
			return err
		}
	}
	e, err := x.plan(ctx, f.sample, nil)
	if err != nil {
		return err
	}
	e.Probe = probe
	for _, model := range f.models {
		line, err := x.onModel(ctx, strings.TrimSpace(model), f.sample)
		if err != nil {
			return err
		}
		e.Models = append(e.Models, line)
	}
	if err := a.printEstimate(e, f.format); err != nil {
		return err
	}
	return wouldStop(cfg, e)
}

// boundNeedsPrice refuses a bound on money for a model whose price is unknown.
func boundNeedsPrice(cfg *config.Config, price *prices) error {
	l := cfg.Limits
	if l.MaxCost+l.MaxCostPerDay+l.MaxCostPerSample <= 0 {
		return nil
	}
	if models := price.unpriced(); len(models) > 0 {
		return &exitError{code: exitUsage, err: fmt.Errorf("bound the cost: no price is known for model %s", strings.Join(models, ", ")),
			hint: "give judge.price_input and judge.price_output in US dollars per million tokens, or leave the bound on money out"}
	}
	return nil
}

// wouldStop is the error of a run that its bounds would end. The expected amount
// decides: half of such runs would get to their end.
func wouldStop(cfg *config.Config, e *cost.Estimate) error {
	l, t := cfg.Limits, e.Total
	var over []string
	if c := t.CostUSD; c != nil {
		for _, b := range []struct {
			name string
			most float64
		}{{"max_cost", l.MaxCost}, {"max_cost_per_day", l.MaxCostPerDay}} {
			if b.most > 0 && c.Expected > b.most {
				over = append(over, fmt.Sprintf("the expected cost of $%.4f (low $%.4f, high $%.4f) is above the %s of $%.4f", c.Expected, c.Low, c.High, b.name, b.most))
			}
		}
	}
	if l.MaxCalls > 0 && t.Calls.Expected > int64(l.MaxCalls) {
		over = append(over, fmt.Sprintf("%d calls are expected, and max_calls is %d", t.Calls.Expected, l.MaxCalls))
	}
	if n := t.InputTokens.Expected + t.OutputTokens.Expected + t.EmbeddingTokens.Expected; l.MaxTokens > 0 && n > int64(l.MaxTokens) {
		over = append(over, fmt.Sprintf("%d tokens are expected, and max_tokens is %d", n, l.MaxTokens))
	}
	if len(over) == 0 {
		return nil
	}
	return &exitError{code: exitStopped, err: fmt.Errorf("the run would stop before its end: %s", strings.Join(over, "; "))}
}

// estimating is an estimate under way.
type estimating struct {
	*app
	s      *session
	price  *prices
	reader *dataset.Reader
	data   dataset.Info
	probed *measurer
	passes int
	has    func(row int) bool // rows that are done already; nil for none
	todo   int                // the number of the others; 0 for all
}

// pass starts the dataset over, and gives so many of its rows, drawn by chance; 0
// gives all.
func (x *estimating) pass(draw int, seed uint64) (run.Source, error) {
	if x.passes++; x.passes > 1 {
		if err := x.reader.Rewind(); err != nil {
			return nil, inputError(err)
		}
	}
	rows := x.s.rows(x.data)
	src := run.Source(&source{Source: x.reader, left: rows})
	if x.has != nil {
		src, rows = undone{src, x.has}, x.todo
	}
	if draw > 0 && draw < rows {
		src = newDrawn(src, draw, rows, seed)
	}
	return src, nil
}

// plan runs the dry chain over all rows, or over some. Each change of the
// configuration that the caller wants is made to a copy of it.
func (x *estimating) plan(ctx context.Context, sample int, change func(*config.Config) error) (*cost.Estimate, error) {
	s, price := x.s, x.price
	if change != nil {
		copied := *s.cfg
		if err := change(&copied); err != nil {
			return nil, err
		}
		changed := *s
		changed.cfg = &copied
		var err error
		if price, err = newPrices(&copied, x.log); err != nil {
			return nil, err
		}
		comparedPrice(price)
		s = &changed
	}
	rows := cmp.Or(x.todo, s.rows(x.data))
	var planner *planner
	chain, err := x.newDryChain(s.cfg, func(c llm.Planned) { planner.add(c) }, x.log)
	if err != nil {
		return nil, err
	}
	defer chain.close() //nolint:errcheck // it was only read
	known := &learnt{disk: chain.disk, log: x.log, now: time.Now}
	if planner, err = newPlanner(s.cfg, price, known, x.probed, rows); err != nil {
		return nil, err
	}
	if sample > 0 && sample < rows {
		planner.sampled = &cost.Sampled{Rows: sample, Of: rows}
	}
	panel, err := s.panel(planner.rowsOf(chain.client))
	if err != nil {
		return nil, err
	}
	list, infos, err := s.metrics(panel)
	if err != nil {
		return nil, err
	}
	if note := sharedNote(infos); note != "" {
		planner.opt.Notes = append(planner.opt.Notes, note)
	}
	src, err := x.pass(sample, s.cfg.Run.Seed)
	if err != nil {
		return nil, err
	}
	done, err := run.Each(ctx, src, run.Options{Metrics: rowed(list), Workers: s.cfg.Limits.Concurrency, Drain: ctx.Done()})
	switch {
	case ctx.Err() != nil:
		return nil, &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted after %d of %d rows", done, rows)}
	case err != nil && isInput(err):
		return nil, inputError(err)
	case err != nil:
		return nil, err
	}
	if n := planner.unpredicted.Load(); n > 0 {
		x.log.Warn("calls could not be predicted: their replies are taken to be of a usual length, and what follows them is missing", "calls", n)
	}
	return planner.estimate(), nil
}

// onModel plans the same set on another model at the same endpoint.
func (x *estimating) onModel(ctx context.Context, model string, sample int) (cost.ModelLine, error) {
	if model == "" || seats(x.s.cfg) > 1 || offline(x.s.cfg) {
		return cost.ModelLine{}, usagef("--models compares names of models for one judge that is asked once, and not for the offline one")
	}
	e, err := x.plan(ctx, sample, func(c *config.Config) error {
		if c.Judge.Model != model { // prices of one model are not those of another
			j := &c.Judge
			j.Model, j.PriceInput, j.PriceOutput, j.PriceCached = model, nil, nil, nil
			j.PriceCacheWrite, j.PriceBatchInput, j.PriceBatchOutput = nil, nil, nil
		}
		return nil
	})
	if err != nil {
		return cost.ModelLine{}, fmt.Errorf("estimate for %s: %w", model, err)
	}
	return cost.ModelLine{Model: model, Price: e.Price, Line: e.Total}, nil
}

// probe really judges some samples, drawn by chance, through the chain of a run,
// with its cache and its bounds.
func (x *estimating) probe(ctx context.Context, n int) (_ *cost.Probe, err error) {
	if offline(x.s.cfg) {
		return nil, usagef("--probe asks the judge, and the offline one costs nothing to ask")
	}
	cfg := *x.s.cfg
	cfg.Run.Backend = config.Live // its answers are wanted now
	s := *x.s
	s.cfg = &cfg
	x.probed = newMeasurer(1, 1)
	chain, err := x.newChain(&cfg, x.price, chainOptions{since: time.Now(), dir: "probe", measure: x.probed}, x.log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, chain.close()) }()
	panel, err := s.panel(chain.client)
	if err != nil {
		return nil, err
	}
	list, _, err := s.metrics(panel)
	if err != nil {
		return nil, err
	}
	if list, err = x.probed.wrap(&s, list); err != nil {
		return nil, err
	}
	src, err := x.pass(min(n, s.rows(x.data)), s.cfg.Run.Seed+1)
	if err != nil {
		return nil, err
	}
	rows, err := run.Each(ctx, src, run.Options{Metrics: list, Workers: cfg.Limits.Concurrency, Drain: ctx.Done()})
	x.probed.keep(chain.known(x.log))
	if err != nil || ctx.Err() != nil {
		stop := (&scoring{app: x.app, s: &s, chain: chain}).stopReason(ctx, run.Stats{Drained: true}, err)
		var coded *exitError
		if !errors.As(stop, &coded) {
			return nil, fmt.Errorf("probe: after %d of %d samples: %w", rows, n, cmp.Or(stop, err))
		}
		return nil, &exitError{code: coded.code, err: fmt.Errorf("probe: after %d of %d samples: %w", rows, n, coded.err), hint: coded.hint}
	}
	c := chain.meter.Snapshot().Total
	p := &cost.Probe{Samples: rows, Calls: c.Paid}
	if c.UnknownPrice+c.UnknownUsage+c.Unclear == 0 {
		p.CostUSD = &c.CostUSD
	}
	return p, nil
}

func (a *app) printEstimate(e *cost.Estimate, format string) error {
	if format == "json" {
		b, err := e.JSON()
		if err != nil {
			return err
		}
		_, err = a.out.Write(b)
		return err
	}
	return e.Text(a.out)
}
