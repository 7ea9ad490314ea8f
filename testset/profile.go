package testset

import (
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/text"
)

// Bounds of what a Profile remembers.
const (
	// MaxCategories is how many categories are told apart.
	MaxCategories = 10_000
	// MaxQuestions is how many different questions are searched for
	// near-duplicates; those after them are counted in NotCompared.
	MaxQuestions = 100_000
)

// FieldLengths are the lengths of one field's texts.
type FieldLengths struct {
	Words, Characters Lengths
}

// Profile describes samples that pass by. Its zero value is not ready; use
// NewProfile.
type Profile struct {
	// Rows is how many there were.
	Rows int
	// Lengths are those of the texts, by field; of lists, of each text in them.
	Lengths map[eval.Field]*FieldLengths
	// Contexts is how many retrieved contexts a sample has, of those that say.
	Contexts Lengths
	// Languages counts the questions by Language, and by that of the response
	// where there is no question.
	Languages map[string]int
	// Categories counts by category, "" for none, as far as MaxCategories goes;
	// OtherCategories counts the samples of further ones.
	Categories      map[string]int
	OtherCategories int
	// SameContent counts samples whose texts are all those of an earlier one,
	// SameQuestion those whose question is an earlier one's, word for word.
	SameContent, SameQuestion int
	// NearQuestions counts different questions that are near to an earlier one;
	// NotCompared those that came after the first MaxQuestions.
	NearQuestions, NotCompared int
	// NearPairs are examples, the earlier id first.
	NearPairs [][2]string

	masks     map[uint16]int
	contents  map[uint64]struct{}
	questions map[uint64]struct{}
	near      *index
	ids       []string
}

// NewProfile starts a profile.
func NewProfile() *Profile {
	return &Profile{
		Lengths: map[eval.Field]*FieldLengths{}, Languages: map[string]int{}, Categories: map[string]int{},
		masks: map[uint16]int{}, contents: map[uint64]struct{}{}, questions: map[uint64]struct{}{}, near: newIndex(Near),
	}
}

// fields are those that a metric may need, in the order of their bits.
var fields = []eval.Field{
	eval.FieldUserInput, eval.FieldResponse, eval.FieldReference, eval.FieldRetrievedContexts, eval.FieldReferenceContexts,
	eval.FieldRetrievedContextIDs, eval.FieldReferenceContextIDs, eval.FieldCategory,
}

// Add takes one sample into account.
func (p *Profile) Add(s *eval.Sample) {
	p.Rows++
	var mask uint16
	for i, f := range fields {
		if s.Has(f) {
			mask |= 1 << i
		}
	}
	p.masks[mask]++
	p.length(eval.FieldUserInput, s.UserInput)
	p.length(eval.FieldResponse, s.Response)
	p.length(eval.FieldReference, s.Reference)
	for _, c := range s.RetrievedContexts {
		p.length(eval.FieldRetrievedContexts, c)
	}
	for _, c := range s.ReferenceContexts {
		p.length(eval.FieldReferenceContexts, c)
	}
	if s.RetrievedContexts != nil {
		p.Contexts.Add(len(s.RetrievedContexts))
	}
	lang := Language(s.UserInput)
	if lang == "" {
		lang = Language(s.Response)
	}
	p.Languages[lang]++
	if _, known := p.Categories[s.Category]; known || len(p.Categories) < MaxCategories {
		p.Categories[s.Category]++
	} else {
		p.OtherCategories++
	}
	p.repeats(s)
}

func (p *Profile) length(f eval.Field, s string) {
	if s == "" {
		return
	}
	l := p.Lengths[f]
	if l == nil {
		l = &FieldLengths{}
		p.Lengths[f] = l
	}
	l.Words.Add(words(s))
	l.Characters.Add(utf8.RuneCountInString(s))
}

// words counts the runs of text between white space, which costs little; a
// text in a script without spaces is counted by text.Words.
func words(s string) int {
	n, in, wide := 0, false, false
	for _, r := range s {
		space := text.IsSpace(r)
		if !space && !in {
			n++
		}
		in = !space
		wide = wide || r >= 0x0e00
	}
	if wide {
		return len(text.Words(s))
	}
	return n
}

func (p *Profile) repeats(s *eval.Sample) {
	h := contentHash(s)
	content := uint64(0)
	for _, b := range h[:8] {
		content = content<<8 | uint64(b)
	}
	if _, twice := p.contents[content]; twice {
		p.SameContent++
	}
	p.contents[content] = struct{}{}
	set, key := shinglesOf(s.UserInput)
	if set == nil {
		return
	}
	if _, twice := p.questions[key]; twice {
		p.SameQuestion++
		return
	}
	p.questions[key] = struct{}{}
	if len(p.near.sets) == MaxQuestions {
		p.NotCompared++
		return
	}
	bands := set.bands()
	if at := p.near.find(set, bands); at >= 0 {
		p.NearQuestions++
		const examples = 5
		if len(p.NearPairs) < examples {
			p.NearPairs = append(p.NearPairs, [2]string{p.ids[at], s.ID})
		}
	}
	p.near.add(set, bands)
	p.ids = append(p.ids, s.ID)
}

// With counts the samples that have all of these fields.
func (p *Profile) With(needs []eval.Field) int {
	var want uint16
	for _, need := range needs {
		for i, f := range fields {
			if f == need {
				want |= 1 << i
			}
		}
	}
	n := 0
	for mask, rows := range p.masks {
		if mask&want == want {
			n += rows
		}
	}
	return n
}
