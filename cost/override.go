package cost

import (
	"fmt"
	"math"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
)

// noteOverride is the Price.Note of an override.
const noteOverride = "set in the configuration"

// Override is a price from the configuration, in US dollars per million tokens.
// It goes before the table. Zero is a price: the model is free.
type Override struct {
	// Input and Output are both needed.
	Input, Output *float64
	// Cached is the price of prompt tokens from the provider's prompt cache; nil
	// charges them as Input.
	Cached *float64
	// CacheWrite is the price of prompt tokens that are written to the provider's
	// prompt cache; nil charges them as Input.
	CacheWrite *float64
	// BatchInput and BatchOutput are those of the provider's Batch API, both or
	// neither; without them its calls are charged as live ones. Cached and written
	// tokens have no price of their own there.
	BatchInput, BatchOutput *float64
}

// overridePart is one price of an Override.
type overridePart struct {
	name string
	v    *float64
}

func (o Override) parts() []overridePart {
	return []overridePart{{"input", o.Input}, {"output", o.Output}, {"cached", o.Cached}, {"cache_write", o.CacheWrite},
		{"batch_input", o.BatchInput}, {"batch_output", o.BatchOutput}}
}

// The bounds outside of which a price per million tokens is more likely a slip
// of the unit (per token, per thousand) than a price. Zero is not meant.
const (
	unlikelyBelow = 0.001
	unlikelyAbove = 1000.0
)

// Price returns the override as the price of a model. An error names the part
// that is missing or no price.
func (o Override) Price(model string) (Price, error) {
	p := Price{Model: model, Note: noteOverride}
	var batch Rates
	to := map[string]*float64{"input": &p.Input, "output": &p.Output, "cached": &p.Cached, "cache_write": &p.CacheWrite,
		"batch_input": &batch.Input, "batch_output": &batch.Output}
	for _, part := range o.parts() {
		switch {
		case part.v == nil && (part.name == "input" || part.name == "output"):
			return Price{}, fmt.Errorf("price of %q: the %s price is missing; give input and output, 0 for free", model, part.name)
		case part.v == nil:
		case !(*part.v >= 0) || math.IsInf(*part.v, 0) || *part.v > 1e6:
			return Price{}, fmt.Errorf("price of %q: %s %v is no price in US dollars per million tokens", model, part.name, *part.v)
		default:
			*to[part.name] = *part.v / 1e6
		}
	}
	if (o.BatchInput == nil) != (o.BatchOutput == nil) {
		return Price{}, fmt.Errorf("price of %q: give both prices of the Batch API, for input and output, or neither", model)
	}
	if o.BatchInput != nil {
		p.Batch = &batch
	}
	p.CachedFree = o.Cached != nil && *o.Cached == 0
	return p, nil
}

// Warnings returns a sentence for each price that looks like a slip of the unit.
func (o Override) Warnings(model string) []string {
	var out []string
	for _, part := range o.parts() {
		if v := part.v; v != nil && *v != 0 && (*v < unlikelyBelow || *v > unlikelyAbove) {
			out = append(out, fmt.Sprintf("the %s price of %q is $%v per million tokens; is it really per million?", part.name, model, *v))
		}
	}
	return out
}

// Book is where a run looks prices up: overrides first, then a table, under the
// provider that the run calls. The zero Book knows no price. It is safe for
// concurrent use once it is set up.
type Book struct {
	// Table may be nil.
	Table *Table
	// Hints name the provider, as for Table.Lookup.
	Hints []string

	overrides map[string]Price
}

// Override sets the price of a model, named as requests name it, ignoring case.
func (b *Book) Override(model string, o Override) error {
	p, err := o.Price(model)
	if err != nil {
		return err
	}
	if b.overrides == nil {
		b.overrides = map[string]Price{}
	}
	b.overrides[strings.ToLower(model)] = p
	return nil
}

// Lookup returns the price of a model, and false if it is not known. What an
// override does not say (the longest prompt and reply, whether the model
// reasons) is taken from the table.
func (b *Book) Lookup(model string) (Price, bool) {
	var listed Price
	ok := false
	if b.Table != nil {
		listed, ok = b.Table.Lookup(model, b.Hints...)
	}
	if p, own := b.overrides[strings.ToLower(model)]; own {
		p.Provider, p.Mode = listed.Provider, listed.Mode
		p.MaxInput, p.MaxOutput, p.Reasoning = listed.MaxInput, listed.MaxOutput, listed.Reasoning
		return p, true
	}
	return listed, ok
}

// Cost prices the usage of one call of a model. It is an llm.PriceFunc.
func (b *Book) Cost(model string, u llm.Usage) (usd float64, known bool) {
	p, ok := b.Lookup(model)
	if !ok {
		return 0, false
	}
	return p.Cost(u), true
}
