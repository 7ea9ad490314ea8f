package testset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Advice is a warning about the size or the make-up of a set.
type Advice struct {
	// Kind is a stable word: "too_small", "hardly_useful", "no_categories",
	// "few_categories", "small_categories", "lopsided".
	Kind string `json:"kind"`
	// Message says it for people.
	Message string `json:"message"`
}

// The bounds of Advise.
const (
	// LeastRows is the least set of use: 20 to 50 questions in 3 to 5 categories
	// is where a test set begins.
	LeastRows = 20
	// LeastCategories is the least number of categories of such a set.
	LeastCategories = 3
	// LeastInCategory is the number of rows below which a category says nothing
	// by itself.
	LeastInCategory = 10
	// Lopsided is the share of one category above which the mean is that
	// category's.
	Lopsided = 0.8
)

// Advise says where a set of so many rows, in categories of so many each (""
// for rows without one), is too small or too lopsided for a comparison of two
// runs to show a difference of the mean; sd is the standard deviation of the
// paired differences that is reckoned with.
func Advise(rows int, categories map[string]int, difference, sd float64) []Advice {
	var out []Advice
	tell := func(kind, format string, args ...any) { out = append(out, Advice{kind, fmt.Sprintf(format, args...)}) }
	if need := Rows(difference, sd); rows < need {
		tell("too_small", "a difference of %.3g between two runs takes %d paired rows to show (95 %%, power 80 %%, sd %.2g); %s", difference, need, sd, shows(rows, sd))
	}
	if rows < LeastRows {
		tell("hardly_useful", "%d %s few even to look at: the least useful set has 20 to 50 questions in 3 to 5 categories", rows, verb(rows, "row is", "rows are"))
	}
	names := slices.Sorted(maps.Keys(categories))
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	switch {
	case len(names) == 0:
		tell("no_categories", "no row has a category: a drop in one kind of question stays hidden in the mean")
		return out
	case len(names) < LeastCategories && rows >= LeastRows:
		tell("few_categories", "there %s only %d categor%s; 3 to 5 show in which kind of question a change is", verb(len(names), "is", "are"), len(names), verb(len(names), "y", "ies"))
	}
	var small []string
	largest := names[0]
	for _, name := range names {
		if categories[name] < LeastInCategory {
			small = append(small, fmt.Sprintf("%q (%d)", name, categories[name]))
		}
		if categories[name] > categories[largest] {
			largest = name
		}
	}
	if len(small) > 0 {
		const most = 8
		list := strings.Join(small[:min(len(small), most)], ", ")
		if len(small) > most {
			list += fmt.Sprintf(" and %d more", len(small)-most)
		}
		tell("small_categories", "%d of %d categories with fewer than %d rows, of which a mean says little: %s", len(small), len(names), LeastInCategory, list)
	}
	if share := float64(categories[largest]) / float64(rows); len(names) > 1 && share > Lopsided {
		tell("lopsided", "%.0f %% of the rows are of the category %q: the mean is that of this category", 100*share, largest)
	}
	return out
}

func shows(rows int, sd float64) string {
	if rows < 2 {
		return "one row shows none"
	}
	return fmt.Sprintf("%d rows show %.2g or more", rows, Difference(rows, sd))
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
