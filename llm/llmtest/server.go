// Package llmtest is a provider of chat completions for tests: a real HTTP
// server on the loopback that speaks OpenAI's wire format, answers by a
// function, fails on demand in the ways that providers do, keeps rate limits,
// and records what it was asked and what it was paid for. TestClient is the
// suite that every backend of package llm passes.
//
// A server is made by New and ended by Close:
//
//	s := llmtest.New(llmtest.Options{Fault: llmtest.Every(10, llmtest.RateLimit("1"))})
//	defer s.Close()
//	client := ... // with base URL s.URL()
//	if again := s.Wasted(); len(again) > 0 { t.Errorf("paid twice: %v", again) }
//
// It serves POST /v1/chat/completions, POST /v1/embeddings and GET /v1/models,
// and Azure's POST /openai/deployments/NAME/chat/completions. Everything that it
// does is determined by Options and the requests: there is no hidden chance.
// What a request meets, in this order: the key, a form that is no request, a
// model that is not served, a refused parameter (Rejects), the rate limit, the
// fault, the latency, the answer.
package llmtest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/ragjudge/ragjudge/llm"
)

// Options say how a server behaves. The zero value answers every request at
// once. All functions are called by many requests at the same time.
type Options struct {
	// Answer is the text of the reply to a request, which is rebuilt from the
	// wire: Model, Messages, MaxTokens, Temperature, Seed and Schema are set.
	// Nil for DefaultAnswer.
	Answer func(*llm.Request) string
	// Key is the key that requests must carry, as "Authorization: Bearer KEY",
	// or in the header api-key on Azure's path; empty lets everybody in.
	Key string
	// Models are the models that exist; any other is refused with 404. Empty
	// for any model.
	Models []string
	// Served is the name under which a model replies; nil for DatedModel.
	Served func(model string) string
	// Latency is how long each request takes that is let in, be it answered or
	// struck by a fault, and LatencyOf how long it takes in addition; nil for no
	// time.
	Latency   time.Duration
	LatencyOf func(*Request) time.Duration
	// Fault is what goes wrong with the nth chat request to arrive, from 1; nil,
	// and the zero Fault, for nothing. See Script, Every, Always, OnFirstTryOf,
	// Seeded and FirstOf.
	Fault FaultFunc
	// Limit is the rate limit that is enforced; nil for none.
	Limit *Limit
	// Rejects are the parts of a request that the server refuses with 400, as
	// some servers and models do: "json_schema" and "json_object" (types of
	// response_format), "system" (the role), or the name of any member of the
	// request, such as "temperature", "seed", "max_tokens",
	// "max_completion_tokens" or "response_format".
	Rejects []string
	// KeepBodies is how many requests, and how many different bodies, are kept
	// whole for Records, Bodies, Repeats and Wasted; 0 for 10000. All are counted.
	KeepBodies int
	// Batch turns the Batch API on; nil for none.
	Batch *BatchOptions
	// Now is the clock of the rate limit; nil for the time of day.
	Now func() time.Time
}

// DefaultKeepBodies is the number for Options.KeepBodies being 0.
const DefaultKeepBodies = 10000

// Fingerprint is the system_fingerprint of every reply.
const Fingerprint = "fp_llmtest"

// DatedModel is the name under which a model replies unless Options say
// otherwise: that of a dated version, as OpenAI does.
func DatedModel(model string) string { return model + "-2026-01-01" }

// Server is a running server. Its methods are safe for concurrent use, and
// those that report still do after Close.
type Server struct {
	opts  Options
	http  *httptest.Server
	log   record
	limit *enforcer
	// batches is the state of the Batch API.
	batches batches
	once    sync.Once
	done    chan struct{} // closed by Close: whatever waits gives up
}

// New starts a server on a free port of the loopback. The caller must Close it.
func New(o Options) *Server {
	if o.Answer == nil {
		o.Answer = DefaultAnswer
	}
	if o.Served == nil {
		o.Served = DatedModel
	}
	if o.KeepBodies <= 0 {
		o.KeepBodies = DefaultKeepBodies
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{opts: o, done: make(chan struct{})}
	s.log.keep = o.KeepBodies
	if o.Limit != nil {
		s.limit = newEnforcer(*o.Limit, o.Now())
	}
	s.http = httptest.NewServer(s.routes())
	return s
}

// URL is the base URL of the OpenAI paths: it ends in /v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// AzureURL is the address of the server without a path, as Azure's clients
// want it.
func (s *Server) AzureURL() string { return s.http.URL }

// Close ends the server: requests that hang or wait are broken off, and no
// goroutine is left. It may be called more than once.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.done)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.chat(w, r, "") })
	mux.HandleFunc("POST /openai/deployments/{name}/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		s.chat(w, r, r.PathValue("name"))
	})
	s.batchRoutes(mux)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("/", s.noSuchPath)
	return mux
}

// wait waits for d, and reports false if the client gave up or the server was
// closed before.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
	case <-s.done:
	}
	return false
}
