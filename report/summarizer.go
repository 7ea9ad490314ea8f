package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

const (
	// MaxCategories is the number of categories that are summed up by
	// themselves: the first ones in the dataset's order. All further ones are
	// summed up together.
	MaxCategories = 200
	// maxCategoryName bounds the memory that a category's name can take, in
	// bytes; a longer one is counted among the others.
	maxCategoryName = 1000
	// DefaultList is the length of the listings if Options gives none.
	DefaultList = 10
)

// Options sets what a Summarizer does. The zero value is ready to use.
type Options struct {
	// List is the greatest number of worst samples and of failed or unscored
	// samples that are listed: 0 means [DefaultList], below 0 none.
	List int
	// Seed seeds the bootstrap. Any value, 0 too, is a good one; the same seed
	// and results give the same intervals.
	Seed uint64
}

// Summarizer sums up results one at a time, in bounded memory. It is not safe
// for concurrent use.
type Summarizer struct {
	metrics []eval.Info
	index   map[string]int
	ranking []int // indices of the metrics that rank the worst samples
	opts    Options

	rows    int
	all     []tally
	panels  []agreement // by metric
	named   map[string]*group
	blank   *group // rows without a category
	other   *group // rows of all further categories
	worst   worst
	lacking Lacking

	at []int // reused: where in a result the score of each metric stands
}

// group is what is known of one category.
type group struct {
	rows    int
	tallies []tally
}

// NewSummarizer returns a Summarizer for results that hold a score of each of
// these metrics, in the order in which reports are to show them. A metric named
// twice or without a name is an error.
func NewSummarizer(metrics []eval.Info, opts Options) (*Summarizer, error) {
	if opts.List == 0 {
		opts.List = DefaultList
	}
	opts.List = max(opts.List, 0)
	s := &Summarizer{
		metrics: slices.Clone(metrics),
		index:   make(map[string]int, len(metrics)),
		opts:    opts,
		named:   map[string]*group{},
		at:      make([]int, len(metrics)),
	}
	for i, m := range metrics {
		if m.Name == "" {
			return nil, fmt.Errorf("summarize: metric %d has no name", i+1)
		}
		if _, twice := s.index[m.Name]; twice {
			return nil, fmt.Errorf("summarize: metric %s is listed twice", m.Name)
		}
		s.index[m.Name] = i
		if m.Judged {
			s.ranking = append(s.ranking, i)
		}
	}
	if len(s.ranking) == 0 {
		for i := range metrics {
			s.ranking = append(s.ranking, i)
		}
	}
	s.all = newTallies(metrics, BootstrapMax)
	s.panels = make([]agreement, len(metrics))
	s.worst.limit = opts.List
	return s, nil
}

// Add counts one result; it keeps nothing of it but copies. Results are to be
// added in input order, each row once.
//
// A result that does not hold exactly one well-formed score of each metric, in
// the version the Summarizer was made for, is an error and counts for nothing:
// a mean over a mixture would be a wrong number.
func (s *Summarizer) Add(r *eval.Result) error {
	if err := s.locate(r); err != nil {
		return fmt.Errorf("summarize row %d (id %q): %w", r.Row, clip(r.ID, 100), err)
	}
	g := s.group(r.Category)
	s.rows++
	g.rows++
	for m, i := range s.at {
		sc := &r.Scores[i]
		var raw *float64
		if s.metrics[m].Judged {
			raw = rating(sc.Detail)
		}
		s.all[m].add(sc, raw)
		s.panels[m].add(sc)
		g.tallies[m].add(sc, raw)
	}
	s.list(r)
	return nil
}

// locate checks the scores of a result and notes where each metric stands.
func (s *Summarizer) locate(r *eval.Result) error {
	for m := range s.at {
		s.at[m] = -1
	}
	for i := range r.Scores {
		sc := &r.Scores[i]
		m := i
		if i >= len(s.metrics) || s.metrics[i].Name != sc.Metric {
			var known bool
			if m, known = s.index[sc.Metric]; !known {
				return fmt.Errorf("unknown metric %q", clip(sc.Metric, 100))
			}
		}
		if s.at[m] >= 0 {
			return fmt.Errorf("two scores of %s", sc.Metric)
		}
		if err := sc.Check(); err != nil {
			return err
		}
		if v := s.metrics[m].Version; sc.Version != v {
			return fmt.Errorf("%s was scored by version %d of the metric, and this summary is of version %d: score the row again", sc.Metric, sc.Version, v)
		}
		s.at[m] = i
	}
	for m, i := range s.at {
		if i < 0 {
			return fmt.Errorf("no score of %s", s.metrics[m].Name)
		}
	}
	return nil
}

// group returns the group that a category is counted in.
func (s *Summarizer) group(category string) *group {
	if g := s.named[category]; g != nil {
		return g
	}
	slot := &s.other
	switch {
	case category == "":
		slot = &s.blank
	case len(category) <= maxCategoryName && len(s.named) < MaxCategories:
		g := s.newGroup()
		s.named[strings.Clone(category)] = g
		return g
	}
	if *slot == nil {
		*slot = s.newGroup()
	}
	return *slot
}

func (s *Summarizer) newGroup() *group {
	return &group{tallies: newTallies(s.metrics, CategoryBootstrapMax)}
}

// list enters a result in the listings if it belongs there.
func (s *Summarizer) list(r *eval.Result) {
	if mean := s.rank(r); mean != nil {
		s.worst.offer(r.Row, *mean, func() SampleLine {
			line := sampleLine(r, mean)
			for _, i := range s.at {
				line.Scores = append(line.Scores, scoreLine(&r.Scores[i]))
			}
			return line
		})
	}
	if !r.Has(eval.Failed) && !r.Has(eval.Unscored) {
		return
	}
	s.lacking.Total++
	if len(s.lacking.Samples) >= s.opts.List {
		return
	}
	line := sampleLine(r, s.rank(r))
	for _, i := range s.at {
		if st := r.Scores[i].Status; st == eval.Failed || st == eval.Unscored {
			line.Scores = append(line.Scores, scoreLine(&r.Scores[i]))
		}
	}
	s.lacking.Samples = append(s.lacking.Samples, line)
}

// rank returns the mean by which a sample is ranked among the worst; nil if
// none of the ranking metrics is scored. Of a metric whose low values are the
// good ones, 1 - value enters it.
func (s *Summarizer) rank(r *eval.Result) *float64 {
	sum, n := 0.0, 0
	for _, k := range s.ranking {
		if v := r.Scores[s.at[k]].Value; v != nil {
			good := *v
			if s.metrics[k].LowerIsBetter {
				good = 1 - good
			}
			scaled := good * sumScale // assigned first: never fused with the addition
			sum += scaled
			n++
		}
	}
	if n == 0 {
		return nil
	}
	mean := sum / float64(n) / sumScale
	if math.IsInf(mean, 0) { // the largest values there are, rounded up
		mean = math.Copysign(math.MaxFloat64, mean)
	}
	return &mean
}

// Summary returns the figures of all results added so far. More can be added
// afterwards.
func (s *Summarizer) Summary() *Summary {
	sum := &Summary{
		Schema:   Schema,
		RowsDone: s.rows,
		Metrics:  s.summarize(s.all, "all"),
		Intervals: Intervals{
			Level: Level, Resamples: Resamples, Seed: s.opts.Seed,
			BootstrapMax: BootstrapMax, CategoryBootstrapMax: CategoryBootstrapMax,
		},
		Categories: s.categories(),
		Worst:      Worst{By: []string{}, Ranked: s.worst.ranked, Samples: s.worst.samples()},
		Lacking:    Lacking{Total: s.lacking.Total, Samples: append([]SampleLine{}, s.lacking.Samples...)},
		Gates:      []GateResult{},
	}
	for m := range s.panels {
		sum.Metrics[m].Agreement = s.panels[m].summary()
	}
	for _, k := range s.ranking {
		sum.Worst.By = append(sum.Worst.By, s.metrics[k].Name)
	}
	return sum
}

// categories returns the categories by name, then the rows without one, then
// the others.
func (s *Summarizer) categories() []Category {
	list := []Category{}
	if len(s.named) == 0 && s.other == nil {
		return list
	}
	names := make([]string, 0, len(s.named))
	for name := range s.named {
		names = append(names, name)
	}
	slices.Sort(names)
	entry := func(g *group, name, seedName string, other bool) {
		if g != nil {
			list = append(list, Category{Category: name, Other: other, Rows: g.rows, Metrics: s.summarize(g.tallies, seedName)})
		}
	}
	for _, name := range names {
		entry(s.named[name], name, "category/"+name, false)
	}
	entry(s.blank, "", "category/", false)
	entry(s.other, OtherCategories, "other", true)
	return list
}

// OtherCategories is the name of the entry for all categories that are not
// summed up by themselves; Category.Other marks it.
const OtherCategories = "(other categories)"

func (s *Summarizer) summarize(tallies []tally, scope string) Metrics {
	out := make(Metrics, len(tallies))
	for i := range tallies {
		out[i] = tallies[i].metric(s.metrics[i], s.opts.Seed, scope)
	}
	return out
}
