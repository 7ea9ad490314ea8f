package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/prompts"
)

// maxLabelled bounds a labelled file: both prompts are asked about each case.
const maxLabelled = 10_000

func (a *app) promptsTestCommand(load func() (*config.Config, error)) *cobra.Command {
	var format, baseURL string
	var offline bool
	c := &cobra.Command{
		Use:   "test FILE",
		Short: "Measure a prompt against labels, beside the built-in one",
		Long: `Ask the judge about each case of a labelled file, by the prompts of --dir and
--config and by the built-in ones, and tell how often each agrees with the labels,
with the interval of the difference. FILE holds JSON lines in the form of the
worked examples: "prompt", the data, and in "reply" what a person says. Cases for
steps with verdicts or a rating are understood. Replies are cached as in a run, so
that a second try with other words pays for the new ones only.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usagef("unknown format %q: the result is written as text or json", format)
			}
			cfg, err := load()
			if err != nil {
				return err
			}
			if baseURL != "" {
				cfg.Judge.BaseURL = baseURL
			}
			if offline {
				cfg.Judge.Provider, cfg.Judge.BaseURL, cfg.Judges = config.Lexical, "", nil
			}
			return a.testPrompts(cmd.Context(), cfg, args[0], format)
		},
	}
	c.Flags().StringVarP(&format, "format", "f", "text", "text or json")
	c.Flags().StringVar(&baseURL, "base-url", "", "the judge's endpoint")
	c.Flags().BoolVar(&offline, "offline", false, "ask the offline judge: it reads no wording, but shows that the file is right")
	return c
}

// promptTest is what one template was found to be worth.
type promptTest struct {
	Template string `json:"template"`
	// Cases are the lines, Asked the verdicts or ratings that they hold.
	Cases int `json:"cases"`
	Asked int `json:"asked"`
	// Own and BuiltIn are the two prompts; Difference is own minus built-in.
	Own        promptScore `json:"own"`
	BuiltIn    promptScore `json:"built_in"`
	Difference difference  `json:"difference"`
	// Same: both prompts have the same words.
	Same bool `json:"same"`
}

// promptScore is how far one prompt agrees with the labels.
type promptScore struct {
	Hash string `json:"hash"`
	// Agreement is the share of what was asked that has the label's verdict or
	// rating; what has no usable reply does not agree.
	Agreement float64 `json:"agreement"`
	// Kappa is Cohen's, over what has a reply; nil where it is not defined.
	Kappa *float64 `json:"kappa"`
	// NoReply counts what has no usable reply.
	NoReply int `json:"no_reply"`
	// Distance is the mean distance of the ratings to the labels; nil for
	// verdicts.
	Distance *float64 `json:"distance,omitempty"`
}

// testPrompts asks both prompts about every case.
func (a *app) testPrompts(ctx context.Context, cfg *config.Config, file, format string) error {
	cases, err := prompts.ReadExamples(file)
	if err != nil {
		return usageError(err)
	}
	if len(cases) > maxLabelled {
		return usagef("%s holds %d cases; more than %d would cost more than they tell", file, len(cases), maxLabelled)
	}
	defs, err := definitions(cfg)
	if err != nil {
		return usageError(err)
	}
	forms := replyForms(defs)
	// What is wrong with a case is what would be wrong with an example.
	if _, err := prompts.Load(prompts.Options{Custom: customPrompts(defs), Forms: forms, Examples: cases}); err != nil {
		return usageError(err)
	}
	for i, c := range cases {
		if f, known := forms[c.Prompt]; !known || len(f.Labels) == 0 && f.Min == f.Max {
			return usagef("%s: %s: replies to it can't be compared; cases are for %s", c.Where(i), c.Prompt, strings.Join(slices.Sorted(maps.Keys(forms)), ", "))
		}
	}
	pair, err := a.promptPair(cfg)
	if err != nil {
		return err
	}
	if err := a.warnOfKnownCases(cfg, defs, cases); err != nil {
		return err
	}
	said, err := a.askBoth(ctx, cfg, pair, cases, forms)
	if err != nil {
		return err
	}
	var results []promptTest
	for _, name := range templatesIn(cases) {
		results = append(results, compareOn(pair, name, cases, forms[name], said, cfg.Run.Seed))
	}
	return a.printPromptTest(results, format)
}

// warnOfKnownCases warns of labels that the prompt shows as worked examples: it
// would be asked for what it has been told.
func (a *app) warnOfKnownCases(cfg *config.Config, defs map[string]metrics.Definition, cases []prompts.Example) error {
	opt, err := promptOptions(cfg, defs)
	if err != nil {
		return usageError(err)
	}
	shown := slices.Clone(opt.Examples)
	for _, t := range opt.For {
		shown = append(shown, t.Examples...)
	}
	for i, c := range cases {
		same := func(e prompts.Example) bool {
			return (e.Prompt == "" || e.Prompt == c.Prompt) && e.UserInput == c.UserInput && e.Response == c.Response && e.Reference == c.Reference &&
				slices.Equal(e.RetrievedContexts, c.RetrievedContexts) && slices.Equal(e.Items, c.Items)
		}
		if slices.ContainsFunc(shown, same) {
			a.log.Warn("a labelled case is one of the prompt's worked examples, and flatters it", "case", c.Where(i))
		}
	}
	return nil
}

func templatesIn(cases []prompts.Example) []string {
	var names []string
	for _, c := range cases {
		if !slices.Contains(names, c.Prompt) {
			names = append(names, c.Prompt)
		}
	}
	slices.Sort(names)
	return names
}

// answers are what both prompts said to a case: a label or a rating for each
// thing asked, empty where there is no usable reply.
type answers struct{ own, builtIn []string }

// askBoth asks the first judge of the configuration, by both prompts.
func (a *app) askBoth(ctx context.Context, cfg *config.Config, pair promptPair, cases []prompts.Example, forms map[string]prompts.Form) ([]answers, error) {
	own := &session{cfg: cfg, prompts: pair.own, judged: true}
	if err := own.checkJudge(); err != nil {
		return nil, usageError(err)
	}
	price, err := newPrices(cfg, a.log)
	if err != nil {
		return nil, err
	}
	chain, err := a.newChain(cfg, price, chainOptions{since: time.Now()}, a.log)
	if err != nil {
		return nil, err
	}
	defer chain.close() //nolint:errcheck // what was paid for has been kept by then
	builtIn := &session{cfg: cfg, prompts: pair.builtIn, judged: true}
	judges := make([]metrics.Judge, 0, 2)
	for _, s := range []*session{own, builtIn} {
		panel, err := s.panel(chain.client)
		if err != nil {
			return nil, err
		}
		judges = append(judges, panel.Seats[0].Judge)
	}
	said := make([]answers, len(cases))
	errs := make([]error, len(cases))
	slots := make(chan struct{}, max(cfg.Limits.Concurrency, 1))
	var wg sync.WaitGroup
	for i, c := range cases {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			var err1, err2 error
			said[i].own, err1 = answerOf(ctx, judges[0], c, forms[c.Prompt])
			said[i].builtIn, err2 = answerOf(ctx, judges[1], c, forms[c.Prompt])
			errs[i] = errors.Join(err1, err2)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return said, nil
}

// answerOf asks about one case. An error ends the test: a call that failed says
// nothing about a prompt.
func answerOf(ctx context.Context, j metrics.Judge, c prompts.Example, f prompts.Form) ([]string, error) {
	folder, _, _ := strings.Cut(c.Prompt, "/")
	ask := judge.Ask{Metric: folder, Prompt: c.Prompt, UserInput: c.UserInput, Response: c.Response, Reference: c.Reference,
		Contexts: c.RetrievedContexts, Text: c.Text, Items: c.Items, Labels: f.Labels, Min: f.Min, Max: f.Max}
	out := make([]string, asked(c, f))
	var unusable *judge.UnusableError
	if len(f.Labels) == 0 {
		r, err := j.Rate(ctx, ask)
		if err == nil {
			out[0] = fmt.Sprint(r.Rating)
		}
		if errors.As(err, &unusable) {
			err = nil
		}
		return out, err
	}
	verdicts, err := j.Verdicts(ctx, ask)
	if errors.As(err, &unusable) {
		return out, nil
	}
	for i, v := range verdicts {
		out[i] = v.Label
	}
	return out, err
}

// asked is how much a case asks for.
func asked(c prompts.Example, f prompts.Form) int {
	if len(f.Labels) == 0 {
		return 1
	}
	return len(c.Items)
}

// labelsOf is what a person says to a case. The case has been checked.
func labelsOf(c prompts.Example, f prompts.Form) []string {
	var reply struct {
		Rating   int
		Verdicts []struct{ Verdict string }
	}
	if err := json.Unmarshal(c.Reply, &reply); err != nil {
		panic(fmt.Sprintf("a checked reply can't be decoded: %v", err))
	}
	if len(f.Labels) == 0 {
		return []string{fmt.Sprint(reply.Rating)}
	}
	out := make([]string, len(reply.Verdicts))
	for i, v := range reply.Verdicts {
		out[i] = v.Verdict
	}
	return out
}

// compareOn compares the two prompts on the cases of one template.
func compareOn(pair promptPair, name string, cases []prompts.Example, f prompts.Form, said []answers, seed uint64) promptTest {
	var own, builtIn, labels []string
	var diffs []clusterDiff
	for i, c := range cases {
		if c.Prompt != name {
			continue
		}
		want := labelsOf(c, f)
		labels, own, builtIn = append(labels, want...), append(own, said[i].own...), append(builtIn, said[i].builtIn...)
		d := clusterDiff{n: len(want)}
		for k, w := range want {
			d.sum += truth(said[i].own[k] == w) - truth(said[i].builtIn[k] == w)
		}
		diffs = append(diffs, d)
	}
	t := promptTest{Template: name, Cases: len(diffs), Asked: len(labels), Own: scoreOf(own, labels, f), BuiltIn: scoreOf(builtIn, labels, f)}
	t.Difference = compareDiffs(diffs, seed)
	if p, err := pair.own.Get(name); err == nil {
		t.Own.Hash = p.Hash
	}
	if p, err := pair.builtIn.Get(name); err == nil {
		t.BuiltIn.Hash = p.Hash
	}
	t.Same = t.Own.Hash == t.BuiltIn.Hash
	return t
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (a *app) printPromptTest(results []promptTest, format string) error {
	if format == "json" {
		b, err := eval.MarshalJSON(map[string]any{"schema": 1, "prompts": results})
		if err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		_, err = fmt.Fprintf(a.out, "%s\n", b)
		return err
	}
	for _, t := range results {
		fmt.Fprintf(a.out, "%s: %d cases, %d labels\n", t.Template, t.Cases, t.Asked)
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  prompt\tagreement\tkappa\tdistance\tno reply\thash")
		for _, p := range []struct {
			name string
			promptScore
		}{{"yours", t.Own}, {"built-in", t.BuiltIn}} {
			fmt.Fprintf(w, "  %s\t%.3f\t%s\t%s\t%d\t%s\n", p.name, p.Agreement, figure(p.Kappa), figure(p.Distance), p.NoReply, p.Hash[:12])
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "  %s\n", t.verdict()); err != nil {
			return err
		}
	}
	return nil
}

func figure(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *v)
}

// verdict says in words what the difference tells.
func (t promptTest) verdict() string {
	if t.Same {
		return "Both prompts are the same: there is nothing to compare."
	}
	d := t.Difference
	if d.CI95 == nil {
		return fmt.Sprintf("Difference %+.3f; one case says nothing about how sure that is.", d.Mean)
	}
	what := "no difference that these cases can tell from chance"
	switch {
	case d.CI95[0] > 0:
		what = "your prompt agrees better"
	case d.CI95[1] < 0:
		what = "the built-in prompt agrees better"
	}
	return fmt.Sprintf("Difference %+.3f (95 %% interval %+.3f to %+.3f, p = %.3f): %s.", d.Mean, d.CI95[0], d.CI95[1], d.P, what)
}
