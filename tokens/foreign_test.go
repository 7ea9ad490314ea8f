package tokens_test

import (
	"testing"

	"github.com/ragjudge/ragjudge/tokens"
)

func TestForeign(t *testing.T) {
	for model, family := range map[string]string{
		"claude-sonnet-4-5": "Claude", "anthropic/claude-opus-4-6": "Claude", "anthropic.claude-3-haiku": "Claude", "us.anthropic.claude-3": "",
		"gemini-2.5-pro": "Gemini", "models/gemini-3-flash": "Gemini", "google/gemma-3-27b": "Gemini", "Qwen/Qwen3-32B": "Qwen", "qwen2.5:7b": "Qwen",
		"meta-llama/Llama-3.3-70B-Instruct": "Llama 3", "llama3.1:8b": "Llama 3", "mistral-large-latest": "Mistral", "deepseek-chat": "DeepSeek",
		"my-finetune-x": "", "": "",
	} {
		r := tokens.Foreign(model)
		if r.Family != family || !(0 < r.Low && r.Low <= r.Expected && r.Expected <= r.High) || r.High < 1.1 {
			t.Errorf("%q: %+v, want a range of family %q", model, r, family)
		}
	}
	if r := tokens.Foreign("openai/gpt-4.1-mini"); r != (tokens.Ratio{Low: 1, Expected: 1, High: 1}) {
		t.Errorf("a vocabulary that is built in: %+v", r)
	}
}
