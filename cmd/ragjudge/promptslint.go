package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/prompts"
	"github.com/ragjudge/ragjudge/run"
)

// The growth of a fixed part from which on lint speaks of it: against a stored
// size, and against the built-in template, where examples are expected to add.
const (
	grownShare   = 0.10
	grownTokens  = 20
	grownBuiltIn = 1.0
)

// promptSizes is what "prompts lint --write-baseline" stores.
type promptSizes struct {
	Schema  int                   `json:"schema"`
	Prompts map[string]promptSize `json:"prompts"`
}

type promptSize struct {
	Hash string `json:"hash"`
	// FixedTokens are those of the part that is sent with every call.
	FixedTokens int `json:"fixed_tokens"`
}

func (a *app) promptsLintCommand(load func() (*config.Config, error)) *cobra.Command {
	var baseline, write string
	var strict bool
	c := &cobra.Command{
		Use:   "lint",
		Short: "Check the templates: errors fail, doubts are listed",
		Long: `Check the templates and what is added to them. Errors (an unknown, forgotten or
misplaced placeholder, an example whose reply has another form than the step's)
are listed with file and line and end with exit code 2. Doubts are listed: a
placeholder in another tool's syntax, data that stands twice, a fixed part behind
the data, a fixed part that has grown. With --strict they end with exit code 3.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := load()
			if err != nil {
				return err
			}
			pair, err := a.promptPair(cfg)
			if err != nil {
				return err
			}
			var warnings []string
			for _, w := range pair.own.Lint() {
				warnings = append(warnings, w.String())
			}
			grown, err := grownPrompts(pair, baseline)
			if err != nil {
				return usageError(err)
			}
			warnings = append(warnings, grown...)
			for _, w := range warnings {
				fmt.Fprintln(a.out, w)
			}
			if write != "" {
				if err := run.WriteJSON(write, sizesOf(pair.own)); err != nil {
					return usageError(fmt.Errorf("write the sizes of the prompts: %w", err))
				}
			}
			if _, err := fmt.Fprintf(a.out, "%d templates, no errors, %d warnings\n", len(pair.own.List()), len(warnings)); err != nil {
				return err
			}
			if strict && len(warnings) > 0 {
				return &exitError{code: exitGate, err: fmt.Errorf("lint the prompts: %d warnings", len(warnings))}
			}
			return nil
		},
	}
	c.Flags().StringVar(&baseline, "baseline", "", "a file that --write-baseline wrote: tell which prompts have grown since")
	c.Flags().StringVar(&write, "write-baseline", "", "write the sizes of the prompts to this file")
	c.Flags().BoolVar(&strict, "strict", false, "end with exit code 3 if there are warnings")
	return c
}

func sizesOf(set *prompts.Set) promptSizes {
	s := promptSizes{Schema: 1, Prompts: map[string]promptSize{}}
	for _, t := range set.List() {
		s.Prompts[t.Name] = promptSize{Hash: t.Hash, FixedTokens: fixedTokens(t)}
	}
	return s
}

// grownPrompts tells which fixed parts have grown: against the stored sizes or,
// without any, against the built-in templates.
func grownPrompts(pair promptPair, baseline string) ([]string, error) {
	if baseline != "" {
		return grownSince(pair.own, baseline)
	}
	var out []string
	for _, t := range pair.own.List() {
		old, err := pair.builtIn.Get(t.Name)
		if err != nil || old.Hash == t.Hash {
			continue
		}
		now, was := fixedTokens(t), fixedTokens(old)
		if float64(now-was) > grownBuiltIn*float64(was) {
			out = append(out, fmt.Sprintf("%s:1: the fixed part of %s has %d tokens, the built-in one %d; every call pays for them", t.Path, t.Name, now, was))
		}
	}
	return out, nil
}

func grownSince(set *prompts.Set, baseline string) ([]string, error) {
	b, err := os.ReadFile(baseline)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of the prompts: %w", err)
	}
	var sizes promptSizes
	if err := json.Unmarshal(b, &sizes); err != nil {
		return nil, fmt.Errorf("%s: read the sizes of the prompts: %w", baseline, err)
	}
	if sizes.Schema != 1 || len(sizes.Prompts) == 0 {
		return nil, errors.New(baseline + ": this is no file that \"ragjudge prompts lint --write-baseline\" wrote")
	}
	var out []string
	for _, t := range set.List() {
		was, known := sizes.Prompts[t.Name]
		now := fixedTokens(t)
		grown := now - was.FixedTokens
		if known && t.Hash != was.Hash && grown >= grownTokens && float64(grown) > grownShare*float64(was.FixedTokens) {
			out = append(out, fmt.Sprintf("%s:1: the fixed part of %s has grown from %d to %d tokens; every call pays for them", t.Path, t.Name, was.FixedTokens, now))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sizes.Prompts)) {
		if _, err := set.Get(name); err != nil {
			out = append(out, fmt.Sprintf("%s: %s is no template any more", baseline, name))
		}
	}
	return out, nil
}
