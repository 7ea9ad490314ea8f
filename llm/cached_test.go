package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/llm"
)

// mapStore is a store in memory, with faults.
type mapStore struct {
	mu             sync.Mutex
	m              map[[32]byte][]byte
	at             map[[32]byte]int64
	getErr, putErr error
	gets, puts     int
}

func (s *mapStore) Get(ctx context.Context, key [32]byte) ([]byte, int64, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets++
	if err := errors.Join(ctx.Err(), s.getErr); err != nil {
		return nil, 0, false, err
	}
	v, ok := s.m[key]
	return v, s.at[key], ok, nil
}

func (s *mapStore) Put(ctx context.Context, key [32]byte, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	if err := errors.Join(ctx.Err(), s.putErr); err != nil {
		return err
	}
	if s.m == nil {
		s.m, s.at = map[[32]byte][]byte{}, map[[32]byte]int64{}
	}
	s.m[key], s.at[key] = value, time.Now().UnixMilli()
	return nil
}

// counting is a backend that counts its calls and says which one it answers.
type counting struct {
	n  atomic.Int64
	fn func(n int64, req *llm.Request) (*llm.Response, error)
}

func (c *counting) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	n := c.n.Add(1)
	if c.fn != nil {
		return c.fn(n, req)
	}
	return &llm.Response{Content: fmt.Sprintf("reply %d", n), FinishReason: llm.FinishStop, Usage: llm.Usage{PromptTokens: 10, CompletionTokens: 2}}, nil
}

func ask(text string) *llm.Request {
	return &llm.Request{Endpoint: "e", Model: "m", Messages: []llm.Message{{Role: llm.User, Content: text}}}
}

func must(t testing.TB, c llm.Client, req *llm.Request) *llm.Response {
	t.Helper()
	resp, err := c.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// A reply is stored with all it holds, and comes back in the next process.
func TestCachedAcrossProcesses(t *testing.T) {
	store := &mapStore{}
	want := llm.Response{Content: "<a> & \u2028 {\"x\":1}\n", FinishReason: "stop", Model: "m-2026", Fingerprint: "fp",
		Usage: llm.Usage{PromptTokens: 100, CompletionTokens: 20, CachedTokens: 64, ReasoningTokens: 7}}
	backend := &counting{fn: func(int64, *llm.Request) (*llm.Response, error) { r := want; return &r, nil }}
	for i := range 3 {
		got := must(t, &llm.Cached{Store: store, Next: backend}, ask("q"))
		if got.Cached != (i > 0) {
			t.Errorf("process %d: Cached is %t", i, got.Cached)
		}
		got.Cached = false
		if d := cmp.Diff(want, *got); d != "" {
			t.Errorf("process %d: %s", i, d)
		}
	}
	if n := backend.n.Load(); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

func TestCachedModes(t *testing.T) {
	long := time.Now().Add(-time.Hour).UnixMilli()
	for _, c := range []struct {
		mode   llm.CacheMode
		before string // what an old entry makes of the call
		stored string // what is in the store after
		again  string // what the next process in this mode and run gets
		calls  int64
	}{
		{llm.CacheReadWrite, "old", "old", "old", 0},
		{"", "old", "old", "old", 0},
		{llm.CacheReadOnly, "old", "old", "old", 0},
		{llm.CacheRefresh, "reply 1", "reply 1", "reply 1", 1},
		{llm.CacheOff, "reply 1", "old", "reply 2", 2},
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			store, backend, since := &mapStore{}, &counting{}, time.Now()
			must(t, &llm.Cached{Store: store, Next: &counting{fn: func(int64, *llm.Request) (*llm.Response, error) {
				return &llm.Response{Content: "old"}, nil
			}}}, ask("q"))
			store.at[ask("q").Key()] = long
			mk := func() *llm.Cached { return &llm.Cached{Store: store, Mode: c.mode, Since: since, Next: backend} }
			if got := must(t, mk(), ask("q")).Content; got != c.before {
				t.Errorf("first got %q, want %q", got, c.before)
			}
			if got := string(store.m[ask("q").Key()]); !strings.Contains(got, `"`+c.stored+`"`) {
				t.Errorf("the store holds %s, want %q", got, c.stored)
			}
			if got := must(t, mk(), ask("q")).Content; got != c.again {
				t.Errorf("then got %q, want %q", got, c.again)
			}
			if n := backend.n.Load(); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
		})
	}
	t.Run("read_only puts nothing", func(t *testing.T) {
		store := &mapStore{}
		must(t, &llm.Cached{Store: store, Mode: llm.CacheReadOnly, Next: &counting{}}, ask("q"))
		if store.puts != 0 {
			t.Errorf("%d puts", store.puts)
		}
	})
}

// What is not a complete, accepted reply is given to the caller and not kept:
// neither in the store nor in memory.
func TestCachedNeverKeeps(t *testing.T) {
	reject := func(*llm.Response) error { return errors.New("no verdict") }
	for _, c := range []struct {
		name  string
		resp  *llm.Response
		err   error
		check func(*llm.Response) error
	}{
		{"error", nil, transient("http_500"), nil},
		{"row error", nil, &llm.Error{Kind: llm.Row, Code: "context_too_long"}, nil},
		{"refusal", &llm.Response{Content: "x", Refusal: "I can't"}, nil, nil},
		{"cut", &llm.Response{Content: `{"verdicts":[`, FinishReason: llm.FinishLength}, nil, nil},
		{"filtered", &llm.Response{Content: "x", FinishReason: llm.FinishContentFilter}, nil, nil},
		{"empty", &llm.Response{}, nil, nil},
		{"blank", &llm.Response{Content: " \n"}, nil, nil},
		{"not UTF-8", &llm.Response{Content: "a\xffb"}, nil, nil},
		{"not accepted", &llm.Response{Content: "maybe"}, nil, reject},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &mapStore{}
			backend := &counting{fn: func(int64, *llm.Request) (*llm.Response, error) { return c.resp, c.err }}
			cached := &llm.Cached{Store: store, Next: backend}
			for range 2 {
				req := ask("q")
				req.Check = c.check
				resp, err := cached.Complete(t.Context(), req)
				if err != c.err || (resp == nil) != (c.resp == nil) || (resp != nil && resp.Content != c.resp.Content) {
					t.Errorf("got %v, %v; want the reply or error as it is", resp, err)
				}
			}
			if store.puts != 0 || backend.n.Load() != 2 {
				t.Errorf("%d puts and %d calls, want 0 and 2", store.puts, backend.n.Load())
			}
		})
	}
}

// A kept reply that is damaged, of another version, or not accepted is a miss,
// and is replaced.
func TestCachedUnusableEntryIsAMiss(t *testing.T) {
	accept := func(r *llm.Response) error {
		if !strings.HasPrefix(r.Content, "reply") {
			return errors.New("not a reply")
		}
		return nil
	}
	for _, value := range []string{"", "{", "null", "[]", `{"v":1}`, `{"v":2,"response":{"content":"reply 0"}}`, `{"v":1,"response":{"content":7}}`,
		`{"v":1,"response":{"content":"old form"}}`, `{"v":1,"response":{"content":""}}`, `{"v":1,"response":{"content":"reply","finish_reason":"length"}}`} {
		req := ask("q")
		req.Check = accept
		store := &mapStore{m: map[[32]byte][]byte{req.Key(): []byte(value)}, at: map[[32]byte]int64{}}
		c := &llm.Cached{Store: store, Next: &counting{}}
		if got := must(t, c, req); got.Content != "reply 1" || got.Cached {
			t.Errorf("%s: got %+v, want a new reply", value, got)
		}
		if c.Stats().Unusable != 1 {
			t.Errorf("%s: stats %+v, want one unusable", value, c.Stats())
		}
		if got := must(t, &llm.Cached{Store: store, Next: &counting{}}, req); !got.Cached {
			t.Errorf("%s: the entry was not replaced", value)
		}
	}
}

// A store that fails costs no reply, and is told once for each direction.
func TestCachedStoreFails(t *testing.T) {
	store := &mapStore{getErr: errors.New("disk gone"), putErr: errors.New("disk full")}
	var warned []string
	c := &llm.Cached{Store: store, Next: &counting{}, Warn: func(err error) { warned = append(warned, err.Error()) }}
	for i := range 5 {
		if got := must(t, c, ask(fmt.Sprint(i))); got.Content == "" {
			t.Error("no reply")
		}
	}
	if want := []string{"read the cache: disk gone", "write to the cache: disk full"}; !cmp.Equal(warned, want) {
		t.Errorf("warned %q, want %q", warned, want)
	}
	if s := c.Stats(); s.GetErrors != 5 || s.PutErrors != 5 {
		t.Errorf("stats %+v, want 5 of each", s)
	}
	if got := must(t, c, ask("0")); !got.Cached {
		t.Error("a reply that could not be stored is not in memory either")
	}
}

// Identical requests in flight are one call; each caller's Check sees its reply.
func TestCachedSharesCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &counting{fn: func(n int64, _ *llm.Request) (*llm.Response, error) {
			time.Sleep(time.Second)
			return &llm.Response{Content: fmt.Sprintf("reply %d", n)}, nil
		}}
		for _, mode := range llm.CacheModes {
			backend.n.Store(0)
			c := &llm.Cached{Store: &mapStore{}, Mode: mode, Since: time.Now(), Next: backend}
			var wg sync.WaitGroup
			var paid, checked atomic.Int64
			for range 50 {
				wg.Go(func() {
					req := ask("q")
					decoded := ""
					req.Check = func(r *llm.Response) error { decoded = r.Content; checked.Add(1); return nil }
					resp, err := c.Complete(t.Context(), req)
					if err != nil || decoded != "reply 1" {
						t.Errorf("mode %s: error %v, decoded %q", mode, err, decoded)
						return
					}
					if !resp.Cached {
						paid.Add(1)
					}
					resp.Content = "changed by its owner"
				})
			}
			wg.Wait()
			if n := backend.n.Load(); n != 1 || paid.Load() != 1 || checked.Load() != 50 {
				t.Errorf("mode %s: %d calls, %d replies not marked as cached, %d checks; want 1, 1, 50", mode, n, paid.Load(), checked.Load())
			}
			if got := must(t, c, ask("q")); got.Content != "reply 1" || !got.Cached {
				t.Errorf("mode %s: later got %+v", mode, got)
			}
		}
	})
}

// A leader whose context ends fails nobody else; a follower's end is its own.
func TestCachedCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		c := &llm.Cached{Next: llm.ClientFunc(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
			calls.Add(1)
			if err := sleep(ctx, 10*time.Second); err != nil {
				return nil, &llm.Error{Kind: llm.Transient, Code: "cancelled", Err: err}
			}
			return &llm.Response{Content: "ok"}, nil
		})}
		start := time.Now()
		var wg sync.WaitGroup
		call := func(timeout, want time.Duration, ok bool) {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				_, err := c.Complete(ctx, ask("q"))
				if d := time.Since(start); (err == nil) != ok || d != want {
					t.Errorf("error %v after %v, want after %v, a reply: %t", err, d, want, ok)
				}
			})
			synctest.Wait()
		}
		call(3*time.Second, 3*time.Second, false) // leads, and gives up
		call(time.Minute, 13*time.Second, true)   // follows, then leads
		call(time.Second, time.Second, false)     // follows, and gives up
		call(time.Minute, 13*time.Second, true)
		wg.Wait()
		if calls.Load() != 2 {
			t.Errorf("%d calls, want 2", calls.Load())
		}
	})
}

// The error of a call is the error of all who shared it, and not repeated.
func TestCachedSharesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &counting{fn: func(int64, *llm.Request) (*llm.Response, error) {
			time.Sleep(time.Second)
			return nil, &llm.Error{Kind: llm.Row, Code: "context_too_long"}
		}}
		c := &llm.Cached{Next: backend}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := c.Complete(t.Context(), ask("q")); llm.AsError(err) == nil {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait()
		if backend.n.Load() != 1 {
			t.Errorf("%d calls, want 1", backend.n.Load())
		}
	})
}

// A reply that arrives while the run is being stopped is paid, so it is kept.
func TestCachedKeepsPaidReplyOfStoppedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := &mapStore{}
	c := &llm.Cached{Store: store, Next: &counting{fn: func(int64, *llm.Request) (*llm.Response, error) {
		cancel()
		return &llm.Response{Content: "ok"}, nil
	}}}
	if resp, err := c.Complete(ctx, ask("q")); err != nil || resp.Content != "ok" || len(store.m) != 1 {
		t.Errorf("got %v, %v, with %d entries stored; want the reply, stored", resp, err, len(store.m))
	}
	if _, err := c.Complete(ctx, ask("other")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// A panic below does not leave others waiting.
func TestCachedPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &llm.Cached{Next: &counting{fn: func(n int64, _ *llm.Request) (*llm.Response, error) {
			time.Sleep(time.Second)
			if n == 1 {
				panic("bug")
			}
			return &llm.Response{Content: "ok"}, nil
		}}}
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { recover() }()
			c.Complete(t.Context(), ask("q"))
		})
		synctest.Wait()
		if _, err := c.Complete(t.Context(), ask("q")); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

// Memory holds what was used last, within its bytes.
func TestCachedMemory(t *testing.T) {
	big := strings.Repeat("x", 10_000)
	backend := &counting{fn: func(int64, *llm.Request) (*llm.Response, error) { return &llm.Response{Content: big}, nil }}
	c := &llm.Cached{Mode: llm.CacheOff, Next: backend, MemoryBytes: 32_000} // three replies
	cached := func(q string) bool { return must(t, c, ask(q)).Cached }
	for _, q := range []string{"a", "b", "c"} {
		if cached(q) {
			t.Errorf("%s was there before it was asked", q)
		}
	}
	if !cached("a") || cached("d") { // d takes the place of b, used longest ago
		t.Error("a should be kept, d new")
	}
	if !cached("a") || !cached("c") || !cached("d") || cached("b") {
		t.Error("want a, c and d kept and b dropped")
	}
	none := &llm.Cached{Mode: llm.CacheOff, Next: &counting{}, MemoryBytes: -1}
	must(t, none, ask("q"))
	if must(t, none, ask("q")).Cached {
		t.Error("a reply was kept in no memory")
	}
}

// Whoever cancels when, everybody else gets a reply, and no call is made whose
// reply is there.
func TestCachedAtRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := map[string]bool{}
		var mu sync.Mutex
		c := &llm.Cached{Store: &mapStore{}, Next: llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			q := req.Messages[0].Content
			mu.Lock()
			if answered[q] {
				t.Errorf("%s was paid for again", q)
			}
			mu.Unlock()
			if err := sleep(ctx, rand.N(20*time.Millisecond)); err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			answered[q] = true
			return &llm.Response{Content: q}, nil
		})}
		var wg sync.WaitGroup
		for i := range 2000 {
			wg.Go(func() {
				time.Sleep(rand.N(200 * time.Millisecond))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				quits := i%3 == 0
				if quits {
					time.AfterFunc(rand.N(10*time.Millisecond), cancel)
				}
				q := fmt.Sprint(i % 97)
				resp, err := c.Complete(ctx, ask(q))
				if err != nil && !quits {
					t.Errorf("error %v for one that did not quit", err)
				}
				if err == nil && resp.Content != q {
					t.Errorf("asked %s, got %s", q, resp.Content)
				}
			})
		}
		wg.Wait()
	})
}

// Whatever bytes a store gives, there is a reply, and never one that the
// request does not accept.
func FuzzCachedEntry(f *testing.F) {
	for _, s := range []string{"", "{}", `{"v":1,"response":{"content":"a","usage":{"prompt_tokens":1}}}`, `{"v":1,"response":null}`, `{"V":1,"Response":{"Content":"a"}}`, "\x00", `{"v":1e0,"response":{"content":"\ud800"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		req := ask("q")
		req.Check = func(r *llm.Response) error {
			if r.Content != "a" && r.Content != "reply 1" {
				return errors.New("not accepted")
			}
			return nil
		}
		store := &mapStore{m: map[[32]byte][]byte{req.Key(): value}, at: map[[32]byte]int64{}}
		resp := must(t, &llm.Cached{Store: store, Next: &counting{}}, req)
		if resp.Cached != (resp.Content == "a") || resp.Refusal != "" && resp.Cached {
			t.Errorf("%q gave %+v", value, resp)
		}
	})
}
