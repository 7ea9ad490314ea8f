package tokens

// maxScan is the length up to which a piece is merged by scanning for the best
// pair: up to there it is quicker than a heap, and what is longer would take
// time with its square.
const maxScan = 96

// part is a token of a piece that is being merged.
type part struct {
	start int
	// rank is that of this part and the next one together: of the merge that
	// would join them. None if there is no such token, and for the last part.
	rank uint32
}

// merge appends to ends where each token of a piece ends: starting from single
// bytes, the two neighbours whose join has the lowest rank are joined, the
// leftmost of equals first, until no join is a token.
func (v *vocabulary) merge(piece string, ends []int) []int {
	if len(piece) > maxScan {
		return v.mergeLong(piece, ends)
	}
	return v.mergeShort(piece, ends)
}

// mergeShort merges a piece of up to maxScan bytes.
func (v *vocabulary) mergeShort(piece string, ends []int) []int {
	var buf [maxScan + 1]part
	parts := buf[:len(piece)+1] // the last one is the end
	for i := range parts {
		parts[i] = part{i, v.pairAt(piece, i)}
	}
	for {
		best, lowest := 0, uint32(none)
		for i, p := range parts {
			if p.rank < lowest {
				best, lowest = i, p.rank
			}
		}
		if lowest == none {
			break
		}
		parts = append(parts[:best+1], parts[best+2:]...)
		parts[best].rank = v.joinRank(piece, parts, best)
		if best > 0 {
			parts[best-1].rank = v.joinRank(piece, parts, best-1)
		}
	}
	for _, p := range parts[1:] {
		ends = append(ends, p.start)
	}
	return ends
}

// pairAt returns the rank of the two bytes at piece[i].
func (v *vocabulary) pairAt(piece string, i int) uint32 {
	if i+1 >= len(piece) {
		return none
	}
	return v.pairs[int(piece[i])<<8|int(piece[i+1])]
}

func (v *vocabulary) joinRank(piece string, parts []part, i int) uint32 {
	if i+2 >= len(parts) {
		return none
	}
	return v.rank(piece[parts[i].start:parts[i+2].start])
}

// mergeLong merges a piece of any length in n log n steps: the parts are a
// linked list over the piece's bytes, the possible joins a heap.
func (v *vocabulary) mergeLong(piece string, ends []int) []int {
	n := len(piece)
	next, prev := make([]int, n), make([]int, n)
	rank := make([]uint32, n) // of the join of the part at i with the next one
	var joins joinHeap
	for i := range n {
		next[i], prev[i] = i+1, i-1
		if rank[i] = v.pairAt(piece, i); rank[i] != none {
			joins.push(newJoin(rank[i], i))
		}
	}
	update := func(i int) {
		rank[i] = none
		if mid := next[i]; mid < n {
			rank[i] = v.rank(piece[i:next[mid]])
		}
		if rank[i] != none {
			joins.push(newJoin(rank[i], i))
		}
	}
	for len(joins) > 0 {
		lowest, at := joins.pop().split()
		// The join may be outdated: a part only grows, and another text has
		// another rank, so an equal rank means the same join.
		if rank[at] != lowest {
			continue
		}
		gone := next[at]
		rank[gone] = none
		next[at] = next[gone]
		if next[gone] < n {
			prev[next[gone]] = at
		}
		update(at)
		if prev[at] >= 0 {
			update(prev[at])
		}
	}
	for i := 0; i < n; i = next[i] {
		ends = append(ends, next[i])
	}
	return ends
}

// join is a pair of neighbours that could be merged: the rank in the upper 22
// bits (pack.MaxTokens), where the left one starts in the lower 42, so that
// joins sort by rank and then from the left.
type join uint64

const joinAtBits = 42

func newJoin(rank uint32, at int) join { return join(rank)<<joinAtBits | join(at) }

func (j join) split() (rank uint32, at int) {
	return uint32(j >> joinAtBits), int(j & (1<<joinAtBits - 1))
}

// joinHeap is a binary heap with the lowest join on top. container/heap would
// box every join, which takes most of the time here.
type joinHeap []join

func (h *joinHeap) push(j join) {
	*h = append(*h, j)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if s[up] <= j {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = j
}

func (h *joinHeap) pop() join {
	s := *h
	top, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(s) {
			break
		}
		if down+1 < len(s) && s[down+1] < s[down] {
			down++
		}
		if last <= s[down] {
			break
		}
		s[i] = s[down]
		i = down
	}
	s[i] = last
	return top
}
