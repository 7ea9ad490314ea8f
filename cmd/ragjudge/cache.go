package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/cache"
)

func (a *app) cacheCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "cache",
		Short: "Look after the cache of judge replies",
		Long: `The cache holds every judge reply that was paid for, under the hash of its
request. It may be shared by several processes and copied between machines.
Without --dir it is the folder of --config, else the user's cache folder.`,
	}
	var dir, config string
	c.PersistentFlags().StringVar(&dir, "dir", "", "the cache folder")
	c.PersistentFlags().StringVarP(&config, "config", "c", "", "take the cache folder from this configuration")

	// on opens the cache for one command; a cache that does not exist yet is
	// an empty one to all of them but import.
	on := func(readOnly bool, fn func(context.Context, *cache.Disk) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, _ []string) error {
			path, err := a.cacheFile(dir, config)
			if err != nil {
				return err
			}
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && cmd.Name() != "import" {
				fmt.Fprintf(a.out, "%s: no cache there yet\n", path)
				return nil
			}
			d, err := cache.Open(path, cache.Options{ReadOnly: readOnly, Warn: func(msg string) { a.log.Warn(msg) }})
			if err != nil {
				return usageError(err)
			}
			return errors.Join(fn(cmd.Context(), d), d.Close())
		}
	}

	stats := &cobra.Command{Use: "stats", Short: "Count entries and bytes", Args: cobra.NoArgs, RunE: on(true, a.cacheStats)}

	var age time.Duration
	var size int64
	prune := &cobra.Command{
		Use: "prune", Short: "Remove old entries, the oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if age <= 0 && size <= 0 {
				return usagef("say what to remove: --older-than 720h, --max-mb 2000, or both")
			}
			return on(false, func(ctx context.Context, d *cache.Disk) error {
				var before time.Time
				if age > 0 {
					before = time.Now().Add(-age)
				}
				p, err := d.Prune(ctx, before, size<<20)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.out, "removed %d entries of %d bytes; the cache takes %d bytes now\n", p.Entries, p.Bytes, p.FileSize)
				return err
			})(cmd, args)
		},
	}
	prune.Flags().DurationVar(&age, "older-than", 0, "remove entries put longer ago than this, such as 720h")
	prune.Flags().Int64Var(&size, "max-mb", 0, "remove the oldest entries until the file has at most this many MiB")

	verify := &cobra.Command{
		Use: "verify", Short: "Check every entry and remove the damaged ones", Args: cobra.NoArgs,
		RunE: on(false, func(ctx context.Context, d *cache.Disk) error {
			v, err := d.Verify(ctx)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "checked %d entries: %d damaged\n", v.Checked, v.Damaged)
			for _, s := range v.Structure {
				fmt.Fprintf(a.out, "the file itself: %s\n", s)
			}
			if v.Aside != "" {
				fmt.Fprintf(a.out, "the damaged file is now %s; %d entries were saved\n", v.Aside, v.Saved)
			}
			if !v.OK() {
				return fmt.Errorf("the cache was damaged; what was damaged has been removed and will be asked again")
			}
			return nil
		}),
	}

	var yes bool
	clearAll := &cobra.Command{
		Use: "clear", Short: "Remove every entry", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usagef("every reply in the cache was paid for; say --yes to remove them all")
			}
			return on(false, func(ctx context.Context, d *cache.Disk) error {
				n, err := d.Clear(ctx)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.out, "removed %d entries\n", n)
				return err
			})(cmd, args)
		},
	}
	clearAll.Flags().BoolVar(&yes, "yes", false, "really remove them")

	export := &cobra.Command{
		Use: "export", Short: "Write every entry to standard output, as JSON lines", Args: cobra.NoArgs,
		RunE: on(true, func(ctx context.Context, d *cache.Disk) error {
			n, err := d.Export(ctx, a.out)
			fmt.Fprintf(a.errw, "%d entries\n", n)
			return err
		}),
	}
	imp := &cobra.Command{
		Use: "import", Short: "Add the entries of an export from standard input", Args: cobra.NoArgs,
		RunE: on(false, func(ctx context.Context, d *cache.Disk) error {
			n, err := d.Import(ctx, a.in)
			fmt.Fprintf(a.out, "%d entries were new\n", n)
			if err != nil {
				return usageError(err)
			}
			return nil
		}),
	}
	c.AddCommand(stats, prune, verify, clearAll, export, imp)
	return c
}

func (a *app) cacheStats(ctx context.Context, d *cache.Disk) error {
	s, err := d.Stats(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "file\t%s\n", s.Path)
	fmt.Fprintf(w, "entries\t%d\n", s.Entries)
	fmt.Fprintf(w, "bytes\t%d\n", s.Bytes)
	fmt.Fprintf(w, "on disk\t%d\n", s.FileSize)
	if s.Entries > 0 {
		fmt.Fprintf(w, "oldest\t%s\n", s.Oldest.UTC().Format(time.RFC3339))
		fmt.Fprintf(w, "newest\t%s\n", s.Newest.UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(w, "damaged\t%d\n", s.Corrupt)
	return w.Flush()
}

// cacheFile is the database file of the cache that the flags name.
func (a *app) cacheFile(dir, configPath string) (string, error) {
	if dir == "" {
		cfg, err := a.loadConfig(configPath, nil)
		if err != nil {
			return "", err
		}
		dir, _ = a.cacheDir(cfg)
	}
	return filepath.Join(dir, cache.FileName), nil
}
