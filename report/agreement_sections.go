package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// agreementSections shows how far several judges agree; none where one was
// asked once.
func agreementSections(s *Summary) []section {
	sec := section{title: "Agreement of judges", table: &table{
		cols: []column{text("metric"), text("judges"), text("measure"), figure("value"), figure("equal"), figure("n")},
	}}
	for i := range s.Metrics {
		m := &s.Metrics[i]
		if m.Agreement == nil {
			continue
		}
		sec.lines = append(sec.lines, agreementLine(m))
		for _, p := range slices.Concat(m.Agreement.Judges, m.Agreement.Trials) {
			value := optional(p.Value)
			if p.Value == nil {
				value = "undefined"
				sec.lines = append(sec.lines, fmt.Sprintf("%s, %s: no %s: %s.", m.Metric, pairName(p), measureName(m.Agreement), p.Undefined))
			}
			sec.table.rows = append(sec.table.rows, []string{m.Metric, pairName(p), measureName(m.Agreement), value, optional(p.Equal), commas(p.N)})
		}
	}
	if len(sec.lines) == 0 {
		return nil
	}
	sec.intro = "Cohen's kappa on verdicts, Spearman's rank correlation on ratings: 1 is full agreement, 0 what chance gives. Equal is the share on which two agree."
	if len(sec.table.rows) == 0 {
		sec.table = nil
	}
	return []section{sec}
}

func agreementLine(m *Metric) string {
	a := m.Agreement
	line := m.Metric + ": no sample has two values"
	if a.MeanSpread != nil {
		line = fmt.Sprintf("%s: mean spread %s over %s", m.Metric, fixed(*a.MeanSpread), plural(a.Samples, "sample", "samples"))
	}
	line += fmt.Sprintf("; the judges disagree on %s", plural(a.Disagree, "sample", "samples"))
	if a.Ties > 0 {
		line += fmt.Sprintf("; %s without a score", plural(a.Ties, "tie", "ties"))
	}
	return line + "."
}

// pairName names two judges, or the trials of one.
func pairName(p Pair) string {
	if p.A == p.B {
		return p.A + ", its trials"
	}
	return p.A + " and " + p.B
}

func measureName(a *Agreement) string {
	if a.Measure == "" {
		return "measure"
	}
	return a.Measure
}

// panelLine says who sits on a panel.
func panelLine(p *Panel) string {
	names := make([]string, len(p.Judges))
	for i := range p.Judges {
		j := &p.Judges[i]
		names[i] = j.Name
		if full := judgeName(j) + servedBy(j); full != j.Name {
			names[i] += " (" + full + ")"
		}
	}
	line := fmt.Sprintf("Panel: %s of %s", p.Vote, strings.Join(names, ", "))
	if p.Trials > 1 {
		line += fmt.Sprintf(", %d trials each", p.Trials)
	}
	return line + "."
}

// judgeWarnings tells of judges that were served by several models, or by nobody
// knows whom.
func judgeWarnings(s *Summary) []string {
	var lines []string
	for _, j := range judgesOf(s) {
		for _, f := range j.Flags {
			lines = append(lines, fmt.Sprintf("Warning: %s: %s.", f, flagText(j, f)))
		}
	}
	return lines
}

// judgesOf lists the judges of a summary, one or a panel.
func judgesOf(s *Summary) []*Judge {
	var all []*Judge
	switch {
	case s.Panel != nil:
		for i := range s.Panel.Judges {
			all = append(all, &s.Panel.Judges[i])
		}
	case s.Judge != nil:
		all = append(all, s.Judge)
	}
	return all
}

// flagText says what a flag of a judge means.
func flagText(j *Judge, flag string) string {
	name := j.Name
	if name == "" {
		name = j.Model
	}
	switch flag {
	case FlagMixedModels:
		return fmt.Sprintf("judge %s was served by several models (%s), so that scores of this run may not be comparable with each other", name, strings.Join(j.Served, ", "))
	case FlagMixedFingerprints:
		return fmt.Sprintf("judge %s was served by several systems (fingerprints %s), so that its replies may have changed within the run", name, strings.Join(j.Fingerprints, ", "))
	case FlagUnverified:
		return fmt.Sprintf("the certificate of the endpoint of judge %s was not checked, so that its replies may be anybody's", name)
	}
	return "judge " + name
}

// csvAgreement are the further columns of CSV where several judges were asked.
var csvAgreement = []string{"mean_spread", "judges_disagree", "ties", "agreement"}

func csvAgreementCells(a *Agreement) []string {
	if a == nil {
		return make([]string, len(csvAgreement))
	}
	var pairs []string
	for _, p := range slices.Concat(a.Judges, a.Trials) {
		value := "undefined"
		if p.Value != nil {
			value = csvFloat(p.Value)
		}
		pairs = append(pairs, fmt.Sprintf("%s: %s %s (n=%d)", pairName(p), measureName(a), value, p.N))
	}
	return []string{csvFloat(a.MeanSpread), strconv.Itoa(a.Disagree), strconv.Itoa(a.Ties), strings.Join(pairs, "; ")}
}
