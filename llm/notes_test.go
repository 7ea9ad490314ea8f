package llm

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The lines that people see are bounded, whatever a server does, and the next
// one says how many were left out.
func TestNotesAreBounded(t *testing.T) {
	var b bytes.Buffer
	n := notes{log: slog.New(slog.NewTextHandler(&b, nil))}
	now := time.Date(2026, 12, 2, 2, 0, 0, 0, time.UTC)
	for range 36_000 { // ten hours, each second
		n.info(now, "all calls wait")
		now = now.Add(time.Second)
	}
	if lines := strings.Count(b.String(), "\n"); lines != firstNotes+1200-1 && lines != firstNotes+1200 {
		t.Errorf("%d lines in ten hours, want %d at once and one each 30 s", lines, firstNotes)
	}
	if !strings.Contains(b.String(), "not_shown=29") {
		t.Error("no line says how many were left out")
	}
}
