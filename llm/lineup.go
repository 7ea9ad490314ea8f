package llm

import "time"

// place is a call's place in line, and what it was given when it came first.
type place struct {
	ticket uint64
	index  int
	tokens float64
	try    *attempt
	ready  chan struct{}

	granted             bool
	at                  time.Time
	nth                 int // number of calls let go since the last decrease, before it
	requestID, tokensID uint64
}

// lineup is a heap of places, lowest ticket first.
type lineup []*place

func (q lineup) Len() int           { return len(q) }
func (q lineup) Less(i, j int) bool { return q[i].ticket < q[j].ticket }
func (q lineup) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *lineup) Push(x any) {
	p := x.(*place)
	p.index = len(*q)
	*q = append(*q, p)
}

func (q *lineup) Pop() any {
	old := *q
	p := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return p
}
