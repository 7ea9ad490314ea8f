package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// worst keeps the samples with the lowest means.
type worst struct {
	limit  int
	ranked int
	list   []SampleLine // from the worst up; every Mean is set
}

// offer considers a sample. Line is called only if the sample is listed.
func (w *worst) offer(row int, mean float64, line func() SampleLine) {
	w.ranked++
	// Behind its equals: samples of the same row number, or of none, keep the
	// order in which they came.
	at, _ := slices.BinarySearchFunc(w.list, mean, func(l SampleLine, mean float64) int {
		if cmp.Or(cmp.Compare(*l.Mean, mean), cmp.Compare(l.Row, row)) <= 0 {
			return -1
		}
		return 1
	})
	if at >= w.limit {
		return
	}
	if len(w.list) == w.limit {
		w.list = w.list[:w.limit-1]
	}
	w.list = slices.Insert(w.list, at, line())
}

// samples returns a copy of the list, never nil.
func (w *worst) samples() []SampleLine { return append([]SampleLine{}, w.list...) }

// sampleLine copies what a listing needs, so that the result can be dropped.
func sampleLine(r *eval.Result, mean *float64) SampleLine {
	return SampleLine{
		Row:      r.Row,
		ID:       strings.Clone(clip(r.ID, maxCategoryName)),
		Category: strings.Clone(clip(r.Category, maxCategoryName)),
		Mean:     mean,
	}
}

func scoreLine(sc *eval.Score) ScoreLine {
	reason := sc.Reason
	if reason == "" {
		reason = judgeReason(sc.Detail)
	}
	line := ScoreLine{
		Metric: strings.Clone(sc.Metric),
		Status: sc.Status,
		Reason: strings.Clone(clip(reason, MaxReason)),
	}
	if sc.Value != nil {
		v := *sc.Value
		line.Value = &v
	}
	return line
}
