package cost

import (
	"strings"

	"github.com/ragjudge/ragjudge/tokens"
)

// ratioDrift is by how much a measured ratio of tokens may be off for other texts.
const ratioDrift = 0.03

// foreign is the ratio of tokens for a model whose vocabulary is not built in.
func foreign(model string) factor {
	r := tokens.Foreign(model)
	return factor{r.Low, r.Expected, r.High}
}

// PrefixMinimum returns the least length, in tokens, of the unchanging beginning
// of a prompt that a provider keeps in its prompt cache without being told to; 0
// for one that keeps none, as Anthropic, which has to be told, or whose rule is not
// known. Provider is as in Price.Provider. Sources: the providers' pages on prompt
// caching (OpenAI 1,024, Gemini 2,048 for its larger models, DeepSeek 64).
func PrefixMinimum(provider string) int {
	switch strings.ToLower(provider) {
	case "openai", "azure":
		return 1024
	case "gemini", "vertex_ai":
		return 2048
	case "deepseek":
		return 64
	}
	return 0
}
