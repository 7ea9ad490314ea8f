package llmtest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/llm/llmtest"
)

func TestOpenAIConforms(t *testing.T) {
	llmtest.TestClient(t, func(base string) llm.Client {
		return backend(t, llm.OpenAIConfig{Provider: llm.ProviderOpenAI, BaseURL: base, APIKey: llmtest.Key})
	})
}

func TestAzureConforms(t *testing.T) {
	llmtest.TestClient(t, func(base string) llm.Client {
		return backend(t, llm.OpenAIConfig{Provider: llm.ProviderAzure, BaseURL: strings.TrimSuffix(base, "/v1"), APIKey: llmtest.Key})
	})
}

func backend(t *testing.T, cfg llm.OpenAIConfig) llm.Client {
	t.Helper()
	client, err := llm.NewOpenAI(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// The suite must find a client out that does one thing wrong. Each runs in a
// process of its own, because its tests fail.
func TestSuiteFindsFaults(t *testing.T) {
	if name := os.Getenv("LLMTEST_BROKEN"); name != "" {
		llmtest.TestClient(t, func(base string) llm.Client {
			return broken[name].spoil(backend(t, llm.OpenAIConfig{BaseURL: base, APIKey: llmtest.Key}))
		})
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range broken {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestSuiteFindsFaults$/^"+b.test+"$")
		cmd.Env = append(os.Environ(), "LLMTEST_BROKEN="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestSuiteFindsFaults/"+b.test) {
			t.Errorf("a client that %s passes: %v\n%s", name, err, out)
		}
	}
}

// broken are clients that do one thing wrong, and the tests that find it.
var broken = map[string]struct {
	test  string
	spoil func(llm.Client) llm.Client
}{
	"loses usage": {"reply", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			resp, err := c.Complete(ctx, req)
			if resp != nil {
				resp.Usage.CompletionTokens = 0
			}
			return resp, err
		})
	}},
	"drops the seed": {"request", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			req.Seed = nil
			return c.Complete(ctx, req)
		})
	}},
	"tries again by itself": {"status_500", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			if resp, err := c.Complete(ctx, req); err == nil {
				return resp, nil
			}
			return c.Complete(ctx, req)
		})
	}},
	"takes its context's end for a fault of the network": {"deadline", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			resp, err := c.Complete(ctx, req)
			if ctx.Err() != nil {
				err = &llm.Error{Kind: llm.Transient, Code: "timeout", Err: err}
			}
			return resp, err
		})
	}},
	"calls although its context has ended": {"cancelled_before", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			_, _ = c.Complete(context.WithoutCancel(ctx), req)
			return nil, ctx.Err()
		})
	}},
	"tells the key": {"wrong_key", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			resp, err := c.Complete(ctx, req)
			if e := llm.AsError(err); e != nil {
				e.Message += " with " + llmtest.Key
			}
			return resp, err
		})
	}},
	"takes every failure for one that passes": {"insufficient_quota", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			resp, err := c.Complete(ctx, req)
			if e := llm.AsError(err); e != nil {
				e.Kind = llm.Transient
			}
			return resp, err
		})
	}},
	"mixes up who asked": {"concurrent", func(c llm.Client) llm.Client {
		var last atomic.Pointer[llm.Response]
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			resp, err := c.Complete(ctx, req)
			if before := last.Swap(resp); before != nil {
				return before, err
			}
			return resp, err
		})
	}},
	"takes no choices for an empty reply": {"empty_choices", func(c llm.Client) llm.Client {
		return llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			if resp, err := c.Complete(ctx, req); err == nil {
				return resp, nil
			}
			return &llm.Response{}, nil
		})
	}},
}
