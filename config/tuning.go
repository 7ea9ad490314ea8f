package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Tuning is [prompts.<metric>]: what is added to the prompts of one metric, or of
// one template, in place of what is added to all.
type Tuning struct {
	// Domain and Language are as in Prompts, Rubric holds further rules.
	Domain, Language, Rubric string
	// Examples is a JSONL file with worked examples for this metric.
	Examples string
}

// tuningKeys are the keys of [prompts.<metric>], in the order of
// config.example.toml.
var tuningKeys = []string{"domain", "language", "rubric", "examples"}

func (t *Tuning) values() map[string]value {
	return map[string]value{
		"domain": text{&t.Domain, notBlank}, "language": text{&t.Language, notBlank}, "rubric": text{&t.Rubric, notBlank},
		"examples": path{p: &t.Examples},
	}
}

// notBlank refuses a text that adds nothing.
func notBlank(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("is empty; leave it out to take what is said for all metrics")
	}
	return nil
}

// isTuning reports whether a key is a table [prompts.<metric>], and not a typo of
// the one that has a name of its own.
func isTuning(key string, v any) bool {
	name, ok := strings.CutPrefix(key, "prompts.")
	_, table := v.(map[string]any)
	return ok && table && nearest(strings.ToLower(name), []string{"rubric"}) == ""
}

// tuning reads [prompts.<metric>].
func (l *loader) tuning(key, name string, v any) {
	var t Tuning
	parts := t.values()
	m := v.(map[string]any)
	for _, part := range slices.Sorted(maps.Keys(m)) {
		full := key + "." + part
		target, ok := parts[part]
		if !ok {
			l.unknownPart(full, key, part, m[part], tuningKeys)
			continue
		}
		if err := target.fromTOML(m[part]); err != nil {
			l.inFile(full, err)
		}
	}
	if len(m) == 0 {
		l.inFile(key, errors.New("it is empty; it takes domain, language, rubric and examples"))
	}
	t.Examples = l.doc.resolve(t.Examples)
	l.cfg.Prompts.For[name] = t
}

// resolvedTuning shows what is set of the tables [prompts.<metric>].
func (c *Config) resolvedTuning(prompts map[string]any) {
	for name, t := range c.Prompts.For {
		set := map[string]any{}
		for part, v := range t.values() {
			if r := v.resolved(); r != "" {
				set[part] = r
			}
		}
		prompts[concealKey(name)] = set
	}
}
