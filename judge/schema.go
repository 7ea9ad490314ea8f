package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/llm"
)

// The names of the schemas, which say what is asked for. A reply has the form
//
//	claims     {"claims":["...","..."]}
//	questions  {"questions":["...","..."]}
//	entities   {"entities":["...","..."]}
//	verdicts   {"verdicts":[{"id":1,"reason":"...","verdict":"<label>"}]}
//	chunks     {"verdicts":[{"id":1,"reason":"...","chunks":[1,3]}]}
//	rating     {"reason":"...","rating":4}
//
// and a verdict's id is the number of its item.
const (
	SchemaClaims    = "claims"
	SchemaQuestions = "questions"
	SchemaEntities  = "entities"
	SchemaVerdicts  = "verdicts"
	SchemaChunks    = "chunks"
	SchemaRating    = "rating"
)

// The labels of the built-in asks. The first label of a list is the positive
// one, the last one is the plain negative.
const (
	Supported       = "supported"
	Contradicted    = "contradicted"
	NotFound        = "not_found"
	Useful          = "useful"
	NotUseful       = "not_useful"
	Attributable    = "attributable"
	NotAttributable = "not_attributable"
	Relevant        = "relevant"
	Unclear         = "unclear"
	Irrelevant      = "irrelevant"
	Consistent      = "consistent"
	Entailed        = "entailed"
	NotEntailed     = "not_entailed"
)

// FaithfulnessLabels are the verdicts on a claim of a response.
func FaithfulnessLabels() []string { return []string{Supported, Contradicted, NotFound} }

// PrecisionLabels are the verdicts on a retrieved chunk.
func PrecisionLabels() []string { return []string{Useful, NotUseful} }

// RecallLabels are the verdicts on a claim of a reference.
func RecallLabels() []string { return []string{Attributable, NotAttributable} }

// RelevanceLabels are the verdicts on whether a statement or a chunk is relevant
// to the question.
func RelevanceLabels() []string { return []string{Relevant, Unclear, Irrelevant} }

// AgreementLabels are the verdicts on a chunk: whether the response agrees with
// it.
func AgreementLabels() []string { return []string{Consistent, Contradicted} }

// The schemas are strict in the sense of the providers: every property is
// required and no other is allowed. The reason comes before the verdict, so
// that the model thinks before it decides.
const (
	listSchema     = `{"type":"object","properties":{"%[1]s":{"type":"array","items":{"type":"string"}}},"required":["%[1]s"],"additionalProperties":false}`
	verdictsSchema = `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"reason":{"type":"string"},"verdict":{"type":"string","enum":[%s]}},"required":["id","reason","verdict"],"additionalProperties":false}}},"required":["verdicts"],"additionalProperties":false}`
	ratingSchema   = `{"type":"object","properties":{"reason":{"type":"string"},"rating":{"type":"integer","enum":[%s]}},"required":["reason","rating"],"additionalProperties":false}`
)

func schemaOfVerdicts(labels []string) *llm.Schema {
	quoted := make([]string, len(labels))
	for i, l := range labels {
		// A string always encodes.
		b, _ := json.Marshal(l)
		quoted[i] = string(b)
	}
	js := fmt.Sprintf(verdictsSchema, strings.Join(quoted, ","))
	return &llm.Schema{Name: SchemaVerdicts, JSON: json.RawMessage(js)}
}

// The scale is an enumeration, because strict modes know enum but not all of
// them know minimum and maximum.
func schemaOfRating(lo, hi int) *llm.Schema {
	var steps []string
	for i := lo; i <= hi; i++ {
		steps = append(steps, strconv.Itoa(i))
	}
	js := fmt.Sprintf(ratingSchema, strings.Join(steps, ","))
	return &llm.Schema{Name: SchemaRating, JSON: json.RawMessage(js)}
}

// Labels returns the labels that a schema of verdicts allows, in their order:
// the positive one first, the plain negative last. It returns nil for any
// other schema.
func Labels(s *llm.Schema) []string {
	var form struct {
		Properties struct {
			Verdicts struct {
				Items struct {
					Properties struct {
						Verdict struct {
							Enum []string `json:"enum"`
						} `json:"verdict"`
					} `json:"properties"`
				} `json:"items"`
			} `json:"verdicts"`
		} `json:"properties"`
	}
	if s == nil || s.Name != SchemaVerdicts || json.Unmarshal(s.JSON, &form) != nil {
		return nil
	}
	return form.Properties.Verdicts.Items.Properties.Verdict.Enum
}

// Scale returns the lowest and the highest rating that a schema of a rating
// allows. It reports false for any other schema.
func Scale(s *llm.Schema) (lo, hi int, ok bool) {
	var form struct {
		Properties struct {
			Rating struct {
				Enum []int `json:"enum"`
			} `json:"rating"`
		} `json:"properties"`
	}
	if s == nil || s.Name != SchemaRating || json.Unmarshal(s.JSON, &form) != nil {
		return 0, 0, false
	}
	steps := form.Properties.Rating.Enum
	if len(steps) == 0 {
		return 0, 0, false
	}
	return slices.Min(steps), slices.Max(steps), true
}

// The reply formats say in words what the schemas say, for servers without a
// JSON mode. They belong to the unchanging part of a prompt.
const replyIntro = "Reply with one JSON object and nothing else: no code fence, no text before or after it. The form is:\n"

func formatOfVerdicts(labels []string) string {
	return replyIntro + `{"verdicts":[{"id":1,"reason":"...","verdict":"` + labels[0] + `"}]}
verdicts: an array with exactly one object for each item, in the order of the items.
id: the number of the item, as in its tag.
reason: one short sentence that says what the verdict rests on.
verdict: exactly one of ` + quoteList(labels) + `, spelt as here.`
}

func formatOfRating(lo, hi int) string {
	return replyIntro + fmt.Sprintf(`{"reason":"...","rating":%d}
reason: one or two short sentences that say what the rating rests on.
rating: a whole number from %d to %d.`, hi, lo, hi)
}

func quoteList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + w + `"`
	}
	return strings.Join(quoted, ", ")
}
