package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
)

// notes returns what a reader of the metric table ought to know, metric by
// metric, then how the intervals were made.
func notes(s *Summary) []string {
	var lines []string
	for i := range s.Metrics {
		lines = append(lines, metricNotes(&s.Metrics[i])...)
	}
	return append(lines, intervalNotes(s)...)
}

func metricNotes(m *Metric) []string {
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, m.Metric+fmt.Sprintf(format, args...))
	}
	if m.Note != "" {
		add(": %s.", strings.TrimSuffix(m.Note, "."))
	}
	if m.Rating != nil {
		add(": mean rating %s over %s.", fixed(m.Rating.Mean), plural(m.Rating.N, "rating", "ratings"))
	}
	for _, st := range eval.Statuses {
		word := string(st)
		if st == eval.Scored {
			word = "scored without the formula"
		}
		if list := m.Reasons.Of(st); len(list) > 0 {
			add(", %s: %s.", word, countList(list))
		}
	}
	if len(m.Flags) > 0 {
		add(", flagged: %s.", countList(m.Flags[:min(len(m.Flags), TopReasons)]))
	}
	if lost := m.Failed + m.Unscored; lost > 0 && m.WorstCase != nil {
		worst := "0"
		if m.LowerIsBetter {
			worst = "1"
		}
		add(": the mean would be %s if every failed and unscored row (%s) had got %s.", fixed(*m.WorstCase), commas(lost), worst)
	}
	return lines
}

func countList(list []Count) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = fmt.Sprintf("%s (%s)", c.Code, commas(c.N))
	}
	return strings.Join(words, ", ")
}

// intervalNotes says how the intervals were made; it names the metrics only
// where they differ.
func intervalNotes(s *Summary) []string {
	by := map[string][]string{}
	for _, m := range s.Metrics {
		by[m.Method] = append(by[m.Method], m.Metric)
	}
	said := map[string]string{
		MethodBootstrap: fmt.Sprintf("95 %% intervals by percentile bootstrap over samples (%s resamples, seed %d)", commas(s.Intervals.Resamples), s.Intervals.Seed),
		MethodNormal:    fmt.Sprintf("95 %% intervals by normal approximation, for more than %s scored rows", commas(s.Intervals.BootstrapMax)),
		MethodNoSpread:  "all values equal, so the interval says nothing about values not seen",
		MethodNone:      "no interval, for want of two values",
	}
	var lines []string
	for _, method := range []string{MethodBootstrap, MethodNormal, MethodNoSpread, MethodNone} {
		names := by[method]
		switch {
		case len(names) == 0:
		case len(names) == len(s.Metrics):
			lines = append(lines, capital(said[method])+".")
		default:
			lines = append(lines, fmt.Sprintf("%s: %s.", capital(said[method]), strings.Join(names, ", ")))
		}
	}
	return lines
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// usageLines tells calls, cache hits, tokens and cost of the whole run and,
// where the latest execution did only a part of it, of that alone.
func usageLines(s *Summary) []string {
	last := s.LastExecution
	if last == nil {
		return []string{usageLine(s.Usage)}
	}
	var lines []string
	if parts := last.RowsReused > 0 || !sameUsage(s.Usage, last.Usage); parts {
		lines = append(lines,
			"The whole run: "+usageLine(s.Usage),
			fmt.Sprintf("This time: %s; %s scored, %s reused.", strings.TrimSuffix(usageLine(last.Usage), "."),
				plural(last.RowsScored, "row", "rows"), commas(last.RowsReused)))
	} else {
		lines = append(lines, capital(usageLine(s.Usage)))
	}
	for _, j := range judgesOf(s) {
		if j.Usage != nil {
			lines = append(lines, fmt.Sprintf("Judge %s: %s", j.Name, usageLine(*j.Usage)))
		}
	}
	if line := expectedLine(last); line != "" {
		lines = append(lines, line)
	}
	if why := noCall(s, last); why != "" {
		lines = append(lines, why)
	}
	if last.Exit != "" && last.Exit != "done" {
		line := "Stopped: " + last.Exit
		if last.ExitReason != "" {
			line += " (" + last.ExitReason + ")"
		}
		lines = append(lines, line+".")
	}
	return lines
}

func sameUsage(a, b Usage) bool {
	sameCost := (a.CostUSD == nil) == (b.CostUSD == nil) && (a.CostUSD == nil || *a.CostUSD == *b.CostUSD)
	return sameCost && a.Calls == b.Calls && a.CacheHits == b.CacheHits && a.Tokens == b.Tokens
}

// noCall explains why the latest execution made no judge call; "" if it did.
func noCall(s *Summary, last *Execution) string {
	judged := slices.ContainsFunc(s.Metrics, func(m Metric) bool { return m.Judged })
	switch {
	case last.Calls > 0:
		return ""
	case !judged:
		return "No judge call was made: no metric asks a judge."
	case last.RowsScored == 0 && last.RowsReused > 0 && last.RowsReused == s.RowsDone && s.Complete:
		return fmt.Sprintf("No judge call was made: all %s were already scored.", plural(last.RowsReused, "row", "rows"))
	case last.RowsScored == 0 && last.RowsReused > 0:
		return fmt.Sprintf("No judge call was made: %s had been scored before, and none was scored now.", plural(last.RowsReused, "row", "rows"))
	case last.RowsScored > 0 && last.CacheHits > 0:
		return fmt.Sprintf("No judge call was made: what %s needed of the judge was in the cache (%s).",
			plural(last.RowsScored, "row", "rows"), plural(last.CacheHits, "hit", "hits"))
	}
	return "No judge call was made."
}

func usageLine(u Usage) string {
	t := u.Tokens
	line := fmt.Sprintf("%s, %s; tokens: %s prompt", plural(u.Calls, "judge call", "judge calls"),
		plural(u.CacheHits, "cache hit", "cache hits"), commas(t.Prompt))
	if t.Cached > 0 {
		line += fmt.Sprintf(" (%s cached)", commas(t.Cached))
	}
	line += fmt.Sprintf(", %s completion", commas(t.Completion))
	if t.Reasoning > 0 {
		line += fmt.Sprintf(" (%s reasoning)", commas(t.Reasoning))
	}
	if t.Unknown > 0 {
		line += fmt.Sprintf(", not told for %s", plural(t.Unknown, "call", "calls"))
	}
	line += "; " + cost(u)
	if u.SavedUSD != nil && *u.SavedUSD > 0 {
		line += fmt.Sprintf(", and the hits saved %s", money(*u.SavedUSD))
	}
	return line + "."
}
