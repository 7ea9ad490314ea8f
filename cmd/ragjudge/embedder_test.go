package main

import (
	"context"
	"testing"

	"github.com/ragjudge/ragjudge/llm"
)

// TestVectorsAreLive: a batch gets chats only.
func TestVectorsAreLive(t *testing.T) {
	says := func(content string) llm.Client {
		return llm.ClientFunc(func(context.Context, *llm.Request) (*llm.Response, error) {
			return &llm.Response{Content: content}, nil
		})
	}
	c := vectorsLive(says("live"), says("batch"))
	for want, req := range map[string]*llm.Request{"live": {Embed: []string{"a"}}, "batch": {Messages: []llm.Message{{Role: llm.User, Content: "a"}}}} {
		if got, err := c.Complete(t.Context(), req); err != nil || got.Content != want {
			t.Errorf("%+v went to %v, %v; want %s", req, got, err, want)
		}
	}
}
