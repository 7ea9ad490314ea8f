package cost

import (
	"math"
	"sync"
)

// Scatter sums up what single rows take, for the error of a total that is made of
// some of them. It is safe for concurrent use; the zero value has no row.
type Scatter struct {
	mu           sync.Mutex
	rows         float64
	sum, squares float64
}

// Add takes in one row.
func (s *Scatter) Add(amount float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows++
	s.sum += amount
	s.squares += amount * amount
}

// StandardError returns the standard error of the total over so many rows, of
// which those added are a simple random sample without repeats: N sqrt((1 - n/N)
// s^2 / n), with s^2 the variance of the sample (Cochran, Sampling Techniques,
// chapter 2). It is 0 if all rows were added, and for fewer than two.
func (s *Scatter) StandardError(of int) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, all := s.rows, float64(of)
	if n < 2 || n >= all {
		return 0
	}
	variance := max(s.squares-s.sum*s.sum/n, 0) / (n - 1)
	return all * math.Sqrt((1-n/all)*variance/n)
}

// Sampled says that only some rows were planned, drawn by chance.
type Sampled struct {
	// Rows were planned, of Of.
	Rows int `json:"rows"`
	Of   int `json:"of"`
	// StandardError is that of the expected total over all rows, in US dollars
	// where prices are known, else in tokens; Total is that total.
	StandardError float64 `json:"standard_error"`
	Total         float64 `json:"total"`
}

// Relative returns the standard error as a share of the total.
func (s *Sampled) Relative() float64 {
	if s.Total <= 0 {
		return 0
	}
	return s.StandardError / s.Total
}

// sampleT is by how many standard errors a range is wider on either side for
// being made of a sample: 99 times in 100 that is enough.
const sampleT = 2.58

// scale carries the sums of the sampled rows over to all rows.
func (e *Estimator) scale(t *tally) {
	s := e.opt.Sampled
	if s == nil || s.Rows <= 0 || s.Rows >= s.Of {
		return
	}
	by := float64(s.Of) / float64(s.Rows)
	wider := func(level int) float64 {
		switch level {
		case low:
			return max(1-s.Relative()*sampleT, 0)
		case high:
			return 1 + s.Relative()*sampleT
		}
		return 1
	}
	for level := range t.levels {
		t.levels[level] = t.levels[level].times(by * wider(level))
		for judge, levels := range t.by {
			levels[level] = levels[level].times(by * wider(level))
			t.by[judge] = levels
		}
	}
	for _, n := range []*int64{&t.planned, &t.hits, &t.repeats, &t.saved} {
		*n = int64(math.Round(float64(*n) * by))
	}
}
