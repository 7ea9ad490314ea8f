package tokens

import "strings"

// Ratio is the number of tokens in a model's vocabulary, over those in
// o200k_base, as a range.
type Ratio struct {
	// Low and Expected were measured over English records and documents, High
	// over the scripts that the vocabulary does worst.
	Low, Expected, High float64
	// Family names whose vocabulary it is; empty for a model of no known family.
	Family string
}

// foreign lists families whose vocabulary is published but not built in. The
// ratios were measured with it in August 2026 over 200,000 tokens of question
// answering records (azure_rag), a documentation (anthropic_cookbook), and some
// 1,100 tokens in Chinese, Japanese, Korean, Russian, Arabic, Hindi and Thai:
// English 1.05 and 1.10 for Claude, 1.01 and 1.01 for DeepSeek, 1.03 and 1.12
// for Gemini, 1.00 and 1.00 for Llama 3, 1.02 and 1.02 for Qwen 3, 1.12 and 1.19
// for Mistral; other scripts up to 1.8, 1.2, 1.7, 1.7, 1.7 and 1.8. Claude's
// later vocabularies are not published; its maker tells up to 1.35 times as many
// tokens for them, which is in High.
var foreign = []struct {
	name string
	Ratio
}{
	{"claude", Ratio{1, 1.15, 1.8, "Claude"}},
	{"deepseek", Ratio{0.97, 1.01, 1.2, "DeepSeek"}},
	{"gemini", Ratio{0.95, 1.06, 1.7, "Gemini"}},
	{"gemma", Ratio{0.95, 1.06, 1.7, "Gemini"}},
	{"llama", Ratio{0.97, 1, 1.7, "Llama 3"}},
	{"meta-llama", Ratio{0.97, 1, 1.7, "Llama 3"}},
	{"qwen", Ratio{0.97, 1.02, 1.7, "Qwen"}},
	{"qwq", Ratio{0.97, 1.02, 1.7, "Qwen"}},
	{"mistral", Ratio{1, 1.15, 1.8, "Mistral"}},
	{"ministral", Ratio{1, 1.15, 1.8, "Mistral"}},
	{"mixtral", Ratio{1, 1.15, 1.8, "Mistral"}},
	{"magistral", Ratio{1, 1.15, 1.8, "Mistral"}},
}

// Foreign returns by what the tokens of ForModel are to be multiplied for a model
// whose vocabulary is not built in, and 1 / 1 / 1 for one whose is. What a server
// tells of its own calls is better than any of it.
func Foreign(model string) Ratio {
	if _, own := ForModel(model); own {
		return Ratio{Low: 1, Expected: 1, High: 1}
	}
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	// Bedrock's names have the maker in front: "anthropic.claude-sonnet-4-5".
	if maker, rest, ok := strings.Cut(name, "."); ok && !strings.ContainsAny(maker, "-0123456789") {
		name = rest
	}
	for _, f := range foreign {
		if strings.HasPrefix(name, f.name) {
			return f.Ratio
		}
	}
	return Ratio{Low: 0.9, Expected: 1.1, High: 1.8}
}
