package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/testset"
)

// drawing is what the flags of "ragjudge data sample" say.
type drawing struct {
	n      int
	seed   uint64
	by     string
	least  int
	equal  bool
	near   float64
	out    string
	format string
	force  bool
}

func (a *app) dataSampleCommand() *cobra.Command {
	var d drawing
	c := &cobra.Command{
		Use:   "sample [FILE...]",
		Short: "Draw a test set from a log: stratified, reproducible, without near-duplicates",
		Long: `Draw so many samples from a log, spread over its categories in proportion to
their different questions, with at least --min of each, or equally with --equal.

The same --seed draws the same samples from the same rows, whatever their order:
the lot of a question is a hash of the seed and its words. Rows that repeat a
question count once. A question that is near to one already drawn is left out:
the Jaccard index of their words and pairs of words is --near or more. A further
row that is near in meaning only is not found.

The sample is written as canonical JSONL (or Parquet) to --out, by default to
standard output; what was left out is told on standard error.`,
		Example: `  ragjudge data sample log.jsonl.gz -n 200 --seed 1 --out test.jsonl
  ragjudge data sample log.jsonl -n 120 --by product --equal > test.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.dataConfig(cmd, args)
			if err != nil {
				return err
			}
			return a.sample(cfg, d)
		},
	}
	dataFlags(c)
	fs := c.Flags()
	fs.IntVarP(&d.n, "n", "n", 200, "how many samples to draw")
	fs.Uint64Var(&d.seed, "seed", 0, "the seed: another one draws another sample")
	fs.StringVar(&d.by, "by", "", "category, or a column of the metadata, to spread over; none for no strata (default: category, if there is one)")
	fs.IntVar(&d.least, "min", 5, "the least number from each stratum")
	fs.BoolVar(&d.equal, "equal", false, "the same number from each stratum")
	fs.Float64Var(&d.near, "near", testset.Near, "the similarity from which on a question is left out, above 0; above 1 keeps all but word-for-word repeats")
	fs.StringVarP(&d.out, "out", "o", dataset.Stdin, "the file to write; - is standard output")
	fs.StringVarP(&d.format, "format", "f", "", "jsonl or parquet; by the ending of --out if not given")
	fs.BoolVar(&d.force, "force", false, "replace --out if it is there")
	return c
}

func (a *app) sample(cfg *config.Config, d drawing) error {
	if d.n < 1 || d.least < 0 || !(d.near > 0) {
		return usagef("-n must be above 0, --min 0 or more, and --near above 0")
	}
	r, info, err := a.openDataset(cfg)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	by, stratum, err := strata(d.by, info)
	if err != nil {
		return err
	}
	o, err := a.createDataset(d.out, d.format, d.force)
	if err != nil {
		return err
	}
	drawn, err := testset.Draw(r, testset.Options{N: d.n, Seed: d.seed, Stratum: stratum, Least: d.least, Equal: d.equal, Near: d.near})
	if err != nil {
		return errors.Join(inputError(err), o.abandon())
	}
	if len(drawn.Samples) == 0 {
		return errors.Join(usagef("nothing can be drawn: no row of %s has a question", info.Path), o.abandon())
	}
	for _, s := range drawn.Samples {
		if err := o.Write(s); err != nil {
			return errors.Join(err, o.abandon())
		}
	}
	if err := o.finish(); err != nil {
		return err
	}
	return a.tellDrawn(drawn, d, by)
}

// strata finds out what to spread over.
func strata(by string, info dataset.Info) (name string, of func(*eval.Sample) string, err error) {
	category := info.Missing[eval.FieldCategory] < info.Rows
	switch {
	case by == "none", by == "" && !category:
		return "", nil, nil
	case by == "", by == string(eval.FieldCategory) && category:
		return "category", func(s *eval.Sample) string { return s.Category }, nil
	}
	if by == string(eval.FieldCategory) {
		return "", nil, usagef("no row has a category to draw by; name another column with --by, or map one with --column category=NAME")
	}
	for _, c := range info.Columns {
		if c.Name == by && c.Field == eval.FieldCategory {
			return by, func(s *eval.Sample) string { return s.Category }, nil
		}
	}
	known := slices.ContainsFunc(info.Columns, func(c dataset.Column) bool {
		return c.Name == by && c.Field == eval.FieldMetadata || c.Name == "metadata"
	})
	if !known {
		return "", nil, usagef("no column is called %q; --by takes category or a column that feeds no other field", by)
	}
	return by, func(s *eval.Sample) string {
		raw := s.Metadata[by]
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		return string(raw)
	}, nil
}

// tellDrawn says what was drawn and what was left out.
func (a *app) tellDrawn(d *testset.Drawn, want drawing, by string) error {
	w := tabwriter.NewWriter(a.errw, 0, 0, 2, ' ', 0)
	var repeats, near int
	for _, st := range d.Strata {
		repeats += st.Duplicates
		near += st.Near
	}
	fmt.Fprintf(a.errw, "%d of %d rows drawn (seed %d)\n", len(d.Samples), d.Rows, want.seed)
	if by != "" {
		fmt.Fprintf(w, "%s\trows\tquestions\tdrawn\trepeats\tnear-duplicates\n", by)
		for _, st := range d.Strata {
			name := shown(st.Name)
			if st.Name == "" {
				name = "(none)"
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", name, st.Rows, st.Questions, st.Drawn, st.Duplicates, st.Near)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	that := "that repeat"
	if repeats == 1 {
		that = "that repeats"
	}
	fmt.Fprintf(a.errw, "left out: %s %s a question word for word, %s near one that was drawn (similarity %g or more), %s without a question\n",
		plural(repeats, "row"), that, plural(near, "question"), want.near, plural(d.NoQuestion, "row"))
	for _, p := range d.NearPairs[:min(len(d.NearPairs), 3)] {
		fmt.Fprintf(a.errw, "  near: %s was kept, %s left out\n", shown(p[0]), shown(p[1]))
	}
	if len(d.Samples) < want.n {
		apart := ""
		if near > 0 {
			apart = " that are not near each other"
		}
		fmt.Fprintf(a.errw, "there are no more than %d different questions%s; %d were asked for\n", len(d.Samples), apart, want.n)
	}
	return nil
}

// shown shows a text from a file on one line, quoted if it holds what a
// terminal might act on.
func shown(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}
