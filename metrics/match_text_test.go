package metrics_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/metrics"
	"pgregory.net/rapid"
)

const (
	leave     = "Parental leave is twelve weeks, fully paid."          // 7 words, 6 pairs
	notice    = "Give notice thirty days before it starts."            // 7 words, 6 pairs
	insurance = "Health insurance stays in force during this absence." // 8 words, 7 pairs
	noise     = "The cafeteria opens at eight and closes at three."
)

func textSample(retrieved, reference []string) eval.Sample {
	return eval.Sample{RetrievedContexts: retrieved, ReferenceContexts: reference}
}

// Everything here is worked out by hand.
func TestMatchByText(t *testing.T) {
	log2 := math.Log2
	type values map[string]float64
	for _, c := range []struct {
		name                 string
		retrieved, reference []string
		want                 values
	}{
		{"one chunk for each reference", []string{noise, leave, noise + " Again.", notice}, []string{leave, notice, insurance}, values{
			"precision@5": 2. / 4, "precision@2": 1. / 2, "recall@5": 2. / 3, "recall@2": 1. / 3, "hit_rate@1": 0, "hit_rate@2": 1,
			"f1@5": 2 * (1. / 2) * (2. / 3) / (1./2 + 2./3), "mrr": 1. / 2, "map": (1./2 + 2./4) / 3, "map@2": (1. / 2) / 2,
			"ndcg": (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3) + 1/log2(4)), "r_precision": 1. / 3,
		}},
		{"one chunk holds two references", []string{"Page 4. " + leave + " " + notice, noise}, []string{leave, notice}, values{
			"precision@5": 1. / 2, "precision@1": 1, "recall@1": 1, "f1@1": 1, "hit_rate@1": 1, "mrr": 1, "map": 1, "map@1": 1,
			"ndcg": 1, "ndcg@1": 1, "r_precision": 1,
		}},
		{"the same behind noise", []string{noise, leave + " " + notice}, []string{leave, notice}, values{
			// Its two references stand at the places 2 and 3.
			"map": (1./2 + 2./3) / 2, "ndcg": (1/log2(3) + 1/log2(4)) / (1 + 1/log2(3)), "mrr": 1. / 2, "r_precision": 1. / 2, "recall@2": 1,
		}},
		{"two chunks hold one reference", []string{"A. " + leave, "B. " + leave, notice}, []string{leave, notice}, values{
			// The second chunk holds what was asked for, but finds nothing new.
			"precision@3": 1, "recall@2": 1. / 2, "recall@3": 1, "map": (1 + 2./3) / 2, "ndcg": (1 + 1/log2(4)) / (1 + 1/log2(3)), "r_precision": 1. / 2,
		}},
		{"a text that repeats", []string{leave, leave, notice}, []string{leave, notice}, values{
			"precision@5": 1, "recall@2": 1, "map": 1, "ndcg": 1,
		}},
		{"a reference that repeats in other spelling", []string{leave}, []string{leave, strings.ToUpper(leave), " ...", ""}, values{
			"precision@1": 1, "recall@1": 1, "map": 1,
		}},
		{"half of the pairs", []string{"parental leave is twelve"}, []string{leave}, values{"recall@1": 1, "precision@1": 1}}, // 3 of 6
		{"less than half", []string{"parental leave is"}, []string{leave}, values{"recall@1": 0, "precision@1": 0, "mrr": 0}}, // 2 of 6
		{"the same words in another order", []string{"weeks twelve paid fully is leave parental"}, []string{leave}, values{"recall@1": 0}},
		{"no reference", []string{leave}, []string{}, values{"recall@1": 1, "precision@1": 0, "map": 0, "ndcg": 0, "r_precision": 0}},
		{"nothing retrieved", []string{}, []string{leave}, values{"recall@1": 0, "precision@1": 0, "map": 0, "mrr": 0, "hit_rate@1": 0}},
		{"a script without spaces", []string{"東京は日本の首都で、人口は約1400万人です。"}, []string{"東京は日本の首都です"}, values{"recall@1": 1}},
		{"a word", []string{"It is Paris."}, []string{"Paris"}, values{"recall@1": 1, "mrr": 1}},
	} {
		for name, want := range c.want {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				family, _, _ := strings.Cut(name, "@")
				got := scoreWith(t, name, family, keys{"match": "text"}, textSample(c.retrieved, c.reference))
				if got.Value == nil || math.Abs(*got.Value-want) > 1e-12 {
					t.Errorf("%v %s, want %v", deref(got.Value), got.Reason, want)
				}
				if !slices.Contains(got.Flags, metrics.FlagMatchedByText) {
					t.Errorf("flags %v", got.Flags)
				}
			})
		}
	}
}

// scoreWith scores with the options of the section [metric.<section>].
func scoreWith(t *testing.T, name, section string, k keys, s eval.Sample) eval.Score {
	t.Helper()
	opt, err := metrics.Options{}.With(section, k)
	if err != nil {
		t.Fatal(err)
	}
	m, err := metrics.New(name, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Score(t.Context(), &s)
	if err != nil || got.Check() != nil {
		t.Fatal(err, got.Check())
	}
	return got
}

func TestMatchByTextTellsWhatItDid(t *testing.T) {
	s := textSample([]string{noise, leave, leave}, []string{leave, notice})
	got := scoreWith(t, "recall@5", "recall", keys{"match": "text", "match_threshold": 0.75}, s)
	var d metrics.TextMatchDetail
	mustDecode(t, got.Detail, &d)
	if d.Threshold != 0.75 || d.Returned != 2 || d.Relevant != 2 || !slices.Equal(d.HitRanks, []int{2}) ||
		!slices.Equal(d.References, []metrics.MatchedReference{{Rank: 2, Share: 1}, {Rank: 0, Share: 0}}) {
		t.Errorf("%+v", d)
	}
	if want := []string{"matched_by_text", "duplicate_contexts"}; !slices.Equal(got.Flags, want) {
		t.Errorf("flags %v, want %v", got.Flags, want)
	}
	if got := scoreWith(t, "recall@5", "recall", keys{"match": "text"}, textSample([]string{}, []string{})); !slices.Contains(got.Flags, metrics.FlagVacuous) {
		t.Errorf("flags %v", got.Flags)
	}
	for name, c := range map[string]struct {
		match  string
		s      eval.Sample
		status eval.Status
		reason string
		text   bool
	}{
		"text without contexts":   {"text", eval.Sample{ReferenceContexts: []string{leave}}, eval.Skipped, "missing_field: retrieved_contexts", false},
		"text without references": {"text", eval.Sample{RetrievedContexts: []string{leave}}, eval.Skipped, "missing_field: reference_contexts", false},
		"auto with ids": {"auto", eval.Sample{RetrievedContextIDs: []string{"a"}, ReferenceContextIDs: map[string]float64{"a": 1},
			RetrievedContexts: []string{noise}, ReferenceContexts: []string{leave}}, eval.Scored, "", false},
		"auto with half the ids": {"auto", eval.Sample{RetrievedContextIDs: []string{"a"},
			RetrievedContexts: []string{leave}, ReferenceContexts: []string{leave}}, eval.Scored, "", true},
		"auto with nothing": {"auto", eval.Sample{}, eval.Skipped, "missing_field: retrieved_contexts", false},
		"ids without ids": {"ids", textSample([]string{leave}, []string{leave}), eval.Skipped,
			"missing_field: retrieved_context_ids", false},
	} {
		got := scoreWith(t, "recall@1", "recall", keys{"match": c.match}, c.s)
		if got.Status != c.status || got.Reason != c.reason || slices.Contains(got.Flags, metrics.FlagMatchedByText) != c.text {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Value != nil && *got.Value != 1 {
			t.Errorf("%s: %v", name, *got.Value)
		}
	}
}

func TestMatchOptions(t *testing.T) {
	for _, c := range []struct {
		metric string
		keys   keys
		want   string
	}{
		{"recall", keys{"match": "texts"}, `known are "ids", "text", "auto"`},
		{"recall", keys{"match_treshold": 0.4}, "the nearest name is match_threshold"},
		{"recall", keys{"match": "text", "match_threshold": 1.5}, "above 0 and up to 1"},
		{"recall", keys{"match": "text", "match_threshold": int64(0)}, "above 0 and up to 1"},
		{"map", keys{"match": "auto", "convention": "trec_eval"}, "knows ids only"},
		{"ndcg", keys{"match": "text", "relevance_level": 2.0}, "texts have no grades"},
		{"bpref", keys{"match": "text"}, "there is no such option"},
		{"retrieval", keys{"match": "txt"}, `known are "ids", "text", "auto"`},
		{"retrieval", keys{"gain": "linear"}, "there is no such option"},
	} {
		_, err := metrics.Options{}.With(c.metric, c.keys)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, without %q", c.metric, c.keys, err, c.want)
		}
	}
	// One section for all of them, and those that know no texts stay with ids.
	s := textSample([]string{leave}, []string{leave})
	for _, name := range []string{"precision@1", "recall@1", "hit_rate@1", "f1@1", "mrr", "map", "ndcg", "r_precision"} {
		if got := scoreWith(t, name, "retrieval", keys{"match": "text", "match_threshold": int64(1)}, s); got.Value == nil || *got.Value != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := scoreWith(t, "judged@1", "retrieval", keys{"match": "text"}, s); got.Status != eval.Skipped {
		t.Errorf("judged: %+v", got)
	}
}

// Whatever holds what: no value leaves 0..1, a chunk more never lowers the
// recall, and where each chunk is one reference the values are those of ids.
func TestMatchByTextProperties(t *testing.T) {
	passages := []string{leave, notice, insurance, noise, "Paris", "東京は日本の首都です", leave + " " + notice, notice + " " + insurance + " " + leave, "..."}
	names := []string{"precision@3", "recall@3", "hit_rate@3", "f1@3", "mrr", "mrr@3", "map", "map@3", "ndcg", "ndcg@3", "r_precision"}
	list := rapid.SliceOfN(rapid.SampledFrom(passages), 0, 6)
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{leave, notice, insurance, noise}), 0, 4, rapid.ID[string])
	rapid.Check(t, func(rt *rapid.T) {
		retrieved, reference := list.Draw(rt, "retrieved"), list.Draw(rt, "reference")
		plain, relevant := ids.Draw(rt, "chunks"), ids.Draw(rt, "references")
		grades := map[string]float64{}
		for _, r := range relevant {
			grades[r] = 1
		}
		for _, name := range names {
			family, _, _ := strings.Cut(name, "@")
			byText := func(retrieved, reference []string) float64 {
				return *scoreWith(t, name, family, keys{"match": "text"}, textSample(retrieved, reference)).Value
			}
			v := byText(retrieved, reference)
			if v < 0 || v > 1 {
				rt.Fatalf("%s: %v", name, v)
			}
			if family == "recall" {
				if more := byText(append(slices.Clone(retrieved), passages[len(retrieved)]), reference); more < v {
					rt.Fatalf("%s: %v, with one more chunk %v", name, v, more)
				}
			}
			byID := scoreWith(t, name, family, nil, eval.Sample{RetrievedContextIDs: append([]string{}, plain...), ReferenceContextIDs: grades})
			if got := byText(append([]string{}, plain...), append([]string{}, relevant...)); got != *byID.Value {
				rt.Fatalf("%s of %q for %q: %v by text, %v by id", name, plain, relevant, got, *byID.Value)
			}
		}
	})
}

// TestMatchThresholdOnRealChunks measures what docs/text-metrics.md says of the
// default threshold: passages of a real handbook against other chunks, and
// against chunks cut anew around them.
func TestMatchThresholdOnRealChunks(t *testing.T) {
	chunks := handbook(t)
	rng := rand.New(rand.NewPCG(7, 7))
	share := func(chunk, reference string) float64 {
		var d metrics.TextMatchDetail
		mustDecode(t, scoreWith(t, "recall@1", "recall", keys{"match": "text"}, textSample([]string{chunk}, []string{reference})).Detail, &d)
		return d.References[0].Share
	}
	sentence := regexp.MustCompile(`[^.!?]+[.!?]+`)
	for _, size := range []int{1, 3} {
		var others, anew []float64
		for _, c := range chunks {
			var sentences []string
			for _, s := range sentence.FindAllString(c, -1) {
				if len(strings.Fields(s)) >= 6 {
					sentences = append(sentences, s)
				}
			}
			if len(sentences) < size+2 {
				continue
			}
			at := rng.IntN(len(sentences) - size + 1)
			reference := strings.Join(sentences[at:at+size], " ")
			anew = append(anew, share(cutAnew(rng, reference, sentences[at+size:]), reference))
			for range 10 {
				if other := chunks[rng.IntN(len(chunks))]; !shareSix(reference, other) {
					others = append(others, share(other, reference))
				}
			}
		}
		slices.Sort(others)
		slices.Sort(anew)
		wrong, right := atLeast(others, metrics.DefaultMatchThreshold), atLeast(anew, metrics.DefaultMatchThreshold)
		t.Logf("%d sentences: %d other chunks, median %.2f, %d held; %d cut anew, %d held, 95 %% have %.2f", size,
			len(others), others[len(others)/2], wrong, len(anew), right, anew[len(anew)/20])
		if len(others) < 1000 || len(anew) < 150 {
			t.Fatalf("only %d and %d", len(others), len(anew))
		}
		if float64(wrong) > 0.005*float64(len(others)) || float64(right) < 0.9*float64(len(anew)) {
			t.Errorf("%d sentences: %d of %d other chunks are held for the right one, %d of %d right ones are known", size, wrong, len(others), right, len(anew))
		}
	}
}

// handbook returns the distinct chunks of the recorded runs.
func handbook(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "data", "azure_rag", "baseline.eval_results.jsonl"))
	if err != nil {
		t.Skip("needs ../shared/data/azure_rag:", err)
	}
	seen := map[string]bool{}
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var row struct{ Context string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		for _, c := range strings.Split(row.Context, "\n") {
			if _, text, ok := strings.Cut(c, ": "); ok && !seen[text] {
				seen[text] = true
				out = append(out, text)
			}
		}
	}
	return out
}

// cutAnew leaves out up to 40 % of the passage at its front and one word in
// twenty, and goes on with what follows it.
func cutAnew(rng *rand.Rand, passage string, after []string) string {
	words := strings.Fields(passage)
	words = words[rng.IntN(len(words)*2/5+1):]
	words = append(words, strings.Fields(strings.Join(after[:min(3, len(after))], " "))...)
	return strings.Join(slices.DeleteFunc(words, func(string) bool { return rng.IntN(20) == 0 }), " ")
}

// shareSix reports whether two texts share six words in a row, as neighbouring
// chunks that overlap do.
func shareSix(a, b string) bool {
	words := strings.Fields(a)
	for i := 0; i+6 <= len(words); i++ {
		if strings.Contains(b, strings.Join(words[i:i+6], " ")) {
			return true
		}
	}
	return false
}

func atLeast(sorted []float64, limit float64) int {
	at, _ := slices.BinarySearch(sorted, limit)
	return len(sorted) - at
}
