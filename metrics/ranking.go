package metrics

import (
	"context"
	"fmt"
	"math"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
)

// Flags that the ranking metrics put on a score.
const (
	// FlagVacuous: there was nothing to find, so that nothing was missed.
	FlagVacuous = "vacuous"
	// FlagNoRelevant: no chunk is relevant, so that the value could only be 0.
	FlagNoRelevant = "no_relevant"
	// FlagDuplicateIDs: an id was retrieved more than once and counted once.
	FlagDuplicateIDs = "duplicate_ids"
)

// rankingNeeds are the fields of every metric over ids.
var rankingNeeds = []eval.Field{eval.FieldRetrievedContextIDs, eval.FieldReferenceContextIDs}

// rankingDoc is what every metric over ids has in common.
func (o RankingOptions) doc() string {
	level := "above 0"
	if o.Level != ranking.AboveZero {
		level = fmt.Sprintf("of %v or more", o.Level)
	}
	doc := " Ids are compared as texts; a grade " + level + " is relevant."
	return doc + o.choose(
		" A repeated id counts once, at its first rank, and the ids behind it move up.",
		" By the convention of trec_eval 9.0.8: a grade below 0 is no judgement, a repeated id and a sample without judgements have no value.")
}

// ranked is a sample's list of retrieved ids with what is known about them.
type ranked struct {
	ranking.List
	// repeated is an id that was retrieved more than once; empty if none was.
	repeated string
}

func (o RankingOptions) rank(s *eval.Sample) *ranked {
	judged := make([]float64, 0, len(s.ReferenceContextIDs))
	for _, g := range s.ReferenceContextIDs {
		judged = append(judged, g)
	}
	r := &ranked{}
	grades := make([]float64, 0, len(s.RetrievedContextIDs))
	seen := make(map[string]bool, len(s.RetrievedContextIDs))
	for _, id := range s.RetrievedContextIDs {
		if seen[id] {
			if r.repeated == "" {
				r.repeated = id
			}
			continue
		}
		seen[id] = true
		g, ok := s.ReferenceContextIDs[id]
		if !ok {
			g = ranking.Unjudged()
		}
		grades = append(grades, g)
	}
	r.Set(o.Convention, o.Level, o.Convention.Judge(judged, o.Level), grades)
	return r
}

// RankingDetail is the detail of a score over ids.
type RankingDetail struct {
	// Returned is the number of distinct ids within the cut-off.
	Returned int `json:"returned"`
	// Relevant is the number of relevant ids that there are.
	Relevant int `json:"relevant"`
	// HitRanks are the ranks of the relevant ids within the cut-off, from 1.
	HitRanks []int `json:"hit_ranks"`
}

func (r *ranked) detail(k int) RankingDetail {
	returned := len(r.Grades)
	if k > 0 {
		returned = min(k, returned)
	}
	hits := append([]int{}, r.Hits[:r.HitsWithin(k)]...)
	return RankingDetail{Returned: returned, Relevant: r.Relevant, HitRanks: hits}
}

// rankingMetric is a metric over ids: its description and its formula.
type rankingMetric struct {
	info   eval.Info
	family string
	opt    RankingOptions
	// cut is the cut-off of the detail; 0 for none.
	cut int
	// value is the formula. It is NaN where nothing was retrieved and it has
	// no value then.
	value func(l *ranking.List) float64
	// vacuous is set if the value stands for "nothing to find" where there is
	// no relevant id.
	vacuous bool
}

func newRankingMetric(f string, k int, opt RankingOptions, formula, doc string, value func(l *ranking.List) float64) rankingMetric {
	return rankingMetric{
		info: eval.Info{
			Name: withCutOff(f, k), Version: 1, Needs: rankingNeeds,
			Calls: "none", Formula: formula, Doc: doc + opt.doc(),
		},
		family: f, opt: opt, cut: k, value: value,
	}.matching()
}

// Info describes the metric.
func (m rankingMetric) Info() eval.Info { return m.info }

// Score scores the order of the retrieved ids. Its error is always nil.
func (m rankingMetric) Score(_ context.Context, s *eval.Sample) (eval.Score, error) {
	if m.byText(s) {
		return m.scoreByText(s).Of(m.info), nil
	}
	if f := s.Missing(rankingNeeds); f != "" {
		return eval.SkippedFor(f).Of(m.info), nil
	}
	r := m.opt.rank(s)
	if m.opt.Convention == ranking.TrecEval {
		switch {
		case r.repeated != "":
			return eval.Without(eval.Undefined, "duplicate_ids: %q was retrieved twice, at which trec_eval stops", r.repeated).Of(m.info), nil
		case r.Relevant+r.Nonrelevant == 0:
			return eval.Without(eval.Undefined, "no_judgements: trec_eval leaves such a sample out").Of(m.info), nil
		}
	}
	v := m.value(&r.List)
	if math.IsNaN(v) && len(r.Grades) == 0 {
		return eval.Without(eval.Undefined, "nothing_retrieved: there is no id to look at").WithDetail(r.detail(m.cut)).Of(m.info), nil
	}
	score := eval.Value(v).WithDetail(r.detail(m.cut))
	if r.Relevant == 0 {
		flag := FlagNoRelevant
		if m.vacuous && m.opt.Convention != ranking.TrecEval {
			flag = FlagVacuous
		}
		score = score.Flagged(flag)
	}
	if r.repeated != "" {
		score = score.Flagged(FlagDuplicateIDs)
	}
	return score.Of(m.info), nil
}

// ratio is n/d, and 0 where there is nothing to divide by.
func ratio(n, d int) float64 {
	if d == 0 {
		return 0
	}
	return float64(n) / float64(d)
}
