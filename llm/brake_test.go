package llm

import (
	"testing"
	"time"
)

// TestBrakeWaits: what the limiter makes up grows with each refusal, up to the
// wait that is allowed; what the server told is kept, whatever it is.
func TestBrakeWaits(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		told, most, low, high time.Duration
		strikes               int
	}{
		{0, 0, 5 * time.Second, 6 * time.Second, 0},
		{0, 0, 60 * time.Second, 63 * time.Second, 9},
		{0, 8 * time.Second, 8 * time.Second, 9 * time.Second, 9},
		{time.Second, 8 * time.Second, 8 * time.Second, 9 * time.Second, 9},
		{90 * time.Second, 5 * time.Minute, 90 * time.Second, 93 * time.Second, 9},
		{20 * time.Second, 8 * time.Second, 20 * time.Second, 23 * time.Second, 9},
	} {
		b := brake{strikes: c.strikes}
		got := b.pull(now, c.told, 8, false, c.most).Sub(now)
		if got < c.low || got > c.high {
			t.Errorf("told %v, at most %v, after %d: %v, want %v to %v", c.told, c.most, c.strikes, got, c.low, c.high)
		}
	}
}
