package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/report"
	"github.com/ragjudge/ragjudge/run"
)

// served are the names under which judges answered, in all executions.
func (x *scoring) served() []string {
	names := x.dir.Manifest.Served
	for name := range x.chain.meter.Snapshot().Models {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// judges tells of each judge what this execution adds to the earlier ones. In
// the calls a judge that is alone has no name.
func (x *scoring) judges() []run.Judge {
	if !x.s.judged {
		return nil
	}
	snap := x.chain.meter.Snapshot()
	var all []run.Judge
	for _, j := range x.s.cfg.AllJudges() {
		one := run.Judge{Name: judgeLabel(j), Served: []run.Served{}}
		name := ""
		if seats(x.s.cfg) > 1 {
			name = one.Name
		}
		for _, before := range x.dir.Manifest.Judges {
			if before.Name == one.Name {
				one.Served, one.Usage = slices.Clone(before.Served), before.Usage
			}
		}
		for _, s := range snap.Served {
			by := run.Served{Model: s.Model, Fingerprint: s.Fingerprint}
			if s.Judge == name && !slices.Contains(one.Served, by) {
				one.Served = append(one.Served, by)
			}
		}
		slices.SortFunc(one.Served, func(a, b run.Served) int {
			return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Fingerprint, b.Fingerprint))
		})
		c := snap.Judge(name)
		u := usageOf(c, j.Provider == config.Lexical)
		if j.Provider == config.Lexical {
			u.Calls = int(c.Calls - c.Hits - c.Shared) // beside paid judges nobody counts its attempts
		}
		one.Usage = one.Usage.Add(u)
		all = append(all, one)
	}
	return all
}

// describeJudges fills in who judged, and warns of a judge that changed within
// the run.
func (x *scoring) describeJudges(sum *report.Summary) {
	cfg := x.s.cfg
	var all []report.Judge
	for i, j := range cfg.AllJudges() {
		one := report.Judge{Provider: j.Provider, Model: judgeModel(j), Offline: j.Provider == config.Lexical}
		if i < len(x.dir.Manifest.Judges) {
			m := x.dir.Manifest.Judges[i]
			one.Served, one.Fingerprints, one.Flags = servedBy(m.Served)
			if seats(cfg) > 1 {
				one.Name = judgeLabel(j)
				u := usage(m.Usage, []string{judgeModel(j)})
				one.Usage = &u
			}
			for _, f := range one.Flags {
				x.log.Warn("the judge changed within the run: scores may not be comparable with each other", "warning", f, "judge", m.Name,
					"models", strings.Join(one.Served, ", "), "fingerprints", strings.Join(one.Fingerprints, ", "))
			}
		}
		if j.Insecure {
			one.Flags = append(one.Flags, report.FlagUnverified)
		}
		all = append(all, one)
	}
	if seats(cfg) == 1 {
		sum.Judge = &all[0]
		return
	}
	sum.Panel = &report.Panel{Vote: cfg.Panel.Vote, Trials: cfg.Panel.Trials, MaxDisagreement: cfg.Panel.MaxDisagreement, Judges: all}
	sum.Judge = &report.Judge{Provider: report.ProviderPanel, Served: x.dir.Manifest.Served}
	names := make([]string, len(all))
	for i, j := range all {
		names[i] = j.Name
		for _, f := range j.Flags {
			if !slices.Contains(sum.Judge.Flags, f) {
				sum.Judge.Flags = append(sum.Judge.Flags, f)
			}
		}
		if j.Offline {
			sum.Judge.Offline = true
			if len(all) > 1 {
				sum.Judge.Note = fmt.Sprintf("the judge %s is the offline lexical one, which compares words and understands nothing: no judge for a system", j.Name)
			}
		}
	}
	sum.Judge.Model = fmt.Sprintf("%s of %s", cfg.Panel.Vote, strings.Join(names, ", "))
	if cfg.Panel.Trials > 1 {
		sum.Judge.Model += fmt.Sprintf(", %d trials", cfg.Panel.Trials)
	}
}

// servedBy splits what answered under a judge's name into models, fingerprints
// and what is to be flagged: another model, or under one model another
// fingerprint.
func servedBy(list []run.Served) (models, prints, flags []string) {
	of := map[string]int{}
	for _, s := range list {
		if !slices.Contains(models, s.Model) {
			models = append(models, s.Model)
		}
		if s.Fingerprint != "" {
			if !slices.Contains(prints, s.Fingerprint) {
				prints = append(prints, s.Fingerprint)
			}
			of[s.Model]++
		}
	}
	if len(models) > 1 {
		flags = append(flags, report.FlagMixedModels)
	}
	for _, n := range of {
		if n > 1 {
			return models, prints, append(flags, report.FlagMixedFingerprints)
		}
	}
	return models, prints, flags
}

// learnt is what was found out about the endpoints, in words.
func (c *chain) learnt() []string {
	var all []string
	for _, conn := range c.conns {
		if conn.backend == nil {
			continue
		}
		for _, l := range conn.backend.Learnt() {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	return all
}
