package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
)

// TestJudgesInherit: what a judge doesn't set is taken from [judge], but for a
// price of another model, and paths start at the file's folder.
func TestJudgesInherit(t *testing.T) {
	c := load(t, `[judge]
model = "small"
temperature = 0.5
max_tokens = 100
price_input = 1.0
price_output = 2.0
headers = { X-Team = "search" }
vote = "median"
trials = 3
[[judges]]
name = "first"
[[judges]]
model = "large"
temperature = 0.0
headers = { X-More = "yes" }
api_key_file = "keys/large"
[[judges]]
provider = "lexical"
`, config.Options{})
	all := c.AllJudges()
	if len(all) != 3 || c.Panel != (config.Panel{Vote: "median", Trials: 3, MaxDisagreement: 0.25}) {
		t.Fatalf("%d judges, panel %+v", len(all), c.Panel)
	}
	first, large, lexical := all[0], all[1], all[2]
	if first.Name != "first" || first.Model != "small" || first.Temperature != 0.5 || *first.PriceInput != 1 || *first.PriceOutput != 2 || len(first.Headers) != 1 {
		t.Errorf("first: %+v", first)
	}
	if large.Name != "large" || large.Temperature != 0 || large.MaxTokens != 100 || large.PriceInput != nil || large.PriceOutput != nil {
		t.Errorf("large: %+v", large)
	}
	if large.Headers["X-Team"] != "search" || large.Headers["X-More"] != "yes" || c.Judge.Headers["X-More"] != "" {
		t.Errorf("headers of large %v, of [judge] %v", large.Headers, c.Judge.Headers)
	}
	if !strings.HasSuffix(large.APIKeyFile, "keys/large") {
		t.Errorf("key file %q", large.APIKeyFile)
	}
	if lexical.Name != "lexical" || lexical.Provider != config.Lexical {
		t.Errorf("lexical: %+v", lexical)
	}
	if got := c.Place("judges.2.model"); !strings.HasSuffix(got, "c.toml:13") {
		t.Errorf("place %q", got)
	}
	for i, want := range []string{"judge.model", "judges.2.model", "judge.model"} {
		if got := c.JudgeKey(i, "model"); got != want {
			t.Errorf("key %d is %q, want %q", i, got, want)
		}
	}
	b, err := json.Marshal(c.Resolved()["judges"])
	if err != nil || !strings.Contains(string(b), `"name":"large"`) || !strings.Contains(string(b), `"X-More":"[secret]"`) {
		t.Errorf("resolved %s, %v", b, err)
	}
	if one := load(t, least, config.Options{}); len(one.AllJudges()) != 1 || one.AllJudges()[0] != &one.Judge || one.JudgeKey(0, "model") != "judge.model" || one.Resolved()["judges"] != nil {
		t.Error("without [[judges]] the one of [judge] is no panel of one")
	}
}

// TestJudgesAndLayers: the environment and flags go before every judge's keys,
// as they go before the file's.
func TestJudgesAndLayers(t *testing.T) {
	c := load(t, least+"[[judges]]\nname = \"a\"\nmax_tokens = 5\n[[judges]]\nname = \"b\"\ntemperature = 1.0\n",
		config.Options{Environ: []string{"RAGJUDGE_JUDGE_MAX_TOKENS=9"}, Flags: []config.Flag{{Key: "judge.trials", Value: "2", Name: "--trials"}}})
	for _, j := range c.AllJudges() {
		if j.MaxTokens != 9 {
			t.Errorf("%s has %d", j.Name, j.MaxTokens)
		}
	}
	if c.Panel.Trials != 2 {
		t.Errorf("%d trials", c.Panel.Trials)
	}
}

func TestJudgesProblems(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"the same":          {least + "[[judges]]\nname = \"a\"\n[[judges]]\nname = \"b\"", []string{`c.toml:6:3: judges.2: the judges "a" and "b" are the same: the same endpoint, model and parameters`}},
		"the same in words": {least + "[[judges]]\nname = \"a\"\nbase_url = \"https://h/v1\"\n[[judges]]\nname = \"b\"\nbase_url = \"https://H/v1/\"\ntemperature = 0", []string{`"a" and "b" are the same`}},
		"one name":          {least + "[[judges]]\n[[judges]]\ntemperature = 1.0", []string{"c.toml:5:3: judges.2: a second judge with the name \"m\" (the first is at c.toml:4)"}},
		"one given name":    {least + "[[judges]]\nname = \"a\"\n[[judges]]\nname = \"a\"\nmodel = \"x\"", []string{`c.toml:7:1: judges.2.name: a second judge with the name "a"`}},
		"two lexical":       {least + "[[judges]]\nname = \"a\"\nprovider = \"lexical\"\n[[judges]]\nprovider = \"lexical\"\ntemperature = 1", []string{`judges.2: the judges "a" and "lexical" are both the lexical one`}},
		"two connections":   {least + "[[judges]]\nname = \"a\"\n[[judges]]\nname = \"b\"\nseed = 1\ntimeout = \"5s\"", []string{`c.toml:9:1: judges.2.timeout: the judges "a" and "b" ask the same model at the same endpoint`}},
		"typo":              {least + "[[judges]]\nmodle = \"a\"\n[[judges]]\ntemprature = 1\nvote = \"mean\"", []string{"c.toml:5:1: judges.1.modle: unknown key; did you mean judges.1.model?", "c.toml:7:1: judges.2.temprature: unknown key; did you mean judges.2.temperature?", "c.toml:8:1: judges.2.vote: belongs into [judge]"}},
		"one table":         {least + "[judges]\nmodel = \"a\"", []string{"c.toml:4:2: judges: must be a list of tables: write [[judges]] above each judge"}},
		"judge a list":      {"[[judge]]\nmodel = \"a\"", []string{"c.toml:1:3: judge: must be a table, not a list; several judges stand in [[judges]]"}},
		"no tables":         {"judges = [1]\n" + least, []string{"c.toml:1:1: judges: must be a table"}},
		"inline":            {"judges = [{name = \"a\"}, {name = \"b\", max_tokens = 0}]\n" + least, []string{"c.toml:1:38: judges.2.max_tokens: must be a whole number from 1"}},
		"a table below":     {least + "[[judges]]\nname = \"a\"\n[judges.headers]\nAuthorization = \"x\"", []string{"c.toml:7:1: judges.1.headers.Authorization: "}},
		"a bad value":       {least + "[[judges]]\nname = \"a\"\ntemperature = 3\n[[judges]]\nname = \"\"", []string{"judges.1.temperature: must be a number from 0 to 2, not 3", "judges.2.name: must be a name of 1 to 100 characters"}},
		"trials":            {least + "trials = 0\nvote = \"most\"\nmax_disagreement = 2", []string{"judge.trials: must be a whole number from 1 to 100", `judge.vote: must be one of "majority", "mean", "median", not "most"`, "judge.max_disagreement: must be a number from 0 to 1"}},
		"no model":          {"[[judges]]\nname = \"a\"\nmodel = \"m\"\n[[judges]]\nname = \"b\"", []string{`c.toml:4: judges.2: the provider "openai" needs a model`}},
		"azure":             {least + "[[judges]]\nname = \"a\"\n[[judges]]\nname = \"b\"\nprovider = \"azure\"", []string{"judges.2: the provider \"azure\" needs the address"}},
		"the key of another host": {"[judge]\nmodel = \"m\"\napi_key_env = \"MINE\"\n[[judges]]\nname = \"a\"\n[[judges]]\nname = \"b\"\nbase_url = \"https://other.example/v1\"",
			[]string{"c.toml:8:1: judges.2.base_url: the key that [judge] names would be sent to other.example as well"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := problems(t, c.text, config.Options{})
			if len(got) < len(c.want) {
				t.Fatalf("got %d problems:\n%s", len(got), strings.Join(got, "\n"))
			}
			for _, want := range c.want {
				if !strings.Contains(strings.Join(got, "\n"), want) {
					t.Errorf("got\n%s\nwant %q in it", strings.Join(got, "\n"), want)
				}
			}
		})
	}
	// No key, one's own host, or a server of one's own: nothing goes astray.
	for _, own := range []string{"base_url = \"https://other.example/v1\"\napi_key_env = \"\"", "base_url = \"http://localhost:1/v1\"", "model = \"x\""} {
		load(t, "[judge]\nmodel = \"m\"\napi_key_env = \"MINE\"\n[[judges]]\nname = \"a\"\n[[judges]]\nname = \"b\"\n"+own, config.Options{})
	}
}
