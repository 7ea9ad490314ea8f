package testset

import "math"

// What Difference and Rows take for granted; see docs/statistics.md.
const (
	// Spread is the usual standard deviation of paired differences of scores
	// between 0 and 1: two runs whose scores each have a deviation of 0.3 and
	// correlate by 0.5.
	Spread = 0.3
	// Level and Power are those of the comparison: a two-sided test at 5 %, that
	// finds the difference in four cases of five.
	Level, Power = 0.95, 0.8

	zLevel = 1.959963984540054  // 97.5th percentile of the normal distribution
	zPower = 0.8416212335729143 // 80th
)

// Rows is the number of pairs at which a true difference of the mean is found
// with Power: ((z + z') sd / difference)^2, rounded up. It is 0 for a
// difference or an sd that is not above 0.
func Rows(difference, sd float64) int {
	if !(difference > 0) || !(sd > 0) {
		return 0
	}
	n := math.Pow((zLevel+zPower)*sd/difference, 2)
	if n > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(math.Ceil(n - 1e-9))
}

// Difference is the smallest true difference of the mean that n pairs show
// with Power; +Inf for fewer than two.
func Difference(n int, sd float64) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	return (zLevel + zPower) * sd / math.Sqrt(float64(n))
}
