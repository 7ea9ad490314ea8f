package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Status says what became of one metric on one sample.
type Status string

// The five states of a score. Only Scored has a value and enters a mean.
const (
	// Scored: the metric has a value.
	Scored Status = "scored"
	// Undefined: the formula has no value here; the reason says why.
	Undefined Status = "undefined"
	// Skipped: the sample lacks a field that the metric needs.
	Skipped Status = "skipped"
	// Unscored: the judge answered, but gave no usable verdict.
	Unscored Status = "unscored"
	// Failed: the call failed; running again tries this sample anew.
	Failed Status = "failed"
)

// Statuses lists every status, in the order in which reports show them.
var Statuses = []Status{Scored, Undefined, Skipped, Unscored, Failed}

// Score is what one metric says about one sample.
type Score struct {
	// Metric is the canonical name of the metric.
	Metric string `json:"metric"`
	// Version is the version of the metric that made the score.
	Version int `json:"version"`
	// Status says whether there is a value, and if not, what kind of lack it is.
	Status Status `json:"status"`
	// Value is the score: finite, and present if and only if Status is Scored.
	// Every built-in metric lies within 0..1 and higher is better unless its
	// Info says otherwise.
	Value *float64 `json:"value"`
	// Reason explains the status, or a scored value that was decided without
	// a formula ("no_contexts"). It starts with a stable code: "no_claims",
	// "missing_field: reference".
	Reason string `json:"reason,omitempty"`
	// Flags are stable codes for what a reader of the value ought to know:
	// "vacuous", "duplicate_ids", "judged_by_response".
	Flags []string `json:"flags,omitempty"`
	// Detail keeps what the value was made of: claims, verdicts, reasons,
	// ratings. Its form belongs to the metric.
	Detail json.RawMessage `json:"detail,omitempty"`
	// Panel is what several judges or trials said; nil where one judge was asked
	// once, or nobody at all.
	Panel *Panel `json:"panel,omitempty"`
}

// Value returns a scored Score. A value that is not finite becomes Undefined
// with reason "not_finite": it must never pass for a number.
func Value(v float64) Score {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Score{Status: Undefined, Reason: fmt.Sprintf("not_finite: the formula gave %v", v)}
	}
	return Score{Status: Scored, Value: &v}
}

// Without returns a Score that has no value, with its reason.
func Without(st Status, format string, args ...any) Score {
	return Score{Status: st, Reason: fmt.Sprintf(format, args...)}
}

// SkippedFor returns the Score of a sample that lacks a needed field.
func SkippedFor(f Field) Score {
	return Without(Skipped, "missing_field: %s", f)
}

// Of returns the score under the name and version of a metric.
func (s Score) Of(info Info) Score {
	s.Metric, s.Version = info.Name, info.Version
	return s
}

// Because returns the score with a reason.
func (s Score) Because(reason string) Score {
	s.Reason = reason
	return s
}

// Flagged returns the score with one more flag.
func (s Score) Flagged(flag string) Score {
	s.Flags = append(s.Flags[:len(s.Flags):len(s.Flags)], flag)
	return s
}

// WithDetail returns the score with v, encoded as JSON, as its detail. It
// panics if v can't be encoded, which is a fault of the metric's own code.
func (s Score) WithDetail(v any) Score {
	b, err := MarshalJSON(v)
	if err != nil {
		panic(fmt.Sprintf("eval: the detail of a score can't be encoded: %v", err))
	}
	s.Detail = b
	return s
}

// Check reports a Score that breaks the rules: an unknown status, a value
// without Scored or Scored without a value, a value that is not finite.
func (s Score) Check() error {
	known := false
	for _, st := range Statuses {
		known = known || st == s.Status
	}
	switch {
	case !known:
		return fmt.Errorf("score of %s: unknown status %q", s.Metric, s.Status)
	case (s.Status == Scored) != (s.Value != nil):
		return fmt.Errorf("score of %s: status %s, but value present is %t", s.Metric, s.Status, s.Value != nil)
	case s.Value != nil && (math.IsNaN(*s.Value) || math.IsInf(*s.Value, 0)):
		return fmt.Errorf("score of %s: value %v is not finite", s.Metric, *s.Value)
	}
	return nil
}

// ResultSchema is the version of the form of a result line.
const ResultSchema = 1

// Result is what a run says about one sample: one line of results.jsonl.
// It holds nothing that depends on timing, concurrency or the cache.
type Result struct {
	// Schema is ResultSchema.
	Schema int `json:"schema"`
	// Row, ID and Category are the sample's.
	Row      int    `json:"row"`
	ID       string `json:"id"`
	Category string `json:"category"`
	// Scores holds one score a metric, in the configured order.
	Scores []Score `json:"scores"`
}

// Has reports whether any score of the result has the given status.
func (r *Result) Has(st Status) bool {
	for _, s := range r.Scores {
		if s.Status == st {
			return true
		}
	}
	return false
}

// MarshalJSON encodes v without escaping <, > and &: reasons and claims are
// to be read by people, and the same text must give the same bytes everywhere.
func MarshalJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
