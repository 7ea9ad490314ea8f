package report

import (
	"cmp"
	"fmt"
	"strconv"
)

// none stands where there is no figure.
const none = "-"

// decimals is the number of decimals of a mean or a bound.
const decimals = 3

// fixed formats a figure with three decimals. Where these would be absurd (very
// large), or would show as 0 or 1 what is not, it takes the digits it needs.
func fixed(v float64) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	switch shown, _ := strconv.ParseFloat(s, 64); {
	case len(s) > 15 || shown == 0 && v != 0:
		return strconv.FormatFloat(v, 'g', decimals, 64)
	case shown == 1 && v != 1:
		return apart(v, 1)
	case shown == 0:
		return "0.000" // without the sign of a negative zero
	}
	return s
}

// optional formats a figure that may be missing.
func optional(v *float64) string {
	if v == nil {
		return none
	}
	return fixed(*v)
}

func interval(iv *Interval) string {
	if iv == nil {
		return none
	}
	return fixed(iv.Lo) + " to " + fixed(iv.Hi)
}

// number formats a figure that a person wrote, in its shortest exact form.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// apart formats v with three decimals, or with as many more as it takes for
// what is printed to stand to the threshold as v itself does: 0.84996 against
// 0.85 is printed as 0.84996, never as 0.850.
func apart(v, threshold float64) string {
	for d := decimals; d <= 20; d++ {
		s := strconv.FormatFloat(v, 'f', d, 64)
		if p, err := strconv.ParseFloat(s, 64); err == nil && len(s) < 30 && cmp.Compare(p, threshold) == cmp.Compare(v, threshold) {
			return s
		}
	}
	return number(v)
}

// commas formats a count with commas between groups of three digits.
func commas[I int | int64](n I) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural formats a count with its noun; many is the noun's plural.
func plural[I int | int64](n I, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return commas(n) + " " + many
}

// money formats US dollars: cents from a dollar up, and below it enough digits
// that a cost which isn't 0 is never shown as 0.
func money(v float64) string {
	switch {
	case v == 0 || v >= 1:
		return "$" + strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.0001:
		return "$" + strconv.FormatFloat(v, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(v, 'g', 2, 64)
}

// cost tells a cost, or why it isn't known.
func cost(u Usage) string {
	switch {
	case u.CostUSD != nil:
		return "cost " + money(*u.CostUSD)
	case u.CostReason != "":
		return "cost unknown (" + u.CostReason + ")"
	}
	return "cost unknown"
}

// rowsDone tells how far the run is.
func rowsDone(s *Summary) string {
	if s.Rows == nil {
		return plural(s.RowsDone, "row", "rows") + " done, of a number not known yet"
	}
	return fmt.Sprintf("%s of %s rows done", commas(s.RowsDone), commas(*s.Rows))
}
