package cost

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
)

// details writes what stands between the table and the assumptions.
func (e *Estimate) details(b *bytes.Buffer) error {
	t := &e.Total
	if e.Probe != nil {
		spent := "an unknown amount"
		if c := e.Probe.CostUSD; c != nil {
			spent = money(*c)
		}
		fmt.Fprintf(b, "The probe judged %s samples with %s paid calls for %s; their replies are kept in the cache, and taken off above.\n", grouped(int64(e.Probe.Samples)), grouped(e.Probe.Calls), spent)
	}
	if s := e.Sample; s != nil {
		fmt.Fprintf(b, "Made of %s rows of %s, drawn by chance: the standard error of the total is %.1f %%, and the range is wider for it.\n", grouped(int64(s.Rows)), grouped(int64(s.Of)), 100*s.Relative())
	}
	if r := t.ReasoningTokens; r.High > 0 {
		fmt.Fprintf(b, "Hidden reasoning among the output tokens: %s.\n", r)
	}
	if r := t.EmbeddingTokens; r.High > 0 {
		fmt.Fprintf(b, "Tokens to be embedded, beside the input tokens: %s.\n", r)
	}
	if p := t.CachedPrefixTokens; p.High > 0 {
		saving := "an unknown amount"
		if t.PrefixSavingUSD != nil {
			saving = money(*t.PrefixSavingUSD)
		}
		taken := "which is not taken off"
		if p.Expected > 0 {
			taken = fmt.Sprintf("of which the %s that were measured are taken off, but for the high end", grouped(p.Expected))
		}
		fmt.Fprintf(b, "Up to %s input tokens begin a prompt as others do, and may come from the provider's prompt cache: that would save %s, %s.\n", grouped(p.High), saving, taken)
	}
	switch {
	case t.CostUSD == nil || t.CostUSD.High == 0:
	case e.Backend == "batch" && t.BatchUSD == nil:
		fmt.Fprintln(b, "No price for the Batch API is known: its calls are reckoned at the price of live ones.")
	case e.Backend == "batch":
		fmt.Fprintf(b, "As live calls: %s.\n", t.LiveUSD)
	case t.BatchUSD != nil:
		fmt.Fprintf(b, "Through the provider's Batch API (--backend batch), within a day: %s.\n", t.BatchUSD)
	}
	return e.compared(b)
}

// compared writes the table of other models.
func (e *Estimate) compared(b *bytes.Buffer) error {
	if len(e.Models) == 0 {
		return nil
	}
	b.WriteString("\nThe same on other models, as low / expected / high:\n\n")
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "model\tcalls\tcost\tin batches\tprice")
	for _, m := range e.Models {
		live, batch := "unknown", "unknown"
		if m.LiveUSD != nil {
			live = m.LiveUSD.String()
		}
		if m.BatchUSD != nil {
			batch = m.BatchUSD.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Model, grouped(m.Calls.Expected), live, batch, cmp.Or(m.Price, "unknown"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(table.String()) {
		b.WriteString("  " + strings.TrimRight(line, " \n") + "\n")
	}
	return nil
}

// String shows the range as low / expected / high.
func (r Range) String() string {
	return fmt.Sprintf("%s / %s / %s", grouped(r.Low), grouped(r.Expected), grouped(r.High))
}

// String shows the range as low / expected / high, in dollars.
func (r FloatRange) String() string {
	return fmt.Sprintf("%s / %s / %s", money(r.Low), money(r.Expected), money(r.High))
}

// ordered makes it a range where a long reply has left less room for reasoning.
func (r Range) ordered() Range {
	r.Expected = max(r.Expected, r.Low)
	r.High = max(r.High, r.Expected)
	return r
}
