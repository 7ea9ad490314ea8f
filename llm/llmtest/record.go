package llmtest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// Record is what happened to one chat request.
type Record struct {
	// N and Attempt number it, as in Request.
	N, Attempt int
	// Path is the path that was called, Header what came with it.
	Path   string
	Header http.Header
	// Body is the body, byte for byte; "" if it was not kept.
	Body string
	// Status is the HTTP status of the reply; 0 if there was no reply, or none
	// yet.
	Status int
	// Paid reports that the request was charged for.
	Paid bool
	// Fault names what struck it; "" for nothing.
	Fault string
}

// Repeat is a body that was paid for more than once.
type Repeat struct {
	// Body is the body; "" if it was not kept.
	Body string
	// Hash is its SHA-256 in hexadecimal.
	Hash string
	// Requests is how often it arrived, Paid how often it was paid for.
	Requests, Paid int
}

// record counts everything and keeps the first of it whole.
type record struct {
	keep int

	mu       sync.Mutex
	count    int
	paid     int
	flight   int
	most     int
	statuses map[int]int
	others   map[string]int
	kept     []*Record
	bodies   map[[sha256.Size]byte]*bodyCount
	order    [][sha256.Size]byte // of the bodies that are kept
}

type bodyCount struct {
	body     string
	arrived  int
	paid     int
	answered bool // a whole completion went out
	wasted   bool // and it was paid for again
}

// entry is a request that was not replied to yet.
type entry struct {
	rec   *Record
	count *bodyCount
	ended bool
}

func (l *record) arrive(r *http.Request, body []byte) *entry {
	hash := sha256.Sum256(body)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bodies == nil {
		l.bodies, l.statuses = map[[sha256.Size]byte]*bodyCount{}, map[int]int{}
	}
	l.count++
	l.flight++
	l.most = max(l.most, l.flight)
	c := l.bodies[hash]
	if c == nil {
		c = &bodyCount{}
		l.bodies[hash] = c
		if len(l.order) < l.keep {
			c.body = string(body)
			l.order = append(l.order, hash)
		}
	}
	c.arrived++
	rec := &Record{N: l.count, Attempt: c.arrived, Path: r.URL.Path, Header: r.Header.Clone(), Body: c.body}
	if len(l.kept) < l.keep {
		l.kept = append(l.kept, rec)
	}
	return &entry{rec: rec, count: c}
}

// end says what became of a request. It comes before the reply's last byte, so
// that a client that has its reply finds it counted; only the first end counts.
func (l *record) end(e *entry, status int, paid, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.ended {
		return
	}
	e.ended = true
	l.flight--
	l.statuses[status]++
	e.rec.Status, e.rec.Paid = status, paid
	if paid {
		l.paid++
		e.count.paid++
		e.count.wasted = e.count.wasted || e.count.answered
	}
	e.count.answered = e.count.answered || whole
}

func (l *record) struck(e *entry, fault string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.rec.Fault = fault
}

func (l *record) other(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.others == nil {
		l.others = map[string]int{}
	}
	l.others[path]++
}

// Requests is how many chat requests arrived, whatever became of them.
func (s *Server) Requests() int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.count
}

// Paid is how many chat requests a provider would have charged for: those that
// were replied to with status 200 and a completion, be it of no use (cut off
// in mid-body, without choices, refused) or not. It is counted before the reply
// is whole, so that a client that has its reply finds it counted.
func (s *Server) Paid() int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.paid
}

// MaxInFlight is the most chat requests that were there at once, from arrival
// to just before the reply's last byte. A request that its client gave up
// counts until the server notices.
func (s *Server) MaxInFlight() int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.most
}

// Statuses is how many chat requests got each HTTP status; 0 stands for no
// reply (connection reset, client gone).
func (s *Server) Statuses() map[int]int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	out := maps.Clone(s.log.statuses)
	if out == nil {
		out = map[int]int{}
	}
	return out
}

// Others is how many requests that are no chat arrived at each path.
func (s *Server) Others() map[string]int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	out := maps.Clone(s.log.others)
	if out == nil {
		out = map[string]int{}
	}
	return out
}

// Records are the chat requests by arrival, as many as are kept.
func (s *Server) Records() []Record {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	out := make([]Record, len(s.log.kept))
	for i, r := range s.log.kept {
		out[i] = *r
		out[i].Header = r.Header.Clone()
	}
	return out
}

// Bodies are the different bodies by first arrival, as many as are kept.
func (s *Server) Bodies() []string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	out := make([]string, len(s.log.order))
	for i, h := range s.log.order {
		out[i] = s.log.bodies[h].body
	}
	return out
}

// Repeats are the bodies that were paid for more than once, for whatever
// reason: with faults such as CutBody a second payment may be right. See Wasted.
func (s *Server) Repeats() []Repeat {
	return s.repeats(func(c *bodyCount) bool { return c.paid > 1 })
}

// Wasted are the bodies that were paid for again after a whole completion had
// gone out for them. With a client that caches, and none that gave up, there
// is none.
func (s *Server) Wasted() []Repeat {
	return s.repeats(func(c *bodyCount) bool { return c.wasted })
}

func (s *Server) repeats(is func(*bodyCount) bool) []Repeat {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	var out []Repeat
	for hash, c := range s.log.bodies {
		if is(c) {
			out = append(out, Repeat{Body: c.body, Hash: fmt.Sprintf("%x", hash), Requests: c.arrived, Paid: c.paid})
		}
	}
	slices.SortFunc(out, func(a, b Repeat) int { return cmp.Compare(a.Hash, b.Hash) })
	return out
}
