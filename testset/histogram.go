package testset

import "math/bits"

// Lengths counts numbers and gives their percentiles, in a few kilobytes
// whatever their number: those below 256 exactly, larger ones to within 0.8 %
// (128 steps for each doubling).
type Lengths struct {
	n    int
	sum  int64
	max  int
	bins map[int]int
}

const steps = 128

func binOf(v int) int {
	if v < 2*steps {
		return v
	}
	shift := bits.Len(uint(v)) - 8
	return shift*steps + v>>shift
}

// top is the largest value of a bin.
func topOf(bin int) int {
	if bin < 2*steps {
		return bin
	}
	shift := bin/steps - 1
	return (bin-shift*steps+1)<<shift - 1
}

// Add counts one number, 0 or more.
func (l *Lengths) Add(v int) {
	if l.bins == nil {
		l.bins = make(map[int]int)
	}
	l.n++
	l.sum += int64(v)
	l.max = max(l.max, v)
	l.bins[binOf(v)]++
}

// N is how many there are.
func (l *Lengths) N() int { return l.n }

// Max is the largest, 0 of none.
func (l *Lengths) Max() int { return l.max }

// Mean is the mean, 0 of none.
func (l *Lengths) Mean() float64 {
	if l.n == 0 {
		return 0
	}
	return float64(l.sum) / float64(l.n)
}

// Percentile is the smallest value that the share p of all does not exceed
// (the nearest rank), for p of 0 to 1; 0 of none.
func (l *Lengths) Percentile(p float64) int {
	rank := int(p * float64(l.n))
	if float64(rank) < p*float64(l.n) {
		rank++
	}
	rank = min(max(rank, 1), l.n)
	seen := 0
	for bin := range binOf(l.max) + 1 {
		if seen += l.bins[bin]; seen >= rank && seen > 0 {
			return min(topOf(bin), l.max)
		}
	}
	return l.max
}
