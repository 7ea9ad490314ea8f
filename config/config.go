// Package config reads the configuration of a run: a strict TOML file, the
// environment and the flags of the command line.
//
// # Layers
//
// A setting is looked up in four places; the later goes before the earlier:
//
//  1. the default, see [Default];
//  2. the configuration file;
//  3. the environment: RAGJUDGE_ and the key in capitals, with _ for the dot,
//     as RAGJUDGE_LIMITS_CONCURRENCY for limits.concurrency;
//  4. the flags of the command line.
//
// An environment variable that is empty counts as not set, with a warning, so
// that an unset variable of a CI job can't empty a setting by accident. Lists
// are separated by commas there (RAGJUDGE_METRICS=faithfulness,mrr), and so are
// the two tables that have a variable: RAGJUDGE_JUDGE_HEADERS and
// RAGJUDGE_DATASET_COLUMNS, as name=value,name=value, laid over the file's.
// RAGJUDGE_CACHE names the cache folder where nothing else does; it belongs to
// package cache and is only let pass here. Any other variable RAGJUDGE_* is a
// warning with the nearest known name.
//
// # Strictness
//
// Nothing is guessed. An unknown key, a value of the wrong type and one out of
// its range are errors, and [Load] reports all of them at once, each with its
// place: file, line and column, environment variable, or flag. A bad value is
// an error even if a later layer would replace it.
//
// # Paths
//
// Relative paths in the file (dataset.path, judge.api_key_file, judge.ca_file, prices.file, cache.path,
// prompts.dir, prompts.examples) are relative to the folder of the file, so
// that a configuration works from wherever it is used. The same paths from the
// environment and from flags are relative to the working directory, as on any
// command line. output.dir is always relative to the working directory: a run
// is written where it is started, not beside a configuration that may be shared
// and read-only. "-" as dataset.path is standard input. dataset.path may be a list of
// files and patterns; RAGJUDGE_DATASET_PATH names one, and the flag is repeated.
//
// # Several judges
//
// Each table [[judges]] is a judge, with the keys of [judge] and a name; what it
// doesn't set is taken from [judge], but for two things. Prices are only taken
// where model and endpoint are those of [judge]. And no judge gets a key only
// because [judge] names one for another host: that is an error. A key of [judge]
// that the environment or a flag sets goes before that of every judge. Two
// judges with one name, and two that would ask the same, are errors.
//
// # Secrets
//
// Keys never stand in the configuration. A key whose name says that it holds a
// secret, or a value that looks like one, is an error that points at
// judge.api_key_env and judge.api_key_file and doesn't repeat the value.
// [Judge.Key] reads the key from there as a [Secret], which prints as
// "[secret]" everywhere. [Config.Resolved] masks what could still hold one.
package config

import "time"

// The providers of a judge.
const (
	// OpenAI is any endpoint that speaks OpenAI's chat completions.
	OpenAI = "openai"
	// Azure is Azure OpenAI, with its own addresses and its api-key header.
	Azure = "azure"
	// Lexical is the built-in offline judge: no key, no network.
	Lexical = "lexical"
)

// Config is a whole configuration. [Load] returns it checked: every value is
// in the range that is stated here. What the names of metrics and their options
// mean is not known here.
type Config struct {
	// Metrics are the names of the metrics, in the order of the report.
	// Default: none.
	Metrics []string
	// Dataset says where the samples come from.
	Dataset Dataset
	// Judge says who judges; with Judges it is what these have in common.
	Judge Judge
	// Judges are the judges of [[judges]]; empty for the one of [judge].
	Judges []Judge
	// Panel says how several judges or trials make one score.
	Panel Panel
	// Embeddings says who gives vectors to the metrics over meaning.
	Embeddings Embeddings
	// Prices says where prices are looked up.
	Prices Prices
	// Limits bound calls, money and time.
	Limits Limits
	// Batch says how requests are gathered where Run.Backend is InBatches.
	Batch Batch
	// Cache says where replies are kept.
	Cache Cache
	// Prompts says what is changed about the built-in prompts.
	Prompts Prompts
	// Metric holds the options of [metric.<name>], as TOML gives them: string,
	// int64, float64, bool, []any, map[string]any and the types of dates.
	// Numbers are finite.
	Metric map[string]map[string]any
	// Gates holds [gates.<metric>].
	Gates map[string]Gate
	// Output says where results go and what a report shows.
	Output Output
	// Run says how a run behaves.
	Run Run

	// Warnings are what should be told to the user but stops nothing.
	Warnings []string

	places map[string]string // key -> place, where it isn't the default
}

// Dataset is [dataset].
type Dataset struct {
	// Paths are the files with the samples, in order, each perhaps a pattern such
	// as data/*.jsonl; "-" is standard input. The key dataset.path takes a text
	// or a list. Default: none.
	Paths []string
	// Format is "jsonl", "json", "csv", "tsv" or "parquet", or whose records they
	// are: a word of dataset.ShapeFormats. Empty finds both out by content.
	Format string
	// Qrels makes the path a TREC run, and this its judgements. Default: none.
	Qrels string
	// Delimiter separates the fields of CSV: empty, or one ASCII character.
	// Empty means the one of the format.
	Delimiter string
	// Encoding is that of the files' text, such as "windows-1252"; empty means
	// UTF-8, or UTF-16 and UTF-32 where the file shows it.
	Encoding string
	// SkipBadLines lists bad lines and goes on, instead of stopping.
	SkipBadLines bool
	// MaxLineBytes is the size of the largest record that is still believed to
	// be one, in bytes. Default: 64 MiB; 1 KiB to 1 GiB.
	MaxLineBytes int
	// Limit scores only so many samples from the top; 0 is all.
	Limit int
	// Columns maps canonical field names to columns of the file; an empty
	// column means that nothing feeds the field.
	Columns map[string]string
}

// Judge is [judge], or one of [[judges]].
type Judge struct {
	// Name is the judge's in results and reports: by default its model's. Only
	// judges of [[judges]] have one.
	Name string
	// Provider is OpenAI (the default), Azure or Lexical.
	Provider string
	// Model is the model that is asked. Needed unless the provider is Lexical.
	Model string
	// BaseURL is the endpoint, http or https; empty is OpenAI's own. Needed for
	// Azure.
	BaseURL string
	// APIKeyEnv names the environment variable that holds the key. Default:
	// OPENAI_API_KEY. Set to nothing, no key is sent.
	APIKeyEnv string
	// APIKeyFile is a file that holds the key and nothing else. It goes before
	// APIKeyEnv.
	APIKeyFile string
	// Organization and Project are sent to OpenAI as its headers.
	Organization, Project string
	// APIVersion is the api-version of Azure.
	APIVersion string
	// Temperature is that of sampling, 0 (the default) to 2.
	Temperature float64
	// OmitTemperature leaves the temperature out of requests, for models that
	// refuse to be given one.
	OmitTemperature bool
	// MaxTokens bounds one reply, in tokens. Default: 2048; at least 1.
	MaxTokens int
	// MaxInputTokens is the longest prompt that the model takes, in tokens; a sample
	// that needs a longer one is judged in several calls. 0 (the default) is what
	// the price table says of the model, and else no bound.
	MaxInputTokens int
	// Seed is sent with every request, if it is set.
	Seed *int
	// Timeout is the deadline of one call. Default: 60s; 1ms to 24h.
	Timeout time.Duration
	// Structured is how a reply is kept to its form: "auto" (the default) finds
	// out what the server can do, "json_schema", "json_object" and "plain" don't.
	Structured string
	// Headers are further HTTP headers of every request.
	Headers map[string]string
	// ExtraBody holds further members of every request's body, such as top_k or
	// a switch of a model's reasoning: nil, bool, string, int64, float64,
	// json.Number, []any and map[string]any, all of which encode to JSON.
	ExtraBody map[string]any
	// CAFile is a file of PEM certificates that are trusted beside the system's.
	CAFile string
	// Insecure accepts any certificate. Whoever sits between can read the key.
	Insecure bool
	// PriceInput, PriceOutput and PriceCached are prices in US dollars per
	// million tokens that go before the embedded table; nil where not given.
	PriceInput, PriceOutput, PriceCached *float64
	// PriceCacheWrite is the same for input that the provider writes to its prompt
	// cache, PriceBatchInput and PriceBatchOutput for calls through its Batch API.
	PriceCacheWrite, PriceBatchInput, PriceBatchOutput *float64

	keyEnvGiven bool // api_key_env was set, and isn't the default
}

// Prices is [prices].
type Prices struct {
	// File is a price table that "ragjudge prices import" made; empty is the one
	// that comes with the program.
	File string
}

// Limits is [limits].
type Limits struct {
	// Concurrency is the number of calls in flight at once. Default: 64; 1 to
	// 10,000.
	Concurrency int
	// RequestsPerMinute and TokensPerMinute are the provider's limits; 0 (the
	// default) learns them from the server.
	RequestsPerMinute, TokensPerMinute float64
	// MaxAttempts is how often one call is tried. Default: 6; 1 to 100.
	MaxAttempts int
	// MaxWait is the longest wait that a server may ask for; a longer one stops
	// the run. Default: 5m; at most 7 days.
	MaxWait time.Duration
	// MaxCost stops before more US dollars are spent; 0 (the default) is no
	// bound.
	MaxCost float64
	// MaxCalls stops before more calls are made; 0 (the default) is no bound.
	MaxCalls int
	// MaxTokens stops before more input and output tokens are used; 0 (the
	// default) is no bound.
	MaxTokens int
	// MaxCostPerSample is the most US dollars that the calls of one sample may
	// cost in one execution; a sample that would need more is left without a
	// score. 0 (the default) is no bound.
	MaxCostPerSample float64
	// MaxCostPerDay stops before more US dollars are spent on one day (UTC) by
	// all runs that share the cache folder; 0 (the default) is no bound.
	MaxCostPerDay float64
	// MaxAttemptRatio is the most attempts that a run makes, over its calls;
	// attempts that were refused to slow us down are not counted. Default: 2; 0
	// is no bound.
	MaxAttemptRatio float64
	// Grace is the time that calls in flight get after Ctrl-C. Default: 20s; at
	// most 24h.
	Grace time.Duration
}

// The values of Run.Backend.
const (
	// Live makes each call by itself.
	Live = "live"
	// InBatches gathers calls for the provider's Batch API.
	InBatches = "batch"
)

// Batch is [batch].
type Batch struct {
	// Samples is how many samples are judged at the same time. Default: 10,000;
	// 1 to 1,000,000.
	Samples int
	// Quiet is how long no call came before those that wait are sent off.
	// Default: 5s; 1ms to 1h.
	Quiet time.Duration
	// Poll is how often a batch is looked at. Default: 30s; 1ms to 1h.
	Poll time.Duration
	// MaxRequests, 1 to 50,000, and MaxBytes, 1 KiB to 200,000,000, bound one
	// batch. Defaults: 50,000 and 48 MiB.
	MaxRequests, MaxBytes int
	// MaxTokens bounds the input tokens enqueued at one time; 0 (the default)
	// learns it from the provider.
	MaxTokens int
	// Expired says what becomes of calls that an expired batch left: "batch" (the
	// default) puts them into another, "live" makes them live.
	Expired string
}

// Cache is [cache].
type Cache struct {
	// Path is the cache folder; empty is the user's cache folder.
	Path string
	// Mode is "read_write" (the default), "read_only", "refresh" or "off".
	Mode string
}

// Prompts is [prompts].
type Prompts struct {
	// Dir is a folder with prompt templates of one's own.
	Dir string
	// Domain is a sentence or two about the field of the samples.
	Domain string
	// Language is the language of claims and reasons, such as "German".
	Language string
	// Examples is a JSONL file with worked examples.
	Examples string
	// Rubric holds further rules, by template or by metric.
	Rubric map[string]string
	// For holds [prompts.<metric>], by template or by metric.
	For map[string]Tuning
	// MaxItems is the most items that one call asks for verdicts on; more are asked
	// for in several calls. 0 (the default) is no bound.
	MaxItems int
}

// Gate is [gates.<metric>]: what a metric must reach for the run to succeed.
// At least one of the two is set.
type Gate struct {
	// Min is the least mean, 0 to 1.
	Min *float64
	// Max is the highest mean, 0 to 1, for a metric of which less is better.
	Max *float64
	// MinCoverage is the least share of samples with a score, 0 to 1.
	MinCoverage *float64
}

// Output is [output].
type Output struct {
	// Dir is the run directory; empty derives one from what is scored.
	Dir string
	// Worst is the number of worst samples that a report lists. Default: 5; 0
	// to 1000.
	Worst int
}

// Run is [run].
type Run struct {
	// Retry says which scores of a finished run are made again: "failed" (the
	// default), "unscored" (failed and unscored) or "none".
	Retry string
	// Backend is Live (the default) or InBatches.
	Backend string
	// Preflight makes one small call before the fan-out. Default: true.
	Preflight bool
	// Force scores a dataset in which many answers look like error messages.
	Force bool
	// Seed is that of the resampling behind the intervals. Default: 0.
	Seed uint64
	// Progress is "auto" (the default), "bar", "plain" or "none".
	Progress string
	// LogFormat is "text" (the default) or "json".
	LogFormat string
	// LogLevel is "debug", "info" (the default), "warn" or "error".
	LogLevel string
}

// Default returns the configuration that a file, the environment and flags
// build on. It is not complete: a run needs metrics, a dataset and, unless the
// judge is Lexical, a model.
func Default() *Config {
	return &Config{
		Dataset: Dataset{MaxLineBytes: 64 << 20, Columns: map[string]string{}},
		Judge: Judge{
			Provider: OpenAI, APIKeyEnv: "OPENAI_API_KEY", MaxTokens: 2048,
			Timeout: 60 * time.Second, Structured: "auto", Headers: map[string]string{},
		},
		Panel:   Panel{Vote: "majority", Trials: 1, MaxDisagreement: 0.25},
		Limits:  Limits{Concurrency: 64, MaxAttempts: 6, MaxWait: 5 * time.Minute, MaxAttemptRatio: 2, Grace: 20 * time.Second},
		Batch:   Batch{Samples: 10_000, Quiet: 5 * time.Second, Poll: 30 * time.Second, MaxRequests: 50_000, MaxBytes: 48 << 20, Expired: "batch"},
		Cache:   Cache{Mode: "read_write"},
		Prompts: Prompts{Rubric: map[string]string{}, For: map[string]Tuning{}},
		Metric:  map[string]map[string]any{},
		Gates:   map[string]Gate{},
		Output:  Output{Worst: 5},
		Run:     Run{Retry: "failed", Backend: Live, Preflight: true, Progress: "auto", LogFormat: "text", LogLevel: "info"},
		places:  map[string]string{},
	}
}

// Place tells where the value of a key comes from: "ragjudge.toml:7", "the
// environment variable RAGJUDGE_LIMITS_CONCURRENCY", "the flag --concurrency",
// or "the default". Tables have a place too: Place("gates.faithfulness") is the
// line where that gate is first spoken of.
func (c *Config) Place(key string) string {
	if p, ok := c.places[key]; ok {
		return p
	}
	return "the default"
}
