// Package eval is the vocabulary of ragjudge: the Sample that is scored, the
// Metric that scores it, and the Score that comes out.
//
// It holds no I/O and imports only the standard library, so that every other
// package can speak it. The words are the field's: a sample is one question
// with the response of the system under test, the contexts it retrieved and,
// where known, the reference answer and the relevant ids; a metric gives one
// sample one score; a judge is the language model behind the judged metrics.
//
// The rule that everything here serves: missing is never zero and never NaN.
// A Score has a Value only if its Status is Scored.
package eval

import (
	"context"
	"encoding/json"
)

// Field names a canonical field of a Sample, as it is spelt in a dataset.
type Field string

// The canonical fields of a sample.
const (
	FieldID                  Field = "id"
	FieldUserInput           Field = "user_input"
	FieldResponse            Field = "response"
	FieldRetrievedContexts   Field = "retrieved_contexts"
	FieldReference           Field = "reference"
	FieldOtherReferences     Field = "other_references"
	FieldReferenceContexts   Field = "reference_contexts"
	FieldRetrievedContextIDs Field = "retrieved_context_ids"
	FieldReferenceContextIDs Field = "reference_context_ids"
	FieldCategory            Field = "category"
	FieldMetadata            Field = "metadata"
)

// Sample is one question with what a RAG system made of it.
//
// Text is kept byte for byte as the dataset has it. A text field that is empty
// or holds nothing but white space counts as missing. For the list and map
// fields nil means missing, and a non-nil empty value means known to be empty:
// a system that retrieved nothing has RetrievedContexts == []string{}.
type Sample struct {
	// ID identifies the sample in its dataset. Where the dataset gives none it
	// is a hash of the content, never a counter.
	ID string
	// Row is the 1-based number of the record in its dataset; 0 if it has none.
	Row int
	// UserInput is the question put to the system under test.
	UserInput string
	// Response is the answer of the system under test.
	Response string
	// RetrievedContexts are the retrieved chunks, best first.
	RetrievedContexts []string
	// RetrievedContextIDs are the ids of the retrieved chunks, best first.
	RetrievedContextIDs []string
	// Reference is the answer that is held to be right.
	Reference string
	// OtherReferences are further answers that are as right as Reference, where
	// the dataset gives several. Metrics that compare texts take the best of
	// all; judged ones look at Reference.
	OtherReferences []string
	// ReferenceContexts are the texts of the chunks that hold the answer.
	ReferenceContexts []string
	// ReferenceContextIDs maps the id of each judged chunk to its grade: above
	// 0 is relevant, 0 or less is judged and not relevant.
	ReferenceContextIDs map[string]float64
	// Category groups samples in the summary; empty for none.
	Category string
	// Metadata holds every other column of the record, untouched.
	Metadata map[string]json.RawMessage
}

// Has reports whether the sample carries the field, in the sense told at
// Sample: blank text is missing, an empty list is there.
func (s *Sample) Has(f Field) bool {
	switch f {
	case FieldID:
		return s.ID != ""
	case FieldUserInput:
		return !blank(s.UserInput)
	case FieldResponse:
		return !blank(s.Response)
	case FieldReference:
		return !blank(s.Reference)
	case FieldOtherReferences:
		return s.OtherReferences != nil
	case FieldRetrievedContexts:
		return s.RetrievedContexts != nil
	case FieldReferenceContexts:
		return s.ReferenceContexts != nil
	case FieldRetrievedContextIDs:
		return s.RetrievedContextIDs != nil
	case FieldReferenceContextIDs:
		return s.ReferenceContextIDs != nil
	case FieldCategory:
		return s.Category != ""
	case FieldMetadata:
		return s.Metadata != nil
	}
	return false
}

// References returns every reference that is not blank: Reference, then
// OtherReferences.
func (s *Sample) References() []string {
	all := make([]string, 0, 1+len(s.OtherReferences))
	for _, r := range append([]string{s.Reference}, s.OtherReferences...) {
		if !blank(r) {
			all = append(all, r)
		}
	}
	return all
}

// Missing returns the first of the needed fields that the sample lacks, or "".
func (s *Sample) Missing(needs []Field) Field {
	for _, f := range needs {
		if !s.Has(f) {
			return f
		}
	}
	return ""
}

// Info describes a metric for people and for the manifest of a run.
type Info struct {
	// Name is the canonical name, with its cut-off where it has one:
	// "faithfulness", "precision@5".
	Name string
	// Version changes whenever the same verdicts or ids would give another
	// score. It is stored with every score.
	Version int
	// Judged reports whether the metric asks the judge.
	Judged bool
	// LowerIsBetter reports that a low value is a good one, as of a share of
	// hallucinations. By default higher is better.
	LowerIsBetter bool
	// Needs lists the fields without which a sample is Skipped.
	Needs []Field
	// Calls says how many judge calls a sample costs, in words.
	Calls string
	// Asks names the questions behind the calls, in their order. Metrics that ask
	// the same question about a sample share its call.
	Asks []string
	// Formula says how the score is made.
	Formula string
	// Doc is a short description: what a high and a low score mean.
	Doc string
	// Note is shown wherever the metric's figures are, if it is not empty: a
	// warning such as "a drift alarm, not a judge".
	Note string
}

// Metric gives one sample one Score.
type Metric interface {
	// Info describes the metric. It always returns the same value.
	Info() Info
	// Score scores one sample. What concerns this sample alone (a missing
	// field, a reply that can't be used, a refused or failed call) is told by
	// the status of the Score, with a nil error. An error means that the run
	// can't go on: a wrong key, a spent budget, a cancelled context; the sample
	// then has no score and is to be scored again when the run is resumed.
	// It is safe for concurrent use and does not change the sample.
	Score(ctx context.Context, s *Sample) (Score, error)
}
