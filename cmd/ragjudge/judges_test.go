package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/run"
)

// TestServedBy: what is flagged is another model, or another fingerprint under
// one model; two models with a fingerprint each are one change, not two.
func TestServedBy(t *testing.T) {
	for name, c := range map[string]struct {
		list  []run.Served
		flags string
	}{
		"nothing":          {nil, ""},
		"one":              {[]run.Served{{Model: "m-1", Fingerprint: "x"}}, ""},
		"not always told":  {[]run.Served{{Model: "m-1"}, {Model: "m-1", Fingerprint: "x"}}, ""},
		"two models":       {[]run.Served{{Model: "m-1", Fingerprint: "x"}, {Model: "m-2", Fingerprint: "y"}}, "mixed_served_models"},
		"two fingerprints": {[]run.Served{{Model: "m-1", Fingerprint: "x"}, {Model: "m-1", Fingerprint: "y"}}, "mixed_fingerprints"},
		"both":             {[]run.Served{{Model: "m-1", Fingerprint: "x"}, {Model: "m-1", Fingerprint: "y"}, {Model: "m-2"}}, "mixed_served_models mixed_fingerprints"},
	} {
		if _, _, flags := servedBy(c.list); strings.Join(flags, " ") != c.flags {
			t.Errorf("%s: flags %q, want %q", name, flags, c.flags)
		}
	}
}

// TestRouterKnowsItsJudges: a request for nobody is a fault, and goes nowhere.
func TestRouterKnowsItsJudges(t *testing.T) {
	r := router{connKey{"e", "m"}: llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) { return &llm.Response{Content: "ok"}, nil })}
	if _, err := r.Complete(t.Context(), &llm.Request{Endpoint: "e", Model: "other"}); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("error %v", err)
	}
	if resp, err := r.Complete(t.Context(), &llm.Request{Endpoint: "e", Model: "m"}); err != nil || resp.Content != "ok" {
		t.Errorf("%v, %v", resp, err)
	}
}

// TestPricesOfJudges: each judge has its own price; a name that a server gives
// has one only if all who know it agree; and one name can't have two.
func TestPricesOfJudges(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	one, two := 1.0, 2.0
	cfg := config.Default()
	cfg.Judges = []config.Judge{
		{Name: "a", Provider: config.OpenAI, Model: "x", PriceInput: &one, PriceOutput: &one},
		{Name: "b", Provider: config.OpenAI, Model: "y", BaseURL: "http://localhost/v1", PriceInput: &two, PriceOutput: &two},
		{Name: "c", Provider: config.OpenAI, Model: "z", BaseURL: "http://localhost/v1"},
		{Name: "d", Provider: config.Lexical},
	}
	p, err := newPrices(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	million := llm.Usage{PromptTokens: 1e6}
	for model, want := range map[string]float64{"x": 1, "Y": 2, "z": -1, "lexical-1": 0, "nobody's": -1} {
		usd, known := p.Cost(model, million)
		if known != (want >= 0) || known && usd != want {
			t.Errorf("%s costs %v (%t), want %v", model, usd, known, want)
		}
	}
	if got := p.unpriced(); !slices.Equal(got, []string{"z"}) {
		t.Errorf("without a price: %q", got)
	}
	cfg.Judges[1].Model = "x"
	if _, err := newPrices(cfg, log); err == nil || !strings.Contains(err.Error(), "judges a and b ask a model of one name, x, at two prices") {
		t.Errorf("error %v", err)
	}
}
