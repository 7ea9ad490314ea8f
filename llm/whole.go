package llm

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
)

// Some servers cut a prompt that is longer than their context, and answer what is
// left of it, without a word: Ollama does, to 2,048 or 4,096 tokens unless told
// otherwise. A judge that has read half of the contexts gives a verdict like
// any other. Only the usage gives it away.

// minCounted is the length from which a prompt is looked at, in tokens. Below
// it the tokens that a server's template adds, or a count leaves out, weigh too
// much; and no server has so short a context by default.
const minCounted = 1000

// CodePromptTruncated is the Code of an Error for a prompt that was cut. The
// server has answered: it is no call that failed, and the next one is cut again.
const CodePromptTruncated = "prompt_truncated"

// PromptCut reports that a server read only a part of a prompt, by the tokens
// that were counted in it and those that the server says it read.
//
// The two never agree exactly, since a model has its own vocabulary: for
// English within a fifth, for other languages within a factor of two, where the
// model's vocabulary was made for them and ours was not. So a prompt counts as
// cut if less than half of it was read; or if at most four fifths of it was, and
// what was read is a whole number of 1,024 tokens (or one less), as the sizes of
// contexts are and lengths of prompts are not. It is never cut where one of the
// two counts is not known, or below 1,000 tokens.
func PromptCut(counted int, u Usage) bool {
	read := u.PromptTokens
	if counted <= minCounted || read <= 0 {
		return false
	}
	if read < counted/2 {
		return true
	}
	return read <= counted/5*4 && contextSized(read)
}

// contextSized reports a whole number of 1,024 tokens, or one less.
func contextSized(n int) bool { return n >= 1023 && (n%1024 == 0 || n%1024 == 1023) }

// WholePrompt refuses replies to prompts that the server has cut, as PromptCut
// finds them: such a reply becomes an Error of kind Row and code
// CodePromptTruncated. It stands under Cached, so that none is stored, and above
// Retry: the same prompt would be cut again. Set its fields before the first
// call. It is safe for concurrent use.
type WholePrompt struct {
	// Count counts the input tokens of a request where its PromptTokens is 0.
	// It is called only for replies whose usage is low for the length of the
	// text. Nil leaves requests that were not counted alone.
	Count func(*Request) int
	// Log is warned of the first cut prompt; nil for none.
	Log *slog.Logger
	// Next is the Retry, or what stands before it.
	Next Client

	warned atomic.Bool
}

// doubtful reports that the usage is low for the length of the text, so that a
// count is worth its time: a token has 3 to 5 bytes in most languages and
// vocabularies, so half of a prompt's tokens are 6 bytes or more for each.
func doubtful(req *Request, u Usage) bool {
	size := textBytes(req)
	return size > minCounted && u.PromptTokens > 0 && (u.PromptTokens < size/6 || (contextSized(u.PromptTokens) && u.PromptTokens < size/3))
}

// Complete passes the call on, and looks at what its reply took.
func (w *WholePrompt) Complete(ctx context.Context, req *Request) (*Response, error) {
	resp, err := w.Next.Complete(ctx, req)
	if err != nil || resp == nil {
		return resp, err
	}
	counted := req.PromptTokens
	if counted <= 0 && w.Count != nil && doubtful(req, resp.Usage) {
		counted = w.Count(req)
	}
	if !PromptCut(counted, resp.Usage) {
		return resp, nil
	}
	e := &Error{Kind: Row, Code: CodePromptTruncated, Status: 200,
		Message: fmt.Sprintf("the server read %d tokens of a prompt of about %d: it has cut it without saying so, and a verdict on the rest is none", resp.Usage.PromptTokens, counted),
		Hint:    "give the model a longer context at the server (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH; llama.cpp: --ctx-size; vLLM: --max-model-len), or retrieve less",
	}
	if w.Log != nil && w.warned.CompareAndSwap(false, true) {
		w.Log.Warn("the endpoint cuts long prompts without saying so; samples that it was not told whole get no score",
			"model", req.Model, "read", resp.Usage.PromptTokens, "counted", counted, "hint", e.Hint)
	}
	return nil, e
}
