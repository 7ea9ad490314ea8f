package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// csvHeader names the columns of [CSV].
var csvHeader = []string{
	"scope", "category", "metric", "version", "mean", "ci95_low", "ci95_high", "ci95_method",
	"rows", "scored", "undefined", "skipped", "unscored", "failed", "coverage",
	"sd", "min", "max", "worst_case_mean", "rating_mean", "complete", "judge",
}

// CSV writes one line per metric for all samples (scope "all") and then one
// per category and metric (scope "category", or "other_categories"), after a
// header line. A figure that does not exist is an empty field. Text is written
// as it is in the data, quoted as RFC 4180 asks, with line feeds as line ends.
// The last column names the judge of a judged metric; "lexical (offline)" marks
// figures made without a model. Where several judges or trials were asked, four
// columns on their agreement follow.
func CSV(w io.Writer, s *Summary) error {
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	panel := slices.ContainsFunc(s.Metrics, func(m Metric) bool { return m.Agreement != nil })
	lines := [][]string{csvHeader}
	if panel {
		lines[0] = slices.Concat(csvHeader, csvAgreement)
	}
	for i := range s.Metrics {
		lines = append(lines, csvLine(s, "all", "", &s.Metrics[i]))
	}
	for _, c := range s.Categories {
		scope := "category"
		if c.Other {
			scope = "other_categories"
		}
		for i := range c.Metrics {
			lines = append(lines, csvLine(s, scope, c.Category, &c.Metrics[i]))
		}
	}
	for i := 1; panel && i < len(lines); i++ {
		var a *Agreement
		if i <= len(s.Metrics) {
			a = s.Metrics[i-1].Agreement
		}
		lines[i] = append(lines[i], csvAgreementCells(a)...)
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("encode the summary as CSV: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

func csvLine(s *Summary, scope, category string, m *Metric) []string {
	var lo, hi, rating *float64
	if m.CI95 != nil {
		lo, hi = &m.CI95.Lo, &m.CI95.Hi
	}
	if m.Rating != nil {
		rating = &m.Rating.Mean
	}
	judge := ""
	if m.Judged && s.Judge != nil {
		judge = judgeName(s.Judge)
	}
	return []string{
		scope, category, m.Metric, strconv.Itoa(m.Version),
		csvFloat(m.Mean), csvFloat(lo), csvFloat(hi), m.Method,
		strconv.Itoa(m.Rows), strconv.Itoa(m.Scored), strconv.Itoa(m.Undefined), strconv.Itoa(m.Skipped),
		strconv.Itoa(m.Unscored), strconv.Itoa(m.Failed), csvFloat(m.Coverage),
		csvFloat(m.SD), csvFloat(m.Min), csvFloat(m.Max), csvFloat(m.WorstCase), csvFloat(rating),
		strconv.FormatBool(s.Complete), judge,
	}
}

func csvFloat(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
