package metrics

import (
	"context"
	"slices"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/judge"
)

// Judge is what the judged metrics ask. *judge.Judge satisfies it; the
// contract of its methods stands there.
type Judge interface {
	// Claims splits Ask.Text into claims; there may be none.
	Claims(ctx context.Context, a judge.Ask) ([]string, error)
	// Verdicts gives each of Ask.Items one of Ask.Labels, in order.
	Verdicts(ctx context.Context, a judge.Ask) ([]judge.Verdict, error)
	// Rate rates the sample between Ask.Min and Ask.Max.
	Rate(ctx context.Context, a judge.Ask) (judge.Rating, error)
	// Backing says for each of Ask.Items, in order, which of Ask.Contexts entail
	// it.
	Backing(ctx context.Context, a judge.Ask) ([]judge.Backing, error)
}

// Embedder is what metrics over meaning ask for vectors. *judge.Embedder
// satisfies it.
type Embedder interface {
	// Embed gives each text a vector, all of one length, in order; metric is who
	// asks. The errors are those of a Judge.
	Embed(ctx context.Context, metric string, texts []string) ([][]float32, error)
}

// CutOff says whether the name of a family carries a cut-off "@k".
type CutOff int

// The three kinds of name.
const (
	NoCutOff       CutOff = iota // "faithfulness"
	OptionalCutOff               // "mrr" or "mrr@10"
	NeedsCutOff                  // "precision@5"
)

// Family is a metric, for every cut-off that it may have.
type Family struct {
	// Name is the canonical name without a cut-off.
	Name string
	// CutOff says whether the name carries one.
	CutOff CutOff
	// Judged reports whether the metric needs Options.Judge.
	Judged bool
	// Aliases are further names that mean the same, in lower case letters and
	// digits only: "answerrelevancy" stands for answer_relevancy,
	// AnswerRelevancy and answer-relevancy.
	Aliases []string
	// Modes are the values of Options.Mode that it knows, its default first.
	Modes []Mode
	// Compats are the peers whose formula it can take; see Options.Compat.
	Compats []Compat
	// Options names the options that the metric reads; see OptionNames.
	Options []string
	// noClaims is the policy that goes with a peer's formula where none is set.
	noClaims map[Compat]NoClaims
	// embeds reports whether it needs Options.Embedder; nil for never.
	embeds func(Options) bool
	// build makes the metric. k is 0 for no cut-off; opt has been checked.
	build func(k int, opt Options) eval.Metric
}

// All lists every family in the order in which they are shown. Adding a metric
// is one file and one line here.
var All = []Family{
	faithfulnessFamily,
	answerRelevanceFamily,
	contextPrecisionFamily,
	contextRecallFamily,
	contextRelevanceFamily,
	contextUtilizationFamily,
	contextEntityRecallFamily,
	claimRecallFamily,
	claimContextPrecisionFamily,
	claimFaithfulnessFamily,
	hallucinationFamily,
	selfKnowledgeFamily,
	relevantNoiseFamily,
	irrelevantNoiseFamily,
	factualCorrectnessFamily,
	responsePrecisionFamily,
	responseRecallFamily,
	responseF1Family,
	answerCorrectnessFamily,
	semanticSimilarityFamily,
	precisionFamily,
	recallFamily,
	hitRateFamily,
	f1Family,
	mrrFamily,
	mapFamily,
	ndcgFamily,
	rPrecisionFamily,
	bprefFamily,
	judgedFamily,
	exactMatchFamily,
	tokenF1Family,
	rougeLFamily,
	bleuFamily,
	chrfFamily,
	lexicalFaithfulnessFamily,
}

// SharedAsks are the questions that both metrics ask about a sample: each is one
// call for the two of them.
func SharedAsks(a, b eval.Info) []string {
	var shared []string
	for _, ask := range a.Asks {
		if slices.Contains(b.Asks, ask) {
			shared = append(shared, ask)
		}
	}
	return shared
}

// Infos describes one metric of each family, for a manual; where a cut-off is
// needed or allowed it is 5.
func Infos() []eval.Info {
	var infos []eval.Info
	for _, f := range All {
		k := 5
		if f.CutOff == NoCutOff {
			k = 0
		}
		infos = append(infos, f.made(k, Options{}).Info())
	}
	return infos
}
