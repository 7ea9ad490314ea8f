package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/run"
	"github.com/ragjudge/ragjudge/tokens"
)

func (a *app) estimateCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "estimate",
		Short: "Estimate calls, tokens, money and time of a run; makes no call",
		Long: `Estimate what "ragjudge run" would take with the same flags: calls, input and
output tokens, money and time, per metric and in all, as low / expected / high,
with what is in the cache taken off. It is the same as "ragjudge run --dry-run".
No network is used and nothing is written.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.configured(cmd.Flags())
			if err != nil {
				return err
			}
			return a.estimate(cmd.Context(), cfg, format)
		},
	}
	configFlags(c)
	c.Flags().StringVarP(&format, "format", "f", "text", "text or json")
	return c
}

// estimate runs the whole pipeline over a chain that makes no call, and prints
// what it would have called.
func (a *app) estimate(ctx context.Context, cfg *config.Config, format string) error {
	if format != "text" && format != "json" {
		return usagef("unknown format %q: an estimate is written as text or json", format)
	}
	s, price, reader, data, err := a.prepare(cfg)
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it was only read
	planner := newPlanner(cfg, price)
	chain, err := a.newDryChain(cfg, planner.add, a.log)
	if err != nil {
		return err
	}
	planner.known = &learnt{disk: chain.disk, log: a.log, now: time.Now}
	defer chain.close() //nolint:errcheck // it was only read
	panel, err := s.panel(chain.client)
	if err != nil {
		return err
	}
	list, _, err := s.metrics(panel)
	if err != nil {
		return err
	}
	rows, err := run.Each(ctx, &source{Source: reader, left: s.rows(data)}, run.Options{Metrics: list, Workers: cfg.Limits.Concurrency, Drain: ctx.Done()})
	switch {
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted after %d of %d rows", rows, s.rows(data))}
	case err != nil && isInput(err):
		return inputError(err)
	case err != nil:
		return err
	}
	return a.printEstimate(planner, format)
}

func (a *app) printEstimate(p *planner, format string) error {
	if n := p.unpredicted.Load(); n > 0 {
		a.log.Warn("calls could not be predicted: their replies are taken to be of a usual length, and what follows them is missing", "calls", n)
	}
	e := p.estimator.Estimate()
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

// planner turns planned calls into an estimate.
type planner struct {
	counter     cost.Counter
	estimator   *cost.Estimator
	free        string // the model of an offline judge beside paid ones, or ""
	flies       bool   // preflights are made
	known       *learnt
	flown       sync.Map // by endpoint and model
	unpredicted atomic.Int64
}

func newPlanner(cfg *config.Config, price *prices) *planner {
	opt := cost.Options{
		PriceDate: price.table.Date, MaxAttempts: cfg.Limits.MaxAttempts, Concurrency: cfg.Limits.Concurrency,
		RequestsPerMinute: int(cfg.Limits.RequestsPerMinute), TokensPerMinute: int(cfg.Limits.TokensPerMinute),
	}
	p := &planner{flies: cfg.Run.Preflight}
	for i, j := range cfg.AllJudges() {
		model := judgeModel(j)
		enc, own := tokens.ForModel(model)
		one := cost.JudgeOptions{Model: model, Encoding: enc.Name(), OwnEncoding: own, Reasoning: cost.Reasons(model)}
		if found, ok := price.books[i].Lookup(model); ok {
			one.Price = &found
		}
		switch {
		case seats(cfg) == 1:
			opt.Model, opt.Price, opt.Encoding, opt.OwnEncoding, opt.Reasoning = one.Model, one.Price, one.Encoding, one.OwnEncoding, one.Reasoning
			continue
		case j.Provider == config.Lexical && !offline(cfg):
			p.free = model // it costs neither calls nor time
			opt.Notes = append(opt.Notes, fmt.Sprintf("Judge %s is the offline one: what it is asked makes no call.", judgeLabel(j)))
			continue
		}
		one.Name = judgeLabel(j)
		opt.Judges = append(opt.Judges, one)
	}
	p.estimator = cost.NewEstimator(opt)
	return p
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
	p.estimator.Add(cost.Call{Metric: probe.Tag.Metric, Step: probe.Tag.Step, Judge: probe.Tag.Judge, OutputCap: probe.MaxTokens,
		Input: probe.PromptTokens, Output: cost.CountText(probe.Model, preflightReply)})
}

func (p *planner) add(c llm.Planned) {
	req := c.Request
	if req.Model == p.free && p.free != "" {
		return
	}
	if !c.Hit {
		p.preflight(req)
	}
	call := cost.Call{Metric: req.Tag.Metric, Step: req.Tag.Step, Judge: req.Tag.Judge, Trial: req.Trial, OutputCap: req.MaxTokens, Hit: c.Hit, Repeat: c.Repeat}
	call.Input = p.counter.CountRequest(req).Total
	if c.Reply != nil { // without one the estimator has a length of its own
		call.Output = cost.CountText(req.Model, c.Reply.Content)
	} else {
		p.unpredicted.Add(1)
	}
	for _, m := range req.Messages {
		call.Items += len(judge.ParseFenced(m.Content).Items)
	}
	p.estimator.Add(call)
}
