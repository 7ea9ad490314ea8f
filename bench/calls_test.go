package bench_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragjudge/ragjudge/cache"
	"github.com/ragjudge/ragjudge/cost"
	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

const (
	workers    = 64
	model      = "gpt-4.1-mini"
	callRounds = 9
	// roundCalls is how many calls one turn makes.
	roundCalls = 4000
)

// question is the nth ask: 4 KB of contexts, three claims.
func question(n int64) judge.Ask {
	return judge.Ask{
		Metric: "faithfulness", Prompt: "faithfulness/verdict", Labels: judge.FaithfulnessLabels(),
		Contexts: []string{
			fmt.Sprintf("Handbook, page %09d. ", n) + strings.Repeat("Employees have 20 days of paid leave a year, and may carry over five of them. ", 17),
			strings.Repeat("In-network care is paid at 90 % after the deductible, other care at 60 %. ", 18),
			strings.Repeat("A complaint is sent to the office \"Member Services\", in writing or by phone. ", 17),
		},
		Items: []string{"In-network care is paid at the higher rate.", "Employees have 25 days of leave.", "A complaint is answered within a week."},
	}
}

// BenchmarkCalls is how many calls a second the judge makes where the server
// takes no time: 64 workers, each ask rendered, looked up in a cache on disk,
// sent, decoded, checked and put. Its yardstick posts the same bodies with
// net/http alone. Both take turns, so that a busy machine slows both.
func BenchmarkCalls(b *testing.B) {
	s := serve(b, verdictReply, 0)
	client, endpoint, meter := newChain(b, s)
	j := newJudge(client, endpoint)
	plain := newPlain(b, s, j)
	complete := newComplete(b, client, endpoint)
	var n atomic.Int64
	ask := func(ctx context.Context) error {
		got, err := j.Verdicts(ctx, question(n.Add(1)))
		if err == nil && (len(got) != 3 || got[1].Label != judge.Contradicted) {
			err = fmt.Errorf("got the verdicts %v", got)
		}
		return err
	}
	post := func(ctx context.Context) error { return plain.post(ctx, n.Add(1)) }
	spread(b, 500, ask) // connections, and what is learnt of the server
	spread(b, 500, post)

	var asks, posts, chains, ratios, chainRatios []float64
	for b.Loop() {
		for range callRounds {
			p, a := spread(b, roundCalls, post), spread(b, roundCalls, ask)
			c := spread(b, roundCalls, func(ctx context.Context) error { return complete(ctx, n.Add(1)) })
			posts, asks, chains = append(posts, p), append(asks, a), append(chains, c)
			ratios, chainRatios = append(ratios, a/p), append(chainRatios, c/p)
		}
	}
	b.StopTimer()
	if c := meter.Snapshot().Total; c.Hits+c.Shared > 0 || c.Paid != c.Calls {
		b.Fatalf("%d of %d calls were not made: the figures mean nothing", c.Hits+c.Shared, c.Calls)
	}
	figure(b, median(asks), "calls/s")
	figure(b, median(chains), "chain-calls/s")
	figure(b, median(posts), "net/http-calls/s")
	figure(b, median(chainRatios), "chain-ratio")
	atLeast(b, "calls, of those of a net/http loop", median(ratios), 0.6, "ratio")
}

// newChain is the chain of cmd/ragjudge in front of a server.
func newChain(b *testing.B, s *judgeServer) (chain llm.Client, endpoint string, meter *llm.Meter) {
	b.Helper()
	disk, err := cache.Open(filepath.Join(b.TempDir(), cache.FileName), cache.Options{Warn: func(msg string) { b.Error(msg) }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := disk.Close(); err != nil {
			b.Error(err)
		}
	})
	book := &cost.Book{Table: cost.Embedded(), Hints: []string{"openai"}}
	meter = llm.NewMeter(book.Cost)
	stop := llm.NewStop()
	limiter := llm.NewLimiter(llm.LimitConfig{Concurrency: workers, Stop: stop})
	backend, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: s.URL + "/v1", APIKey: "sk-bench", Concurrency: workers, OnHeaders: limiter.Observe})
	if err != nil {
		b.Fatal(err)
	}
	retry := llm.NewRetry(llm.RetryConfig{Stop: stop}, limiter.Wrap(meter.Attempts(backend)))
	cached := &llm.Cached{Store: disk, Next: &llm.Outage{Stop: stop, Next: retry}, Warn: func(err error) { b.Error(err) }}
	return meter.Calls(cached), backend.Endpoint(), meter
}

func newJudge(client llm.Client, endpoint string) *judge.Judge {
	cold := 0.0
	return judge.New(judge.Config{Client: client, Endpoint: endpoint, Model: model, Temperature: &cold})
}

// newComplete returns what makes the nth call with a request that is rendered
// already, whose check decodes the verdicts as the yardstick does: the chain
// without the judge.
func newComplete(b *testing.B, client llm.Client, endpoint string) func(ctx context.Context, n int64) error {
	b.Helper()
	var sample *llm.Request
	catch := llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		r := *req
		sample = &r
		return &llm.Response{Content: verdictReply, FinishReason: llm.FinishStop}, nil
	})
	if _, err := newJudge(catch, endpoint).Verdicts(b.Context(), question(0)); err != nil {
		b.Fatal(err)
	}
	sample.Check = func(r *llm.Response) error { return decodeVerdicts(r.Content) }
	return func(ctx context.Context, n int64) error {
		r := *sample
		r.Messages = slices.Clone(r.Messages)
		last := &r.Messages[len(r.Messages)-1].Content
		*last = strings.Replace(*last, "000000000", fmt.Sprintf("%09d", n), 1)
		_, err := client.Complete(ctx, &r)
		return err
	}
}

// decodeVerdicts reads a reply as simply as can be.
func decodeVerdicts(content string) error {
	var said struct {
		Verdicts []struct {
			ID              int
			Reason, Verdict string
		}
	}
	if err := json.Unmarshal([]byte(content), &said); err != nil {
		return err
	}
	if len(said.Verdicts) != 3 {
		return fmt.Errorf("got %d verdicts", len(said.Verdicts))
	}
	return nil
}

// plain is the yardstick: what a short program without any care would do.
type plain struct {
	client *http.Client
	url    string
	body   chat
	user   [2]string // the user's message, before and after what numbers it
}

type chat struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Format              json.RawMessage `json:"response_format,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	Stream              bool            `json:"stream"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// newPlain learns the body from the judge's own first call, and makes sure that
// it then sends the same.
func newPlain(b *testing.B, s *judgeServer, j *judge.Judge) *plain {
	b.Helper()
	if _, err := j.Verdicts(b.Context(), question(0)); err != nil {
		b.Fatal(err)
	}
	text := *s.first.Load()
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = workers, workers, workers
	p := &plain{client: &http.Client{Transport: t}, url: s.URL + "/v1/chat/completions"}
	b.Cleanup(t.CloseIdleConnections)
	if err := json.Unmarshal(text, &p.body); err != nil {
		b.Fatal(err)
	}
	var ok bool
	last := p.body.Messages[len(p.body.Messages)-1].Content
	if p.user[0], p.user[1], ok = strings.Cut(last, "000000000"); !ok {
		b.Fatal("the number of the ask does not stand in the body")
	}
	again, err := json.Marshal(p.body)
	if err != nil {
		b.Fatal(err)
	}
	if !sameJSON(b, text, again) || max(len(text), len(again))-min(len(text), len(again)) > len(text)/20 {
		b.Fatalf("the yardstick sends another body than the judge:\n%s\n%s", again, text)
	}
	return p
}

func sameJSON(b *testing.B, x, y []byte) bool {
	var v, w any
	if err := cmp.Or(json.Unmarshal(x, &v), json.Unmarshal(y, &w)); err != nil {
		b.Fatal(err)
	}
	return fmt.Sprint(v) == fmt.Sprint(w)
}

// post marshals, posts and decodes.
func (p *plain) post(ctx context.Context, n int64) error {
	c := p.body
	c.Messages = slices.Clone(c.Messages)
	c.Messages[len(c.Messages)-1].Content = fmt.Sprintf("%s%09d%s", p.user[0], n, p.user[1])
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-bench")
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if text, err = io.ReadAll(res.Body); err != nil {
		return err
	}
	var r struct {
		Choices []struct{ Message message }
		Usage   struct {
			PromptTokens     int `json:"prompt_tokens"`
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	return decodeVerdicts(r.Choices[0].Message.Content)
}

// spread shares calls of fn among the workers and returns calls a second.
func spread(b *testing.B, calls int, fn func(context.Context) error) float64 {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range workers {
		wg.Go(func() {
			for next.Add(1) <= int64(calls) {
				if err := fn(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return float64(calls) / time.Since(start).Seconds()
}
