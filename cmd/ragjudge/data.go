package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/dataset"
)

func (a *app) dataCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "data",
		Short: "Look at a dataset, convert it, draw a test set from it; makes no call",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.dataCheckCommand(), a.dataConvertCommand(), a.dataSampleCommand())
	return c
}

// dataFlags are those of how a dataset is read, which all of the commands have.
func dataFlags(c *cobra.Command) {
	fs := c.Flags()
	fs.StringP("config", "c", "", "a configuration whose [dataset] says how to read")
	for _, s := range settings {
		if !strings.HasPrefix(s.key, "dataset.") || s.list || s.key == "dataset.limit" {
			continue
		}
		if s.boolean {
			fs.Bool(s.flag, false, s.usage)
		} else {
			fs.String(s.flag, "", s.usage)
		}
	}
	fs.StringArray("column", nil, "FIELD=NAME: the column, or the path into one such as inputs.question, that holds a field; again for more")
}

// dataConfig is the configuration that the flags and files of a command make.
// Without a file the dataset of the configuration is meant.
func (a *app) dataConfig(c *cobra.Command, files []string) (*config.Config, error) {
	path, err := c.Flags().GetString("config")
	if err != nil {
		return nil, err
	}
	if path == "" && len(files) == 0 {
		path = a.defaultConfig()
	}
	cfg, err := a.configFile(path, overrides(c.Flags()))
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		cfg.Dataset.Paths = files
	}
	if len(cfg.Dataset.Paths) == 0 {
		return nil, usagef("no dataset is named: give a FILE, or a configuration with dataset.path")
	}
	pairs, err := c.Flags().GetStringArray("column")
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		field, name, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usagef("--column %q must be FIELD=NAME, such as user_input=inputs.question", pair)
		}
		cfg.Dataset.Columns[strings.TrimSpace(field)] = strings.TrimSpace(name)
	}
	return cfg, nil
}

// outFile is a dataset in the making, next to where it will stand.
type outFile struct {
	*dataset.Writer
	path string // where it is to stand; "" for standard output, devices and pipes
	mode fs.FileMode
	file *os.File // nil for standard output
}

// createDataset opens a dataset for writing. path is "-" for standard output;
// format is empty to go by the ending. What is there is only replaced by force,
// and only when the new one is whole.
func (a *app) createDataset(path, format string, force bool) (*outFile, error) {
	f := dataset.Format(format)
	if f == "" {
		switch ext := strings.ToLower(filepath.Ext(path)); {
		case ext == ".parquet":
			f = dataset.Parquet
		case path == dataset.Stdin, ext == ".jsonl", ext == ".ndjson":
			f = dataset.JSONL
		default:
			return nil, usagef("the ending of %s says neither JSONL nor Parquet: name the file .jsonl or .parquet, or give --format", path)
		}
	}
	if f != dataset.JSONL && f != dataset.Parquet {
		return nil, usagef("unknown format %q: a dataset is written as jsonl or parquet", format)
	}
	o := &outFile{}
	var to io.Writer = a.out
	if path != dataset.Stdin {
		if err := o.open(path, force); err != nil {
			return nil, err
		}
		to = o.file
	}
	w, err := dataset.NewWriter(to, f)
	if err != nil {
		return nil, errors.Join(err, o.abandon())
	}
	o.Writer = w
	return o, nil
}

// open makes the file that is written: one beside path, to be moved there. A
// device or a pipe is written to as it is: /dev/null must not become a file. A
// link stays, and what it leads to is replaced.
func (o *outFile) open(path string, force bool) error {
	o.mode = 0o644
	switch st, err := os.Stat(path); {
	case err == nil && st.IsDir():
		return usagef("%s is a folder: name a file", path)
	case err == nil && !st.Mode().IsRegular():
		if o.file, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
			return usageError(fmt.Errorf("write %s: %w", path, err))
		}
		return nil
	case err == nil && !force:
		return &exitError{code: exitUsage, err: fmt.Errorf("%s is there already; nothing was written", path), hint: "--force replaces it"}
	case err == nil:
		o.mode = st.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return usageError(fmt.Errorf("write %s: %w", path, err))
		}
	case !errors.Is(err, fs.ErrNotExist):
		return usageError(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("write %s: there is no folder %s", path, filepath.Dir(path))
	}
	if err != nil {
		return usageError(fmt.Errorf("write %s: %w", path, err))
	}
	o.path, o.file = path, temp
	return nil
}

// abandon removes what was begun.
func (o *outFile) abandon() error {
	if o.file == nil {
		return nil
	}
	_ = o.file.Close() // what went wrong before says more
	var err error
	if o.path != "" {
		err = os.Remove(o.file.Name())
	}
	o.file = nil
	return err
}

// finish puts the file in its place.
func (o *outFile) finish() error {
	if err := o.Writer.Close(); err != nil {
		return errors.Join(err, o.abandon())
	}
	switch {
	case o.file == nil:
		return nil
	case o.path == "":
		return o.file.Close()
	}
	err := o.file.Chmod(o.mode)
	if err == nil {
		err = o.file.Sync()
	}
	if shut := o.file.Close(); err == nil {
		err = shut
	}
	if err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", o.path, err), os.Remove(o.file.Name()))
	}
	return syncFolder(filepath.Dir(o.path))
}

// syncFolder makes a rename last. Not every file system can do this.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	_ = d.Sync()
	return d.Close()
}

func (a *app) dataConvertCommand() *cobra.Command {
	var format string
	var force bool
	c := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Write a dataset as canonical JSONL or Parquet",
		Long: `Write a dataset, of whatever format and shape, under the canonical names: as
JSONL, one object a line, or as Parquet with list columns. The same samples give
the same bytes. OUT may be "-", standard output. It is written beside its place
and moved there when it is whole; what is there already stays, unless --force is
given. A pipe or a device is written to as it is.`,
		Example: `  ragjudge data convert promptfoo-results.json samples.jsonl
  ragjudge data convert --column user_input=inputs.frage 'logs/*.jsonl.gz' samples.parquet`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.dataConfig(cmd, args[:len(args)-1])
			if err != nil {
				return err
			}
			return a.convert(cfg, args[len(args)-1], format, force)
		},
	}
	dataFlags(c)
	c.Flags().StringVarP(&format, "format", "f", "", "jsonl or parquet; by the ending of OUT if not given")
	c.Flags().BoolVar(&force, "force", false, "replace OUT if it is there")
	return c
}

func (a *app) convert(cfg *config.Config, out, format string, force bool) error {
	r, info, err := a.openDataset(cfg)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	o, err := a.createDataset(out, format, force)
	if err != nil {
		return err
	}
	for {
		s, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = o.Write(s)
		}
		if err != nil {
			return errors.Join(inputError(err), o.abandon())
		}
	}
	if err := o.finish(); err != nil {
		return err
	}
	a.log.Info("converted", "rows", info.Rows, "from", info.Path, "shape", info.Shape, "to", out)
	return nil
}
