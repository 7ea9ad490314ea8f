package llm

import (
	"context"
	"fmt"
)

// CodeOverSample is the code of a call that was not made because its sample had
// spent what one sample may.
const CodeOverSample = "over_budget_sample"

// hold sets money aside for a call of the sample that t counts, or waits for
// the sample's other calls. It fails if the call doesn't fit any more. Without
// a tally or a bound everything fits.
func (t *Tally) hold(ctx context.Context, need, most int64) error {
	if t == nil || most <= 0 {
		return nil
	}
	for {
		t.mu.Lock()
		switch {
		case t.money+need > most:
			have := t.money
			t.mu.Unlock()
			return &Error{Kind: Row, Code: CodeOverSample,
				Message: fmt.Sprintf("$%.4f of the $%.4f for one sample are spent; the next call may cost up to $%.4f",
					float64(have)/moneyUnit, float64(most)/moneyUnit, float64(need)/moneyUnit),
				Hint: "raise the limit for one sample and start the same command again; what is finished stays"}
		case t.money+t.held+need <= most:
			t.held += need
			t.mu.Unlock()
			return nil
		}
		if t.settled == nil {
			t.settled = make(chan struct{})
		}
		settled := t.settled
		t.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release replaces what was set aside by what was taken.
func (t *Tally) release(need, took, most int64) {
	if t == nil || most <= 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held -= need
	t.money += took
	if t.settled != nil {
		close(t.settled)
		t.settled = nil
	}
}
