package main

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragjudge/ragjudge/config"
)

// settings are the flags that stand for a key of the configuration; a flag
// that is given goes before the environment and the file.
var settings = []struct {
	flag, key, usage string
	boolean          bool
	list             bool // it may be given several times
}{
	{flag: "input", key: "dataset.path", usage: "the dataset, or a pattern such as 'data/*.jsonl'; - is standard input; given again, one more file", list: true},
	{flag: "input-format", key: "dataset.format", usage: "jsonl, json, csv, tsv or parquet, or whose records they are, such as deepeval; found out by content if not given"},
	{flag: "qrels", key: "dataset.qrels", usage: "the judgements of the TREC run that the dataset is"},
	{flag: "encoding", key: "dataset.encoding", usage: "the encoding of the dataset's text, such as windows-1252; UTF-8 and UTF-16 are found out"},
	{flag: "delimiter", key: "dataset.delimiter", usage: "the character between the fields of a CSV file; found out if not given"},
	{flag: "limit", key: "dataset.limit", usage: "score only the first N samples"},
	{flag: "skip-bad-lines", key: "dataset.skip_bad_lines", usage: "list bad lines and go on instead of stopping", boolean: true},
	{flag: "metrics", key: "metrics", usage: "metrics, separated by commas"},
	{flag: "provider", key: "judge.provider", usage: "openai, azure or lexical"},
	{flag: "model", key: "judge.model", usage: "the judge's model"},
	{flag: "trials", key: "judge.trials", usage: "how often each judge gives each verdict and rating"},
	{flag: "vote", key: "judge.vote", usage: "how several judges or trials make one score: majority, mean or median"},
	{flag: "base-url", key: "judge.base_url", usage: "an OpenAI-compatible endpoint"},
	{flag: "backend", key: "run.backend", usage: "live, or batch for the provider's Batch API"},
	{flag: "concurrency", key: "limits.concurrency", usage: "calls in flight at once"},
	{flag: "rpm", key: "limits.requests_per_minute", usage: "requests a minute; 0 learns it from the server"},
	{flag: "tpm", key: "limits.tokens_per_minute", usage: "tokens a minute; 0 learns it from the server"},
	{flag: "max-attempts", key: "limits.max_attempts", usage: "tries of one call"},
	{flag: "max-wait", key: "limits.max_wait", usage: "the longest wait that the server may ask for, such as 5m"},
	{flag: "max-cost", key: "limits.max_cost", usage: "stop before more than this many US dollars are spent; 0 for no bound"},
	{flag: "max-calls", key: "limits.max_calls", usage: "stop before more than this many calls are made; 0 for no bound"},
	{flag: "max-tokens", key: "limits.max_tokens", usage: "stop before more than this many input and output tokens are used; 0 for no bound"},
	{flag: "max-cost-per-sample", key: "limits.max_cost_per_sample", usage: "the most US dollars that the calls of one sample may cost; 0 for no bound"},
	{flag: "max-cost-per-day", key: "limits.max_cost_per_day", usage: "stop before all runs with this cache folder spend more US dollars in a day (UTC); 0 for no bound"},
	{flag: "grace", key: "limits.grace", usage: "time to finish what is in flight after Ctrl-C, such as 20s"},
	{flag: "cache-dir", key: "cache.path", usage: "the cache folder"},
	{flag: "cache-mode", key: "cache.mode", usage: "read_write, read_only, refresh or off"},
	{flag: "prompts-dir", key: "prompts.dir", usage: "a folder with prompt templates of your own"},
	{flag: "out", key: "output.dir", usage: "the run directory"},
	{flag: "retry", key: "run.retry", usage: "which scores of a finished run are made again: failed, unscored or none"},
	{flag: "force", key: "run.force", usage: "score answers although many look like error messages", boolean: true},
	{flag: "ca-file", key: "judge.ca_file", usage: "a file of PEM certificates that are trusted beside the system's"},
	{flag: "insecure", key: "judge.insecure", usage: "accept any certificate: whoever sits between can read the key", boolean: true},
	{flag: "progress", key: "run.progress", usage: "auto, bar, plain or none"},
	{flag: "log-level", key: "run.log_level", usage: "debug, info, warn or error"},
	{flag: "log-format", key: "run.log_format", usage: "text or json"},
}

// configFlags adds --config and the flags of settings to a command.
func configFlags(c *cobra.Command) {
	fs := c.Flags()
	fs.StringP("config", "c", "", "the configuration file (default ragjudge.toml, if it is there)")
	for _, s := range settings {
		switch {
		case s.boolean:
			fs.Bool(s.flag, false, s.usage)
		case s.list:
			fs.StringArray(s.flag, nil, s.usage)
		default:
			fs.String(s.flag, "", s.usage)
		}
	}
	fs.Bool("no-preflight", false, "make no call before the fan-out")
	fs.Bool("no-cache", false, "leave the cache alone: the same as --cache-mode off")
}

// overrides are the settings that were given as flags.
func overrides(fs *pflag.FlagSet) []config.Flag {
	var out []config.Flag
	for _, s := range settings {
		f := fs.Lookup(s.flag)
		if f == nil || !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, config.Flag{Key: s.key, Value: v, Name: "--" + s.flag})
		}
	}
	if f := fs.Lookup("no-cache"); f != nil && f.Changed {
		if off, err := strconv.ParseBool(f.Value.String()); err == nil && off {
			out = append(out, config.Flag{Key: "cache.mode", Value: "off", Name: "--no-cache"})
		}
	}
	if f := fs.Lookup("no-preflight"); f != nil && f.Changed {
		if off, err := strconv.ParseBool(f.Value.String()); err == nil && off {
			out = append(out, config.Flag{Key: "run.preflight", Value: "false", Name: "--no-preflight"})
		}
	}
	return out
}

// configured loads the configuration of a command and sets the log up.
func (a *app) configured(fs *pflag.FlagSet) (*config.Config, error) {
	path, err := fs.GetString("config")
	if err != nil {
		return nil, err
	}
	return a.loadConfig(path, overrides(fs))
}

// loadConfig loads the configuration file at path; without a path it is
// ragjudge.toml in the working directory, if there is one. Whether a judge is
// named is checked where it is known that one is needed: see newSession.
func (a *app) loadConfig(path string, flags []config.Flag) (*config.Config, error) {
	if path == "" {
		path = a.defaultConfig()
	}
	return a.configFile(path, flags)
}

// configFile loads a configuration file, or none if path is empty.
func (a *app) configFile(path string, flags []config.Flag) (*config.Config, error) {
	cfg, err := config.Load(path, config.Options{Environ: a.environ, Flags: flags, Partial: true})
	if err != nil {
		hint := ""
		if path == "" {
			hint = "there is no ragjudge.toml here; \"ragjudge init\" writes one, --config FILE names another"
		}
		return nil, &exitError{code: exitUsage, err: err, hint: hint}
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Run.LogLevel)); err != nil {
		return nil, usageError(fmt.Errorf("%s: %w", cfg.Place("run.log_level"), err))
	}
	a.log = newLogger(a.errw, cfg.Run.LogFormat, level)
	for _, w := range cfg.Warnings {
		a.log.Warn(w)
	}
	return cfg, nil
}
