package metrics_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
)

// textScore is the score of one text metric under options as they stand in a
// configuration.
func textScore(t *testing.T, metric string, keys map[string]any, s eval.Sample) eval.Score {
	t.Helper()
	opt, err := metrics.Options{}.With(metric, keys)
	if err != nil {
		t.Fatal(err)
	}
	m, err := metrics.New(metric, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Score(t.Context(), &s)
	if err != nil || got.Check() != nil {
		t.Fatalf("%s: %v, %v", metric, err, got.Check())
	}
	return got
}

func sampleOf(response string, references ...string) eval.Sample {
	return eval.Sample{Response: response, Reference: references[0], OtherReferences: references[1:]}
}

type keys = map[string]any

// goldenTextMetrics says under which options a metric gives a tool's value,
// and on which scale that is.
var goldenTextMetrics = map[string]struct {
	metric string
	keys   keys
	scale  float64
}{
	"squad_em":       {"exact_match", keys{"compat": "squad"}, 1},
	"squad_f1":       {"token_f1", keys{"compat": "squad"}, 1},
	"rougeL":         {"rouge_l", keys{"compat": "rouge_score"}, 1},
	"rougeL_stem":    {"rouge_l", keys{"compat": "rouge_score", "stem": true}, 1},
	"rougeLsum":      {"rouge_l", keys{"compat": "rouge_score", "level": "summary"}, 1},
	"rougeLsum_stem": {"rouge_l", keys{"compat": "rouge_score", "level": "summary", "stem": true}, 1},
	"bleu":           {"bleu", keys{"compat": "sacrebleu"}, 100},
	"bleu_noeff":     {"bleu", keys{"compat": "sacrebleu", "effective_order": false}, 100},
	"bleu_lc":        {"bleu", keys{"compat": "sacrebleu", "lowercase": true}, 100},
	"bleu_floor":     {"bleu", keys{"compat": "sacrebleu", "smoothing": "floor"}, 100},
	"bleu_addk":      {"bleu", keys{"compat": "sacrebleu", "smoothing": "add_k"}, 100},
	"bleu_nosmooth":  {"bleu", keys{"compat": "sacrebleu", "smoothing": "none"}, 100},
	"bleu_intl":      {"bleu", keys{"compat": "sacrebleu", "tokenizer": "intl"}, 100},
	"bleu_char":      {"bleu", keys{"compat": "sacrebleu", "tokenizer": "char"}, 100},
	"bleu_none":      {"bleu", keys{"compat": "sacrebleu", "tokenizer": "none"}, 100},
	"chrf":           {"chrf", keys{"compat": "sacrebleu"}, 100},
	"chrfp":          {"chrf", keys{"compat": "sacrebleu", "word_order": int64(1)}, 100},
	"chrfpp":         {"chrf", keys{"compat": "sacrebleu", "word_order": int64(2)}, 100},
	"chrf_lc":        {"chrf", keys{"compat": "sacrebleu", "lowercase": true}, 100},
}

// The values of testdata/text_golden.json are the tools' own; it says which.
func TestTextMetricsGiveTheToolsValues(t *testing.T) {
	data, err := os.ReadFile("testdata/text_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Examples []map[string]json.RawMessage }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, e := range golden.Examples {
		var response string
		var references []string
		mustDecode(t, e["prediction"], &response)
		mustDecode(t, e["references"], &references)
		for name, g := range goldenTextMetrics {
			got := textScore(t, g.metric, g.keys, sampleOf(response, references...))
			want := goldenValue(t, e[name])
			compared[name]++
			if got.Value == nil || math.Abs(*got.Value-want/g.scale) > 1e-9 {
				t.Errorf("%s of %q and %q: %v %s, want %v", name, response, references, deref(got.Value), got.Reason, want/g.scale)
			}
		}
	}
	for name := range goldenTextMetrics {
		if compared[name] < 400 {
			t.Errorf("only %d values of %s", compared[name], name)
		}
	}
}

// goldenValue is a number, or the last of precision, recall and F.
func goldenValue(t *testing.T, raw json.RawMessage) float64 {
	t.Helper()
	var all []float64
	if raw[0] == '[' {
		mustDecode(t, raw, &all)
		return all[len(all)-1]
	}
	var one float64
	mustDecode(t, raw, &one)
	return one
}

func deref(v *float64) any {
	if v == nil {
		return "no value"
	}
	return *v
}

func mustDecode(t *testing.T, raw json.RawMessage, to any) {
	t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

// TestTextFixture holds the metrics, with and without compat, against the
// examples shared between the tools of this field.
func TestTextFixture(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "fixtures", "text_examples.json"))
	if err != nil {
		t.Skip("needs ../shared/fixtures/text_examples.json:", err)
	}
	type prf struct{ P, R, F float64 }
	var fixture struct {
		Examples []struct {
			Name, Reference, Prediction string
			SquadEM                     float64 `json:"squad_em"`
			SquadF1                     float64 `json:"squad_f1"`
			RawExact                    float64 `json:"raw_exact"`
			RougeL                      prf
			RougeLStem                  prf     `json:"rougeL_stem"`
			Bleu                        float64 `json:"sacrebleu_sentence_effective"`
			BleuNoEff                   float64 `json:"sacrebleu_noeff"`
			BleuDetail                  struct {
				Precisions [4]float64
				BP         float64
				SysLen     int `json:"sys_len"`
				RefLen     int `json:"ref_len"`
			} `json:"bleu_detail"`
			Chrf2, Chrfpp float64
		}
	}
	if err := json.Unmarshal(data, &fixture); err != nil {
		t.Fatal(err)
	}
	if len(fixture.Examples) < 20 {
		t.Fatalf("only %d examples", len(fixture.Examples))
	}
	for _, e := range fixture.Examples {
		t.Run(e.Name, func(t *testing.T) {
			if e.Prediction == "" || e.Reference == "" {
				for _, m := range []string{"exact_match", "token_f1", "rouge_l", "bleu", "chrf"} {
					if got := textScore(t, m, nil, sampleOf(e.Prediction, e.Reference)); got.Status != eval.Skipped {
						t.Errorf("%s without a text: %s", m, got.Status)
					}
				}
				return
			}
			for name, want := range map[string]float64{
				"squad_em": e.SquadEM, "squad_f1": e.SquadF1, "rougeL": e.RougeL.F, "rougeL_stem": e.RougeLStem.F,
				"bleu": e.Bleu, "bleu_noeff": e.BleuNoEff, "chrf": e.Chrf2, "chrfpp": e.Chrfpp,
			} {
				g := goldenTextMetrics[name]
				got := textScore(t, g.metric, g.keys, sampleOf(e.Prediction, e.Reference))
				if got.Value == nil || math.Abs(*got.Value-want/g.scale) > 1e-9 {
					t.Errorf("%s: %v, want %v", name, deref(got.Value), want/g.scale)
				}
			}
			if got := textScore(t, "exact_match", keys{"verbatim": true}, sampleOf(e.Prediction, e.Reference)); *got.Value != e.RawExact {
				t.Errorf("verbatim: %v, want %v", *got.Value, e.RawExact)
			}
			var d metrics.BLEUDetail
			mustDecode(t, textScore(t, "bleu", keys{"compat": "sacrebleu"}, sampleOf(e.Prediction, e.Reference)).Detail, &d)
			for i, p := range e.BleuDetail.Precisions {
				if math.Abs(d.Precisions[i]-p/100) > 1e-9 {
					t.Errorf("precisions %v, want %v", d.Precisions, e.BleuDetail.Precisions)
				}
			}
			if math.Abs(d.BrevityPenalty-e.BleuDetail.BP) > 1e-9 || d.ResponseTokens != e.BleuDetail.SysLen || d.ReferenceTokens != e.BleuDetail.RefLen {
				t.Errorf("%+v, want %+v", d, e.BleuDetail)
			}
		})
	}
}
