package llm

import (
	"context"
	"log/slog"
	"time"
)

// notes logs what a limiter changes: each change at level debug, and those that
// people want to know at level info, though not more than a few in a while, so
// that a night of refusals does not fill a disk.
//
// It is not safe for concurrent use.
type notes struct {
	log    *slog.Logger
	tokens float64 // lines that may go out
	at     time.Time
	hidden int
}

const (
	// firstNotes go out at once, and one more in each noteEvery.
	firstNotes = 20
	noteEvery  = 30 * time.Second
)

func (n *notes) info(now time.Time, msg string, args ...any) {
	if n.at.IsZero() {
		n.tokens = firstNotes
	} else {
		n.tokens = min(n.tokens+float64(now.Sub(n.at))/float64(noteEvery), firstNotes)
	}
	n.at = now
	level := slog.LevelInfo
	if n.tokens < 1 {
		n.hidden++
		level = slog.LevelDebug
	} else if n.tokens--; n.hidden > 0 {
		args = append(args, "not_shown", n.hidden)
		n.hidden = 0
	}
	n.log.Log(context.Background(), level, msg, args...)
}
