package trec

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/ranking"
)

// Formats are the names that Write knows.
var Formats = []string{"text", "json", "csv", "markdown"}

// About is what an evaluation was made of, for formats that say so.
type About struct {
	// Run and Qrels are the paths.
	Run, Qrels string
	// Options are those of the evaluation.
	Options Options
}

// Write writes the result in one of Formats: trec_eval's text (see WriteText),
// JSON with "schema": 1, CSV with a head line, or a table in Markdown. perQuery
// adds each query.
func (r *Result) Write(w io.Writer, format string, a About, perQuery bool) error {
	switch format {
	case "text":
		return r.WriteText(w, perQuery)
	case "json":
		return r.writeJSON(w, a, perQuery)
	case "csv":
		return r.writeCSV(w, perQuery)
	case "markdown":
		return r.writeMarkdown(w, perQuery)
	}
	return fmt.Errorf("write an evaluation: the format %q is not one of %s", format, strings.Join(Formats, ", "))
}

// figure is a measure in JSON. The value is null where there is none.
type figure struct {
	Measure string `json:"measure"`
	Metric  string `json:"metric,omitempty"`
	Value   any    `json:"value"`
}

type queryFigures struct {
	Query  string         `json:"query"`
	Values map[string]any `json:"values"`
}

func (r *Result) writeJSON(w io.Writer, a About, perQuery bool) error {
	opt, err := a.Options.withDefaults()
	if err != nil {
		return err
	}
	gain := "linear"
	if opt.Exponential {
		gain = "exponential"
	}
	doc := struct {
		Schema     int                `json:"schema"`
		Run        string             `json:"run"`
		Qrels      string             `json:"qrels"`
		RunID      string             `json:"run_id"`
		Convention ranking.Convention `json:"convention"`
		Level      *float64           `json:"relevance_level"`
		Depth      int                `json:"depth"`
		Complete   bool               `json:"complete"`
		Gain       string             `json:"gain"`
		Evaluated  int                `json:"queries_evaluated"`
		Averaged   int                `json:"queries_averaged"`
		NoDocs     int                `json:"queries_without_documents"`
		NoJudged   int                `json:"queries_without_judgements"`
		Repeated   int                `json:"repeated_documents"`
		Warnings   []string           `json:"warnings"`
		Measures   []figure           `json:"measures"`
		PerQuery   []queryFigures     `json:"per_query,omitempty"`
	}{1, a.Run, a.Qrels, r.RunID, opt.Convention, opt.Level, opt.Depth, opt.Complete, gain,
		len(r.Queries), r.Averaged, r.WithoutDocuments, r.WithoutJudgements, r.Repeated, r.Warnings, nil, nil}
	if *doc.Level == ranking.AboveZero {
		doc.Level = nil
	}
	if doc.Warnings == nil {
		doc.Warnings = []string{}
	}
	for i, m := range r.Measures {
		if m.Overall() {
			doc.Measures = append(doc.Measures, figure{m.Name, m.Metric, r.value(m, r.All[i], r.RunID)})
		}
	}
	for _, q := range r.Queries {
		if !perQuery {
			break
		}
		values := map[string]any{}
		for i, m := range r.Measures {
			if m.PerQuery() {
				values[m.Name] = r.value(m, q.Values[i], q.Grades)
			}
		}
		doc.PerQuery = append(doc.PerQuery, queryFigures{q.ID, values})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write an evaluation: %w", err)
	}
	return nil
}

// value is a figure for an encoder: a number, a text, or nil.
func (r *Result) value(m Measure, v float64, text string) any {
	switch {
	case m.Text():
		return text
	case math.IsNaN(v):
		return nil
	case m.Whole():
		return int64(v)
	}
	return v
}

func (r *Result) writeCSV(w io.Writer, perQuery bool) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"query", "measure", "metric", "value"}) // Error tells
	r.each(perQuery, func(query string, m Measure, v any) {
		_ = out.Write([]string{query, m.Name, m.Metric, shown(v)})
	})
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write an evaluation: %w", err)
	}
	return nil
}

// each calls fn with every figure, the queries' first. "all" stands for all
// queries.
func (r *Result) each(perQuery bool, fn func(query string, m Measure, v any)) {
	for _, q := range r.Queries {
		if !perQuery {
			break
		}
		for i, m := range r.Measures {
			if m.PerQuery() {
				fn(q.ID, m, r.value(m, q.Values[i], q.Grades))
			}
		}
	}
	for i, m := range r.Measures {
		if m.Overall() {
			fn("all", m, r.value(m, r.All[i], r.RunID))
		}
	}
}

// shown is a figure with all its digits.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func (r *Result) writeMarkdown(w io.Writer, perQuery bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "| query | measure | metric | value |\n|---|---|---|--:|\n")
	r.each(perQuery, func(query string, m Measure, v any) {
		text := shown(v)
		if x, ok := v.(float64); ok {
			text = m.format(x)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(query), cell(m.Name), m.Metric, cell(text))
	})
	return b.Flush()
}

// cell keeps text from a file inside its cell of a Markdown table.
func cell(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]<>|~&", r):
			b.WriteString("\\" + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\\\x%02x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
