// Package prompts holds the prompt templates of the judged metrics: embedded,
// versioned, overridable, and checked when they are loaded.
//
// A template is a text file, <metric>/<step>.md:
//
//	---
//	version: 1
//	---
//	[system]
//	The part that never changes: instructions, rubric, examples, reply format.
//
//	[user]
//	The sample: {{user_input}} {{response}} ...
//
// A placeholder is {{name}} with a known name and nothing else; every other
// brace is literal text, so that JSON needs no escaping. There are two kinds.
// The fixed ones ({{reply_format}}, {{domain}}, {{rubric}}, {{examples}},
// {{language}}) are the same for every sample. The others are the sample's
// data, and only the user part may hold them: the system part stays the same
// from call to call, which is what the providers' prompt caches live on.
//
// Values are inserted in one pass, byte for byte. Template syntax inside a
// value is text like any other, and nothing is escaped.
//
// Load reports everything that is wrong with the templates at once, each with
// its file and line: an unknown or forgotten placeholder, an empty file, a
// wrong path, a file name that no metric reads. Nothing wrong falls back to
// the built-in text.
package prompts

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

//go:embed templates
var embedded embed.FS

// Options says what is added to the built-in templates. The zero value adds
// nothing.
type Options struct {
	// Dir is a folder with templates of one's own, <metric>/<step>.md; each
	// replaces the built-in one of that name. Empty for none.
	Dir string
	// Domain is a sentence or two about the field of the samples.
	Domain string
	// Language is the language of claims and reasons ("German"). Empty keeps
	// the language of the text that is judged.
	Language string
	// Rubric holds further rules, by the template's name ("claims/split") or by
	// its metric ("faithfulness").
	Rubric map[string]string
	// Examples are worked examples, each for one template; see ReadExamples.
	Examples []Example
	// For holds additions for one template ("claims/split") or for all of a metric
	// ("faithfulness"), which go before those for all.
	For map[string]Tuning
	// Custom are the metrics of the user's own, each with a template.
	Custom []Custom
	// Forms says what replies may hold, by template; the examples are held against
	// it. A template that isn't there is not checked for that.
	Forms map[string]Form
}

// sameLanguage stands for {{language}} where no language is given.
const sameLanguage = "the language of the text that is judged"

// Message is one turn of the prompt.
type Message struct {
	// Role is "system" or "user".
	Role    string
	Content string
}

// Set is a complete set of templates, one for each known name. It never
// changes and is safe for concurrent use.
type Set struct {
	templates map[string]*Template
	specs     []spec
	warnings  []Warning
}

// Default returns the built-in templates.
func Default() *Set {
	s, err := Load(Options{})
	if err != nil {
		// The embedded templates are part of the code, and a test loads them.
		panic(fmt.Sprintf("prompts: the built-in templates are wrong: %v", err))
	}
	return s
}

// Load returns the built-in templates with the overrides and additions of the
// options. The error joins everything that is wrong, one line each, starting
// with the file and the line where there is one.
func Load(o Options) (*Set, error) {
	specs, problems := withCustom(o.Custom)
	files, errs := overrides(o.Dir, specs)
	problems = append(problems, errs...)
	over, errs := overlaysOf(o, specs)
	problems = append(problems, errs...)

	s := &Set{templates: map[string]*Template{}, specs: specs}
	for _, sp := range specs {
		t, errs := load(sp, files[sp.name], o.Custom)
		if len(errs) == 0 {
			errs = t.apply(over[sp.name])
		}
		problems = append(problems, errs...)
		s.templates[sp.name] = t
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	for _, t := range s.List() {
		s.warnings = append(s.warnings, lint(t, over[t.Name])...)
	}
	return s, nil
}

// load parses the override of a template, or the built-in one if the file's
// path is empty.
func load(sp spec, f file, custom []Custom) (*Template, []error) {
	if f.path != "" {
		return parse(sp, f.path, f.text)
	}
	source := sp.name
	i := slices.IndexFunc(custom, func(c Custom) bool { return c.Template() == sp.name })
	if i >= 0 {
		source = customFolder + "/" + custom[i].Kind
	}
	text, err := fs.ReadFile(embedded, "templates/"+source+".md")
	if err != nil {
		return nil, []error{fmt.Errorf("read the built-in template %s: %w", source, err)}
	}
	if i >= 0 {
		text = custom[i].expand(text)
	}
	t, errs := parse(sp, "built-in:"+sp.name+".md", text)
	if t != nil {
		t.BuiltIn = true
	}
	return t, errs
}

// Names lists the built-in templates, sorted.
func Names() []string { return namesOf(specs) }

// Get returns the template of that name.
func (s *Set) Get(name string) (*Template, error) {
	t := s.templates[name]
	if t == nil {
		return nil, fmt.Errorf("find the prompt template %q: there is none of that name%s", name, didYouMean(name, namesOf(s.specs)))
	}
	return t, nil
}

// List returns all templates, sorted by name.
func (s *Set) List() []*Template {
	return slices.SortedFunc(maps.Values(s.templates), func(a, b *Template) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// Render fills in a template: one system and one user message. The values are
// reply_format and the data, by placeholder; each is inserted as it is. A
// placeholder without a value is an error, a value without a placeholder is
// not.
func (s *Set) Render(name string, values map[string]string) ([]Message, error) {
	t, err := s.Get(name)
	if err != nil {
		return nil, err
	}
	system, err := fill(t.system, values)
	if err != nil {
		return nil, fmt.Errorf("render the prompt template %s: %w", name, err)
	}
	user, err := fill(t.user, values)
	if err != nil {
		return nil, fmt.Errorf("render the prompt template %s: %w", name, err)
	}
	return []Message{{Role: "system", Content: system}, {Role: "user", Content: user}}, nil
}

// Hash returns the SHA-256 over the hashes of all templates, in hexadecimal.
func (s *Set) Hash() string {
	h := sha256.New()
	for _, t := range s.List() {
		fmt.Fprintf(h, "%s %s\n", t.Name, t.Hash)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Lint returns what is not wrong but worth a second look, in the order of the
// templates.
func (s *Set) Lint() []Warning { return slices.Clone(s.warnings) }
