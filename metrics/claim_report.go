package metrics

import "math"

// claimReport is what follows from a filled table, claim by claim and chunk by
// chunk: all that the formulas need. A list whose part of the table is not there
// is empty, and no formula looks at it.
type claimReport struct {
	// Of the response's claims: entailed by a chunk, by one that also entails a
	// claim of the reference, by the reference.
	backed, backedRelevant, correct []bool
	// Of the reference's claims: entailed by a chunk, by the response.
	recalled, said []bool
	// relevant are the chunks that entail a claim of the reference.
	relevant []bool
}

// report reads the row of cells.
func (t *claimTable) report(row []bool) claimReport {
	r := claimReport{relevant: make([]bool, len(t.sample.RetrievedContexts))}
	cell := map[parts]func(i, n int) bool{}
	for _, p := range t.layout() {
		cell[p.of] = func(i, n int) bool { return row[p.first+i*p.width+n] }
	}
	if entails := cell[referenceChunks]; entails != nil {
		r.recalled = make([]bool, len(t.reference))
		for i := range t.reference {
			for n := range r.relevant {
				if entails(i, n) {
					r.recalled[i], r.relevant[n] = true, true
				}
			}
		}
	}
	if entails := cell[responseChunks]; entails != nil {
		r.backed, r.backedRelevant = make([]bool, len(t.response)), make([]bool, len(t.response))
		for i := range t.response {
			for n := range r.relevant {
				if entails(i, n) {
					r.backed[i] = true
					r.backedRelevant[i] = r.backedRelevant[i] || r.relevant[n]
				}
			}
		}
	}
	if in := cell[responseMatch]; in != nil {
		for i := range t.response {
			r.correct = append(r.correct, in(i, 0))
		}
	}
	if in := cell[referenceMatch]; in != nil {
		for i := range t.reference {
			r.said = append(r.said, in(i, 0))
		}
	}
	return r
}

// share is how many of n there are by a condition, as a share; NaN of none.
func share(n int, holds func(i int) bool) float64 {
	count := 0
	for i := range n {
		if holds(i) {
			count++
		}
	}
	return float64(count) / float64(n)
}

func (r claimReport) faithfulness() float64 {
	return share(len(r.backed), func(i int) bool { return r.backed[i] })
}

func (r claimReport) hallucination() float64 {
	return share(len(r.correct), func(i int) bool { return !r.backed[i] && !r.correct[i] })
}

func (r claimReport) selfKnowledge() float64 {
	return share(len(r.correct), func(i int) bool { return !r.backed[i] && r.correct[i] })
}

func (r claimReport) relevantNoise() float64 {
	return share(len(r.correct), func(i int) bool { return !r.correct[i] && r.backedRelevant[i] })
}

func (r claimReport) irrelevantNoise() float64 {
	return share(len(r.correct), func(i int) bool { return !r.correct[i] && r.backed[i] && !r.backedRelevant[i] })
}

func (r claimReport) precision() float64 {
	return share(len(r.correct), func(i int) bool { return r.correct[i] })
}

func (r claimReport) recall() float64 {
	return share(len(r.said), func(i int) bool { return r.said[i] })
}

func (r claimReport) claimRecall() float64 {
	return share(len(r.recalled), func(i int) bool { return r.recalled[i] })
}

func (r claimReport) contextPrecision() float64 {
	return share(len(r.relevant), func(i int) bool { return r.relevant[i] })
}

// contextUtilization has no value where no claim of the reference was retrieved.
func (r claimReport) contextUtilization() float64 {
	used, all := 0, 0
	for i, recalled := range r.recalled {
		if recalled {
			all++
			if r.said[i] {
				used++
			}
		}
	}
	return float64(used) / float64(all)
}

// fScore weighs recall beta times as much as precision; 0 if both are 0.
func fScore(precision, recall, beta float64) float64 {
	b := beta * beta
	if d := b*precision + recall; d > 0 {
		return (1 + b) * precision * recall / d
	}
	return 0
}

// ragasFactual is Ragas' formula for factual correctness. It takes true positives
// from the response's claims for both precision and recall, though what is
// missing is counted in the reference's.
func ragasFactual(r claimReport, mode Mode, beta float64) float64 {
	const epsilon = 1e-8
	count := func(list []bool, want bool) (n float64) {
		for _, x := range list {
			if x == want {
				n++
			}
		}
		return n
	}
	tp, fp, fn := count(r.correct, true), count(r.correct, false), count(r.said, false)
	precision, recall := tp/(tp+fp+epsilon), tp/(tp+fn+epsilon)
	v := precision
	switch mode {
	case ModeRecall:
		v = recall
	case ModeF1:
		b := beta * beta
		if v = 0; precision+recall > 0 {
			v = (1 + b) * precision * recall / (b*precision + recall)
		}
	}
	return math.RoundToEven(v*100) / 100
}

// maxOpenCells bounds the search for bounds: so many undecided cells can be
// decided in 4,096 ways.
const maxOpenCells = 12

// tableBounds are the lowest and the highest value over all ways to decide the
// cells that are open; 0 and 1 where these are too many to be tried. Ways
// without a value don't count.
func tableBounds(value func([]bool) float64) func([]side) Bounds {
	return func(sides []side) Bounds {
		var undecided []int
		row := make([]bool, len(sides))
		for i, s := range sides {
			if row[i] = s == yes; s == open {
				undecided = append(undecided, i)
			}
		}
		if len(undecided) > maxOpenCells {
			return Bounds{0, 1}
		}
		b, found := Bounds{1, 0}, false
		for way := range 1 << len(undecided) {
			for k, i := range undecided {
				row[i] = way>>k&1 == 1
			}
			if v := value(row); !math.IsNaN(v) {
				b, found = Bounds{min(b.Low, v), max(b.High, v)}, true
			}
		}
		if !found {
			return Bounds{0, 1}
		}
		return b
	}
}

// formula is that of a metric over the table.
func (t *claimTable) formula(value func(claimReport) float64, lacks string) verdictFormula {
	of := func(row []bool) float64 { return value(t.report(row)) }
	return verdictFormula{
		labels: tableLabels(), value: of, detail: t.detail, bounds: tableBounds(of),
		lacks: func(row []bool) string {
			if math.IsNaN(of(row)) {
				return lacks
			}
			return ""
		},
	}
}
