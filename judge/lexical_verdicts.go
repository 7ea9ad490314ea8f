package judge

import (
	"fmt"
	"slices"

	"github.com/ragjudge/ragjudge/text"
)

// The thresholds of the lexical judge: shares of content words. Supported was
// chosen where the agreement with people, over two data sets of human labels of
// support (BEGIN and ExpertQA), is best on the whole; see the agreement test.
// The others are the same in kind and lower, because a chunk can be useful and
// an answer to the point without repeating every word.
const (
	supportedShare = 0.7
	// contradictedShare is how much of a statement, its numbers aside, must
	// stand in one passage before a wrong number or a negation counts as a
	// contradiction.
	contradictedShare = 0.8
	usefulShare       = 0.3
	// anyStatement is how far up the scale of a rating any statement stands.
	anyStatement = 0.25
)

// lexicalVerdict is a label with its reason.
type lexicalVerdict struct {
	label, reason string
}

// supportVerdicts judges statements against chunks. The label is the first one
// for a statement whose words stand in one chunk, "contradicted" (where that is
// a label) for one that stands there with another number or turned round, and
// the last one otherwise.
func supportVerdicts(statements, chunks, labels []string) []lexicalVerdict {
	v := newVocabulary(24 * len(statements))
	looked := make([]statement, len(statements))
	for i, s := range statements {
		looked[i] = v.statement(s)
	}
	out := make([]lexicalVerdict, len(statements))
	best := make([]float64, len(statements))
	for i := range out {
		out[i] = lexicalVerdict{labels[len(labels)-1], "none of its words stand in the contexts"}
	}
	canContradict := slices.Contains(labels, Contradicted)
	var r reading
	for n, chunk := range chunks {
		v.read(&r, chunk)
		for i, st := range looked {
			share := r.share(st.words)
			if out[i].label == labels[0] || share <= best[i] && share < supportedShare {
				continue
			}
			// A chunk that supports the statement wins over one that holds
			// more of its words.
			if verdict := supportVerdict(&r, st, share, n+1, labels, canContradict); share > best[i] || verdict.label == labels[0] {
				best[i] = max(best[i], share)
				out[i] = verdict
			}
		}
	}
	return out
}

// lexicalBacked is which chunks hold a statement, with a reason.
type lexicalBacked struct {
	chunks []int
	reason string
}

// lexicalBacking finds for each statement every chunk that would give it the
// verdict "supported" by itself.
func lexicalBacking(statements, chunks []string) []lexicalBacked {
	v := newVocabulary(24 * len(statements))
	looked := make([]statement, len(statements))
	for i, s := range statements {
		looked[i] = v.statement(s)
	}
	labels := FaithfulnessLabels()
	out := make([]lexicalBacked, len(statements))
	most := make([]float64, len(statements))
	var r reading
	for n, chunk := range chunks {
		v.read(&r, chunk)
		for i, st := range looked {
			share := r.share(st.words)
			most[i] = max(most[i], share)
			if supportVerdict(&r, st, share, n+1, labels, true).label == Supported {
				out[i].chunks = append(out[i].chunks, n+1)
			}
		}
	}
	for i := range out {
		out[i].reason = fmt.Sprintf("at most %d%% of its words stand in one context", int(most[i]*100+0.5))
		if out[i].chunks == nil {
			out[i].chunks = []int{}
		}
	}
	return out
}

// agreementVerdicts judges chunks by whether they contradict one of the
// statements.
func agreementVerdicts(chunks, statements, labels []string) []lexicalVerdict {
	out := make([]lexicalVerdict, len(chunks))
	for i, chunk := range chunks {
		out[i] = lexicalVerdict{labels[0], "nothing in it speaks against the response"}
		for _, v := range supportVerdicts(statements, []string{chunk}, FaithfulnessLabels()) {
			if v.label == Contradicted {
				out[i] = lexicalVerdict{labels[len(labels)-1], "a statement of the response: " + v.reason}
				break
			}
		}
	}
	return out
}

func supportVerdict(r *reading, st statement, share float64, chunk int, labels []string, canContradict bool) lexicalVerdict {
	negative := labels[len(labels)-1]
	percent := int(share*100 + 0.5)
	said := func(label, more string) lexicalVerdict {
		return lexicalVerdict{label, fmt.Sprintf("%d%% of its words stand in context %d%s", percent, chunk, more)}
	}
	turned := negative
	if canContradict {
		turned = Contradicted
	}
	if !r.holdsAll(st.numbers) {
		rest := without(st, st.numbers)
		if in, _ := r.passage(rest); r.numbers && len(rest.words) > 1 && in >= contradictedShare {
			return said(turned, ", but another number")
		}
		return said(negative, ", but not its number")
	}
	if share < supportedShare {
		return said(negative, "")
	}
	if in, negated := r.passage(st); in >= contradictedShare && negated != st.negated {
		return said(turned, ", but only one of the two is negated")
	}
	return said(labels[0], "")
}

// without returns the statement without some of its words.
func without(st statement, ids []int) statement {
	rest := statement{negated: st.negated}
	for _, id := range st.words {
		if !contains(ids, id) {
			rest.words = append(rest.words, id)
		}
	}
	return rest
}

// usefulVerdicts judges chunks by how much of the answer stands in them.
func usefulVerdicts(chunks []string, answer string, labels []string) []lexicalVerdict {
	v := newVocabulary(64)
	st := v.statement(text.StripCitations(answer))
	out := make([]lexicalVerdict, len(chunks))
	var r reading
	for i, chunk := range chunks {
		v.read(&r, chunk)
		share := r.share(st.words)
		label := labels[len(labels)-1]
		if share >= usefulShare {
			label = labels[0]
		}
		out[i] = lexicalVerdict{label, fmt.Sprintf("it holds %d%% of the words of the answer", int(share*100+0.5))}
	}
	return out
}

// lexicalRating rates how directly a response takes up a question. The lowest
// rating is for a response that states nothing, such as "I don't know", or that
// only repeats the question. Any other gets the next one, since a short answer
// need not repeat a word ("250 dollars."), and more with the share of the
// question's content words in it; the highest takes three quarters of them. On
// a scale from 1 to 5: 2 below a quarter, 3 below a half, 4 below three
// quarters, then 5.
func lexicalRating(question, response string, lo, hi int) (int, string) {
	if len(lexicalClaims(response)) == 0 {
		return lo, "the response makes no statement"
	}
	if text.SameWords(question, response) {
		return lo, "the response repeats the question"
	}
	v := newVocabulary(32)
	st := v.statement(question)
	var r reading
	v.read(&r, response)
	share := r.share(st.words)
	rating := lo + int(min(1, anyStatement+share)*float64(hi-lo))
	return rating, fmt.Sprintf("the response takes up %d%% of the words of the question", int(share*100+0.5))
}
