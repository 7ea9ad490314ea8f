package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const envPrefix = "RAGJUDGE_"

// cacheVariable belongs to package cache.
const cacheVariable = envPrefix + "CACHE"

// Variable returns the name of the environment variable of a key:
// RAGJUDGE_LIMITS_CONCURRENCY for limits.concurrency.
func Variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// environ reads the environment layer.
func (l *loader) environ(environ []string) {
	vars := map[string]string{}
	for _, s := range environ {
		if name, v, ok := strings.Cut(s, "="); ok && strings.HasPrefix(name, envPrefix) {
			vars[name] = v
		}
	}
	delete(vars, cacheVariable)
	for _, s := range settings {
		l.variable(vars, s.key, func(v string) error { return s.at(l.cfg).fromText(v) })
	}
	for _, t := range tables {
		if t.env {
			l.variable(vars, t.key, func(v string) error { return l.pairs(t, v) })
		}
	}
	delete(vars, l.cfg.Judge.APIKeyEnv) // a key may well be kept in RAGJUDGE_KEY
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		msg := fmt.Sprintf("the environment variable %s sets nothing", name)
		if meant := nearest(name, variables()); meant != "" {
			msg += fmt.Sprintf("; did you mean %s?", meant)
		}
		l.warn("%s", msg)
	}
}

// variable applies the variable of a key, if it is set, and takes it out of vars.
func (l *loader) variable(vars map[string]string, key string, apply func(string) error) {
	name := Variable(key)
	v, ok := vars[name]
	if !ok {
		return
	}
	delete(vars, name)
	if v == "" {
		l.warn("the environment variable %s is empty and counts as not set", name)
		return
	}
	place := "the environment variable " + name
	if err := apply(v); err != nil {
		l.add(Problem{Place: place, Key: key, Message: message(err), layer: layerEnv})
		return
	}
	l.placed(key, place, layerEnv)
}

// message is an error outside the file, where "must not stand here" needs no
// place to move a key to but says the same.
func message(err error) string {
	if errors.Is(err, errSecret) {
		return "looks like a key, which is none of this setting's values; the judge's key belongs into the variable that judge.api_key_env names"
	}
	return err.Error()
}

// pairs lays name=value,name=value over a table.
func (l *loader) pairs(t table, s string) error {
	for pair := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, v, ok := strings.Cut(pair, "=")
		if !ok {
			return errors.New("must be name=value,name=value") // the text may hold a secret
		}
		name, v = strings.TrimSpace(name), strings.TrimSpace(v)
		if err := t.item(name, v); err != nil {
			return err
		}
		t.at(l.cfg)[name] = v
		l.placed(t.key+"."+name, "the environment variable "+Variable(t.key), layerEnv)
	}
	return nil
}

// variables are the names of all environment variables.
func variables() []string {
	names := []string{cacheVariable}
	for _, s := range settings {
		names = append(names, Variable(s.key))
	}
	for _, t := range tables {
		if t.env {
			names = append(names, Variable(t.key))
		}
	}
	return names
}

// flags reads the layer of the command line.
func (l *loader) flags(flags []Flag) {
	for _, f := range flags {
		place := "the flag " + f.Name
		s, ok := findSetting(f.Key)
		if !ok {
			l.add(Problem{Place: place, Key: f.Key, Message: "unknown key", layer: layerFlag})
			continue
		}
		apply := s.at(l.cfg).fromText
		if p, ok := s.at(l.cfg).(paths); ok && l.layer[f.Key] == layerFlag {
			apply = p.add
		}
		if err := apply(f.Value); err != nil {
			l.add(Problem{Place: place, Key: f.Key, Message: message(err), layer: layerFlag})
			continue
		}
		l.placed(f.Key, place, layerFlag)
	}
}
