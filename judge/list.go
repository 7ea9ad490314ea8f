package judge

import (
	"encoding/json"
	"fmt"

	"github.com/ragjudge/ragjudge/llm"
)

// What an Ask for a list can be for.
const (
	// ListClaims are the claims that a text makes.
	ListClaims = SchemaClaims
	// ListQuestions are questions that a text answers; none for one that doesn't
	// commit itself to an answer.
	ListQuestions = SchemaQuestions
	// ListEntities are the names, dates, numbers and terms in a text.
	ListEntities = SchemaEntities
)

// list is one kind of list of texts that a judge is asked for.
type list struct {
	// name is that of the schema and of the key in the reply.
	name string
	// lists are the keys under which the list may stand, one those of a text that
	// is an object.
	lists, one []string
	// rule says in the reply format what the list holds.
	rule string
}

var (
	claimsList = list{
		name: SchemaClaims, lists: []string{"claims", "statements", "facts"}, one: []string{"claim", "text", "statement", "fact"},
		rule: "an array of strings, one for each claim, in the order of the text. An empty array if there is no claim.",
	}
	questionsList = list{
		name: SchemaQuestions, lists: []string{"questions", "generatedquestions"}, one: []string{"question", "text"},
		rule: "an array of strings, one for each question. An empty array if the text commits itself to no answer.",
	}
	entitiesList = list{
		name: SchemaEntities, lists: []string{"entities", "names"}, one: []string{"entity", "text", "name"},
		rule: "an array of strings, one for each entity, in the order of the text and none twice. An empty array if there is none.",
	}
)

// listOf returns the list of a name; that of the claims for any other name.
func listOf(name string) list {
	for _, k := range []list{questionsList, entitiesList} {
		if k.name == name {
			return k
		}
	}
	return claimsList
}

func (k list) schema() *llm.Schema {
	return &llm.Schema{Name: k.name, JSON: json.RawMessage(fmt.Sprintf(listSchema, k.name))}
}

// format says the form in words; count is how many texts are asked for, 0 for
// as many as there are.
func (k list) format(count int) string {
	s := replyIntro + `{"` + k.name + `":["...","..."]}` + "\n" + k.name + ": " + k.rule
	if count > 0 {
		s += fmt.Sprintf(" Otherwise exactly %d, no two alike.", count)
	}
	return s
}
