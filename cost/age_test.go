package cost_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/cost"
)

func TestAgeWarning(t *testing.T) {
	table, err := cost.ParseTable([]byte(`{"schema":1,"date":"2026-08-01","source":"s","prices":[{"model":"b","input":1e-6,"output":2e-6},{"model":"a","input":1e-6,"output":2e-6}]}`))
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	if got := table.AgeWarning(day.Add(cost.Stale)); got != "" {
		t.Errorf("not yet old: %q", got)
	}
	if got := table.AgeWarning(day.Add(cost.Stale + 24*time.Hour)); !strings.Contains(got, "2026-08-01, 181 days old") {
		t.Errorf("old: %q", got)
	}
	undated := &cost.Table{}
	if got := undated.AgeWarning(day); got != "" {
		t.Errorf("without a date: %q", got)
	}
	var names []string
	for _, p := range table.Prices() {
		names = append(names, p.Model)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("prices of %q", names)
	}
}
