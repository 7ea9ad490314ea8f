package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/prompts"
)

// definitions are the metrics that the configuration defines, by name. The error
// tells all that is wrong with any, each with its place; a definition with an
// error is left out.
func definitions(cfg *config.Config) (map[string]metrics.Definition, error) {
	defs := map[string]metrics.Definition{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(cfg.Metric)) {
		if !metrics.IsDefinition(cfg.Metric[name]) {
			continue
		}
		d, problems := metrics.Define(name, cfg.Metric[name])
		if len(problems) == 0 {
			defs[name] = d
		}
		for _, err := range problems {
			place := cfg.Place("metric." + name)
			var key *metrics.KeyError
			if errors.As(err, &key) && key.Key != "" {
				if p := cfg.Place("metric." + name + "." + key.Key); p != "the default" {
					place = p
				}
			}
			errs = append(errs, fmt.Errorf("%s: [metric.%s]: %w", place, name, err))
		}
	}
	return defs, errors.Join(errs...)
}

// canonical is the canonical spelling of a metric's name, whether built in or
// defined.
func (s *session) canonical(given string) (string, error) {
	if _, ok := s.defs[strings.TrimSpace(given)]; ok {
		return strings.TrimSpace(given), nil
	}
	name, err := metrics.Canonical(given)
	if err != nil && len(s.defs) > 0 {
		err = fmt.Errorf("%w; the configuration defines %s", err, strings.Join(slices.Sorted(maps.Keys(s.defs)), ", "))
	}
	return name, err
}

// promptOptions are the settings of the prompts, with the metrics that the
// configuration defines.
func promptOptions(cfg *config.Config, defs map[string]metrics.Definition) (prompts.Options, error) {
	opt := prompts.Options{
		Dir: cfg.Prompts.Dir, Domain: cfg.Prompts.Domain, Language: cfg.Prompts.Language, Rubric: cfg.Prompts.Rubric,
		For: map[string]prompts.Tuning{}, Custom: customPrompts(defs), Forms: replyForms(defs),
	}
	var errs []error
	read := func(key, path string) []prompts.Example {
		if path == "" {
			return nil
		}
		list, err := prompts.ReadExamples(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", cfg.Place(key), key, err))
		}
		return list
	}
	opt.Examples = read("prompts.examples", cfg.Prompts.Examples)
	for _, name := range slices.Sorted(maps.Keys(cfg.Prompts.For)) {
		t := cfg.Prompts.For[name]
		opt.For[name] = prompts.Tuning{
			Place: fmt.Sprintf("%s: [prompts.%s]", cfg.Place("prompts."+name), name), Domain: t.Domain, Language: t.Language, Rubric: t.Rubric, Examples: read("prompts."+name+".examples", t.Examples),
		}
	}
	return opt, errors.Join(errs...)
}

// customPrompts are what the templates of defined metrics are made of.
func customPrompts(defs map[string]metrics.Definition) []prompts.Custom {
	var list []prompts.Custom
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		d := defs[name]
		c := prompts.Custom{Name: name, Kind: string(d.Kind), Criteria: d.Criteria(), Steps: d.Steps}
		for _, f := range d.Needs {
			c.Data = append(c.Data, string(f)) // fields and placeholders have the same names
		}
		list = append(list, c)
	}
	return list
}

// replyForms are what replies to the steps may hold.
func replyForms(defs map[string]metrics.Definition) map[string]prompts.Form {
	forms := map[string]prompts.Form{
		"answer_relevance/rubric":               {Min: 1, Max: 5},
		"answer_relevance/statements":           {Labels: judge.RelevanceLabels()},
		"claims/match":                          {Labels: judge.FaithfulnessLabels()},
		"context_precision/verdict":             {Labels: judge.PrecisionLabels()},
		"context_precision/verdict_by_response": {Labels: judge.PrecisionLabels()},
		"context_recall/verdict":                {Labels: judge.RecallLabels()},
		"context_relevance/rating":              {Min: 0, Max: 2},
		"context_relevance/rating_again":        {Min: 0, Max: 2},
		"context_relevance/statements":          {Labels: judge.RelevanceLabels()},
		"context_relevance/verdict":             {Labels: judge.RelevanceLabels()},
		"faithfulness/verdict":                  {Labels: judge.FaithfulnessLabels()},
		"hallucination/agreement":               {Labels: judge.AgreementLabels()},
	}
	for _, d := range defs {
		f := prompts.Form{}
		if f.Min, f.Max = d.Scale(); d.Kind == metrics.KindChecklist {
			f.Labels = metrics.CheckLabels()
		}
		forms[d.Template()] = f
	}
	return forms
}

// loadPrompts loads the templates of the configuration. What is wrong with a
// definition is among the errors.
func loadPrompts(cfg *config.Config) (*prompts.Set, error) {
	defs, err := definitions(cfg)
	set, perr := promptSet(cfg, defs)
	if err := errors.Join(err, perr); err != nil {
		return nil, usageError(err)
	}
	return set, nil
}

// promptSet loads the templates of the configuration with the given metrics.
func promptSet(cfg *config.Config, defs map[string]metrics.Definition) (*prompts.Set, error) {
	opt, err := promptOptions(cfg, defs)
	if err != nil {
		return nil, err
	}
	return prompts.Load(opt)
}
