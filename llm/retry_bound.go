package llm

import (
	"fmt"
	"sync/atomic"
)

// freeRetries are the retries that RetryBound allows a run whatever the number of
// its calls: so many come together in one bad minute of a sound night.
const freeRetries = 200

// RetryBound bounds the retries of a whole run, so that a server that fails again
// and again is not paid for its failures all night. Waits that the server asked
// for (429) are no retries here: they cost nothing. It is shared by the Retry
// clients of a run, and safe for concurrent use.
type RetryBound struct {
	// Ratio is the most attempts over calls; 1 allows no retry beyond the first
	// 200 of a run. 0 or below sets no bound.
	Ratio float64

	calls, retries atomic.Int64
}

// call counts a call.
func (b *RetryBound) call() {
	if b != nil {
		b.calls.Add(1)
	}
}

// again counts a retry, or says that it would be one too many.
func (b *RetryBound) again(cause *Error) *Error {
	if b == nil || b.Ratio <= 0 {
		return nil
	}
	calls, retries := b.calls.Load(), b.retries.Add(1)
	if float64(retries) <= freeRetries+max(b.Ratio-1, 0)*float64(calls) {
		return nil
	}
	return &Error{Kind: OverBudget, Code: "too_many_attempts", Err: cause,
		Message: fmt.Sprintf("%d calls took %d retries, and more than %g attempts for a call are not allowed (the last cause: %s)", calls, retries-1, b.Ratio, cause),
		Hint:    "see what ails the endpoint, then start the same command again; limits.max_attempt_ratio sets the bound"}
}
