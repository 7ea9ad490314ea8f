package judge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/prompts"
)

// Claims splits Text into the claims that it makes, in their order. A text that
// makes none gives an empty list; so does a blank one, without a call. A claim
// that the reply holds twice, to the letter, is given once.
//
// The request depends on the text alone, so that metrics that need the same
// split share one call.
//
// Where Ask.List says so it gets another list of short texts by the same rules.
// Ask.Count bounds it to exactly so many, or none.
//
// The error is an *UnusableError if the judge gave no usable reply, and the
// client's own error, unchanged, if it gave none at all.
func (j *Judge) Claims(ctx context.Context, a Ask) ([]string, error) {
	if strings.TrimSpace(a.Text) == "" {
		return []string{}, nil
	}
	s := j.session(a)
	list := listOf(a.List)
	got, err := ask(ctx, s, nil, replyForm[[]string]{
		schema: list.schema(),
		format: list.format(a.Count),
		decode: func(content string) ([]string, *problem) { return list.decode(content, a.Count, s.holds) },
	})
	if isTooLong(err) && a.Count == 0 {
		return j.claimsOfHalves(ctx, a, err)
	}
	return got, err
}

// claimsOfHalves gets the list of a text that is too long for the model from its
// two halves. The error is returned for a text that can't be cut.
func (j *Judge) claimsOfHalves(ctx context.Context, a Ask, err error) ([]string, error) {
	left, right, ok := halvedText(a.Text)
	if !ok {
		return nil, err
	}
	j.counts.split.Add(1)
	all, seen := []string{}, map[string]bool{}
	for _, half := range []string{left, right} {
		a.Text = half
		got, err := j.Claims(ctx, a)
		if err != nil {
			return nil, err
		}
		for _, claim := range got {
			if !seen[claim] {
				seen[claim] = true
				all = append(all, claim)
			}
		}
	}
	return all, nil
}

// Verdicts asks for a verdict on each item and returns them in the order of the
// items: every item exactly once, each with one of the labels. Items that the
// reply leaves out, or gives no usable verdict, are asked about once more,
// alone and under their own numbers. No item gives an empty list, without a
// call. For the errors see Claims.
func (j *Judge) Verdicts(ctx context.Context, a Ask) ([]Verdict, error) {
	if len(a.Labels) < 2 {
		return nil, fmt.Errorf("ask for %s: verdicts need at least two labels, not %d", a.Prompt, len(a.Labels))
	}
	return j.session(a).verdicts(ctx)
}

// verdicts gets a verdict on each item of the ask, in its form.
func (s *session) verdicts(ctx context.Context) ([]Verdict, error) {
	items := make([]Item, len(s.ask.Items))
	for i, text := range s.ask.Items {
		items[i] = Item{N: i + 1, Text: text}
	}
	if len(items) == 0 {
		return []Verdict{}, nil
	}
	got, err := s.inPieces(ctx, items)
	if err != nil {
		return nil, err
	}
	list := make([]Verdict, len(items))
	for i, it := range items {
		list[i] = got.by[it.N]
	}
	return list, nil
}

// Rate asks for one rating between Min and Max. For the errors see Claims.
func (j *Judge) Rate(ctx context.Context, a Ask) (Rating, error) {
	if a.Min >= a.Max {
		return Rating{}, fmt.Errorf("ask for %s: a scale from %d to %d is none", a.Prompt, a.Min, a.Max)
	}
	s := j.session(a)
	got, err := ask(ctx, s, nil, replyForm[Rating]{
		schema: schemaOfRating(a.Min, a.Max),
		format: formatOfRating(a.Min, a.Max),
		decode: func(content string) (Rating, *problem) { return decodeRating(content, a.Min, a.Max, s.holds) },
	})
	if err == nil && a.Weighted {
		got.Weighted = weighed(s.resp, got.Rating, a.Min, a.Max)
	}
	return got, err
}

// replyForm is the form of a reply: how it is asked for and how it is read.
type replyForm[T any] struct {
	schema *llm.Schema
	format string
	decode func(content string) (T, *problem)
}

func (s *session) verdictForm(items []Item) replyForm[verdicts] {
	if s.chunks > 0 {
		return chunksForm(len(s.ask.Contexts), s.ask.before, items, s.holds)
	}
	labels := s.ask.Labels
	return replyForm[verdicts]{
		schema: schemaOfVerdicts(labels),
		format: formatOfVerdicts(labels),
		decode: func(content string) (verdicts, *problem) {
			return decodeVerdicts(content, labels, items, s.holds)
		},
	}
}

// holds reports whether the text stands in the data of the ask, whatever the
// white space.
func (s *session) holds(text string) bool {
	s.strip.Do(func() {
		a := s.ask
		for _, list := range [][]string{{a.UserInput, a.Response, a.Reference, a.Text}, a.Contexts, a.Items} {
			for _, d := range list {
				s.data = append(s.data, withoutSpace(d))
			}
		}
	})
	text = withoutSpace(text)
	return slices.ContainsFunc(s.data, func(d string) bool { return strings.Contains(d, text) })
}

// repeats reports whether a line of the reply stands in the data.
func (s *session) repeats(reply string) bool {
	const short = 16 // as names and numbers are that any reply repeats
	for line := range strings.SplitSeq(cutText(reply, maxKept), "\n") {
		if line = strings.TrimSpace(line); len(line) >= short && s.holds(line) {
			return true
		}
	}
	return false
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if isBlank(r) {
			return -1
		}
		return r
	}, s)
}

func missingFrom(v verdicts, items []Item) []Item {
	var missing []Item
	for _, it := range items {
		if _, ok := v.by[it.N]; !ok {
			missing = append(missing, it)
		}
	}
	return missing
}

// session is one Ask on its way: what it may still spend.
type session struct {
	j   *Judge
	ask Ask
	// chunks is the number of chunks of an ask for lists of their numbers.
	chunks int
	// maxTokens bounds a reply; it is doubled once, when a reply is cut.
	maxTokens int
	doubled   bool
	// asked reports that the one repeat has been used.
	asked bool
	// resp is the last reply as it came.
	resp *llm.Response
	// last is the last reply, for the error.
	last string
	// content is what the last reply said to us.
	content string
	// data are the texts of the ask without white space, once they are needed.
	data  []string
	strip sync.Once
}

func (j *Judge) session(a Ask) *session {
	return &session{j: j, ask: a, maxTokens: j.cfg.MaxTokens}
}

// ask renders the prompt, asks, and decodes. A reply that can't be decoded is
// answered once with what is wrong with it.
func ask[T any](ctx context.Context, s *session, items []Item, f replyForm[T]) (T, error) {
	var none T
	messages, err := s.render(items, f.format)
	if err != nil {
		return none, err
	}
	got, wrong, err := complete(ctx, s, messages, f)
	if err != nil || wrong == nil {
		return got, err
	}
	s.asked = true
	s.j.counts.askedAgain.Add(1)
	wrong.quotes = wrong.quotes || s.repeats(s.content)
	got, wrong, err = complete(ctx, s, corrected(messages, s.content, wrong, f.format), f)
	if err != nil || wrong == nil {
		return got, err
	}
	return none, s.unusable(wrong)
}

// askMissing asks once more for the items that have no verdict, and adds what
// comes back.
func (s *session) askMissing(ctx context.Context, got *verdicts, missing []Item) error {
	if !s.asked {
		s.asked = true
		s.j.counts.askedAgain.Add(1)
		f := s.verdictForm(missing)
		messages, err := s.render(missing, f.format)
		if err != nil {
			return err
		}
		more, wrong, err := complete(ctx, s, messages, f)
		if err != nil {
			return err
		}
		if wrong == nil {
			maps.Copy(got.by, more.by)
			missing = missingFrom(*got, missing)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	numbers := make([]string, len(missing))
	for i, it := range missing {
		numbers[i] = fmt.Sprint(it.N)
	}
	return s.unusable(problemf(CodeMissing, "no usable verdict on %d of %d items (%s), also when asked again",
		len(missing), len(s.ask.Items), cutText(strings.Join(numbers, ", "), 100)))
}

// complete makes one call, and a second one with twice the tokens if the reply
// was cut. The problem says why the reply can't be decoded; the error ends the
// ask.
func complete[T any](ctx context.Context, s *session, messages []llm.Message, f replyForm[T]) (T, *problem, error) {
	var none T
	once := &decodedOnce[T]{decode: f.decode}
	resp, err := s.send(ctx, messages, f.schema, checkOf(once.of))
	if err != nil {
		return none, nil, err
	}
	if wasCut(resp) && !s.doubled && !resp.Shortened {
		s.doubled = true
		s.maxTokens *= 2
		if resp, err = s.send(ctx, messages, f.schema, checkOf(once.of)); err != nil {
			return none, nil, err
		}
	}
	if p := final(resp); p != nil {
		return none, nil, s.unusable(p)
	}
	got, wrong := decoded(resp, once.of)
	if wrong == nil {
		s.j.counts.answered(resp.Content, got)
	}
	return got, wrong, nil
}

// decoded takes the answer out of a reply. Thoughts in a field of their own are
// no answer, whatever stands in them.
func decoded[T any](r *llm.Response, decode func(string) (T, *problem)) (T, *problem) {
	if r.Reasoning != "" && strings.TrimFunc(r.Content, isBlank) == "" {
		var none T
		return none, problemf(CodeInReasoning, "the reply is empty, and all that came stands in the reasoning: put the answer in the reply itself")
	}
	return decode(r.Content)
}

// decodedOnce keeps what a reply was decoded to: the check of a reply and its
// use decode the same text. Both are in the goroutine of the ask.
type decodedOnce[T any] struct {
	decode func(string) (T, *problem)
	text   string
	got    T
	wrong  *problem
	done   bool
}

func (d *decodedOnce[T]) of(text string) (T, *problem) {
	if !d.done || d.text != text {
		d.got, d.wrong = d.decode(text)
		d.text, d.done = text, true
	}
	return d.got, d.wrong
}

func (s *session) send(ctx context.Context, messages []llm.Message, schema *llm.Schema, check func(*llm.Response) error) (*llm.Response, error) {
	cfg := s.j.cfg
	_, step, _ := strings.Cut(s.ask.Prompt, "/")
	alternatives, levels := 0, []string(nil)
	if s.ask.Weighted {
		if levels = digitsOf(s.ask.Min, s.ask.Max); levels != nil {
			alternatives = llm.MaxTopLogprobs
		}
	}
	req := &llm.Request{
		TopLogprobs: alternatives,
		LogprobsOf:  levels,
		Endpoint:    cfg.Endpoint,
		Model:       cfg.Model,
		Messages:    messages,
		Temperature: cfg.Temperature,
		MaxTokens:   s.maxTokens,
		Seed:        cfg.Seed,
		Schema:      schema,
		Extra:       cfg.Extra,
		Trial:       cfg.Trial,
		Tag:         llm.Tag{Metric: s.ask.Metric, Step: step, Judge: cfg.Name},
		Check:       check,
	}
	if err := s.checkLength(req); err != nil {
		return nil, err
	}
	resp, err := cfg.Client.Complete(ctx, req)
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return nil, errors.New("ask the judge: the client gave neither a reply nor an error")
	}
	s.last, s.content, s.resp = resp.Content, resp.Content, resp
	switch {
	case resp.Refusal != "":
		s.last = resp.Refusal
	case strings.TrimFunc(resp.Content, isBlank) == "" && resp.Reasoning != "":
		s.last = resp.Reasoning
	}
	return resp, nil
}

// checkOf decides which replies are worth keeping: those that give an answer,
// be it to some of the items only. The others are asked for alone then, which
// is a request of its own and kept by itself, so that the same Ask takes the
// same way again without a new call.
func checkOf[T any](decode func(string) (T, *problem)) func(*llm.Response) error {
	return func(r *llm.Response) error {
		if p := final(r); p != nil {
			return p
		}
		if _, p := decoded(r, decode); p != nil {
			return p
		}
		return nil
	}
}

// final reports a reply that ends the ask, whatever its content is.
func final(r *llm.Response) *problem {
	switch {
	case wasCut(r) && r.Shortened:
		return problemf(CodeTruncated, "the reply was cut at the most tokens that the server allows or has room for")
	case wasCut(r) && strings.TrimFunc(r.Content, isBlank) == "" && (r.Reasoning != "" || r.Usage.ReasoningTokens > 0):
		return problemf(CodeTruncated, "the model spent all its tokens on reasoning, also with twice as many; raise judge.max_tokens, or ask for less reasoning in judge.extra_body")
	case wasCut(r):
		return problemf(CodeTruncated, "the reply was cut by the limit of tokens, also with twice as many")
	case r.Refusal != "":
		return problemf(CodeRefusal, "the model refused: %s", cutText(r.Refusal, 200))
	case r.FinishReason == llm.FinishContentFilter:
		return problemf(CodeContentFilter, "the provider's content filter cut the reply")
	}
	return nil
}

// wasCut reports a reply that ends at the limit of tokens, in the words of
// several providers.
func wasCut(r *llm.Response) bool {
	switch strings.ToLower(string(r.FinishReason)) {
	case string(llm.FinishLength), "max_tokens", "max_output_tokens", "max_new_tokens", "max_length", "model_length", "token_limit", "length_limit", "incomplete":
		return true
	}
	return false
}

// maxKept bounds the reply that is kept with an error or sent back to the judge,
// in bytes.
const maxKept = 4096

func (s *session) unusable(p *problem) *UnusableError {
	return &UnusableError{Code: p.code, Message: p.forPeople(), Reply: cutText(strings.ToValidUTF8(s.last, "\ufffd"), maxKept)}
}

// corrected adds to the chat what came back and what is wrong with it. A reply
// without content can't be sent back, since servers refuse empty messages, and
// one that may repeat the data must not: a verdict that a hostile text brought
// along would stand in the chat as the judge's own. Then the correction joins
// the user's message.
func corrected(messages []llm.Message, reply string, p *problem, format string) []llm.Message {
	correction := "Your reply can't be used: " + p.msg + ".\nAnswer the request above again, in full. " + format
	n := len(messages)
	chat := slices.Clone(messages)
	if strings.TrimFunc(reply, isBlank) == "" || p.quotes {
		chat[n-1].Content += "\n\n" + correction
		return chat
	}
	return append(chat,
		llm.Message{Role: llm.Assistant, Content: cutText(strings.ToValidUTF8(reply, "\ufffd"), maxKept)},
		llm.Message{Role: llm.User, Content: correction})
}

// render fills in the template. Every piece of data that the template uses, and
// no other, is fenced; the nonce hangs on exactly that data.
func (s *session) render(items []Item, format string) ([]llm.Message, error) {
	t, err := s.j.cfg.Prompts.Get(s.ask.Prompt)
	if err != nil {
		return nil, err
	}
	data := dataOf(s.ask, items)
	data = slices.DeleteFunc(data, func(d datum) bool { return !t.Uses(d.placeholder) })
	var all []block
	for _, d := range data {
		all = append(all, d.blocks...)
	}
	nonce := nonceOf(all)
	values := map[string]string{prompts.ReplyFormat: format}
	for _, d := range data {
		values[d.placeholder] = fence(nonce, d.blocks)
	}
	rendered, err := s.j.cfg.Prompts.Render(s.ask.Prompt, values)
	if err != nil {
		return nil, err
	}
	messages := make([]llm.Message, len(rendered))
	for i, m := range rendered {
		messages[i] = llm.Message{Role: llm.Role(m.Role), Content: onLines(m.Content, nonce)}
	}
	return messages, nil
}

// datum is the data behind one placeholder.
type datum struct {
	placeholder string
	blocks      []block
}

func dataOf(a Ask, items []Item) []datum {
	contexts := make([]block, len(a.Contexts))
	for i, c := range a.Contexts {
		contexts[i] = block{tag: TagContext, n: a.before + i + 1, text: c}
	}
	asked := make([]block, len(items))
	for i, it := range items {
		asked[i] = block{tag: TagItem, n: it.N, text: it.Text}
	}
	return []datum{
		{prompts.UserInput, []block{{tag: TagQuestion, text: a.UserInput}}},
		{prompts.Response, []block{{tag: TagResponse, text: a.Response}}},
		{prompts.Reference, []block{{tag: TagReference, text: a.Reference}}},
		{prompts.Text, []block{{tag: TagText, text: a.Text}}},
		{prompts.RetrievedContexts, contexts},
		{prompts.Items, asked},
	}
}
