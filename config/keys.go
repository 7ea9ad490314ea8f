package config

import (
	"math"
	"time"
)

// setting is one key that takes a single value.
type setting struct {
	key string
	at  func(*Config) value
}

// settings is the explicit list of all keys with a single value, in the order of
// config.example.toml. A new one is a line here, a field, and its place in the
// example, which a test insists on.
var settings = []setting{
	{"metrics", func(c *Config) value { return list{&c.Metrics} }},

	{"dataset.path", func(c *Config) value { return paths{&c.Dataset.Paths} }},
	{"dataset.format", func(c *Config) value {
		return choice{&c.Dataset.Format, []string{"", "jsonl", "json", "csv", "tsv", "parquet",
			"plain", "deepeval", "promptfoo", "trulens", "phoenix", "langsmith", "langsmith-examples", "langfuse", "ragas-testset", "beir", "squad"}}
	}},
	{"dataset.qrels", func(c *Config) value { return path{p: &c.Dataset.Qrels} }},
	{"dataset.delimiter", func(c *Config) value { return delimiter{text{p: &c.Dataset.Delimiter}} }},
	{"dataset.encoding", func(c *Config) value { return text{&c.Dataset.Encoding, tidy} }},
	{"dataset.limit", func(c *Config) value { return integerAt(&c.Dataset.Limit, 0, math.MaxInt) }},
	{"dataset.skip_bad_lines", func(c *Config) value { return flag{&c.Dataset.SkipBadLines} }},
	{"dataset.max_line_bytes", func(c *Config) value { return integerAt(&c.Dataset.MaxLineBytes, 1<<10, 1<<30) }},

	{"judge.provider", func(c *Config) value { return choice{&c.Judge.Provider, []string{OpenAI, Azure, Lexical}} }},
	{"judge.model", func(c *Config) value { return text{&c.Judge.Model, tidy} }},
	{"judge.base_url", func(c *Config) value { return endpoint{&c.Judge.BaseURL} }},
	{"judge.api_key_env", func(c *Config) value { return text{&c.Judge.APIKeyEnv, variableName} }},
	{"judge.api_key_file", func(c *Config) value { return path{p: &c.Judge.APIKeyFile} }},
	{"judge.organization", func(c *Config) value { return text{&c.Judge.Organization, oneWord} }},
	{"judge.project", func(c *Config) value { return text{&c.Judge.Project, oneWord} }},
	{"judge.api_version", func(c *Config) value { return text{&c.Judge.APIVersion, oneWord} }},
	{"judge.temperature", func(c *Config) value { return numberAt(&c.Judge.Temperature, 0, 2) }},
	{"judge.omit_temperature", func(c *Config) value { return flag{&c.Judge.OmitTemperature} }},
	{"judge.max_tokens", func(c *Config) value { return integerAt(&c.Judge.MaxTokens, 1, 10_000_000) }},
	{"judge.max_input_tokens", func(c *Config) value { return integerAt(&c.Judge.MaxInputTokens, 0, 1_000_000_000) }},
	{"judge.seed", func(c *Config) value {
		return integer{put: func(n int64) { i := int(n); c.Judge.Seed = &i }, get: func() any { return c.Judge.Seed }, min: math.MinInt, max: math.MaxInt}
	}},
	{"judge.timeout", func(c *Config) value { return duration{&c.Judge.Timeout, time.Millisecond, 24 * time.Hour} }},
	{"judge.structured", func(c *Config) value {
		return choice{&c.Judge.Structured, []string{"auto", "json_schema", "json_object", "plain"}}
	}},
	{"judge.extra_body", func(c *Config) value { return object{&c.Judge.ExtraBody, bodyField} }},
	{"judge.ca_file", func(c *Config) value { return path{p: &c.Judge.CAFile} }},
	{"judge.insecure", func(c *Config) value { return flag{&c.Judge.Insecure} }},
	{"judge.price_input", func(c *Config) value { return optionalNumber(&c.Judge.PriceInput, 0, 0) }},
	{"judge.price_output", func(c *Config) value { return optionalNumber(&c.Judge.PriceOutput, 0, 0) }},
	{"judge.price_cached", func(c *Config) value { return optionalNumber(&c.Judge.PriceCached, 0, 0) }},
	{"judge.price_cache_write", func(c *Config) value { return optionalNumber(&c.Judge.PriceCacheWrite, 0, 0) }},
	{"judge.price_batch_input", func(c *Config) value { return optionalNumber(&c.Judge.PriceBatchInput, 0, 0) }},
	{"judge.price_batch_output", func(c *Config) value { return optionalNumber(&c.Judge.PriceBatchOutput, 0, 0) }},
	{"judge.vote", func(c *Config) value { return choice{&c.Panel.Vote, []string{"majority", "mean", "median"}} }},
	{"judge.trials", func(c *Config) value { return integerAt(&c.Panel.Trials, 1, 100) }},
	{"judge.max_disagreement", func(c *Config) value { return numberAt(&c.Panel.MaxDisagreement, 0, 1) }},

	{"embeddings.provider", func(c *Config) value { return choice{&c.Embeddings.Provider, []string{"", OpenAI, Azure, Lexical}} }},
	{"embeddings.model", func(c *Config) value { return text{&c.Embeddings.Model, tidy} }},
	{"embeddings.base_url", func(c *Config) value { return endpoint{&c.Embeddings.BaseURL} }},
	{"embeddings.api_key_env", func(c *Config) value { return text{&c.Embeddings.APIKeyEnv, variableName} }},
	{"embeddings.api_key_file", func(c *Config) value { return path{p: &c.Embeddings.APIKeyFile} }},
	{"embeddings.price_input", func(c *Config) value { return optionalNumber(&c.Embeddings.PriceInput, 0, 0) }},

	{"prices.file", func(c *Config) value { return path{p: &c.Prices.File} }},

	{"limits.concurrency", func(c *Config) value { return integerAt(&c.Limits.Concurrency, 1, 10_000) }},
	{"limits.requests_per_minute", func(c *Config) value { return numberAt(&c.Limits.RequestsPerMinute, 0, 0) }},
	{"limits.tokens_per_minute", func(c *Config) value { return numberAt(&c.Limits.TokensPerMinute, 0, 0) }},
	{"limits.max_attempts", func(c *Config) value { return integerAt(&c.Limits.MaxAttempts, 1, 100) }},
	{"limits.max_wait", func(c *Config) value { return duration{&c.Limits.MaxWait, 0, 7 * 24 * time.Hour} }},
	{"limits.max_cost", func(c *Config) value { return numberAt(&c.Limits.MaxCost, 0, 0) }},
	{"limits.max_calls", func(c *Config) value { return integerAt(&c.Limits.MaxCalls, 0, math.MaxInt) }},
	{"limits.max_tokens", func(c *Config) value { return integerAt(&c.Limits.MaxTokens, 0, math.MaxInt) }},
	{"limits.max_cost_per_sample", func(c *Config) value { return numberAt(&c.Limits.MaxCostPerSample, 0, 0) }},
	{"limits.max_cost_per_day", func(c *Config) value { return numberAt(&c.Limits.MaxCostPerDay, 0, 0) }},
	{"limits.max_attempt_ratio", func(c *Config) value { return numberAt(&c.Limits.MaxAttemptRatio, 0, 0) }},
	{"limits.grace", func(c *Config) value { return duration{&c.Limits.Grace, 0, 24 * time.Hour} }},

	{"batch.samples", func(c *Config) value { return integerAt(&c.Batch.Samples, 1, 1_000_000) }},
	{"batch.quiet", func(c *Config) value { return duration{&c.Batch.Quiet, time.Millisecond, time.Hour} }},
	{"batch.poll", func(c *Config) value { return duration{&c.Batch.Poll, time.Millisecond, time.Hour} }},
	{"batch.max_requests", func(c *Config) value { return integerAt(&c.Batch.MaxRequests, 1, 50_000) }},
	{"batch.max_bytes", func(c *Config) value { return integerAt(&c.Batch.MaxBytes, 1<<10, 200_000_000) }},
	{"batch.max_tokens", func(c *Config) value { return integerAt(&c.Batch.MaxTokens, 0, math.MaxInt) }},
	{"batch.expired", func(c *Config) value { return choice{&c.Batch.Expired, []string{"batch", "live"}} }},

	{"cache.path", func(c *Config) value { return path{p: &c.Cache.Path} }},
	{"cache.mode", func(c *Config) value {
		return choice{&c.Cache.Mode, []string{"read_write", "read_only", "refresh", "off"}}
	}},

	{"output.dir", func(c *Config) value { return path{p: &c.Output.Dir} }},
	{"output.worst", func(c *Config) value { return integerAt(&c.Output.Worst, 0, 1000) }},

	{"run.retry", func(c *Config) value { return choice{&c.Run.Retry, []string{"failed", "unscored", "none"}} }},
	{"run.force", func(c *Config) value { return flag{&c.Run.Force} }},
	{"run.backend", func(c *Config) value { return choice{&c.Run.Backend, []string{Live, InBatches}} }},
	{"run.preflight", func(c *Config) value { return flag{&c.Run.Preflight} }},
	{"run.seed", func(c *Config) value {
		return integer{put: func(n int64) { c.Run.Seed = uint64(n) }, get: func() any { return c.Run.Seed }, min: 0, max: math.MaxInt64}
	}},
	{"run.progress", func(c *Config) value {
		return choice{&c.Run.Progress, []string{"auto", "bar", "plain", "none"}}
	}},
	{"run.log_format", func(c *Config) value { return choice{&c.Run.LogFormat, []string{"text", "json"}} }},
	{"run.log_level", func(c *Config) value {
		return choice{&c.Run.LogLevel, []string{"debug", "info", "warn", "error"}}
	}},

	{"prompts.dir", func(c *Config) value { return path{p: &c.Prompts.Dir} }},
	{"prompts.domain", func(c *Config) value { return text{p: &c.Prompts.Domain} }},
	{"prompts.language", func(c *Config) value { return text{p: &c.Prompts.Language} }},
	{"prompts.examples", func(c *Config) value { return path{p: &c.Prompts.Examples} }},
	{"prompts.max_items", func(c *Config) value { return integerAt(&c.Prompts.MaxItems, 0, 1_000_000) }},
}

// table is a key whose table has names of the user's own.
type table struct {
	key  string
	at   func(*Config) map[string]string // for tables of texts
	env  bool                            // whether a variable stands for it
	item func(name, value string) error  // what an entry must be
}

// tables is the explicit list of the tables of texts with free names. [metric]
// and [gates], which hold tables, are read by their own code.
var tables = []table{
	{key: "dataset.columns", at: func(c *Config) map[string]string { return c.Dataset.Columns }, env: true, item: column},
	{key: "judge.headers", at: func(c *Config) map[string]string { return c.Judge.Headers }, env: true, item: header},
	{key: "prompts.rubric", at: func(c *Config) map[string]string { return c.Prompts.Rubric }, item: rule},
}

// sections are the tables that hold settings.
var sections = []string{"dataset", "judge", "embeddings", "prices", "limits", "batch", "cache", "output", "run", "prompts"}

const (
	metricTable = "metric"
	gatesTable  = "gates"
)

// Keys returns every known key, in the order of config.example.toml. A name that
// the user chooses stands in angle brackets: "gates.<metric>.min".
func Keys() []string {
	keys := make([]string, 0, len(settings)+8)
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	keys = append(keys,
		"gates.<metric>.min", "gates.<metric>.min_coverage", "gates.<metric>.max", "metric.<name>.<option>",
		"dataset.columns.<field>", "judge.headers.<name>", "prompts.rubric.<name>")
	for _, k := range tuningKeys {
		keys = append(keys, "prompts.<metric>."+k)
	}
	return append(keys, judgesTable+".<setting>")
}

func findSetting(key string) (setting, bool) {
	for _, s := range settings {
		if s.key == key {
			return s, true
		}
	}
	return setting{}, false
}

func findTable(key string) (table, bool) {
	for _, t := range tables {
		if t.key == key {
			return t, true
		}
	}
	return table{}, false
}
