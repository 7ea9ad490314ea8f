package eval_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
)

func TestHas(t *testing.T) {
	all := &eval.Sample{ID: "1", UserInput: "q", Response: "a", Reference: "r", Category: "c",
		RetrievedContexts: []string{}, RetrievedContextIDs: []string{}, ReferenceContexts: []string{},
		ReferenceContextIDs: map[string]float64{}, Metadata: map[string]json.RawMessage{}}
	blank := &eval.Sample{UserInput: " \n", Response: "\t", Reference: "\u00a0"}
	fields := []eval.Field{eval.FieldID, eval.FieldUserInput, eval.FieldResponse, eval.FieldRetrievedContexts, eval.FieldReference, eval.FieldReferenceContexts,
		eval.FieldRetrievedContextIDs, eval.FieldReferenceContextIDs, eval.FieldCategory, eval.FieldMetadata}
	for _, f := range fields {
		if !all.Has(f) {
			t.Errorf("%s is there: an empty list is not a missing one", f)
		}
		if blank.Has(f) {
			t.Errorf("%s is missing", f)
		}
	}
	if all.Has("nonsense") {
		t.Error("a field that does not exist is there")
	}
	if got := all.Missing(fields); got != "" {
		t.Errorf("missing %s", got)
	}
	if got := blank.Missing([]eval.Field{eval.FieldResponse, eval.FieldReference}); got != eval.FieldResponse {
		t.Errorf("missing %q, want the first", got)
	}
}

func TestAValueIsFiniteOrNone(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s := eval.Value(v)
		if s.Status != eval.Undefined || s.Value != nil || s.Check() != nil {
			t.Errorf("%v became %+v", v, s)
		}
	}
	if s := eval.Value(0); s.Status != eval.Scored || s.Value == nil || *s.Value != 0 {
		t.Errorf("0 became %+v", s)
	}
}

func TestCheck(t *testing.T) {
	one, nan := 1.0, math.NaN()
	for name, c := range map[string]struct {
		score eval.Score
		ok    bool
	}{
		"scored":                  {eval.Score{Status: eval.Scored, Value: &one}, true},
		"failed":                  {eval.Without(eval.Failed, "timeout"), true},
		"scored without a value":  {eval.Score{Status: eval.Scored}, false},
		"failed with a value":     {eval.Score{Status: eval.Failed, Value: &one}, false},
		"no status":               {eval.Score{Value: &one}, false},
		"a status of another age": {eval.Score{Status: "done"}, false},
		"NaN":                     {eval.Score{Status: eval.Scored, Value: &nan}, false},
	} {
		if err := c.score.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestScoreAsJSON(t *testing.T) {
	info := eval.Info{Name: "m", Version: 2}
	for want, s := range map[string]eval.Score{
		`{"metric":"m","version":2,"status":"scored","value":0.5,"flags":["a","b"],"detail":{"text":"<b> & c"}}`: eval.Value(0.5).Flagged("a").Flagged("b").WithDetail(map[string]string{"text": "<b> & c"}).Of(info),
		`{"metric":"m","version":2,"status":"skipped","value":null,"reason":"missing_field: reference"}`:         eval.SkippedFor(eval.FieldReference).Of(info),
		`{"metric":"m","version":2,"status":"scored","value":0,"reason":"no_contexts"}`:                          eval.Value(0).Because("no_contexts").Of(info),
	} {
		got, err := eval.MarshalJSON(s)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}
	base := eval.Value(1).Flagged("a")
	if x, y := base.Flagged("x"), base.Flagged("y"); x.Flags[1] != "x" || y.Flags[1] != "y" {
		t.Errorf("flags share memory: %v %v", x.Flags, y.Flags)
	}
	r := eval.Result{Scores: []eval.Score{eval.Value(1), eval.Without(eval.Failed, "x")}}
	if !r.Has(eval.Failed) || r.Has(eval.Unscored) {
		t.Error("Has does not tell what is there")
	}
}
