package metrics

import (
	"testing"

	"github.com/ragjudge/ragjudge/eval"
)

// What is too long to be compared has no value, whatever was found until then.
func TestTextsTooLong(t *testing.T) {
	s := eval.Sample{Response: "one two three\nfour", Reference: "three\ntwo four"}
	for _, level := range []Level{LevelText, LevelSummary} {
		opt := TextOptions{Level: level}.withDefaults()
		got, err := newRougeL(opt, 2).Score(t.Context(), &s)
		if err != nil || got.Status != eval.Undefined || got.Reason != reasonTextsTooLong {
			t.Errorf("%s: %s %q, %v", level, got.Status, got.Reason, err)
		}
		if got, err = newRougeL(opt, 10_000).Score(t.Context(), &s); err != nil || got.Status != eval.Scored {
			t.Errorf("%s: %s %q, %v", level, got.Status, got.Reason, err)
		}
	}
}
