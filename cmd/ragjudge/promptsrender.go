package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/prompts"
)

// renderOptions say which calls of which sample are shown.
type renderOptions struct {
	name   string // of a template or a metric; empty for all
	id     string
	row    int
	format string
}

func (a *app) promptsRenderCommand(config, dir *string) *cobra.Command {
	var opt renderOptions
	var input, metricList string
	c := &cobra.Command{
		Use:   "render [NAME]",
		Short: "Show exactly what would be sent for one sample, with its tokens",
		Long: `Show every call that the judge would get for one sample: the messages, byte for
byte, and how many tokens are the same for every sample (the fixed part, which
providers cache) and how many are this sample's. NAME is a template, such as
faithfulness/verdict, or a metric; without it, all calls of the configured
metrics are shown. Nothing is sent: a step that stands on an earlier reply takes
that from the cache or, where it isn't there, from the offline judge.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opt.name = args[0]
			}
			if opt.format != "text" && opt.format != "json" {
				return usagef("unknown format %q: calls are shown as text or json", opt.format)
			}
			if opt.id != "" && cmd.Flags().Changed("row") {
				return usagef("give --id or --row, not both")
			}
			if opt.row < 1 {
				return usagef("--row is a number from 1, not %d", opt.row)
			}
			cfg, err := a.renderConfig(*config, *dir, input, metricList, opt.name)
			if err != nil {
				return err
			}
			return a.renderPrompts(cmd.Context(), cfg, opt)
		},
	}
	c.Flags().StringVarP(&input, "input", "i", "", "the dataset")
	c.Flags().StringVar(&metricList, "metrics", "", "the metrics, separated by commas")
	c.Flags().StringVar(&opt.id, "id", "", "the id of the sample")
	c.Flags().IntVar(&opt.row, "row", 1, "the number of the sample in the dataset, from 1")
	c.Flags().StringVarP(&opt.format, "format", "f", "text", "text or json")
	return c
}

// renderConfig is the configuration with what the flags say. The metric of the
// template that is asked for need not be named.
func (a *app) renderConfig(path, dir, input, metricList, name string) (*config.Config, error) {
	var flags []config.Flag
	if input != "" {
		flags = append(flags, config.Flag{Key: "dataset.path", Value: input, Name: "--input"})
	}
	if metricList != "" {
		flags = append(flags, config.Flag{Key: "metrics", Value: metricList, Name: "--metrics"})
	}
	cfg, err := a.loadConfig(path, flags)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		cfg.Prompts.Dir = dir
	}
	if metric, _, _ := strings.Cut(name, "/"); metric != "" && metric != "claims" && !slices.Contains(cfg.Metrics, metric) && metricList == "" {
		cfg.Metrics = append(cfg.Metrics, metric)
	}
	if len(cfg.Metrics) == 0 {
		cfg.Metrics = []string{"faithfulness"}
	}
	if cfg.Judge.Model == "" && cfg.Judge.Provider != config.Lexical && len(cfg.Judges) == 0 {
		cfg.Judge.Provider, cfg.Judge.BaseURL = config.Lexical, ""
	}
	return cfg, nil
}

// renderedCall is one call that would be made.
type renderedCall struct {
	Metric   string `json:"metric"`
	Template string `json:"template"`
	Model    string `json:"model"`
	Key      string `json:"key"`
	// Cached: the reply is in the cache, so that nothing would be sent.
	Cached bool `json:"cached"`
	// FixedTokens are those up to the first data of the sample: the same in every
	// call of the template. VaryingTokens are the rest of the messages, SchemaTokens
	// those of the form of the reply, TotalTokens all with what the chat takes.
	FixedTokens   int           `json:"fixed_tokens"`
	VaryingTokens int           `json:"varying_tokens"`
	SchemaTokens  int           `json:"schema_tokens"`
	TotalTokens   int           `json:"total_tokens"`
	Messages      []llm.Message `json:"messages"`
}

// renderPrompts scores one sample over a chain that makes no call, and prints
// what would have been sent.
func (a *app) renderPrompts(ctx context.Context, cfg *config.Config, opt renderOptions) error {
	s, err := newSession(cfg)
	if err != nil {
		return err
	}
	if !s.judged {
		return usagef("none of the metrics asks a judge: %s", strings.Join(s.names, ", "))
	}
	sample, err := a.oneSample(cfg, opt)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var planned []llm.Planned
	chain, err := a.newDryChain(cfg, func(p llm.Planned) {
		mu.Lock()
		defer mu.Unlock()
		planned = append(planned, p)
	}, a.log)
	if err != nil {
		return err
	}
	defer chain.close() //nolint:errcheck // it was only read
	panel, err := s.panel(chain.client)
	if err != nil {
		return err
	}
	panel.Seats = panel.Seats[:1] // all others are asked the same
	list, _, err := s.metrics(panel)
	if err != nil {
		return err
	}
	for _, m := range list { // one after the other, so that the calls stand in order
		score, err := m.Score(ctx, sample)
		if err != nil {
			return err
		}
		if !m.Info().Judged || score.Status != eval.Skipped && score.Status != eval.Undefined {
			continue
		}
		a.log.Info("a metric has no score for this sample", "metric", m.Info().Name, "status", score.Status, "reason", score.Reason)
	}
	calls, predicted := renderedCalls(s.prompts, planned, opt.name)
	if len(calls) == 0 {
		return usagef("no call of %s would be made for this sample", describeName(opt.name))
	}
	if predicted {
		a.log.Info("a later call stands on the offline judge's reply to an earlier one, since the cache has none of your judge")
	}
	return printRendered(a.out, sample, calls, opt.format)
}

func describeName(name string) string {
	if name == "" {
		return "any metric"
	}
	return name
}

// oneSample finds the sample in the dataset.
func (a *app) oneSample(cfg *config.Config, opt renderOptions) (*eval.Sample, error) {
	r, info, err := a.scanDataset(cfg)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	for {
		s, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && opt.id != "":
			return nil, usagef("no sample of %s has the id %q", info.Path, opt.id)
		case errors.Is(err, io.EOF):
			return nil, usagef("%s has %d samples, and no row %d", info.Path, info.Rows, opt.row)
		case err != nil:
			return nil, inputError(err)
		case opt.id != "" && s.ID == opt.id, opt.id == "" && s.Row == opt.row:
			return s, nil
		}
	}
}

// renderedCalls are the calls of the template or metric, each once. Predicted
// reports that one of them stands on a reply that was not the judge's.
func renderedCalls(set *prompts.Set, planned []llm.Planned, name string) (calls []renderedCall, predicted bool) {
	var counter cost.Counter
	made := false
	for _, p := range planned {
		req := p.Request
		if p.Repeat || len(req.Messages) == 0 {
			continue
		}
		c := renderedCall{Metric: req.Tag.Metric, Template: templateOf(set, req), Model: req.Model, Key: req.Key().String(), Cached: p.Hit, Messages: req.Messages}
		fixed, varying := fixedPart(req)
		c.FixedTokens, c.VaryingTokens = cost.CountText(req.Model, fixed), cost.CountText(req.Model, varying)
		n := counter.CountRequest(req)
		c.SchemaTokens, c.TotalTokens = n.Schema, n.Total
		if name == "" || name == c.Template || name == c.Metric {
			calls = append(calls, c)
			predicted = predicted || made
		}
		made = made || !p.Hit && req.Model != judge.LexicalModel
	}
	return calls, predicted
}

// templateOf finds the template that a request was made of: its step's, with the
// same words.
func templateOf(set *prompts.Set, req *llm.Request) string {
	for _, t := range set.List() {
		_, step, _ := strings.Cut(t.Name, "/")
		system, _ := t.Parts()
		before, _, _ := strings.Cut(system, "{{")
		if step == req.Tag.Step && strings.HasPrefix(req.Messages[0].Content, before) {
			return t.Name
		}
	}
	return req.Tag.Metric + "/" + req.Tag.Step
}

// fixedPart cuts the text of a request where the first data begins.
func fixedPart(req *llm.Request) (fixed, varying string) {
	for _, m := range req.Messages {
		if m.Role == llm.User && varying == "" {
			if f := judge.ParseFenced(m.Content); f.Nonce != "" {
				at := strings.LastIndexByte(m.Content[:strings.Index(m.Content, "-"+f.Nonce)], '<')
				fixed, varying = fixed+m.Content[:max(at, 0)], m.Content[max(at, 0):]
				continue
			}
		}
		if varying == "" {
			fixed += m.Content
		} else {
			varying += m.Content
		}
	}
	return fixed, varying
}

func printRendered(w io.Writer, s *eval.Sample, calls []renderedCall, format string) error {
	if format == "json" {
		b, err := eval.MarshalJSON(map[string]any{"schema": 1, "row": s.Row, "id": s.ID, "calls": calls})
		if err != nil {
			return fmt.Errorf("write the calls: %w", err)
		}
		_, err = fmt.Fprintf(w, "%s\n", b)
		return err
	}
	for i, c := range calls {
		sent := ""
		if c.Cached {
			sent = "; answered by the cache, so that nothing is sent"
		}
		if _, err := fmt.Fprintf(w, "# call %d of %d for row %d (%s): %s by %s, to %s%s\n# tokens: %d fixed, %d of this sample, %d of the reply's schema; %d in all\n",
			i+1, len(calls), s.Row, s.ID, c.Template, c.Metric, c.Model, sent, c.FixedTokens, c.VaryingTokens, c.SchemaTokens, c.TotalTokens); err != nil {
			return err
		}
		for _, m := range c.Messages {
			if _, err := fmt.Fprintf(w, "[%s]\n%s\n\n", m.Role, m.Content); err != nil {
				return err
			}
		}
	}
	return nil
}
