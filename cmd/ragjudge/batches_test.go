package main

import (
	"strings"
	"testing"
	"time"
)

// TestBatchPace: the time left is that at the pace of what was answered, and not
// known before anything was.
func TestBatchPace(t *testing.T) {
	var p batchPace
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		after          time.Duration
		done, requests int
		want           string
	}{
		{0, 0, 100, "not known"},
		{time.Minute, 0, 100, "not known"},
		{2 * time.Minute, 20, 100, "8m0s"},
		{4 * time.Minute, 80, 100, "1m0s"},
		{5 * time.Minute, 80, 300, "not known"}, // another batch was made
		{6 * time.Minute, 100, 300, "10m0s"},
		{7 * time.Minute, 300, 300, "0s"},
	} {
		if got := p.left(c.done, c.requests, at.Add(c.after)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}
