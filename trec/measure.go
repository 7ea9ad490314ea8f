package trec

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ragjudge/ragjudge/ranking"
)

// Measure is one figure of an evaluation.
type Measure struct {
	// Name is trec_eval's name: "P_5", "ndcg_cut_10", "map".
	Name string
	// Metric is the name of the same figure among ragjudge's metrics,
	// "precision@5", or "" where it has none.
	Metric string

	def   *definition
	param float64
}

// Whole reports whether the figure is a count.
func (m Measure) Whole() bool { return m.def.whole }

// PerQuery reports whether the figure exists for a single query.
func (m Measure) PerQuery() bool { return m.def.scope != ofAll }

// Overall reports whether the figure exists for all queries together.
func (m Measure) Overall() bool { return m.def.scope != ofQuery }

// Text reports whether the figure is a text: the name of the run, or the string
// of grades.
func (m Measure) Text() bool { return m.def.text }

// average says how the values of the queries make one of all.
type average int

const (
	mean average = iota
	sum
	geometric
)

// scope says where a measure is shown.
type scope int

const (
	ofBoth scope = iota
	ofAll
	ofQuery
)

// definition is a measure for every cut-off that it may have.
type definition struct {
	name    string
	metric  string    // our family; with "@k" if there are cut-offs
	params  []float64 // the cut-offs unless others are asked for; nil if it has none
	shares  bool      // the cut-offs are shares, not ranks
	whole   bool
	text    bool
	average average
	scope   scope
	of      func(l *ranking.List, x float64) float64
}

var (
	usualCuts   = []float64{5, 10, 15, 20, 30, 100, 200, 500, 1000}
	recallLevel = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
)

// smallestMean stands for 0 in a geometric mean, as it does in trec_eval.
const smallestMean = 0.00001

// The measures whose value is not made of a list.
const (
	nameRunID     = "runid"
	nameNumQ      = "num_q"
	nameNumRel    = "num_rel"
	nameRelstring = "relstring"
	nameNDCG      = "ndcg"
	nameNDCGCut   = "ndcg_cut"
)

// definitions are in the order in which trec_eval shows them. Those that it
// doesn't have are at the end.
var definitions = []definition{
	{name: nameRunID, text: true, scope: ofAll},
	{name: nameNumQ, whole: true, scope: ofAll},
	{name: "num_ret", whole: true, average: sum, of: func(l *ranking.List, _ float64) float64 { return float64(len(l.Grades)) }},
	{name: nameNumRel, whole: true, average: sum, of: func(l *ranking.List, _ float64) float64 { return float64(l.Relevant) }},
	{name: "num_rel_ret", whole: true, average: sum, of: func(l *ranking.List, _ float64) float64 { return float64(len(l.Hits)) }},
	{name: "map", metric: "map", of: func(l *ranking.List, _ float64) float64 { return l.AveragePrecision(0) }},
	{name: "gm_map", average: geometric, scope: ofAll, of: func(l *ranking.List, _ float64) float64 { return l.AveragePrecision(0) }},
	{name: "Rprec", metric: "r_precision", of: func(l *ranking.List, _ float64) float64 { return l.RPrecision() }},
	{name: "bpref", metric: "bpref", of: func(l *ranking.List, _ float64) float64 { return l.BPref() }},
	{name: "recip_rank", metric: "mrr", of: func(l *ranking.List, _ float64) float64 { return l.ReciprocalRank(0) }},
	{name: "iprec_at_recall", params: recallLevel, shares: true, of: (*ranking.List).InterpolatedPrecision},
	{name: "P", metric: "precision@k", params: usualCuts, of: atRank((*ranking.List).Precision)},
	{name: nameRelstring, text: true, scope: ofQuery},
	{name: "recall", metric: "recall@k", params: usualCuts, of: atRank((*ranking.List).Recall)},
	{name: "infAP", of: func(l *ranking.List, _ float64) float64 { return l.InferredAP() }},
	{name: "gm_bpref", average: geometric, scope: ofAll, of: func(l *ranking.List, _ float64) float64 { return l.BPref() }},
	{name: "Rprec_mult", params: []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2}, shares: true, of: (*ranking.List).RPrecisionMultiple},
	{name: "utility", of: func(l *ranking.List, _ float64) float64 { return l.Utility() }},
	{name: "11pt_avg", of: func(l *ranking.List, _ float64) float64 { return l.ElevenPoint() }},
	{name: "binG", of: func(l *ranking.List, _ float64) float64 { return l.BinaryG() }},
	{name: nameNDCG, metric: "ndcg", of: func(l *ranking.List, _ float64) float64 { return l.NDCG(0, ranking.Linear) }},
	{name: nameNDCGCut, metric: "ndcg@k", params: usualCuts, of: atRank(func(l *ranking.List, k int) float64 { return l.NDCG(k, ranking.Linear) })},
	{name: "map_cut", metric: "map@k", params: usualCuts, of: atRank((*ranking.List).AveragePrecision)},
	{name: "relative_P", params: usualCuts, of: atRank((*ranking.List).RelativePrecision)},
	{name: "success", metric: "hit_rate@k", params: []float64{1, 5, 10}, of: atRank((*ranking.List).Success)},
	{name: "set_P", of: func(l *ranking.List, _ float64) float64 { return l.Precision(0) }},
	{name: "set_relative_P", of: func(l *ranking.List, _ float64) float64 { return l.RelativePrecision(0) }},
	{name: "set_recall", of: func(l *ranking.List, _ float64) float64 { return l.Recall(0) }},
	{name: "set_map", of: func(l *ranking.List, _ float64) float64 { return l.SetMAP() }},
	{name: "set_F", of: func(l *ranking.List, _ float64) float64 { return l.SetF() }},
	{name: "num_nonrel_judged_ret", whole: true, average: sum, of: func(l *ranking.List, _ float64) float64 { return float64(l.NonrelevantJudged()) }},
	{name: "recip_rank_cut", metric: "mrr@k", params: []float64{10}, of: atRank((*ranking.List).ReciprocalRank)},
	{name: "F1", metric: "f1@k", params: []float64{5, 10}, of: atRank((*ranking.List).F1)},
	{name: "judged", metric: "judged@k", params: []float64{10, 100}, of: atRank((*ranking.List).Judged)},
}

// exponentialNDCG are the two measures that a gain changes, by that gain.
var exponentialNDCG = []definition{
	{name: nameNDCG, metric: "ndcg", of: func(l *ranking.List, _ float64) float64 { return l.NDCG(0, ranking.Exponential) }},
	{name: nameNDCGCut, metric: "ndcg@k", params: usualCuts, of: atRank(func(l *ranking.List, k int) float64 { return l.NDCG(k, ranking.Exponential) })},
}

func atRank(f func(*ranking.List, int) float64) func(*ranking.List, float64) float64 {
	return func(l *ranking.List, x float64) float64 { return f(l, int(x)) }
}

// at makes the measure of a definition with a cut-off.
func (d *definition) at(x float64) Measure {
	m := Measure{Name: d.name, Metric: d.metric, def: d, param: x}
	switch {
	case d.params == nil:
	case d.shares:
		m.Name += "_" + strconv.FormatFloat(x, 'f', 2, 64)
	default:
		k := strconv.Itoa(int(x))
		m.Name += "_" + k
		if d.metric != "" {
			m.Metric = d.metric[:len(d.metric)-1] + k
		}
	}
	return m
}

func find(name string) *definition {
	i := slices.IndexFunc(definitions, func(d definition) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return &definitions[i]
}

// withGain returns the measures with nDCG by another gain.
func withGain(list []Measure, exponential bool) []Measure {
	list = slices.Clone(list)
	if !exponential {
		return list
	}
	for i, m := range list {
		for d := range exponentialNDCG {
			if m.def.name == exponentialNDCG[d].name {
				list[i].def = &exponentialNDCG[d]
			}
		}
	}
	return list
}

// relstring shows the grades of the first ten documents, as trec_eval does: a
// digit, ">" for more than 9, "." for a negative grade, "-" for none.
func relstring(l *ranking.List) string {
	b := []byte{'\''}
	for _, g := range l.Grades[:min(10, len(l.Grades))] {
		switch {
		case g != g:
			b = append(b, '-')
		case g < 0:
			b = append(b, '.')
		case g > 9:
			b = append(b, '>')
		default:
			b = fmt.Appendf(b, "%d", int(g))
		}
	}
	return string(append(b, '\''))
}
