package config

import (
	"strings"
	"time"
)

// Resolved returns the whole configuration as it counts, for a manifest: nested
// maps that encode to JSON, with the keys and tables of the file, times as text
// ("1m30s") and null for what isn't set. It holds no secret: header values are
// masked, and so are passwords and keys in base_url and every text that looks
// like a secret.
func (c *Config) Resolved() map[string]any {
	out := map[string]any{}
	for _, s := range settings {
		put(out, s.key, s.at(c).resolved())
	}
	for _, t := range tables {
		texts := map[string]any{}
		for name, v := range t.at(c) {
			if v = maskText(v); t.key == "judge.headers" {
				v = masked
			}
			texts[concealKey(name)] = v
		}
		put(out, t.key, texts)
	}
	if p, ok := out["prompts"].(map[string]any); ok {
		c.resolvedTuning(p)
	}
	if len(c.Judges) > 0 {
		out[judgesTable] = c.resolvedJudges()
	}
	metric := map[string]any{}
	for name, options := range c.Metric {
		metric[name] = concealed(options)
	}
	out[metricTable] = metric
	gates := map[string]any{}
	for name, g := range c.Gates {
		gates[name] = map[string]any{"min": g.Min, "max": g.Max, "min_coverage": g.MinCoverage}
	}
	out[gatesTable] = gates
	return out
}

// put sets a dotted key in nested maps.
func put(out map[string]any, key string, v any) {
	for {
		head, rest, nested := strings.Cut(key, ".")
		if !nested {
			out[key] = v
			return
		}
		inner, ok := out[head].(map[string]any)
		if !ok {
			inner = map[string]any{}
			out[head] = inner
		}
		out, key = inner, rest
	}
}

// concealed copies a value of free form with its secrets masked.
func concealed(v any) any {
	switch v := v.(type) {
	case string:
		return maskText(v)
	case time.Time: // its own JSON refuses offsets that TOML allows
		return v.Format(time.RFC3339Nano)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = concealed(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = concealed(item)
		}
		return out
	}
	return v
}
