package report

import (
	"strings"
	"testing"
)

func dollar(v float64) *float64 { return &v }

// The end of a run tells where the money went, what hits saved, and how right the
// estimate was.
func TestCostsAreTold(t *testing.T) {
	done := func(usd *float64) *Summary {
		return &Summary{Usage: Usage{Calls: 4, CostUSD: usd, Tokens: Tokens{Prompt: 900, Completion: 100}},
			LastExecution: &Execution{Usage: Usage{Calls: 4, CostUSD: usd, Tokens: Tokens{Prompt: 900, Completion: 100}}, Exit: "done"}}
	}
	for _, c := range []struct {
		name string
		set  func(*Summary)
		want []string
		not  string
	}{
		{"right", func(s *Summary) {
			s.LastExecution.Expected = &Expected{Calls: [3]int64{3, 4, 5}, CostUSD: &[3]float64{1, 2, 3}}
		}, []string{"Expected before the run: $2.00 ($1.00 to $3.00) in 4 calls; it cost $2.50 in 4 (+25 %, within the range)."}, ""},
		{"wrong", func(s *Summary) {
			s.LastExecution.Expected = &Expected{CostUSD: &[3]float64{1, 2, 2.2}}
		}, []string{"(+25 %, outside of the range)"}, ""},
		{"stopped", func(s *Summary) {
			s.LastExecution.Expected, s.LastExecution.Exit = &Expected{CostUSD: &[3]float64{1, 2, 2.2}}, "stopped"
		}, []string{"before it was stopped."}, "%"},
		{"no price", func(s *Summary) {
			s.LastExecution.Expected, s.CostUSD, s.LastExecution.CostUSD = &Expected{Tokens: [3]int64{500, 2000, 3000}}, nil, nil
		}, []string{"2,000 tokens (500 to 3,000)", "it took 1,000 in 4 (-50 %, within the range)"}, "$"},
		{"cost not known", func(s *Summary) {
			s.LastExecution.Expected, s.LastExecution.CostUSD = &Expected{CostUSD: &[3]float64{1, 2, 2.2}}, nil
		}, []string{"what it cost is not known"}, "%"},
		{"saved", func(s *Summary) { s.SavedUSD, s.LastExecution.SavedUSD = dollar(0.75), dollar(0.75) }, []string{"and the hits saved $0.75"}, ""},
	} {
		s := done(dollar(2.5))
		c.set(s)
		text := strings.Join(usageLines(s), "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing from\n%s", c.name, want, text)
			}
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: there should be no %q in\n%s", c.name, c.not, text)
		}
	}
}

func TestCostTable(t *testing.T) {
	s := &Summary{Costs: &Costs{
		ByMetric:   []CostLine{{"faithfulness", Usage{Calls: 3, CacheHits: 1, Tokens: Tokens{Prompt: 1200, Completion: 30}, CostUSD: dollar(0.5), SavedUSD: dollar(0.25)}}},
		ByCategory: []CostLine{{"", Usage{CostReason: "no price"}}},
		Samples:    2, MeanUSD: dollar(0.25), Dearest: []SampleCost{{Row: 7, ID: "s7", CostUSD: 0.4, Calls: 2}},
	}}
	got := costTable(s)
	if got == nil || len(got.rows) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []string{"metric faithfulness 3 1 1,200 30 $0.5000 $0.2500", "category (none) 0 0 0 0 unknown " + none} {
		if row := strings.Join(got.rows[i], " "); row != want {
			t.Errorf("row %d: %q, want %q", i, row, want)
		}
	}
	if text := strings.Join(costLines(s), " "); !strings.Contains(text, "The dearest is row 7 (s7): $0.4000 in 2 calls.") || !strings.Contains(text, "$0.2500 each on average") {
		t.Error(text)
	}
	zero := 0.0
	s.Costs.ByMetric[0].Usage = Usage{Calls: 9, CostUSD: &zero}
	if costTable(s) != nil {
		t.Error("the offline judge costs nothing, and nothing is told")
	}
}
