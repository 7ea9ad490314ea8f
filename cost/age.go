package cost

import (
	"fmt"
	"time"
)

// Stale is the age from which a price table is called old: providers change
// their prices several times a year.
const Stale = 180 * 24 * time.Hour

// AgeWarning returns a sentence if the table is older than Stale at the given
// time, and "" if it is not, or has no date.
func (t *Table) AgeWarning(now time.Time) string {
	day, err := time.Parse(time.DateOnly, t.Date)
	if err != nil || now.Sub(day) <= Stale {
		return ""
	}
	return fmt.Sprintf("the price table is of %s, %d days old: prices may have changed since; \"ragjudge prices import\" makes a newer one",
		t.Date, int(now.Sub(day).Hours()/24))
}

// Prices returns every price of the table, sorted by name.
func (t *Table) Prices() []Price {
	list := make([]Price, 0, len(t.prices))
	for _, name := range t.Names() {
		list = append(list, t.prices[name])
	}
	return list
}
