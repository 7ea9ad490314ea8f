package llm

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what an error means for the run.
type Kind int

// The kinds of error, from the mildest to the gravest.
const (
	// Transient: trying again may help (network, 5xx, cut or empty body).
	Transient Kind = iota + 1
	// RateLimited: the server asks everybody to wait.
	RateLimited
	// Row: this request can't be answered, others can (content filter, prompt
	// too long, bad request).
	Row
	// Fatal: no request can be answered (key, money, model, URL).
	Fatal
	// WaitTooLong: the server asks for a wait beyond what was allowed (daily
	// quota); the run stops and can be resumed.
	WaitTooLong
	// OverBudget: the next call could break a limit that the user set on money,
	// calls or tokens; the run stops and can be resumed.
	OverBudget
)

var kindNames = map[Kind]string{
	Transient: "transient", RateLimited: "rate_limited", Row: "row",
	Fatal: "fatal", WaitTooLong: "wait_too_long", OverBudget: "over_budget",
}

// String returns the kind's name as it stands in results and logs.
func (k Kind) String() string {
	if n, ok := kindNames[k]; ok {
		return n
	}
	return fmt.Sprintf("kind(%d)", int(k))
}

// StopsRun reports whether no further request should be made in this run.
func (k Kind) StopsRun() bool { return k == Fatal || k == WaitTooLong || k == OverBudget }

// Error is a call that gave no reply.
type Error struct {
	Kind Kind
	// Code is a stable word for the cause: "invalid_api_key", "timeout",
	// "context_too_long", "http_500".
	Code string
	// Status is the HTTP status; 0 where there was none.
	Status int
	// Message is what the server or the network said, cut to a readable
	// length, with every secret removed.
	Message string
	// Hint tells the user what to do about it; may be empty.
	Hint string
	// RetryAfter is the wait that the server asked for; 0 for none.
	RetryAfter time.Duration
	// Attempts is how many times the call was tried.
	Attempts int
	// Err is the underlying error, if any.
	Err error
}

// Error gives the cause without the hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Code)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	} else if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (after %d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns the *Error inside err, or nil.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// StopsRun reports whether err means that the whole run must stop: an Error of
// such a kind, or any error that is not about this request alone, such as a
// cancelled context.
func StopsRun(err error) bool {
	if err == nil {
		return false
	}
	if e := AsError(err); e != nil {
		return e.Kind.StopsRun()
	}
	return true
}
