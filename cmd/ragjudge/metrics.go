package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
)

func (a *app) metricsCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "metrics [NAME...]",
		Short: "Describe every metric, or some: what it needs, calls and computes",
		RunE: func(_ *cobra.Command, args []string) error {
			defs, err := a.definedIn(path)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listMetrics(defs)
			}
			for i, name := range args {
				if i > 0 {
					fmt.Fprintln(a.out)
				}
				if d, ok := defs[name]; ok {
					err = a.describe(metrics.Family{Name: name}, d.Info())
				} else {
					err = a.describeMetric(name)
				}
				if err != nil {
					return usageError(err)
				}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&path, "config", "c", "", "also describe the metrics that this configuration defines")
	return c
}

// definedIn are the metrics that a configuration defines; none without one.
func (a *app) definedIn(path string) (map[string]metrics.Definition, error) {
	if path == "" {
		return nil, nil
	}
	cfg, err := a.configFile(path, nil)
	if err != nil {
		return nil, err
	}
	defs, err := definitions(cfg)
	if err != nil {
		return nil, usageError(err)
	}
	return defs, nil
}

// sampleInfo describes a metric by its name or, where that needs a cut-off and
// has none, by a usual one.
func sampleInfo(name string) (metrics.Family, eval.Info, error) {
	for _, f := range metrics.All {
		if f.Name == name && f.CutOff == metrics.NeedsCutOff {
			name += "@5"
		}
	}
	f, err := metrics.FamilyOf(name)
	if err != nil {
		return f, eval.Info{}, err
	}
	m, err := metrics.New(name, metrics.Options{Judge: noJudge, Embedder: noEmbedder})
	if err != nil {
		return f, eval.Info{}, err
	}
	return f, m.Info(), nil
}

func (a *app) listMetrics(defs map[string]metrics.Definition) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "METRIC\tJUDGE CALLS\tNEEDS\tWHAT")
	for _, f := range metrics.All {
		_, info, err := sampleInfo(f.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", metricName(f), shortCalls(info), fields(info.Needs), firstSentence(info.Doc))
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		info := defs[name].Info()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, shortCalls(info), fields(info.Needs), firstSentence(info.Doc))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, "\n\"ragjudge metrics NAME\" tells all about one.")
	return err
}

func (a *app) describeMetric(name string) error {
	f, info, err := sampleInfo(name)
	if err != nil {
		return err
	}
	return a.describe(f, info)
}

// describe tells all about one metric.
func (a *app) describe(f metrics.Family, info eval.Info) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tversion %d\n", info.Name, info.Version)
	fmt.Fprintf(w, "  needs\t%s\n", fields(info.Needs))
	fmt.Fprintf(w, "  calls\t%s\n", calls(info))
	if shared := sharedCalls(info); shared != "" {
		fmt.Fprintf(w, "  shares calls with\t%s\n", shared)
	}
	fmt.Fprintf(w, "  formula\t%s\n", info.Formula)
	if info.LowerIsBetter {
		fmt.Fprintf(w, "  a good value is\tlow\n")
	}
	if len(f.Options) > 0 {
		fmt.Fprintf(w, "  options\t%s (under [metric.%s])\n", strings.Join(f.Options, ", "), f.Name)
	}
	if len(f.Modes) > 0 {
		fmt.Fprintf(w, "  mode\t%s; the first is the default\n", joined(f.Modes))
	}
	if len(f.Compats) > 0 {
		fmt.Fprintf(w, "  compat\t%s: the formula of that tool (docs/metrics.md)\n", joined(f.Compats))
	}
	if info.Note != "" {
		fmt.Fprintf(w, "  note\t%s\n", info.Note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", wrap(info.Doc, 78, "  "))
	return err
}

// sharedCalls names the metrics that ask a question of this one too, with the
// number of calls that the two have in common.
func sharedCalls(info eval.Info) string {
	var with []string
	for _, other := range metrics.Infos() {
		if n := len(metrics.SharedAsks(info, other)); n > 0 && other.Name != info.Name {
			with = append(with, fmt.Sprintf("%s (%d)", other.Name, n))
		}
	}
	return strings.Join(with, ", ")
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// metricName is a family's name with what may or must follow it.
func metricName(f metrics.Family) string {
	switch f.CutOff {
	case metrics.NeedsCutOff:
		return f.Name + "@k"
	case metrics.OptionalCutOff:
		return f.Name + "[@k]"
	}
	return f.Name
}

func calls(info eval.Info) string {
	if info.Calls == "" {
		return "none"
	}
	return info.Calls
}

// shortCalls is the number of calls, with what each is for where that is told in
// a few words.
func shortCalls(info eval.Info) string {
	const few = 60
	all := calls(info)
	if n, _, ok := strings.Cut(all, ":"); ok && len(all) > few {
		return n
	}
	return all
}

func fields(list []eval.Field) string {
	var names []string
	for _, f := range list {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}

// wrap breaks text at blanks into indented lines of at most width bytes.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	n := width
	for word := range strings.FieldsSeq(text) {
		switch {
		case b.Len() == 0:
			b.WriteString(indent)
			n = len(indent)
		case n+1+len(word) > width:
			b.WriteString("\n" + indent)
			n = len(indent)
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}
