package metrics

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestChunkBounds compares the bounds with those of all ways to decide what is
// open.
func TestChunkBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sides := rapid.SliceOfN(rapid.SampledFrom([]side{open, yes, no}), 1, 9).Draw(t, "sides")
		low, high := 1.0, 0.0
		useful := make([]bool, len(sides))
		var decide func(i int)
		decide = func(i int) {
			if i == len(sides) {
				v := chunkPrecision(useful)
				low, high = min(low, v), max(high, v)
				return
			}
			for _, u := range []bool{false, true} {
				if sides[i] == open || (sides[i] == yes) == u {
					useful[i] = u
					decide(i + 1)
				}
			}
		}
		decide(0)
		if b := chunkBounds(sides); math.Abs(b.Low-low) > 1e-12 || math.Abs(b.High-high) > 1e-12 {
			t.Fatalf("bounds of %v: %v, want %v to %v", sides, b, low, high)
		}
	})
}
