package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/testset"
)

func (a *app) dataCheckCommand() *cobra.Command {
	var format string
	var difference, sd float64
	c := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Say what was understood of a dataset, and what it is fit for",
		Long: `Read a dataset and say what was understood: format, whose records, which column
feeds which field, what is missing, which metrics can be computed on how many
rows, repeats and near-duplicates, languages, lengths, categories, and answers
that look like error messages. Nothing is written and no call is made.

It warns where the set is too small or too lopsided for a comparison of two runs
to show a --difference of the mean: paired rows, 95 %, power 80 %, with --sd the
standard deviation of the differences (docs/statistics.md has the formula).

Exit code 2: the dataset can't be read, or has bad lines (unless they are
skipped with --skip-bad-lines).`,
		Example: `  ragjudge data check samples.jsonl
  ragjudge data check --format json --difference 0.03 export.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usagef("unknown format %q: a check is written as text or json", format)
			}
			if !(difference > 0 && difference <= 1) || !(sd > 0 && sd <= 1) {
				return usagef("--difference and --sd must be above 0 and at most 1")
			}
			cfg, err := a.dataConfig(cmd, args)
			if err != nil {
				return err
			}
			return a.check(cfg, format, difference, sd)
		},
	}
	dataFlags(c)
	c.Flags().StringVarP(&format, "format", "f", "text", "text or json")
	c.Flags().Float64Var(&difference, "difference", 0.05, "the change of a mean that two runs should show")
	c.Flags().Float64Var(&sd, "sd", testset.Spread, "the standard deviation of paired differences")
	return c
}

// check reads the dataset, bad lines and all, and prints what it found.
func (a *app) check(cfg *config.Config, format string, difference, sd float64) error {
	skip := cfg.Dataset.SkipBadLines
	cfg.Dataset.SkipBadLines = true
	r, info, err := a.scanDataset(cfg)
	if err != nil && len(info.Bad) > 0 { // not one line is good: say why
		return inputError(&dataset.BadInputError{File: info.Path, Count: info.BadLines, Bad: info.Bad[:min(len(info.Bad), 10)]})
	}
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	p := testset.NewProfile()
	for {
		s, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return inputError(err)
		}
		p.Add(s)
	}
	c, err := newCheck(info, p, difference, sd)
	if err != nil {
		return err
	}
	if format == "json" {
		b, jerr := eval.MarshalJSON(c)
		if jerr != nil {
			return jerr
		}
		_, err = a.out.Write(append(b, '\n'))
	} else {
		err = c.text(a.out)
	}
	if err == nil && info.BadLines > 0 && !skip {
		err = &exitError{code: exitUsage, err: fmt.Errorf("%s can't be read, so that a run refuses the dataset", plural(info.BadLines, "line")),
			hint: "mend them, or pass over them with --skip-bad-lines"}
	}
	return err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// checked is what "ragjudge data check" says, in the form of its JSON.
type checked struct {
	Schema           int                        `json:"schema"`
	Path             string                     `json:"path"`
	Format           dataset.Format             `json:"format"`
	Shape            dataset.Format             `json:"shape"`
	Encoding         string                     `json:"encoding"`
	Compression      string                     `json:"compression"`
	Files            int                        `json:"files"`
	Bytes            int64                      `json:"bytes"`
	SHA256           string                     `json:"sha256"`
	Rows             int                        `json:"rows"`
	BadLines         int                        `json:"bad_lines"`
	Bad              []badLine                  `json:"bad"`
	Columns          []checkedColumn            `json:"columns"`
	Missing          map[eval.Field]int         `json:"missing"`
	GeneratedIDs     int                        `json:"generated_ids"`
	NothingRetrieved int                        `json:"nothing_retrieved"`
	LikeErrors       int                        `json:"answers_like_errors"`
	LikeErrorRows    []int                      `json:"answers_like_errors_rows"`
	Metrics          []checkedMetric            `json:"metrics"`
	Duplicates       checkedDuplicates          `json:"duplicates"`
	Languages        map[string]int             `json:"languages"`
	Categories       map[string]int             `json:"categories"`
	OtherCategories  int                        `json:"rows_of_further_categories"`
	Lengths          map[eval.Field]checkedSize `json:"lengths"`
	ContextsPerRow   *percentiles               `json:"contexts_per_row"`
	Warnings         []checkedWarning           `json:"warnings"`
	Difference       checkedDifference          `json:"difference"`
	Advice           []testset.Advice           `json:"advice"`
}

type badLine struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Row    int    `json:"row"`
	Column string `json:"column,omitempty"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

type checkedColumn struct {
	Name  string     `json:"name"`
	Field eval.Field `json:"field"`
	Rows  int        `json:"rows"`
}

type checkedMetric struct {
	Name   string       `json:"name"`
	Judged bool         `json:"judged"`
	Rows   int          `json:"rows"`
	Needs  []eval.Field `json:"needs"`
}

type checkedDuplicates struct {
	SameContent   int         `json:"same_content"`
	SameQuestion  int         `json:"same_question"`
	NearQuestions int         `json:"near_questions"`
	NearPairs     [][2]string `json:"near_pairs"`
	NotCompared   int         `json:"not_compared"`
}

type percentiles struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	P50  int     `json:"p50"`
	P90  int     `json:"p90"`
	P99  int     `json:"p99"`
	Max  int     `json:"max"`
}

type checkedSize struct {
	Words      percentiles `json:"words"`
	Characters percentiles `json:"characters"`
}

type checkedWarning struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Count   int    `json:"count"`
	Row     int    `json:"row"`
	Line    int    `json:"line"`
}

// checkedDifference says what the size of the set allows to see.
type checkedDifference struct {
	Wanted float64  `json:"wanted"`
	SD     float64  `json:"sd"`
	Level  float64  `json:"level"`
	Power  float64  `json:"power"`
	Needs  int      `json:"rows_needed"`
	Shown  *float64 `json:"shown_by_these_rows"`
}

func newCheck(info dataset.Info, p *testset.Profile, difference, sd float64) (*checked, error) {
	c := &checked{
		Schema: 1, Path: info.Path, Format: info.Format, Shape: info.Shape, Files: len(info.Files), Bytes: info.Size, SHA256: info.SHA256,
		Rows: info.Rows, BadLines: info.BadLines, Bad: []badLine{}, Missing: map[eval.Field]int{}, GeneratedIDs: info.NoID,
		NothingRetrieved: info.NothingRetrieved, LikeErrors: info.LikeErrors, LikeErrorRows: append([]int{}, info.LikeErrorRows...),
		Languages: p.Languages, Categories: p.Categories, OtherCategories: p.OtherCategories, Lengths: map[eval.Field]checkedSize{},
		Duplicates: checkedDuplicates{p.SameContent, p.SameQuestion, p.NearQuestions, append([][2]string{}, p.NearPairs...), p.NotCompared},
		Warnings:   []checkedWarning{},
		Difference: checkedDifference{Wanted: difference, SD: sd, Level: testset.Level, Power: testset.Power, Needs: testset.Rows(difference, sd)},
		Advice:     append([]testset.Advice{}, testset.Advise(info.Rows, p.Categories, difference, sd)...),
	}
	if info.Rows > 1 {
		shown := testset.Difference(info.Rows, sd)
		c.Difference.Shown = &shown
	}
	for _, f := range info.Files {
		c.Encoding = alike(c.Encoding, f.Encoding)
		packed := ""
		for i, how := range f.Compression {
			if i > 0 {
				packed += " in "
			}
			packed += string(how)
		}
		c.Compression = alike(c.Compression, packed)
	}
	for _, b := range info.Bad {
		c.Bad = append(c.Bad, badLine{b.File, b.Line, b.Row, b.Column, b.Reason, b.Hint})
	}
	for _, col := range info.Columns {
		c.Columns = append(c.Columns, checkedColumn{col.Name, col.Field, col.Rows})
	}
	for f, n := range info.Missing {
		if n > 0 {
			c.Missing[f] = n
		}
	}
	for f, l := range p.Lengths {
		c.Lengths[f] = checkedSize{percentilesOf(&l.Words), percentilesOf(&l.Characters)}
	}
	if p.Contexts.N() > 0 {
		per := percentilesOf(&p.Contexts)
		c.ContextsPerRow = &per
	}
	for _, w := range info.Warnings {
		c.Warnings = append(c.Warnings, checkedWarning{w.Kind, w.Message, w.Count, w.Row, w.Line})
	}
	for _, f := range metrics.All {
		_, m, err := sampleInfo(f.Name)
		if err != nil {
			return nil, err
		}
		c.Metrics = append(c.Metrics, checkedMetric{metricName(f), f.Judged, p.With(m.Needs), m.Needs})
	}
	return c, nil
}

// alike is what two files have in common, or "mixed".
func alike(a, b string) string {
	if a == "" || a == b {
		return b
	}
	return "mixed"
}

func percentilesOf(l *testset.Lengths) percentiles {
	return percentiles{l.N(), l.Mean(), l.Percentile(0.5), l.Percentile(0.9), l.Percentile(0.99), l.Max()}
}

// text prints the check for people.
func (c *checked) text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	c.understood(w)
	c.fields(w)
	c.contents(w)
	c.verdict(w)
	return w.Flush()
}

func (c *checked) understood(w io.Writer) {
	how := string(c.Format)
	if c.Shape == dataset.BEIR {
		how = "a folder of files"
	}
	if c.Encoding != "" && c.Encoding != "utf-8" {
		how += ", " + c.Encoding
	}
	if c.Compression != "" {
		how += ", " + c.Compression
	}
	fmt.Fprintf(w, "dataset\t%s\n", shown(c.Path))
	fmt.Fprintf(w, "format\t%s\n", how)
	fmt.Fprintf(w, "records\t%s\n", dataset.ShapeTitle(c.Shape))
	fmt.Fprintf(w, "rows\t%d\n", c.Rows)
	if c.BadLines > 0 {
		fmt.Fprintf(w, "bad lines\t%d\n", c.BadLines)
		const most = 5
		for _, b := range c.Bad[:min(len(c.Bad), most)] {
			at := dataset.LineError{File: b.File, Line: b.Line, Row: b.Row, Column: b.Column, Reason: b.Reason}
			fmt.Fprintf(w, "\t%s\n", at.Error())
		}
	}
	if c.GeneratedIDs > 0 {
		fmt.Fprintf(w, "without an id\t%d (a hash of the content stands in; two systems can't be paired by it)\n", c.GeneratedIDs)
	}
}

func (c *checked) fields(w io.Writer) {
	fmt.Fprintln(w, "\nCOLUMN\tFIELD\tROWS")
	const most = 40
	for i, col := range c.Columns {
		if i == most {
			fmt.Fprintf(w, "and %d more\n", len(c.Columns)-most)
			break
		}
		fmt.Fprintf(w, "%s\t%s\t%d\n", shown(col.Name), col.Field, col.Rows)
	}
	if len(c.Missing) > 0 {
		fmt.Fprintln(w, "\nMISSING\tROWS")
		for _, f := range slices.Sorted(maps.Keys(c.Missing)) {
			fmt.Fprintf(w, "%s\t%d\n", f, c.Missing[f])
		}
	}
	if c.NothingRetrieved > 0 {
		fmt.Fprintf(w, "\nnothing retrieved\t%d\n", c.NothingRetrieved)
	}
	fmt.Fprintln(w, "\nMETRIC\tROWS\tNEEDS")
	for _, m := range c.Metrics {
		fmt.Fprintf(w, "%s\t%d\t%s\n", m.Name, m.Rows, fields(m.Needs))
	}
}

func (c *checked) contents(w io.Writer) {
	fmt.Fprintln(w, "\nLENGTH IN WORDS\tTEXTS\tP50\tP90\tP99\tMAX\tCHARACTERS AT P99\tMAX")
	for _, f := range slices.Sorted(maps.Keys(c.Lengths)) {
		l := c.Lengths[f]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", f, l.Words.N, l.Words.P50, l.Words.P90, l.Words.P99, l.Words.Max, l.Characters.P99, l.Characters.Max)
	}
	if p := c.ContextsPerRow; p != nil {
		fmt.Fprintf(w, "contexts of a row\t%d\t%d\t%d\t%d\t%d\n", p.N, p.P50, p.P90, p.P99, p.Max)
	}
	fmt.Fprintf(w, "\nlanguages\t%s\n", ranked(c.Languages, "no letters", 12))
	fmt.Fprintf(w, "categories\t%s\n", ranked(c.Categories, "(none)", 20))
	d := c.Duplicates
	fmt.Fprintf(w, "repeats\t%s with the content of an earlier one, %s of an earlier one in the same words, %s near an earlier one\n",
		plural(d.SameContent, "row"), plural(d.SameQuestion, "question"), plural(d.NearQuestions, "question"))
	for _, p := range d.NearPairs[:min(len(d.NearPairs), 3)] {
		fmt.Fprintf(w, "\tnear: %s and %s\n", shown(p[0]), shown(p[1]))
	}
	if d.NotCompared > 0 {
		fmt.Fprintf(w, "\t%d questions after the first %d were not searched for near ones\n", d.NotCompared, testset.MaxQuestions)
	}
}

func (c *checked) verdict(w io.Writer) {
	if c.LikeErrors > 0 {
		fmt.Fprintf(w, "\nanswers like errors\t%d (rows %s)\n", c.LikeErrors, strings.Trim(fmt.Sprint(c.LikeErrorRows), "[]"))
	}
	fmt.Fprintln(w)
	for _, warning := range c.Warnings {
		at := ""
		if warning.Row > 0 {
			at = fmt.Sprintf(", first in row %d", warning.Row)
		}
		fmt.Fprintf(w, "warning: %s (%d%s)\n", warning.Message, warning.Count, at)
	}
	for _, a := range c.Advice {
		fmt.Fprintf(w, "warning: %s\n", a.Message)
	}
	if len(c.Warnings)+len(c.Advice) == 0 {
		fmt.Fprintln(w, "no warnings")
	}
}

// ranked lists counts, the largest first.
func ranked(counts map[string]int, none string, most int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for i, name := range names {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		label := shown(name)
		if name == "" {
			label = none
		}
		parts = append(parts, fmt.Sprintf("%s %d", label, counts[name]))
	}
	return strings.Join(parts, ", ")
}
