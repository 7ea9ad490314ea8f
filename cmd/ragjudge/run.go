package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/report"
	"github.com/ragjudge/ragjudge/run"
)

func (a *app) runCommand() *cobra.Command {
	var dry bool
	var format string
	var estimate estimateFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Score a dataset; the same command again resumes or finds it done",
		Long: `Score a dataset with the metrics of the configuration and write a run
directory: manifest.json, results.jsonl in input order, and summary.json.

A run that was killed, interrupted or stopped by its budget is finished by the
same command. A finished one is only reported, but for rows whose calls failed.

` + exitCodesHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.configured(cmd.Flags())
			if err != nil {
				return err
			}
			if dry {
				estimate.format = format
				return a.estimate(cmd.Context(), cfg, estimate)
			}
			return a.run(cmd.Context(), cfg, format)
		},
	}
	configFlags(c)
	estimate.add(c.Flags())
	c.Flags().BoolVar(&dry, "dry-run", false, "estimate calls, tokens, money and time; make no call")
	c.Flags().StringVarP(&format, "format", "f", "text", "of what is printed: text, md, json or csv (an estimate: text or json)")
	return c
}

// scoring is one execution of a run.
type scoring struct {
	*app
	s     *session
	price *prices
	chain *chain
	dir   *run.Dir
	infos []eval.Info
	data  dataset.Info
	// expected is what this execution was expected to take; nil if nobody can say.
	expected *report.Expected
}

// run scores the dataset and prints its summary.
func (a *app) run(ctx context.Context, cfg *config.Config, format string) error {
	if !slices.Contains(report.Formats, format) {
		return a.render(nil, format)
	}
	s, price, reader, data, err := a.prepare(cfg)
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it was only read
	a.tuneMemory(data.Rows)
	x := &scoring{app: a, s: s, price: price, data: data}
	if err := x.open(); err != nil {
		return err
	}
	if err := x.expect(ctx, reader); err != nil {
		return errors.Join(err, x.dir.Close())
	}
	sum, err := x.score(ctx, &source{Source: reader, left: s.rows(data)})
	err = errors.Join(err, x.dir.Close())
	if x.chain != nil {
		err = errors.Join(err, x.chain.close())
	}
	if sum != nil && sum.Complete {
		forgetBatches(x.dir.Path(), a.log)
	}
	if sum == nil {
		return err
	}
	if rerr := a.render(sum, format); rerr != nil {
		return cmp.Or(err, rerr)
	}
	fmt.Fprintf(a.errw, "\nresults: %s\n", filepath.Join(x.dir.Path(), "results.jsonl"))
	return err
}

// open takes the run directory.
func (x *scoring) open() error {
	var err error
	if _, x.infos, err = x.s.metrics(noPanel); err != nil {
		return err
	}
	resolved, err := eval.MarshalJSON(x.s.cfg.Resolved())
	if err != nil {
		return fmt.Errorf("write the configuration to the manifest: %w", err)
	}
	identity, err := x.s.identity(x.infos, x.data)
	if err != nil {
		return err
	}
	dir, err := run.Open(x.s.outDir(identity), run.Manifest{
		Tool: "ragjudge " + versionString(), Identity: identity, PriceDate: x.price.table.Date, Config: resolved,
		Dataset: run.Dataset{Path: x.data.Path, Format: string(x.data.Format), SHA256: x.data.SHA256, Rows: x.s.rows(x.data),
			LastRow: x.data.Rows + x.data.BadLines},
	})
	var differs *run.DiffersError
	if errors.As(err, &differs) {
		return &exitError{code: exitUsage, err: err, hint: "name another directory with --out; the cache is shared, so that nothing is paid twice"}
	}
	if err != nil {
		return usageError(err)
	}
	x.dir = dir
	return nil
}

// score executes the run and makes the summary of what it has then. The
// summary is nil if not even that could be made.
func (x *scoring) score(ctx context.Context, src run.Source) (*report.Summary, error) {
	cfg, started := x.s.cfg, time.Now().UTC()
	total := x.s.rows(x.data)
	todo := total - x.dir.Done()
	if before := x.dir.Done(); before > 0 && todo > 0 {
		x.log.Info("resuming", "run", x.dir.Path(), "rows_done", before, "rows_to_do", todo)
	}

	var meter atomic.Pointer[llm.Meter] // there is none until the chain is
	prog := startProgress(x.errw, cfg.Run.Progress, todo, func() spending {
		var c llm.Counts
		if m := meter.Load(); m != nil {
			c = m.Snapshot().Total
		}
		return spending{calls: int(c.Paid), hits: int(c.Hits + c.Shared), limited: int(c.RateLimited), costUSD: c.CostUSD, priced: c.UnknownPrice+c.UnknownUsage == 0 || offline(cfg)}
	})
	stats, runErr := run.Stats{}, error(nil)
	func() {
		defer prog.Stop()
		var level slog.Level
		_ = level.UnmarshalText([]byte(cfg.Run.LogLevel)) // checked when the configuration was loaded
		log := newLogger(prog, cfg.Run.LogFormat, level)
		spent := x.dir.Manifest.Charged.Plus(x.dir.Carried())
		var measure *measurer
		if x.s.judged && !offline(cfg) {
			measure = newMeasurer(measuredRows, todo)
		}
		if x.chain, runErr = x.newChain(cfg, x.price, chainOptions{spent: spent, measure: measure, since: x.dir.Manifest.Started, dir: x.dir.Path()}, log); runErr != nil {
			return
		}
		meter.Store(x.chain.meter)
		var panel metrics.Panel
		if panel, runErr = x.s.panel(x.chain.client); runErr != nil {
			return
		}
		var list []eval.Metric
		if list, _, runErr = x.s.metrics(panel); runErr != nil {
			return
		}
		if list, runErr = measure.wrap(x.s, list); runErr != nil {
			return
		}
		hard, cancel := graceful(ctx, cfg.Limits.Grace, log)
		defer cancel()
		stats, runErr = x.dir.Execute(hard, src, run.Options{
			Metrics: list, Workers: workers(cfg), Again: again(cfg.Run.Retry), Drain: ctx.Done(), Track: tracker(offline(cfg)), Parts: parts(offline(cfg)),
			OnRow: func(*eval.Result, run.Usage) {
				prog.Row()
				if x.chain.budget == nil {
					x.chain.day.note(x.chain.meter.Snapshot().Total.CostUSD)
				}
			},
			OnPanic: func(metric string, row int, reason string) {
				log.Error("a metric failed by a fault of ragjudge; please report it", "metric", metric, "row", row, "panic", reason)
			},
		})
		measure.keep(x.chain.known(log))
		logReplies(log, panel)
	}()
	if x.chain == nil {
		return nil, runErr
	}
	return x.finish(ctx, started, stats, runErr)
}

// finish settles the results, judges the gates and writes the summary.
func (x *scoring) finish(ctx context.Context, started time.Time, stats run.Stats, runErr error) (*report.Summary, error) {
	stop := x.stopReason(ctx, stats, runErr)
	sums, err := report.NewSummarizer(x.infos, report.Options{List: x.s.cfg.Output.Worst, Seed: x.s.cfg.Run.Seed})
	if err != nil {
		return nil, err
	}
	if err := x.dir.Settle(sums.Add); err != nil {
		return nil, cmp.Or(stop, err)
	}
	x.dir.Manifest.Charged = x.dir.Manifest.Charged.Plus(x.dir.Carried()).Plus(stats.Usage)
	if x.chain.budget != nil { // it knows better: the worst case counts where nothing was told
		x.dir.Manifest.Charged = run.Charged(x.chain.budget.Spent())
	}
	x.dir.Manifest.Served = x.served()
	x.dir.Manifest.Judges = x.judges()
	x.dir.Manifest.Learnt = x.chain.learnt()
	sum := sums.Summary()
	if sum.Costs, err = x.costs(sum, x.price.unpriced()); err != nil {
		x.log.Warn("where the money went can't be told", "error", err)
	}
	if err := x.dir.Finish(outcome(stop), stats); err != nil {
		return nil, cmp.Or(stop, err)
	}
	x.describe(sum, started, stats, stop)
	gates, err := report.Evaluate(sum, x.s.gates)
	if err != nil {
		return nil, cmp.Or(stop, err)
	}
	sum.Gates = gates
	if err := run.WriteJSON(filepath.Join(x.dir.Path(), run.SummaryName), sum); err != nil {
		return sum, cmp.Or(stop, err)
	}
	return sum, cmp.Or(stop, verdict(sum))
}

// describe fills in what the summary can't know from the results.
func (x *scoring) describe(sum *report.Summary, started time.Time, stats run.Stats, stop error) {
	total := x.s.rows(x.data)
	sum.Rows, sum.Complete = &total, sum.RowsDone == total && stop == nil
	sum.Dataset = report.Dataset{Name: x.data.Path, Hash: "sha256:" + x.data.SHA256}
	if x.s.judged {
		x.describeJudges(sum)
	}
	unpriced := x.price.unpriced()
	sum.Usage = usage(x.dir.Manifest.Total(), unpriced)
	sum.LastExecution = &report.Execution{
		Usage: usage(stats.Usage, unpriced), RowsScored: stats.Scored, RowsReused: stats.Reused,
		Started: started, Finished: time.Now().UTC(), Exit: outcome(stop),
	}
	if stop != nil {
		sum.LastExecution.ExitReason = stop.Error()
	}
	sum.LastExecution.Expected = x.expected
}

// graceful returns a context that ends some time after ctx, so that what is in
// flight can be finished.
func graceful(ctx context.Context, grace time.Duration, log *slog.Logger) (context.Context, context.CancelFunc) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		log.Warn("interrupted: finishing what is in flight; a second signal stops at once", "grace", grace)
		t := time.AfterFunc(grace, cancel)
		context.AfterFunc(hard, func() { t.Stop() })
	})
	return hard, func() { stop(); cancel() }
}

// again says which scores of an earlier execution are made anew.
func again(retry string) func(eval.Score) bool {
	return func(s eval.Score) bool {
		switch retry {
		case "none":
			return false
		case "unscored":
			return s.Status == eval.Failed || s.Status == eval.Unscored
		}
		return s.Status == eval.Failed
	}
}

// tracker counts what one sample costs. The offline judge has no tokens, and
// costs nothing.
func tracker(offline bool) func(context.Context) (context.Context, func() run.Usage) {
	return func(ctx context.Context) (context.Context, func() run.Usage) {
		var t llm.Tally
		return llm.WithTally(ctx, &t), func() run.Usage {
			return usageOf(t.Counts(), offline)
		}
	}
}

// usageOf puts counts into a run's form.
func usageOf(c llm.Counts, offline bool) run.Usage {
	if offline {
		return run.Usage{Calls: int(c.Paid), CacheHits: int(c.Hits + c.Shared), Attempts: int(c.Attempts)}
	}
	return run.Usage{
		Calls: int(c.Paid), CacheHits: int(c.Hits + c.Shared), Attempts: int(c.Attempts),
		PromptTokens: c.Usage.PromptTokens, CompletionTokens: c.Usage.CompletionTokens,
		CachedTokens: c.Usage.CachedTokens, ReasoningTokens: c.Usage.ReasoningTokens,
		UnknownUsage: int(c.UnknownUsage + c.Unclear), CostUSD: c.CostUSD, UnpricedCalls: int(c.UnknownPrice),
		CacheWriteTokens: c.Usage.CacheWriteTokens, SavedUSD: c.SavedUSD,
	}
}

// usage puts a run's usage into the summary's form: a cost that is not wholly
// known is not told as a number. The models without a price are named.
func usage(u run.Usage, unpriced []string) report.Usage {
	out := report.Usage{Calls: int64(u.Calls), CacheHits: int64(u.CacheHits), Tokens: report.Tokens{
		Prompt: int64(u.PromptTokens), Completion: int64(u.CompletionTokens), Cached: int64(u.CachedTokens),
		Reasoning: int64(u.ReasoningTokens), Unknown: int64(u.UnknownUsage), CacheWrite: int64(u.CacheWriteTokens)}}
	if u.SavedUSD > 0 {
		out.SavedUSD = &u.SavedUSD
	}
	switch {
	case u.UnpricedCalls > 0:
		out.CostReason = fmt.Sprintf("no price is known for %s (%d calls); set judge.price_input and judge.price_output", strings.Join(unpriced, ", "), u.UnpricedCalls)
	case u.UnknownUsage > 0:
		out.CostReason = fmt.Sprintf("the server did not tell the tokens of %d attempts; the rest cost $%.4f", u.UnknownUsage, u.CostUSD)
	default:
		out.CostUSD = &u.CostUSD
	}
	return out
}
