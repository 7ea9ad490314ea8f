package prompts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Template is one prompt, parsed and checked.
type Template struct {
	// Name is the metric and the step: "faithfulness/verdict".
	Name string
	// Version is the number in the front matter.
	Version int
	// Path is the file that it came from; a built-in one has a path that starts
	// with "built-in:".
	Path string
	// BuiltIn reports that no file overrides it.
	BuiltIn bool
	// Source is the file's text, with line endings normalised and without the
	// additions.
	Source string
	// Hash is the SHA-256, in hexadecimal, over the version and both parts with
	// their additions. Line endings and blank lines around a part don't count.
	Hash string

	spec         spec
	system, user []piece
}

// piece is a run of literal text, or a placeholder if name isn't empty.
type piece struct {
	text string
	name string
	line int
}

// Uses reports whether the template holds the placeholder.
func (t *Template) Uses(name string) bool {
	is := func(p piece) bool { return p.name == name }
	return slices.ContainsFunc(t.system, is) || slices.ContainsFunc(t.user, is)
}

// Parts returns both parts as they will be sent, with {{name}} where a value
// goes.
func (t *Template) Parts() (system, user string) { return show(t.system), show(t.user) }

func show(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.name != "" {
			b.WriteString("{{" + p.name + "}}")
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// fill puts the values into the placeholders, in one pass.
func fill(pieces []piece, values map[string]string) (string, error) {
	var b strings.Builder
	for _, p := range pieces {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		v, ok := values[p.name]
		if !ok {
			return "", fmt.Errorf("no value for {{%s}}", p.name)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// parse reads a template's file and reports all that is wrong with it.
func parse(sp spec, path string, raw []byte) (*Template, []error) {
	at := func(line int, format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", path, line, fmt.Sprintf(format, args...))
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	if !utf8.ValidString(text) {
		return nil, []error{at(badUTF8(text), "the file is not UTF-8 here")}
	}
	if strings.TrimSpace(text) == "" {
		return nil, []error{at(1, "the template is empty; remove the file to use the built-in one")}
	}
	text = strings.TrimRight(text, "\n") + "\n"

	t := &Template{Name: sp.name, Path: path, Source: text, spec: sp}
	lines := strings.Split(text, "\n")
	version, body, errs := frontMatter(lines, at)
	t.Version = version
	system, user, more := parts(lines, body, at)
	errs = append(errs, more...)
	t.system, more = check(sp, system, true, at)
	errs = append(errs, more...)
	t.user, more = check(sp, user, false, at)
	errs = append(errs, more...)
	for _, name := range sp.required {
		if !t.Uses(name) {
			errs = append(errs, at(1, "the placeholder {{%s}} is missing; %s can't work without it", name, sp.name))
		}
	}
	return t, errs
}

func badUTF8(text string) int {
	line := 1
	for i, r := range text {
		if r == '\n' {
			line++
		}
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			break
		}
	}
	return line
}

type at = func(line int, format string, args ...any) error

// frontMatter reads the lines between the two --- and returns the version and
// the index of the line behind them.
func frontMatter(lines []string, at at) (version, body int, errs []error) {
	end := -1
	if strings.TrimRight(lines[0], " \t") == "---" {
		end = slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimRight(l, " \t") == "---" })
	}
	if end < 0 {
		return 0, 0, []error{at(1, "the front matter is missing; start the file with ---, version: 1, --- on three lines")}
	}
	for i, l := range lines[1 : end+1] {
		key, value, found := strings.Cut(l, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case key == "" && !found || strings.HasPrefix(key, "#"):
		case !found:
			errs = append(errs, at(i+2, "the front matter needs lines of the form key: value, not %q", l))
		case key != "version":
			errs = append(errs, at(i+2, "unknown key %q in the front matter%s", key, didYouMean(key, []string{"version"})))
		case version != 0:
			errs = append(errs, at(i+2, "a second version in the front matter"))
		default:
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				errs = append(errs, at(i+2, "version must be a whole number from 1, not %q", value))
				n = 1
			}
			version = n
		}
	}
	if version == 0 {
		errs = append(errs, at(1, "the front matter has no version; write version: 1"))
	}
	return version, end + 2, errs
}

// part is the text of a part and the number of its first line.
type part struct {
	text string
	line int
}

// parts finds the system and the user part behind the front matter.
func parts(lines []string, body int, at at) (system, user part, errs []error) {
	sys, usr := -1, -1
	for i := body; i < len(lines); i++ {
		switch strings.TrimRight(lines[i], " \t") {
		case "[system]":
			if sys >= 0 || usr >= 0 {
				errs = append(errs, at(i+1, "a second [system], or one behind [user]; there is one of each, [system] first"))
				continue
			}
			sys = i
		case "[user]":
			if usr >= 0 {
				errs = append(errs, at(i+1, "a second [user]; there is one of each, [system] first"))
				continue
			}
			usr = i
		default:
			if sys < 0 && usr < 0 && strings.TrimSpace(lines[i]) != "" {
				errs = append(errs, at(i+1, "text in front of [system]: %q", cut(lines[i], 40)))
			}
		}
	}
	if sys < 0 {
		errs = append(errs, at(body+1, "the line [system] is missing; the instructions stand behind it"))
	}
	if usr < 0 {
		errs = append(errs, at(len(lines), "the line [user] is missing; the sample's placeholders stand behind it"))
	}
	if sys < 0 || usr < 0 {
		return part{}, part{}, errs
	}
	system, user = partOf(lines, sys+1, usr), partOf(lines, usr+1, len(lines))
	if system.text == "" {
		errs = append(errs, at(sys+1, "the system part is empty"))
	}
	if user.text == "" {
		errs = append(errs, at(usr+1, "the user part is empty"))
	}
	return system, user, errs
}

// partOf joins lines[from:to] without the blank lines around them.
func partOf(lines []string, from, to int) part {
	for from < to && strings.TrimSpace(lines[from]) == "" {
		from++
	}
	for to > from && strings.TrimSpace(lines[to-1]) == "" {
		to--
	}
	return part{text: strings.Join(lines[from:to], "\n"), line: from + 1}
}

// check splits a part into its pieces and reports placeholders that are unknown
// or in the wrong place.
func check(sp spec, p part, system bool, at at) ([]piece, []error) {
	pieces := split(p.text)
	var errs []error
	for i := range pieces {
		q := &pieces[i]
		q.line += p.line
		known := slices.Contains(allNames, q.name)
		switch {
		case q.name == "":
		case !known && peerNames[q.name] != "":
			errs = append(errs, at(q.line, "unknown placeholder {{%s}} (did you mean %q?)", q.name, peerNames[q.name]))
		case !known:
			errs = append(errs, at(q.line, "unknown placeholder {{%s}}%s", q.name, didYouMean(q.name, allNames)))
		case slices.Contains(ownNames, q.name) && !slices.Contains(sp.required, q.name) && !slices.Contains(sp.optional, q.name):
			errs = append(errs, at(q.line, "{{%s}} is for metrics that the configuration defines, and %s is none", q.name, sp.name))
		case !isData(q.name):
		case !slices.Contains(sp.required, q.name) && !slices.Contains(sp.optional, q.name):
			errs = append(errs, at(q.line, "{{%s}} is not known in %s; its data are %s", q.name, sp.name, strings.Join(sp.data(), ", ")))
		case system:
			errs = append(errs, at(q.line, "{{%s}} changes with every sample and belongs behind [user]", q.name))
		}
	}
	return pieces, errs
}

// data lists the data that the step may show.
func (sp spec) data() []string {
	var names []string
	for _, n := range slices.Concat(sp.required, sp.optional) {
		if isData(n) {
			names = append(names, n)
		}
	}
	return names
}

// split cuts a text into literal pieces and placeholders, known or not. A
// placeholder is {{ and }} with an identifier and nothing else between them;
// letters may be of any script, so that a translated name is found to be
// unknown rather than sent as it stands. Lines are counted from 0.
func split(text string) []piece {
	var pieces []piece
	start, line, startLine := 0, 0, 0
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			line++
		}
		name := placeholderAt(text[i:])
		if name == "" {
			i++
			continue
		}
		if start < i {
			pieces = append(pieces, piece{text: text[start:i], line: startLine})
		}
		pieces = append(pieces, piece{name: name, line: line})
		i += len(name) + len("{{}}")
		start, startLine = i, line
	}
	if start < len(text) {
		pieces = append(pieces, piece{text: text[start:], line: startLine})
	}
	return pieces
}

// placeholderAt returns the name of the placeholder with which the text starts,
// or "".
func placeholderAt(text string) string {
	rest, ok := strings.CutPrefix(text, "{{")
	if !ok {
		return ""
	}
	for i, r := range rest {
		switch {
		case r == '_' || unicode.IsLetter(r) || i > 0 && (unicode.IsDigit(r) || unicode.IsMark(r)):
		case i > 0 && strings.HasPrefix(rest[i:], "}}"):
			return rest[:i]
		default:
			return ""
		}
	}
	return ""
}

// hash is the SHA-256 of the version and the pieces, which tell literal text
// that looks like a placeholder from a placeholder.
func (t *Template) hash() string {
	type form struct{ Text, Name string }
	forms := func(pieces []piece) []form {
		fs := []form{}
		for _, p := range pieces {
			fs = append(fs, form{p.text, p.name})
		}
		return fs
	}
	b, err := json.Marshal([]any{"prompt/1", t.Version, forms(t.system), forms(t.user)})
	if err != nil {
		panic(fmt.Sprintf("prompts: a template can't be encoded: %v", err)) // strings and numbers only
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// cut shortens a text to n runes.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "..."
}
