package metrics_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/metrics"
)

// example is one value from a peer's own code: verdicts in, score out.
type example struct {
	Metric         string          `json:"metric"`
	System         string          `json:"system"`
	Implementation string          `json:"implementation"`
	Note           string          `json:"note"`
	Inputs         json.RawMessage `json:"inputs"`
	Expected       json.RawMessage `json:"expected"`
}

// Why an example is not for us.
const (
	notBuilt    = "a metric that ragjudge has not, or not as a formula over verdicts"
	noLabel     = "a verdict that is none of the labels: it never leaves the decoder"
	shortReply  = "a reply with fewer verdicts than items: it is asked for again, and then unscored"
	oneRequest  = "a part of a reply that ragjudge's one request doesn't have"
	otherRagas  = "a value of Ragas' legacy API, from which its current one differs"
	strictMode  = "DeepEval's strict mode: a gate does it"
	anException = "an exception in the peer: ragjudge has a status for it"
	parsing     = "how a peer reads a reply, not what it computes"
	elsewhere   = "a metric over ids or texts without a judge, tested with those"
)

// tried is an example made ready to be scored.
type tried struct {
	metric string
	opt    metrics.Options
	sample *eval.Sample
	judge  *laid
}

// expected is a number, or none where the peer has NaN.
func (e example) expected(t *testing.T) (v float64, none bool) {
	t.Helper()
	if string(e.Expected) == `"NaN"` {
		return 0, true
	}
	if err := json.Unmarshal(e.Expected, &v); err != nil {
		t.Fatalf("%s: expected %s: %v", e.Note, e.Expected, err)
	}
	return v, false
}

func readExamples(t *testing.T, file string) []example {
	t.Helper()
	return decoded[[]example](t, readFixture(t, "fixtures/"+file))
}

// base is a sample of which nothing is known yet.
func base(chunks int) (*eval.Sample, *laid) {
	return claimCase{chunks: chunks}.lay()
}

// words lays down verdicts on as many items of a text.
func (l *laid) words(text, prompt string, verdicts []string) {
	l.lists[text] = []string{}
	for i, v := range verdicts {
		item := fmt.Sprintf("item %d", i+1)
		l.lists[text] = append(l.lists[text], item)
		l.labels[prompt+" "+item] = v
	}
}

// chunkVerdicts lays down verdicts on the chunks of a sample.
func (l *laid) chunkVerdicts(s *eval.Sample, prompt string, verdicts []string) {
	s.RetrievedContexts = []string{}
	for i, v := range verdicts {
		s.RetrievedContexts = append(s.RetrievedContexts, fmt.Sprintf("Chunk %d.", i+1))
		l.labels[prompt+" "+s.RetrievedContexts[i]] = v
	}
}

// matrix lays down a table: rows are claims, columns chunks.
func (l *laid) matrix(text, side string, chunks [][]bool, match []bool) {
	l.lists[text] = []string{}
	for i := range max(len(chunks), len(match)) {
		claim := fmt.Sprintf("claim %d of the %s", i+1, side)
		l.lists[text] = append(l.lists[text], claim)
		if i < len(match) && match[i] {
			l.labels["claims/match "+claim] = judge.Supported
		}
		if i < len(chunks) {
			for n, in := range chunks[i] {
				if in {
					l.chunks[claim] = append(l.chunks[claim], n+1)
				}
			}
		}
	}
}

func binary(verdicts []int, yes, no string) []string {
	var words []string
	for _, v := range verdicts {
		words = append(words, map[bool]string{true: yes, false: no}[v == 1])
	}
	return words
}

func isBinary(lists ...[]int) bool {
	return !slices.ContainsFunc(slices.Concat(lists...), func(v int) bool { return v != 0 && v != 1 })
}

func bools(verdicts []int) []bool {
	out := make([]bool, len(verdicts))
	for i, v := range verdicts {
		out[i] = v == 1
	}
	return out
}

// byClaim turns a list for each chunk into one for each claim.
func byClaim(perChunk [][]int, claims int) [][]bool {
	rows := make([][]bool, claims)
	for i := range rows {
		for _, chunk := range perChunk {
			rows[i] = append(rows[i], chunk[i] == 1)
		}
	}
	return rows
}

// ragasExample makes an example of Ragas ready, or says why it is not for us.
func ragasExample(t *testing.T, e example) (tried, string) {
	var in struct {
		Verdicts, Attributed []int
		Statements           json.RawMessage
		Response             *string
		Contexts             []string    `json:"retrieved_contexts"`
		UserInput            string      `json:"user_input"`
		QuestionVec          []float32   `json:"question_vec"`
		QuestionVecs         [][]float32 `json:"generated_question_vecs"`
		Empty                []bool      `json:"generated_questions_empty"`
		Noncommittal         []int
		ReferenceEntities    []string `json:"reference_entities"`
		ContextEntities      []string `json:"context_entities"`
		Mode                 string
		ReferencePerContext  [][]int `json:"reference_stmt_verdicts_per_context"`
		AnswerPerContext     [][]int `json:"answer_stmt_verdicts_per_context"`
		AnswerVsReference    []int   `json:"answer_stmt_verdicts_vs_reference"`
		ResponseClaims       []int   `json:"response_claim_verdicts"`
		ReferenceClaims      []int   `json:"reference_claim_verdicts"`
		Beta                 float64
		ResponseN            int `json:"response_statements"`
		ReferenceN           int `json:"reference_statements"`
		TP, FP, FN           int
		Cosine               float64
		Weights              []float64
		ReferenceVec         []float32 `json:"reference_vec"`
		ResponseVec          []float32 `json:"response_vec"`
		Threshold            float64
		Ratings              []any    `json:"judge_ratings"`
		Texts                []string `json:"judge_texts"`
	}
	if err := json.Unmarshal(e.Inputs, &in); err != nil {
		t.Fatalf("%s: %v", e.Note, err)
	}
	s, l := base(2)
	opt := metrics.Options{Compat: metrics.CompatRagas}
	fails := strings.HasPrefix(string(e.Expected), "{")
	switch e.Metric {
	case "faithfulness":
		switch {
		case fails:
			return tried{}, anException
		case !isBinary(in.Verdicts):
			return tried{}, noLabel
		case len(in.Statements) > 0 && string(in.Statements) != "[]":
			return tried{}, shortReply
		}
		l.words(s.Response, "faithfulness/verdict", binary(in.Verdicts, judge.Supported, judge.NotFound))
		return tried{"faithfulness", opt, s, l}, ""
	case "answer_relevancy":
		if slices.Contains(in.Empty, true) || slices.Contains(in.Noncommittal, 1) && slices.Contains(in.Noncommittal, 0) {
			return tried{}, oneRequest
		}
		vecs := vectors{s.UserInput: in.QuestionVec}
		l.lists[s.Response] = []string{}
		for i, v := range in.QuestionVecs {
			q := fmt.Sprintf("question %d?", i+1)
			vecs[q] = v
			if in.Noncommittal[i] == 0 {
				l.lists[s.Response] = append(l.lists[s.Response], q)
			}
		}
		opt.Embedder = vecs
		return tried{"answer_relevancy", opt, s, l}, ""
	case "context_precision_with_reference", "context_precision_without_reference":
		if fails {
			return tried{}, anException
		}
		if !isBinary(in.Verdicts) {
			return tried{}, noLabel
		}
		prompt := "context_precision/verdict"
		if strings.Contains(e.Metric, "without") {
			prompt += "_by_response"
			e.Metric = "context_utilization"
		}
		l.chunkVerdicts(s, prompt, binary(in.Verdicts, judge.Useful, judge.NotUseful))
		return tried{e.Metric, opt, s, l}, ""
	case "context_recall":
		if !isBinary(in.Attributed) {
			return tried{}, noLabel
		}
		l.words(s.Reference, "context_recall/verdict", binary(in.Attributed, judge.Attributable, judge.NotAttributable))
		return tried{e.Metric, opt, s, l}, ""
	case "context_entity_recall":
		if e.Implementation == "legacy" {
			return tried{}, otherRagas
		}
		l.lists[s.Reference], l.lists[strings.Join(s.RetrievedContexts, "\n\n")] = in.ReferenceEntities, in.ContextEntities
		return tried{e.Metric, opt, s, l}, ""
	case "noise_sensitivity":
		if fails {
			return tried{}, anException
		}
		s.RetrievedContexts = s.RetrievedContexts[:len(in.AnswerPerContext)]
		l.matrix(s.Reference, "reference", byClaim(in.ReferencePerContext, len(in.ReferencePerContext[0])), nil)
		l.matrix(s.Response, "response", byClaim(in.AnswerPerContext, len(in.AnswerVsReference)), bools(in.AnswerVsReference))
		return tried{"noise_sensitivity_" + in.Mode, opt, s, l}, ""
	case "factual_correctness":
		opt.Mode, opt.Beta = metrics.Mode(in.Mode), in.Beta
		l.matrix(s.Response, "response", nil, bools(in.ResponseClaims))
		l.matrix(s.Reference, "reference", nil, bools(in.ReferenceClaims))
		return tried{e.Metric, opt, s, l}, ""
	case "answer_correctness":
		if e.Implementation == "legacy" {
			return tried{}, otherRagas
		}
		if in.ResponseN > 0 && in.TP+in.FP != in.ResponseN {
			return tried{}, shortReply
		}
		response, reference := make([]bool, in.ResponseN), make([]bool, in.ReferenceN)
		for i := range response {
			response[i] = i < in.TP
		}
		for i := range reference {
			reference[i] = i >= in.FN
		}
		l.matrix(s.Response, "response", nil, response)
		l.matrix(s.Reference, "reference", nil, reference)
		opt.Beta, opt.Weight = in.Beta, metrics.Weight{Value: in.Weights[0], Set: true}
		opt.Embedder = vectors{s.Reference: {1, 0}, s.Response: {float32(in.Cosine), float32(math.Sqrt(1 - in.Cosine*in.Cosine))}}
		return tried{e.Metric, opt, s, l}, ""
	case "semantic_similarity":
		opt.Threshold = in.Threshold
		opt.Embedder = vectors{s.Reference: in.ReferenceVec, s.Response: in.ResponseVec}
		return tried{e.Metric, opt, s, l}, ""
	case "context_relevance", "context_relevance (nv_context_relevance)":
		if len(in.Ratings) > 2 || slices.ContainsFunc(in.Texts, func(w string) bool { return len(w) > 1 }) {
			return tried{}, parsing
		}
		for _, w := range in.Texts {
			in.Ratings = append(in.Ratings, float64(w[0]-'0'))
		}
		l.ratings = map[string]int{}
		for i, r := range in.Ratings {
			l.ratings["context_relevance/rating"+[]string{"", "_again"}[i]] = int(r.(float64))
		}
		s.UserInput, s.RetrievedContexts = in.UserInput, in.Contexts
		return tried{"context_relevance", opt, s, l}, ""
	case "non_llm_context_precision", "non_llm_context_recall", "id_based_context_precision", "id_based_context_recall":
		return tried{}, elsewhere
	}
	return tried{}, notBuilt
}

// checkExample scores what was made ready and compares it.
func checkExample(t *testing.T, x tried, want float64, none bool, near float64) {
	t.Helper()
	x.opt.Judge = x.judge
	got, err := made(t, x.metric, x.opt).Score(t.Context(), x.sample)
	if err != nil || got.Check() != nil {
		t.Fatal(err, got.Check())
	}
	switch {
	case none && got.Status != eval.Undefined:
		t.Errorf("%s: %s %v, want no value", x.metric, got.Status, shown(got.Value))
	case !none && (got.Value == nil || math.Abs(*got.Value-want) > near):
		t.Errorf("%s: %s %v (%s), want %v", x.metric, got.Status, shown(got.Value), got.Reason, want)
	}
}

// skipped compares how many examples were left out for which reason, so that none
// is left out unseen.
func skipped(t *testing.T, got, want map[string]int) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("left out:\n%v\nwant\n%v", got, want)
	}
}

// TestRagasExamples: the metrics with compat = "ragas" give Ragas' own values.
func TestRagasExamples(t *testing.T) {
	left := map[string]int{}
	for i, e := range readExamples(t, "ragas_examples.json") {
		x, why := ragasExample(t, e)
		if why != "" {
			left[why]++
			continue
		}
		t.Run(fmt.Sprintf("%d %s %s", i, e.Metric, e.Note), func(t *testing.T) {
			want, none := e.expected(t)
			near := 1e-12
			if x.opt.Embedder != nil { // vectors are float32
				near = 1e-7
			}
			checkExample(t, x, want, none, near)
		})
	}
	skipped(t, left, map[string]int{
		notBuilt: 39, elsewhere: 16, noLabel: 11, oneRequest: 5, anException: 5, shortReply: 3, otherRagas: 3, parsing: 2,
	})
}
