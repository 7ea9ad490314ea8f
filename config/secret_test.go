package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/config"
)

func TestSecretsInTheFile(t *testing.T) {
	const key = "sk-EXAMPLE9f8e7d"
	for name, test := range map[string]struct{ text, at string }{
		"api_key":          {least + "api_key = \"" + key + "\"", "c.toml:4:1: judge.api_key: "},
		"plain api_key":    {least + "api_key = \"zz9\"", "c.toml:4:1: judge.api_key: "},
		"apiKey":           {least + "apiKey = \"zz9\"", "judge.apiKey: "},
		"top":              {"api-key = \"zz9\"\n" + least, "c.toml:1:1: api-key: "},
		"openai_key":       {least + "openai_key = \"zz9\"", "judge.openai_key: "},
		"token":            {least + "token = \"zz9\"", "judge.token: "},
		"unknown table":    {least + "[llm]\nclient_secret = \"zz9\"", "c.toml:5:1: llm.client_secret: "},
		"list of tables":   {least + "[[judges]]\nx = \"" + key + "\"", "c.toml:5:1: judges.1.x: "},
		"as model":         {"[judge]\nmodel = \"" + key + "\"", "c.toml:2:1: judge.model: "},
		"as variable":      {least + "api_key_env = \"" + key + "\"", "judge.api_key_env: "},
		"azure's variable": {least + "api_key_env = \"a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3\"", "judge.api_key_env: must be the name of an environment variable"},
		"as file":          {least + "api_key_file = \"" + key + "\"", "judge.api_key_file: "},
		"as choice":        {least + "structured = \"" + key + "\"", "judge.structured: "},
		"as duration":      {least + "timeout = \"" + key + "\"", "judge.timeout: "},
		"in a list":        {"metrics = [\"" + key + "\"]\n[judge]\nmodel = \"m\"", "c.toml:1:1: metrics: "},
		"in an option":     {least + "[metric.x]\no = [{a = \"" + key + "\"}]", "metric.x.o"},
		"option's name":    {least + "[metric.x]\napi_key = \"zz9\"", "metric.x.api_key: "},
		"in a gate":        {least + "[gates.mrr]\nx = \"" + key + "\"\nmin=1", "gates.mrr.x: "},
		"in a rubric":      {least + "[prompts.rubric]\nmrr = \"Use sk-proj-abcdefghijklmnop0123456789 here\"", "prompts.rubric.mrr: "},
		"authorization":    {least + "headers = {Authorization = \"Basic zz9\"}", "judge.headers.Authorization: "},
		"gateway":          {least + "headers = {X-Gateway-Auth = \"zz9\"}", "judge.headers.X-Gateway-Auth: "},
		"header's value":   {least + "headers = {X = \"Bearer " + key + "\"}", "judge.headers.X: "},
		"password":         {least + "base_url = \"https://me:zz9@h/v1\"", "judge.base_url: "},
		"query":            {least + "base_url = \"https://h/v1?api-key=zz9\"", "judge.base_url: "},
		"bad address":      {least + "base_url = \"https://me:zz9@h:x/v1\"", "judge.base_url: "},
		"as key":           {least + "\"" + key + "\" = 1", "judge.[secret]: "},
		"broken file":      {least + "api_key = " + key, "c.toml:4:"},
		"a key twice":      {least + "\"" + key + "\" = 1\n\"" + key + "\" = 1", "c.toml:5:"},
	} {
		t.Run(name, func(t *testing.T) {
			got := problems(t, test.text, config.Options{})
			if len(got) == 0 {
				t.Fatal("no problem")
			}
			all := strings.Join(got, "\n")
			if !strings.Contains(all, test.at) {
				t.Errorf("got %q, want %q in it", all, test.at)
			}
			for _, secret := range []string{key, "zz9", "EXAMPLE", "abcdefghijklmnop", "a0b1c2"} {
				if strings.Contains(all, secret) {
					t.Errorf("%q tells %q", all, secret)
				}
			}
			if wantsAdvice := name != "broken file" && name != "as key" && name != "a key twice" && name != "as choice" && name != "as duration" && name != "azure's variable" && name != "bad address"; wantsAdvice && !strings.Contains(all, "api_key_file") {
				t.Errorf("%q does not say where a key belongs", all)
			}
		})
	}
}

func TestNoSecrets(t *testing.T) {
	load(t, least+`max_tokens = 5
base_url = "https://h/v1?api-version=2024-10-21"
headers = {X-Team = "search", X-Tokens = "5"}
[dataset]
path = "sk-answers.jsonl"
[dataset.columns]
user_input = "token"
[limits]
tokens_per_minute = 5
[prompts]
domain = "The bearer of the card pays. Sk-based models are not meant."
[metric.x]
max_tokens = 5
`, config.Options{})
}

func TestSecretsElsewhere(t *testing.T) {
	const key = "sk-EXAMPLE9f8e7d"
	for _, s := range []string{"judge.model", "judge.provider", "metrics", "limits.concurrency", "limits.max_cost", "limits.grace", "cache.path", "judge.omit_temperature", "dataset.delimiter"} {
		for _, opt := range []config.Options{{Environ: []string{config.Variable(s) + "=" + key}}, {Flags: []config.Flag{{Key: s, Value: key, Name: "--x"}}}} {
			_, err := config.Load(write(t, least), opt)
			if err == nil || strings.Contains(err.Error(), key) {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
	_, err := config.Load(write(t, least), config.Options{Environ: []string{"RAGJUDGE_JUDGE_HEADERS=" + key}})
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("headers: %v", err)
	}
}

func TestSecretPrintsNowhere(t *testing.T) {
	const key = "sk-EXAMPLE9f8e7d"
	s := config.NewSecret(key)
	if s.Reveal() != key || (config.Secret{}).Reveal() != "" {
		t.Error("Reveal doesn't tell the text")
	}
	type inner struct{ hidden config.Secret }
	outer := struct {
		S config.Secret
		P *config.Secret
		I inner
		M map[string]config.Secret
	}{s, &s, inner{s}, map[string]config.Secret{"a": s}}
	var all strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%10s", "%T", "%w"} {
		for _, v := range []any{s, &s, outer, &outer, []config.Secret{s}} {
			fmt.Fprintf(&all, verb+"\n", v)
		}
	}
	if got := fmt.Sprintf("%v|%s|%q|%x|%d", s, s, s, s, s); got != strings.Repeat("[secret]|", 4)+"[secret]" {
		t.Errorf("got %q", got)
	}
	b, err := json.Marshal(outer)
	if err != nil || !bytes.Contains(b, []byte(`"S":"[secret]"`)) {
		t.Errorf("got %s, %v", b, err)
	}
	all.Write(b)
	log := slog.New(slog.NewJSONHandler(&all, nil))
	log.Info("x", "s", s, "o", outer)
	slog.New(slog.NewTextHandler(&all, nil)).Info("x", "s", s, "o", outer)
	fmt.Fprint(&all, fmt.Errorf("wrapped: %v", s), fmt.Sprintln(s))
	if strings.Contains(all.String(), "EXAMPLE") || strings.Contains(all.String(), fmt.Sprintf("%x", key)) {
		t.Errorf("told: %s", all.String())
	}
}

func TestKey(t *testing.T) {
	const key = "sk-EXAMPLE9f8e7d"
	base := config.Default().Judge
	with := func(change func(*config.Judge)) config.Judge {
		j := base
		change(&j)
		return j
	}
	local := func(url string) config.Judge { return with(func(j *config.Judge) { j.BaseURL = url }) }
	file := func(content string) config.Judge {
		name := t.TempDir() + "/key"
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return with(func(j *config.Judge) { j.APIKeyFile = name })
	}
	for name, test := range map[string]struct {
		judge    config.Judge
		env      string
		want     string
		warnings int
		err      string
	}{
		"plain":           {base, key, key, 0, ""},
		"line end (A049)": {base, key + "\n", key, 1, ""},
		"windows":         {base, key + "\r\n", key, 1, ""},
		"quotes":          {base, ` "` + key + `" `, key, 1, ""},
		"curly quotes":    {base, "“" + key + "”", key, 1, ""},
		"mark":            {base, "\ufeff" + key + "\u200b", key, 1, ""},
		"bearer":          {base, "Bearer " + key, key, 1, ""},
		"missing":         {base, "", "", 0, "OPENAI_API_KEY is not set: put the key into it"},
		"blank":           {base, " \n", "", 0, "OPENAI_API_KEY is empty"},
		"two lines":       {base, key + "\n" + key, "", 0, "within the key"},
		"letters":         {base, "sk-ключ", "", 0, "within the key"},
		"lexical":         {with(func(j *config.Judge) { j.Provider = config.Lexical }), key, "", 0, ""},
		"none wanted":     {with(func(j *config.Judge) { j.APIKeyEnv = "" }), key, "", 0, ""},
		"localhost":       {local("http://localhost:11434/v1"), "", "", 0, ""},
		"loopback":        {local("http://127.0.0.1:1/v1"), "", "", 0, ""},
		"loopback 6":      {local("http://[::1]:1/v1"), "", "", 0, ""},
		"mapped":          {local("http://[::ffff:10.0.0.1]:1/v1"), "", "", 0, ""},
		"private":         {local("http://192.168.1.5:8000/v1"), "", "", 0, ""},
		"one label":       {local("http://ollama:11434/v1"), "", "", 0, ""},
		"docker":          {local("http://host.docker.internal:11434/v1"), "", "", 0, ""},
		"local with key":  {local("http://localhost:1/v1"), key, key, 0, ""},
		"public address":  {local("http://8.8.8.8/v1"), "", "", 0, "is not set"},
		"not so local":    {local("http://localhost.example.com/v1"), "", "", 0, "is not set"},
		"foreign":         {local("https://api.example.com/v1"), key, key, 1, ""},
		"openai":          {local("https://eu.api.openai.com/v1"), key, key, 0, ""},
		"file":            {file(key + "\n"), "other", key, 0, ""},
		"file, windows":   {file("\ufeff" + key + "\r\n\r\n"), "other", key, 1, ""},
		"file empty":      {file("\n"), "other", "", 0, "is empty: put the key into it, alone on one line"},
		"file of two":     {file(key + "\nsecond"), "other", "", 0, "within the key"},
		"file large":      {file(strings.Repeat("x", 100_000)), "other", "", 0, "it holds no key"},
		"file missing":    {with(func(j *config.Judge) { j.APIKeyFile = "no/such" }), key, "", 0, "from the file no/such: no such file"},
		"folder":          {with(func(j *config.Judge) { j.APIKeyFile = "." }), key, "", 0, "from the file .: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, warnings, err := test.judge.Key(func(name string) string {
				if name != "OPENAI_API_KEY" {
					t.Errorf("asked for %s", name)
				}
				return test.env
			})
			if got.Reveal() != test.want || len(warnings) != test.warnings {
				t.Errorf("got %q with warnings %q", got.Reveal(), warnings)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if told := fmt.Sprint(warnings, err); strings.Contains(told, "EXAMPLE") || strings.Contains(told, "ключ") {
				t.Errorf("told: %s", told)
			}
		})
	}
}

// TestKeyIsMeant: who names the variable has said which key goes to the endpoint.
func TestKeyIsMeant(t *testing.T) {
	c := load(t, least+"base_url = \"https://api.example.com/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n", config.Options{})
	if _, warnings, err := c.Judge.Key(func(string) string { return "sk-1234567890" }); err != nil || len(warnings) > 0 {
		t.Errorf("got %q, %v", warnings, err)
	}
}

func TestResolvedHoldsNoSecret(t *testing.T) {
	c := load(t, least+"[metric.x]\nd = 2024-01-01\nt = 2024-01-01T00:00:00+23:59\n[judge.headers]\nX-Team = \"blue\"", config.Options{Environ: []string{
		"RAGJUDGE_JUDGE_BASE_URL=https://me:zz9@h/v1?api-key=zz9&region=eu", "RAGJUDGE_JUDGE_HEADERS=Authorization=zz9",
	}})
	b, err := json.Marshal(c.Resolved())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "zz9") || strings.Contains(string(b), "blue") {
		t.Errorf("told: %s", b)
	}
	if url := lookUp(t, c, "judge.base_url"); url != "https://secret@h/v1?api-key=secret&region=eu" {
		t.Errorf("got %v", url)
	}
	if c.Judge.BaseURL != "https://me:zz9@h/v1?api-key=zz9&region=eu" || c.Judge.Headers["Authorization"] != "zz9" {
		t.Error("the configuration itself was masked")
	}
}
