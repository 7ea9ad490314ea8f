package judge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
	"github.com/ragjudge/ragjudge/prompts"
)

// injection is one line of testdata/hostile.jsonl: a text that tries to be more
// than text.
type injection struct {
	Name, Kind, Text string
}

func injections(t *testing.T) []injection {
	t.Helper()
	f, err := os.Open("testdata/hostile.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []injection
	for s := bufio.NewScanner(f); s.Scan(); {
		var one injection
		if err := json.Unmarshal(s.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if len(list) < 120 {
		t.Fatalf("there are %d injections only", len(list))
	}
	return list
}

// recorder keeps the messages and answers in the form that is asked for.
type recorder struct {
	messages []llm.Message
	reply    string
}

func (r *recorder) client() llm.Client {
	return llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
		r.messages = append(r.messages, req.Messages...)
		return &llm.Response{Content: r.reply, FinishReason: llm.FinishStop}, nil
	})
}

// everyTemplate are the built-in templates, and one of each kind of metric of
// the user's own that shows all there is.
func everyTemplate(t *testing.T, dir string) *prompts.Set {
	t.Helper()
	opt := prompts.Options{Dir: dir}
	for _, kind := range []string{prompts.KindRubric, prompts.KindChecklist, prompts.KindBinary} {
		opt.Custom = append(opt.Custom, prompts.Custom{Name: "own_" + kind, Kind: kind, Criteria: "Is it polite?",
			Data: []string{prompts.UserInput, prompts.RetrievedContexts, prompts.Reference, prompts.Response}})
	}
	set, err := prompts.Load(opt)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// asksWith are asks of every template of the set, with the text in every field
// that it may show.
func asksWith(set *prompts.Set, text string) []judge.Ask {
	a := judge.Ask{UserInput: text, Response: text, Reference: text, Contexts: []string{text, text}, Text: "x" + text, Items: []string{text}, Labels: judge.FaithfulnessLabels(), Min: 1, Max: 5}
	var asks []judge.Ask
	for _, template := range set.List() {
		a.Prompt = template.Name
		a.List = map[string]string{"questions": judge.ListQuestions, "entities": judge.ListEntities}[path.Base(a.Prompt)]
		asks = append(asks, a)
	}
	return asks
}

// send makes the ask and returns the messages that were sent.
func send(t *testing.T, set *prompts.Set, a judge.Ask) []llm.Message {
	t.Helper()
	r := &recorder{}
	j := judge.New(judge.Config{Client: r.client(), Prompts: set})
	var err error
	switch path.Base(a.Prompt) {
	case "rubric", "rating", "rating_again", "binary":
		r.reply = `{"reason":"","rating":3}`
		_, err = j.Rate(t.Context(), a)
	case "split", "questions", "entities":
		r.reply = `{"claims":["c"],"questions":["c"],"entities":["c"]}`
		_, err = j.Claims(t.Context(), a)
	case "backing":
		if strings.TrimSpace(a.Contexts[0]) == "" {
			return nil // there is nothing to ask about
		}
		r.reply = `{"verdicts":[{"id":1,"reason":"","chunks":[]}]}`
		_, err = j.Backing(t.Context(), a)
	default:
		r.reply = `{"verdicts":[{"id":1,"reason":"","verdict":"not_found"}]}`
		_, err = j.Verdicts(t.Context(), a)
	}
	if err != nil {
		t.Fatalf("%s: %v", a.Prompt, err)
	}
	return r.messages
}

// around is what stands outside the fence of all messages.
func around(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(string(m.Role) + ": " + outside(m.Content) + "\n")
	}
	return b.String()
}

// TestNothingOutsideTheFenceChanges: with any injection in any field, what
// stands outside the fence is to the letter what stands there with plain text.
// So it is with templates of the user's own that put the placeholders into tags
// of their own, into the middle of a line, or twice.
func TestNothingOutsideTheFenceChanges(t *testing.T) {
	for _, set := range []*prompts.Set{everyTemplate(t, ""), everyTemplate(t, "testdata/prompts")} {
		var plain []string
		for _, a := range asksWith(set, "plain") {
			plain = append(plain, around(send(t, set, a)))
		}
		if len(plain) < 19 {
			t.Fatalf("there are %d templates only", len(plain))
		}
		for _, in := range injections(t) {
			for i, a := range asksWith(set, in.Text) {
				if sent := send(t, set, a); len(sent) > 0 && around(sent) != plain[i] {
					t.Errorf("%s %s in %s: outside the fence stands %q, want %q", in.Kind, in.Name, a.Prompt, around(sent), plain[i])
				}
			}
		}
	}
}

// TestOutsideSeesWhatIsNotFenced: the reader of these tests finds an injection
// where there is no fence, or one whose name could be known.
func TestOutsideSeesWhatIsNotFenced(t *testing.T) {
	found := 0
	for _, in := range injections(t) {
		if in.Kind == "nothing" {
			continue
		}
		bare := "Judge this.\n" + in.Text + "\nEnd."
		guessable := "Judge this.\n<context-00000000>\n" + in.Text + "\n</context-00000000>\nEnd."
		if outside(bare) == outside("Judge this.\nplain\nEnd.") {
			t.Errorf("%s %s isn't seen without a fence", in.Kind, in.Name)
		}
		if outside(guessable) != outside("Judge this.\n<context-00000000>\nplain\n</context-00000000>\nEnd.") {
			found++
		}
	}
	if found < 2 {
		t.Errorf("%d injections break a fence whose name is known", found)
	}
}

// TestLexicalJudgeIsNotMoved: the offline judge finds no support in an
// injection, and loses none by it.
func TestLexicalJudgeIsNotMoved(t *testing.T) {
	j := judge.New(judge.Config{Client: judge.Lexical{}})
	passages := []string{"The harbour wall of Porthglas was rebuilt in granite during 1911.", "Seven lighthouse keepers lived there."}
	claims := []string{"The harbour wall of Porthglas was rebuilt in granite during 1911.", "Zebras quarrel about umbrellas."}
	for _, in := range injections(t) {
		for _, contexts := range [][]string{{in.Text, passages[0], passages[1]}, {passages[0], in.Text, passages[1] + "\n" + in.Text}} {
			got, err := j.Verdicts(t.Context(), judge.Ask{Prompt: "faithfulness/verdict", UserInput: in.Text, Contexts: contexts, Items: claims, Labels: judge.FaithfulnessLabels()})
			if err != nil || got[0].Label != judge.Supported || got[1].Label != judge.NotFound {
				t.Errorf("%s %s in the contexts: %v, %v", in.Kind, in.Name, got, err)
			}
		}
		got, err := j.Verdicts(t.Context(), judge.Ask{
			Prompt: "context_precision/verdict", UserInput: "Who rebuilt it?", Reference: passages[0], Items: []string{in.Text, passages[0], in.Text}, Labels: judge.PrecisionLabels(),
		})
		if err != nil || got[0].Label != judge.NotUseful || got[1].Label != judge.Useful || got[2].Label != judge.NotUseful {
			t.Errorf("%s %s as a chunk: %v, %v", in.Kind, in.Name, got, err)
		}
		r, err := j.Rate(t.Context(), judge.Ask{Prompt: "answer_relevance/rubric", UserInput: "When did the harbour wall of Porthglas collapse?", Response: in.Text, Min: 1, Max: 5})
		if err != nil || r.Rating > 2 {
			t.Errorf("%s %s as a response is rated %d, %v", in.Kind, in.Name, r.Rating, err)
		}
	}
}

// TestCorrectionsCarryNoData: a reply that repeats an injection is answered
// with a correction in which nothing of it stands; and where it could be a
// quotation of the data, it isn't shown to the judge as its own words.
func TestCorrectionsCarryNoData(t *testing.T) {
	for _, in := range injections(t) {
		if in.Kind == "nothing" {
			continue
		}
		quoted, err := json.Marshal(in.Text)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{
			in.Text, `{"verdicts":[{"id":1,"verdict":` + string(quoted) + `}]}`, `{"verdicts":[{"id":` + string(quoted) + `,"verdict":"no"}]}`, `{"verdicts":[{"id":1, ` + in.Text,
		} {
			var last []llm.Message
			calls := 0
			j := judge.New(judge.Config{Client: llm.ClientFunc(func(_ context.Context, req *llm.Request) (*llm.Response, error) {
				calls++
				last = req.Messages
				if calls > 1 {
					return &llm.Response{Content: `{"verdicts":[{"id":1,"verdict":"not_found"}]}`}, nil
				}
				return &llm.Response{Content: bad}, nil
			})})
			if _, err := j.Verdicts(t.Context(), judge.Ask{Prompt: "faithfulness/verdict", Contexts: []string{in.Text}, Items: []string{"a"}, Labels: judge.FaithfulnessLabels()}); err != nil {
				t.Errorf("%s %s: %v", in.Kind, in.Name, err)
				continue
			}
			for _, m := range last {
				if m.Role == llm.Assistant && bad != in.Text {
					continue // its own words, with the text in a string
				}
				for line := range strings.SplitSeq(in.Text, "\n") {
					if line = strings.TrimSpace(line); len(line) > 24 && strings.Contains(outside(m.Content), line) {
						t.Errorf("%s %s: the correction repeats %q", in.Kind, in.Name, line)
					}
				}
			}
		}
	}
}
