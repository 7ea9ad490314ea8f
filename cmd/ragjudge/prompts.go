package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/prompts"
)

func (a *app) promptsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "prompts",
		Short: "List, show, export, render, check, compare and test the prompt templates",
		Long: `The prompt templates are text files, <metric>/<step>.md. A folder with some of
them, named by --dir or by prompts.dir in the configuration, overrides the
built-in ones.`,
	}
	var dir, path string
	c.PersistentFlags().StringVar(&dir, "dir", "", "a folder with templates of your own")
	c.PersistentFlags().StringVarP(&path, "config", "c", "", "take the prompt settings from this configuration")
	// Without --config there is none: the commands that need no judge and no
	// dataset are about the templates alone.
	settings := func() (*config.Config, error) {
		cfg, err := a.configFile(path, nil)
		if err == nil && dir != "" {
			cfg.Prompts.Dir = dir
		}
		return cfg, err
	}
	load := func() (*prompts.Set, error) {
		cfg, err := settings()
		if err != nil {
			return nil, err
		}
		return loadPrompts(cfg)
	}
	judged := func() (*config.Config, error) {
		cfg, err := a.loadConfig(path, nil)
		if err == nil && dir != "" {
			cfg.Prompts.Dir = dir
		}
		return cfg, err
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
	c.AddCommand(list, show, export, a.promptsRenderCommand(&path, &dir), a.promptsLintCommand(settings), a.promptsDiffCommand(settings), a.promptsTestCommand(judged))
	return c
}
