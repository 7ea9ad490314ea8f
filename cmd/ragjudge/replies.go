package main

import (
	"log/slog"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// logReplies tells for each judge how far its replies kept to the form that was
// asked for, where they didn't: a model whose replies have to be repaired often
// is one step from giving none at all.
func logReplies(log *slog.Logger, p metrics.Panel) {
	names, byName := []string{}, map[string]judge.Counts{}
	for _, seat := range p.Seats {
		j, ok := seat.Judge.(*judge.Judge)
		if !ok {
			continue
		}
		if _, seen := byName[seat.Name]; !seen {
			names = append(names, seat.Name)
		}
		byName[seat.Name] = byName[seat.Name].Plus(j.Counts())
	}
	for _, name := range names {
		c := byName[name]
		if c.Repaired+c.AskedAgain+c.Undecided+c.Extra+c.Split == 0 {
			continue
		}
		log.Info("replies that were not as asked for", "judge", name, "replies", c.Replies, "repaired", c.Repaired,
			"asked_again", c.AskedAgain, "undecided_verdicts", c.Undecided, "extra_verdicts", c.Extra, "too_long_and_split", c.Split)
	}
}
