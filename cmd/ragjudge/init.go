package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

//go:embed initdata
var initData embed.FS

// defaultConfigName is the configuration that is read if none is named.
const defaultConfigName = "ragjudge.toml"

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a commented ragjudge.toml and a small dataset that run as they are",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.init(dir)
		},
	}
}

// init writes the starting files and overwrites none.
func (a *app) init(dir string) error {
	entries, err := initData.ReadDir("initdata")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name())); !errors.Is(err, fs.ErrNotExist) {
			return usagef("%s is there already; nothing was written", filepath.Join(dir, e.Name()))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usageError(err)
	}
	for _, e := range entries {
		b, err := initData.ReadFile("initdata/" + e.Name())
		if err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return usageError(fmt.Errorf("write the starting files: %w", err))
		}
		fmt.Fprintln(a.out, path)
	}
	if dir != "." {
		_, err = fmt.Fprintf(a.out, "\nNow run: ragjudge run --config %s\n", filepath.Join(dir, defaultConfigName))
		return err
	}
	_, err = fmt.Fprintln(a.out, "\nNow run: ragjudge run")
	return err
}

// defaultConfig is ragjudge.toml if the working directory has one.
func (a *app) defaultConfig() string {
	if _, err := os.Stat(defaultConfigName); err != nil {
		return ""
	}
	return defaultConfigName
}
