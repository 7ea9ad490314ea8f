package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/run"
)

func (a *app) doctorCommand() *cobra.Command {
	var offline bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, data, prompts, cache, disk, key and endpoint, with one judge call",
		Long: `Check everything that a run needs and say what is wrong and how to mend it.
Each judge gets a preflight, which finds out whether the endpoint reads long
prompts whole, and one small call. What was learnt about the endpoint is told and
remembered, and so is the request as it will be sent. --offline makes no call.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.configured(cmd.Flags())
			if err != nil {
				return err
			}
			d := &doctor{app: a, cfg: cfg}
			d.examine(cmd.Context(), offline)
			return d.verdict()
		},
	}
	configFlags(c)
	c.Flags().BoolVar(&offline, "offline", false, "make no call to the judge")
	return c
}

// doctor collects what is wrong.
type doctor struct {
	*app
	cfg  *config.Config
	code int
	sick []string
}

// check prints one finding: what was looked at, and how it is.
func (d *doctor) check(what string, fn func() (string, error)) bool {
	found, err := fn()
	if err == nil {
		fmt.Fprintf(d.out, "ok    %-10s %s\n", what, found)
		return true
	}
	d.sick = append(d.sick, what)
	var e *exitError
	code, hint := exitUsage, ""
	if errors.As(err, &e) {
		code, hint = e.code, e.hint
	}
	d.code = max(d.code, code)
	fmt.Fprintf(d.out, "WRONG %-10s %s\n", what, strings.ReplaceAll(err.Error(), "\n", "\n"+strings.Repeat(" ", 17)))
	if hint != "" {
		fmt.Fprintf(d.out, "%17smend it: %s\n", "", hint)
	}
	return false
}

func (d *doctor) examine(ctx context.Context, offline bool) {
	var s *session
	d.check("config", func() (found string, err error) {
		s, err = newSession(d.cfg)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d metrics: %s", len(s.names), strings.Join(s.names, ", ")), nil
	})
	d.check("dataset", func() (string, error) {
		r, info, err := d.openDataset(d.cfg)
		if err != nil {
			return "", err
		}
		defer r.Close() //nolint:errcheck // it was only read
		return fmt.Sprintf("%s: %d samples, %s", info.Path, info.Rows, info.Format), nil
	})
	d.check("prompts", func() (string, error) {
		set, err := loadPrompts(d.cfg)
		if err != nil {
			return "", err
		}
		for _, w := range set.Lint() {
			d.log.Warn(w.String())
		}
		return fmt.Sprintf("%d templates, hash %s", len(set.List()), set.Hash()[:12]), nil
	})
	d.check("cache", d.cache)
	d.check("disk", d.disk)
	if offline || s == nil || !s.judged {
		return
	}
	for i, j := range d.cfg.AllJudges() {
		d.check("judge", func() (string, error) {
			found, err := d.judge(ctx, s, j)
			if len(d.cfg.Judges) > 0 && err == nil {
				found = j.Name + ": " + found
			}
			return found, ofJudge(d.cfg, i, err)
		})
	}
}

func (d *doctor) cache() (string, error) {
	if d.cfg.Cache.Mode == "off" {
		return "off", nil
	}
	c, err := d.openCache(d.cfg, d.log)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // nothing was put
	_, from := d.cacheDir(d.cfg)
	return fmt.Sprintf("%s (%s)", c.Path(), from), nil
}

// disk finds out whether the place for run directories can be written.
func (d *doctor) disk() (string, error) {
	dir := d.cfg.Output.Dir
	if dir == "" {
		dir = "runs"
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", &exitError{code: exitUsage, err: err, hint: "name a folder that can be written with --out"}
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return "", &exitError{code: exitUsage, err: err, hint: "name a folder that can be written with --out"}
	}
	defer os.Remove(f.Name()) //nolint:errcheck // an empty file
	_, err = f.Write(make([]byte, 1<<20))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return dir + " can be written", nil
}

// judge makes the preflight and one small call to one judge, through the whole
// chain; no reply comes from the cache.
func (d *doctor) judge(ctx context.Context, s *session, j *config.Judge) (string, error) {
	cfg := *d.cfg
	cfg.Judge, cfg.Judges, cfg.Panel.Trials = *j, nil, 1
	cfg.Limits.MaxAttempts, cfg.Run.Backend = 1, config.Live
	if cfg.Cache.Mode == string(llm.CacheReadWrite) {
		cfg.Cache.Mode = string(llm.CacheRefresh)
	}
	price, err := newPrices(&cfg, d.log)
	if err != nil {
		return "", err
	}
	chain, err := d.newChain(&cfg, price, chainOptions{since: time.Now(), anew: true}, d.log)
	if err != nil {
		return "", err
	}
	defer chain.close() //nolint:errcheck // what was put was flushed
	one := *s
	one.cfg = &cfg
	panel, err := one.panel(chain.client)
	if err != nil {
		return "", err
	}
	start := time.Now()
	claims, err := panel.Seats[0].Judge.Claims(ctx, doctorAsk)
	if err != nil {
		x := &scoring{app: d.app, s: &one}
		return "", x.stopReason(ctx, run.Stats{}, err)
	}
	snap := chain.meter.Snapshot()
	found := fmt.Sprintf("%s at %s: %d claims of 2 in %s, %d input and %d output tokens",
		judgeModel(j), chain.conns[0].endpoint, len(claims), time.Since(start).Round(time.Millisecond), snap.Total.Usage.PromptTokens, snap.Total.Usage.CompletionTokens)
	if len(price.unpriced()) > 0 {
		found += "; its price is not known, so --max-cost needs judge.price_input and judge.price_output"
	}
	for _, l := range append(chain.learnt(), chain.sends(ctx, &one)...) {
		found += "\n" + strings.Repeat(" ", 17) + l
	}
	return found, nil
}

func (d *doctor) verdict() error {
	if len(d.sick) == 0 {
		return nil
	}
	return &exitError{code: d.code, err: fmt.Errorf("something is wrong with: %s", strings.Join(slices.Compact(d.sick), ", "))}
}
