package main

import (
	"fmt"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/prompts"
)

// promptPair are the templates of a configuration, and the built-in ones in
// their place.
type promptPair struct {
	own, builtIn *prompts.Set
}

// promptPair loads both. Metrics of the user's own are in both: with the
// template of their kind in one, and with what is added or put into its place in
// the other.
func (a *app) promptPair(cfg *config.Config) (promptPair, error) {
	own, err := loadPrompts(cfg)
	if err != nil {
		return promptPair{}, err
	}
	defs, err := definitions(cfg)
	if err != nil {
		return promptPair{}, usageError(err)
	}
	builtIn, err := prompts.Load(prompts.Options{Custom: customPrompts(defs)})
	if err != nil {
		return promptPair{}, usageError(err)
	}
	return promptPair{own, builtIn}, nil
}

func (a *app) promptsDiffCommand(load func() (*config.Config, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "diff [NAME...]",
		Short: "Show what a folder or a configuration changes about the built-in templates",
		Long: `Show, line by line, what the templates of --dir, and the additions of --config,
change about the built-in ones, and by how many tokens the fixed part grows that
is sent with every call.`,
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := load()
			if err != nil {
				return err
			}
			pair, err := a.promptPair(cfg)
			if err != nil {
				return err
			}
			for _, name := range args {
				if _, err := pair.own.Get(name); err != nil {
					return usageError(err)
				}
			}
			return a.printPromptDiff(pair, args)
		},
	}
}

func (a *app) printPromptDiff(pair promptPair, names []string) error {
	if len(names) == 0 {
		for _, t := range pair.own.List() {
			names = append(names, t.Name)
		}
	}
	changed := 0
	for _, name := range names {
		own, err := pair.own.Get(name)
		if err != nil {
			return err
		}
		old, err := pair.builtIn.Get(name)
		if err != nil {
			return err
		}
		if own.Hash == old.Hash {
			continue
		}
		changed++
		before, after := partsOf(old), partsOf(own)
		if _, err := fmt.Fprintf(a.out, "# %s: fixed part %d tokens, built in %d (%+d)\n", name, fixedTokens(own), fixedTokens(old), fixedTokens(own)-fixedTokens(old)); err != nil {
			return err
		}
		if before == after {
			fmt.Fprintf(a.out, "# only the version differs: %d, built in %d\n", own.Version, old.Version)
			continue
		}
		path := own.Path
		if own.BuiltIn {
			path = name + " with your additions"
		}
		if _, err := a.out.Write(diff.Diff(old.Path, []byte(before), path, []byte(after))); err != nil {
			return err
		}
	}
	if changed == 0 {
		_, err := fmt.Fprintf(a.out, "%d templates, none differs from the built-in one\n", len(names))
		return err
	}
	return nil
}

// partsOf is the text of a template with its additions.
func partsOf(t *prompts.Template) string {
	system, user := t.Parts()
	return "[system]\n" + system + "\n\n[user]\n" + user + "\n"
}

// fixedTokens counts what is sent with every call of a template, by the
// vocabulary of OpenAI's models.
func fixedTokens(t *prompts.Template) int {
	system, _ := t.Parts()
	return cost.CountText("gpt-4.1-mini", system)
}
