package llm

import "sync"

// Stop is the switch that ends all calls of a chain: the first error after
// which no request can be answered (Fatal, WaitTooLong) sets it, and whoever
// looks at it later gets that same error without a call. One Stop is shared by
// Retry and Limiter, so that 64 workers with a wrong key make the calls that
// were in flight and no more.
//
// The zero value is not usable; NewStop makes one. A nil *Stop is never set.
type Stop struct {
	mu   sync.Mutex
	err  error
	done chan struct{}
}

// NewStop returns a switch that is not set.
func NewStop() *Stop { return &Stop{done: make(chan struct{})} }

// Set sets the switch to err. Only the first call counts; nil does nothing.
func (s *Stop) Set(err error) {
	if s == nil || err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		close(s.done)
	}
}

// Err returns the error that the switch was set to, or nil.
func (s *Stop) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Done returns a channel that is closed when the switch is set; for a nil
// *Stop, one that never is.
func (s *Stop) Done() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.done
}
