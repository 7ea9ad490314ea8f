package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
	client   llm.Client
	endpoint string
	meter    *llm.Meter
	limiter  *llm.Limiter
	backend  *llm.OpenAI // nil for the offline judge
	budget   *llm.Budget // nil without a bound
	disk     *cache.Disk // nil without a cache
}

// newChain assembles the client chain. Its order, outermost first:
//
//	meter    sees every call, and whether it was a hit
//	cached   a hit takes no token count, no slot, no money; twins in flight are one
//	counted  tokens for the limits and the budget, where one of them needs them
//	outage   an endpoint that fails every call ends the run
//	retry    a waiting retry holds neither slot nor reservation
//	budget   each attempt is reserved by itself, so that retries can't overshoot
//	limit    slots, requests and tokens a minute, taken last and held shortest
//	meter    every attempt that was sent and may be paid
//	backend
func (a *app) newChain(cfg *config.Config, book *cost.Book, spent run.Charged, since time.Time, log *slog.Logger) (*chain, error) {
	c := &chain{meter: llm.NewMeter(book.Cost), endpoint: lexicalEndpoint}
	stop := llm.NewStop()
	c.limiter = llm.NewLimiter(llm.LimitConfig{
		Concurrency: cfg.Limits.Concurrency, RequestsPerMinute: cfg.Limits.RequestsPerMinute,
		TokensPerMinute: cfg.Limits.TokensPerMinute, Stop: stop, Log: log})
	var backend llm.Client = judge.Lexical{}
	if cfg.Judge.Provider != config.Lexical {
		key, err := a.judgeKey(cfg, log)
		if err != nil {
			return nil, err
		}
		b, err := newBackend(cfg, key, log, c.limiter.Observe)
		if err != nil {
			return nil, err
		}
		backend, c.backend, c.endpoint = b, b, b.Endpoint()
	}
	next := c.limiter.Wrap(c.meter.Attempts(backend))
	most := llm.Spend{CostUSD: cfg.Limits.MaxCost, Calls: int64(cfg.Limits.MaxCalls)}
	if most != (llm.Spend{}) {
		b, err := llm.NewBudget(llm.BudgetConfig{
			Max: most, Price: book.Cost, Models: []string{judgeModel(cfg)}, Log: log,
			Spent: llm.Spend(spent),
		}, next)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: err, hint: "give judge.price_input and judge.price_output in US dollars per million tokens, or leave --max-cost out"}
		}
		next, c.budget = b, b
	}
	next = llm.NewRetry(llm.RetryConfig{MaxAttempts: cfg.Limits.MaxAttempts, MaxWait: cfg.Limits.MaxWait, Stop: stop, Log: log}, next)
	next = &llm.Outage{Limit: max(llm.DefaultOutage, cfg.Limits.Concurrency), Stop: stop, Next: next}
	if most.CostUSD > 0 || cfg.Limits.TokensPerMinute > 0 {
		next = counted(next)
	}
	cached := &llm.Cached{Mode: llm.CacheMode(cfg.Cache.Mode), Since: since, Next: next, Warn: warnStore(log)}
	disk, err := a.openCache(cfg, log)
	if err != nil {
		return nil, err
	}
	if disk != nil {
		c.disk, cached.Store = disk, disk
	}
	c.client = c.meter.Calls(cached)
	return c, nil
}

// newDryChain is a chain that makes no call: what would be called goes to plan.
// It answers from the real cache and from a prediction.
func (a *app) newDryChain(cfg *config.Config, plan func(llm.Planned), log *slog.Logger) (*chain, error) {
	endpoint, err := endpointOf(cfg, log)
	if err != nil {
		return nil, err
	}
	c := &chain{endpoint: endpoint}
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

// endpointOf names the endpoint of a configuration, without calling it.
func endpointOf(cfg *config.Config, log *slog.Logger) (string, error) {
	if cfg.Judge.Provider == config.Lexical {
		return lexicalEndpoint, nil
	}
	b, err := newBackend(cfg, "", log, nil) // it is never called, and needs no key
	if err != nil {
		return "", err
	}
	return b.Endpoint(), nil
}

func (c *chain) close() error {
	if c.disk == nil {
		return nil
	}
	return c.disk.Close()
}

func warnStore(log *slog.Logger) func(error) {
	return func(err error) {
		log.Warn("the cache can't be used as it should; replies are scored but may be paid again", "error", err)
	}
}

// counted fills in the number of input tokens.
func counted(next llm.Client) llm.Client {
	var counter cost.Counter
	return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		r := *req
		r.PromptTokens = counter.CountRequest(req).Total
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
func (a *app) judgeKey(cfg *config.Config, log *slog.Logger) (string, error) {
	key, warnings, err := cfg.Judge.Key(a.getenv)
	if err != nil {
		return "", &exitError{code: exitJudge, err: err}
	}
	for _, w := range warnings {
		log.Warn(w)
	}
	return key.Reveal(), nil
}

// newBackend makes the client of the wire.
func newBackend(cfg *config.Config, key string, log *slog.Logger, observe func(llm.RateInfo)) (*llm.OpenAI, error) {
	b, err := llm.NewOpenAI(llm.OpenAIConfig{
		Provider: cfg.Judge.Provider, BaseURL: cfg.Judge.BaseURL, APIKey: key,
		Organization: cfg.Judge.Organization, Project: cfg.Judge.Project, APIVersion: cfg.Judge.APIVersion,
		Headers: cfg.Judge.Headers, Timeout: cfg.Judge.Timeout, Concurrency: cfg.Limits.Concurrency,
		Structured: cfg.Judge.Structured, OnHeaders: observe, Logger: log,
	})
	if err != nil {
		return nil, usageError(err)
	}
	return b, nil
}

// judgeModel is the model that requests name.
func judgeModel(cfg *config.Config) string {
	if cfg.Judge.Provider == config.Lexical {
		return judge.LexicalModel
	}
	return cfg.Judge.Model
}

func temperature(cfg *config.Config) *float64 {
	if cfg.Judge.OmitTemperature {
		return nil
	}
	return &cfg.Judge.Temperature
}

// newJudge puts the judge in front of a chain.
func (s *session) newJudge(c *chain) *judge.Judge {
	return judge.New(judge.Config{
		Client: c.client, Prompts: s.prompts, Endpoint: c.endpoint, Model: judgeModel(s.cfg),
		Temperature: temperature(s.cfg), MaxTokens: s.cfg.Judge.MaxTokens, Seed: s.cfg.Judge.Seed,
	})
}

// newBook is where prices are looked up: the configuration's first, then the
// embedded table.
func newBook(cfg *config.Config, log *slog.Logger) (*cost.Book, error) {
	table, err := priceTable(cfg)
	if err != nil {
		return nil, err
	}
	if w := table.AgeWarning(time.Now()); w != "" && cfg.Judge.Provider != config.Lexical {
		log.Warn(w)
	}
	book := &cost.Book{Table: table, Hints: []string{cost.ProviderOf(cfg.Judge.BaseURL)}}
	j := cfg.Judge
	if j.Provider == config.Lexical {
		free := 0.0
		return book, book.Override(judge.LexicalModel, cost.Override{Input: &free, Output: &free})
	}
	if j.PriceInput == nil && j.PriceOutput == nil && j.PriceCached == nil {
		return book, nil
	}
	o := cost.Override{Input: j.PriceInput, Output: j.PriceOutput, Cached: j.PriceCached}
	if err := book.Override(j.Model, o); err != nil {
		return nil, usageError(fmt.Errorf("%s: %w", cfg.Place("judge.price_input"), err))
	}
	for _, w := range o.Warnings(j.Model) {
		log.Warn(w)
	}
	return book, nil
}
