package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"time"

	"github.com/ragjudge/ragjudge/cache"
	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/run"
)

// lexicalEndpoint is the offline judge's place in requests and manifests.
const lexicalEndpoint = "lexical"

// chain is the client that every judge call goes through, with handles on
// those of its parts that are asked later.
type chain struct {
	client llm.Client
	meter  *llm.Meter
	conns  []*conn
	budget *llm.Budget // nil without a bound
	day    *dayBook    // nil where nothing is paid, or without a ledger
	spent  llm.Spend   // by earlier executions
	disk   *cache.Disk // nil without a cache
}

// chainOptions are what a run knows when it makes its chain.
type chainOptions struct {
	spent   run.Charged // by earlier executions
	since   time.Time   // of which replies count under cache mode refresh
	measure *measurer   // what is asked is measured; nil for not
	anew    bool        // make the preflight though it has passed lately
	dir     string      // of the run, for what is noted of batches
}

// newChain assembles the client chain. Its order, outermost first:
//
//	meter    sees every call, and whether it was a hit
//	cached   a hit takes no token count, no slot, no money; twins in flight are one
//	preflight  one call of its own before the first that is no hit
//	counted  tokens for the limits and the budget, where one of them needs them
//	whole    a reply to a prompt that the server has cut is none, and is not kept
//	outage   an endpoint that fails every call ends the run
//	retry    a waiting retry holds neither slot nor reservation
//	budget   each attempt is reserved by itself, so that retries can't overshoot
//	limit    slots, requests and tokens a minute, taken last and held shortest
//	meter    every attempt that was sent and may be paid
//	backend
//
// Each model at each endpoint has its own outage, retry, limit and backend; the
// rest is shared. A router stands above outage, and one above limit.
func (a *app) newChain(cfg *config.Config, price *prices, opt chainOptions, log *slog.Logger) (c *chain, err error) {
	disk, err := a.openCache(cfg, log)
	if err != nil {
		return nil, err
	}
	c = &chain{meter: llm.NewMeter(price.Cost), disk: disk}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	known := &learnt{disk: disk, log: log, now: time.Now, anew: opt.anew}
	if c.conns, err = a.connect(cfg, known, log); err != nil {
		return c, err
	}
	conns := c.conns
	limited, models := router{}, []string{}
	for _, conn := range conns {
		limited[conn.connKey] = conn.limiter.Wrap(c.meter.Attempts(opt.measure.attempts(conn.client)))
		if cfg.Run.Backend == config.InBatches && conn.backend != nil && !conn.embeds {
			if err := conn.inBatches(cfg, opt.dir, log); err != nil {
				return c, err
			}
			limited[conn.connKey] = vectorsLive(limited[conn.connKey], c.meter.Attempts(opt.measure.attempts(conn.batch)))
		}
		models = append(models, conn.model)
	}
	var below llm.Client = limited
	most := llm.Spend{CostUSD: cfg.Limits.MaxCost, Calls: int64(cfg.Limits.MaxCalls), Tokens: int64(cfg.Limits.MaxTokens)}
	c.spent = llm.Spend(opt.spent)
	if !offline(cfg) {
		if c.day, err = a.openDayBook(cfg, opt.dir, log); err != nil {
			return c, err
		}
	}
	if l := cfg.Limits; most != (llm.Spend{}) || l.MaxCostPerSample+l.MaxCostPerDay > 0 {
		bounds := llm.BudgetConfig{Max: most, MaxPerSample: l.MaxCostPerSample, Price: price.Cost, Models: models, Log: log, Spent: c.spent}
		if c.day != nil && l.MaxCostPerDay > 0 {
			bounds.Lease = c.day.lease
		}
		b, err := llm.NewBudget(bounds, below)
		if err != nil {
			return c, &exitError{code: exitUsage, err: err, hint: "give judge.price_input and judge.price_output, or those of the judge in [[judges]], or embeddings.price_input, in US dollars per million tokens, or leave --max-cost out"}
		}
		below, c.budget = b, b
	}
	tried := router{}
	bound := &llm.RetryBound{Ratio: cfg.Limits.MaxAttemptRatio}
	for _, conn := range conns {
		if conn.backend == nil && len(conns) > 1 {
			// Beside judges that are paid, the offline one is none: it has no tokens,
			// no price and no limit.
			tried[conn.connKey] = conn.client
			continue
		}
		retry := llm.NewRetry(llm.RetryConfig{Bound: bound, MaxAttempts: cfg.Limits.MaxAttempts, MaxWait: cfg.Limits.MaxWait, Stop: conn.stop, Log: log}, below)
		tried[conn.connKey] = &llm.Outage{Limit: max(llm.DefaultOutage, cfg.Limits.Concurrency), Stop: conn.stop, Next: retry}
	}
	var counter cost.Counter
	var next llm.Client = &llm.WholePrompt{Next: tried, Log: log, Count: func(req *llm.Request) int { return counter.CountRequest(req).Total }}
	if l := cfg.Limits; most.CostUSD > 0 || most.Tokens > 0 || l.TokensPerMinute > 0 || l.MaxCostPerSample+l.MaxCostPerDay > 0 {
		next = counted(next, &counter, known, conns)
	}
	if cfg.Run.Preflight {
		next = newPreflight(known, log, next)
	}
	cached := &llm.Cached{Mode: llm.CacheMode(cfg.Cache.Mode), Since: opt.since, Next: next, Warn: warnStore(log)}
	if disk != nil {
		cached.Store = disk
	}
	c.client = opt.measure.calls(c.meter.Calls(cached))
	return c, nil
}

// newDryChain is a chain that makes no call: what would be called goes to plan.
// It answers from the real cache and from a prediction.
func (a *app) newDryChain(cfg *config.Config, plan func(llm.Planned), log *slog.Logger) (*chain, error) {
	c := &chain{}
	dry := &llm.DryRun{Predict: judge.Lexical{}, Plan: plan}
	cached := &llm.Cached{Mode: llm.CacheMode(cfg.Cache.Mode), Since: time.Now(), Next: dry, DryRun: true, OnHit: dry.Hit, Warn: warnStore(log)}
	if cfg.Cache.Mode != string(llm.CacheOff) {
		dir, _ := a.cacheDir(cfg)
		disk, err := cache.Open(filepath.Join(dir, cache.FileName), cache.Options{ReadOnly: true, Warn: func(msg string) { log.Warn(msg) }})
		switch {
		case errors.Is(err, fs.ErrNotExist): // nothing is cached yet
		case err != nil:
			return nil, usageError(err)
		default:
			c.disk, cached.Store = disk, disk
		}
	}
	c.client = cached
	return c, nil
}

// close ends what the chain has open. Batches first: what they gave is in the
// cache by then.
func (c *chain) close() error {
	var errs []error
	if c.day != nil {
		errs = append(errs, c.day.settle(c.paidHere()))
	}
	for _, conn := range c.conns {
		if conn.batch != nil {
			errs = append(errs, conn.batch.Close())
		}
	}
	if c.disk != nil {
		errs = append(errs, c.disk.Close())
	}
	return errors.Join(errs...)
}

// paidHere is what this process has spent, in US dollars: by the budget, which
// reckons with the worst where nothing was told, or else as far as it is known.
func (c *chain) paidHere() float64 {
	if c.budget != nil {
		return max(c.budget.Spent().CostUSD-c.spent.CostUSD, 0)
	}
	return c.meter.Snapshot().Total.CostUSD
}

func warnStore(log *slog.Logger) func(error) {
	return func(err error) {
		log.Warn("the cache can't be used as it should; replies are scored but may be paid again", "error", err)
	}
}

// counted fills in the number of input tokens: as the server of the model told it
// of earlier calls, and the most that it can be for the budget.
func counted(next llm.Client, counter *cost.Counter, known *learnt, conns []*conn) llm.Client {
	ratios := map[connKey]float64{}
	for _, c := range conns {
		if r, ok := known.vocabulary(c.connKey).Ratio(); ok {
			ratios[c.connKey] = r
		}
	}
	return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		r := *req
		n := counter.CountRequest(req)
		r.PromptTokens, r.MostPromptTokens = n.Total, n.Total
		if ratio := ratios[connKey{req.Endpoint, req.Model}]; ratio > 0 {
			r.PromptTokens = max(int(math.Round(float64(n.Total)*ratio)), 1)
		}
		if !n.Own { // a vocabulary that is not known makes no more tokens than bytes
			r.MostPromptTokens = 0
			for _, m := range req.Messages {
				r.MostPromptTokens += len(m.Content)
			}
			for _, text := range req.Embed {
				r.MostPromptTokens += len(text)
			}
		}
		return next.Complete(ctx, &r)
	})
}

// cacheDir is the folder of the cache, and where the choice came from.
func (a *app) cacheDir(cfg *config.Config) (dir, from string) {
	if cfg.Cache.Path != "" {
		return cfg.Cache.Path, cfg.Place("cache.path")
	}
	return cache.DefaultDir(a.getenv)
}

func (a *app) openCache(cfg *config.Config, log *slog.Logger) (*cache.Disk, error) {
	if cfg.Cache.Mode == string(llm.CacheOff) {
		return nil, nil
	}
	dir, from := a.cacheDir(cfg)
	d, err := cache.Open(filepath.Join(dir, cache.FileName), cache.Options{
		ReadOnly: cfg.Cache.Mode == string(llm.CacheReadOnly), Warn: func(msg string) { log.Warn(msg) }})
	if err != nil {
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("open the cache (%s): %w", from, err),
			hint: "name a folder that can be written with --cache-dir, or run without a cache with --no-cache"}
	}
	log.Debug("cache", "path", d.Path(), "from", from)
	return d, nil
}

// judgeKey reads the key of the endpoint.
func (a *app) judgeKey(j *config.Judge, log *slog.Logger) (string, error) {
	key, warnings, err := j.Key(a.getenv)
	if err != nil {
		return "", &exitError{code: exitJudge, err: err}
	}
	for _, w := range warnings {
		log.Warn(w)
	}
	if j.Insecure {
		log.Warn("judge.insecure accepts any certificate: whoever stands between can read the key and write the replies", "model", judgeModel(j))
	}
	return key.Reveal(), nil
}

// newBackend makes the client of the wire.
func newBackend(cfg *config.Config, j *config.Judge, key string, known *learnt, log *slog.Logger, observe func(llm.RateInfo)) (*llm.OpenAI, error) {
	forms, onLearn, err := known.forms(j)
	if err != nil {
		return nil, usageError(err)
	}
	b, err := llm.NewOpenAI(llm.OpenAIConfig{
		Known: forms, OnLearn: onLearn,
		Provider: j.Provider, BaseURL: j.BaseURL, APIKey: key,
		Organization: j.Organization, Project: j.Project, APIVersion: j.APIVersion,
		Headers: j.Headers, ExtraBody: j.ExtraBody, CAFile: j.CAFile, Insecure: j.Insecure,
		Timeout: j.Timeout, Concurrency: cfg.Limits.Concurrency,
		Structured: j.Structured, OnHeaders: observe, Logger: log,
	})
	if err != nil {
		return nil, usageError(err)
	}
	return b, nil
}

// newBook is where the prices of one judge are looked up.
func newBook(cfg *config.Config, i int, table *cost.Table, log *slog.Logger) (*cost.Book, error) {
	j := cfg.AllJudges()[i]
	if w := table.AgeWarning(time.Now()); w != "" && i == 0 && !offline(cfg) {
		log.Warn(w)
	}
	book := &cost.Book{Table: table, Hints: []string{cost.ProviderOf(j.BaseURL)}}
	if j.Provider == config.Lexical {
		free := 0.0
		return book, book.Override(judge.LexicalModel, cost.Override{Input: &free, Output: &free})
	}
	o := cost.Override{Input: j.PriceInput, Output: j.PriceOutput, Cached: j.PriceCached,
		CacheWrite: j.PriceCacheWrite, BatchInput: j.PriceBatchInput, BatchOutput: j.PriceBatchOutput}
	if o == (cost.Override{}) {
		return book, nil
	}
	if err := book.Override(j.Model, o); err != nil {
		return nil, usageError(fmt.Errorf("%s: %w", cfg.Place(cfg.JudgeKey(i, "price_input")), err))
	}
	for _, w := range o.Warnings(j.Model) {
		log.Warn(w)
	}
	return book, nil
}
