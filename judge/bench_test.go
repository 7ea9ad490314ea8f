package judge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

// BenchmarkVerdicts is what an ask costs beside the call itself: five claims
// against 4 KB of contexts, rendered, decoded, and decoded once more as a check.
func BenchmarkVerdicts(b *testing.B) {
	reply := `{"verdicts":[` + strings.TrimSuffix(strings.Repeat(`{"id":1,"reason":"The second passage says so in other words.","verdict":"supported"},`, 5), ",") + `]}`
	for i := 2; i <= 5; i++ {
		at := strings.LastIndex(reply, `"id":1`)
		for range 5 - i {
			at = strings.LastIndex(reply[:at], `"id":1`)
		}
		reply = reply[:at] + `"id":` + string(rune('0'+i)) + reply[at+len(`"id":1`):]
	}
	j := judge.New(judge.Config{Client: llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		r := &llm.Response{Content: reply, FinishReason: llm.FinishStop}
		return r, req.Check(r)
	})})
	a := faithfulness("one claim", "another claim", "a third claim", "a fourth claim", "a fifth claim")
	a.Contexts = []string{strings.Repeat("The ball is red. ", 120), strings.Repeat("The sky is <b>blue</b>. ", 80)}
	for b.Loop() {
		if _, err := j.Verdicts(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
}
