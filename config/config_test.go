package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragjudge/ragjudge/config"
)

// write puts a configuration into a new folder and makes that the working
// directory, so that places in messages are short.
func write(t *testing.T, text string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("c.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "c.toml"
}

const least = "metrics = [\"mrr\"]\n[judge]\nmodel = \"m\"\n"

func load(t *testing.T, text string, opt config.Options) *config.Config {
	t.Helper()
	c, err := config.Load(write(t, text), opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func problems(t *testing.T, text string, opt config.Options) []string {
	t.Helper()
	_, err := config.Load(write(t, text), opt)
	var p *config.Problems
	if err != nil && !errors.As(err, &p) {
		t.Fatalf("%T is no *Problems", err)
	}
	var out []string
	if p != nil {
		for _, problem := range p.List {
			out = append(out, problem.String())
		}
	}
	return out
}

func TestLayers(t *testing.T) {
	text := least + "temperature = 1\n[limits]\nconcurrency = 5\nmax_cost = 2\nrequests_per_minute = 100\n"
	c := load(t, text, config.Options{
		Environ: []string{"RAGJUDGE_LIMITS_CONCURRENCY=6", "RAGJUDGE_LIMITS_CONCURRENCY=7", "RAGJUDGE_LIMITS_MAX_COST=3.5", "RAGJUDGE_METRICS= mrr, recall@5,", "RAGJUDGE_RUN_SEED=9"},
		Flags:   []config.Flag{{Key: "limits.concurrency", Value: "8", Name: "--concurrency"}, {Key: "dataset.skip_bad_lines", Value: "true", Name: "--skip-bad-lines"}},
	})
	if c.Limits.Concurrency != 8 || c.Limits.MaxCost != 3.5 || c.Limits.RequestsPerMinute != 100 || c.Limits.MaxAttempts != 6 || !c.Dataset.SkipBadLines || c.Judge.Temperature != 1 || c.Run.Seed != 9 {
		t.Errorf("got %+v, %+v", c.Limits, c.Dataset)
	}
	if want := []string{"mrr", "recall@5"}; !slices.Equal(c.Metrics, want) {
		t.Errorf("metrics %q", c.Metrics)
	}
	for key, want := range map[string]string{
		"limits.concurrency":         "the flag --concurrency",
		"limits.max_cost":            "the environment variable RAGJUDGE_LIMITS_MAX_COST",
		"limits.requests_per_minute": "c.toml:8",
		"limits":                     "c.toml:5",
		"judge.model":                "c.toml:3",
		"limits.max_attempts":        "the default",
		"metrics":                    "the environment variable RAGJUDGE_METRICS",
	} {
		if got := c.Place(key); got != want {
			t.Errorf("Place(%s) = %q, want %q", key, got, want)
		}
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

// TestEveryKey sets every key that takes one value from each of the layers, to
// something else than its default, and looks for it in the resolved whole.
func TestEveryKey(t *testing.T) {
	values := map[string][2]string{ // as TOML, as text
		"metrics": {`["a", "b"]`, "a,b"}, "dataset.path": {`"/d.csv"`, "/d.csv"}, "dataset.format": {`"csv"`, "csv"}, "dataset.qrels": {`"/q"`, "/q"},
		"dataset.encoding": {`"windows-1252"`, "windows-1252"}, "dataset.delimiter": {`"\t"`, `\t`}, "dataset.limit": {"3", "3"}, "dataset.skip_bad_lines": {"true", "true"},
		"dataset.max_line_bytes": {"2048", "2048"}, "judge.provider": {`"azure"`, "azure"}, "judge.model": {`"gpt x"`, "gpt x"},
		"judge.base_url": {`"https://h/v1"`, "https://h/v1"}, "judge.api_key_env": {`"K"`, "K"}, "judge.api_key_file": {`"/k"`, "/k"},
		"judge.organization": {`"o"`, "o"}, "judge.project": {`"p"`, "p"}, "judge.api_version": {`"2024-10-21"`, "2024-10-21"},
		"judge.temperature": {"0.5", "0.5"}, "judge.omit_temperature": {"true", "true"}, "judge.max_tokens": {"9", "9"},
		"judge.seed": {"-7", "-7"}, "judge.timeout": {`"1m5s"`, "1m5s"}, "judge.structured": {`"plain"`, "plain"},
		"judge.price_input": {"0.25", "0.25"}, "judge.price_output": {"1.5", "1.5"}, "judge.price_cached": {"0.125", "0.125"},
		"judge.price_cache_write": {"0.3", "0.3"}, "judge.price_batch_input": {"0.15", "0.15"}, "judge.price_batch_output": {"0.75", "0.75"},
		"limits.concurrency": {"2", "2"}, "limits.requests_per_minute": {"60.5", "60.5"}, "limits.tokens_per_minute": {"1000", "1000"},
		"limits.max_attempts": {"1", "1"}, "limits.max_wait": {`"1h0m0s"`, "1h0m0s"}, "limits.max_cost": {"0.5", "0.5"},
		"limits.max_calls": {"7", "7"}, "limits.max_tokens": {"8", "8"}, "limits.max_cost_per_sample": {"0.25", "0.25"}, "limits.max_cost_per_day": {"9.5", "9.5"},
		"limits.max_attempt_ratio": {"1.5", "1.5"}, "limits.grace": {`"0s"`, "0s"}, "cache.path": {`"/c"`, "/c"}, "cache.mode": {`"off"`, "off"},
		"prompts.dir": {`"/p"`, "/p"}, "prompts.domain": {`"Law."`, "Law."}, "prompts.language": {`"German"`, "German"},
		"prompts.max_items": {"6", "6"}, "judge.max_input_tokens": {"9000", "9000"},
		"prompts.examples": {`"/e"`, "/e"}, "output.dir": {`"o"`, "o"}, "output.worst": {"0", "0"}, "run.retry": {`"none"`, "none"},
		"judge.extra_body": {`{ top_k = 20, a = { b = [true, "x", 0.5] } }`, `{"top_k": 20, "a": {"b": [true, "x", 0.5]}}`},
		"judge.vote":       {`"median"`, "median"}, "judge.trials": {"3", "3"}, "judge.max_disagreement": {"0.5", "0.5"},
		"judge.ca_file": {`"/ca"`, "/ca"}, "judge.insecure": {"true", "true"}, "run.preflight": {"false", "false"}, "run.force": {"true", "true"},
		"batch.samples": {"7", "7"}, "batch.quiet": {`"2s"`, "2s"}, "batch.poll": {`"1m0s"`, "1m0s"}, "batch.max_requests": {"9", "9"},
		"batch.max_bytes": {"4096", "4096"}, "batch.max_tokens": {"5", "5"}, "batch.expired": {`"live"`, "live"}, "run.backend": {`"batch"`, "batch"},
		"embeddings.provider": {`"azure"`, "azure"}, "embeddings.model": {`"e"`, "e"}, "embeddings.base_url": {`"https://e/v1"`, "https://e/v1"},
		"embeddings.api_key_env": {`"E"`, "E"}, "embeddings.api_key_file": {`"/e"`, "/e"}, "embeddings.price_input": {"0.02", "0.02"},
		"prices.file": {`"/p.json"`, "/p.json"},
		"run.seed":    {"42", "42"}, "run.progress": {`"bar"`, "bar"}, "run.log_format": {`"json"`, "json"}, "run.log_level": {`"debug"`, "debug"},
	}
	for _, key := range config.Keys() {
		if strings.Contains(key, "<") {
			continue
		}
		v, ok := values[key]
		if !ok {
			t.Errorf("%s: no value to test with", key)
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(v[0]), &want); err != nil { // a table: its text is JSON
			if err := json.Unmarshal([]byte(v[1]), &want); err != nil {
				t.Fatal(err)
			}
		}
		for layer, load := range map[string]func() (*config.Config, error){
			"file": func() (*config.Config, error) {
				return config.Load(write(t, key+" = "+v[0]), config.Options{Partial: true})
			},
			"environment": func() (*config.Config, error) {
				return config.Load("", config.Options{Partial: true, Environ: []string{config.Variable(key) + "=" + v[1]}})
			},
			"flag": func() (*config.Config, error) {
				return config.Load("", config.Options{Partial: true, Flags: []config.Flag{{Key: key, Value: v[1], Name: "--x"}}})
			},
		} {
			c, err := load()
			if err != nil {
				t.Errorf("%s by %s: %v", key, layer, err)
				continue
			}
			if got := lookUp(t, c, key); !cmp.Equal(got, want) {
				t.Errorf("%s by %s: got %v, want %v", key, layer, got, want)
			}
			if cmp.Equal(lookUp(t, config.Default(), key), want) {
				t.Errorf("%s: the test's value is the default", key)
			}
			if c.Place(key) == "the default" || len(c.Warnings) > 0 {
				t.Errorf("%s by %s: place %q, warnings %q", key, layer, c.Place(key), c.Warnings)
			}
		}
	}
}

// lookUp finds a key in the JSON of the resolved configuration.
func lookUp(t *testing.T, c *config.Config, key string) any {
	t.Helper()
	b, err := json.Marshal(c.Resolved())
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(key, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%s: %v is no table", key, v)
		}
		if v, ok = m[part]; !ok {
			t.Fatalf("%s is not in the resolved configuration", key)
		}
	}
	return v
}

func TestProblems(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // parts of the problems, in order
	}{
		"typo":               {least + "modle = \"x\"", []string{"c.toml:4:1: judge.modle: unknown key; did you mean judge.model?"}},
		"swapped":            {least + "[limits]\nmax_cots = 1", []string{"c.toml:5:1: limits.max_cots: unknown key; did you mean limits.max_cost?"}},
		"case":               {least + "Seed = 1", []string{"did you mean judge.seed?"}},
		"hyphen":             {least + "max-tokens = 1", []string{"did you mean judge.max_tokens?"}},
		"wrong table":        {least + "concurrency = 3", []string{"judge.concurrency: unknown key; did you mean limits.concurrency?"}},
		"top is below":       {"[judge]\nmodel = \"m\"\nmetrics = []", []string{"judge.metrics: unknown key; did you mean metrics? metrics belongs to the top of the file, before the first [table]"}},
		"unknown table":      {least + "[limit]\nconcurrency = 3\nx = 1", []string{"c.toml:4:2: limit: unknown table; did you mean [limits]?"}},
		"list of tables":     {least + "[[judgs]]\nmodel = \"m\"", []string{"c.toml:4:3: judgs: unknown table; did you mean [judge]?"}},
		"nothing near":       {least + "[xylophone]", []string{"xylophone: unknown table; config.example.toml lists all"}},
		"quoted number":      {least + "max_tokens = \"5\"", []string{"c.toml:4:1: judge.max_tokens: must be a whole number, not a text: leave out the quotes"}},
		"point":              {least + "max_tokens = 5.0", []string{"must be a whole number, not a number with a point"}},
		"nan":                {least + "temperature = nan", []string{"judge.temperature: must be a number from 0 to 2, not NaN"}},
		"infinite":           {least + "[limits]\nmax_cost = inf", []string{"limits.max_cost: must be a number of at least 0, not +Inf"}},
		"negative":           {least + "[limits]\nmax_cost = -1", []string{"limits.max_cost: must be a number of at least 0, not -1"}},
		"zero workers":       {least + "[limits]\nconcurrency = 0", []string{"must be a whole number from 1 to 10000, not 0"}},
		"no unit":            {least + "timeout = 60", []string{`judge.timeout: must be a time with its unit in quotes, such as "90s" or "5m", not a whole number`}},
		"bad unit":           {least + "timeout = \"60\"", []string{`must be a time with its unit, such as 90s or 5m, not "60"`}},
		"no time":            {least + "timeout = \"0s\"", []string{"must be a time from 1ms to 24h0m0s, not 0s"}},
		"choice":             {least + "structured = \"json-object\"", []string{`must be one of "auto", "json_schema", "json_object", "plain", not "json-object"; did you mean "json_object"?`}},
		"date":               {least + "provider = 2024-01-01", []string{"not a date or a time"}},
		"table for a value":  {least + "[judge.timeout]\nx = 1", []string{"c.toml:4:8: judge.timeout: must be"}},
		"value for a table":  {"limits = 5\n" + least, []string{"c.toml:1:1: limits: must be a table, not a whole number"}},
		"metrics a text":     {"metrics = \"mrr\"\n[judge]\nmodel=\"m\"", []string{"metrics: must be a list of texts"}},
		"metrics mixed":      {"metrics = [\"mrr\", 3]\n[judge]\nmodel=\"m\"", []string{"item 2 is a whole number"}},
		"metrics empty name": {"metrics = [\" \"]\n[judge]\nmodel=\"m\"", []string{"item 1 is empty"}},
		"inline table":       {"metrics=[]\njudge = {model = \"m\", seeed = 3}", []string{"c.toml:2:23: judge.seeed: unknown key; did you mean judge.seed?"}},
		"column in letters":  {least + "[metric]\n\"äö\" = 1 \n[judge.headers]\n\"ää\" = \"x\"", []string{"c.toml:5:1: metric.äö: must be a table of options", "c.toml:7:1: judge.headers.ää: \"ää\" is not the name of an HTTP header"}},
		"gate percent":       {least + "[gates.\"precision@5\"]\nmin = 85", []string{"c.toml:5:1: gates.precision@5.min: must be a number from 0 to 1, not 85; 85% is 0.85"}},
		"gate without":       {least + "[gates.mrr]", []string{"c.toml:4:8: gates.mrr: a gate needs min, max or min_coverage"}},
		"gate typo":          {least + "[gates.mrr]\nmin_covrage = 1", []string{"gates.mrr.min_covrage: unknown key; did you mean gates.mrr.min_coverage?"}},
		"gate unknown":       {least + "[gates.mrr]\nper_category = 1", []string{"unknown key; known here are max, min, min_coverage"}},
		"gate a number":      {least + "[gates]\nmrr = 0.5", []string{"gates.mrr: must be a table with min, max or min_coverage, [gates.mrr], not a number with a point"}},
		"metric nan":         {least + "[metric.x]\na = [1.0, nan]", []string{"metric.x.a: must be a finite number, not NaN"}},
		"unquoted at":        {least + "[gates.precision@5]\nmin = 1", []string{`c.toml:4:17: `}},
		"at says quotes":     {least + "[gates.precision@5]\nmin = 1", []string{`needs quotes, as in [gates."precision@5"]`}},
		"unquoted text":      {"[judge]\nmodel = gpt", []string{"a text needs quotes"}},
		"twice":              {"[judge]\nmodel = \"a\"\nmodel = \"b\"", []string{"c.toml:3:"}},
		"table twice":        {"[judge]\nmodel = \"a\"\n[judge]\n", []string{"c.toml:3:"}},
		"not utf-8":          {least + "# ä\xff", []string{"c.toml:4:4: the file is not UTF-8 here"}},
		"utf-16":             {"\xff\xfem\x00", []string{"c.toml: the file is UTF-16; save it as UTF-8"}},
		"too deep":           {"metrics = " + strings.Repeat("[", 1000), []string{"c.toml:1:111: more than 100 brackets"}},
		"tilde":              {least + "[cache]\npath = \"~/c\"", []string{`cache.path: "~/c": "~" is only known to a shell`}},
		"stdin elsewhere":    {least + "[cache]\npath = \"-\"", []string{"cache.path: must be the name of a file or folder"}},
		"delimiter":          {least + "[dataset]\ndelimiter = \"ab\"", []string{"must be one ASCII character"}},
		"delimiter wide":     {least + "[dataset]\ndelimiter = \"；\"", []string{"must be one ASCII character"}},
		"no scheme":          {least + "base_url = \"localhost:11434/v1\"", []string{"judge.base_url: must start with https:// or http://"}},
		"no host":            {least + "base_url = \"http:///v1\"", []string{"must name a host"}},
		"header break":       {least + "headers = {X = \"a\\nb\"}", []string{"judge.headers.X: the value of an HTTP header must not hold line breaks"}},
		"model with break":   {"[judge]\nmodel = \"m\\n\"", []string{"judge.model: must not have spaces around it"}},
		"no model":           {"metrics = [\"mrr\"]", []string{`c.toml: judge.model: the provider "openai" needs a model`}},
		"empty model":        {"[judge]\nmodel = \"\"", []string{`c.toml:2: judge.model: the provider "openai" needs a model`}},
		"azure":              {"[judge]\nprovider = \"azure\"", []string{"judge.model: the provider \"azure\" needs a model", "judge.base_url: the provider \"azure\" needs the address"}},
		"lexical endpoint":   {"[judge]\nprovider = \"lexical\"\nbase_url = \"http://h/v1\"", []string{"c.toml:3: judge.base_url: an endpoint is named, but the provider is \"lexical\""}},
		"key with a break":   {least + "\"a\\nb\" = 1", []string{`"judge.a\nb": unknown key`}},
		"long key":           {strings.Repeat("k", 5000) + " = 1\n" + least, []string{strings.Repeat("k", 120) + "...: unknown key"}},
		"all at once": {"metrisc = []\n[judge]\nmodle = \"m\"\ntemperature = 9\n[limits]\nconcurrency = \"x\"", []string{
			"c.toml:1:1: metrisc", "c.toml:3:1: judge.modle", "c.toml:4:1: judge.temperature", "c.toml:6:1: limits.concurrency", "c.toml: judge.model"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := problems(t, test.text, config.Options{})
			if len(got) != len(test.want) {
				t.Fatalf("got %d problems:\n%s", len(got), strings.Join(got, "\n"))
			}
			for i, want := range test.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("got %q, want %q in it", got[i], want)
				}
			}
		})
	}
}

func TestProblemsOfAllLayers(t *testing.T) {
	_, err := config.Load(write(t, "[judge]\nmax_tokens = 0\n"), config.Options{
		Environ: []string{"RAGJUDGE_LIMITS_MAX_COST=ten", "RAGJUDGE_LIMITS_GRACE=5"},
		Flags:   []config.Flag{{Key: "limits.concurrency", Value: "99999999999999999999", Name: "--concurrency"}, {Key: "nothing.here", Value: "1", Name: "--nothing"}, {Key: "dataset.skip_bad_lines", Value: "maybe", Name: "--skip-bad-lines"}},
	})
	want := `7 problems in the configuration:
c.toml:2:1: judge.max_tokens: must be a whole number from 1 to 10000000, not 0
the environment variable RAGJUDGE_LIMITS_MAX_COST: limits.max_cost: must be a number, not "ten"
the environment variable RAGJUDGE_LIMITS_GRACE: limits.grace: must be a time with its unit, such as 90s or 5m, not "5"
the flag --concurrency: limits.concurrency: must be a whole number from 1 to 10000, not "99999999999999999999"
the flag --nothing: nothing.here: unknown key
the flag --skip-bad-lines: dataset.skip_bad_lines: must be true or false, not "maybe"
c.toml: judge.model: the provider "openai" needs a model, such as "gpt-4.1-mini"; set it, or choose provider = "lexical" to run without a model`
	if err == nil {
		t.Fatal("no error")
	}
	if d := cmp.Diff(want, err.Error()); d != "" {
		t.Error(d)
	}
}

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, test := range map[string]struct {
		path string
		want string
		is   error
	}{
		"missing":      {"none.toml", "none.toml: there is no such configuration file", fs.ErrNotExist},
		"folder":       {".", ".: read the configuration: this is a folder; name the file in it", nil},
		"large":        {"large.toml", "large.toml: read the configuration: the file is larger than", nil},
		"below a file": {"large.toml/x", "large.toml/x: read the configuration: ", nil},
	} {
		if err := os.WriteFile("large.toml", make([]byte, 2<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(test.path, config.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
		if test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s: %v is not %v", name, err, test.is)
		}
	}
}

func TestMarkAndLineEnds(t *testing.T) {
	plain := load(t, least+"[gates.mrr]\nmin = 1\n", config.Options{})
	odd := load(t, "\ufeff"+strings.ReplaceAll(least+"[gates.mrr]\nmin = 1\n", "\n", "\r\n"), config.Options{})
	if d := cmp.Diff(plain, odd, cmp.AllowUnexported(config.Config{}), cmpopts.IgnoreUnexported(config.Judge{})); d != "" {
		t.Error(d)
	}
	if got := problems(t, "\ufeffmodle = 1\r\n[judge]\r\nmodel = \"m\"\r\n", config.Options{}); len(got) != 1 || !strings.HasPrefix(got[0], "c.toml:1:1: modle") {
		t.Errorf("got %q", got)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	text := least + "api_key_file = \"k\"\n[dataset]\npath = \"../d.jsonl\"\n[cache]\npath = \"c\"\n[prompts]\ndir = \"p\"\nexamples = \"/abs/e\"\n[output]\ndir = \"runs/x\"\n"
	if err := os.MkdirAll("a/b", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("a/b/c.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load("a/b/c.toml", config.Options{Environ: []string{"RAGJUDGE_CACHE_PATH=mine"}})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Judge.APIKeyFile, c.Dataset.Paths[0], c.Cache.Path, c.Prompts.Dir, c.Prompts.Examples, c.Output.Dir}
	want := []string{filepath.Join("a", "b", "k"), filepath.Join("a", "d.jsonl"), "mine", filepath.Join("a", "b", "p"), "/abs/e", "runs/x"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c, err = config.Load("a/b/c.toml", config.Options{Flags: []config.Flag{{Key: "dataset.path", Value: "d", Name: "--input"}}})
	if err != nil || c.Dataset.Paths[0] != "d" {
		t.Errorf("got %v, %v", c, err)
	}
	if c := load(t, least+"[dataset]\npath = \"-\"\n", config.Options{}); c.Dataset.Paths[0] != "-" {
		t.Errorf("standard input became %q", c.Dataset.Paths)
	}
}

func TestEnvironmentWarnings(t *testing.T) {
	c := load(t, least+"api_key_env = \"RAGJUDGE_KEY\"\nbase_url = \"http://real/v1\"\n", config.Options{Environ: []string{
		"RAGJUDGE_CACHE=/x", "RAGJUDGE_KEY=sk-1234567890", "RAGJUDGE_LIMIT_CONCURRENCY=3", "RAGJUDGE_WHATEVER_ELSE=sk-1234567890", "RAGJUDGE_JUDGE_BASE_URL=", "OTHER=1", "RAGJUDGE_", "=",
	}})
	want := []string{
		"the environment variable RAGJUDGE_JUDGE_BASE_URL is empty and counts as not set",
		"the environment variable RAGJUDGE_LIMIT_CONCURRENCY sets nothing; did you mean RAGJUDGE_LIMITS_CONCURRENCY?",
		"the environment variable RAGJUDGE_WHATEVER_ELSE sets nothing",
	}
	if d := cmp.Diff(want, c.Warnings); d != "" {
		t.Error(d)
	}
	if c.Judge.BaseURL != "http://real/v1" {
		t.Errorf("an empty variable changed base_url to %q", c.Judge.BaseURL)
	}
}

func TestFreeTables(t *testing.T) {
	c := load(t, least+`[judge.headers]
X-A = "1"
X-B = "2"
[dataset.columns]
user_input = "the question"
reference = ""
[prompts.rubric]
"claims/split" = "Be brief."
[metric.context_precision]
per_chunk = true
n = 3
list = ["a", 1.5]
[metric."ndcg@10"]
gain = "linear"
[gates.mrr]
min = 1
[gates."precision@5"]
min_coverage = 0.9
`, config.Options{Environ: []string{"RAGJUDGE_JUDGE_HEADERS=X-B=3, X-Gateway-Auth=sk-1234567890=="}})
	if d := cmp.Diff(map[string]string{"X-A": "1", "X-B": "3", "X-Gateway-Auth": "sk-1234567890=="}, c.Judge.Headers); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{"user_input": "the question", "reference": ""}, c.Dataset.Columns); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]map[string]any{"context_precision": {"per_chunk": true, "n": int64(3), "list": []any{"a", 1.5}}, "ndcg@10": {"gain": "linear"}}, c.Metric); d != "" {
		t.Error(d)
	}
	one, nine := 1.0, 0.9
	if d := cmp.Diff(map[string]config.Gate{"mrr": {Min: &one}, "precision@5": {MinCoverage: &nine}}, c.Gates); d != "" {
		t.Error(d)
	}
	for key, want := range map[string]string{
		"gates.mrr": "c.toml:18", "gates.precision@5": "c.toml:20", "metric.ndcg@10": "c.toml:16", "metric.context_precision.n": "c.toml:14",
		"judge.headers.X-A": "c.toml:5", "judge.headers.X-B": "the environment variable RAGJUDGE_JUDGE_HEADERS", "prompts.rubric.claims/split": "c.toml:11",
	} {
		if got := c.Place(key); got != want {
			t.Errorf("Place(%s) = %q, want %q", key, got, want)
		}
	}
}

func TestLexical(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		flags []config.Flag
		ok    bool
	}{
		"alone":                 {"[judge]\nprovider = \"lexical\"\nmodel = \"\"\nbase_url = \"\"", nil, true},
		"with a model":          {"[judge]\nprovider = \"lexical\"\nmodel = \"m\"", nil, true},
		"with an endpoint":      {"[judge]\nprovider = \"lexical\"\nbase_url = \"http://h\"", nil, false},
		"endpoint by flag":      {"[judge]\nprovider = \"lexical\"", []config.Flag{{Key: "judge.base_url", Value: "http://h", Name: "--base-url"}}, false},
		"offline on a real one": {least + "base_url = \"http://h\"", []config.Flag{{Key: "judge.provider", Value: "lexical", Name: "--provider"}}, true},
	} {
		_, err := config.Load(write(t, test.text), config.Options{Flags: test.flags})
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPartial(t *testing.T) {
	c, err := config.Load("", config.Options{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(config.Default(), c, cmp.AllowUnexported(config.Config{}), cmpopts.IgnoreUnexported(config.Judge{})); d != "" {
		t.Error(d)
	}
	if c.Judge.Timeout != time.Minute || c.Dataset.MaxLineBytes != 64<<20 || c.Limits.Grace != 20*time.Second {
		t.Errorf("defaults %+v", c)
	}
	if _, err := config.Load("", config.Options{}); err == nil || fmt.Sprint(err) != `judge.model: the provider "openai" needs a model, such as "gpt-4.1-mini"; set it, or choose provider = "lexical" to run without a model` {
		t.Errorf("got %v", err)
	}
}
