package prompts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// overlay is what the options add to one template, by placeholder.
type overlay map[string]string

// overlaysOf sorts the additions of the options by template.
func overlaysOf(o Options) (map[string]overlay, []error) {
	var problems []error
	over := map[string]overlay{}
	language := clean(o.Language)
	if language == "" {
		language = sameLanguage
	}
	for _, sp := range specs {
		over[sp.name] = overlay{Domain: clean(o.Domain), Language: language}
		rubric, ok := o.Rubric[sp.name]
		if !ok {
			rubric = o.Rubric[metric(sp.name)]
		}
		over[sp.name][Rubric] = clean(rubric)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Rubric)) {
		known := slices.Concat(Names(), metricNames())
		if !slices.Contains(known, key) {
			problems = append(problems, fmt.Errorf("rubric for %q: no prompt template or metric of that name%s", key, didYouMean(key, known)))
		}
	}
	problems = append(problems, addExamples(o.Examples, over)...)
	return over, problems
}

func clean(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
}

// apply writes the additions into the template, where they are literal text
// from then on, and hashes the result. A line with nothing but a placeholder
// whose addition is empty is left out, together with the blank line behind it.
func (t *Template) apply(o overlay) []error {
	var problems []error
	for _, name := range []string{Rubric, Examples} {
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
