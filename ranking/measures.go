package ranking

import "math"

// Precision is the share of the documents within k that are relevant. By RAG
// it is taken of what was returned within k, and 0 if nothing was; by TrecEval
// of k, whatever was returned. k = 0 is the whole list.
func (l *List) Precision(k int) float64 {
	if k <= 0 || l.Convention != TrecEval {
		return ratio(l.HitsWithin(k), l.within(k))
	}
	return ratio(l.HitsWithin(k), k)
}

// Recall is the share of the relevant documents that stand within k. Where
// there is none it is 1 by RAG, since nothing was missed, and 0 by TrecEval.
func (l *List) Recall(k int) float64 {
	if l.Relevant == 0 && l.Convention != TrecEval {
		return 1
	}
	return ratio(l.HitsWithin(k), l.Relevant)
}

// F1 is the harmonic mean of Precision and Recall, 0 if both are.
func (l *List) F1(k int) float64 {
	p, r := l.Precision(k), l.Recall(k)
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// Success is 1 if a relevant document stands within k, else 0.
func (l *List) Success(k int) float64 { return min(1, float64(l.HitsWithin(k))) }

// ReciprocalRank is 1 / the rank of the first relevant document within k; 0 if
// there is none. k = 0 is the whole list.
func (l *List) ReciprocalRank(k int) float64 {
	if l.HitsWithin(k) == 0 {
		return 0
	}
	return 1 / float64(l.Hits[0])
}

// AveragePrecision is the sum of the precision at each relevant document within
// k, over all relevant documents by TrecEval, and over the k at most that could
// stand there by RAG; 0 if nothing is relevant. k = 0 is the whole list.
func (l *List) AveragePrecision(k int) float64 {
	best := l.Relevant
	if k > 0 && l.Convention != TrecEval {
		best = min(k, best)
	}
	if best == 0 {
		return 0
	}
	sum := 0.0
	for i, rank := range l.Hits[:l.HitsWithin(k)] {
		sum += float64(i+1) / float64(rank)
	}
	return sum / float64(best)
}

// RPrecision is the precision at rank R, R being the number of relevant
// documents; 0 if R is.
func (l *List) RPrecision() float64 {
	if l.Relevant == 0 {
		return 0
	}
	return ratio(l.HitsWithin(l.Relevant), l.Relevant)
}

// Gain is what a grade above 0 is worth to NDCG.
type Gain func(grade float64) float64

// Linear is the grade itself.
func Linear(grade float64) float64 { return grade }

// Exponential is 2^grade - 1. A grade near 0 would be lost in the subtraction,
// and the best order would seem to gain nothing.
func Exponential(grade float64) float64 {
	if grade < 1e-3 {
		return math.Expm1(grade * math.Ln2)
	}
	return math.Exp2(grade) - 1
}

// NDCG is the discounted cumulative gain, divided by that of the best possible
// order: the sum over the ranks i within k of gain / log2(i+1) (Järvelin and
// Kekäläinen, 2002). A grade of 0 or less, and none, gain nothing; the level
// has no say. It is 0 if no grade is above 0. k = 0 is the whole list. A gain
// that is not finite makes it NaN or infinite.
func (l *List) NDCG(k int, gain Gain) float64 {
	ideal := l.Gains
	if len(ideal) == 0 {
		return 0
	}
	if k > 0 {
		ideal = ideal[:min(k, len(ideal))]
	}
	best := 0.0
	for i, g := range ideal {
		best += discounted(gain(g), i)
	}
	got := 0.0
	for i, g := range l.Grades[:l.within(k)] {
		if g > 0 {
			got += discounted(gain(g), i)
		}
	}
	// Rounding must not lift a perfect order above 1. An overflow (infinite
	// grades) stays one.
	if q := got / best; !(q > 1) || math.IsInf(q, 1) {
		return q
	}
	return 1
}

func discounted(gain float64, i int) float64 { return gain / math.Log2(float64(i+2)) }

// BPref is the share of relevant documents over judged ones that are not: the
// mean, over the relevant documents, of 1 - the share of the first R documents
// that were judged not relevant and stand before it (Buckley and Voorhees,
// SIGIR 2004). Documents without a judgement are passed over. It is 0 if
// nothing is relevant.
func (l *List) BPref() float64 {
	if l.Relevant == 0 {
		return 0
	}
	sum, worse := 0.0, 0
	for _, g := range l.Grades {
		if judged, _ := l.judged(g); !judged {
			continue
		}
		if !l.relevant(g) {
			worse++
			continue
		}
		sum++
		if worse > 0 {
			sum -= float64(min(worse, l.Relevant)) / float64(min(l.Nonrelevant, l.Relevant))
		}
	}
	return sum / float64(l.Relevant)
}

// Judged is the share of the documents returned within k about which there is a
// judgement: how far the other measures can be trusted. It is NaN if nothing
// was returned. k = 0 is the whole list.
func (l *List) Judged(k int) float64 {
	n := l.within(k)
	if n == 0 {
		return math.NaN()
	}
	judged := 0
	for _, g := range l.Grades[:n] {
		if ok, _ := l.judged(g); ok {
			judged++
		}
	}
	return ratio(judged, n)
}
