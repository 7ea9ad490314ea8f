package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/run"
)

// embeddingsName attributes calls for embeddings: they are no judge's.
const embeddingsName = "embeddings"

// embedderOf is who gives vectors; nil where no metric of the run asks for any.
func embedderOf(cfg *config.Config) *config.Judge {
	if !cfg.Embeddings.Needed {
		return nil
	}
	return cfg.Embedder()
}

// embedderAt is the place in requests of who gives vectors.
func embedderAt(j *config.Judge) (connKey, error) {
	if j.Provider == config.Lexical {
		return connKey{lexicalEndpoint, judge.LexicalModel}, nil
	}
	endpoint, err := llm.EndpointOf(j.Provider, j.BaseURL, j.APIVersion)
	if err != nil {
		return connKey{}, usageError(fmt.Errorf("[embeddings]: %w", err))
	}
	return connKey{endpoint, j.Model}, nil
}

// embedder puts who gives vectors in front of a chain; nil where nobody is asked
// for any.
func (s *session) embedder(client llm.Client) (*judge.Embedder, error) {
	j := embedderOf(s.cfg)
	if j == nil {
		return nil, nil
	}
	at, err := embedderAt(j)
	if err != nil {
		return nil, err
	}
	return &judge.Embedder{Client: client, Endpoint: at.endpoint, Model: at.model, Name: embeddingsName}, nil
}

// embedderItems are the parts of a run's identity that the vectors make.
func (s *session) embedderItems() ([]run.Item, error) {
	j := embedderOf(s.cfg)
	if j == nil {
		return nil, nil
	}
	at, err := embedderAt(j)
	return []run.Item{{Name: "embeddings.endpoint", Value: at.endpoint}, {Name: "embeddings.model", Value: at.model}}, err
}

// vectorsLive asks for vectors live where a batch answers the chats of the same
// model.
func vectorsLive(live, batch llm.Client) llm.Client {
	return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
		if len(req.Embed) > 0 {
			return live.Complete(ctx, req)
		}
		return batch.Complete(ctx, req)
	})
}

// connectEmbedder adds the way to who gives vectors. It makes no call.
func (a *app) connectEmbedder(cfg *config.Config, conns []*conn, log *slog.Logger) ([]*conn, error) {
	j := embedderOf(cfg)
	if j == nil {
		return conns, nil
	}
	at, err := embedderAt(j)
	if err != nil || slices.ContainsFunc(conns, func(o *conn) bool { return o.connKey == at }) {
		return conns, err
	}
	c := &conn{connKey: at, client: judge.Lexical{}, stop: llm.NewStop(), embeds: true}
	c.limiter = llm.NewLimiter(llm.LimitConfig{
		Concurrency: cfg.Limits.Concurrency, RequestsPerMinute: cfg.Limits.RequestsPerMinute,
		TokensPerMinute: cfg.Limits.TokensPerMinute, MaxWait: cfg.Limits.MaxWait, Stop: c.stop, Log: log})
	if j.Provider != config.Lexical {
		key, err := a.judgeKey(j, log)
		if err != nil {
			return nil, err
		}
		b, err := newBackend(cfg, j, key, &learnt{}, log, c.limiter.Observe)
		if err != nil {
			return nil, err
		}
		c.client, c.backend = b, b
	}
	return append(conns, c), nil
}

// addEmbedder adds the price of vectors to those of the judges.
func (p *prices) addEmbedder(cfg *config.Config) error {
	j := embedderOf(cfg)
	if j == nil || j.Provider == config.Lexical || slices.ContainsFunc(p.models, func(m string) bool { return strings.EqualFold(m, j.Model) }) {
		return nil
	}
	book := &cost.Book{Table: p.table, Hints: []string{cost.ProviderOf(j.BaseURL)}}
	if j.PriceInput != nil {
		if err := book.Override(j.Model, cost.Override{Input: j.PriceInput, Output: j.PriceOutput}); err != nil {
			return usageError(fmt.Errorf("%s: %w", cfg.Place("embeddings.price_input"), err))
		}
	}
	p.models, p.books = append(p.models, j.Model), append(p.books, book)
	return nil
}
