package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// judgesTable is the array of tables with a judge each.
const judgesTable = "judges"

// Panel says how several judges, or several trials of one, make one score.
type Panel struct {
	// Vote is "majority" (the default), "mean" or "median".
	Vote string
	// Trials is how often each judge gives each verdict and rating. Default: 1;
	// at most 100.
	Trials int
	// MaxDisagreement is from where on a sample is flagged judges_disagree: 0 to
	// 1. Default: 0.25.
	MaxDisagreement float64
}

// panelKeys are the keys of [judge] that are no judge's own.
var panelKeys = []string{"vote", "trials", "max_disagreement"}

// AllJudges returns the judges: those of [[judges]] or, without any, the one of
// [judge].
func (c *Config) AllJudges() []*Judge {
	if len(c.Judges) == 0 {
		return []*Judge{&c.Judge}
	}
	all := make([]*Judge, len(c.Judges))
	for i := range c.Judges {
		all[i] = &c.Judges[i]
	}
	return all
}

// JudgeKey is the name of a key of the judge at index i of AllJudges, for Place
// and for messages: "judges.2.model", or "judge.model" without [[judges]].
func (c *Config) JudgeKey(i int, name string) string {
	if len(c.Judges) == 0 {
		return "judge." + name
	}
	key := judgeEntry(i) + "." + name
	if _, own := c.places[key]; !own {
		if _, inherited := c.places["judge."+name]; inherited {
			return "judge." + name
		}
		return judgeEntry(i)
	}
	return key
}

// judgeEntry names the table of a judge, by its number from 1.
func judgeEntry(i int) string { return judgesTable + "." + strconv.Itoa(i+1) }

// judgeSettings are the settings that a judge can have of its own, by name.
func judgeSettings() map[string]setting {
	own := map[string]setting{}
	for _, s := range settings {
		if name, ok := strings.CutPrefix(s.key, "judge."); ok && !slices.Contains(panelKeys, name) {
			own[name] = s
		}
	}
	return own
}

// judges reads [[judges]], as far as one table can be judged by itself. What is
// inherited is known when all layers are read.
func (l *loader) judges(v any) {
	list, ok := v.([]any)
	if m, single := v.(map[string]any); single {
		l.inFile(judgesTable, fmt.Errorf("must be a list of tables: write [[judges]] above each judge, not [judges]"))
		l.inspect(judgesTable, m, false)
		return
	}
	if !ok {
		l.inFile(judgesTable, wrongType("a list of tables, [[judges]]", v))
		return
	}
	own := judgeSettings()
	known := append(slices.Sorted(maps.Keys(own)), "headers", "name")
	for i, item := range list {
		key := judgeEntry(i)
		entry, ok := item.(map[string]any)
		if !ok {
			l.inFileNear(key, judgesTable, wrongType("a table, [[judges]]", item))
			return
		}
		scratch := Default()
		for _, name := range slices.Sorted(maps.Keys(entry)) {
			full := key + "." + name
			switch s, single := own[name]; {
			case single:
				if err := s.at(scratch).fromTOML(entry[name]); err != nil {
					l.inFile(full, err)
				}
			case name == "name":
				if err := (text{&scratch.Judge.Name, judgeName}).fromTOML(entry[name]); err != nil {
					l.inFile(full, err)
				}
			case name == "headers":
				l.texts(table{key: full, at: func(c *Config) map[string]string { return scratch.Judge.Headers }, item: header}, entry[name])
			case slices.Contains(panelKeys, name):
				l.inFile(full, fmt.Errorf("belongs into [judge]: it is of all judges together"))
			default:
				l.unknownPart(full, key, name, entry[name], known)
			}
		}
		l.entries = append(l.entries, entry)
	}
}

// judgeName takes the name of a judge, which stands in results and reports.
func judgeName(s string) error {
	if s == "" || utf8.RuneCountInString(s) > 100 {
		return errors.New("must be a name of 1 to 100 characters")
	}
	return tidy(s)
}

// panel makes the judges of [[judges]], each over [judge] as all layers left it,
// and checks them against each other.
func (l *loader) panel() {
	for i, entry := range l.entries {
		l.cfg.Judges = append(l.cfg.Judges, l.oneJudge(i, entry))
	}
	l.nameJudges()
	if len(l.problems.List) > 0 {
		return // of half a judge nothing can be told
	}
	for i := range l.cfg.Judges {
		for j := range i {
			l.compareJudges(j, i)
		}
	}
}

// oneJudge lays the keys of an entry over [judge]. A key that the environment
// or a flag sets goes before the entry's, as it does before the file's.
func (l *loader) oneJudge(i int, entry map[string]any) Judge {
	base := l.cfg.Judge
	c := &Config{Judge: base}
	c.Judge.Headers = maps.Clone(base.Headers)
	own := map[string]bool{}
	for name, s := range judgeSettings() {
		v, given := entry[name]
		if !given || l.layer[s.key] > layerFile || l.bad[judgeEntry(i)+"."+name] {
			continue
		}
		target := s.at(c)
		if target.fromTOML(v) != nil {
			continue
		}
		if p, ok := target.(path); ok {
			*p.p = l.doc.resolve(*p.p)
		}
		own[name] = true
	}
	if m, ok := entry["headers"].(map[string]any); ok {
		for name, v := range m {
			if s, ok := v.(string); ok {
				c.Judge.Headers[name] = s
			}
		}
	}
	j := c.Judge
	j.Name, _ = entry["name"].(string)
	j.keyEnvGiven = own["api_key_env"] || l.layer["judge.api_key_env"] > layerDefault
	if j.Provider != base.Provider || j.Model != base.Model || j.BaseURL != base.BaseURL {
		// A price is one of a model at an endpoint: another one's would be wrong.
		for name, p := range map[string]**float64{"price_input": &j.PriceInput, "price_output": &j.PriceOutput, "price_cached": &j.PriceCached,
			"price_cache_write": &j.PriceCacheWrite, "price_batch_input": &j.PriceBatchInput, "price_batch_output": &j.PriceBatchOutput} {
			if !own[name] {
				*p = nil
			}
		}
	}
	if own["api_key_env"] && !own["api_key_file"] {
		j.APIKeyFile = "" // which would go before the variable
	}
	if j.Provider == Lexical && !own["base_url"] {
		j.BaseURL = ""
	}
	l.strangerWithKey(i, &j, own)
	return j
}

// strangerWithKey reports a judge that would send the key of [judge] to another
// host only because it names none of its own.
func (l *loader) strangerWithKey(i int, j *Judge, own map[string]bool) {
	base := &l.cfg.Judge
	given := l.layer["judge.api_key_env"] > layerDefault && base.APIKeyEnv != "" || base.APIKeyFile != ""
	if !given || !own["base_url"] || own["api_key_env"] || own["api_key_file"] || j.Provider == Lexical || local(j.BaseURL) {
		return
	}
	if mine, theirs := hostOf(j), hostOf(base); mine != theirs {
		key := judgeEntry(i) + ".base_url"
		l.inFile(key, fmt.Errorf("the key that [judge] names would be sent to %s as well; set api_key_env for this judge (\"\" sends none)", mine))
	}
}

// hostOf is the host of a judge's endpoint, in lower case.
func hostOf(j *Judge) string {
	if j.BaseURL == "" {
		return "api.openai.com"
	}
	u, err := url.Parse(j.BaseURL)
	if err != nil {
		return j.BaseURL
	}
	return strings.ToLower(u.Host)
}

// nameJudges gives each judge without a name that of its model, and reports two
// with one name.
func (l *loader) nameJudges() {
	seen := map[string]int{}
	for i := range l.cfg.Judges {
		j := &l.cfg.Judges[i]
		given := j.Name != ""
		if !given {
			if j.Name = j.Model; j.Provider == Lexical {
				j.Name = Lexical
			}
		}
		if j.Name == "" {
			continue // it has no model either, which is told elsewhere
		}
		first, twice := seen[j.Name]
		if !twice {
			seen[j.Name] = i
			continue
		}
		key := judgeEntry(i)
		if given {
			key += ".name"
		}
		l.inFileNear(key, judgeEntry(i), fmt.Errorf("a second judge with the name %s (the first is at %s); give each a name of its own", show(j.Name), l.cfg.Place(judgeEntry(first))))
	}
}

// compareJudges reports two judges that ask the same, and two that ask one model
// at one endpoint in ways that a connection can't tell apart.
func (l *loader) compareJudges(i, k int) {
	a, b := l.cfg.Judges[i], l.cfg.Judges[k]
	if a.Provider != b.Provider {
		return
	}
	at := judgeEntry(k)
	if a.Provider == Lexical {
		l.inFile(at, fmt.Errorf("the judges %s and %s are both the lexical one, which always says the same: leave one out", show(a.Name), show(b.Name)))
		return
	}
	if endpointText(&a) != endpointText(&b) || a.Model != b.Model {
		return
	}
	if reflect.DeepEqual(asked(a), asked(b)) {
		l.inFile(at, fmt.Errorf("the judges %s and %s are the same: the same endpoint, model and parameters; leave one out, or set judge.trials to ask one several times", show(a.Name), show(b.Name)))
		return
	}
	for _, c := range []struct {
		key  string
		a, b any
	}{
		{"api_key_env", a.APIKeyEnv, b.APIKeyEnv}, {"api_key_file", a.APIKeyFile, b.APIKeyFile}, {"organization", a.Organization, b.Organization},
		{"project", a.Project, b.Project}, {"timeout", a.Timeout, b.Timeout}, {"structured", a.Structured, b.Structured},
		{"headers", a.Headers, b.Headers}, {"ca_file", a.CAFile, b.CAFile}, {"insecure", a.Insecure, b.Insecure},
		{"price_input", a.PriceInput, b.PriceInput}, {"price_output", a.PriceOutput, b.PriceOutput}, {"price_cached", a.PriceCached, b.PriceCached},
		{"price_cache_write", a.PriceCacheWrite, b.PriceCacheWrite}, {"price_batch_input", a.PriceBatchInput, b.PriceBatchInput}, {"price_batch_output", a.PriceBatchOutput, b.PriceBatchOutput},
	} {
		if !reflect.DeepEqual(c.a, c.b) {
			l.inFileNear(at+"."+c.key, at, fmt.Errorf("the judges %s and %s ask the same model at the same endpoint, so they share its connection and must have the same %s", show(a.Name), show(b.Name), c.key))
			return
		}
	}
}

// endpointText tells endpoints apart.
func endpointText(j *Judge) string {
	return strings.TrimRight(strings.ToLower(j.BaseURL), "/") + " " + j.APIVersion
}

// asked is what of a judge changes its answers.
func asked(j Judge) [5]any {
	var temperature any
	if !j.OmitTemperature {
		temperature = j.Temperature
	}
	var seed any
	if j.Seed != nil {
		seed = *j.Seed
	}
	var extra any
	if len(j.ExtraBody) > 0 {
		extra = j.ExtraBody
	}
	return [5]any{temperature, j.MaxTokens, seed, extra}
}

// resolvedJudges are the judges of [[judges]] for a manifest.
func (c *Config) resolvedJudges() []any {
	out := make([]any, len(c.Judges))
	for i, j := range c.Judges {
		one := map[string]any{"name": maskText(j.Name)}
		for name, s := range judgeSettings() {
			one[name] = s.at(&Config{Judge: j}).resolved()
		}
		headers := map[string]any{}
		for name := range j.Headers {
			headers[concealKey(name)] = masked
		}
		one["headers"] = headers
		out[i] = one
	}
	return out
}
