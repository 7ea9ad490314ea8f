package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Flag is a setting from the command line.
type Flag struct {
	// Key is the key that it sets: "limits.concurrency".
	Key string
	// Value is its text: "16".
	Value string
	// Name is how the user wrote it: "--concurrency".
	Name string
}

// Options are the layers above the file.
type Options struct {
	// Environ is the environment as NAME=value; of twins the last counts.
	Environ []string
	// Flags are the flags that were given; of twins the last counts.
	Flags []Flag
	// Partial asks for no complete judge: for commands that only want to know,
	// say, the cache folder.
	Partial bool
}

// The layers, from the weakest to the strongest.
const (
	layerDefault = iota
	layerFile
	layerEnv
	layerFlag
	layerWhole // problems of the configuration as a whole come last
)

// Load reads the configuration file at path and lays the environment and the
// flags over it; an empty path is no file. A byte order mark and Windows line
// ends are fine. The error is a *[Problems] with everything that is wrong.
//
// Beyond single values it checks that
//
//   - a judge other than Lexical has a model, and Azure a base_url;
//   - Lexical isn't chosen where a base_url is given beside it or later, because
//     the scores would look like those of the endpoint; Lexical in a stronger
//     layer, as by a flag, is a plain wish to work offline and is fine;
//   - a gate has something to check.
func Load(path string, opt Options) (*Config, error) {
	l := &loader{cfg: Default(), layer: map[string]int{}, bad: map[string]bool{}}
	if path != "" {
		l.path = path
		l.file()
	}
	l.environ(opt.Environ)
	l.flags(opt.Flags)
	l.panel()
	if !opt.Partial && !l.unread {
		l.whole()
	}
	l.cfg.Judge.keyEnvGiven = l.layer["judge.api_key_env"] > layerDefault
	if len(l.problems.List) > 0 {
		l.problems.sort()
		return nil, &l.problems
	}
	slices.Sort(l.cfg.Warnings)
	return l.cfg, nil
}

// loader is the state of one Load.
type loader struct {
	cfg      *Config
	path     string
	doc      *document        // nil without a file
	unread   bool             // there is a file, and what it says isn't known
	entries  []map[string]any // of [[judges]]
	layer    map[string]int
	bad      map[string]bool // keys with a problem
	problems Problems
}

func (l *loader) warn(format string, args ...any) {
	l.cfg.Warnings = append(l.cfg.Warnings, fmt.Sprintf(format, args...))
}

// placed notes where the value of a key comes from.
func (l *loader) placed(key, place string, layer int) {
	l.cfg.places[key], l.layer[key] = place, layer
}

// file reads the file layer.
func (l *loader) file() {
	doc, problem := readDocument(l.path)
	if problem != nil {
		l.unread = true
		l.problems.List = append(l.problems.List, *problem)
		return
	}
	l.doc = doc
	for key, at := range doc.at {
		l.cfg.places[key] = fmt.Sprintf("%s:%d", doc.name, at.line)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.root)) {
		l.entry(name, name, doc.root[name])
	}
}

// entry reads one top-level key or table, or one key of a section.
func (l *loader) entry(key, name string, v any) {
	if s, ok := findSetting(key); ok {
		l.set(s, v)
		return
	}
	if t, ok := findTable(key); ok {
		l.texts(t, v)
		return
	}
	switch {
	case key == metricTable:
		l.metrics(v)
	case key == gatesTable:
		l.gates(v)
	case key == judgesTable:
		l.judges(v)
	case isTuning(key, v):
		l.tuning(key, name, v)
	case slices.Contains(sections, key):
		l.children(key, v, l.entry)
	default:
		l.unknown(key, name, v)
	}
}

// children reads the entries of a table.
func (l *loader) children(key string, v any, read func(key, name string, v any)) {
	m, ok := v.(map[string]any)
	if !ok {
		err := wrongType("a table", v)
		if _, list := v.([]any); list && key == "judge" {
			err = fmt.Errorf("%w; several judges stand in [[judges]]", err)
		}
		l.inFile(key, err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		read(key+"."+name, name, m[name])
	}
}

func (l *loader) set(s setting, v any) {
	target := s.at(l.cfg)
	if err := target.fromTOML(v); err != nil {
		l.inFile(s.key, err)
		return
	}
	if p, ok := target.(path); ok && s.key != "output.dir" {
		*p.p = l.doc.resolve(*p.p)
	}
	if p, ok := target.(paths); ok {
		for i, name := range *p.p {
			(*p.p)[i] = l.doc.resolve(name)
		}
	}
	l.layer[s.key] = layerFile
}

// resolve makes a path of the file one of the working directory.
func (d *document) resolve(p string) string {
	if p == "" || p == "-" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(d.folder, p)
}

// texts reads a table of texts with free names.
func (l *loader) texts(t table, v any) {
	l.children(t.key, v, func(key, name string, v any) {
		s, ok := v.(string)
		switch {
		case strings.HasSuffix(t.key, ".headers") && ok && (headerHoldsSecret(name) || looksSecret(s)):
			l.inFile(key, errSecretHeader)
		case !ok:
			l.inFile(key, wrongType("a text", v))
		case looksSecret(s):
			l.inFile(key, errSecret)
		default:
			if err := t.item(name, s); err != nil {
				l.inFile(key, err)
				return
			}
			t.at(l.cfg)[name] = s
			l.layer[key] = layerFile
		}
	})
}

// metrics reads [metric.<name>] tables.
func (l *loader) metrics(v any) {
	l.children(metricTable, v, func(key, name string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			l.inFile(key, wrongType(fmt.Sprintf("a table of options, [metric.%s]", quoteKey(name)), v))
			return
		}
		l.inspect(key, m, true)
		l.cfg.Metric[name] = m
	})
}

// gates reads [gates.<metric>] tables.
func (l *loader) gates(v any) {
	l.children(gatesTable, v, func(key, name string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			l.inFile(key, wrongType(fmt.Sprintf("a table with min, max or min_coverage, [gates.%s]", quoteKey(name)), v))
			return
		}
		var g Gate
		parts := map[string]value{"min": optionalNumber(&g.Min, 0, 1), "max": optionalNumber(&g.Max, 0, 1), "min_coverage": optionalNumber(&g.MinCoverage, 0, 1)}
		for _, part := range slices.Sorted(maps.Keys(m)) {
			full := key + "." + part
			target, ok := parts[part]
			if !ok {
				l.unknownPart(full, key, part, m[part], slices.Sorted(maps.Keys(parts)))
				continue
			}
			if err := target.fromTOML(m[part]); err != nil {
				l.inFile(full, err)
			}
		}
		if len(m) == 0 {
			l.inFile(key, fmt.Errorf("a gate needs min, max or min_coverage"))
		}
		l.cfg.Gates[name] = g
	})
}

// whole checks what no single key can tell.
func (l *loader) whole() {
	for i, j := range l.cfg.AllJudges() {
		l.wholeJudge(i, j)
	}
	l.wholeEmbeddings()
}

func (l *loader) wholeJudge(i int, j *Judge) {
	key := func(name string) string { return l.cfg.JudgeKey(i, name) }
	if l.bad[key("provider")] {
		return
	}
	if j.Provider == Lexical {
		if j.BaseURL != "" && (len(l.entries) > 0 || l.layer["judge.base_url"] >= l.layer["judge.provider"]) {
			l.add(Problem{Place: l.cfg.Place(key("base_url")), Key: key("base_url"), layer: layerWhole,
				Message: `an endpoint is named, but the provider is "lexical", which compares words and calls nobody: set judge.provider to "openai" or "azure", or leave the address out`})
		}
		return
	}
	if j.Model == "" && !l.bad[key("model")] {
		l.missing(key("model"), fmt.Sprintf(`the provider %q needs a model, such as "gpt-4.1-mini"; set it, or choose provider = "lexical" to run without a model`, j.Provider))
	}
	if j.Provider == Azure && j.BaseURL == "" && !l.bad[key("base_url")] {
		l.missing(key("base_url"), `the provider "azure" needs the address of its resource, such as https://name.openai.azure.com`)
	}
}

// missing reports a key that nobody has set.
func (l *loader) missing(key, message string) {
	place := l.cfg.Place(key)
	if _, set := l.cfg.places[key]; !set {
		place = l.path
	}
	l.add(Problem{Place: place, Key: key, Message: message, layer: layerWhole})
}

func (l *loader) add(p Problem) {
	l.bad[p.Key] = true
	l.problems.List = append(l.problems.List, p)
}

// inFile reports a problem at the place of a key in the file.
func (l *loader) inFile(key string, err error) {
	at := l.doc.at[key]
	place := l.path
	if at.line > 0 {
		place = fmt.Sprintf("%s:%d:%d", l.path, at.line, at.column)
	}
	l.add(Problem{Place: place, Key: concealKey(key), Message: err.Error(), layer: layerFile, line: at.line, column: at.column})
}
