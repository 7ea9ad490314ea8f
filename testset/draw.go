package testset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
)

// Options say how to draw.
type Options struct {
	// N is how many samples are drawn; above 0.
	N int
	// Seed makes the choice. The same seed chooses the same samples of the same
	// set, in whatever order they come.
	Seed uint64
	// Stratum names the stratum of a sample, such as its category; nil for one
	// stratum.
	Stratum func(*eval.Sample) string
	// Least is the least number of samples from each stratum, as far as there
	// are so many.
	Least int
	// Equal gives every stratum the same number, instead of its share.
	Equal bool
	// Near is the similarity from which on questions are near-duplicates; 0
	// means the constant Near, above 1 none are.
	Near float64
}

// Stratum says what was drawn from one stratum.
type Stratum struct {
	// Name is the stratum's; "" for samples without a category.
	Name string `json:"name"`
	// Rows is how many samples it holds, Questions how many different ones, and
	// Drawn how many were drawn.
	Rows      int `json:"rows"`
	Questions int `json:"questions"`
	Drawn     int `json:"drawn"`
	// Duplicates counts the rows of it whose question is an earlier row's, word
	// for word: Rows - Questions.
	Duplicates int `json:"duplicates"`
	// Near counts the questions that would have been drawn but are near to one
	// that was.
	Near int `json:"near_duplicates"`
}

// Drawn is a sample of samples.
type Drawn struct {
	// Samples are those that were drawn, by id.
	Samples []*eval.Sample
	// Rows is how many samples were looked at.
	Rows int
	// NoQuestion counts those left out because they have no question.
	NoQuestion int
	// Strata are the strata by name.
	Strata []Stratum
	// NearPairs are examples of near-duplicates, the one kept first.
	NearPairs [][2]string
}

// Source gives samples one after another, io.EOF at the end, and can start
// over. *dataset.Reader is one.
type Source interface {
	Next() (*eval.Sample, error)
	Rewind() error
}

// MaxStrata is how many strata a draw may have.
const MaxStrata = 10_000

// candidate is a question that may be drawn.
type candidate struct {
	rank  uint64 // its lot
	key   uint64 // of its words
	tie   [16]byte
	id    string
	row   int
	set   shingles
	group string
}

func (c *candidate) compare(o *candidate) int {
	return cmp.Or(cmp.Compare(c.rank, o.rank), cmp.Compare(c.key, o.key), slices.Compare(c.tie[:], o.tie[:]), cmp.Compare(c.id, o.id))
}

// pool keeps the candidates of one stratum with the lowest lots.
type pool struct {
	most  int
	byKey map[uint64]*candidate
	bound uint64 // no lot above it has a place
	cut   bool   // something found no place
}

// Draw draws a sample. N is spread by the number of different questions in
// each stratum, see Allocate; equal remainders go by lot. It reads the source several times: once to count the
// strata, once or more for the candidates, once for the samples.
//
// The lot of a question is a hash of the seed and its words, the lowest are
// drawn. Rows with the same question therefore share a lot and count once; of
// them the row is taken whose content has the lowest hash. Going up from the
// lowest lot, a question that is near to one already drawn is left out.
func Draw(src Source, opt Options) (*Drawn, error) {
	if opt.N < 1 {
		return nil, fmt.Errorf("draw %d samples: the number must be above 0", opt.N)
	}
	if opt.Near == 0 {
		opt.Near = Near
	}
	if opt.Stratum == nil {
		opt.Stratum = func(*eval.Sample) string { return "" }
	}
	d := &drawing{opt: opt, src: src, strata: map[string]*Stratum{}, pools: map[string]*pool{}, short: map[string]int{}}
	if err := d.count(); err != nil {
		return nil, err
	}
	if err := d.choose(); err != nil {
		return nil, err
	}
	return d.fetch()
}

type drawing struct {
	opt    Options
	src    Source
	out    Drawn
	strata map[string]*Stratum
	pools  map[string]*pool
	short  map[string]int // what a stratum can give at most, once that is known
	taken  []*candidate
}

// pass reads the source once.
func (d *drawing) pass(visit func(*eval.Sample) error) error {
	if err := d.src.Rewind(); err != nil {
		return err
	}
	for {
		s, err := d.src.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(s); err != nil {
			return err
		}
	}
}

func (d *drawing) count() error {
	seen := map[uint64]struct{}{}
	return d.pass(func(s *eval.Sample) error {
		d.out.Rows++
		set, key := shinglesOf(s.UserInput)
		if set == nil {
			d.out.NoQuestion++
			return nil
		}
		name := d.opt.Stratum(s)
		st := d.strata[name]
		if st == nil {
			if len(d.strata) == MaxStrata {
				return fmt.Errorf("draw by a column with more than %d different values: choose one that groups the samples", MaxStrata)
			}
			st = &Stratum{Name: name}
			d.strata[name] = st
		}
		st.Rows++
		key = mix(key ^ hashString(offset64, name))
		if _, twice := seen[key]; twice {
			st.Duplicates++
		} else {
			seen[key] = struct{}{}
			st.Questions++
		}
		return nil
	})
}

// choose settles who is drawn. A stratum that runs out of distinct questions
// leaves its share to the others; one whose pool was too small is read again
// with a larger one.
func (d *drawing) choose() error {
	holds := map[string]int{}
	for name, st := range d.strata {
		holds[name] = st.Questions
	}
	grow := 1
	for {
		for name, most := range d.short {
			holds[name] = most
		}
		quota := allocate(holds, d.opt.N, d.opt.Least, d.opt.Equal, func(name string) uint64 {
			return mix(mix(d.opt.Seed^0x9e3779b97f4a7c15) ^ hashString(offset64, name))
		})
		if err := d.fill(quota, grow); err != nil {
			return err
		}
		missing := d.settle(quota)
		if len(missing) == 0 {
			return nil
		}
		for name := range missing {
			if d.pools[name].cut {
				grow *= 4
				break
			}
		}
		for name, got := range missing {
			if !d.pools[name].cut {
				d.short[name] = got
			}
		}
	}
}

// fill collects the candidates with the lowest lots.
func (d *drawing) fill(quota map[string]int, grow int) error {
	for name := range d.strata {
		d.pools[name] = &pool{most: (2*quota[name] + 64) * grow, byKey: map[uint64]*candidate{}, bound: math.MaxUint64}
	}
	return d.pass(func(s *eval.Sample) error {
		set, key := shinglesOf(s.UserInput)
		if set == nil {
			return nil
		}
		name := d.opt.Stratum(s)
		p := d.pools[name]
		if p == nil {
			return fmt.Errorf("draw from a dataset that changed between two readings")
		}
		p.add(s, set, key, d.opt.Seed, name)
		return nil
	})
}

func (p *pool) add(s *eval.Sample, set shingles, key, seed uint64, stratum string) {
	rank := mix(mix(seed^0x9e3779b97f4a7c15) ^ key)
	if rank > p.bound {
		p.cut = true
		return
	}
	c := &candidate{rank: rank, key: key, tie: contentHash(s), id: s.ID, row: s.Row, set: set, group: stratum}
	if had := p.byKey[key]; had != nil {
		if c.compare(had) < 0 {
			p.byKey[key] = c
		}
		return
	}
	p.byKey[key] = c
	if len(p.byKey) >= 2*p.most {
		p.prune()
	}
}

// prune keeps the lowest lots.
func (p *pool) prune() {
	all := slices.SortedFunc(maps.Values(p.byKey), (*candidate).compare)
	for _, c := range all[p.most:] {
		delete(p.byKey, c.key)
	}
	p.bound, p.cut = all[p.most-1].rank, true
}

// settle draws from the pools and returns what strata could not fill their
// quota, with what they gave.
func (d *drawing) settle(quota map[string]int) map[string]int {
	var all []*candidate
	for _, p := range d.pools {
		if p.cut && len(p.byKey) > p.most {
			p.prune() // what is above depends on the order of the rows
		}
		for _, c := range p.byKey {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int { return cmp.Or(a.compare(b), cmp.Compare(a.group, b.group)) })
	d.taken, d.out.NearPairs = nil, nil
	got := map[string]int{}
	for _, st := range d.strata {
		st.Near = 0
	}
	near := newIndex(d.opt.Near)
	for _, c := range all {
		full := got[c.group] == quota[c.group]
		if _, out := d.short[c.group]; full && !out {
			continue
		}
		keys := c.set.bands()
		if at := near.find(c.set, keys); at >= 0 { // in a stratum that ran out, all that is left
			d.strata[c.group].Near++
			const examples = 20
			if len(d.out.NearPairs) < examples {
				d.out.NearPairs = append(d.out.NearPairs, [2]string{d.taken[at].id, c.id})
			}
			continue
		}
		if full {
			continue
		}
		near.add(c.set, keys)
		got[c.group]++
		d.taken = append(d.taken, c)
	}
	missing := map[string]int{}
	for name, want := range quota {
		if got[name] < want {
			missing[name] = got[name]
		}
	}
	for name, st := range d.strata {
		st.Drawn = got[name]
	}
	return missing
}

// fetch reads the samples that were drawn.
func (d *drawing) fetch() (*Drawn, error) {
	rows := make(map[int]bool, len(d.taken))
	for _, c := range d.taken {
		rows[c.row] = true
	}
	if err := d.pass(func(s *eval.Sample) error {
		if rows[s.Row] {
			d.out.Samples = append(d.out.Samples, s)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(d.out.Samples, func(a, b *eval.Sample) int { return cmp.Compare(a.ID, b.ID) })
	for _, name := range slices.Sorted(maps.Keys(d.strata)) {
		d.out.Strata = append(d.out.Strata, *d.strata[name])
	}
	return &d.out, nil
}

// contentHash tells rows with the same question apart, whatever their order.
func contentHash(s *eval.Sample) (h [16]byte) {
	sum := sha256.New()
	var n [8]byte
	put := func(t string) {
		binary.LittleEndian.PutUint64(n[:], uint64(len(t)))
		_, _ = sum.Write(n[:]) // a hash takes everything
		_, _ = io.WriteString(sum, t)
	}
	put(s.UserInput)
	put(s.Response)
	put(s.Reference)
	for _, c := range s.RetrievedContexts {
		put(c)
	}
	copy(h[:], sum.Sum(nil))
	return h
}
