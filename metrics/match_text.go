package metrics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/ranking"
	"github.com/ragjudge/ragjudge/text"
)

// Match says by what a retrieval metric knows a relevant chunk.
type Match string

// The ways to match.
const (
	// MatchIDs compares retrieved_context_ids with reference_context_ids; the
	// default.
	MatchIDs Match = "ids"
	// MatchText compares retrieved_contexts with reference_contexts.
	MatchText Match = "text"
	// MatchAuto compares ids where a sample has both lists of them, else texts.
	MatchAuto Match = "auto"
)

// DefaultMatchThreshold is the share of a reference's pairs of neighbouring
// words from which on a chunk holds the reference. Of 268 chunks of a real
// handbook (../shared/data/azure_rag) two in a thousand had half of the pairs
// of a sentence of another chunk and none of three sentences, while of chunks
// that held three fifths of the passage or more, a word in twenty left out,
// 96 and 100 in 100 had; single words don't tell the two apart
// (docs/text-metrics.md has the figures).
const DefaultMatchThreshold = 0.5

// Flags of scores by text.
const (
	// FlagMatchedByText: chunks were known by their text, not by their ids.
	FlagMatchedByText = "matched_by_text"
	// FlagDuplicateContexts: a text was retrieved more than once and counted
	// once.
	FlagDuplicateContexts = "duplicate_contexts"
)

// The names of the options.
const (
	optMatch          = "match"
	optMatchThreshold = "match_threshold"
)

// textMatchNeeds are the fields of a metric that matches by text.
var textMatchNeeds = []eval.Field{eval.FieldRetrievedContexts, eval.FieldReferenceContexts}

const textMatchDoc = " Chunks are known by their text: a chunk holds a reference context if at least %v of the reference's distinct pairs of neighbouring words stand in it. A chunk may hold several references, and a reference is found once, by the first chunk that holds it."

// TextMatchDetail is the detail of a score by text.
type TextMatchDetail struct {
	// Threshold is the share of a reference's word pairs that a chunk must hold.
	Threshold float64 `json:"threshold"`
	// Returned is the number of distinct chunks within the cut-off, Relevant
	// that of distinct reference contexts with words.
	Returned int `json:"returned"`
	Relevant int `json:"relevant"`
	// HitRanks are the ranks, from 1, of the chunks within the cut-off that
	// hold a reference.
	HitRanks []int `json:"hit_ranks"`
	// References tells about each reference context, in order.
	References []MatchedReference `json:"references"`
}

// MatchedReference is what became of one reference context.
type MatchedReference struct {
	// Rank is that of the first chunk that holds it, within the cut-off or
	// not; 0 if none does.
	Rank int `json:"rank"`
	// Share is the share of its word pairs in that chunk, or the largest in any.
	Share float64 `json:"share"`
}

// textMatch is a sample's retrieved chunks seen through its references.
type textMatch struct {
	// chunks has one place for each distinct chunk, relevant if it holds a
	// reference: the view of precision.
	chunks ranking.List
	// finds has one relevant place for each reference found, side by side
	// where one chunk holds several that no chunk before it held, and one that
	// is not relevant for a chunk that holds no new one: the view of what
	// looks at the order.
	finds      ranking.List
	references []MatchedReference
	repeated   bool
}

// matchTexts compares every chunk with every reference. A chunk that stands
// there twice, to the byte, counts once, and so do references whose words are the
// same; references without words don't count.
func matchTexts(retrieved, reference []string, threshold float64) *textMatch {
	index := indexReferences(reference)
	m := &textMatch{references: make([]MatchedReference, len(index.pairs))}
	var chunks, finds []float64
	seen := make(map[string]bool, len(retrieved))
	for _, c := range retrieved {
		if seen[c] {
			m.repeated = true
			continue
		}
		seen[c] = true
		holds, fresh := 0.0, 0
		for i, found := range index.found(c) {
			share := ratio(found, index.pairs[i])
			r := &m.references[i]
			if share >= threshold {
				holds = 1
				if r.Rank == 0 {
					r.Rank, r.Share = len(chunks)+1, share
					fresh++
				}
			}
			if r.Rank == 0 {
				r.Share = max(r.Share, share)
			}
		}
		chunks = append(chunks, holds)
		finds = append(finds, slices.Repeat([]float64{1}, fresh)...)
		if fresh == 0 {
			finds = append(finds, 0)
		}
	}
	all := ranking.Judgements{Relevant: len(m.references), Gains: slices.Repeat([]float64{1}, len(m.references))}
	m.chunks.Set(ranking.RAG, ranking.AboveZero, all, chunks)
	m.finds.Set(ranking.RAG, ranking.AboveZero, all, finds)
	return m
}

// recall is the share of the references that the chunks within k hold; 1 if
// there is none.
func (m *textMatch) recall(k int) float64 {
	if len(m.references) == 0 {
		return 1
	}
	found := 0
	for _, r := range m.references {
		if r.Rank > 0 && (k == 0 || r.Rank <= k) {
			found++
		}
	}
	return ratio(found, len(m.references))
}

func (m *textMatch) detail(k int, threshold float64) TextMatchDetail {
	returned := len(m.chunks.Grades)
	if k > 0 {
		returned = min(k, returned)
	}
	return TextMatchDetail{
		Threshold: threshold, Returned: returned, Relevant: len(m.references),
		HitRanks: append([]int{}, m.chunks.Hits[:m.chunks.HitsWithin(k)]...), References: m.references,
	}
}

// referenceIndex finds the references in which a pair of words stands.
type referenceIndex struct {
	words map[string]uint32
	with  map[uint64]*pairPlaces
	pairs []int // by reference: how many distinct pairs it has
	chunk int   // the number of the last chunk
}

type pairPlaces struct {
	references []int
	chunk      int // the last chunk that had the pair
}

func indexReferences(reference []string) *referenceIndex {
	x := &referenceIndex{words: map[string]uint32{}, with: map[uint64]*pairPlaces{}}
	known := map[string]bool{}
	for _, r := range reference {
		words := text.Words(r)
		key := strings.Join(words, " ")
		if len(words) == 0 || known[key] {
			continue
		}
		known[key] = true
		n := len(x.pairs)
		x.pairs = append(x.pairs, 0)
		ids := make([]uint32, len(words))
		for i, w := range words {
			id, ok := x.words[w]
			if !ok {
				id = uint32(len(x.words) + 1)
				x.words[w] = id
			}
			ids[i] = id
		}
		for _, p := range wordPairs(ids, len(ids) == 1) {
			places := x.with[p]
			if places == nil {
				places = &pairPlaces{}
				x.with[p] = places
			}
			if on := places.references; len(on) == 0 || on[len(on)-1] != n {
				places.references = append(on, n)
				x.pairs[n]++
			}
		}
	}
	return x
}

// wordPairs are the pairs of neighbours; with single, the words by themselves.
func wordPairs(ids []uint32, single bool) []uint64 {
	var pairs []uint64
	for i, id := range ids {
		if single {
			pairs = append(pairs, uint64(id))
		}
		if i > 0 && id > 0 && ids[i-1] > 0 {
			pairs = append(pairs, uint64(ids[i-1])<<32|uint64(id))
		}
	}
	return pairs
}

// found counts, for each reference, the distinct pairs of it that the chunk has.
func (x *referenceIndex) found(chunk string) []int {
	x.chunk++
	words := text.Words(chunk)
	ids := make([]uint32, len(words))
	for i, w := range words {
		ids[i] = x.words[w] // 0 for a word that no reference has
	}
	counts := make([]int, len(x.pairs))
	for _, p := range wordPairs(ids, true) {
		if places := x.with[p]; places != nil && places.chunk != x.chunk {
			places.chunk = x.chunk
			for _, r := range places.references {
				counts[r]++
			}
		}
	}
	return counts
}

// matching returns the metric with what its description says of texts. bpref
// and judged@k ask which chunks were judged, which texts don't tell.
func (m rankingMetric) matching() rankingMetric {
	if m.family == "bpref" || m.family == "judged" {
		m.opt.Match = MatchIDs
	}
	doc := fmt.Sprintf(textMatchDoc, m.opt.MatchThreshold)
	switch m.opt.Match {
	case MatchText:
		m.info.Needs, m.info.Doc = textMatchNeeds, m.info.Doc+doc
	case MatchAuto:
		m.info.Needs, m.info.Doc = textMatchNeeds, m.info.Doc+" Where a sample lacks one of the lists of ids:"+strings.Replace(doc, " Chunks", " chunks", 1)
	}
	return m
}

// byText reports whether the sample is matched by text.
func (m rankingMetric) byText(s *eval.Sample) bool {
	return m.opt.Match == MatchText || m.opt.Match == MatchAuto && s.Missing(rankingNeeds) != ""
}

// scoreByText scores the order of the retrieved chunks by their texts.
func (m rankingMetric) scoreByText(s *eval.Sample) eval.Score {
	if f := s.Missing(textMatchNeeds); f != "" {
		return eval.SkippedFor(f)
	}
	t := matchTexts(s.RetrievedContexts, s.ReferenceContexts, m.opt.MatchThreshold)
	var v float64
	switch m.family {
	case "precision":
		v = m.value(&t.chunks)
	case "recall":
		v = t.recall(m.cut)
	case "f1":
		v = harmonic(t.chunks.Precision(m.cut), t.recall(m.cut))
	default:
		v = m.value(&t.finds)
	}
	score := eval.Value(v).Flagged(FlagMatchedByText).WithDetail(t.detail(m.cut, m.opt.MatchThreshold))
	if len(t.references) == 0 {
		flag := FlagNoRelevant
		if m.vacuous {
			flag = FlagVacuous
		}
		score = score.Flagged(flag)
	}
	if t.repeated {
		score = score.Flagged(FlagDuplicateContexts)
	}
	return score
}

func harmonic(p, r float64) float64 {
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// retrievalSection is the section [metric.retrieval], whose options are those
// of every metric over ids.
const retrievalSection = "retrieval"

// IsRetrieval reports whether the name of a section stands for all metrics
// over ids, instead of one metric.
func IsRetrieval(section string) bool { return squeeze(section) == retrievalSection }

// OverIDs reports whether the section [metric.retrieval] is meant for the
// family too.
func (f Family) OverIDs() bool { return slices.Contains(f.Options, optConvention) }

// setMatch takes one key of [metric.<name>].
func (o *RankingOptions) setMatch(key string, value any) error {
	if key == optMatch {
		s, ok := value.(string)
		if !ok {
			return fmt.Errorf("want a text, got %v", value)
		}
		o.Match = Match(s)
		return nil
	}
	switch v := value.(type) {
	case int64:
		o.MatchThreshold = float64(v)
	case float64:
		o.MatchThreshold = v
	default:
		return fmt.Errorf("want a number, got %v", value)
	}
	if !(o.MatchThreshold > 0 && o.MatchThreshold <= 1) {
		return fmt.Errorf("want a number above 0 and up to 1, got %v", value)
	}
	return nil
}

func (o RankingOptions) checkMatch(metric string) error {
	if err := oneOf(metric, optMatch, o.Match, MatchIDs, MatchText, MatchAuto); err != nil {
		return err
	}
	switch byText := o.Match == MatchText || o.Match == MatchAuto; {
	case !(o.MatchThreshold >= 0 && o.MatchThreshold <= 1):
		return fmt.Errorf("set option %s of metric %s: want a number above 0 and up to 1, got %v", optMatchThreshold, metric, o.MatchThreshold)
	case byText && o.Convention == ranking.TrecEval:
		return fmt.Errorf("set option %s of metric %s: convention %q knows ids only, take match %q", optMatch, metric, o.Convention, MatchIDs)
	case o.Match == MatchText && o.Level != 0:
		return fmt.Errorf("set option %s of metric %s: texts have no grades, for which match %q is needed", optRelevanceLevel, metric, MatchIDs)
	}
	return nil
}
