package prompts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/text"
)

// spec says what a template is for.
type spec struct {
	name string
	// required lists the placeholders without which the step can't work.
	required []string
	// optional lists the data that the step may also show.
	optional []string
	// reply is the key that the reply must have; "chunks" stands for verdicts that
	// are lists of chunks.
	reply string
}

// specs lists every template. A new step is one line here and one file under
// templates/. What several metrics share, in claims/, may show no more than all
// of them have: they must all send the same request for the same text.
var specs = []spec{
	{"answer_relevance/questions", []string{Text, ReplyFormat}, nil, "questions"},
	{"answer_relevance/rubric", []string{UserInput, Response, ReplyFormat}, []string{Reference, RetrievedContexts}, "rating"},
	{"answer_relevance/statements", []string{UserInput, Items, ReplyFormat}, []string{Response}, "verdicts"},
	{"claims/backing", []string{RetrievedContexts, Items, ReplyFormat}, []string{UserInput}, "chunks"},
	{"claims/match", []string{Text, Items, ReplyFormat}, []string{UserInput}, "verdicts"},
	{"claims/split", []string{Text, ReplyFormat}, nil, "claims"},
	{"context_entity_recall/entities", []string{Text, ReplyFormat}, nil, "entities"},
	{"context_precision/verdict", []string{UserInput, Reference, Items, ReplyFormat}, []string{Response}, "verdicts"},
	{"context_precision/verdict_by_response", []string{UserInput, Response, Items, ReplyFormat}, nil, "verdicts"},
	{"context_recall/verdict", []string{RetrievedContexts, Items, ReplyFormat}, []string{UserInput, Reference}, "verdicts"},
	{"context_relevance/rating", []string{UserInput, RetrievedContexts, ReplyFormat}, nil, "rating"},
	{"context_relevance/rating_again", []string{UserInput, RetrievedContexts, ReplyFormat}, nil, "rating"},
	{"context_relevance/statements", []string{UserInput, Items, ReplyFormat}, nil, "verdicts"},
	{"context_relevance/verdict", []string{UserInput, Items, ReplyFormat}, nil, "verdicts"},
	{"faithfulness/verdict", []string{RetrievedContexts, Items, ReplyFormat}, []string{UserInput, Response}, "verdicts"},
	{"hallucination/agreement", []string{Response, Items, ReplyFormat}, []string{UserInput}, "verdicts"},
}

// The placeholders of a sample's data. Only the user part may hold them.
const (
	UserInput         = "user_input"
	Response          = "response"
	Reference         = "reference"
	RetrievedContexts = "retrieved_contexts"
	Text              = "text"
	Items             = "items"
)

// The fixed placeholders: the same for every sample.
const (
	// ReplyFormat is filled in by the judge: the form of the reply.
	ReplyFormat = "reply_format"
	Domain      = "domain"
	Rubric      = "rubric"
	Examples    = "examples"
	Language    = "language"
	// Criteria and Steps are for metrics of the user's own: what is asked, and how
	// to go about it. See Custom.
	Criteria = "criteria"
	Steps    = "steps"
)

var (
	dataNames    = []string{UserInput, Response, Reference, RetrievedContexts, Text, Items}
	ownNames     = []string{Criteria, Steps}
	overlayNames = append([]string{Domain, Rubric, Examples, Language}, ownNames...)
	fixedNames   = append([]string{ReplyFormat}, overlayNames...)
	allNames     = append(slices.Clone(dataNames), fixedNames...)
)

// peerNames maps what other tools call a placeholder to its name here, for the
// hint in an error.
var peerNames = map[string]string{
	"question": UserInput, "query": UserInput, "input": UserInput,
	"answer": Response, "output": Response, "actual_output": Response,
	"context": RetrievedContexts, "contexts": RetrievedContexts, "retrieval_context": RetrievedContexts, "documents": RetrievedContexts,
	"ground_truth": Reference, "expected": Reference, "expected_output": Reference, "expected_answer": Reference, "reference_answer": Reference,
	"claims": Items, "statements": Items, "chunks": Items,
	"format": ReplyFormat, "output_format": ReplyFormat, "format_instructions": ReplyFormat,
}

func isData(name string) bool { return slices.Contains(dataNames, name) }

// metric returns the part of a template's name before the slash.
func metric(name string) string {
	m, _, _ := strings.Cut(name, "/")
	return m
}

// namesOf lists the templates, sorted.
func namesOf(specs []spec) []string {
	names := make([]string, len(specs))
	for i, sp := range specs {
		names[i] = sp.name
	}
	slices.Sort(names)
	return names
}

// foldersOf lists the folders of the templates.
func foldersOf(specs []spec) []string {
	var names []string
	for _, n := range namesOf(specs) {
		if m := metric(n); !slices.Contains(names, m) {
			names = append(names, m)
		}
	}
	return names
}

// Folders lists the folders of the built-in templates: the names that no metric
// of the user's own can have.
func Folders() []string { return append(foldersOf(specs), customFolder) }

// didYouMean returns a hint with the nearest of the known names, or all of them
// if none is near.
func didYouMean(name string, known []string) string {
	best, least := "", len([]rune(name))/2+1
	for _, k := range known {
		if d := text.Distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return fmt.Sprintf(" (known: %s)", strings.Join(known, ", "))
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}
