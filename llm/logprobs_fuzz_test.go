package llm

import (
	"math"
	"testing"
)

// FuzzLogprobs: whatever a server gives, what is kept stands where it says in
// the content, and is a probability.
func FuzzLogprobs(f *testing.F) {
	f.Add(`{"content":[{"token":"4","top_logprobs":[{"token":"4","logprob":-0.5},{"token":"5","logprob":-9999}]}]}`, "4", "4")
	f.Add(`{"content":[{"token":"","top_logprobs":[{"token":"x","logprob":1e308}]},{"token":"4"}]}`, "4", "x")
	f.Add(`{"content":null}`, "", "")
	f.Add(`{"content":[{"token":"\ud83d","top_logprobs":[]}]}`, "\xf0\x9f", "\xff")
	f.Fuzz(func(t *testing.T, raw, content, word string) {
		all := logprobsOf([]byte(raw), content)
		if all == nil {
			return
		}
		at := 0
		for _, tok := range all.Tokens {
			if tok.Offset != at || content[at:at+len(tok.Token)] != tok.Token {
				t.Fatalf("%q at %d of %q", tok.Token, tok.Offset, content)
			}
			at += len(tok.Token)
			for _, alt := range tok.Top {
				if !(alt.Logprob <= 0) || math.IsNaN(math.Exp(alt.Logprob)) {
					t.Fatalf("%v is the logarithm of no probability", alt.Logprob)
				}
			}
		}
		if at != len(content) {
			t.Fatalf("the tokens are %d bytes of %d", at, len(content))
		}
		if kept := keepLogprobs(all, []string{word}); len(kept.Tokens) > len(all.Tokens) {
			t.Fatal("more was kept than there was")
		}
	})
}
