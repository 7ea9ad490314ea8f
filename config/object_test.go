package config_test

import (
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
)

// TestExtraBody refuses what can't be sent, what ragjudge writes itself, and
// secrets, wherever they stand.
func TestExtraBody(t *testing.T) {
	for name, c := range map[string]struct{ toml, env, want string }{
		"no table":          {`7`, `7`, "must be"},
		"own field":         {`{ messages = [] }`, `{"messages": []}`, `"messages" is written by ragjudge`},
		"secret value":      {`{ a = { b = ["sk-abcdefgh12345678"] } }`, `{"a": {"b": ["sk-abcdefgh12345678"]}}`, "looks like a"},
		"secret by name":    {`{ api_key = "tiger" }`, `{"api_key": "tiger"}`, "looks like a"},
		"no finite number":  {`{ a = nan }`, `{"a": NaN}`, "must be a"},
		"a date":            {`{ a = 2026-01-02 }`, `{"a": 2026-01-02}`, "must be a"},
		"more than a value": {`[{ a = 1 }]`, `{"a": 1} {"b": 2}`, "must be"},
	} {
		t.Run(name, func(t *testing.T) {
			_, inFile := config.Load(write(t, "judge.extra_body = "+c.toml), config.Options{Partial: true})
			_, inEnv := config.Load("", config.Options{Partial: true, Environ: []string{"RAGJUDGE_JUDGE_EXTRA_BODY=" + c.env}})
			for _, err := range []error{inFile, inEnv} {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "tiger") || strings.Contains(err.Error(), "sk-abc") {
					t.Errorf("%v, want %q and no secret", err, c.want)
				}
			}
		})
	}
}
