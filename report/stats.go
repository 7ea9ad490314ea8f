package report

import (
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
)

const (
	// BootstrapMax is the largest number of scored values of a metric whose
	// interval is bootstrapped; above it the interval is a normal one.
	BootstrapMax = 2000
	// CategoryBootstrapMax is the same bound within one category: lower, so
	// that many categories cost neither much memory nor much time.
	CategoryBootstrapMax = 200
	// Resamples is the number of bootstrap means behind an interval.
	Resamples = 2000
	// Level is the level of every interval.
	Level = 0.95

	// tail is the rank, from either end, of the bootstrap mean that bounds the
	// interval: 2.5 % of Resamples.
	tail = Resamples / 40
	// z is the 97.5th percentile of the standard normal distribution.
	z = 1.959963984540054
)

// The methods by which an interval is made; the package comment explains them.
const (
	MethodBootstrap = "bootstrap"
	MethodNormal    = "normal"
	MethodNoSpread  = "no_spread"
	MethodNone      = "none"
)

// sumScale shrinks values before they are added, so that no sum of fewer than
// 2^32 finite values overflows. A power of two loses no digit, except of values
// below 2^-990 (1e-298), which no score is and whose effect is smaller still.
const sumScale = 0x1p-32

// exactSum adds without rounding: it holds the sum as a few floats that do not
// overlap (Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997), so
// that neither the order nor the grouping of the values changes the result.
type exactSum struct {
	parts []float64 // increasing in magnitude, scaled by sumScale
}

func (s *exactSum) add(v float64) {
	v *= sumScale
	kept := 0
	for _, p := range s.parts {
		sum, rest := twoSum(v, p)
		if rest != 0 {
			s.parts[kept] = rest
			kept++
		}
		v = sum
	}
	s.parts = append(s.parts[:kept], v)
}

// twoSum returns the rounded sum of a and b, and what the rounding lost.
func twoSum(a, b float64) (sum, rest float64) {
	if math.Abs(a) < math.Abs(b) {
		a, b = b, a
	}
	sum = a + b
	return sum, b - (sum - a)
}

// over returns the sum, rounded once, divided by n > 0.
func (s *exactSum) over(n int) float64 {
	// 2,200 bits span every float64 from the smallest to the largest, so
	// nothing is lost before the one rounding.
	total := new(big.Float).SetPrec(2200)
	for _, p := range s.parts {
		total.Add(total, new(big.Float).SetFloat64(p))
	}
	f, _ := total.Float64()
	return f / float64(n) / sumScale
}

// moments follows the number, mean, spread and range of a stream of values.
// The values themselves are kept up to a bound, for the bootstrap.
type moments struct {
	n        int
	sum      exactSum
	min, max float64
	avg, m2  float64 // Welford's running mean and sum of squared deviations
	keep     int     // bound on kept
	kept     []float64
}

func (m *moments) add(v float64) {
	m.n++
	m.sum.add(v)
	if m.n == 1 || v < m.min {
		m.min = v
	}
	if m.n == 1 || v > m.max {
		m.max = v
	}
	// The conversions forbid fused multiply-add: the digits are the same on
	// every processor.
	d := v - m.avg
	m.avg += d / float64(m.n)
	m.m2 += float64(d * (v - m.avg))
	switch {
	case m.n <= m.keep:
		m.kept = append(m.kept, v)
	default:
		m.kept = nil
	}
}

// mean returns the mean; nil of nothing.
func (m *moments) mean() *float64 {
	if m.n == 0 {
		return nil
	}
	v := min(max(m.sum.over(m.n), m.min), m.max)
	return &v
}

// deviation returns the sample standard deviation; nil of fewer than two
// values or where it is too large for a float64.
func (m *moments) deviation() *float64 {
	if m.n < 2 {
		return nil
	}
	v := 0.0
	if m.min < m.max {
		v = math.Sqrt(m.m2 / float64(m.n-1))
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// interval returns the 95 % interval of the mean and the method that made it.
// The seed and the name of what is summed decide the resamples.
func (m *moments) interval(seed uint64, name string) (*Interval, string) {
	sd := m.deviation()
	switch {
	case m.n < 2 || sd == nil:
		return nil, MethodNone
	case m.min == m.max:
		return &Interval{m.min, m.max}, MethodNoSpread
	case m.kept != nil:
		iv := bootstrap(m.kept, seed, name)
		return &iv, MethodBootstrap
	}
	mean := *m.mean()
	half := float64(z * *sd / math.Sqrt(float64(m.n)))
	return &Interval{max(mean-half, m.min), min(mean+half, m.max)}, MethodNormal
}

// bootstrap returns the percentile interval of the mean of at least two values.
// It sorts a copy first, so that their order does not matter.
func bootstrap(values []float64, seed uint64, name string) Interval {
	sorted := slices.Sorted(slices.Values(values))
	lowest, highest := sorted[0], sorted[len(sorted)-1]
	for i := range sorted {
		sorted[i] *= sumScale
	}
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	src := rand.NewPCG(seed, h.Sum64())
	n := uint64(len(sorted))
	means := make([]float64, Resamples)
	for b := range means {
		sum, left := 0.0, len(sorted)
		for left > 1 {
			// One draw gives two indices: n is far below 2^32, so the bias of
			// the scaling is below 2^-20.
			r := src.Uint64()
			sum += sorted[(r>>32)*n>>32]
			sum += sorted[(r&0xffffffff)*n>>32]
			left -= 2
		}
		if left == 1 {
			sum += sorted[(src.Uint64()>>32)*n>>32]
		}
		means[b] = sum / float64(n) / sumScale
	}
	slices.Sort(means)
	// Rounding must not carry a mean of equal values beyond them.
	clamp := func(v float64) float64 { return min(max(v, lowest), highest) }
	return Interval{clamp(means[tail-1]), clamp(means[Resamples-tail])}
}
