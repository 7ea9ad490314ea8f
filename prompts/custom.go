package prompts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The kinds of metric that a configuration can define.
const (
	// KindRubric rates on a scale whose levels are described.
	KindRubric = "rubric"
	// KindChecklist answers several questions with yes or no.
	KindChecklist = "checklist"
	// KindBinary answers one question with yes, as the rating 1, or no, as 0.
	KindBinary = "binary"
)

// customFolder holds the templates that those of the metrics of the user's own
// are made of, one for each kind.
const customFolder = "custom"

// Custom is a metric of the user's own. Its template, <Name>/<Kind>, is the
// built-in one of the kind, which shows the data that the metric needs; a
// folder of templates can override it like any other.
type Custom struct {
	// Name is the metric's.
	Name string
	// Kind is one of the kinds above.
	Kind string
	// Criteria says what is asked, in full: the question, the levels.
	Criteria string
	// Steps say how to go about it, in order; may be empty.
	Steps []string
	// Data are the placeholders of the sample that are shown: UserInput,
	// Response, Reference, RetrievedContexts. At least one.
	Data []string
}

// Template is the name of the metric's template.
func (c Custom) Template() string { return c.Name + "/" + c.Kind }

// customData are what a metric of the user's own can show, in the order in which
// it is shown, each with what it is called.
var customData = []struct{ name, words string }{
	{UserInput, "the question between <question-CODE> tags"},
	{RetrievedContexts, `the passages that were retrieved, numbered, between <context-CODE n="..."> tags`},
	{Reference, "an answer that is held to be right between <reference-CODE> tags"},
	{Response, "the response between <response-CODE> tags"},
}

// withCustom adds the templates of the metrics to the built-in ones.
func withCustom(custom []Custom) ([]spec, []error) {
	var problems []error
	all := slices.Clone(specs)
	for _, c := range custom {
		sp, err := c.spec()
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("make the prompt of metric %s: %w", c.Name, err))
		case slices.Contains(foldersOf(all), c.Name):
			problems = append(problems, fmt.Errorf("make the prompt of metric %s: there are templates of that name already", c.Name))
		default:
			all = append(all, sp)
		}
	}
	return all, problems
}

func (c Custom) spec() (spec, error) {
	reply := map[string]string{KindRubric: "rating", KindBinary: "rating", KindChecklist: "verdicts"}[c.Kind]
	switch {
	case reply == "":
		return spec{}, fmt.Errorf("there is no kind %q", c.Kind)
	case c.Name == "" || strings.ContainsAny(c.Name, `/\.`):
		return spec{}, errors.New("its name must be that of a folder")
	case len(c.Data) == 0:
		return spec{}, errors.New("it shows no data")
	case clean(c.Criteria) == "":
		return spec{}, errors.New("it has no criteria")
	}
	required := []string{}
	optional := []string{Steps}
	for _, d := range customData {
		if slices.Contains(c.Data, d.name) {
			required = append(required, d.name)
		} else {
			optional = append(optional, d.name)
		}
	}
	if len(required) != len(c.Data) {
		return spec{}, fmt.Errorf("it can't show all of %s", strings.Join(c.Data, ", "))
	}
	if c.Kind == KindChecklist {
		required = append(required, Items)
	}
	return spec{c.Template(), append(required, Criteria, ReplyFormat), optional, reply}, nil
}

// expand writes the data that the metric shows into the text of its kind, in
// place of {{fields}}, which names it, and {{sample}}, where it stands.
func (c Custom) expand(text []byte) []byte {
	var words, places []string
	for _, d := range customData {
		if slices.Contains(c.Data, d.name) {
			words, places = append(words, d.words), append(places, "{{"+d.name+"}}")
		}
	}
	if c.Kind == KindChecklist {
		words = append(words, `numbered questions between <item-CODE n="..."> tags`)
	}
	fields := words[0]
	if n := len(words); n > 1 {
		fields = strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return []byte(strings.NewReplacer("{{fields}}", fields, "{{sample}}", strings.Join(places, "\n\n")).Replace(string(text)))
}

// steps numbers the steps, with a heading.
func (c Custom) steps() string {
	if len(c.Steps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Go about it in these steps:\n")
	for i, s := range c.Steps {
		fmt.Fprintf(&b, "\n%d. %s", i+1, clean(s))
	}
	return b.String()
}

// Form is what a reply may hold.
type Form struct {
	// Labels are the verdicts that there are; none for a rating.
	Labels []string
	// Min and Max are the ends of the scale of a rating; both 0 if there is none.
	Min, Max int
}

func (f Form) rating(n int) error {
	if f.Min < f.Max && (n < f.Min || n > f.Max) {
		return fmt.Errorf("the rating %d of the reply is not on the scale from %d to %d", n, f.Min, f.Max)
	}
	return nil
}

func (f Form) verdict(label string) error {
	if len(f.Labels) > 0 && !slices.Contains(f.Labels, label) {
		return fmt.Errorf("%q is no verdict of this step%s", label, didYouMean(label, f.Labels))
	}
	return nil
}
