package metrics

import (
	"context"

	"github.com/ragjudge/ragjudge/eval"
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

// rankingDoc is what every metric over ids has in common. It is the convention
// "rag".
const rankingDoc = " Ids are compared as texts; a grade above 0 is relevant. A repeated id counts once, at its first rank, and the ids behind it move up."

// ranking is a list of retrieved ids with what is known about them.
type ranking struct {
	// ids are the retrieved ids, best first, each once.
	ids []string
	// repeated reports that the retrieved list held an id more than once.
	repeated bool
	// grades are the judged ids; above 0 is relevant.
	grades map[string]float64
	// relevant is the number of relevant ids.
	relevant int
}

func rankingOf(s *eval.Sample) ranking {
	r := ranking{grades: s.ReferenceContextIDs, ids: make([]string, 0, len(s.RetrievedContextIDs))}
	seen := make(map[string]bool, len(s.RetrievedContextIDs))
	for _, id := range s.RetrievedContextIDs {
		if seen[id] {
			r.repeated = true
			continue
		}
		seen[id] = true
		r.ids = append(r.ids, id)
	}
	for _, g := range r.grades {
		if g > 0 {
			r.relevant++
		}
	}
	return r
}

// top returns the ids within the cut-off; k = 0 is no cut-off.
func (r ranking) top(k int) []string {
	if k == 0 {
		return r.ids
	}
	return r.ids[:min(k, len(r.ids))]
}

func (r ranking) isRelevant(id string) bool { return r.grades[id] > 0 }

// hits counts the relevant ids within the cut-off.
func (r ranking) hits(k int) int {
	n := 0
	for _, id := range r.top(k) {
		if r.isRelevant(id) {
			n++
		}
	}
	return n
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

func (r ranking) detail(k int) RankingDetail {
	d := RankingDetail{Returned: len(r.top(k)), Relevant: r.relevant, HitRanks: []int{}}
	for i, id := range r.top(k) {
		if r.isRelevant(id) {
			d.HitRanks = append(d.HitRanks, i+1)
		}
	}
	return d
}

// rankingMetric is a metric over ids: its description and its formula.
type rankingMetric struct {
	info eval.Info
	// cut is the cut-off of the detail; 0 for none.
	cut int
	// value is the formula. It is called only where it has a value.
	value func(r ranking) float64
	// vacuous is set if the value stands for "nothing to find" where there is
	// no relevant id.
	vacuous bool
}

func newRankingMetric(f string, k int, formula, doc string, value func(r ranking) float64) rankingMetric {
	return rankingMetric{
		info: eval.Info{
			Name: withCutOff(f, k), Version: 1, Needs: rankingNeeds,
			Calls: "none", Formula: formula, Doc: doc + rankingDoc,
		},
		cut: k, value: value,
	}
}

// Info describes the metric.
func (m rankingMetric) Info() eval.Info { return m.info }

// Score scores the order of the retrieved ids. Its error is always nil.
func (m rankingMetric) Score(_ context.Context, s *eval.Sample) (eval.Score, error) {
	if f := s.Missing(m.info.Needs); f != "" {
		return eval.SkippedFor(f).Of(m.info), nil
	}
	r := rankingOf(s)
	score := eval.Value(m.value(r)).WithDetail(r.detail(m.cut))
	if r.relevant == 0 {
		flag := FlagNoRelevant
		if m.vacuous {
			flag = FlagVacuous
		}
		score = score.Flagged(flag)
	}
	if r.repeated {
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
