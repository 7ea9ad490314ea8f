package cost

import (
	"bytes"
	_ "embed" // the price table
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ragjudge/ragjudge/llm"
)

//go:generate sh -c "go run ./internal/gen -date 2026-08-01 <../../shared/data/prices/model_prices.cut.json >prices.json"

//go:embed prices.json
var embeddedPrices []byte

// Rates are prices in US dollars per token.
type Rates struct {
	// Input is the price of a prompt token that did not come from the
	// provider's prompt cache.
	Input float64 `json:"input"`
	// Output is the price of a completion token, hidden reasoning included. It is
	// 0 for embedding models, which have no output.
	Output float64 `json:"output,omitempty"`
	// Cached is the price of a prompt token that was read from the provider's
	// prompt cache; 0 where it is not known. Then Input is charged.
	Cached float64 `json:"cached,omitempty"`
	// CacheWrite is the price of a prompt token that was written to the
	// provider's prompt cache, where that is charged apart; 0 where not known.
	// Then Input is charged.
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// Tier is the rates of calls with a prompt of more than Above tokens. They hold
// for the whole call.
type Tier struct {
	Above int `json:"above"`
	Rates
}

// Price is what a model's calls cost.
type Price struct {
	// Model is the name under which the price stands in the table.
	Model string `json:"model"`
	// Provider is whose price it is: "openai", "gemini", "groq".
	Provider string `json:"provider,omitempty"`
	// Mode is "chat" or "embedding".
	Mode string `json:"mode,omitempty"`
	Rates
	// Batch is the rates of a provider's batch API; nil where not known.
	Batch *Rates `json:"batch,omitempty"`
	// Tiers are the rates of long prompts, by rising threshold.
	Tiers []Tier `json:"tiers,omitempty"`
	// MaxInput and MaxOutput are the most tokens of a prompt and of a reply; 0
	// where not known.
	MaxInput  int `json:"max_input,omitempty"`
	MaxOutput int `json:"max_output,omitempty"`
	// Reasoning reports that the model can think before it answers, in tokens
	// that are charged as output.
	Reasoning bool `json:"reasoning,omitempty"`

	// Note says how the price was found where its name in the table is not the
	// one that was asked for; "set in the configuration" for an override.
	Note string `json:"-"`
	// CachedFree reports that a Cached of 0 was set on purpose.
	CachedFree bool `json:"-"`
}

// Cost returns the list price in US dollars of one call with the given usage.
// Cached tokens are inside the prompt tokens and reasoning tokens inside the
// completion tokens, each charged once. A tier is chosen by the prompt tokens,
// so u must be the usage of one call where the price has tiers: not a sum.
// Calls of unknown usage (u.Unknown) are not in it. Calls of the Batch API are
// charged as live ones where no price for them is known.
func (p *Price) Cost(u llm.Usage) float64 {
	r := p.rates(u.PromptTokens)
	if u.Batched && p.Batch != nil { // else the price of live calls, which is above it
		r = *p.Batch
	}
	prompt := max(u.PromptTokens, 0)
	cached := min(max(u.CachedTokens, 0), prompt)
	written := min(max(u.CacheWriteTokens, 0), prompt-cached)
	writeRate := r.CacheWrite
	if writeRate == 0 {
		writeRate = r.Input
	}
	cachedRate := r.Cached
	if cachedRate == 0 && !p.CachedFree {
		cachedRate = r.Input
	}
	return float64(prompt-cached-written)*r.Input + float64(cached)*cachedRate + float64(written)*writeRate + float64(max(u.CompletionTokens, 0))*r.Output
}

func (p *Price) rates(promptTokens int) Rates {
	r := p.Rates
	for _, t := range p.Tiers {
		if promptTokens > t.Above {
			r = t.Rates
		}
	}
	return r
}

// own reports a price that is an override, not from a table.
func (p *Price) own() bool { return p.Note == noteOverride }

// Free reports a price of zero that was set on purpose.
func (p *Price) Free() bool { return p.Input == 0 && p.Output == 0 && len(p.Tiers) == 0 }

// String shows the rates per million tokens: "$0.40 in, $1.60 out, $0.10 cached
// per million tokens".
func (p *Price) String() string {
	if p.Free() {
		return "free"
	}
	s := fmt.Sprintf("$%s in, $%s out", PerMillion(p.Input), PerMillion(p.Output))
	if p.Cached > 0 {
		s += fmt.Sprintf(", $%s cached", PerMillion(p.Cached))
	}
	return s + " per million tokens"
}

// PerMillion shows a price per million tokens with two decimals, or with as many
// as it has if those are more.
func PerMillion(perToken float64) string {
	v := math.Round(perToken*1e12) / 1e6 // to the millionth of a dollar
	if s := fmt.Sprintf("%.2f", v); math.Abs(v-math.Round(v*100)/100) < 1e-9 {
		return s
	}
	return fmt.Sprint(v)
}

// Table is a list of prices as of a day. It is not changed once it is made, so
// it is safe for concurrent use.
type Table struct {
	// Date is the day of the prices: "2026-08-01".
	Date string
	// Source says where they are from and under what licence.
	Source string

	prices map[string]Price
	// folded maps a name in lower case to the name as it stands, where only one
	// model has it.
	folded map[string]string
}

// Embedded returns the price table that comes with the program.
func Embedded() *Table { return embedded() }

var embedded = sync.OnceValue(func() *Table {
	t, err := ParseTable(embeddedPrices)
	if err != nil {
		panic(fmt.Sprintf("cost: the embedded price table can't be read: %v", err)) // a test rules it out
	}
	return t
})

// tableFile is the form of a table in a file.
type tableFile struct {
	Schema int     `json:"schema"`
	Date   string  `json:"date"`
	Source string  `json:"source"`
	Prices []Price `json:"prices"`
}

// ParseTable reads a table in the form that Encode writes.
func ParseTable(data []byte) (*Table, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var f tableFile
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("read price table: %w", err)
	}
	if f.Schema != 1 {
		return nil, fmt.Errorf("read price table: schema %d, this program reads 1", f.Schema)
	}
	return newTable(f.Date, f.Source, f.Prices)
}

func newTable(date, source string, prices []Price) (*Table, error) {
	t := &Table{Date: date, Source: source, prices: map[string]Price{}, folded: map[string]string{}}
	for _, p := range prices {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("price of %q: %w", p.Model, err)
		}
		if _, twice := t.prices[p.Model]; twice {
			return nil, fmt.Errorf("price of %q: it is there twice", p.Model)
		}
		t.prices[p.Model] = p
		// Two names that differ in case only: neither is found by another
		// spelling.
		low := strings.ToLower(p.Model)
		if _, twice := t.folded[low]; twice {
			t.folded[low] = ""
		} else {
			t.folded[low] = p.Model
		}
	}
	return t, nil
}

// check holds what makes a price of the table known: input and output above
// zero, because in lists zero means that nobody filled it in.
func (p *Price) check() error {
	all := []Rates{p.Rates}
	for i, t := range p.Tiers {
		if t.Above <= 0 || i > 0 && t.Above <= p.Tiers[i-1].Above {
			return fmt.Errorf("tier above %d tokens: thresholds must rise from above 0", t.Above)
		}
		all = append(all, t.Rates)
	}
	if p.Batch != nil {
		all = append(all, *p.Batch)
	}
	for _, r := range all {
		for _, v := range []float64{r.Input, r.Output, r.Cached, r.CacheWrite} {
			if !(v >= 0) || v > 1 {
				return fmt.Errorf("%v US dollars per token is no price", v)
			}
		}
		if r.Input == 0 || r.Output == 0 && p.Mode != "embedding" {
			return fmt.Errorf("input %v and output %v: zero is not a known price", r.Input, r.Output)
		}
	}
	if p.Model == "" {
		return fmt.Errorf("no model is named")
	}
	return nil
}

// Names returns the names of all models, sorted.
func (t *Table) Names() []string { return slices.Sorted(maps.Keys(t.prices)) }

// Encode returns the table as JSON, one price a line, sorted by name: the form
// of the embedded file, in which a change of a price is a change of a line.
func (t *Table) Encode() ([]byte, error) {
	var b bytes.Buffer
	head, err := json.Marshal(struct {
		Schema int    `json:"schema"`
		Date   string `json:"date"`
		Source string `json:"source"`
	}{1, t.Date, t.Source})
	if err != nil {
		return nil, err
	}
	b.Write(bytes.TrimSuffix(head, []byte("}")))
	b.WriteString(`,"prices":[`)
	for i, name := range t.Names() {
		if i > 0 {
			b.WriteByte(',')
		}
		line, err := json.Marshal(t.prices[name])
		if err != nil {
			return nil, err
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}
