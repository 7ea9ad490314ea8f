package cost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// listed is the part of an entry of LiteLLM's table that is read. The many other
// fields, and those of another type than expected, are passed over: the list is
// kept by many hands.
type listed map[string]json.RawMessage

func (l listed) number(field string) float64 {
	var v float64
	if json.Unmarshal(l[field], &v) != nil || !(v > 0) {
		return 0
	}
	return v
}

func (l listed) text(field string) string {
	var v string
	if json.Unmarshal(l[field], &v) != nil {
		return ""
	}
	return v
}

func (l listed) flag(field string) bool {
	var v bool
	return json.Unmarshal(l[field], &v) == nil && v
}

// listedProviders maps LiteLLM's names of providers to shorter ones.
var listedProviders = map[string]string{
	"vertex_ai-language-models":     "vertex_ai",
	"vertex_ai-embedding-models":    "vertex_ai",
	"cohere_chat":                   "cohere",
	"fireworks_ai-embedding-models": "fireworks_ai",
}

// FromLiteLLM makes a table of LiteLLM's model_prices_and_context_window.json,
// which has US dollars per token. It keeps chat and embedding models whose
// price is known; a missing or zero price means that it is not, and the entry
// is left out, as are LiteLLM's stand-ins for size classes
// ("together-ai-8.1b-21b") and what is not charged by the token of text.
func FromLiteLLM(data []byte, date string) (*Table, error) {
	var all map[string]listed
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&all); err != nil {
		return nil, fmt.Errorf("read LiteLLM's price table: %w", err)
	}
	var prices []Price
	for name, l := range all {
		if p, ok := fromListed(name, l); ok {
			prices = append(prices, p)
		}
	}
	return newTable(date, "LiteLLM's price table (github.com/BerriAI/litellm), MIT licence; see LICENSE.prices", prices)
}

func fromListed(name string, l listed) (Price, bool) {
	mode := l.text("mode")
	if name == "sample_spec" || strings.HasPrefix(name, "together-ai-") || mode != "chat" && mode != "embedding" {
		return Price{}, false
	}
	p := Price{
		Model: name, Provider: l.text("litellm_provider"), Mode: mode,
		Rates:    l.rates(""),
		MaxInput: int(l.number("max_input_tokens")), MaxOutput: int(l.number("max_output_tokens")),
		Reasoning: l.flag("supports_reasoning"),
	}
	if short, ok := listedProviders[p.Provider]; ok {
		p.Provider = short
	}
	if batch := l.rates("_batches"); batch.Input > 0 && (batch.Output > 0 || mode == "embedding") {
		p.Batch = &batch
	}
	p.Tiers = l.tiers(p.Rates)
	return p, p.check() == nil
}

// rates reads the four rates whose fields end in suffix.
func (l listed) rates(suffix string) Rates {
	r := Rates{
		Input:      l.number("input_cost_per_token" + suffix),
		Output:     l.number("output_cost_per_token" + suffix),
		Cached:     l.number("cache_read_input_token_cost" + suffix),
		CacheWrite: l.number("cache_creation_input_token_cost" + suffix),
	}
	if suffix == "" && r.Cached == 0 {
		r.Cached = l.number("input_cost_per_token_cache_hit") // DeepSeek's entries
	}
	return r
}

var tierField = regexp.MustCompile(`^(?:input|output)_cost_per_token_above_(\d+)k_tokens$`)

// tiers reads the rates of long prompts. Where a tier names only one of input
// and output, the other is as below; cached tokens without a price of their own
// are charged as input.
func (l listed) tiers(base Rates) []Tier {
	found := map[int]string{}
	for field := range l {
		if m := tierField.FindStringSubmatch(field); m != nil {
			if k, err := strconv.Atoi(m[1]); err == nil && k > 0 && k < 1_000_000 {
				found[k*1000] = "_above_" + m[1] + "k_tokens"
			}
		}
	}
	var tiers []Tier
	for _, above := range sortedKeys(found) {
		r := l.rates(found[above])
		if r.Input == 0 {
			r.Input = base.Input
		}
		if r.Output == 0 {
			r.Output = base.Output
		}
		tiers = append(tiers, Tier{above, r})
		base = r
	}
	return tiers
}
