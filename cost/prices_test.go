package cost_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/llm"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12+1e-9*math.Abs(b) }

func mustLookup(t *testing.T, model string, hints ...string) cost.Price {
	t.Helper()
	p, ok := cost.Embedded().Lookup(model, hints...)
	if !ok {
		t.Fatalf("no price for %q, %q", model, hints)
	}
	return p
}

func TestEmbeddedTable(t *testing.T) {
	table := cost.Embedded()
	if _, err := time.Parse(time.DateOnly, table.Date); err != nil {
		t.Error(err)
	}
	if !strings.Contains(table.Source, "MIT") {
		t.Errorf("source %q names no licence", table.Source)
	}
	if n := len(table.Names()); n < 300 {
		t.Errorf("only %d models", n)
	}
	// Published list prices, per million tokens.
	for _, c := range []struct {
		model           string
		in, out, cached float64
	}{
		{"gpt-4.1-mini", 0.4, 1.6, 0.1},
		{"gpt-4o", 2.5, 10, 1.25},
		{"gpt-4o-mini", 0.15, 0.6, 0.075},
		{"gpt-5-mini", 0.25, 2, 0.025},
		{"claude-haiku-4-5", 1, 5, 0.1},
		{"gpt-3.5-turbo", 0.5, 1.5, 0},
	} {
		p := mustLookup(t, c.model)
		if !near(p.Input*1e6, c.in) || !near(p.Output*1e6, c.out) || !near(p.Cached*1e6, c.cached) {
			t.Errorf("%s: %v", c.model, p.String())
		}
	}
	p := mustLookup(t, "gpt-4.1-mini")
	if p.Batch == nil || !near(p.Batch.Input*1e6, 0.2) || !near(p.Batch.Output*1e6, 0.8) || p.MaxInput != 1047576 || p.MaxOutput != 32768 || p.Reasoning {
		t.Errorf("gpt-4.1-mini: %+v", p)
	}
}

// TestEmbeddedIsTheCut holds that the embedded file is what the generator makes
// of the table it is cut from, where that is there.
func TestEmbeddedIsTheCut(t *testing.T) {
	data, err := os.ReadFile("../../shared/data/prices/model_prices.cut.json")
	if err != nil {
		t.Skipf("the table that the embedded one is cut from is not beside this repository: %v", err)
	}
	table, err := cost.FromLiteLLM(data, cost.Embedded().Date)
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("prices.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("prices.json is not the cut of the table; run go generate")
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range table.Names() {
		p, _ := table.Lookup(name)
		if in, ok := all[name]["input_cost_per_token"].(float64); !ok || in != p.Input {
			t.Errorf("%s: input %v, in the source %v", name, p.Input, all[name]["input_cost_per_token"])
		}
	}
}

func TestFromLiteLLM(t *testing.T) {
	const src = `{
	"sample_spec": {"mode": "chat", "input_cost_per_token": 1, "output_cost_per_token": 1},
	"full": {"mode": "chat", "litellm_provider": "vertex_ai-language-models", "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6,
		"cache_read_input_token_cost": 1e-7, "cache_creation_input_token_cost": 1.25e-6, "max_input_tokens": 2000000.0, "max_output_tokens": 8192,
		"input_cost_per_token_batches": 5e-7, "output_cost_per_token_batches": 2e-6, "supports_reasoning": true,
		"input_cost_per_token_above_200k_tokens": 2e-6, "input_cost_per_token_above_200k_tokens_priority": 9e-6, "input_cost_per_token_above_1000k_tokens": 3e-6, "output_cost_per_token_above_1000k_tokens": 8e-6,
		"search_context_cost_per_query": {"search_context_size_low": 0.035}},
	"deepseek/x": {"mode": "chat", "litellm_provider": "deepseek", "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6, "input_cost_per_token_cache_hit": 2e-7},
	"embed": {"mode": "embedding", "litellm_provider": "openai", "input_cost_per_token": 2e-8, "output_cost_per_token": 0.0},
	"zero": {"mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
	"half": {"mode": "chat", "input_cost_per_token": 1e-6},
	"text": {"mode": "chat", "input_cost_per_token": "1e-6", "output_cost_per_token": 1e-6},
	"per dollar": {"mode": "chat", "input_cost_per_token": 2, "output_cost_per_token": 2},
	"together-ai-up-to-4b": {"mode": "chat", "input_cost_per_token": 1e-7, "output_cost_per_token": 1e-7},
	"rerank": {"mode": "rerank", "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}}`
	table, err := cost.FromLiteLLM([]byte(src), "2026-08-01")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(table.Names(), " "); got != "deepseek/x embed full" {
		t.Errorf("kept %s", got)
	}
	p, _ := table.Lookup("full")
	got, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"full","provider":"vertex_ai","mode":"chat","input":0.000001,"output":0.000004,"cached":1e-7,"cache_write":0.00000125,` +
		`"batch":{"input":5e-7,"output":0.000002},"tiers":[{"above":200000,"input":0.000002,"output":0.000004},{"above":1000000,"input":0.000003,"output":0.000008}],` +
		`"max_input":2000000,"max_output":8192,"reasoning":true}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if p, _ := table.Lookup("deepseek/x"); p.Cached != 2e-7 {
		t.Errorf("cached %v", p.Cached)
	}
	if _, err := cost.FromLiteLLM([]byte(`[]`), ""); err == nil {
		t.Error("a list was read as a table")
	}
}

func TestCost(t *testing.T) {
	plain := cost.Price{Rates: cost.Rates{Input: 2.5e-6, Output: 10e-6, Cached: 1.25e-6}}
	noCached := cost.Price{Rates: cost.Rates{Input: 2e-6, Output: 8e-6}}
	tiered := mustLookup(t, "gemini/gemini-2.5-pro")
	for _, c := range []struct {
		name  string
		price cost.Price
		usage llm.Usage
		want  float64
	}{
		{"cached tokens are inside the prompt", plain, llm.Usage{PromptTokens: 2006, CompletionTokens: 300, CachedTokens: 1920}, 0.005615},
		{"reasoning tokens are inside the completion", plain, llm.Usage{PromptTokens: 100, CompletionTokens: 80, ReasoningTokens: 60}, 0.00105},
		{"unknown cached rate charges input", noCached, llm.Usage{PromptTokens: 1000, CachedTokens: 900}, 0.002},
		{"more cached than prompt", plain, llm.Usage{PromptTokens: 100, CachedTokens: 500}, 0.000125},
		{"negative counts", plain, llm.Usage{PromptTokens: -5, CompletionTokens: -5, CachedTokens: -5}, 0},
		{"at the threshold", tiered, llm.Usage{PromptTokens: 200_000, CompletionTokens: 1000}, 0.26},
		{"above it, the whole call", tiered, llm.Usage{PromptTokens: 200_001, CompletionTokens: 1000}, 0.5150025},
		{"cached above it", tiered, llm.Usage{PromptTokens: 300_000, CachedTokens: 300_000}, 0.075},
	} {
		if got := c.price.Cost(c.usage); !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		model string
		hints []string
		want  string // name in the table; "" for unknown
	}{
		{"gpt-4.1-mini", nil, "gpt-4.1-mini"},
		{"gpt-4.1-mini", []string{"openai"}, "gpt-4.1-mini"},
		{"gpt-4.1-mini", []string{""}, "gpt-4.1-mini"},
		{"gpt-4.1-mini", []string{"azure"}, "gpt-4.1-mini"},
		{"gpt-4.1-mini", []string{"openrouter"}, "gpt-4.1-mini"},
		{"GPT-4.1-Mini", nil, "gpt-4.1-mini"},
		{"openai/gpt-4.1-mini", nil, "gpt-4.1-mini"},
		{"azure/gpt-4o", nil, "gpt-4o"},
		{"openrouter/openai/gpt-4o", nil, "gpt-4o"},
		{"openai/gpt-4o", []string{"openrouter"}, "gpt-4o"},
		{"anthropic/claude-sonnet-4-5", nil, "claude-sonnet-4-5"},
		{"models/gemini-2.5-pro", []string{"gemini"}, "gemini/gemini-2.5-pro"},
		{"gemini-2.5-pro", []string{"gemini"}, "gemini/gemini-2.5-pro"},
		{"google/gemini-2.5-pro", nil, "gemini/gemini-2.5-pro"},
		{"gemini-2.5-pro", nil, "gemini-2.5-pro"},
		{"llama-3.3-70b-versatile", []string{"groq"}, "groq/llama-3.3-70b-versatile"},
		{"openai/gpt-oss-120b", []string{"groq"}, "groq/openai/gpt-oss-120b"},
		{"meta-llama/Llama-3.3-70B-Instruct-Turbo", []string{"together"}, "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		{"mistral-small-latest", []string{"mistral"}, "mistral/mistral-small-latest"},
		// Dates of snapshots.
		{"gpt-4o-2024-05-13", nil, "gpt-4o-2024-05-13"},
		{"gpt-4.1-mini-2026-12-24", nil, "gpt-4.1-mini"},
		{"openai/gpt-4.1-mini-2026-12-24", nil, "gpt-4.1-mini"},
		{"claude-sonnet-4-5-20270101", nil, "claude-sonnet-4-5"},
		{"gpt-4o-2027-01-01", nil, ""}, // snapshots of gpt-4o differ in price
		{"gpt-4.1-mini-2026", nil, ""},
		{"-2026-12-24", nil, ""},
		// Never another model, never another provider.
		{"my-finetune-x", nil, ""},
		{"gpt-4.1-mini-x", nil, ""},
		{"gpt-4.1-min", nil, ""},
		{"gpt-4.1-mini", []string{"groq"}, ""},
		{"gpt-4.1-mini", []string{"local"}, ""},
		{"gpt-4.1-mini", []string{"lexical"}, ""},
		{"gpt-4.1-mini", []string{"openai", "groq"}, ""},
		{"ollama/gpt-4.1-mini", nil, ""},
		{"acme/gpt-4.1-mini", nil, ""},
		{"groq/gpt-4.1-mini", nil, ""},
		{"llama-3.3-70b-versatile", nil, ""},
		{"meta-llama/llama-3.3-70b-instruct", []string{"openrouter"}, ""},
		{"openai/gpt-4o", []string{"groq"}, ""},
		{"ft:gpt-4o-mini:acme::x", nil, ""},
		{"ft:gpt-4o-mini-2024-07-18", nil, "ft:gpt-4o-mini-2024-07-18"},
		{"ft:gpt-4o-mini-2027-07-18", nil, ""},
		{"together_ai/BAAI/bge-base-en-v1.5", nil, "together_ai/BAAI/bge-base-en-v1.5"},
		{"openai/", nil, ""},
		{"", nil, ""},
	} {
		p, ok := cost.Embedded().Lookup(c.model, c.hints...)
		if ok != (c.want != "") || p.Model != c.want {
			t.Errorf("%q %q: %q (%t), want %q", c.model, c.hints, p.Model, ok, c.want)
		}
		if ok && (p.Note == "") != strings.EqualFold(p.Model, c.model) {
			t.Errorf("%q %q: note %q", c.model, c.hints, p.Note)
		}
	}
}

// FuzzLookup holds that a price found is that of a name that the model's name
// ends in, or with a provider before it: nothing else is taken for it.
func FuzzLookup(f *testing.F) {
	for _, s := range []string{"gpt-4o", "openai/gpt-4.1-mini-2026-12-24", "//", "groq/openai/gpt-oss-120b", "ft:gpt-4o", "models/x-20260101"} {
		f.Add(s, "openai")
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, model, hint string) {
		p, ok := cost.Embedded().Lookup(model, hint)
		if !ok {
			return
		}
		if p.Input <= 0 {
			t.Fatalf("%q costs %v", model, p.Input)
		}
		own := strings.ToLower(p.Model[strings.LastIndexByte(p.Model, '/')+1:])
		if !strings.Contains(strings.ToLower(model), own) {
			t.Fatalf("%q was priced as %q", model, p.Model)
		}
	})
}

func TestProviderOf(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"", "openai"},
		{"https://api.openai.com/v1", "openai"},
		{"https://acme.openai.azure.com/", "azure"},
		{"https://generativelanguage.googleapis.com/v1beta/openai/", "gemini"},
		{"https://us-central1-aiplatform.googleapis.com/v1", "vertex_ai"},
		{"https://api.groq.com/openai/v1", "groq"},
		{"https://openrouter.ai/api/v1", "openrouter"},
		{"https://API.MISTRAL.AI./v1", "mistral"},
		{"http://localhost:11434/v1", "local"},
		{"http://vllm:8000/v1", "local"},
		{"http://127.0.0.1:8080", "local"},
		{"http://10.1.2.3:8080", "local"},
		{"http://[::1]:8080", "local"},
		{"http://judge.corp.internal/v1", "local"},
		{"https://8.8.8.8/v1", ""},
		{"https://gateway.example.com/v1", ""},
		{"https://notopenai.com/v1", ""},
		{"https://openai.com.evil.example/v1", ""},
		{"::", ""},
		{"localhost:1234", ""},
	} {
		if got := cost.ProviderOf(c.url); got != c.want {
			t.Errorf("%q: %q, want %q", c.url, got, c.want)
		}
	}
}

func TestPriceString(t *testing.T) {
	p := mustLookup(t, "gpt-4.1-mini")
	if got := p.String(); got != "$0.40 in, $1.60 out, $0.10 cached per million tokens" {
		t.Error(got)
	}
	p = mustLookup(t, "gpt-4o-mini")
	if got := p.String(); got != "$0.15 in, $0.60 out, $0.075 cached per million tokens" {
		t.Error(got)
	}
}

func ptr(v float64) *float64 { return &v }

func TestOverride(t *testing.T) {
	book := cost.Book{Table: cost.Embedded()}
	usage := llm.Usage{PromptTokens: 1_000_000, CachedTokens: 500_000, CompletionTokens: 100_000}
	if _, known := book.Cost("mine", usage); known {
		t.Error("the price of an unknown model is known")
	}
	for _, o := range []cost.Override{
		{}, {Input: ptr(1)}, {Output: ptr(1)}, {Input: ptr(-1), Output: ptr(1)}, {Input: ptr(math.NaN()), Output: ptr(1)},
		{Input: ptr(1), Output: ptr(math.Inf(1))}, {Input: ptr(1), Output: ptr(1), Cached: ptr(-1)},
	} {
		if err := book.Override("mine", o); err == nil || !strings.Contains(err.Error(), `"mine"`) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	for _, c := range []struct {
		name string
		o    cost.Override
		want float64
	}{
		{"without cached", cost.Override{Input: ptr(0.5), Output: ptr(2)}, 0.7},
		{"with cached", cost.Override{Input: ptr(0.5), Output: ptr(2), Cached: ptr(0.1)}, 0.5},
		{"cached is free", cost.Override{Input: ptr(0.5), Output: ptr(2), Cached: ptr(0)}, 0.45},
		{"free", cost.Override{Input: ptr(0), Output: ptr(0)}, 0},
	} {
		if err := book.Override("Mine", c.o); err != nil {
			t.Fatal(err)
		}
		if got, known := book.Cost("mine", usage); !known || !near(got, c.want) {
			t.Errorf("%s: %v (%t), want %v", c.name, got, known, c.want)
		}
	}
	if p, _ := book.Lookup("mine"); !p.Free() || p.String() != "free" {
		t.Errorf("%v", p.String())
	}
	// An override goes before the table, and keeps what it doesn't say.
	if err := book.Override("gpt-4.1-mini", cost.Override{Input: ptr(1), Output: ptr(2)}); err != nil {
		t.Fatal(err)
	}
	if p, _ := book.Lookup("gpt-4.1-mini"); p.Input != 1e-6 || p.MaxOutput != 32768 || p.Batch != nil {
		t.Errorf("%+v", p)
	}
	var price llm.PriceFunc = book.Cost
	if got, known := price("gpt-4.1", llm.Usage{PromptTokens: 1e6}); !known || !near(got, 2) {
		t.Errorf("gpt-4.1: %v (%t)", got, known)
	}
	if _, known := (&cost.Book{}).Cost("gpt-4o", usage); known {
		t.Error("the zero Book knows a price")
	}
}

func TestOverrideWarnings(t *testing.T) {
	for _, c := range []struct {
		o    cost.Override
		want int
	}{
		{cost.Override{Input: ptr(0.4), Output: ptr(1.6), Cached: ptr(0)}, 0},
		{cost.Override{Input: ptr(0.00015), Output: ptr(0.0006)}, 2},
		{cost.Override{Input: ptr(1500), Output: ptr(10)}, 1},
	} {
		if got := c.o.Warnings("m"); len(got) != c.want {
			t.Errorf("%d warnings, want %d: %q", len(got), c.want, got)
		}
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte(`{"schema":1,"date":"2026-08-01","source":"x","prices":[{"model":"a","mode":"chat","input":1e-6,"output":1e-6}]}`))
	f.Add([]byte(`{"schema":2}`))
	f.Add([]byte(`{"schema":1,"prices":[{"model":"a","input":1e-6,"output":1e-6,"tiers":[{"above":5,"input":1e-6,"output":1e-6}]},{"model":"A","input":1e-6,"output":1e-6}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := cost.ParseTable(data)
		if err != nil {
			return
		}
		again, err := table.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cost.ParseTable(again); err != nil {
			t.Fatalf("%v in %s", err, again)
		}
		for _, name := range table.Names() {
			if p, ok := table.Lookup(name); ok && p.Input <= 0 {
				t.Fatalf("%q costs nothing", name)
			}
		}
	})
}

func TestParseTableRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"not JSON":           `x`,
		"other schema":       `{"schema":2,"prices":[]}`,
		"unknown field":      `{"schema":1,"price":[]}`,
		"zero":               `{"schema":1,"prices":[{"model":"a","mode":"chat","input":0,"output":1e-6}]}`,
		"negative":           `{"schema":1,"prices":[{"model":"a","mode":"chat","input":-1e-6,"output":1e-6}]}`,
		"per million":        `{"schema":1,"prices":[{"model":"a","mode":"chat","input":2.5,"output":10}]}`,
		"twice":              `{"schema":1,"prices":[{"model":"a","input":1e-6,"output":1e-6},{"model":"a","input":1e-6,"output":1e-6}]}`,
		"no name":            `{"schema":1,"prices":[{"input":1e-6,"output":1e-6}]}`,
		"thresholds falling": `{"schema":1,"prices":[{"model":"a","input":1e-6,"output":1e-6,"tiers":[{"above":5,"input":1e-6,"output":1e-6},{"above":5,"input":1e-6,"output":1e-6}]}]}`,
	} {
		if _, err := cost.ParseTable([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// An override may have prices for what is written to the provider's cache and for
// its Batch API; half of the latter is none.
func TestOverrideOfBatchAndCacheWrite(t *testing.T) {
	o := cost.Override{Input: ptr(2), Output: ptr(8), CacheWrite: ptr(2.5), BatchInput: ptr(1), BatchOutput: ptr(4)}
	p, err := o.Price("m")
	if err != nil {
		t.Fatal(err)
	}
	u := llm.Usage{PromptTokens: 1_000_000, CompletionTokens: 1_000_000}
	for _, c := range []struct {
		name string
		set  func(*llm.Usage)
		want float64
	}{
		{"live", func(*llm.Usage) {}, 10},
		{"batch", func(u *llm.Usage) { u.Batched = true }, 5},
		{"written", func(u *llm.Usage) { u.CacheWriteTokens = 400_000 }, 10.2},
		{"written in a batch", func(u *llm.Usage) { u.Batched, u.CacheWriteTokens = true, 400_000 }, 5},
	} {
		u := u
		c.set(&u)
		if got := p.Cost(u); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	o.BatchOutput = nil
	if _, err := o.Price("m"); err == nil {
		t.Error("half a price for batches is one")
	}
	o.BatchInput, o.CacheWrite = nil, ptr(-1)
	if _, err := o.Price("m"); err == nil {
		t.Error("a price below zero is one")
	}
}
