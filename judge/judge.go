package judge

import (
	"encoding/json"
	"fmt"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/prompts"
)

// DefaultMaxTokens bounds a reply where Config.MaxTokens is 0, in tokens.
const DefaultMaxTokens = 2048

// Config says which judge is asked, and how.
type Config struct {
	// Client answers the requests; it is the whole chain.
	Client llm.Client
	// Prompts are the templates; nil stands for the built-in ones.
	Prompts *prompts.Set
	// Endpoint and Model are part of every request; see llm.Request.
	Endpoint, Model string
	// Temperature and Seed are sent if not nil.
	Temperature *float64
	Seed        *int
	// MaxTokens bounds a reply, in tokens; 0 stands for DefaultMaxTokens. A
	// reply that was cut is asked for again once with twice as many.
	MaxTokens int
	// Extra are further members of every request; see llm.Request.
	Extra json.RawMessage
	// MaxItems is the most items that one call asks for verdicts on; 0 for no
	// bound.
	MaxItems int
	// MaxInput is the longest prompt that the model takes, in tokens; 0 if that is
	// not known. What is longer, and what the server finds too long, is asked about
	// in several calls where that is possible.
	MaxInput int
	// CountTokens counts the input tokens of a request, for MaxInput; nil guesses.
	CountTokens func(*llm.Request) int
	// Trial numbers repeats that must not share replies; 0 for the first.
	Trial int
	// Name is the judge's in a panel of several; calls are attributed to it, and
	// it has no influence on them.
	Name string
}

// Judge asks for claims, verdicts and ratings. It is safe for concurrent use.
type Judge struct {
	cfg    Config
	counts counters
}

// New returns a Judge.
func New(cfg Config) *Judge {
	if cfg.MaxTokens <= 0 {
		cfg.MaxTokens = DefaultMaxTokens
	}
	if cfg.Prompts == nil {
		cfg.Prompts = prompts.Default()
	}
	return &Judge{cfg: cfg}
}

// Ask is one question to the judge. Fill in all that is known of the sample:
// only what the template uses goes into the request, so that an ask that uses
// less is the same request, and costs one call, whatever else is filled in.
type Ask struct {
	// Metric is who asks; it is attributed the call and has no influence on it.
	Metric string
	// Prompt is the template's name: "faithfulness/verdict".
	Prompt string
	// The sample, as in eval.Sample; Reference is the reference answer.
	UserInput, Response, Reference string
	Contexts                       []string
	// Text is what is to be split into claims.
	Text string
	// List says what a list holds: ListClaims (also if empty), ListQuestions or
	// ListEntities.
	List string
	// Count is how many texts a list must hold if it holds any; 0 for any number.
	Count int
	// Items are what verdicts are asked for, numbered from 1.
	Items []string
	// Labels are the verdicts that are allowed: the positive one first, the
	// plain negative last.
	Labels []string
	// Min and Max are the ends of a rating's scale, both included.
	Min, Max int
	// before is the number of contexts in front of these, which were shown in
	// another call.
	before int
	// Weighted asks for the probabilities of the levels of the scale, which must
	// have one digit each: see Rating.Weighted.
	Weighted bool
}

// Verdict is what the judge said about one item.
type Verdict struct {
	// Item is the item's text.
	Item string `json:"item"`
	// Label is one of the labels of the Ask.
	Label string `json:"verdict"`
	// Reason is the judge's own reason, as it came; may be empty.
	Reason string `json:"reason,omitempty"`
	// Said is the judge's own word where it did not decide ("idk", "partially");
	// empty otherwise. Label is then the one that stands for an open question,
	// or else the plain negative: what is not said to be so doesn't count.
	Said string `json:"said,omitempty"`
}

// Rating is a rating on the scale of its Ask.
type Rating struct {
	// Rating lies between Min and Max of the Ask.
	Rating int `json:"rating"`
	// Reason is the judge's own reason, as it came; may be empty.
	Reason string `json:"reason,omitempty"`
	// Weighted is the mean of the levels by their probabilities, between Min and
	// Max, where Ask.Weighted asks for it and the endpoint tells them.
	Weighted *float64 `json:"weighted,omitempty"`
}

// The codes of an UnusableError.
const (
	// CodeRefusal: the model refused. It is not asked again.
	CodeRefusal = "refusal"
	// CodeContentFilter: the provider's filter cut the reply.
	CodeContentFilter = "content_filter"
	// CodeTruncated: the reply was cut, also with twice the tokens.
	CodeTruncated = "truncated"
	// CodeEmpty: the reply had no content.
	CodeEmpty = "empty_reply"
	// CodeInReasoning: the reply has no content but thoughts, in a field of
	// their own or between tags, also when told to put the answer in the reply.
	CodeInReasoning = "answer_in_reasoning"
	// CodeUndecodable: the reply holds no answer in the form asked for.
	CodeUndecodable = "undecodable_reply"
	// CodeAmbiguous: the reply contradicts itself.
	CodeAmbiguous = "ambiguous_reply"
	// CodeOutOfScale: the answer is none of the labels, or not on the scale.
	CodeOutOfScale = "out_of_scale"
	// CodeMissing: some items have no verdict.
	CodeMissing = "missing_verdicts"
)

// UnusableError says that the judge answered, but gave no usable verdict. The
// sample is unscored.
type UnusableError struct {
	// Code is one of the codes above.
	Code string
	// Message says what is wrong with the reply.
	Message string
	// Reply is the last reply, cut to a readable length.
	Reply string
}

// Error gives the code and what is wrong.
func (e *UnusableError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }
