package testset_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/testset"
)

func TestRowsAndDifference(t *testing.T) {
	for _, c := range []struct {
		difference, sd float64
		rows           int
	}{
		{0.05, 0.3, 283}, {0.1, 0.3, 71}, {0.02, 0.3, 1766}, {0.05, 0.5, 785}, {0, 0.3, 0}, {0.05, 0, 0}, {math.NaN(), 0.3, 0}, {1e-9, 1, math.MaxInt32},
	} {
		if got := testset.Rows(c.difference, c.sd); got != c.rows {
			t.Errorf("%g at sd %g takes %d rows, want %d", c.difference, c.sd, got, c.rows)
		}
	}
	if d := testset.Difference(50, 0.3); math.Abs(d-0.1189) > 0.0001 {
		t.Errorf("50 rows show %g", d)
	}
	if !math.IsInf(testset.Difference(1, 0.3), 1) {
		t.Error("one row shows a difference")
	}
}

// TestRowsGivePower simulates comparisons: a true difference must be found in
// four of five.
func TestRowsGivePower(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const difference, sd, trials = 0.1, 0.3, 4000
	n, found := testset.Rows(difference, sd), 0
	for range trials {
		sum, squares := 0.0, 0.0
		for range n {
			d := difference + sd*rng.NormFloat64()
			sum += d
			squares += d * d
		}
		mean := sum / float64(n)
		se := math.Sqrt((squares/float64(n) - mean*mean) / float64(n-1))
		if mean/se > 1.96 {
			found++
		}
	}
	if power := float64(found) / trials; power < 0.78 || power > 0.83 {
		t.Errorf("%d rows find the difference in %.3f of the cases", n, power)
	}
}

func TestLengthsGivePercentiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, most := range []int{1, 3, 200, 5000, 1 << 24} {
		var l testset.Lengths
		var all []int
		for range 3000 {
			v := rng.IntN(most)
			l.Add(v)
			all = append(all, v)
		}
		slices.Sort(all)
		for _, p := range []float64{0, 0.5, 0.9, 0.99, 1} {
			want := all[max(int(math.Ceil(p*3000)), 1)-1]
			got := l.Percentile(p)
			if got < want || float64(got) > 1.008*float64(want) {
				t.Errorf("below %d: percentile %g is %d, want %d", most, p, got, want)
			}
		}
		if l.Max() != all[2999] || l.N() != 3000 {
			t.Errorf("max %d of %d", l.Max(), l.N())
		}
	}
	var none testset.Lengths
	if none.Percentile(0.5) != 0 || none.Mean() != 0 {
		t.Error("something comes of nothing")
	}
}

func TestLanguage(t *testing.T) {
	for s, want := range map[string]string{
		"How long is the warranty of the kettle?":   "en",
		"Wie lange gilt die Garantie für den Herd?": "de",
		"Quelle est la durée de la garantie ?":      "fr",
		"¿Cuál es la garantía para el hervidor?":    "es",
		"Qual è la garanzia del bollitore?":         "it",
		"Qual é a garantia dos produtos em uso?":    "pt",
		"Hoe lang is de garantie van het apparaat?": "nl",
		"保修期是多久？":                                   "zh",
		"保証期間はどのくらいですか":                             "ja",
		"보증 기간은 얼마입니까?":                             "ko",
		"Какова гарантия на это устройство? Мы":     "ru",
		"Яка гарантія?":                             "uk",
		"מה האחריות?":                               "he",
		"ما هي مدة الضمان؟":                         "arabic",
		"XR-200 Turbo":                              "latin",
		"12345 ?":                                   "",
	} {
		if got := testset.Language(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

func TestProfile(t *testing.T) {
	p := testset.NewProfile()
	q := "How long is the warranty of the large kettle with the blue lid?"
	for i, s := range []eval.Sample{
		{UserInput: q, Response: "two years", RetrievedContexts: []string{"a b c", "d"}, Category: "x"},
		{UserInput: q, Response: "two years", RetrievedContexts: []string{"a b c", "d"}, Category: "x"},
		{UserInput: strings.ToUpper(q), Response: "three years", RetrievedContexts: []string{}},
		{UserInput: "Please: " + q, Reference: "two"},
		{UserInput: "Wie ist das Wetter, und ist es mit der Sonne nicht warm?"},
	} {
		s.ID = fmt.Sprint(i)
		p.Add(&s)
	}
	if p.Rows != 5 || p.SameContent != 1 || p.SameQuestion != 2 || p.NearQuestions != 1 || p.NearPairs[0] != [2]string{"0", "3"} {
		t.Errorf("%+v", p)
	}
	if p.Languages["en"] != 4 || p.Languages["de"] != 1 || p.Categories["x"] != 2 || p.Categories[""] != 3 {
		t.Errorf("%v %v", p.Languages, p.Categories)
	}
	if n := p.With([]eval.Field{eval.FieldUserInput, eval.FieldResponse}); n != 3 {
		t.Errorf("%d rows have question and answer", n)
	}
	if n := p.With([]eval.Field{eval.FieldRetrievedContexts}); n != 3 {
		t.Errorf("%d rows have contexts, an empty list being one", n)
	}
	if l := p.Lengths[eval.FieldRetrievedContexts]; l.Words.N() != 4 || l.Words.Max() != 3 || l.Characters.Max() != 5 {
		t.Errorf("%+v", l)
	}
}

func TestAdvise(t *testing.T) {
	for _, c := range []struct {
		rows       int
		categories map[string]int
		kinds      string
	}{
		{1000, map[string]int{"a": 300, "b": 300, "c": 400}, ""},
		{50, map[string]int{"a": 20, "b": 15, "c": 15}, "too_small"},
		{12, map[string]int{"a": 6, "b": 6}, "too_small hardly_useful small_categories"},
		{1000, map[string]int{"": 1000}, "no_categories"},
		{1000, map[string]int{"a": 950, "b": 45, "c": 5}, "small_categories lopsided"},
		{1000, map[string]int{"a": 600, "b": 400}, "few_categories"},
		{1, nil, "too_small hardly_useful no_categories"},
	} {
		var kinds []string
		for _, a := range testset.Advise(c.rows, c.categories, 0.05, testset.Spread) {
			kinds = append(kinds, a.Kind)
		}
		if got := strings.Join(kinds, " "); got != c.kinds {
			t.Errorf("%d rows in %v: %s, want %s", c.rows, c.categories, got, c.kinds)
		}
	}
}
