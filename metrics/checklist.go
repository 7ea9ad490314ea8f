package metrics

import (
	"context"
	"fmt"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// FlagCriticalItem: a critical item of a checklist doesn't hold, so that the
// score is 0 whatever else holds.
const FlagCriticalItem = "critical_item"

// The verdicts on an item of a checklist.
const (
	checkYes = "yes"
	checkNo  = "no"
)

// ChecklistDetail is the detail of a checklist.
type ChecklistDetail struct {
	// Items are the items with their verdicts, in their order.
	Items []CheckVerdict `json:"items"`
	// Bounds are those of the score where several judges left it open.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// CheckVerdict is the verdict on one item.
type CheckVerdict struct {
	CheckItem
	// Verdict is "yes" or "no"; with several judges the majority's, or
	// VerdictSplit.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	// Said is as in judge.Verdict.
	Said string `json:"said,omitempty"`
}

// checklist is a metric of the user's own that asks for several verdicts.
type checklist struct {
	def   Definition
	panel Panel
}

// CheckLabels are the verdicts on an item of a checklist.
func CheckLabels() []string { return []string{checkYes, checkNo} }

// Info describes the metric.
func (m checklist) Info() eval.Info { return m.def.Info() }

// Score asks each seat once, for all items.
func (m checklist) Score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	score, err := m.score(ctx, s)
	return score.Of(m.Info()), err
}

func (m checklist) score(ctx context.Context, s *eval.Sample) (eval.Score, error) {
	if lack := m.def.lacks(s); lack != nil {
		return *lack, nil
	}
	ask := m.def.ask(s)
	ask.Labels = CheckLabels()
	for _, it := range m.def.Items {
		ask.Items = append(ask.Items, strings.TrimSpace(it.Check))
	}
	var failed []string
	formula := verdictFormula{
		labels: ask.Labels, value: m.value, bounds: m.bounds,
		detail: func(verdicts []judge.Verdict, b *Bounds) any {
			failed = nil
			d := ChecklistDetail{Bounds: b}
			for i, v := range verdicts {
				it := m.def.Items[i]
				if it.Critical && v.Label == checkNo {
					failed = append(failed, fmt.Sprint(i+1))
				}
				d.Items = append(d.Items, CheckVerdict{CheckItem: it, Verdict: v.Label, Reason: v.Reason, Said: v.Said})
			}
			return d
		},
	}
	score, err := m.panel.verdicts(ctx, ask.Items, nil, formula, func(ctx context.Context, j Judge) ([]judge.Verdict, error) {
		return j.Verdicts(ctx, ask)
	})
	if err == nil && score.Status == eval.Scored && len(failed) > 0 {
		score = score.Flagged(FlagCriticalItem).Because(FlagCriticalItem + ": item " + strings.Join(failed, ", ") + " doesn't hold")
	}
	return score, err
}

// value is the share of the weights of the items that hold; 0 if a critical one
// doesn't.
func (m checklist) value(holds []bool) float64 {
	got, all := 0.0, 0.0
	for i, it := range m.def.Items {
		all += it.Weight
		switch {
		case holds[i]:
			got += it.Weight
		case it.Critical:
			return 0
		}
	}
	return min(got/all, 1)
}

// bounds are those of the value where some items are open: it only rises with
// what holds.
func (m checklist) bounds(sides []side) Bounds {
	least, most := make([]bool, len(sides)), make([]bool, len(sides))
	for i, s := range sides {
		least[i], most[i] = s == yes, s != no
	}
	return Bounds{m.value(least), m.value(most)}
}
