package judge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/prompts"
	"github.com/ragjudge/ragjudge/text"
)

// This file asks about a sample in several calls: where there are more items
// than one call may hold, and where the sample is too long for the model. Each
// item keeps its number and has exactly one verdict in the end.

// tooLongCodes are those of the errors that say that a prompt is too long for the
// model, whoever finds it out.
var tooLongCodes = []string{"context_too_long", "suspected_context_overflow", llm.CodePromptTruncated}

func isTooLong(err error) bool {
	if err == nil {
		return false
	}
	e := llm.AsError(err)
	return e != nil && slices.Contains(tooLongCodes, e.Code)
}

// errTooLong stands for the call that is not made, since it is known that the
// prompt is longer than the model takes.
func (j *Judge) errTooLong(tokens int) error {
	return &llm.Error{Kind: llm.Row, Code: "context_too_long",
		Message: fmt.Sprintf("the prompt has about %d tokens, and the model takes %d", tokens, j.cfg.MaxInput),
		Hint:    "this sample is too long for the judge, also in pieces; retrieve less for it, or take a judge with a longer context"}
}

// inPieces gets a verdict on each item: in groups of at most Config.MaxItems, and
// each group in as many pieces as it takes.
func (s *session) inPieces(ctx context.Context, items []Item) (verdicts, error) {
	all := verdicts{by: map[int]Verdict{}}
	for _, group := range groups(items, s.j.cfg.MaxItems) {
		got, err := s.piece(group).fitting(ctx, group)
		if err != nil {
			return verdicts{}, err
		}
		maps.Copy(all.by, got.by)
	}
	return all, nil
}

// groups cuts the items into as few groups of at most n as there can be, all
// about as large. n of 0 is no bound.
func groups(items []Item, n int) [][]Item {
	if n <= 0 || len(items) <= n {
		return [][]Item{items}
	}
	count := (len(items) + n - 1) / n
	out := make([][]Item, count)
	for i := range out {
		out[i] = items[i*len(items)/count : (i+1)*len(items)/count]
	}
	return out
}

// piece is a session of its own for some of the items: what it may spend is its
// own too.
func (s *session) piece(items []Item) *session {
	p := s.j.session(s.ask)
	p.chunks = s.chunks
	p.ask.Items = make([]string, len(items))
	for i, it := range items {
		p.ask.Items[i] = it.Text
	}
	return p
}

// fitting asks about the items in one call or, if that is too long for the model,
// in two halves, and so on. An item that is too long with a single chunk is an
// error.
func (s *session) fitting(ctx context.Context, items []Item) (verdicts, error) {
	got, err := s.one(ctx, items)
	if !isTooLong(err) {
		return got, err
	}
	byContexts := s.evidence() && len(s.ask.Contexts) > 1
	byItems := len(items) > 1
	if byContexts && byItems {
		byContexts = length(s.ask.Contexts) >= length(s.ask.Items)
	}
	switch {
	case byContexts:
		return s.halvedContexts(ctx, items)
	case byItems:
		return s.halvedItems(ctx, items)
	}
	return got, err
}

// evidence reports whether the contexts are evidence, of which one piece is
// enough: then an item has in all of them the verdict of the piece that says
// most.
func (s *session) evidence() bool {
	if t, err := s.j.cfg.Prompts.Get(s.ask.Prompt); err != nil || !t.Uses(prompts.RetrievedContexts) {
		return false
	}
	if s.chunks > 0 {
		return true
	}
	switch s.ask.Labels[0] {
	case Supported, Attributable, Entailed:
		return true
	}
	return false
}

func (s *session) halvedItems(ctx context.Context, items []Item) (verdicts, error) {
	s.j.counts.split.Add(1)
	all := verdicts{by: map[int]Verdict{}}
	for _, half := range [][]Item{items[:len(items)/2], items[len(items)/2:]} {
		got, err := s.piece(half).fitting(ctx, half)
		if err != nil {
			return verdicts{}, err
		}
		maps.Copy(all.by, got.by)
	}
	return all, nil
}

// halvedContexts asks about all items with the first contexts, and again with the
// others, which keep their numbers.
func (s *session) halvedContexts(ctx context.Context, items []Item) (verdicts, error) {
	s.j.counts.split.Add(1)
	cut := middle(s.ask.Contexts)
	var both [2]verdicts
	for i := range both {
		p := s.piece(items)
		if i == 0 {
			p.ask.Contexts = s.ask.Contexts[:cut]
		} else {
			p.ask.Contexts, p.ask.before = s.ask.Contexts[cut:], s.ask.before+cut
		}
		got, err := p.fitting(ctx, items)
		if err != nil {
			return verdicts{}, err
		}
		both[i] = got
	}
	return s.joined(items, both[0], both[1]), nil
}

// joined makes one verdict of two pieces of evidence: of lists of chunks both
// together, of labels the one that stands first among them.
func (s *session) joined(items []Item, a, b verdicts) verdicts {
	all := verdicts{by: map[int]Verdict{}}
	for _, it := range items {
		x, y := a.by[it.N], b.by[it.N]
		switch {
		case s.chunks > 0 && x.Label != noChunk && y.Label != noChunk:
			x.Label += "," + y.Label
			x.Reason = strings.TrimSpace(x.Reason + " " + y.Reason)
			all.by[it.N] = x
		case s.chunks > 0 && x.Label == noChunk,
			s.chunks == 0 && slices.Index(s.ask.Labels, y.Label) < slices.Index(s.ask.Labels, x.Label):
			all.by[it.N] = y
		default:
			all.by[it.N] = x
		}
	}
	return all
}

// one asks about the items in one call, with the repeats that it allows.
func (s *session) one(ctx context.Context, items []Item) (verdicts, error) {
	got, err := ask(ctx, s, items, s.verdictForm(items))
	if err != nil {
		return got, err
	}
	if missing := missingFrom(got, items); len(missing) > 0 {
		err = s.askMissing(ctx, &got, missing)
	}
	return got, err
}

// length is the length of texts, in bytes.
func length(texts []string) int {
	n := 0
	for _, t := range texts {
		n += len(t)
	}
	return n
}

// middle is where a list of at least two texts falls into two parts of about the
// same length.
func middle(texts []string) int {
	half, n := length(texts)/2, 0
	for i, t := range texts {
		if n += len(t); n >= half {
			// The text at the middle goes to where the parts are more alike.
			if n-half > len(t)/2 {
				i--
			}
			return min(max(i+1, 1), len(texts)-1)
		}
	}
	return len(texts) / 2
}

// checkLength reports a prompt that is longer than the model takes. A token has
// at least one byte, so that most prompts need not be counted.
func (s *session) checkLength(req *llm.Request) error {
	most := s.j.cfg.MaxInput
	if most <= 0 {
		return nil
	}
	n := 0
	for _, m := range req.Messages {
		n += len(m.Content) + 16 // and what a chat puts around it
	}
	if req.Schema != nil {
		n += len(req.Schema.JSON)
	}
	if n <= most {
		return nil
	}
	const bytesPerToken = 3 // where nobody counts: on the safe side for most languages
	tokens := n / bytesPerToken
	if s.j.cfg.CountTokens != nil {
		tokens = s.j.cfg.CountTokens(req)
	}
	if tokens <= most {
		return nil
	}
	return s.j.errTooLong(tokens)
}

// halvedText cuts a text in two near its middle: at a blank line, a line end, the
// end of a sentence or a word. It reports false for one that can't be cut.
func halvedText(s string) (string, string, bool) {
	half := len(s) / 2
	best := -1
	at := func(i int) {
		if i > 0 && i < len(s) && (best < 0 || abs(i-half) < abs(best-half)) {
			best = i
		}
	}
	near := func() bool { return best > 0 && abs(best-half) <= len(s)/4 }
	for _, mark := range []string{"\n\n", "\n"} {
		for i := 0; !near() && i < len(s); {
			k := strings.Index(s[i:], mark)
			if k < 0 {
				break
			}
			i += k + len(mark)
			at(i)
		}
	}
	if !near() {
		best = -1
		from := 0
		for _, sentence := range text.Sentences(s) {
			if k := strings.Index(s[from:], sentence); k >= 0 {
				from += k + len(sentence)
				at(from)
			}
		}
	}
	if !near() {
		best = -1
		for i, r := range s {
			if isBlank(r) {
				at(i + utf8.RuneLen(r))
			}
		}
	}
	if best <= 0 || strings.TrimSpace(s[:best]) == "" || strings.TrimSpace(s[best:]) == "" {
		return "", "", false
	}
	return s[:best], s[best:], true
}

func abs(n int) int { return max(n, -n) }
