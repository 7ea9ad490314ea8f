package report

import (
	"fmt"
	"slices"
)

// Costs says where a run's money went, over all its executions.
type Costs struct {
	// ByMetric, ByJudge and ByCategory each add up to the whole, but for what was
	// spent on rows that were begun and abandoned without a category. A call that
	// several metrics share is in the one that made it. ByJudge is empty for one
	// judge that is asked once, ByCategory where no row has a category.
	ByMetric   []CostLine `json:"by_metric"`
	ByJudge    []CostLine `json:"by_judge,omitempty"`
	ByCategory []CostLine `json:"by_category,omitempty"`
	// Samples is the number of samples that cost anything; MeanUSD what one of them
	// cost on average, nil if a cost is not known.
	Samples int      `json:"samples"`
	MeanUSD *float64 `json:"mean_usd"`
	// Dearest are the samples that cost most in one execution, dearest first.
	Dearest []SampleCost `json:"dearest,omitempty"`
}

// CostLine is what one metric, judge or category has cost.
type CostLine struct {
	Name string `json:"name"`
	Usage
}

// SampleCost is what one sample has cost.
type SampleCost struct {
	Row     int     `json:"row"`
	ID      string  `json:"id"`
	CostUSD float64 `json:"cost_usd"`
	Calls   int64   `json:"calls"`
}

// Expected is what an execution was expected to take before it began, each as low,
// expected and high.
type Expected struct {
	Calls  [3]int64 `json:"calls"`
	Tokens [3]int64 `json:"tokens"`
	// CostUSD is nil where no price is known.
	CostUSD *[3]float64 `json:"cost_usd"`
	// RowsPlanned of Rows were planned for it, drawn by chance.
	RowsPlanned int `json:"rows_planned"`
	Rows        int `json:"rows"`
}

// expectedLine compares the latest execution with what was expected of it.
func expectedLine(last *Execution) string {
	e := last.Expected
	if e == nil {
		return ""
	}
	var line string
	switch {
	case e.CostUSD != nil:
		line = fmt.Sprintf("Expected before the run: %s (%s to %s) in %s calls", money(e.CostUSD[1]), money(e.CostUSD[0]), money(e.CostUSD[2]), commas(e.Calls[1]))
		if last.CostUSD == nil {
			return line + "; what it cost is not known."
		}
		line += fmt.Sprintf("; it cost %s in %s", money(*last.CostUSD), commas(last.Calls))
		return line + offBy(*last.CostUSD, e.CostUSD, last.Exit)
	default:
		t := last.Tokens
		actual := float64(t.Prompt + t.Completion)
		want := [3]float64{float64(e.Tokens[0]), float64(e.Tokens[1]), float64(e.Tokens[2])}
		line = fmt.Sprintf("Expected before the run: %s tokens (%s to %s) in %s calls; it took %s in %s", commas(e.Tokens[1]), commas(e.Tokens[0]), commas(e.Tokens[2]),
			commas(e.Calls[1]), commas(int(actual)), commas(last.Calls))
		return line + offBy(actual, &want, last.Exit)
	}
}

// offBy says how far off an expectation was; of a run that did not get to its end
// there is nothing to say.
func offBy(actual float64, want *[3]float64, exit string) string {
	switch {
	case exit != "done":
		return ", before it was stopped."
	case want[1] <= 0:
		return "."
	}
	off := 100 * (actual - want[1]) / want[1]
	within := "within the range"
	if actual < want[0] || actual > want[2] {
		within = "outside of the range"
	}
	return fmt.Sprintf(" (%+.0f %%, %s).", off, within)
}

// costTable shows where the money went; nil if there is nothing to tell.
func costTable(s *Summary) *table {
	c := s.Costs
	free := func(l CostLine) bool {
		return l.Tokens == (Tokens{}) && l.SavedUSD == nil && l.CostUSD != nil && *l.CostUSD == 0
	}
	if c == nil || !slices.ContainsFunc(c.ByMetric, func(l CostLine) bool { return !free(l) }) {
		return nil // the offline judge has no tokens and costs nothing
	}
	t := &table{cols: []column{text("of"), text("name"), figure("calls"), figure("hits"), figure("tokens in"), figure("tokens out"), figure("cost"), figure("saved")}}
	for _, g := range []struct {
		of   string
		list []CostLine
	}{{"metric", c.ByMetric}, {"judge", c.ByJudge}, {"category", c.ByCategory}} {
		for _, l := range g.list {
			spent, saved := "unknown", none
			if l.CostUSD != nil {
				spent = money(*l.CostUSD)
			}
			if l.SavedUSD != nil {
				saved = money(*l.SavedUSD)
			}
			name := l.Name
			if name == "" {
				name = "(none)"
			}
			t.rows = append(t.rows, []string{g.of, name, commas(l.Calls), commas(l.CacheHits),
				commas(l.Tokens.Prompt), commas(l.Tokens.Completion), spent, saved})
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

// costLines tells of single samples.
func costLines(s *Summary) []string {
	c := s.Costs
	var lines []string
	if c.MeanUSD != nil && c.Samples > 0 {
		lines = append(lines, fmt.Sprintf("%s had calls or hits, for %s each on average; costs.jsonl has each of them.", plural(c.Samples, "sample", "samples"), money(*c.MeanUSD)))
	}
	if i := slices.IndexFunc(c.Dearest, func(d SampleCost) bool { return d.CostUSD > 0 }); i >= 0 {
		d := c.Dearest[0]
		lines = append(lines, fmt.Sprintf("The dearest is row %d (%s): %s in %s.", d.Row, d.ID, money(d.CostUSD), plural(d.Calls, "call", "calls")))
	}
	return lines
}
