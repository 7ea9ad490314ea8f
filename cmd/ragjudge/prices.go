package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/eval"
)

func (a *app) pricesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "prices",
		Short: "List and show the prices of models, and make a table of newer ones",
		Long: `The prices of models, in US dollars per million tokens. They are those of the
table that prices.file names in the configuration, else of the one that comes
with the program. What the configuration says of the judge (judge.price_input
and its kin) goes before either; a price that neither has is unknown, and never 0.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.pricesListCommand(), a.pricesShowCommand(), a.pricesImportCommand())
	return c
}

// priceTable is the table of the configuration, or the embedded one, with a
// warning if it is old.
func (a *app) priceTable(cfg *config.Config) (*cost.Table, error) {
	table, err := priceTable(cfg)
	if err == nil {
		if w := table.AgeWarning(time.Now()); w != "" {
			a.log.Warn(w)
		}
	}
	return table, err
}

func priceTable(cfg *config.Config) (*cost.Table, error) {
	if cfg.Prices.File == "" {
		return cost.Embedded(), nil
	}
	wrong := func(err error) error {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s: prices.file: %w", cfg.Place("prices.file"), err),
			hint: "\"ragjudge prices import FILE\" makes a table of LiteLLM's"}
	}
	data, err := os.ReadFile(cfg.Prices.File)
	if err != nil {
		return nil, wrong(err)
	}
	table, err := cost.ParseTable(data)
	if err != nil {
		return nil, wrong(fmt.Errorf("%s: %w", cfg.Prices.File, err))
	}
	return table, nil
}

func (a *app) pricesListCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "list [TEXT]",
		Short: "List all prices, or those of the models and providers whose name holds a text",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			table, err := a.tableOf(cmd)
			if err != nil {
				return err
			}
			var found []cost.Price
			for _, p := range table.Prices() {
				if len(args) == 0 || strings.Contains(strings.ToLower(p.Model+" "+p.Provider), strings.ToLower(args[0])) {
					found = append(found, p)
				}
			}
			if len(found) == 0 {
				return &exitError{code: exitUsage, err: fmt.Errorf("no model or provider of the price table of %s has %q in its name", table.Date, args[0]),
					hint: "set judge.price_input and judge.price_output for a model that the table lacks"}
			}
			return a.printPrices(table, found, format, false)
		},
	}
	pricesFlags(c, &format)
	return c
}

func (a *app) pricesShowCommand() *cobra.Command {
	var format, baseURL string
	c := &cobra.Command{
		Use:   "show MODEL",
		Short: "Show all that is known of one model's price, as a run with that judge would find it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			table, err := a.tableOf(cmd)
			if err != nil {
				return err
			}
			p, ok := table.Lookup(args[0], cost.ProviderOf(baseURL))
			if !ok {
				p, ok = table.Lookup(args[0])
			}
			if !ok {
				return &exitError{code: exitUsage, err: fmt.Errorf("the price of %q is not in the table of %s: it is unknown, not 0", args[0], table.Date),
					hint: "\"ragjudge prices list TEXT\" looks for names; judge.price_input and judge.price_output set a price"}
			}
			return a.printPrices(table, []cost.Price{p}, format, true)
		},
	}
	pricesFlags(c, &format)
	c.Flags().StringVar(&baseURL, "base-url", "", "the endpoint, if the price is that of another provider than the model's maker")
	return c
}

func pricesFlags(c *cobra.Command, format *string) {
	c.Flags().StringP("config", "c", "", "the configuration file (default ragjudge.toml, if it is there)")
	c.Flags().StringVarP(format, "format", "f", "text", "text or json")
}

func (a *app) tableOf(cmd *cobra.Command) (*cost.Table, error) {
	cfg, err := a.configured(cmd.Flags())
	if err != nil {
		return nil, err
	}
	return a.priceTable(cfg)
}

// pricesJSON is the output for programs. Rates are US dollars per token there,
// as in the table.
type pricesJSON struct {
	Schema int          `json:"schema"`
	Date   string       `json:"date"`
	Source string       `json:"source"`
	Prices []cost.Price `json:"prices"`
}

func (a *app) printPrices(table *cost.Table, list []cost.Price, format string, whole bool) error {
	switch format {
	case "json":
		b, err := eval.MarshalJSON(pricesJSON{1, table.Date, table.Source, list})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.out, "%s\n", b)
		return err
	case "text":
	default:
		return usagef("--format must be text or json, not %q", format)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	if whole {
		for _, p := range list {
			showPrice(w, p)
		}
	} else {
		fmt.Fprintln(w, "MODEL\tPROVIDER\tINPUT\tOUTPUT\tCACHED\tBATCH INPUT\tBATCH OUTPUT")
		for _, p := range list {
			batchIn, batchOut := "", ""
			if p.Batch != nil {
				batchIn, batchOut = dollars(p.Batch.Input), dollars(p.Batch.Output)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Model, p.Provider, dollars(p.Input), dollars(p.Output), dollars(p.Cached), batchIn, batchOut)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\nUS dollars per million tokens, as of %s. Source: %s\n", table.Date, table.Source)
	return err
}

// showPrice writes a line for each thing that is known.
func showPrice(w *tabwriter.Writer, p cost.Price) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	count := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	line("model", p.Model)
	line("note", p.Note)
	line("provider", p.Provider)
	line("kind", p.Mode)
	rates := func(prefix string, r cost.Rates) {
		line(prefix+"input", dollars(r.Input))
		line(prefix+"output", dollars(r.Output))
		line(prefix+"cached input", dollars(r.Cached))
		line(prefix+"cache write", dollars(r.CacheWrite))
	}
	rates("", p.Rates)
	for _, t := range p.Tiers {
		rates(fmt.Sprintf("above %d input tokens: ", t.Above), t.Rates)
	}
	if p.Batch != nil {
		rates("batch: ", *p.Batch)
	}
	line("longest input, tokens", count(p.MaxInput))
	line("longest output, tokens", count(p.MaxOutput))
	if p.Reasoning {
		line("reasoning", "the model can think before it answers, in tokens charged as output")
	}
}

// dollars shows a price per million tokens; an unknown one is blank.
func dollars(perToken float64) string {
	if perToken == 0 {
		return ""
	}
	return "$" + cost.PerMillion(perToken)
}

func (a *app) pricesImportCommand() *cobra.Command {
	var out, date string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a price table of LiteLLM's model_prices_and_context_window.json",
		Long: `Make a price table of LiteLLM's model_prices_and_context_window.json, for
prices.file in the configuration. Models without a known price are left out, and
a missing or zero price counts as not known.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if date == "" {
				date = time.Now().UTC().Format(time.DateOnly)
			}
			if _, err := time.Parse(time.DateOnly, date); err != nil {
				return usagef("--date must be a day such as 2026-08-01, not %q", date)
			}
			return a.importPrices(args[0], out, date)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "prices.json", "the table's file")
	c.Flags().StringVar(&date, "date", "", "the day of the prices, YYYY-MM-DD (default today)")
	return c
}

func (a *app) importPrices(in, out, date string) error {
	data, err := os.ReadFile(in)
	if err != nil {
		return usageError(err)
	}
	table, err := cost.FromLiteLLM(data, date)
	if err != nil {
		return usageError(fmt.Errorf("%s: %w", in, err))
	}
	if len(table.Names()) == 0 {
		return usageError(fmt.Errorf("%s: no model there has a price; is it LiteLLM's model_prices_and_context_window.json?", in))
	}
	encoded, err := table.Encode()
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(out, encoded, 0o644); err != nil {
		return usageError(fmt.Errorf("write the price table: %w", err))
	}
	name, err := filepath.Abs(out)
	if err != nil {
		name = out
	}
	fmt.Fprintf(a.errw, "%d prices of %s; use them by\n\n[prices]\nfile = %q\n", len(table.Names()), date, name)
	return nil
}
