package bench_test

import (
	"slices"
	"testing"
)

// figure reports a figure, and logs it too: a benchmark that fails has no line
// of its own.
func figure(b *testing.B, got float64, unit string) {
	b.Helper()
	b.ReportMetric(got, unit)
	b.Logf("%.4g %s", got, unit)
}

// atLeast reports a figure, and fails the benchmark if it is below what must
// hold.
func atLeast(b *testing.B, what string, got, want float64, unit string) {
	b.Helper()
	figure(b, got, unit)
	if got < want {
		b.Errorf("missed: %s: %.4g %s, at least %g must hold", what, got, unit, want)
	}
}

// atMost is atLeast the other way round.
func atMost(b *testing.B, what string, got, want float64, unit string) {
	b.Helper()
	figure(b, got, unit)
	if got > want {
		b.Errorf("missed: %s: %.4g %s, at most %g must hold", what, got, unit, want)
	}
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
