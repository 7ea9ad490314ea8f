package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// section is a part of the report for people, before it is laid out. Its
// strings are raw: the renderer that prints them escapes them.
type section struct {
	title string
	intro string
	table *table
	lines []string
}

// table is a table before it is laid out.
type table struct {
	cols []column
	rows [][]string
	// lead is the number of columns that are repeated where the table has to be
	// broken into several; 0 for a table that must not be broken.
	lead int
}

type column struct {
	name string
	// text columns are aligned left and may be cut to fit; figures are not.
	text bool
	// short is the heading where there is no room for the name.
	short string
	// below marks a last column that goes on a line of its own, under its row,
	// where there is no room beside it.
	below bool
}

func text(name string) column   { return column{name: name, text: true} }
func figure(name string) column { return column{name: name} }

// reasonColumn holds why a sample is listed.
var reasonColumn = column{name: "reason", text: true, below: true}

// shortStatus holds the headings of narrow tables.
var shortStatus = map[eval.Status]string{
	eval.Undefined: "undef", eval.Skipped: "skip", eval.Unscored: "unsc", eval.Failed: "fail",
}

// header returns the lines at the top: what was scored, how far, by whom.
func header(s *Summary) []string {
	name := cmp.Or(s.Dataset.Name, "a dataset without a name")
	state := "complete"
	if !s.Complete {
		state = "NOT COMPLETE"
	}
	lines := []string{fmt.Sprintf("Summary of %s: %s, %s.", name, rowsDone(s), state)}
	if s.Judge != nil {
		if s.Panel != nil {
			lines = append(lines, panelLine(s.Panel))
		} else {
			lines = append(lines, "Judge: "+judgeName(s.Judge)+servedBy(s.Judge)+".")
		}
		if note := judgeNote(s.Judge); note != "" {
			lines = append(lines, "Note: "+note+".")
		}
	}
	return append(lines, judgeWarnings(s)...)
}

// servedBy names the models that answered where they are not the one that was
// asked for.
func servedBy(j *Judge) string {
	if len(j.Served) == 0 || slices.Equal(j.Served, []string{j.Model}) {
		return ""
	}
	return ", served by " + strings.Join(j.Served, ", ")
}

// judgeName names the judge in a few words and marks an offline one.
func judgeName(j *Judge) string {
	name := strings.TrimSpace(j.Provider + " " + j.Model)
	if j.Model == j.Provider {
		name = j.Provider
	}
	if j.Offline {
		name += " (offline)"
	}
	return name
}

// sections returns the parts of the report in the order in which they are shown.
func sections(s *Summary) []section {
	list := []section{{title: "Metrics", table: metricTable(s.Metrics), lines: notes(s)}}
	list = append(list, agreementSections(s)...)
	if len(s.Categories) > 0 {
		list = append(list, section{
			title: "Categories",
			intro: "Mean per category, with scored / all rows.",
			table: categoryTable(s),
			lines: categoryNotes(s),
		})
	}
	if len(s.Worst.Samples) > 0 {
		list = append(list, section{
			title: "Worst samples",
			intro: fmt.Sprintf("The lowest %d of %s by the mean of %s.", len(s.Worst.Samples),
				plural(s.Worst.Ranked, "ranked sample", "ranked samples"), strings.Join(s.Worst.By, ", ")),
			table: worstTable(s),
		})
	}
	if s.Lacking.Total > 0 {
		list = append(list, section{
			title: "Failed and unscored samples",
			intro: fmt.Sprintf("%s in all, the first %d listed.", plural(s.Lacking.Total, "sample", "samples"), len(s.Lacking.Samples)),
			table: lackingTable(s),
		})
	}
	if len(s.Gates) > 0 {
		list = append(list, section{title: "Gates", lines: gateLines(s)})
	}
	list = append(list, section{title: "Calls and cost", lines: usageLines(s)})
	if t := costTable(s); t != nil {
		list = append(list, section{title: "Where it went", table: t, lines: costLines(s)})
	}
	return list
}

func metricTable(metrics Metrics) *table {
	t := &table{cols: []column{text("metric"), figure("mean"), figure("95 % interval")}}
	for _, st := range eval.Statuses {
		t.cols = append(t.cols, column{name: string(st), short: shortStatus[st]})
	}
	for _, m := range metrics {
		t.rows = append(t.rows, []string{
			m.Metric, optional(m.Mean), interval(m.CI95), commas(m.Scored),
			commas(m.Undefined), commas(m.Skipped), commas(m.Unscored), commas(m.Failed),
		})
	}
	return t
}

func categoryTable(s *Summary) *table {
	t := &table{cols: []column{text("category"), figure("rows")}, lead: 2}
	for _, m := range s.Metrics {
		t.cols = append(t.cols, figure(m.Metric))
	}
	for _, c := range s.Categories {
		row := []string{categoryName(c), commas(c.Rows)}
		for _, m := range s.Metrics {
			cell := none
			if cm := c.Metrics.Get(m.Metric); cm != nil {
				cell = fmt.Sprintf("%s (%s/%s)", optional(cm.Mean), commas(cm.Scored), commas(cm.Rows))
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func categoryName(c Category) string {
	if c.Category == "" {
		return "(no category)"
	}
	return c.Category
}

func categoryNotes(s *Summary) []string {
	for _, c := range s.Categories {
		if c.Other {
			return []string{fmt.Sprintf("%s: everything beyond the first %d categories of the dataset.", OtherCategories, MaxCategories)}
		}
	}
	return nil
}

func worstTable(s *Summary) *table {
	t := &table{cols: sampleColumns(s)}
	t.cols = append(t.cols, figure("mean"))
	for _, name := range s.Worst.By {
		t.cols = append(t.cols, figure(name))
	}
	t.cols = append(t.cols, reasonColumn)
	for _, l := range s.Worst.Samples {
		row := append(sampleCells(s, l), optional(l.Mean))
		for _, name := range s.Worst.By {
			row = append(row, scoreCell(l, name))
		}
		t.rows = append(t.rows, append(row, worstReason(l, s.Worst.By)))
	}
	return t
}

// scoreCell shows the value of a metric, or the status that stands for it.
func scoreCell(l SampleLine, metric string) string {
	for _, sc := range l.Scores {
		if sc.Metric == metric {
			if sc.Value != nil {
				return fixed(*sc.Value)
			}
			return string(sc.Status)
		}
	}
	return none
}

// worstReason returns the reason of the lowest of the ranking scores, under its
// metric's name; the first one of several.
func worstReason(l SampleLine, by []string) string {
	var lowest *ScoreLine
	for i := range l.Scores {
		sc := &l.Scores[i]
		if sc.Value == nil || !slices.Contains(by, sc.Metric) {
			continue
		}
		if lowest == nil || *sc.Value < *lowest.Value {
			lowest = sc
		}
	}
	if lowest == nil || lowest.Reason == "" {
		return ""
	}
	return lowest.Metric + ": " + lowest.Reason
}

func lackingTable(s *Summary) *table {
	t := &table{cols: sampleColumns(s)}
	t.cols = append(t.cols, text("metric"), text("status"), reasonColumn)
	for _, l := range s.Lacking.Samples {
		for _, sc := range l.Scores {
			t.rows = append(t.rows, append(sampleCells(s, l), sc.Metric, string(sc.Status), sc.Reason))
		}
	}
	return t
}

// sampleColumns and sampleCells name a sample; the category is left out where
// no sample has one.
func sampleColumns(s *Summary) []column {
	cols := []column{figure("row"), text("id")}
	if len(s.Categories) > 0 {
		cols = append(cols, text("category"))
	}
	return cols
}

func sampleCells(s *Summary, l SampleLine) []string {
	cells := []string{fmt.Sprint(l.Row), l.ID}
	if len(s.Categories) > 0 {
		cells = append(cells, l.Category)
	}
	return cells
}

func gateLines(s *Summary) []string {
	var lines []string
	for _, g := range s.Gates {
		word := strings.ToUpper(strings.ReplaceAll(string(g.Outcome), "_", " "))
		lines = append(lines, word+": "+g.Sentence)
	}
	return lines
}
