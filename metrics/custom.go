package metrics

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

// Kind is what a metric that a configuration defines asks for.
type Kind string

// The kinds. They are also the names of the steps in their templates.
const (
	KindRubric    Kind = "rubric"    // a rating on a scale with described levels
	KindChecklist Kind = "checklist" // several questions, yes or no
	KindBinary    Kind = "binary"    // one question, yes or no
)

// Kinds lists every kind.
var Kinds = []Kind{KindRubric, KindChecklist, KindBinary}

// Definition is a metric that a configuration defines, in a section
// [metric.<name>] with the key "kind". Define makes one that is checked.
type Definition struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Needs are the fields that are shown to the judge, and without which a sample
	// is skipped.
	Needs []eval.Field `json:"needs"`
	// Question is what is asked; for a checklist, what all its items are about,
	// and may be empty.
	Question string `json:"question,omitempty"`
	// Steps say how the judge goes about it. They are written once, in the
	// configuration.
	Steps []string `json:"steps,omitempty"`
	// Levels describe the scale of a rubric, which goes from the lowest to the
	// highest of them.
	Levels map[int]string `json:"levels,omitempty"`
	// Items are the questions of a checklist.
	Items []CheckItem `json:"items,omitempty"`
	// ExpectNo: of a binary metric, "no" is the answer that scores 1.
	ExpectNo bool `json:"expect_no,omitempty"`
	// LowerIsBetter: a low value is a good one.
	LowerIsBetter bool `json:"lower_is_better,omitempty"`
	// Logprobs weighs the levels by how likely the judge held each to be, where
	// the endpoint tells.
	Logprobs bool `json:"logprobs,omitempty"`
	// Doc describes the metric for people. It is no part of the Hash.
	Doc string `json:"-"`
}

// CheckItem is one question of a checklist.
type CheckItem struct {
	// Check is the question, or a statement that holds or doesn't.
	Check string `json:"check"`
	// Weight is how much it counts, above 0; 1 by default.
	Weight float64 `json:"weight"`
	// Critical: if it doesn't hold, the score is 0.
	Critical bool `json:"critical,omitempty"`
}

// The bounds of a definition, far above what is of use.
const (
	maxScale  = 100 // between the lowest and the highest level
	maxChecks = 100
	maxSteps  = 50
)

// KeyError is what is wrong with one key of a definition.
type KeyError struct {
	// Key stands under [metric.<name>]; empty for the section as a whole.
	Key string
	Err error
}

// Error gives the key and what is wrong.
func (e *KeyError) Error() string {
	if e.Key == "" {
		return e.Err.Error()
	}
	return e.Key + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *KeyError) Unwrap() error { return e.Err }

// IsDefinition reports whether the keys of a section [metric.<name>] define a
// metric.
func IsDefinition(keys map[string]any) bool {
	_, ok := keys["kind"]
	return ok
}

var definedName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// takenNames are names of keys and sections beside which a metric of that name
// could not be told apart.
var takenNames = []string{"dir", "domain", "language", "examples", "rubric", "custom"}

// definitionKeys are the keys of a definition, by kind.
var definitionKeys = map[Kind][]string{
	KindRubric:    {"kind", "needs", "question", "steps", "levels", "lower_is_better", "logprobs", "doc"},
	KindChecklist: {"kind", "needs", "question", "steps", "items", "lower_is_better", "doc"},
	KindBinary:    {"kind", "needs", "question", "steps", "expect", "lower_is_better", "logprobs", "doc"},
}

// Define reads the keys of a section [metric.<name>] that has the key "kind", as
// TOML gives them. It reports everything that is wrong, each as a *KeyError.
func Define(name string, keys map[string]any) (Definition, []error) {
	d := Definition{Name: name, Needs: []eval.Field{eval.FieldUserInput, eval.FieldResponse}}
	r := definitionReader{keys: keys}
	if err := checkDefinedName(name); err != nil {
		r.bad("", err)
	}
	var kind string
	r.text("kind", &kind)
	d.Kind = Kind(kind)
	known := definitionKeys[d.Kind]
	if known == nil {
		if kind != "" {
			r.bad("kind", fmt.Errorf("%q is no kind of metric; known are %s", kind, quoted(Kinds)))
		}
		return d, r.errs
	}
	for _, key := range sortedKeys(keys) {
		if !slices.Contains(known, key) {
			r.bad(key, fmt.Errorf("a %s has no such key; %s", kind, knownKey(key, known)))
		}
	}
	r.text("question", &d.Question)
	r.text("doc", &d.Doc)
	r.texts("steps", &d.Steps, maxSteps)
	r.flag("lower_is_better", &d.LowerIsBetter)
	r.flag("logprobs", &d.Logprobs)
	r.needs(&d.Needs)
	switch d.Kind {
	case KindRubric:
		r.required("question", d.Question)
		r.levels(&d)
	case KindChecklist:
		r.items(&d)
	case KindBinary:
		r.required("question", d.Question)
		r.expect(&d)
	}
	return d, r.errs
}

func checkDefinedName(name string) error {
	if f, ok := find(name); ok {
		return fmt.Errorf("there is a built-in metric %s, so that one of your own needs another name", f.Name)
	}
	if !definedName.MatchString(name) {
		return errors.New("the name of a metric of your own is made of small letters, digits and underscores, and begins with a letter")
	}
	if slices.Contains(takenNames, name) || IsRetrieval(name) {
		return fmt.Errorf("%q means something else in a configuration; choose another name", name)
	}
	return nil
}

// knownKey tells the keys that there are, and the nearest.
func knownKey(key string, known []string) string {
	nearest := slices.MinFunc(known, func(a, b string) int {
		return cmp.Compare(text.Distance(key, a), text.Distance(key, b))
	})
	if text.Distance(key, nearest) <= len(key)/2 {
		return fmt.Sprintf("did you mean %q?", nearest)
	}
	return "known are " + strings.Join(known, ", ")
}

func quoted[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", string(w))
	}
	return strings.Join(out, ", ")
}

// Template is the name of the metric's prompt template.
func (d Definition) Template() string { return d.Name + "/" + string(d.Kind) }

// Scale returns the lowest and the highest rating of a rubric or a binary
// metric; both are 0 for a checklist.
func (d Definition) Scale() (lo, hi int) {
	switch d.Kind {
	case KindRubric:
		all := d.ratings()
		return all[0], all[len(all)-1]
	case KindBinary:
		return 0, 1
	}
	return 0, 0
}

// ratings are the levels that are described, from the lowest.
func (d Definition) ratings() []int {
	all := make([]int, 0, len(d.Levels))
	for n := range d.Levels {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// Criteria says in full what the judge is asked, for its prompt.
func (d Definition) Criteria() string {
	var b strings.Builder
	switch d.Kind {
	case KindRubric:
		fmt.Fprintf(&b, "What is rated: %s\n\nRate on this scale:\n", strings.TrimSpace(d.Question))
		for _, n := range slices.Backward(d.ratings()) {
			fmt.Fprintf(&b, "\n- %d: %s", n, strings.TrimSpace(d.Levels[n]))
		}
	case KindBinary:
		fmt.Fprintf(&b, "The question: %s", strings.TrimSpace(d.Question))
	case KindChecklist:
		b.WriteString("What the checklist is about: ")
		b.WriteString(cmp.Or(strings.TrimSpace(d.Question), "whether the response is as it should be."))
	}
	return b.String()
}

// Hash is the SHA-256, in hexadecimal, of everything in the definition that can
// change a score.
func (d Definition) Hash() string {
	b, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("metrics: a definition can't be encoded: %v", err)) // texts, flags and finite numbers only
	}
	sum := sha256.Sum256(append([]byte("definition/1\n"), b...))
	return hex.EncodeToString(sum[:])
}

// Metric makes the metric. The judge's prompts must hold the template of the
// definition.
func (d Definition) Metric(opt Options) (eval.Metric, error) {
	if opt.Judge == nil && len(opt.Panel.Seats) == 0 {
		return nil, fmt.Errorf("make metric %s: it needs a judge, and none is given", d.Name)
	}
	if len(opt.Panel.Seats) > 1 && !slices.Contains(Votes, opt.Panel.Vote) {
		return nil, fmt.Errorf("make metric %s: %q is no vote; known are %v", d.Name, opt.Panel.Vote, Votes)
	}
	if d.Kind == KindChecklist {
		return checklist{d, opt.panel()}, nil
	}
	return rated{d, opt.panel()}, nil
}

// Info describes the metric.
func (d Definition) Info() eval.Info {
	info := eval.Info{
		Name: d.Name, Version: 1, Judged: true, Needs: d.Needs, LowerIsBetter: d.LowerIsBetter, Calls: "1",
		Doc: cmp.Or(d.Doc, strings.TrimSpace(d.Question)),
	}
	if lo, hi := d.Scale(); d.Kind == KindRubric {
		info.Formula = fmt.Sprintf("(rating - %d) / %d, the rating being %d to %d", lo, hi-lo, lo, hi)
	}
	switch {
	case d.Kind == KindChecklist:
		info.Formula = "weights of the items that hold / weights of all; 0 if a critical one doesn't hold"
		info.Doc = cmp.Or(info.Doc, "A checklist that the configuration defines.")
	case d.Kind == KindBinary && d.ExpectNo:
		info.Formula = "1 for no, 0 for yes"
	case d.Kind == KindBinary:
		info.Formula = "1 for yes, 0 for no"
	}
	if d.Logprobs {
		info.Formula += "; weighted by the probabilities of the ratings where the endpoint tells them"
	}
	return info
}
