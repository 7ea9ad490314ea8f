package trec

import (
	"bufio"
	"fmt"
	"io"
	"math"
)

// WriteText writes a result in trec_eval's form: a line for each figure, with
// the measure, the query or "all", and the value, parted by tabs. perQuery puts
// the queries before the means (-q).
func (r *Result) WriteText(w io.Writer, perQuery bool) error {
	b := bufio.NewWriter(w)
	if perQuery {
		for _, q := range r.Queries {
			for i, m := range r.Measures {
				switch {
				case !m.PerQuery():
				case m.Text():
					fmt.Fprintf(b, "%-22s\t%s\t%s\n", m.Name, q.ID, q.Grades)
				default:
					fmt.Fprintf(b, "%-22s\t%s\t%s\n", m.Name, q.ID, m.format(q.Values[i]))
				}
			}
		}
	}
	for i, m := range r.Measures {
		switch {
		case !m.Overall():
		case m.Text():
			fmt.Fprintf(b, "%-22s\t%s\t%s\n", m.Name, "all", r.RunID)
		default:
			fmt.Fprintf(b, "%-22s\t%s\t%s\n", m.Name, "all", m.format(r.All[i]))
		}
	}
	return b.Flush()
}

// format shows a value with four decimals, a count with none, and a dash where
// there is no value.
func (m Measure) format(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case m.Whole():
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4f", v)
}
