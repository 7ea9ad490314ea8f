package cost_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/cost"
)

// TestPanelEstimate: the calls of every seat are told in all, by metric and by
// judge, with the judge's own price; judges work side by side.
func TestPanelEstimate(t *testing.T) {
	price := func(usd float64) *cost.Price {
		p, err := cost.Override{Input: &usd, Output: &usd}.Price("m")
		if err != nil {
			t.Fatal(err)
		}
		return &p
	}
	judges := []cost.JudgeOptions{{Name: "a", Model: "cheap", Price: price(1), OwnEncoding: true}, {Name: "b", Model: "dear", Price: price(10), OwnEncoding: true}}
	estimate := func(judges []cost.JudgeOptions, who ...string) *cost.Estimate {
		e := cost.NewEstimator(cost.Options{Judges: judges, MaxAttempts: 1, Concurrency: 1})
		e.Add(cost.Call{Metric: "faithfulness", Step: "split", Judge: "a", Input: 1000, Output: 100})
		for _, judge := range who {
			for trial := range 2 {
				e.Add(cost.Call{Metric: "faithfulness", Step: "verdict", Judge: judge, Trial: trial, Input: 1000, Output: 100, Items: 3})
			}
		}
		return e.Estimate()
	}
	est := estimate(judges, "a", "b")
	if est.Total.Planned != 5 || len(est.Metrics) != 1 || len(est.Metrics[0].Steps) != 2 || est.Metrics[0].Steps[1].Planned != 4 {
		t.Fatalf("planned %d, %d metrics, steps %+v", est.Total.Planned, len(est.Metrics), est.Metrics[0].Steps)
	}
	a, b := est.Judges[0], est.Judges[1]
	if a.Planned != 3 || b.Planned != 2 || est.Model != "cheap, dear" {
		t.Errorf("a plans %d, b %d, model %q", a.Planned, b.Planned, est.Model)
	}
	// b is asked what a is asked but the split, at ten times the price.
	alone := estimate(judges, "a")
	if got, want := b.CostUSD.Expected, 10*(alone.Judges[0].CostUSD.Expected-estimate(judges).Judges[0].CostUSD.Expected); got < want*0.999 || got > want*1.001 {
		t.Errorf("b costs %v, want %v", got, want)
	}
	if sum := a.CostUSD.Expected + b.CostUSD.Expected; est.Total.CostUSD.Expected < sum*0.999 || est.Total.CostUSD.Expected > sum*1.001 {
		t.Errorf("in all %v, want %v", est.Total.CostUSD.Expected, sum)
	}
	if est.Total.DurationSeconds.Expected != max(a.DurationSeconds.Expected, b.DurationSeconds.Expected) {
		t.Errorf("in all %v s, a %v s, b %v s", est.Total.DurationSeconds.Expected, a.DurationSeconds.Expected, b.DurationSeconds.Expected)
	}
	if alone.Judges[1].Planned != 0 || alone.Judges[1].CostUSD == nil || alone.Judges[1].CostUSD.High != 0 {
		t.Errorf("a judge that is asked nothing: %+v", alone.Judges[1])
	}
	var text bytes.Buffer
	if err := est.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Estimate for judges cheap, dear", "judge a ", "judge b ", "Judge b: The price is the one set in the configuration"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	// The price of one is not known: then neither is that of all, and never 0.
	judges[1].Price = nil
	if est := estimate(judges, "a", "b"); est.Total.CostUSD != nil || est.Judges[1].CostUSD != nil || est.Judges[0].CostUSD == nil || est.Price != "" {
		t.Errorf("total %+v, b %+v, price %q", est.Total.CostUSD, est.Judges[1].CostUSD, est.Price)
	}
}
