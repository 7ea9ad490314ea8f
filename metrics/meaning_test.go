package metrics_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/metrics"
)

// noVectors is an Embedder that fails.
type noVectors struct{ err error }

func (n noVectors) Embed(context.Context, string, []string) ([][]float32, error) { return nil, n.err }

func TestContextRelevance(t *testing.T) {
	s, l := claimCase{chunks: 4}.lay()
	l.labels = map[string]string{
		"context_relevance/verdict Chunk 1.": judge.Relevant, "context_relevance/verdict Chunk 2.": judge.Unclear, "context_relevance/verdict Chunk 4.": judge.Relevant,
	}
	s.Response, s.Reference = "", "" // neither plays a part
	got := scored(t, made(t, "context_relevance", metrics.Options{Judge: l}), s)
	wantScore(t, got, 0.5)
	d := decoded[metrics.ChunksDetail](t, got.Detail)
	if d.Against != "question" || len(d.Chunks) != 4 || d.Chunks[1].Verdict != judge.Unclear || d.Chunks[3].Rank != 4 {
		t.Errorf("detail %s", got.Detail)
	}
	s.RetrievedContexts = []string{" "}
	if got := scored(t, made(t, "context_relevance", metrics.Options{Judge: l}), s); *got.Value != 0 || got.Reason != "no_contexts" {
		t.Errorf("nothing retrieved: %+v", got)
	}
	// Two judges of three find chunk 1 relevant, and one chunk 2.
	s, l = claimCase{chunks: 2}.lay()
	l.labels = map[string]string{"context_relevance/verdict Chunk 1.": judge.Relevant}
	_, other := claimCase{}.lay()
	other.labels = map[string]string{"context_relevance/verdict Chunk 1.": judge.Relevant, "context_relevance/verdict Chunk 2.": judge.Relevant}
	_, none := claimCase{}.lay()
	p := metrics.Panel{Vote: metrics.VoteMajority, Seats: []metrics.Seat{{Name: "a", Judge: l}, {Name: "b", Judge: other}, {Name: "c", Judge: none}}}
	wantScore(t, scored(t, made(t, "context_relevance", metrics.Options{Panel: p}), s), 0.5)
}

// TestTwoRatings: with compat = "ragas" each judge rates twice, and the sum is
// what a panel votes on.
func TestTwoRatings(t *testing.T) {
	seat := func(a, b int) *laid {
		return &laid{ratings: map[string]int{"context_relevance/rating": a, "context_relevance/rating_again": b}}
	}
	s, _ := claimCase{chunks: 1}.lay()
	p := metrics.Panel{Vote: metrics.VoteMean, MaxDisagreement: 1, Seats: []metrics.Seat{{Name: "a", Judge: seat(2, 2)}, {Name: "b", Judge: seat(1, 0)}}}
	wantScore(t, scored(t, made(t, "context_relevance", metrics.Options{Panel: p, Compat: metrics.CompatRagas}), s), 0.625)
	l := seat(2, 1)
	wantScore(t, scored(t, made(t, "context_relevance", metrics.Options{Judge: l, Compat: metrics.CompatRagas}), s), 0.75)
	if len(l.asks) != 2 {
		t.Errorf("asked %v", l.asks)
	}
}

func TestContextEntityRecall(t *testing.T) {
	for _, c := range []struct {
		name              string
		reference, chunks []string
		want              float64
	}{
		{"two of three", []string{"Paris", "France", "1889"}, []string{"Paris", "1889", "Seine"}, 2.0 / 3},
		{"case and marks make no difference", []string{"Bank of England", "U.K."}, []string{"bank of england", "u.k"}, 1},
		{"a repeated entity counts once", []string{"Paris", "PARIS", "France"}, []string{"Paris"}, 0.5},
		{"none retrieved", []string{"Paris"}, []string{}, 0},
		{"signs are their own", []string{"€", "$"}, []string{"$"}, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, l := claimCase{chunks: 2}.lay()
			l.lists[s.Reference], l.lists["Chunk 1.\n\nChunk 2."] = c.reference, c.chunks
			got := scored(t, made(t, "context_entity_recall", metrics.Options{Judge: l}), s)
			wantScore(t, got, c.want)
			if d := decoded[metrics.EntitiesDetail](t, got.Detail); len(d.Entities) == 0 || d.Entities[0].Item != c.reference[0] {
				t.Errorf("detail %s", got.Detail)
			}
		})
	}
	s, l := claimCase{chunks: 1}.lay()
	l.lists["Chunk 1."] = []string{"Paris"}
	if got := scored(t, made(t, "context_entity_recall", metrics.Options{Judge: l}), s); got.Status != eval.Undefined || !strings.HasPrefix(got.Reason, "no_entities") {
		t.Errorf("a reference without entities: %+v", got)
	}
	// Every judge reads the chunks for itself: two of three find Paris.
	lists := func(chunk ...string) *laid {
		return &laid{lists: map[string][]string{s.Reference: {"Paris", "Rome"}, "Chunk 1.": chunk}}
	}
	p := metrics.Panel{Vote: metrics.VoteMajority, Seats: []metrics.Seat{{Name: "a", Judge: lists("Paris")}, {Name: "b", Judge: lists("paris", "Rome")}, {Name: "c", Judge: lists()}}}
	wantScore(t, scored(t, made(t, "context_entity_recall", metrics.Options{Panel: p}), s), 0.5)
}

func TestRelevantStatements(t *testing.T) {
	opt := metrics.Options{Mode: metrics.ModeStatements}
	s, l := claimCase{}.lay()
	l.words(s.Response, "answer_relevance/statements", []string{judge.Relevant, judge.Irrelevant, judge.Unclear, judge.Relevant})
	opt.Judge = l
	wantScore(t, scored(t, made(t, "answer_relevance", opt), s), 0.5)
	l.lists[s.Response] = []string{}
	if got := scored(t, made(t, "answer_relevance", opt), s); *got.Value != 0 || got.Reason != "no_claims" {
		t.Errorf("a response that states nothing: %+v", got)
	}
	asks := len(l.asks)
	for _, r := range []string{"...", s.UserInput} {
		s.Response = r
		if got := scored(t, made(t, "answer_relevance", opt), s); *got.Value != 0 || got.Reason == "" || len(l.asks) != asks {
			t.Errorf("%q: %+v", r, got)
		}
	}
}

func TestRelevantQuestions(t *testing.T) {
	s, l := claimCase{}.lay()
	l.lists[s.Response] = []string{"same?", "near?", "opposite?"}
	vec := vectors{s.UserInput: {2, 0}, "same?": {1, 0}, "near?": {3, 4}, "opposite?": {-1, 0}}
	opt := metrics.Options{Judge: l, Mode: metrics.ModeQuestions, Embedder: vec}
	got := scored(t, made(t, "answer_relevance", opt), s)
	wantScore(t, got, (1+0.6+0)/3)
	if d := decoded[metrics.QuestionsDetail](t, got.Detail); len(d.Questions) != 3 || d.Questions[2].Cosine != -1 || d.Questions[1].Question != "near?" {
		t.Errorf("detail %s", got.Detail)
	}
	vec["near?"] = []float32{0, 0}
	if got := scored(t, made(t, "answer_relevance", opt), s); got.Status != eval.Undefined || !strings.HasPrefix(got.Reason, "zero_vector") {
		t.Errorf("a zero vector: %+v", got)
	}
	l.lists[s.Response] = []string{}
	opt.Embedder = noVectors{errors.New("not to be asked")}
	if got := scored(t, made(t, "answer_relevance", opt), s); *got.Value != 0 || got.Reason != "noncommittal" {
		t.Errorf("no answer: %+v", got)
	}
}

func TestSemanticSimilarity(t *testing.T) {
	s, _ := claimCase{}.lay()
	for _, c := range []struct {
		response  []float32
		threshold float64
		want      float64
	}{
		{[]float32{3, 4}, 0, 0.6}, {[]float32{-1, 0}, 0, 0}, {[]float32{3, 4}, 0.6, 1}, {[]float32{3, 4}, 0.61, 0}, {[]float32{5, 0}, 0, 1},
	} {
		opt := metrics.Options{Judge: &laid{}, Threshold: c.threshold, Embedder: vectors{s.Reference: {2, 0}, s.Response: c.response}}
		got := scored(t, made(t, "semantic_similarity", opt), s)
		if got.Value == nil || math.Abs(*got.Value-c.want) > 1e-6 {
			t.Errorf("%v from %v: %v, want %v", c.response, c.threshold, shown(got.Value), c.want)
		}
	}
	for _, c := range []struct {
		embedder metrics.Embedder
		status   eval.Status
		reason   string
	}{
		{vectors{s.Reference: {0}, s.Response: {1}}, eval.Undefined, "zero_vector"},
		{noVectors{&llm.Error{Kind: llm.Row, Code: "context_length_exceeded"}}, eval.Failed, "row"},
		{noVectors{&judge.UnusableError{Code: judge.CodeUndecodable, Message: "no vectors"}}, eval.Unscored, "undecodable_reply"},
	} {
		got := scored(t, made(t, "semantic_similarity", metrics.Options{Judge: &laid{}, Embedder: c.embedder}), s)
		if got.Status != c.status || !strings.HasPrefix(got.Reason, c.reason) {
			t.Errorf("%s %q, want %s %q", got.Status, got.Reason, c.status, c.reason)
		}
	}
	if _, err := metrics.New("semantic_similarity", metrics.Options{Judge: &laid{}}); err == nil || !strings.Contains(err.Error(), "embeddings") {
		t.Errorf("without an embedder: %v", err)
	}
	fatal := &llm.Error{Kind: llm.Fatal, Code: "invalid_api_key"}
	if _, err := made(t, "semantic_similarity", metrics.Options{Judge: &laid{}, Embedder: noVectors{fatal}}).Score(t.Context(), s); !errors.Is(err, fatal) {
		t.Errorf("a wrong key ends no run: %v", err)
	}
}

// TestAnswerCorrectness: claims and likeness, weighted; the claims are asked as
// factual_correctness does, and the vectors as semantic_similarity does.
func TestAnswerCorrectness(t *testing.T) {
	s, l := claimCase{response: "+ -", reference: "+ + - -"}.lay()
	vec := vectors{s.Reference: {1, 0}, s.Response: {3, 4}}
	opt := metrics.Options{Judge: l, Embedder: vec}
	for weight, want := range map[metrics.Weight]float64{{}: 0.75*0.5 + 0.25*0.6, {Value: 0.5, Set: true}: 0.55, {Value: 0, Set: true}: 0.6} {
		opt.Weight = weight
		got := scored(t, made(t, "answer_correctness", opt), s)
		if got.Value == nil || math.Abs(*got.Value-want) > 1e-6 {
			t.Errorf("weight %+v: %v, want %v", weight, shown(got.Value), want)
		}
	}
	if len(l.asks) != 4 {
		t.Errorf("asked %v", l.asks)
	}
	opt = metrics.Options{Judge: l, Weight: metrics.Weight{Value: 1, Set: true}} // needs no embeddings
	wantScore(t, scored(t, made(t, "answer_correctness", opt), s), 0.5)
	wantScore(t, scored(t, made(t, "factual_correctness", opt), s), 0.5)
	if len(l.asks) != 4 {
		t.Errorf("asked %v", l.asks)
	}
	s, p := tablePanel(t, metrics.VoteMean, 0, [2]string{"+ -", "+ -"}, [2]string{"+ +", "+ +"})
	p.Embedder = vectors{s.Reference: {1, 0}, s.Response: {3, 4}}
	got := scored(t, made(t, "answer_correctness", metrics.Options{Panel: p}), s)
	if got.Value == nil || math.Abs(*got.Value-(0.75*0.75+0.25*0.6)) > 1e-6 || len(got.Panel.Seats) != 2 {
		t.Errorf("a panel: %+v", got)
	}
}

// TestCompatShows: a metric that takes a peer's formula says so wherever its
// figures are, and its own needs no note.
func TestCompatShows(t *testing.T) {
	for _, f := range metrics.All {
		opt := metrics.Options{Judge: &laid{}, Embedder: vectors{}}
		own := f.Name
		if f.CutOff == metrics.NeedsCutOff {
			own += "@5"
		}
		if note := made(t, own, opt).Info().Note; strings.Contains(note, "compat") {
			t.Errorf("%s: %q", f.Name, note)
		}
		for _, c := range f.Compats {
			opt.Compat = c
			info := made(t, own, opt).Info()
			if !strings.Contains(info.Note, "compat = \""+string(c)+"\"") || info.Name != f.Name || info.Formula == "" || len(info.Asks) == 0 {
				t.Errorf("%s by %s: %+v", f.Name, c, info)
			}
		}
	}
}

// TestAskedByName: two metrics that name the same question share its call, and
// only they: so what "shares calls with" says can be relied on.
func TestAskedByName(t *testing.T) {
	s := &eval.Sample{
		UserInput: "When did the tower open?", Response: "The tower in Paris opened in 1889.", Reference: "It opened in Paris in 1889.",
		RetrievedContexts: []string{"The tower in Paris opened in 1889.", "The garden is large."},
	}
	asks := map[string]map[string]bool{} // by name of the question: the requests
	names := []string{}
	for _, f := range metrics.All {
		if f.Judged {
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		counting := &counted{Lexical: judge.Lexical{}, seen: map[llm.Key]bool{}}
		j := judge.New(judge.Config{Client: counting, Endpoint: "lexical", Model: judge.LexicalModel})
		e := &judge.Embedder{Client: counting, Endpoint: "lexical", Model: judge.LexicalModel}
		m := made(t, name, metrics.Options{Judge: j, Embedder: e})
		if _, err := m.Score(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		info := m.Info()
		if len(counting.seen) != len(info.Asks) {
			t.Errorf("%s makes %d calls and names %d questions: %q", name, len(counting.seen), len(info.Asks), info.Asks)
		}
		for key := range counting.seen {
			k := key.String()
			if asks[k] == nil {
				asks[k] = map[string]bool{}
			}
			asks[k][name] = true
		}
	}
	share := func(a, b string) bool {
		for _, who := range asks {
			if who[a] && who[b] {
				return true
			}
		}
		return false
	}
	for _, a := range names {
		for _, b := range names {
			if named := len(metrics.SharedAsks(infoOf(t, a), infoOf(t, b))) > 0; a != b && named != share(a, b) {
				t.Errorf("%s and %s: shared by name %t, by request %t", a, b, named, share(a, b))
			}
		}
	}
}

func infoOf(t *testing.T, name string) eval.Info {
	return made(t, name, metrics.Options{Judge: &laid{}, Embedder: vectors{}}).Info()
}

// counted notes the requests that the offline judge gets.
type counted struct {
	judge.Lexical
	mu   sync.Mutex
	seen map[llm.Key]bool
}

func (c *counted) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	c.mu.Lock()
	c.seen[req.Key()] = true
	c.mu.Unlock()
	return c.Lexical.Complete(ctx, req)
}
