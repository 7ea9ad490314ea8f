package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/eval"
)

const (
	// TopReasons is the number of reasons listed per status.
	TopReasons = 3
	// MaxReason bounds a reason in a listing, in bytes.
	MaxReason = 500

	// maxCodes bounds the distinct codes counted per metric and status, and
	// maxCode the length of one in bytes; the rest is counted as otherCodes.
	maxCodes   = 100
	maxCode    = 100
	otherCodes = "(others)"
	noReason   = "(no reason)"
)

// tally counts one metric over samples.
type tally struct {
	values  moments
	ratings moments
	counts  [5]int // by position in eval.Statuses
	reasons [5]codes
	flags   codes
}

func newTallies(metrics []eval.Info, keep int) []tally {
	t := make([]tally, len(metrics))
	for i := range t {
		t[i].values.keep = keep
	}
	return t
}

// add counts a score that passed Score.Check, with its raw rating if it has one.
func (t *tally) add(sc *eval.Score, rating *float64) {
	st := slices.Index(eval.Statuses, sc.Status)
	t.counts[st]++
	for _, f := range sc.Flags {
		t.flags.add(clip(f, maxCode))
	}
	if sc.Status != eval.Scored || sc.Reason != "" {
		t.reasons[st].add(code(sc.Reason))
	}
	if sc.Value != nil {
		t.values.add(*sc.Value)
		if rating != nil {
			t.ratings.add(*rating)
		}
	}
}

// metric returns the figures of the tally. Scope names what was counted, for
// the seed of the bootstrap.
func (t *tally) metric(info eval.Info, seed uint64, scope string) Metric {
	m := Metric{
		Metric: info.Name, Version: info.Version, Judged: info.Judged, LowerIsBetter: info.LowerIsBetter, Note: info.Note,
		Mean: t.values.mean(), SD: t.values.deviation(),
		Scored: t.count(eval.Scored), Undefined: t.count(eval.Undefined), Skipped: t.count(eval.Skipped),
		Unscored: t.count(eval.Unscored), Failed: t.count(eval.Failed),
		Reasons: Reasons{
			Scored: t.top(eval.Scored), Undefined: t.top(eval.Undefined), Skipped: t.top(eval.Skipped),
			Unscored: t.top(eval.Unscored), Failed: t.top(eval.Failed),
		},
		Flags: t.flags.sorted(),
	}
	m.CI95, m.Method = t.values.interval(seed, info.Name+"\n"+scope)
	m.Rows = m.Scored + m.Undefined + m.Skipped + m.Unscored + m.Failed
	if m.Rows > 0 {
		c := float64(m.Scored) / float64(m.Rows)
		m.Coverage = &c
	}
	if m.Scored > 0 {
		lo, hi := t.values.min, t.values.max
		m.Min, m.Max = &lo, &hi
	}
	m.WorstCase = t.worstCase(info.LowerIsBetter)
	if r := t.ratings.mean(); r != nil {
		m.Rating = &Rating{Mean: *r, N: t.ratings.n}
	}
	return m
}

// worstCase returns the mean with every failed and unscored sample as 0, or as 1
// where lower is better.
func (t *tally) worstCase(lower bool) *float64 {
	lost := t.count(eval.Unscored) + t.count(eval.Failed)
	n := t.count(eval.Scored) + lost
	if n == 0 || t.values.min < 0 || lower && t.values.max > 1 {
		return nil
	}
	v := min(t.values.sum.over(n), t.values.max)
	if lower {
		v = min(v+float64(lost)/float64(n), 1)
	}
	return &v
}

func (t *tally) count(st eval.Status) int { return t.counts[slices.Index(eval.Statuses, st)] }

func (t *tally) top(st eval.Status) []Count {
	list := t.reasons[slices.Index(eval.Statuses, st)].sorted()
	return list[:min(len(list), TopReasons)]
}

// codes counts a bounded number of distinct codes.
type codes map[string]int

func (c *codes) add(code string) {
	if _, known := (*c)[code]; !known {
		if *c == nil {
			*c = codes{}
		}
		if len(*c) >= maxCodes {
			code = otherCodes
		}
		code = strings.Clone(code) // not the whole line that it is a part of
	}
	(*c)[code]++
}

// sorted returns the most frequent first, ties by code.
func (c codes) sorted() []Count {
	var list []Count
	for code, n := range c {
		list = append(list, Count{code, n})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Code, b.Code))
	})
	return list
}

// code returns what a reason is counted by: the text before its first colon.
// For a missing field the name of the field is what a reader needs to know.
func code(reason string) string {
	if strings.HasPrefix(reason, "missing_field: ") {
		return clip(reason, maxCode)
	}
	c, _, _ := strings.Cut(reason, ":")
	if c = strings.TrimSpace(c); c == "" {
		return noReason
	}
	return clip(c, maxCode)
}

// clip shortens s to at most n bytes, marks of the cut included, at a rune's
// boundary.
func clip(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	cut := n - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}

// ratingKey can stand in JSON as a key or as a whole string only: within text
// its quotes would be escaped.
var ratingKey = []byte(`"rating"`)

// rating reads a score's raw rating from its detail, {"rating": n, ...}; nil if
// it has none. It decodes only a detail in which the word stands.
func rating(detail json.RawMessage) *float64 {
	if !bytes.Contains(detail, ratingKey) {
		return nil
	}
	var d struct {
		Rating *float64 `json:"rating"`
	}
	if json.Unmarshal(detail, &d) != nil {
		return nil
	}
	return d.Rating
}

// judgeReason reads the judge's reason from a detail, {"reason": "...", ...}. A
// detail of verdicts on claims or chunks has many reasons: it is told how many
// verdicts there are of each kind.
func judgeReason(detail json.RawMessage) string {
	type verdict struct {
		Verdict string `json:"verdict"`
	}
	var d struct {
		Reason string    `json:"reason"`
		Claims []verdict `json:"claims"`
		Chunks []verdict `json:"chunks"`
	}
	if json.Unmarshal(detail, &d) != nil {
		return ""
	}
	if d.Reason != "" {
		return d.Reason
	}
	counts := map[string]int{}
	for _, v := range append(d.Claims, d.Chunks...) {
		counts[v.Verdict]++
	}
	var words []string
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[v], v))
	}
	return strings.Join(words, ", ")
}
