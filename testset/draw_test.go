package testset_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/testset"
)

// list is a source.
type list struct {
	samples []*eval.Sample
	at      int
	passes  int
}

func (l *list) Rewind() error { l.at = 0; l.passes++; return nil }

func (l *list) Next() (*eval.Sample, error) {
	if l.at == len(l.samples) {
		return nil, io.EOF
	}
	l.at++
	s := *l.samples[l.at-1]
	s.Row = l.at
	return &s, nil
}

var nouns = strings.Fields("kettle toaster lamp printer router freezer blender camera heater scale drill mower tablet speaker monitor")

// question makes a question that is near no other: its words are its own.
func question(i int) string {
	return fmt.Sprintf("Does the %s number%d support feature%d with part%d?", nouns[i%len(nouns)], i, i*7+1, i*13+5)
}

func logOf(rows map[string]int) *list {
	l := &list{}
	for _, category := range []string{"a", "b", "c"} {
		for range rows[category] {
			i := len(l.samples)
			l.samples = append(l.samples, &eval.Sample{ID: fmt.Sprint("id", i), UserInput: question(i), Response: "yes", Category: category})
		}
	}
	return l
}

func category(s *eval.Sample) string { return s.Category }

func idsOf(d *testset.Drawn) []string {
	var ids []string
	for _, s := range d.Samples {
		ids = append(ids, s.ID)
	}
	return ids
}

func drawn(d *testset.Drawn) map[string]int {
	m := map[string]int{}
	for _, s := range d.Samples {
		m[s.Category]++
	}
	return m
}

func TestDrawKeepsProportions(t *testing.T) {
	for _, c := range []struct {
		rows  map[string]int
		opt   testset.Options
		want  map[string]int
		count int
	}{
		{map[string]int{"a": 600, "b": 300, "c": 100}, testset.Options{N: 100}, map[string]int{"a": 60, "b": 30, "c": 10}, 100},
		{map[string]int{"a": 600, "b": 300, "c": 100}, testset.Options{N: 99, Equal: true}, map[string]int{"a": 33, "b": 33, "c": 33}, 99},
		{map[string]int{"a": 960, "b": 30, "c": 10}, testset.Options{N: 50, Least: 5}, map[string]int{"a": 40, "b": 5, "c": 5}, 50},
		{map[string]int{"a": 100, "b": 100, "c": 3}, testset.Options{N: 60, Equal: true}, map[string]int{"a": 29, "b": 28, "c": 3}, 60},
		{map[string]int{"a": 20, "b": 5}, testset.Options{N: 100}, map[string]int{"a": 20, "b": 5}, 25},
	} {
		c.opt.Stratum = category
		d, err := testset.Draw(logOf(c.rows), c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, drawn(d)); diff != "" || len(d.Samples) != c.count {
			t.Errorf("%v of %v: %d drawn, %s", c.opt.N, c.rows, len(d.Samples), diff)
		}
	}
}

// TestDrawDoesNotDependOnOrder shuffles a log in which questions repeat.
func TestDrawDoesNotDependOnOrder(t *testing.T) {
	l := logOf(map[string]int{"a": 800, "b": 150, "c": 50})
	for i := range 300 {
		again := *l.samples[i*3]
		again.ID, again.Response = again.ID+"-again", fmt.Sprint("no ", i)
		again.UserInput = strings.ToUpper(again.UserInput)
		l.samples = append(l.samples, &again)
	}
	opt := testset.Options{N: 120, Seed: 7, Stratum: category, Least: 10}
	first, err := testset.Draw(l, opt)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		rng.Shuffle(len(l.samples), func(i, j int) { l.samples[i], l.samples[j] = l.samples[j], l.samples[i] })
		d, err := testset.Draw(l, opt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(idsOf(first), idsOf(d)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(first.Strata, d.Strata); diff != "" {
			t.Fatal(diff)
		}
	}
	opt.Seed = 8
	other, err := testset.Draw(l, opt)
	if err != nil {
		t.Fatal(err)
	}
	if same := cmp.Diff(idsOf(first), idsOf(other)); same == "" {
		t.Error("another seed draws the same")
	}
	seen := map[string]bool{}
	for _, s := range first.Samples {
		if q := strings.ToLower(s.UserInput); seen[q] {
			t.Errorf("%q was drawn twice", q)
		} else {
			seen[q] = true
		}
	}
	duplicates := 0
	for _, st := range first.Strata {
		duplicates += st.Duplicates
	}
	if duplicates != 300 {
		t.Errorf("%d duplicates are reported, there are 300", duplicates)
	}
}

// variants of one question that are the same to a reader.
func variants(q string) []string {
	return []string{
		"Please, " + strings.ToLower(q), q + " Thanks!", strings.ReplaceAll(q, " ", "  "), strings.ToUpper(strings.TrimSuffix(q, "?")), "Hi: " + q,
	}
}

func TestDrawLeavesOutNearDuplicates(t *testing.T) {
	l := &list{}
	add := func(id, q string) {
		l.samples = append(l.samples, &eval.Sample{ID: id, UserInput: q, Response: "x"})
	}
	const n = 200
	pairs := 0
	for i := range n {
		q := fmt.Sprintf("For how many months does the warranty of the %s number%d last if it is bought in shop%d?", nouns[i%len(nouns)], i, i*3)
		add(fmt.Sprint("q", i), q)
		for v, near := range variants(q) {
			add(fmt.Sprintf("q%d-%d", i, v), near)
			pairs++
		}
	}
	d, err := testset.Draw(l, testset.Options{N: len(l.samples)})
	if err != nil {
		t.Fatal(err)
	}
	st := d.Strata[0]
	// All that there are were asked for: that no more than n came means that
	// every one of the pairs was seen.
	if len(d.Samples) != n || st.Near == 0 || st.Duplicates != 2*n || pairs != 5*n {
		t.Errorf("%d drawn of %d questions; %d near, %d exact duplicates", len(d.Samples), n, st.Near, st.Duplicates)
	}
	byQuestion := map[string]bool{}
	for _, s := range d.Samples {
		q, _, _ := strings.Cut(s.ID, "-")
		if byQuestion[q] {
			t.Errorf("%s was drawn in two spellings", q)
		}
		byQuestion[q] = true
	}
	if len(d.NearPairs) == 0 {
		t.Error("no example is given")
	}
	// The same question about another thing is another question.
	l = &list{}
	add("1", "How long is the warranty of the kettle?")
	add("2", "How long is the warranty of the toaster?")
	if d, err = testset.Draw(l, testset.Options{N: 2}); err != nil || len(d.Samples) != 2 {
		t.Errorf("%d of 2 different questions are drawn, %v", len(d.Samples), err)
	}
}

// TestDrawFillsUp: where most candidates fall out, more are looked at.
func TestDrawFillsUp(t *testing.T) {
	l := &list{}
	for i := range 5000 { // one question in 5,000 spellings with a word of their own
		l.samples = append(l.samples, &eval.Sample{ID: fmt.Sprint("x", i), Category: "a",
			UserInput: fmt.Sprintf("What should one know about the delivery of large parcels to islands in the north sea in winter %d", i)})
	}
	for i := range 40 {
		l.samples = append(l.samples, &eval.Sample{ID: fmt.Sprint("y", i), UserInput: question(i), Category: "a"})
		l.samples = append(l.samples, &eval.Sample{ID: fmt.Sprint("z", i), UserInput: question(i + 1000), Category: "b"})
	}
	d, err := testset.Draw(l, testset.Options{N: 60, Stratum: category, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Samples) != 60 {
		t.Errorf("%d of 60 drawn: %+v", len(d.Samples), d.Strata)
	}
	if d, err = testset.Draw(l, testset.Options{N: 1000, Stratum: category, Seed: 3}); err != nil || len(d.Samples) != 81 {
		t.Errorf("%d of the 81 different questions drawn, %v", len(d.Samples), err)
	}
}

func TestDrawWithoutQuestions(t *testing.T) {
	l := &list{samples: []*eval.Sample{{ID: "1", UserInput: "?!"}, {ID: "2"}, {ID: "3", UserInput: "why"}}}
	d, err := testset.Draw(l, testset.Options{N: 5})
	if err != nil || len(d.Samples) != 1 || d.NoQuestion != 2 || d.Rows != 3 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := testset.Draw(l, testset.Options{}); err == nil {
		t.Error("0 samples can be drawn")
	}
}

func TestAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		holds, total := map[string]int{}, 0
		for i := range 1 + rng.IntN(6) {
			holds[string(rune('a'+i))] = 1 + rng.IntN(100)
			total += holds[string(rune('a'+i))]
		}
		n, least, equal := 1+rng.IntN(150), rng.IntN(8), rng.IntN(2) == 0
		quota := testset.Allocate(holds, n, least, equal)
		sum := 0
		for name, q := range quota {
			sum += q
			if q > holds[name] || q < 0 {
				t.Fatalf("%s gets %d of %d", name, q, holds[name])
			}
			if n >= least*len(holds) && q < min(least, holds[name]) {
				t.Fatalf("%s gets %d, less than %d (%v, n %d)", name, q, least, holds, n)
			}
		}
		if sum != min(n, total) {
			t.Fatalf("%d given of %d: %v of %v", sum, n, quota, holds)
		}
	}
}

// Of more strata than there are places, a lot says which are drawn, not the
// alphabet.
func TestDrawStrataByLot(t *testing.T) {
	l := &list{}
	for i := range 300 {
		l.samples = append(l.samples, &eval.Sample{ID: fmt.Sprint("id", i), UserInput: question(i), Category: fmt.Sprintf("c%03d", i)})
	}
	var first []string
	for seed := range uint64(2) {
		d, err := testset.Draw(l, testset.Options{N: 50, Seed: seed, Stratum: category, Least: 5})
		if err != nil {
			t.Fatal(err)
		}
		late := 0
		for _, s := range d.Samples {
			if s.Category >= "c150" {
				late++
			}
		}
		if len(d.Samples) != 50 || late < 12 || late > 38 {
			t.Errorf("seed %d: %d samples, %d of the second half of the alphabet", seed, len(d.Samples), late)
		}
		if seed == 0 {
			first = idsOf(d)
		} else if cmp.Equal(first, idsOf(d)) {
			t.Error("another seed draws the same strata")
		}
	}
}

// Every question that is not drawn where all could be is accounted for.
func TestDrawCountsAllThatIsNear(t *testing.T) {
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprint("word", i)
	}
	l := &list{}
	for i := range 40 {
		l.samples = append(l.samples, &eval.Sample{ID: fmt.Sprint("id", i), UserInput: strings.Join(words[i:i+12], " "), Category: "a"})
	}
	l.samples = append(l.samples, logOf(map[string]int{"b": 30}).samples...)
	d, err := testset.Draw(l, testset.Options{N: 70, Stratum: category, Near: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range d.Strata {
		if st.Drawn+st.Near != st.Questions || st.Name == "a" && st.Near == 0 {
			t.Errorf("%+v", st)
		}
	}
}
