package judge

import "github.com/ragjudge/ragjudge/text"

// statement is something that texts are searched for, by its words.
type statement struct {
	words   []int // numbers of its distinct content words
	numbers []int // those of them that are numbers
	negated bool
}

// vocabulary numbers the words of the statements that are looked for.
//
// Only the statements' words are kept, since statements are short: the texts,
// which are long, are read once, and a word that is in no statement costs one
// look-up and no memory.
type vocabulary struct {
	ids   map[string]int
	words []string // scratch
}

func newVocabulary(size int) *vocabulary {
	return &vocabulary{ids: make(map[string]int, size)}
}

// statement takes a statement apart. One without content words ("It is so.")
// is looked for by all its words.
func (v *vocabulary) statement(s string) statement {
	v.words = text.AppendWords(v.words[:0], text.Fold(s))
	st := v.take(v.words, false)
	if len(st.words) == 0 {
		st = v.take(v.words, true)
	}
	return st
}

func (v *vocabulary) take(words []string, all bool) statement {
	var st statement
	for i, w := range words {
		negation := isNegation(words, i)
		st.negated = st.negated || negation
		if !all && (negation || stopWords[w]) {
			continue
		}
		w = contentWord(w)
		id, known := v.ids[w]
		if !known {
			id = len(v.ids)
			v.ids[w] = id
		}
		if known && contains(st.words, id) {
			continue
		}
		st.words = append(st.words, id)
		if text.IsNumber(w) {
			st.numbers = append(st.numbers, id)
		}
	}
	return st
}

func contains(ids []int, id int) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}

// contentWord is the form under which a word is looked up.
func contentWord(w string) string { return stem(numeral(w)) }

// hit is a word of the vocabulary, or a negation, at a place in a text.
type hit struct {
	id, at int
}

// negationID stands for a negation in a hit.
const negationID = -1

// reading is what one text holds of the vocabulary.
type reading struct {
	hits    []hit
	held    []bool // by word number
	numbers bool   // the text holds a number, of the vocabulary or not
	count   []int  // scratch of passage
}

// read goes through a text once. The result replaces what r held.
func (v *vocabulary) read(r *reading, s string) {
	r.hits, r.numbers = r.hits[:0], false
	if cap(r.held) < len(v.ids) {
		r.held = make([]bool, len(v.ids))
	}
	r.held = r.held[:len(v.ids)]
	clear(r.held)
	v.words = text.AppendWords(v.words[:0], text.Fold(s))
	for at, w := range v.words {
		r.numbers = r.numbers || text.IsNumber(w)
		if isNegation(v.words, at) {
			r.hits = append(r.hits, hit{negationID, at})
		}
		if id, ok := v.ids[contentWord(w)]; ok {
			r.held[id] = true
			r.hits = append(r.hits, hit{id, at})
		}
	}
}

// share returns the share of ids that the text holds; 0 for none.
func (r *reading) share(ids []int) float64 {
	if len(ids) == 0 {
		return 0
	}
	n := 0
	for _, id := range ids {
		if r.held[id] {
			n++
		}
	}
	return float64(n) / float64(len(ids))
}

// holdsAll reports whether the text holds every one of ids.
func (r *reading) holdsAll(ids []int) bool {
	for _, id := range ids {
		if !r.held[id] {
			return false
		}
	}
	return true
}

// passage finds the stretch of the text, not much longer than the statement
// itself, that holds most of its words. It returns the share of the words there
// and whether a negation stands in it or right before it.
func (r *reading) passage(st statement) (share float64, negated bool) {
	span := 2*len(st.words) + 8
	r.count = append(r.count[:0], make([]int, len(r.held))...)
	for i := range r.count {
		r.count[i] = outside
	}
	for _, id := range st.words {
		r.count[id] = 0
	}
	distinct, best, bestStart, bestEnd, first := 0, 0, 0, 0, 0
	for _, h := range r.hits {
		if !r.counted(h) {
			continue
		}
		if r.count[h.id]++; r.count[h.id] == 1 {
			distinct++
		}
		for ; !r.counted(r.hits[first]) || r.hits[first].at < h.at-span; first++ {
			if old := r.hits[first]; r.counted(old) {
				if r.count[old.id]--; r.count[old.id] == 0 {
					distinct--
				}
			}
		}
		if distinct > best {
			best, bestStart, bestEnd = distinct, r.hits[first].at, h.at
		}
	}
	for _, h := range r.hits {
		if h.id == negationID && h.at >= bestStart-2 && h.at <= bestEnd {
			negated = true
		}
	}
	return float64(best) / float64(max(1, len(st.words))), negated
}

// outside marks, in count, the words that are not of the statement.
const outside = -1

func (r *reading) counted(h hit) bool { return h.id != negationID && r.count[h.id] != outside }
