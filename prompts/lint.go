package prompts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Warning is something about a template that is not wrong but worth a second
// look.
type Warning struct {
	// Template is the template's name, Path its file.
	Template, Path string
	// Line is the number of the line in the file.
	Line    int
	Message string
}

// String gives the warning as file:line: message.
func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s", w.Path, w.Line, w.Message) }

// tailLimit is how much fixed text may stand behind the first data, in bytes:
// a closing remark is fine, instructions are not.
const tailLimit = 200

// almost matches what was probably meant as a placeholder.
var almost = regexp.MustCompile(`\{\{[-~#^/>&!]?\s*([\pL_]+)[^{}"'\n]*\}\}|\{%[^{}\n]*%\}|\{\s*([A-Za-z_]+)\s*\}|<<\s*([A-Za-z_]+)\s*>>|\$\{?([A-Za-z_]+)\}?`)

// foreign matches what another tool would evaluate, and which is sent to the
// judge as it stands: {{ name }}, {{name | filter}}, {{user.name}}, {% if %}.
var foreign = regexp.MustCompile(`^\{\{[-~#^/>&!]?\s*[A-Za-z_][^{}"']*\}\}$|^\{%.*%\}$`)

// lint reviews a template whose additions are already in it.
func lint(t *Template, o overlay) []Warning {
	var ws []Warning
	warn := func(line int, format string, args ...any) {
		ws = append(ws, Warning{Template: t.Name, Path: t.Path, Line: line, Message: fmt.Sprintf(format, args...)})
	}
	system, user := sourceParts(t)
	for _, name := range []string{Domain, Language} {
		if given := o[name] != "" && o[name] != sameLanguage; given && !uses(system, user, name) {
			warn(1, "%s is given, but the template has no {{%s}} to take it", name, name)
		}
	}
	for _, p := range [][]piece{system, user} {
		lintLiterals(p, warn)
	}
	lintOrder(user, warn)
	return ws
}

// sourceParts returns the pieces of the template as its file has them.
func sourceParts(t *Template) (system, user []piece) {
	quiet := func(int, string, ...any) error { return nil }
	lines := strings.Split(t.Source, "\n")
	_, body, _ := frontMatter(lines, quiet)
	sys, usr, _ := parts(lines, body, quiet)
	system, _ = check(t.spec, sys, true, quiet)
	user, _ = check(t.spec, usr, false, quiet)
	return system, user
}

func uses(system, user []piece, name string) bool {
	return (&Template{system: system, user: user}).Uses(name)
}

// lintLiterals looks for placeholders in the syntax of other tools.
func lintLiterals(pieces []piece, warn func(int, string, ...any)) {
	for _, p := range pieces {
		for _, m := range almost.FindAllStringSubmatchIndex(p.text, -1) {
			found := p.text[m[0]:m[1]]
			name := ""
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					name = p.text[m[g]:m[g+1]]
				}
			}
			if peer := peerNames[name]; peer != "" {
				name = peer
			}
			line := p.line + strings.Count(p.text[:m[0]], "\n")
			if slices.Contains(allNames, name) {
				warn(line, "%s is literal text; the placeholder is {{%s}}", found, name)
			} else if foreign.MatchString(found) {
				warn(line, "%s is literal text and no placeholder, which is {{name}} with a known name and nothing else%s", found, didYouMean(name, allNames))
			}
		}
	}
}

// lintOrder looks for fixed text behind the data, and for data that stands in a
// line or twice.
func lintOrder(user []piece, warn func(int, string, ...any)) {
	seen := map[string]bool{}
	data, tail := false, 0
	for i, p := range user {
		switch {
		case isData(p.name):
			if seen[p.name] {
				warn(p.line, "{{%s}} stands here a second time; the data is sent, and paid, twice", p.name)
			}
			if !aloneOnLine(user[:i], user[i+1:]) {
				warn(p.line, "{{%s}} should stand on a line of its own; its value is a block of lines", p.name)
			}
			seen[p.name], data = true, true
		case p.name != "" && data:
			warn(p.line, "{{%s}} is the same for every sample but stands behind the data; put it first, for the provider's prompt cache", p.name)
		case data:
			tail += len(strings.TrimSpace(p.text))
			if tail > tailLimit {
				warn(p.line, "fixed text stands behind the data; put it into the system part, for the provider's prompt cache")
				tail = -1 << 30
			}
		}
	}
}
