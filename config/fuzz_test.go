package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
)

var place = regexp.MustCompile(`^[^:]*fuzz\.toml(:[1-9][0-9]*:[1-9][0-9]*|:[1-9][0-9]*)?$`)

// FuzzLoad reads any bytes as a file. It must not panic; problems have a place
// and one line; what is accepted can be resolved, encoded and asked for.
func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile(examplePath)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(commented.ReplaceAllString(string(example), "$1")))
	for _, seed := range []string{
		"", least, "\ufeff" + least, strings.ReplaceAll(least, "\n", "\r\n"), "a.b.c = 1", "[[a]]\nb = [[1],{c = 2}]", "judge = {model = 'x', headers = {a = 'b'}}",
		"[gates.\"precision@5\"]\nmin = 1", "x = 1979-05-27T07:32:00+23:59\n[metric.x]\nd = 07:32:00", "\"\" = 1\n[\"\"]", "\"a.b\" = 1\na.b = 2", "metrics = [\"\"\"\na\"\"\"]",
		"[metric]\nx.y.z = inf", "[judge]\nbase_url = \"http://[::1\"", "a = \"sk-EXAMPLE9f8e7d\"", "[judge.headers]\n\"\\u0000\" = \"\"", "\xff\xfe", "[judge\n", "\"a\\nb\" = 1", "[gates.\"a\\nb\"]\nmix = 1", "a = 9223372036854775808",
		"[[judges]]\nmodel = 'a'\n[judges.headers]\nX = 'y'\n[[judges]]\nname = 'b'\nprovider = 'lexical'", "judges = [{name = 'a', headers = 1}, [{x = 1}], 2]", "judges = [[]]", "[judges]\nx = 1", "[[judges.x]]\ny = 1",
	} {
		f.Add([]byte(seed))
	}
	name := filepath.Join(f.TempDir(), "fuzz.toml")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(name, config.Options{})
		if err == nil {
			if _, err := json.Marshal(c.Resolved()); err != nil {
				t.Errorf("encode the resolved configuration: %v", err)
			}
			for _, key := range config.Keys() {
				if p := c.Place(key); p != "the default" && !place.MatchString(p) {
					t.Errorf("%s is at %q", key, p)
				}
			}
			return
		}
		var p *config.Problems
		if !errors.As(err, &p) || len(p.List) == 0 {
			t.Fatalf("%v (%T) is no list of problems", err, err)
		}
		for _, problem := range p.List {
			if !place.MatchString(problem.Place) || problem.Message == "" {
				t.Errorf("problem without a place or a message: %+v", problem)
			}
			if strings.ContainsAny(problem.String(), "\n\r") {
				t.Errorf("more than a line: %q", problem.String())
			}
			if strings.Contains(problem.String(), "sk-EXAMPLE9f8e7d") {
				t.Errorf("a secret was told: %q", problem.String())
			}
		}
	})
}

// FuzzText gives any text to every setting by environment and flag.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "1", "-1", "1e400", "NaN", "60s", "true", "a,b", "a=b,c=d", "http://u:p@h?key=1", "sk-EXAMPLE9f8e7d", "\x00", "\xff", "~/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, key := range config.Keys() {
			for _, opt := range []config.Options{
				{Partial: true, Environ: []string{config.Variable(key) + "=" + s}},
				{Partial: true, Flags: []config.Flag{{Key: key, Value: s, Name: "--x"}}},
			} {
				c, err := config.Load("", opt)
				if err != nil {
					continue
				}
				if _, err := json.Marshal(c.Resolved()); err != nil {
					t.Errorf("%s = %q: encode the resolved configuration: %v", key, s, err)
				}
			}
		}
	})
}

// FuzzKey reads any text as a key: what comes out can stand in a header.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{"sk-1", " 'sk-1'\n", "Bearer  sk-1", "bearer \"", "\ufeff", "a b", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j := config.Default().Judge
		key, _, err := j.Key(func(string) string { return s })
		if got := key.Reveal(); err == nil && (got == "" || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' })) {
			t.Errorf("%q gave %q", s, got)
		}
	})
}
