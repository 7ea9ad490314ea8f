// Package llm makes chat calls to a judge model: the request, its key, the
// reply, the kinds of error, and the chain of clients that a call goes
// through.
//
// Each client of the chain has one concern and wraps the next one: meter
// (counts), cached (on disk, with identical requests in flight made one), retry,
// budget, limit (requests, tokens and slots), and a backend (openai, or a
// deterministic judge that needs no network). The command line assembles them
// in one place. The package imports no other package of ragjudge; what it
// needs of a store or a price table it declares here as a small interface.
package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Role of a message in a chat.
type Role string

// The roles that a request uses.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a chat.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Schema asks for a reply in JSON of a given form. A backend uses the strongest
// mode that the server has (json_schema, json_object, plain text); the prompt
// says the form in words too, so that every mode can work.
type Schema struct {
	// Name is the schema's name: letters, digits, - and _.
	Name string `json:"name"`
	// JSON is the JSON Schema, in one fixed spelling.
	JSON json.RawMessage `json:"json"`
}

// Request is one call to a judge. Everything in it that can change the answer
// is part of its Key; Tag, Check and PromptTokens are not.
type Request struct {
	// Endpoint says who answers: the provider and its base URL, without any
	// key. Two endpoints never share a cache entry.
	Endpoint string `json:"endpoint"`
	// Model is the model's name as the endpoint knows it.
	Model string `json:"model"`
	// Messages is the chat: the unchanging instructions first, then the
	// sample's part.
	Messages []Message `json:"messages"`
	// Embed are texts that are to be embedded, in place of a chat: the reply has
	// a vector for each, as EncodeVectors writes them. Messages and all that shapes
	// a chat are empty then.
	Embed []string `json:"embed,omitempty"`
	// Temperature is sent if not nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens bounds the reply, in tokens; 0 leaves it to the server.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Seed is sent if not nil.
	Seed *int `json:"seed,omitempty"`
	// Schema is the form of the reply; nil for free text.
	Schema *Schema `json:"schema,omitempty"`
	// Extra are further members of the request's body, as a JSON object in the
	// one spelling of CanonicalExtra; nil for none.
	Extra json.RawMessage `json:"extra,omitempty"`
	// TopLogprobs asks for so many alternatives of each token of the reply, at most
	// MaxTopLogprobs; 0 for none. A server that gives none is asked without.
	TopLogprobs int `json:"top_logprobs,omitempty"`
	// Trial numbers repeats of one request that must not share an answer.
	Trial int `json:"trial,omitempty"`

	// Tag says what the call is for.
	Tag Tag `json:"-"`
	// Check reports why a reply can't be used: it decides whether the reply is
	// stored, and a stored reply that fails it is a miss. Nil accepts any.
	Check func(*Response) error `json:"-"`
	// LogprobsOf are the words whose tokens keep their alternatives in the reply;
	// nil keeps those of every token. It must be the same for equal requests.
	LogprobsOf []string `json:"-"`
	// PromptTokens is the number of input tokens where known, for the limiter
	// and the budget; 0 lets them estimate.
	PromptTokens int `json:"-"`
	// MostPromptTokens is the most that the input can be in tokens, where it is
	// known no better than that PromptTokens is a guess; 0 where there is no need
	// to say. Only the budget uses it.
	MostPromptTokens int `json:"-"`
}

// Tag attributes a call: the metric that asked first, the step of it, and the
// judge's name in the configuration, where there are several.
type Tag struct {
	Metric string
	Step   string
	Judge  string
}

// Key is the SHA-256 of a request's canonical JSON.
type Key [sha256.Size]byte

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// FinishReason says why a reply ended, in OpenAI's words.
type FinishReason string

// The finish reasons that a caller branches on.
const (
	FinishStop          FinishReason = "stop"
	FinishLength        FinishReason = "length"
	FinishContentFilter FinishReason = "content_filter"
)

// Response is a judge's reply.
type Response struct {
	// Content is the text of the reply, as it came.
	Content string `json:"content"`
	// Reasoning is what the server gave as the model's thoughts beside a content
	// that is empty; they are no answer.
	Reasoning string `json:"reasoning,omitempty"`
	// Refusal is the model's own refusal, where the server tells it apart.
	Refusal string `json:"refusal,omitempty"`
	// FinishReason is what the server gave; empty if it gave none.
	FinishReason FinishReason `json:"finish_reason,omitempty"`
	// Model is the model that served the reply, as the server named it.
	Model string `json:"model,omitempty"`
	// Fingerprint is the server's system_fingerprint.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Logprobs are the alternatives of those tokens of the content that were asked
	// for, in their order; nil where the server gives none.
	Logprobs *Alternatives `json:"logprobs,omitempty"`
	// Usage is what the server said the reply took.
	Usage Usage `json:"usage"`
	// Cached reports that the reply came from the store or from an identical
	// request in flight: it took no call of its own.
	Cached bool `json:"-"`
	// Shortened reports that the reply was bounded to fewer tokens than were asked
	// for, since the server takes no more: asking for more gives the same again.
	Shortened bool `json:"-"`
}

// Usage counts tokens in one or several calls. PromptTokens includes
// CachedTokens, and CompletionTokens includes ReasoningTokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	CachedTokens     int `json:"cached_tokens,omitempty"`
	ReasoningTokens  int `json:"reasoning_tokens,omitempty"`
	// CacheWriteTokens are those of PromptTokens that were written to the
	// provider's prompt cache, where it tells and charges them apart. They are
	// none of CachedTokens.
	CacheWriteTokens int `json:"cache_write_tokens,omitempty"`
	// Unknown counts the paid calls whose usage the server did not tell, or only
	// in part: what it did not tell is missing from the other counts.
	Unknown int `json:"unknown,omitempty"`
	// Batched reports that the call is charged at the price of the provider's
	// Batch API. It is about one call, and lost in a sum.
	Batched bool `json:"batched,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		PromptTokens:     u.PromptTokens + v.PromptTokens,
		CompletionTokens: u.CompletionTokens + v.CompletionTokens,
		CachedTokens:     u.CachedTokens + v.CachedTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		Unknown:          u.Unknown + v.Unknown,
	}
}

// Client answers requests. Complete blocks until there is a reply or an error;
// it is safe for concurrent use and neither changes nor keeps the request.
// An error is an *Error, possibly wrapped, or the context's.
type Client interface {
	Complete(ctx context.Context, req *Request) (*Response, error)
}

// ClientFunc makes a Client of a function.
type ClientFunc func(ctx context.Context, req *Request) (*Response, error)

// Complete calls f.
func (f ClientFunc) Complete(ctx context.Context, req *Request) (*Response, error) {
	return f(ctx, req)
}

// Store keeps replies under their key. *cache.Disk satisfies it.
type Store interface {
	// Get returns the value, the time at which it was put as Unix
	// milliseconds, and whether there is one. A damaged entry is not there.
	Get(ctx context.Context, key [32]byte) (value []byte, putAt int64, ok bool, err error)
	// Put stores the value and returns when it would survive kill -9.
	Put(ctx context.Context, key [32]byte, value []byte) error
}
