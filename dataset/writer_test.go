package dataset_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

// canonical are samples that hold every difference a file must keep.
func canonical() []*eval.Sample {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []*eval.Sample{
		{ID: "9007199254740993", UserInput: "why?\r\n", Response: " so\x00 \"é東京\" ", RetrievedContexts: []string{"a", "", "b\n"}, RetrievedContextIDs: []string{"1", "2", "3"},
			Reference: "thus", ReferenceContexts: []string{"a"}, ReferenceContextIDs: map[string]float64{"1": 2, "x": -0.5}, Category: "c",
			Metadata: map[string]json.RawMessage{"n": raw("9007199254740993"), "o": raw(`{"a":[1,2.50,null]}`), "é": raw(`"\ud83d\ude00"`)}},
		{ID: "nothing retrieved", UserInput: "q", RetrievedContexts: []string{}, RetrievedContextIDs: []string{}, ReferenceContextIDs: map[string]float64{}, ReferenceContexts: []string{}},
		{ID: "nothing known", UserInput: "q"},
		{ID: "ids only", UserInput: "q", RetrievedContextIDs: []string{"d1"}, ReferenceContextIDs: map[string]float64{"d1": 1, "d2": 1}},
		{ID: "texts only", Response: "null", RetrievedContexts: []string{"[not a list", "{}"}, Metadata: map[string]json.RawMessage{}},
	}
}

func TestWriterRoundTrip(t *testing.T) {
	for _, format := range []dataset.Format{dataset.JSONL, dataset.Parquet} {
		var b bytes.Buffer
		w, err := dataset.NewWriter(&b, format)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range canonical() {
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
		}
		if w.Rows() != len(canonical()) {
			t.Errorf("%s: %d rows", format, w.Rows())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(canonical()[0]); err == nil {
			t.Errorf("%s: a closed writer writes", format)
		}
		path := write(t, "a.bin", b.String())
		info, err := dataset.Scan(path, dataset.Options{})
		if err != nil || info.Format != format || info.Rows != len(canonical()) || info.NoID != 0 {
			t.Errorf("%s: %+v, %v", format, info, err)
		}
		got, bad := readAll(t, path, dataset.Options{})
		if len(bad) > 0 {
			t.Fatalf("%s: %v", format, bad[0])
		}
		want := canonical()
		for i, s := range want {
			s.Row = i + 1
			if len(s.Metadata) == 0 {
				s.Metadata = nil
			}
			if len(got[i].Metadata) == 0 {
				got[i].Metadata = nil
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	if _, err := dataset.NewWriter(io.Discard, dataset.CSV); err == nil {
		t.Error("CSV is accepted")
	}
	for _, s := range []*eval.Sample{
		{ID: "a", Response: "\xff"}, {ID: "a", RetrievedContexts: []string{"\xff"}},
		{ID: "a", ReferenceContextIDs: map[string]float64{"x": math.NaN()}}, {ID: "a", ReferenceContextIDs: map[string]float64{"x": math.Inf(1)}},
		{ID: "a", Metadata: map[string]json.RawMessage{"k": json.RawMessage("{")}},
	} {
		var b bytes.Buffer
		w, err := dataset.NewWriter(&b, dataset.JSONL)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(s); err == nil || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("%+v: %v", s, err)
		}
		if err := w.Close(); err != nil || b.Len() > 0 {
			t.Errorf("%+v: %v, %q written", s, err, b.String())
		}
	}
	for _, format := range []dataset.Format{dataset.JSONL, dataset.Parquet} {
		w, err := dataset.NewWriter(full{}, format)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write(canonical()[0])
		if done := w.Close(); err == nil {
			err = done
		}
		if !errors.Is(err, errFull) {
			t.Errorf("%s on a full disk: %v", format, err)
		}
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
