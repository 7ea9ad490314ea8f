package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/config"
	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
	"github.com/ragjudge/ragjudge/prompts"
	"github.com/ragjudge/ragjudge/report"
	"github.com/ragjudge/ragjudge/run"
)

// session is a checked configuration with everything that is made of it before
// a judge is there.
type session struct {
	cfg     *config.Config
	prompts *prompts.Set
	defs    map[string]metrics.Definition // the metrics that the configuration defines
	names   []string                      // of the metrics, canonical, in configured order
	options map[string]metrics.Options
	judged  bool
	gates   []report.Gate
}

// newSession checks what the configuration can't check by itself, and tells
// all problems at once.
func newSession(cfg *config.Config) (*session, error) {
	s := &session{cfg: cfg, options: map[string]metrics.Options{}}
	var errs []error
	defs, err := definitions(cfg)
	errs, s.defs = append(errs, err), defs
	s.prompts, err = promptSet(cfg, defs)
	errs = append(errs, err)
	errs = append(errs, s.chooseMetrics(), s.checkSections(), s.chooseGates(), s.checkJudge())
	if err := errors.Join(errs...); err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

// checkJudge asks for a judge if a metric needs one. If none does, the offline
// judge stands in, which is never asked: no key is needed then.
func (s *session) checkJudge() error {
	if !s.judged {
		s.cfg.Judge.Provider, s.cfg.Judges, s.cfg.Panel.Trials = config.Lexical, nil, 1
		return nil
	}
	var errs []error
	for i, j := range s.cfg.AllJudges() {
		place := func(name string) string { return s.cfg.Place(s.cfg.JudgeKey(i, name)) }
		switch {
		case j.Provider == config.Lexical:
		case j.Model == "":
			errs = append(errs, fmt.Errorf("%s: no model is named; set judge.model, or judge.provider = \"lexical\" to try things out offline", place("model")))
		case j.Provider == config.Azure && j.BaseURL == "":
			errs = append(errs, fmt.Errorf("%s: Azure needs judge.base_url, such as https://NAME.openai.azure.com", place("base_url")))
		}
	}
	return errors.Join(errs...)
}

// stand-ins for who is asked while metrics are only checked.
var (
	noJudge    = judge.New(judge.Config{})
	noEmbedder = &judge.Embedder{}
)

func (s *session) chooseMetrics() error {
	var errs []error
	bad := func(key string, err error) { errs = append(errs, fmt.Errorf("%s: %w", s.cfg.Place(key), err)) }
	if len(s.cfg.Metrics) == 0 {
		bad("metrics", errors.New("no metric is named; \"ragjudge metrics\" lists them, and \"ragjudge init\" writes a configuration to start from"))
	}
	for _, given := range s.cfg.Metrics {
		if metrics.IsDefinition(s.cfg.Metric[given]) && s.defs[given].Name == "" {
			continue // definitions tells what is wrong with it, with its place
		}
		name, err := s.canonical(given)
		if err != nil {
			bad("metrics", err)
			continue
		}
		if slices.Contains(s.names, name) {
			bad("metrics", fmt.Errorf("%s is named twice", name))
			continue
		}
		if _, own := s.defs[name]; own {
			s.names, s.options[name], s.judged = append(s.names, name), metrics.Options{}, true
			continue
		}
		f, err := metrics.FamilyOf(name)
		if err != nil {
			bad("metrics", err)
			continue
		}
		opt, err := s.metricOptions(name)
		if err != nil {
			continue // checkSections tells it, with its place
		}
		opt.Judge, opt.Embedder = noJudge, noEmbedder
		if _, err := metrics.New(name, opt); err != nil {
			bad("metrics", err)
			continue
		}
		if f.NeedsEmbedder(opt) {
			if s.cfg.Embeddings.Needed = true; s.cfg.Embedder() == nil {
				bad("metrics", fmt.Errorf("%s needs embeddings: set embeddings.model, such as \"text-embedding-3-small\", or embeddings.provider = \"lexical\" to try things out offline", name))
				continue
			}
		}
		s.names, s.options[name] = append(s.names, name), opt
		s.judged = s.judged || f.Judged
	}
	return errors.Join(errs...)
}

// sections names the sections that are for a metric: [metric.retrieval] if it
// is one over ids, [metric.<family>], and [metric."<name>"]. A later one goes
// before an earlier one.
func (s *session) sections(name string) []string {
	var shared, general, special []string
	f, err := metrics.FamilyOf(name)
	if err != nil {
		return nil
	}
	for _, given := range slices.Sorted(maps.Keys(s.cfg.Metric)) {
		if metrics.IsRetrieval(given) {
			if f.OverIDs() {
				shared = append(shared, given)
			}
			continue
		}
		of, err := metrics.FamilyOfSection(given)
		if c, cerr := metrics.Canonical(given); cerr == nil && c == name && c != f.Name {
			special = append(special, given)
		} else if err == nil && of.Name == f.Name && !strings.Contains(given, "@") {
			general = append(general, given)
		}
	}
	return slices.Concat(shared, general, special)
}

// metricOptions are the options that the sections of a metric set.
func (s *session) metricOptions(name string) (opt metrics.Options, err error) {
	for _, given := range s.sections(name) {
		if opt, err = opt.With(given, s.cfg.Metric[given]); err != nil {
			return opt, fmt.Errorf("[metric.%s]: %w", given, err)
		}
	}
	return opt, nil
}

// checkSections checks every section [metric.<name>], whether or not the run
// has that metric.
func (s *session) checkSections() error {
	var errs []error
	for _, given := range slices.Sorted(maps.Keys(s.cfg.Metric)) {
		if metrics.IsDefinition(s.cfg.Metric[given]) {
			continue // of a metric of the user's own, which definitions checks
		}
		_, err := metrics.Options{}.With(given, s.cfg.Metric[given])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: [metric.%s]: %w", s.cfg.Place("metric."+given), given, err))
		}
	}
	return errors.Join(errs...)
}

func (s *session) chooseGates() error {
	var errs []error
	for _, given := range slices.Sorted(maps.Keys(s.cfg.Gates)) {
		g := s.cfg.Gates[given]
		name, err := s.canonical(given)
		if err == nil && !slices.Contains(s.names, name) {
			err = fmt.Errorf("a gate on %s, which is not among the metrics of the run: %s", name, strings.Join(s.names, ", "))
		}
		if err == nil && g.Min == nil && g.Max == nil && g.MinCoverage == nil {
			err = errors.New("it has none of min, max and min_coverage, so that it could not fail")
		}
		if err == nil {
			err = s.checkDirection(name, g)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: [gates.%q]: %w", s.cfg.Place("gates."+given), given, err))
			continue
		}
		s.gates = append(s.gates, report.Gate{Metric: name, Min: g.Min, Max: g.Max, MinCoverage: g.MinCoverage})
	}
	return errors.Join(errs...)
}

// checkDirection refuses a gate that a better system would fail, and a worse one
// pass.
func (s *session) checkDirection(name string, g config.Gate) error {
	_, infos, err := s.metrics(noPanel)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(infos, func(info eval.Info) bool { return info.Name == name })
	switch low := i >= 0 && infos[i].LowerIsBetter; {
	case low && g.Min != nil:
		return fmt.Errorf("of %s less is better: set max in the place of min", name)
	case !low && g.Max != nil:
		return fmt.Errorf("of %s more is better: set min in the place of max", name)
	}
	return nil
}

// noPanel stands in for the judges where metrics only describe themselves.
var noPanel = metrics.Panel{Seats: []metrics.Seat{{Judge: noJudge}}, Embedder: noEmbedder}

// metrics makes the metrics over the judges.
func (s *session) metrics(p metrics.Panel) ([]eval.Metric, []eval.Info, error) {
	var list []eval.Metric
	var infos []eval.Info
	for _, name := range s.names {
		opt := s.options[name]
		opt.Panel = p
		made := func() (eval.Metric, error) { return metrics.New(name, opt) }
		if d, own := s.defs[name]; own {
			made = func() (eval.Metric, error) { return d.Metric(opt) }
		}
		m, err := made()
		if err != nil {
			return nil, nil, usageError(err)
		}
		list, infos = append(list, m), append(infos, m.Info())
	}
	return list, infos, nil
}

// identity is everything that makes the run's scores what they are.
func (s *session) identity(infos []eval.Info, data dataset.Info) ([]run.Item, error) {
	c := s.cfg
	items := []run.Item{
		{Name: "dataset", Value: "sha256:" + data.SHA256},
		{Name: "dataset.format", Value: string(data.Format)},
		{Name: "dataset.rows", Value: fmt.Sprint(s.rows(data))},
	}
	if n := len(data.Files); n > 1 && n <= 20 { // also told one by one, so that a difference has a name
		for i, f := range data.Files {
			items = append(items, run.Item{Name: fmt.Sprintf("dataset.file.%d", i+1), Value: "sha256:" + f.SHA256})
		}
	}
	if c.Dataset.Encoding != "" {
		items = append(items, run.Item{Name: "dataset.encoding", Value: c.Dataset.Encoding})
	}
	if c.Dataset.Delimiter != "" {
		items = append(items, run.Item{Name: "dataset.delimiter", Value: c.Dataset.Delimiter})
	}
	for _, field := range slices.Sorted(maps.Keys(c.Dataset.Columns)) {
		items = append(items, run.Item{Name: "dataset.columns." + field, Value: c.Dataset.Columns[field]})
	}
	for _, info := range infos {
		items = append(items, run.Item{Name: "metric." + info.Name, Value: fmt.Sprintf("version %d%s", info.Version, s.settings(info.Name))})
	}
	if !s.judged {
		return items, nil
	}
	judges, err := s.judgeItems()
	if err != nil {
		return nil, err
	}
	items = append(items, judges...)
	for _, t := range s.prompts.List() {
		if !s.uses(t.Name) {
			continue
		}
		items = append(items, run.Item{Name: "prompt." + t.Name, Value: t.Hash})
	}
	return items, nil
}

// uses reports whether a metric of the run uses the template. Those over claims
// belong to no metric alone.
func (s *session) uses(template string) bool {
	metric, _, _ := strings.Cut(template, "/")
	if metric == "context_precision" && slices.Contains(s.names, "context_utilization") {
		return true // it asks the same by the formula of a peer
	}
	return metric == "claims" || slices.Contains(s.names, metric)
}

// settings shows the options of a metric as they are configured, empty for
// the defaults.
func (s *session) settings(name string) string {
	if d, own := s.defs[name]; own {
		return fmt.Sprintf(", %s, definition sha256:%s", d.Kind, d.Hash())
	}
	var out string
	for _, given := range s.sections(name) {
		keys := s.cfg.Metric[given]
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			out += fmt.Sprintf(", %s = %v", k, keys[k])
		}
	}
	return out
}

// rows is the number of rows that the run will score.
func (s *session) rows(data dataset.Info) int {
	if n := s.cfg.Dataset.Limit; n > 0 && n < data.Rows {
		return n
	}
	return data.Rows
}

func show[T any](p *T) string {
	if p == nil {
		return "not sent"
	}
	return fmt.Sprint(*p)
}

// outDir is the run directory: the configured one, or one whose name stands
// for the identity, so that the same command finds the same run again.
func (s *session) outDir(identity []run.Item) string {
	if s.cfg.Output.Dir != "" {
		return s.cfg.Output.Dir
	}
	h := sha256.New()
	for _, it := range identity {
		fmt.Fprintf(h, "%q=%q\n", it.Name, it.Value)
	}
	name := runName(s.cfg.Dataset.Paths)
	return filepath.Join("runs", name+"-"+hex.EncodeToString(h.Sum(nil))[:10])
}

// runName is what a run directory is called by its dataset: the first file,
// without its endings and the characters of patterns.
func runName(paths []string) string {
	if len(paths) == 0 || paths[0] == dataset.Stdin {
		return "stdin"
	}
	name := filepath.Base(paths[0])
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	name = strings.TrimSuffix(name, filepath.Ext(name))
	name = strings.Trim(strings.NewReplacer("*", "", "?", "", "[", "", "]", "").Replace(name), "-_. ")
	if name == "" {
		name = "samples"
	}
	return name
}

// prepare checks the configuration and reads the dataset once: what a run and
// an estimate have in common.
func (a *app) prepare(cfg *config.Config) (*session, *prices, *dataset.Reader, dataset.Info, error) {
	s, err := newSession(cfg)
	if err != nil {
		return nil, nil, nil, dataset.Info{}, err
	}
	price, err := newPrices(cfg, a.log)
	if err != nil {
		return nil, nil, nil, dataset.Info{}, err
	}
	reader, data, err := a.openDataset(cfg)
	if err == nil && s.judged && !cfg.Run.Force {
		if err = answersAreErrors(data); err != nil {
			err = errors.Join(err, reader.Close())
		}
	}
	return s, price, reader, data, err
}

// openDataset opens the input and reads it once, so that everything that is
// wrong with it is known before anything is paid.
func (a *app) openDataset(cfg *config.Config) (*dataset.Reader, dataset.Info, error) {
	r, info, err := a.scanDataset(cfg)
	if err != nil {
		return nil, info, err
	}
	for _, w := range info.Warnings {
		where := []any{"rows", w.Count, "first_row", w.Row, "line", w.Line}
		if len(info.Files) > 1 {
			where = append(where, "file", w.File)
		}
		a.log.Warn(w.Message, where...)
	}
	for _, b := range info.Bad {
		a.log.Warn("bad line skipped", "error", b.Error())
	}
	if info.BadLines > 0 {
		a.log.Warn("bad lines were skipped", "count", info.BadLines)
	}
	return r, info, nil
}

// scanDataset opens the input and reads it once; what is odd in it is told by
// the caller.
func (a *app) scanDataset(cfg *config.Config) (*dataset.Reader, dataset.Info, error) {
	d := cfg.Dataset
	opt := dataset.Options{Format: dataset.Format(d.Format), Columns: d.Columns, SkipBadLines: d.SkipBadLines, MaxRecord: d.MaxLineBytes, Stdin: a.in, Encoding: d.Encoding, Qrels: d.Qrels}
	if d.Delimiter != "" {
		opt.Delimiter = d.Delimiter[0]
	}
	if len(d.Paths) == 0 {
		return nil, dataset.Info{}, usagef("no dataset is named: set dataset.path in the configuration, or give --input FILE")
	}
	r, err := dataset.OpenFiles(d.Paths, opt)
	if err != nil {
		return nil, dataset.Info{}, inputError(err)
	}
	info, err := r.Scan()
	if err != nil {
		return nil, info, errors.Join(inputError(err), r.Close())
	}
	return r, info, nil
}

// inputError gives an error of the dataset its exit code and its hint.
func inputError(err error) error {
	e := &exitError{code: exitUsage, err: err}
	var line *dataset.LineError
	if errors.As(err, &line) {
		e.hint = line.Hint
	}
	return e
}

// source ends after the first n samples. It reads the rest all the same: only
// at its end can the dataset tell whether it is still the one that was scanned.
type source struct {
	run.Source
	left int
}

func (s *source) Next() (*eval.Sample, error) {
	for s.left == 0 {
		if _, err := s.Source.Next(); err != nil {
			return nil, err
		}
	}
	s.left--
	return s.Source.Next()
}

// isInput reports whether an error is one of the dataset's content.
func isInput(err error) bool {
	var line *dataset.LineError
	return errors.As(err, &line)
}
