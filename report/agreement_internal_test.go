package report

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func tableOf(cells map[[2]float64]int) *contingency {
	t := &contingency{cells: map[[2]float64]int{}}
	for k, n := range cells {
		for range n {
			t.add(k[0], k[1])
		}
	}
	return t
}

// TestKappa: values worked by hand, po, pe and (po - pe)/(1 - pe).
func TestKappa(t *testing.T) {
	for _, c := range []struct {
		name  string
		cells map[[2]float64]int
		kappa float64
		equal float64
		why   string
	}{
		// 50 items: po = 35/50 = 0.7; pe = 25/50*30/50 + 25/50*20/50 = 0.5.
		{"moderate", map[[2]float64]int{{1, 1}: 20, {1, 0}: 5, {0, 1}: 10, {0, 0}: 15}, 0.4, 0.7, ""},
		{"full", map[[2]float64]int{{1, 1}: 3, {0, 0}: 1}, 1, 1, ""},
		// po = 0; pe = 2 * 0.5 * 0.5.
		{"contrary", map[[2]float64]int{{1, 0}: 5, {0, 1}: 5}, -1, 0, ""},
		// po = 1/2 = pe: no better than chance.
		{"chance", map[[2]float64]int{{1, 1}: 1, {1, 0}: 1, {0, 1}: 1, {0, 0}: 1}, 0, 0.5, ""},
		// po = 0.9, pe = 0.95*0.95 + 0.05*0.05: agreement that chance explains.
		{"skewed", map[[2]float64]int{{1, 1}: 90, {1, 0}: 5, {0, 1}: 5}, (0.9 - 0.905) / (1 - 0.905), 0.9, ""},
		{"both constant", map[[2]float64]int{{1, 1}: 9}, 0, 1, undefinedConstant},
		{"one constant", map[[2]float64]int{{1, 1}: 9, {1, 0}: 1}, 0, 0.9, undefinedConstant},
	} {
		p := tableOf(c.cells).pair("a", "b", MeasureKappa)
		if p.Undefined != c.why || (p.Value == nil) != (c.why != "") || p.Value != nil && math.Abs(*p.Value-c.kappa) > 1e-12 || math.Abs(*p.Equal-c.equal) > 1e-12 {
			t.Errorf("%s: kappa %v, equal %v, undefined %q; want %v, %v, %q", c.name, optional(p.Value), *p.Equal, p.Undefined, c.kappa, c.equal, c.why)
		}
	}
	if p := (*contingency)(nil).pair("a", "b", MeasureKappa); p.Value != nil || p.Equal != nil || p.Undefined != undefinedNone {
		t.Errorf("of nothing: %+v", p)
	}
}

func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		rho  float64
		ok   bool
	}{
		{"rising", []float64{1, 2, 3, 4}, []float64{1, 2, 4, 5}, 1, true},
		{"falling", []float64{1, 2, 3}, []float64{3, 2, 1}, -1, true},
		// Without ties 1 - 6*sum(d^2)/(n(n^2-1)), d = 0, 1, 1, 1, 1, 0... : 1 - 6*4/120.
		{"one swap each", []float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, 1 - 6*4.0/120, true},
		// Ranks 1.5 1.5 3 4 and 1 2.5 2.5 4: cov 4, squares 4.5 and 4.5, over n: 4/4.5... less the middle.
		{"ties", []float64{1, 1, 2, 3}, []float64{1, 2, 2, 3}, 3.75 / 4.5, true},
		{"constant", []float64{4, 4, 4}, []float64{1, 2, 3}, 0, false},
	} {
		tab := &contingency{cells: map[[2]float64]int{}}
		for i := range c.x {
			tab.add(c.x[i], c.y[i])
		}
		rho, ok := tab.spearman()
		if ok != c.ok || math.Abs(rho-c.rho) > 1e-12 {
			t.Errorf("%s: %v (%t), want %v", c.name, rho, ok, c.rho)
		}
	}
	over := &contingency{cells: map[[2]float64]int{}}
	for i := range maxCells + 1 {
		over.add(float64(i), float64(i))
	}
	if p := over.pair("a", "b", MeasureSpearman); p.Value != nil || p.Undefined != undefinedMany {
		t.Errorf("beyond the bound: %+v", p)
	}
}

// TestSpearmanGolden compares with the published values of UniEval on human and
// predicted scores of 360 turns, many of them tied.
func TestSpearmanGolden(t *testing.T) {
	var golden struct {
		U struct {
			Rows map[string]struct {
				N         int `json:"n"`
				Published struct {
					Spearman float64 `json:"spearman"`
				} `json:"published"`
			} `json:"rows"`
		} `json:"unieval_topical_chat"`
	}
	var turns []struct {
		Human map[string]float64 `json:"scores"`
		Judge map[string]float64 `json:"predict_scores"`
	}
	for path, v := range map[string]any{"fixtures/agreement_golden.json": &golden, "data/unieval/topical_chat_result.json": &turns} {
		b, err := os.ReadFile("../../shared/" + path)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("the recorded data are not there: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatal(err)
		}
	}
	checked := 0
	for name, want := range golden.U.Rows {
		dim := name[len("topical_chat_result."):]
		tab := &contingency{cells: map[[2]float64]int{}}
		for _, turn := range turns {
			tab.add(turn.Human[dim], turn.Judge[dim])
		}
		rho, ok := tab.spearman()
		if !ok || tab.n != want.N || math.Abs(rho-want.Published.Spearman) > 5e-7 {
			t.Errorf("%s: %.7f over %d, want %.6f over %d", dim, rho, tab.n, want.Published.Spearman, want.N)
		}
		checked++
	}
	if checked < 6 {
		t.Errorf("only %d of the published values were checked", checked)
	}
}

// TestAgreementOrder: neither the order of the pairs nor a swap of the raters
// changes a measure.
func TestAgreementOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pairs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [2]float64 {
			return [2]float64{float64(rapid.IntRange(0, 4).Draw(rt, "x")), float64(rapid.IntRange(0, 4).Draw(rt, "y"))}
		}), 1, 30).Draw(rt, "pairs")
		measure := func(pairs [][2]float64, a, b int) [4]any {
			tab := &contingency{cells: map[[2]float64]int{}}
			for _, p := range pairs {
				tab.add(p[a], p[b])
			}
			k, kok := tab.kappa()
			s, sok := tab.spearman()
			if k < -1 || k > 1 || s < -1 || s > 1 || math.IsNaN(k) || math.IsNaN(s) {
				rt.Fatalf("kappa %v, spearman %v", k, s)
			}
			round := func(v float64) float64 { return math.Round(v * 1e9) }
			return [4]any{round(k), kok, round(s), sok}
		}
		want := measure(pairs, 0, 1)
		if got := measure(slices.Clone(rapid.Permutation(pairs).Draw(rt, "order")), 0, 1); got != want {
			rt.Fatalf("the order matters: %v and %v", want, got)
		}
		if got := measure(pairs, 1, 0); got != want {
			rt.Fatalf("the raters can't be swapped: %v and %v", want, got)
		}
	})
}
