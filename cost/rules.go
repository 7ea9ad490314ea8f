package cost

import "strings"

// The rules by which a dry run's calls become a range. All are priors: they
// hold until a run has been measured, and each is told among the assumptions.

// factor is a rule as its low, expected and high value.
type factor struct{ low, expected, high float64 }

var (
	// claimsFactor is the number of claims that a judge makes of a text, over
	// the number of sentences, which is what the dry run's predictor makes of
	// it. People make 0.75 to 1 claims of a sentence (ExpertQA). The built-in
	// prompt asks for one fact a claim, and a sentence of an answer often holds
	// two and rarely more than three; a judge may also merge sentences.
	claimsFactor = factor{0.75, 1.5, 3}

	// replyFactor is the length of a reply over that of the predicted one with
	// the same number of items. The predictor's reasons have about 10 tokens.
	// Models write 20 to 50 where they are asked for a short sentence; those in
	// Ragas' annotated export have 27, 42 and 52 (tenth, median, ninetieth
	// percentile). A verdict takes about 12 tokens of form beside its reason.
	replyFactor = factor{0.8, 1.8, 3}

	// splitFactor is the same for the reply of a split: a claim repeats its
	// sentence's subject in place of pronouns, and is shorter than a sentence
	// that is split in two. claimsFactor comes on top.
	splitFactor = factor{0.6, 0.8, 1.1}

	// reasoningTokens is the hidden reasoning of one call of a reasoning model,
	// charged as output: nothing where a server or a setting turns it off, about
	// a thousand for a judge's task at medium effort, and several thousand for a
	// call with many items. A measured judge took 2,400 beside 120 visible ones.
	reasoningTokens = factor{0, 1000, 4000}

	// paidAttempts is the number of charged attempts per call: re-asking after a
	// reply that can't be used, and retries of calls that were charged for. A
	// 429 or a refused connection costs nothing. A hosted model needs the repair
	// for one or two replies in a hundred; a small one for many more.
	paidAttempts = factor{1, 1.02, 1.25}

	// claimlessCalls is the share of the planned verdicts over predicted claims
	// that take place: a judge finds no claim where the predictor saw a
	// sentence ("That depends."), and then asks nothing.
	claimlessCalls = factor{0.9, 1, 1}

	// tokensPerSecond is the speed at which a reply comes, firstTokenSeconds the
	// time before it: what hosted models show, from a busy large one to a small
	// one. A faster judge is the low end of a duration.
	tokensPerSecond   = factor{150, 70, 30}
	firstTokenSeconds = factor{0.3, 0.7, 2}
)

const (
	// itemTokens is what one claim takes in the prompt of a verdict, where the
	// call does not tell: 27 for its two tags and about as many for its text.
	itemTokens = 50

	// unknownReply is the expected reply of a call for which the predictor gave
	// none, in tokens: about five verdicts with their reasons.
	unknownReply = 250
)

// reasoners are the families of models that reason unless told otherwise, by the
// start of the name's last part, and what marks a model that doesn't.
var (
	reasoners  = []string{"o1", "o3", "o4", "gpt-5", "gpt-oss", "deepseek-r1", "deepseek-reasoner", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-3", "grok-3-mini", "grok-4", "magistral", "qwen3", "qwq"}
	unthinking = []string{"-chat", "non-reasoning", "-lite", "instruct", "no-think"}
	thinking   = []string{"thinking", "-reasoning", "-reasoner"}
)

// Reasons reports whether a model is known to reason before it answers unless it
// is told not to, by its name. Models that can but don't by default, such as
// Claude's, are not meant.
func Reasons(model string) bool {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	has := func(part string) bool { return strings.Contains(name, part) }
	for _, part := range unthinking {
		if has(part) {
			return false
		}
	}
	for _, part := range thinking {
		if has(part) {
			return true
		}
	}
	for _, family := range reasoners {
		if rest, ok := strings.CutPrefix(name, family); ok && (rest == "" || strings.IndexByte("-.:@_", rest[0]) >= 0) {
			return true
		}
	}
	return false
}
