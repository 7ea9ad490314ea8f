package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// The measures of agreement between judges.
const (
	// MeasureKappa is Cohen's kappa, for verdicts.
	MeasureKappa = "kappa"
	// MeasureSpearman is Spearman's rank correlation, for ratings.
	MeasureSpearman = "spearman"
)

const (
	// maxCells bounds the distinct pairs of ratings that are told apart for two
	// judges, and maxPairs the pairs of judges, so that memory is bounded.
	maxCells = 1 << 13
	maxPairs = 1 << 10
)

// Agreement says how far several judges, or the trials of one, agree on a
// metric over the run.
type Agreement struct {
	// Samples is the number of samples with at least two seats' values, and
	// MeanSpread the mean, over these, of the highest less the lowest value.
	Samples    int      `json:"samples"`
	MeanSpread *float64 `json:"mean_spread"`
	// Disagree counts the samples with the flag judges_disagree, Ties those
	// without a score because no side had a majority.
	Disagree int `json:"judges_disagree"`
	Ties     int `json:"ties"`
	// Measure is MeasureKappa or MeasureSpearman; empty if no two seats answered.
	Measure string `json:"measure,omitempty"`
	// Judges holds each pair of judges, by what they said in the same trial;
	// Trials holds each judge with itself, by what it said in two of its trials.
	Judges []Pair `json:"judges"`
	Trials []Pair `json:"trials,omitempty"`
}

// Pair is the agreement of two judges, or of one with itself.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// N is the number of items (or ratings) on which both gave a verdict.
	N int `json:"n"`
	// Equal is the share of these on which they agree; nil if N is 0. Two
	// verdicts agree if both count for the score, or neither does.
	Equal *float64 `json:"equal"`
	// Value is the measure, -1 to 1; nil where it has none, for the reason that
	// Undefined gives.
	Value     *float64 `json:"value"`
	Undefined string   `json:"undefined,omitempty"`
}

// The reasons for which a measure has no value.
const (
	undefinedNone     = "nothing that both judged"
	undefinedConstant = "one of the two said the same throughout, so there is nothing to compare"
	undefinedMany     = "too many distinct ratings to be told apart"
)

// agreement follows the panels of one metric.
type agreement struct {
	seen           bool
	spread         moments
	disagree, ties int
	measure        string
	judges         []string // in the order of the seats
	pairs          map[[2]string]*contingency
}

// add takes in the panel of a score, if it has one.
func (a *agreement) add(sc *eval.Score) {
	p := sc.Panel
	if p == nil {
		return
	}
	a.seen = true
	if p.Spread != nil {
		a.spread.add(*p.Spread)
	}
	if slices.Contains(sc.Flags, eval.FlagJudgesDisagree) {
		a.disagree++
	}
	if sc.Status == eval.Unscored && code(sc.Reason) == "tie" {
		a.ties++
	}
	for i := range p.Seats {
		a.judge(p.Seats[i].Judge)
		for j := range i {
			a.pair(&p.Seats[j], &p.Seats[i], p.Positive)
		}
	}
}

func (a *agreement) judge(name string) {
	if !slices.Contains(a.judges, name) && len(a.judges) < maxPairs {
		a.judges = append(a.judges, strings.Clone(name))
	}
}

// pair counts what two seats said, if they are to be compared: two judges in
// one trial, or one judge in two.
func (a *agreement) pair(x, y *eval.Seat, positive []string) {
	if x.Judge != y.Judge && x.Trial != y.Trial {
		return
	}
	key := [2]string{x.Judge, y.Judge}
	t := a.pairs[key]
	if t == nil {
		if len(a.pairs) >= maxPairs {
			return
		}
		if a.pairs == nil {
			a.pairs = map[[2]string]*contingency{}
		}
		t = &contingency{cells: map[[2]float64]int{}}
		a.pairs[[2]string{strings.Clone(key[0]), strings.Clone(key[1])}] = t
	}
	if x.Rating != nil && y.Rating != nil {
		a.measure = MeasureSpearman
		t.add(float64(*x.Rating), float64(*y.Rating))
		return
	}
	if len(x.Labels) != len(y.Labels) {
		return // one of them has no verdicts
	}
	counts := func(label string) float64 {
		if slices.Contains(positive, label) {
			return 1
		}
		return 0
	}
	for i := range x.Labels {
		a.measure = MeasureKappa
		t.add(counts(x.Labels[i]), counts(y.Labels[i]))
	}
}

// summary returns what was found; nil if no score had a panel.
func (a *agreement) summary() *Agreement {
	if !a.seen {
		return nil
	}
	out := &Agreement{Samples: a.spread.n, MeanSpread: a.spread.mean(), Disagree: a.disagree, Ties: a.ties, Measure: a.measure, Judges: []Pair{}}
	for i, x := range a.judges {
		for _, y := range a.judges[i:] {
			t := a.pairs[[2]string{x, y}]
			switch {
			case t == nil && x == y: // one trial
			case x == y:
				out.Trials = append(out.Trials, t.pair(x, y, a.measure))
			default:
				out.Judges = append(out.Judges, t.pair(x, y, a.measure))
			}
		}
	}
	return out
}

// contingency counts pairs of what two raters said. The zero value has none,
// and so has nil.
type contingency struct {
	cells map[[2]float64]int
	n     int
	over  bool // there were more cells than are kept
}

func (t *contingency) add(x, y float64) {
	key := [2]float64{x, y}
	if _, known := t.cells[key]; !known && len(t.cells) >= maxCells {
		t.over = true
		return
	}
	t.cells[key]++
	t.n++
}

func (t *contingency) pair(x, y, measure string) Pair {
	p := Pair{A: x, B: y}
	if t == nil || t.n == 0 {
		p.Undefined = undefinedNone
		return p
	}
	p.N = t.n
	equal := t.equal()
	p.Equal = &equal
	if t.over {
		p.Equal, p.Undefined = nil, undefinedMany
		return p
	}
	v, ok := t.kappa()
	if measure == MeasureSpearman {
		v, ok = t.spearman()
	}
	if !ok {
		p.Undefined = undefinedConstant
		return p
	}
	p.Value = &v
	return p
}

// equal is the share of pairs whose two are equal.
func (t *contingency) equal() float64 {
	same := 0
	for k, n := range t.cells {
		if k[0] == k[1] {
			same += n
		}
	}
	return float64(same) / float64(t.n)
}

// margins counts what each rater said by itself.
func (t *contingency) margins() (x, y map[float64]int) {
	x, y = map[float64]int{}, map[float64]int{}
	for k, n := range t.cells {
		x[k[0]] += n
		y[k[1]] += n
	}
	return x, y
}

// kappa is Cohen's kappa (A coefficient of agreement for nominal scales,
// Educational and Psychological Measurement 20, 1960): (po - pe) / (1 - pe),
// with po the share of equal pairs and pe the one to expect of two raters who
// say each thing as often as these, independently. Of a rater who says one
// thing only, it could only be 0 or nothing, whatever the other says: then it is
// not defined here.
func (t *contingency) kappa() (float64, bool) {
	x, y := t.margins()
	if len(x) < 2 || len(y) < 2 {
		return 0, false
	}
	same, chance := 0, 0 // times n and times n squared: whole numbers
	for k, n := range t.cells {
		if k[0] == k[1] {
			same += n
		}
	}
	for k := range x {
		chance += x[k] * y[k]
	}
	return float64(same*t.n-chance) / float64(t.n*t.n-chance), true
}

// spearman is Pearson's correlation of ranks, tied values having the mean of
// their ranks. It is not defined where one rater says one thing only.
func (t *contingency) spearman() (float64, bool) {
	x, y := t.margins()
	if len(x) < 2 || len(y) < 2 {
		return 0, false
	}
	rx, vx := ranks(x, t.n)
	ry, vy := ranks(y, t.n)
	keys := slices.SortedFunc(maps.Keys(t.cells), func(a, b [2]float64) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	together := 0.0
	for _, k := range keys {
		together += float64(t.cells[k]) * float64(rx[k[0]]*ry[k[1]])
	}
	return min(max(together/math.Sqrt(float64(vx*vy)), -1), 1), true
}

// ranks returns the mean rank of each value, less the mean of all ranks, and
// the sum of their squares over all n.
func ranks(counts map[float64]int, n int) (map[float64]float64, float64) {
	out, squares, below := make(map[float64]float64, len(counts)), 0.0, 0
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		c := counts[v]
		r := float64(below) + float64(c+1)/2 - float64(n+1)/2
		out[v] = r
		squares += float64(c) * float64(r*r)
		below += c
	}
	return out, squares
}
