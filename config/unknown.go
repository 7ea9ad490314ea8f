package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unknown reports a key or a table that isn't known. Of a table only the head is
// reported, but a secret in it must not go unseen.
func (l *loader) unknown(key, name string, v any) {
	if l.secrets(key, name, v) {
		return
	}
	what := "unknown key"
	meant := nearestKey(key)
	if isTable(v) {
		what = "unknown table"
		if meant = nearest(strings.ToLower(key), allTables()); meant != "" {
			meant = "[" + meant + "]"
		}
	}
	l.inFile(key, suggest(what, key, meant))
}

// isTable reports whether a value was written as [table] or [[table]].
func isTable(v any) bool {
	if items, ok := v.([]any); ok && len(items) > 0 {
		v = items[0]
	}
	_, ok := v.(map[string]any)
	return ok
}

// allTables are the names of all tables that may be written in a file.
func allTables() []string {
	names := append(slices.Clone(sections), metricTable, gatesTable, judgesTable)
	for _, t := range tables {
		names = append(names, t.key)
	}
	return names
}

// unknownPart reports an unknown key where only a few are allowed.
func (l *loader) unknownPart(full, table, part string, v any, known []string) {
	if l.secrets(full, part, v) {
		return
	}
	meant := nearest(strings.ToLower(part), known)
	if meant != "" {
		meant = concealKey(table) + "." + meant
	}
	err := suggest("unknown key", full, meant)
	if meant == "" {
		err = fmt.Errorf("unknown key; known here are %s", strings.Join(known, ", "))
	}
	l.inFile(full, err)
}

func suggest(what, key, meant string) error {
	if meant == "" {
		return errors.New(what + "; config.example.toml lists all")
	}
	msg := fmt.Sprintf("%s; did you mean %s?", what, meant)
	if strings.Contains(key, ".") && !strings.ContainsAny(meant, ".[") {
		msg += fmt.Sprintf(" %s belongs to the top of the file, before the first [table]", meant)
	}
	return errors.New(msg)
}

// secrets reports the secrets in an unknown value, and whether there are any.
func (l *loader) secrets(key, name string, v any) bool {
	if _, ok := v.(string); ok && namesUnknownSecret(name) {
		l.inFile(key, errSecret)
		return true
	}
	return l.inspect(key, v, false)
}

// inspect walks through a value of free form, reports secrets and, where it is
// used, numbers that are none; it tells whether it reported anything.
func (l *loader) inspect(key string, v any, used bool) bool {
	switch v := v.(type) {
	case string:
		if looksSecret(v) {
			l.inFile(key, errSecret)
			return true
		}
	case float64:
		if used && (math.IsNaN(v) || math.IsInf(v, 0)) {
			l.inFile(key, fmt.Errorf("must be a finite number, not %v", v))
			return true
		}
	case []any:
		for _, item := range v {
			if l.inspect(key, item, used) {
				return true // one report for the list is enough
			}
		}
	case map[string]any:
		found := false
		for _, name := range slices.Sorted(maps.Keys(v)) {
			full := key + "." + name
			if _, ok := v[name].(string); ok && namesSecret(name) {
				l.inFileNear(full, key, errSecret)
				found = true
				continue
			}
			found = l.inspect(full, v[name], used) || found
		}
		return found
	}
	return false
}

// inFileNear is inFile at the place of key or, within a list, of outer.
func (l *loader) inFileNear(key, outer string, err error) {
	if _, ok := l.doc.at[key]; !ok {
		key = outer
	}
	l.inFile(key, err)
}

// namesUnknownSecret also takes "key" and "openai_key" for one, as no key that
// is known can be meant.
func namesUnknownSecret(name string) bool {
	low := strings.ToLower(name)
	return namesSecret(name) || strings.HasSuffix(low, "_key") || strings.HasSuffix(low, "-key")
}

// concealKey is a key for a message: masked where a secret stands for a name.
func concealKey(key string) string {
	parts := strings.Split(key, ".")
	for i, p := range parts {
		if looksSecret(p) {
			parts[i] = masked
		}
	}
	return printable(strings.Join(parts, "."))
}

// printable keeps a name from the file in its line of a message: without line
// breaks and other control characters, and not too long.
func printable(s string) string {
	const most = 120
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "..."
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return s
	}
	return strconv.Quote(s)
}

// quoteKey writes a name as TOML wants it in a dotted key.
func quoteKey(name string) string {
	bare := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
	if bare {
		return name
	}
	return strconv.Quote(concealKey(name))
}
