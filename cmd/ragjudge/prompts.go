package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/prompts"
)

func (a *app) promptsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "prompts",
		Short: "List, show, export and check the prompt templates",
		Long: `The prompt templates are text files, <metric>/<step>.md. A folder with some of
them, named by --dir or by prompts.dir in the configuration, overrides the
built-in ones.`,
	}
	var dir, config string
	c.PersistentFlags().StringVar(&dir, "dir", "", "a folder with templates of your own")
	c.PersistentFlags().StringVarP(&config, "config", "c", "", "take the prompt settings from this configuration")
	load := func() (*prompts.Set, error) {
		if config == "" {
			set, err := prompts.Load(prompts.Options{Dir: dir})
			if err != nil {
				return nil, usageError(err)
			}
			return set, nil
		}
		cfg, err := a.loadConfig(config, nil)
		if err != nil {
			return nil, err
		}
		if dir != "" {
			cfg.Prompts.Dir = dir
		}
		return loadPrompts(cfg)
	}

	list := &cobra.Command{
		Use: "list", Short: "List every template with its version, hash and file", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			set, err := load()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "TEMPLATE\tVERSION\tHASH\tFILE")
			for _, t := range set.List() {
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", t.Name, t.Version, t.Hash[:12], t.Path)
			}
			return w.Flush()
		},
	}
	show := &cobra.Command{
		Use: "show NAME", Short: "Print one template with all additions, such as faithfulness/verdict", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := load()
			if err != nil {
				return err
			}
			t, err := set.Get(args[0])
			if err != nil {
				return usageError(err)
			}
			system, user := t.Parts()
			_, err = fmt.Fprintf(a.out, "# %s, version %d, hash %s\n# %s\n[system]\n%s\n\n[user]\n%s\n", t.Name, t.Version, t.Hash, t.Path, system, user)
			return err
		},
	}
	export := &cobra.Command{
		Use: "export FOLDER", Short: "Write every template to a folder, to start your own from", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := load()
			if err != nil {
				return err
			}
			paths, err := set.Export(args[0])
			if err != nil {
				return usageError(err)
			}
			for _, p := range paths {
				fmt.Fprintln(a.out, p)
			}
			return nil
		},
	}
	lint := &cobra.Command{
		Use: "lint", Short: "Check the templates: errors fail, doubts are listed", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			set, err := load()
			if err != nil {
				return err
			}
			warnings := set.Lint()
			for _, w := range warnings {
				fmt.Fprintln(a.out, w)
			}
			_, err = fmt.Fprintf(a.out, "%d templates, no errors, %d warnings\n", len(set.List()), len(warnings))
			return err
		},
	}
	c.AddCommand(list, show, export, lint)
	return c
}
