package prompts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// overlay is what the options add to one template, by placeholder.
type overlay map[string]string

// Tuning is what is added to the templates of one metric, or to one template.
// What is empty is taken from Options.
type Tuning struct {
	Domain, Language, Rubric string
	// Place says where it is given, for errors; may be empty.
	Place string
	// Examples are worked examples; one that names no template is for the only
	// one of the metric.
	Examples []Example
}

// overlaysOf sorts the additions of the options by template.
func overlaysOf(o Options, specs []spec) (map[string]overlay, []error) {
	var problems []error
	known := slices.Concat(namesOf(specs), foldersOf(specs))
	for _, key := range slices.Sorted(maps.Keys(o.Rubric)) {
		switch {
		case !slices.Contains(known, key):
			problems = append(problems, fmt.Errorf("rubric for %q: no prompt template or metric of that name%s", key, didYouMean(key, known)))
		case o.For[key].Rubric != "":
			problems = append(problems, fmt.Errorf("%srubric for %q: it is given in two places, under prompts.rubric and under prompts.%s", placed(o.For[key].Place), key, key))
		}
	}
	over := map[string]overlay{}
	for _, sp := range specs {
		one, all := o.For[sp.name], o.For[metric(sp.name)]
		over[sp.name] = overlay{
			Domain:   clean(cmp.Or(one.Domain, all.Domain, o.Domain)),
			Language: cmp.Or(clean(cmp.Or(one.Language, all.Language, o.Language)), sameLanguage),
			Rubric:   clean(cmp.Or(one.Rubric, o.Rubric[sp.name], all.Rubric, o.Rubric[metric(sp.name)])),
		}
	}
	for _, c := range o.Custom {
		if over[c.Template()] != nil {
			over[c.Template()][Criteria], over[c.Template()][Steps] = clean(c.Criteria), c.steps()
		}
	}
	examples := slices.Clone(o.Examples)
	for _, key := range slices.Sorted(maps.Keys(o.For)) {
		if !slices.Contains(known, key) {
			problems = append(problems, fmt.Errorf("%sadditions for %q: no prompt template or metric of that name%s", placed(o.For[key].Place), key, didYouMean(key, known)))
			continue
		}
		more, errs := examplesFor(key, o.For[key].Examples, specs)
		examples, problems = append(examples, more...), append(problems, errs...)
	}
	problems = append(problems, addExamples(examples, specs, o.Forms, over)...)
	return over, problems
}

// placed puts a place in front of a message.
func placed(place string) string {
	if place == "" {
		return ""
	}
	return place + ": "
}

// examplesFor are the examples that stand under the name of a template or a
// metric: they are for no other.
func examplesFor(key string, examples []Example, specs []spec) ([]Example, []error) {
	var names []string
	for _, sp := range specs {
		if sp.name == key || metric(sp.name) == key {
			names = append(names, sp.name)
		}
	}
	var problems []error
	examples = slices.Clone(examples)
	for i := range examples {
		e := &examples[i]
		if e.Prompt == "" && len(names) == 1 {
			e.Prompt = names[0]
		}
		if !slices.Contains(names, e.Prompt) {
			problems = append(problems, fmt.Errorf("%s: the example is for %q, but it is given for %s, whose templates are %s", e.Where(i), e.Prompt, key, strings.Join(names, ", ")))
			e.Prompt = ""
		}
	}
	return slices.DeleteFunc(examples, func(e Example) bool { return e.Prompt == "" }), problems
}

func clean(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
}

// apply writes the additions into the template, where they are literal text
// from then on, and hashes the result. A line with nothing but a placeholder
// whose addition is empty is left out, together with the blank line behind it.
func (t *Template) apply(o overlay) []error {
	var problems []error
	for _, name := range []string{Rubric, Examples, Steps} {
		if o[name] != "" && !t.Uses(name) {
			problems = append(problems, fmt.Errorf("%s: %s are given for %s, but the template has no {{%s}} to take them", t.Path, name, t.Name, name))
		}
	}
	t.system = overlaid(t.system, o)
	t.user = overlaid(t.user, o)
	if len(t.system) == 0 {
		problems = append(problems, fmt.Errorf("%s:1: the system part is empty without additions", t.Path))
	}
	t.Hash = t.hash()
	return problems
}

func overlaid(pieces []piece, o overlay) []piece {
	pieces = slices.Clone(pieces)
	var out []piece
	literal := func(text string, line int) {
		if n := len(out); n > 0 && out[n-1].name == "" {
			out[n-1].text += text
		} else if text != "" {
			out = append(out, piece{text: text, line: line})
		}
	}
	for i, p := range pieces {
		value, isOverlay := o[p.name]
		switch {
		case p.name == "":
			literal(p.text, p.line)
		case !isOverlay && !slices.Contains(overlayNames, p.name):
			out = append(out, p)
		case value != "":
			literal(value, p.line)
		case aloneOnLine(out, pieces[i+1:]) && i+1 < len(pieces):
			next := strings.TrimPrefix(pieces[i+1].text, "\n")
			if blankBefore(out) {
				next = strings.TrimPrefix(next, "\n")
			}
			pieces[i+1].text = next
		}
	}
	if n := len(out); n > 0 && out[n-1].name == "" {
		if out[n-1].text = strings.TrimRight(out[n-1].text, "\n"); out[n-1].text == "" {
			out = out[:n-1]
		}
	}
	return out
}

// aloneOnLine reports whether nothing else stands on the line between what came
// before and what comes next.
func aloneOnLine(before, next []piece) bool {
	starts := len(before) == 0 || before[len(before)-1].name == "" && strings.HasSuffix(before[len(before)-1].text, "\n")
	ends := len(next) == 0 || next[0].name == "" && strings.HasPrefix(next[0].text, "\n")
	return starts && ends
}

func blankBefore(before []piece) bool {
	return len(before) == 0 || strings.HasSuffix(before[len(before)-1].text, "\n\n")
}
