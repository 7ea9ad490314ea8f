package dataset_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

// Several references load from every form in which they come, and come back
// from what is written.
func TestSeveralReferences(t *testing.T) {
	for _, c := range []struct {
		record string
		want   []string
	}{
		{`"reference":["a","b","c"]`, []string{"a", "b", "c"}},
		{`"ground_truths":["a","b"]`, []string{"a", "b"}},
		{`"ground_truths":"['a','b']"`, []string{"a", "b"}},
		{`"reference":["","a",null,7]`, []string{"a", "7"}},
		{`"reference":"a","other_references":["b","c"]`, []string{"a", "b", "c"}},
		{`"other_references":["c"],"reference":["a","b"]`, []string{"a", "b", "c"}},
		{`"reference":"a","other_references":"b"`, []string{"a", "b"}},
		{`"reference":"a","other_references":[]`, []string{"a"}},
		{`"reference":[]`, []string{}},
	} {
		s := one(t, "a.jsonl", `{"question":"q",`+c.record+`}`)
		if !slices.Equal(s.References(), c.want) || len(c.want) < 2 && s.OtherReferences != nil {
			t.Errorf("%s: %q and %q, want %q", c.record, s.Reference, s.OtherReferences, c.want)
		}
		for _, format := range []dataset.Format{dataset.JSONL, dataset.Parquet} {
			var b bytes.Buffer
			w, err := dataset.NewWriter(&b, format)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if back := one(t, "b", b.String()); !slices.Equal(back.References(), c.want) {
				t.Errorf("%s as %s: %q, want %q", c.record, format, back.References(), c.want)
			}
		}
	}
	a := one(t, "a.jsonl", `{"question":"q","reference":["a","b"]}`)
	b := one(t, "a.jsonl", `{"question":"q","reference":["a","c"]}`)
	if a.ID == b.ID {
		t.Error("samples with different references have one id")
	}
	var told []string
	r, err := dataset.Open(write(t, "a.jsonl", `{"question":"q","reference":["a","b"]}`), dataset.Options{Warn: func(w dataset.Warning) { told = append(told, w.Kind) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if s, err := r.Next(); err != nil || !s.Has(eval.FieldOtherReferences) || !slices.Contains(told, "several_references") {
		t.Errorf("%v, warnings %v", err, told)
	}
}
