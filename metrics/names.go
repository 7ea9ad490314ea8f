package metrics

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

// maxCutOff bounds k: a list of a million ids is no list that anyone looks at,
// and a larger number is a slip.
const maxCutOff = 1_000_000

// New returns the metric of the name, in any spelling that Canonical accepts.
// An unknown name, a missing or bad cut-off, an option out of range, and a
// judged metric without Options.Judge are errors that name the metric.
func New(name string, opt Options) (eval.Metric, error) {
	f, k, err := parse(name)
	if err != nil {
		return nil, err
	}
	if err := opt.check(f.Name); err != nil {
		return nil, err
	}
	if f.Judged && opt.Judge == nil && len(opt.Panel.Seats) == 0 {
		return nil, fmt.Errorf("make metric %s: it needs a judge, and none is given", f.Name)
	}
	if len(opt.Panel.Seats) > 1 && !slices.Contains(Votes, opt.Panel.Vote) {
		return nil, fmt.Errorf("make metric %s: %q is no vote; known are %v", f.Name, opt.Panel.Vote, Votes)
	}
	if opt.Panel.Embedder != nil {
		opt.Embedder = opt.Panel.Embedder
	}
	if f.NeedsEmbedder(opt) && opt.Embedder == nil {
		return nil, fmt.Errorf("make metric %s: it needs embeddings, and no model for them is given", f.Name)
	}
	if opt.Judge == nil && len(opt.Panel.Seats) > 0 {
		opt.Judge = opt.Panel.Seats[0].Judge // of a metric that asks one judge whatever the panel
	}
	return f.made(k, opt), nil
}

// made makes the metric of the family.
func (f Family) made(k int, opt Options) eval.Metric {
	return f.build(k, f.defaults(opt))
}

// defaults fills in the options.
func (f Family) defaults(opt Options) Options {
	if opt.NoClaims == "" {
		opt.NoClaims = f.noClaims[opt.Compat]
	}
	if opt.Mode == "" && len(f.Modes) > 0 {
		opt.Mode = f.Modes[0]
	}
	return opt.withDefaults()
}

// NeedsEmbedder reports whether the metric with these options asks for
// embeddings.
func (f Family) NeedsEmbedder(opt Options) bool {
	return f.embeds != nil && f.embeds(f.defaults(opt))
}

// Canonical returns the canonical spelling of a metric's name: "precision@5",
// "answer_relevance". Case, hyphens, underscores and spaces don't matter, and
// the names that other tools give to the same metric are known:
// answer_relevancy, ResponseRelevancy, contextual_recall, llm_context_recall,
// hit@3, hits@3, success_3, P@5, P_5, precision_at_5, ndcg_cut_10, MRR,
// recip_rank. A name that another tool uses for something else, such as
// context_relevancy, is unknown.
func Canonical(name string) (string, error) {
	f, k, err := parse(name)
	if err != nil {
		return "", err
	}
	return withCutOff(f.Name, k), nil
}

// FamilyOf returns the family of a metric's name, in any spelling.
func FamilyOf(name string) (Family, error) {
	f, _, err := parse(name)
	return f, err
}

func withCutOff(name string, k int) string {
	if k == 0 {
		return name
	}
	return name + "@" + strconv.Itoa(k)
}

// cutOffForm takes "precision@5", "P_5", "precision_at_5" and "ndcg_cut_10"
// apart. Whatever stands behind an @ is meant as a cut-off, well formed or not.
var cutOffForm = regexp.MustCompile(`^(.*?)(?:@(.*)|[ _-](?:at|cut)[ _-](\d+)|[ _-](\d+))$`)

func parse(name string) (Family, int, error) {
	base, cut, hasCut := name, "", false
	// "f1" ends in a digit that is no cut-off; "f1_5" has one.
	if m := cutOffForm.FindStringSubmatch(strings.TrimSpace(name)); m != nil {
		base, cut, hasCut = m[1], m[2]+m[3]+m[4], true
	}
	f, ok := find(base)
	if !ok {
		return Family{}, 0, fmt.Errorf("find metric %q: there is no such metric; the nearest name is %q", name, nearest(base))
	}
	example := f.Name + "@5"
	switch {
	case hasCut && f.CutOff == NoCutOff:
		return Family{}, 0, fmt.Errorf("find metric %q: %s takes no cut-off", name, f.Name)
	case !hasCut && f.CutOff == NeedsCutOff:
		return Family{}, 0, fmt.Errorf("find metric %q: it needs a cut-off, such as %q", name, example)
	case !hasCut:
		return f, 0, nil
	}
	k, err := strconv.Atoi(cut)
	if err != nil || k < 1 || k > maxCutOff || cut[0] == '+' {
		return Family{}, 0, fmt.Errorf("find metric %q: the cut-off %q must be a whole number from 1 to %d, such as %q", name, cut, maxCutOff, example)
	}
	return f, k, nil
}

func find(base string) (Family, bool) {
	word := squeeze(base)
	for _, f := range All {
		if word == squeeze(f.Name) {
			return f, true
		}
		for _, a := range f.Aliases {
			if word == a {
				return f, true
			}
		}
	}
	return Family{}, false
}

// squeeze leaves the lower-case letters and digits of a name.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case strings.ContainsRune(" _-", r):
			return -1
		}
		return '?'
	}, s)
}

// nearest returns the canonical name that takes the fewest edits.
func nearest(base string) string {
	word := squeeze(base)
	best, bestName := -1, ""
	for _, f := range All {
		name := f.Name
		if f.CutOff == NeedsCutOff {
			name += "@5"
		}
		for _, known := range append([]string{squeeze(f.Name)}, f.Aliases...) {
			if d := text.Distance(word, known); best < 0 || d < best {
				best, bestName = d, name
			}
		}
	}
	return bestName
}
