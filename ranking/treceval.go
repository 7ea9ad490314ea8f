package ranking

import "math"

// The measures of this file are trec_eval's own. They are formulas of its
// version 9.0.8, and mean the same by either convention.

// InterpolatedPrecision is the highest precision at any rank at which at least
// the share p of the relevant documents has been retrieved; 0 if that many
// never are. The number of documents that p stands for is rounded as trec_eval
// does.
func (l *List) InterpolatedPrecision(p float64) float64 {
	from := max(1, int(p*float64(l.Relevant)+0.9))
	best := 0.0
	for n := from; n <= len(l.Hits); n++ {
		best = max(best, float64(n)/float64(l.Hits[n-1]))
	}
	return best
}

// elevenPoints are the recall levels of ElevenPoint.
var elevenPoints = [...]float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// ElevenPoint is the mean of InterpolatedPrecision at 0, 0.1, ... 1.
func (l *List) ElevenPoint() float64 {
	sum := 0.0
	for _, p := range elevenPoints {
		sum += l.InterpolatedPrecision(p)
	}
	return sum / float64(len(elevenPoints))
}

// InferredAP estimates the average precision where only a sample of the pool
// was judged (Yilmaz and Aslam, CIKM 2006).
func (l *List) InferredAP() float64 {
	const epsilon = 0.00001
	if l.Relevant == 0 {
		return 0
	}
	sum := 0.0
	better, worse, unjudged := 0, 0, 0
	for i, g := range l.Grades {
		judged, pooled := l.judged(g)
		switch {
		case !pooled:
		case !judged:
			unjudged++
		case !l.relevant(g):
			worse++
		case i == 0:
			better, sum = 1, 1
		default:
			before, rank := float64(i), float64(i+1)
			sum += 1/rank + before/rank*(float64(better+worse+unjudged)/before)*
				((float64(better)+epsilon)/(float64(better+worse)+2*epsilon))
			better++
		}
	}
	return sum / float64(l.Relevant)
}

// RPrecisionMultiple is the precision at the rank m x R, rounded as trec_eval
// does; R is the number of relevant documents.
func (l *List) RPrecisionMultiple(m float64) float64 {
	k := int(m*float64(l.Relevant) + 0.9)
	if k <= 0 {
		return 0
	}
	return ratio(l.HitsWithin(k), k)
}

// RelativePrecision is the precision at k, divided by the highest that is
// possible there. k = 0 is the whole list.
func (l *List) RelativePrecision(k int) float64 {
	if k <= 0 {
		k = len(l.Grades)
	}
	return ratio(l.HitsWithin(k), min(k, l.Relevant))
}

// BinaryG is the mean, over the relevant documents, of 1 / log2(2 + the number
// of other documents before it).
func (l *List) BinaryG() float64 {
	if l.Relevant == 0 {
		return 0
	}
	sum := 0.0
	for i, rank := range l.Hits {
		sum += 1 / math.Log2(float64(1+rank-i))
	}
	return sum / float64(l.Relevant)
}

// SetF is the harmonic mean of precision and recall of the whole list.
func (l *List) SetF() float64 {
	return ratio(2*len(l.Hits), len(l.Grades)+l.Relevant)
}

// SetMAP is the precision of the whole list times its recall.
func (l *List) SetMAP() float64 {
	return ratio(len(l.Hits)*len(l.Hits), len(l.Grades)*l.Relevant)
}

// Utility is the number of relevant documents less that of the others; it may
// be any whole number.
func (l *List) Utility() float64 { return float64(2*len(l.Hits) - len(l.Grades)) }

// NonrelevantJudged is the number of retrieved documents that were judged, and
// are not relevant.
func (l *List) NonrelevantJudged() int {
	n := 0
	for _, g := range l.Grades {
		if judged, _ := l.judged(g); judged && !l.relevant(g) {
			n++
		}
	}
	return n
}
