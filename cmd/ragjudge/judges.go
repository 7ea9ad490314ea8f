package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/run"
)

// connKey names what calls share a limiter, retries and a backend: one model at
// one endpoint. The configuration sees to it that there is one key for each.
type connKey struct{ endpoint, model string }

// conn is the way to one model at one endpoint.
type conn struct {
	connKey
	client  llm.Client
	backend *llm.OpenAI // nil for the offline judge
	batch   *llm.Batch  // nil where calls are live
	embeds  bool        // it gives vectors, and no chat
	limiter *llm.Limiter
	stop    *llm.Stop
}

// router passes each request on to the chain of its model.
type router map[connKey]llm.Client

// Complete passes the request on.
func (r router) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	next := r[connKey{req.Endpoint, req.Model}]
	if next == nil {
		return nil, fmt.Errorf("call %s at %s: no judge of the configuration is asked there", req.Model, req.Endpoint)
	}
	return next.Complete(ctx, req)
}

// connect makes a conn for each model at each endpoint. It makes no call.
func (a *app) connect(cfg *config.Config, known *learnt, log *slog.Logger) ([]*conn, error) {
	var conns []*conn
	for i, j := range cfg.AllJudges() {
		c := &conn{connKey: connKey{lexicalEndpoint, judgeModel(j)}, client: judge.Lexical{}, stop: llm.NewStop()}
		c.limiter = llm.NewLimiter(llm.LimitConfig{
			Concurrency: cfg.Limits.Concurrency, RequestsPerMinute: cfg.Limits.RequestsPerMinute,
			TokensPerMinute: cfg.Limits.TokensPerMinute, MaxWait: cfg.Limits.MaxWait, Stop: c.stop, Log: log})
		if j.Provider != config.Lexical {
			key, err := a.judgeKey(j, log)
			if err != nil {
				return nil, ofJudge(cfg, i, err)
			}
			b, err := newBackend(cfg, j, key, known, log, c.limiter.Observe)
			if err != nil {
				return nil, ofJudge(cfg, i, err)
			}
			c.client, c.backend, c.endpoint = b, b, b.Endpoint()
		}
		if !slices.ContainsFunc(conns, func(o *conn) bool { return o.connKey == c.connKey }) {
			conns = append(conns, c)
		}
	}
	return a.connectEmbedder(cfg, conns, log)
}

// ofJudge says whose error it is, where there are several judges.
func ofJudge(cfg *config.Config, i int, err error) error {
	if len(cfg.Judges) == 0 || err == nil {
		return err
	}
	e := &exitError{code: exitUsage}
	if coded, ok := err.(*exitError); ok {
		*e = *coded
		err = coded.err
	}
	e.err = fmt.Errorf("judge %s: %w", judgeLabel(cfg.AllJudges()[i]), err)
	return e
}

// offline reports that every judge is the lexical one.
func offline(cfg *config.Config) bool {
	return !slices.ContainsFunc(cfg.AllJudges(), func(j *config.Judge) bool { return j.Provider != config.Lexical })
}

// seats is the number of seats that are asked for each verdict.
func seats(cfg *config.Config) int { return len(cfg.AllJudges()) * cfg.Panel.Trials }

// judgeLabel is the name of a judge in results and reports.
func judgeLabel(j *config.Judge) string { return cmp.Or(j.Name, judgeModel(j)) }

// judgeModel is the model that requests name.
func judgeModel(j *config.Judge) string {
	if j.Provider == config.Lexical {
		return judge.LexicalModel
	}
	return j.Model
}

func temperature(j *config.Judge) *float64 {
	if j.OmitTemperature {
		return nil
	}
	return &j.Temperature
}

// wireOf tells what stands in the requests to a judge, without a call.
func wireOf(cfg *config.Config, j *config.Judge) (endpoint string, extra json.RawMessage, err error) {
	if j.Provider == config.Lexical {
		return lexicalEndpoint, nil, nil
	}
	b, err := newBackend(cfg, j, "", &learnt{}, slog.New(slog.DiscardHandler), nil) // it is never called, and needs no key
	if err != nil {
		return "", nil, err
	}
	return b.Endpoint(), b.Extra(), nil
}

// panel puts the judges of the configuration in front of a chain. A judge that
// is alone and asked once has no name in its calls.
func (s *session) panel(client llm.Client) (metrics.Panel, error) {
	p := metrics.Panel{Vote: metrics.Vote(s.cfg.Panel.Vote), MaxDisagreement: s.cfg.Panel.MaxDisagreement}
	table, err := priceTable(s.cfg)
	if err != nil {
		return p, err
	}
	for i, j := range s.cfg.AllJudges() {
		endpoint, extra, err := wireOf(s.cfg, j)
		if err != nil {
			return p, ofJudge(s.cfg, i, err)
		}
		for trial := range s.cfg.Panel.Trials {
			c := judge.Config{
				Client: client, Prompts: s.prompts, Endpoint: endpoint, Model: judgeModel(j), Extra: extra,
				Temperature: temperature(j), MaxTokens: j.MaxTokens, Seed: j.Seed, Trial: trial,
				MaxItems: s.cfg.Prompts.MaxItems, MaxInput: maxInput(j, table), CountTokens: tokensOf,
			}
			if seats(s.cfg) > 1 {
				c.Name = judgeLabel(j)
			}
			p.Seats = append(p.Seats, metrics.Seat{Name: judgeLabel(j), Trial: trial, Judge: judge.New(c)})
		}
	}
	embedder, err := s.embedder(client)
	if embedder != nil {
		p.Embedder = embedder
	}
	return p, err
}

// maxInput is the longest prompt that a judge takes: the configured length, or
// what the price table says of the model. 0 if that isn't known.
func maxInput(j *config.Judge, table *cost.Table) int {
	if j.MaxInputTokens > 0 || j.Provider == config.Lexical {
		return j.MaxInputTokens
	}
	p, _ := table.Lookup(j.Model, cost.ProviderOf(j.BaseURL))
	return p.MaxInput
}

// tokensOf counts the input tokens of a request.
func tokensOf(req *llm.Request) int {
	var counter cost.Counter
	return counter.CountRequest(req).Total
}

// judgeItems are the parts of a run's identity that the judges make.
func (s *session) judgeItems() ([]run.Item, error) {
	c := s.cfg
	var items []run.Item
	names := make([]string, 0, len(c.Judges))
	for i, j := range c.AllJudges() {
		endpoint, extra, err := wireOf(c, j)
		if err != nil {
			return nil, ofJudge(c, i, err)
		}
		prefix := "judge."
		if len(c.Judges) > 0 {
			prefix = "judges." + j.Name + "."
			names = append(names, j.Name)
		}
		items = append(items,
			run.Item{Name: prefix + "endpoint", Value: endpoint},
			run.Item{Name: prefix + "model", Value: judgeModel(j)},
			run.Item{Name: prefix + "temperature", Value: show(temperature(j))},
			run.Item{Name: prefix + "max_tokens", Value: fmt.Sprint(j.MaxTokens)},
			run.Item{Name: prefix + "seed", Value: show(j.Seed)},
		)
		if j.MaxInputTokens > 0 {
			items = append(items, run.Item{Name: prefix + "max_input_tokens", Value: fmt.Sprint(j.MaxInputTokens)})
		}
		if len(extra) > 0 {
			items = append(items, run.Item{Name: prefix + "extra_body", Value: string(extra)})
		}
	}
	more, err := s.embedderItems()
	if err != nil {
		return nil, err
	}
	items = append(items, more...)
	if n := c.Prompts.MaxItems; n > 0 {
		items = append(items, run.Item{Name: "prompts.max_items", Value: fmt.Sprint(n)})
	}
	if len(names) > 0 { // the first one splits texts into claims
		items = append(items, run.Item{Name: "judges", Value: strings.Join(names, ", ")})
	}
	if seats(c) > 1 {
		items = append(items,
			run.Item{Name: "judge.vote", Value: c.Panel.Vote},
			run.Item{Name: "judge.trials", Value: fmt.Sprint(c.Panel.Trials)},
			run.Item{Name: "judge.max_disagreement", Value: fmt.Sprint(c.Panel.MaxDisagreement)})
	}
	return items, nil
}

// prices are those of all judges.
type prices struct {
	table  *cost.Table
	models []string     // of the judges, as requests name them
	books  []*cost.Book // one a judge
}

// newPrices is where prices are looked up: the configuration's first, then the
// price table. Usage is told by the model's name, so that two judges can't have
// one name at two prices.
func newPrices(cfg *config.Config, log *slog.Logger) (*prices, error) {
	table, err := priceTable(cfg)
	if err != nil {
		return nil, err
	}
	p := &prices{table: table}
	for i, j := range cfg.AllJudges() {
		book, err := newBook(cfg, i, table, log)
		if err != nil {
			return nil, err
		}
		model := judgeModel(j)
		for k, other := range p.models {
			if strings.EqualFold(other, model) && !samePrice(p.books[k], book, model) {
				return nil, usageError(fmt.Errorf("%s: the judges %s and %s ask a model of one name, %s, at two prices; give both the same price_input and price_output",
					cfg.Place(cfg.JudgeKey(i, "model")), judgeLabel(cfg.AllJudges()[k]), judgeLabel(j), model))
			}
		}
		p.models, p.books = append(p.models, model), append(p.books, book)
	}
	return p, p.addEmbedder(cfg)
}

func samePrice(a, b *cost.Book, model string) bool {
	p, known := a.Lookup(model)
	q, also := b.Lookup(model)
	return known == also && p.Rates == q.Rates && p.CachedFree == q.CachedFree && reflect.DeepEqual(p.Tiers, q.Tiers) && reflect.DeepEqual(p.Batch, q.Batch)
}

// Cost prices the usage of one call; it is an llm.PriceFunc. A name that no
// judge asks for, as a server may give it, has a price where all who know one
// say the same.
func (p *prices) Cost(model string, u llm.Usage) (usd float64, known bool) {
	for i, m := range p.models {
		if strings.EqualFold(m, model) {
			return p.books[i].Cost(model, u)
		}
	}
	for _, b := range p.books {
		v, ok := b.Cost(model, u)
		if ok && known && v != usd {
			return 0, false
		}
		if ok {
			usd, known = v, true
		}
	}
	return usd, known
}

// unpriced names the models without a price.
func (p *prices) unpriced() []string {
	var names []string
	for i, m := range p.models {
		if _, ok := p.books[i].Lookup(m); !ok && !slices.Contains(names, m) {
			names = append(names, m)
		}
	}
	return names
}
