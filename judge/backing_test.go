package judge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/judge"
	"github.com/ragjudge/ragjudge/llm"
)

func backing(chunks int, items ...string) judge.Ask {
	a := judge.Ask{Metric: "hallucination", Prompt: "claims/backing", UserInput: "Which colour?", Items: items}
	for i := range chunks {
		a.Contexts = append(a.Contexts, fmt.Sprintf("Passage %d.", i+1))
	}
	return a
}

// TestBacking: what a reply about two claims and three chunks is read as; "?"
// for one that is no answer.
func TestBacking(t *testing.T) {
	for reply, want := range map[string]string{
		`{"verdicts":[{"id":1,"reason":"r","chunks":[1,3]},{"id":2,"reason":"r","chunks":[]}]}`: "1,3|",
		`{"verdicts":[{"id":2,"chunks":[2]},{"id":1,"chunks":[3,1,3]}]}`:                        "1,3|2",
		`{"verdicts":[{"id":1,"chunks":"1, 3"},{"id":2,"chunks":"none"}]}`:                      "1,3|",
		`{"verdicts":[{"id":"claim 1","chunks":["passage 2"]},{"id":2,"chunks":2}]}`:            "2|2",
		`{"1":[1],"2":[2,3]}`: "1|2,3",
		`[{"claim":"a claim","chunks":[3]},{"claim":"another","chunks":[1]}]`:                   "3|1",
		"```json\n{'verdicts': [{'id': 1, 'passages': [1]}, {'id': 2, 'passages': []}]}\n```":   "1|",
		`{"verdicts":[{"chunks":[1]},{"chunks":[2]}]}`:                                          "1|2",
		"{\"id\":1,\"chunks\":[1]}\n{\"id\":2,\"chunks\":[]}":                                   "1|",
		`<think>{"1":[2],"2":[2]}</think>{"1":[1],"2":[]}`:                                      "1|",
		`{"verdicts":[{"id":1,"chunks":"[1, 2]"},{"id":2,"chunks":["3"]}]}`:                     "1,2|3",
		`{"verdicts":[{"id":1,"chunk_id":3,"chunks":[1]},{"id":2,"context_id":1,"chunks":[]}]}`: "1|",

		`[[1,3],[2]]`:     "?", // of which items?
		`[1,2]`:           "?",
		`[]`:              "?",
		`{"verdicts":[]}`: "?",
		`{"verdicts":[{"id":1,"chunks":[1,4]},{"id":2,"chunks":[0]}]}`:                 "?", // no such chunks
		`{"verdicts":[{"id":1,"chunks":[1.5]},{"id":2,"chunks":[-1]}]}`:                "?",
		`{"verdicts":[{"id":1,"chunks":null},{"id":2,"chunks":true}]}`:                 "?",
		`{"verdicts":[{"id":1,"chunks":""},{"id":2,"chunks":","}]}`:                    "?",
		`{"verdicts":[{"id":1,"chunks":[[1]]},{"id":2,"chunks":{"a":1}}]}`:             "?",
		`{"verdicts":[{"id":1,"chunks":[1]},{"id":1,"chunks":[2]}]}`:                   "?", // two verdicts on one
		`{"verdicts":[{"id":1,"chunks":[1],"passages":[2]},{"id":2}]}`:                 "?",
		`{"verdicts":[{"id":1,"chunks":[1]}]} or {"verdicts":[{"id":1,"chunks":[2]}]}`: "?",
		`{"verdicts":[{"id":1,"chunks":[1]},{"id":2,"chunks":[2]`:                      "?", // cut
		`{"verdicts":[{"chunk_id":1,"chunks":[1]},{"id":2,"chunks":[2]}]}`:             "?", // one has no number
		"Claim 1 is in passage 1 and 3.":                                               "?",
	} {
		t.Run(reply, func(t *testing.T) {
			replies := []any{reply}
			if want == "?" {
				replies = append(replies, reply)
			}
			j, s := scripted(t, replies...)
			got, err := j.Backing(t.Context(), backing(3, "a claim", "another"))
			if want == "?" {
				if err == nil || s.stored[0] {
					t.Fatalf("gave %+v, kept %v", got, s.stored)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if shown := numbers(got[0].Chunks) + "|" + numbers(got[1].Chunks); shown != want || got[0].Item != "a claim" || got[1].Item != "another" || !s.stored[0] {
				t.Errorf("%s of %+v, want %s", shown, got, want)
			}
		})
	}
}

func numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

// TestBackingAsksForTheMissingAlone: an item that is left out, or has a chunk
// that there is not, is asked about once more under its own number, and nothing
// else is.
func TestBackingAsksForTheMissingAlone(t *testing.T) {
	for _, first := range []string{
		`{"verdicts":[{"id":1,"chunks":[1]},{"id":3,"chunks":[]}]}`,
		`{"verdicts":[{"id":1,"chunks":[1]},{"id":2,"chunks":[7]},{"id":3,"chunks":[]}]}`,
	} {
		j, s := scripted(t, first, `{"verdicts":[{"id":2,"chunks":[2]}]}`)
		got, err := j.Backing(t.Context(), backing(2, "a", "b", "c"))
		if err != nil {
			t.Fatal(err)
		}
		want := []judge.Backing{{Item: "a", Chunks: []int{1}}, {Item: "b", Chunks: []int{2}}, {Item: "c"}}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if again := judge.ParseFenced(s.got[1].Messages[1].Content); !cmp.Equal(again.Items, []judge.Item{{N: 2, Text: "b"}}) || len(again.Contexts) != 2 {
			t.Errorf("asked again about %+v with %d chunks", again.Items, len(again.Contexts))
		}
	}
	j, _ := scripted(t, `{"verdicts":[{"id":1,"chunks":[1]}]}`, `{"verdicts":[{"id":2,"chunks":[9]}]}`)
	_, err := j.Backing(t.Context(), backing(2, "a", "b"))
	unusable(t, err, judge.CodeMissing)
}

// TestBackingWithoutACall: nothing to ask about, or nothing to find it in.
func TestBackingWithoutACall(t *testing.T) {
	j, _ := scripted(t)
	for _, a := range []judge.Ask{backing(2), backing(0, "a"), {Prompt: "claims/backing", Items: []string{"a"}, Contexts: []string{"", " \n"}}} {
		got, err := j.Backing(t.Context(), a)
		if err != nil || len(got) != len(a.Items) || len(got) > 0 && (got[0].Item != "a" || got[0].Chunks != nil) {
			t.Errorf("%+v gave %+v, %v", a, got, err)
		}
	}
}

// TestListsOfTexts: questions and entities are read as strictly as claims, and
// of questions there are as many as were asked for, or none.
func TestListsOfTexts(t *testing.T) {
	questions := judge.Ask{Prompt: "answer_relevance/questions", Text: "Red.", List: judge.ListQuestions, Count: 2}
	entities := judge.Ask{Prompt: "context_entity_recall/entities", Text: "Ana met Bo.", List: judge.ListEntities}
	for _, c := range []struct {
		ask   judge.Ask
		reply string
		want  []string // nil for no answer
	}{
		{questions, `{"questions":["What?","Which?"]}`, []string{"What?", "Which?"}},
		{questions, `{"questions":[]}`, []string{}},
		{questions, `["What?","Which?"]`, []string{"What?", "Which?"}},
		{questions, `{"questions":["What?"]}`, nil},
		{questions, `{"questions":["What?","What?"]}`, nil},
		{questions, `{"questions":["a?","b?","c?"]}`, nil},
		{questions, `{"claims":["What?","Which?"]}`, nil},
		{entities, `{"entities":["Ana","Bo","Ana"]}`, []string{"Ana", "Bo"}},
		{entities, `{"entities":[{"name":"Ana"}]}`, []string{"Ana"}},
		{entities, `{"entities":["Ana","..."]}`, nil},
		{entities, `{"entities":["Ana","Bo"`, nil},
	} {
		replies := []any{c.reply}
		if c.want == nil {
			replies = append(replies, c.reply)
		}
		j, s := scripted(t, replies...)
		got, err := j.Claims(t.Context(), c.ask)
		if (err == nil) != (c.want != nil) || !cmp.Equal(got, c.want) {
			t.Errorf("%s gave %v, %v; want %v", c.reply, got, err, c.want)
		}
		if name := s.got[0].Schema.Name; name != c.ask.List || !strings.Contains(s.got[0].Messages[0].Content, `{"`+name+`":["...","..."]}`) {
			t.Errorf("asked for %s", name)
		}
	}
}

// TestLexicalAnswersEveryForm: the offline judge answers the asks for chunks,
// lists and vectors, also where the form is told in words only.
func TestLexicalAnswersEveryForm(t *testing.T) {
	for _, inWords := range []bool{false, true} {
		client := llm.ClientFunc(func(ctx context.Context, req *llm.Request) (*llm.Response, error) {
			r := *req
			if inWords {
				r.Schema = nil
			}
			return judge.Lexical{}.Complete(ctx, &r)
		})
		j := judge.New(judge.Config{Client: client, Endpoint: "lexical", Model: judge.LexicalModel})
		a := backing(0, "Cover starts in May 2024.", "Dogs are welcome.", "Cover starts in May 2023.")
		a.Contexts = []string{"The garden is open.", "Your cover starts in May 2024.", "In May 2024 your cover starts."}
		got, err := j.Backing(t.Context(), a)
		if err != nil || numbers(got[0].Chunks) != "2,3" || len(got[1].Chunks)+len(got[2].Chunks) != 0 {
			t.Errorf("backing %+v, %v", got, err)
		}
		list, err := j.Claims(t.Context(), judge.Ask{Prompt: "answer_relevance/questions", Text: "Cover starts in May.", List: judge.ListQuestions, Count: 3})
		if err != nil || len(list) != 3 || !strings.Contains(list[0], "Cover starts in May") {
			t.Errorf("questions %q, %v", list, err)
		}
		if list, err := j.Claims(t.Context(), judge.Ask{Prompt: "answer_relevance/questions", Text: "I don't know.", List: judge.ListQuestions, Count: 3}); err != nil || len(list) != 0 {
			t.Errorf("questions of no answer %q, %v", list, err)
		}
		list, err = j.Claims(t.Context(), judge.Ask{Prompt: "context_entity_recall/entities", Text: "The tower was built by Gustave Eiffel in Paris, France. It opened in 1889 and I like it. Paris is large.", List: judge.ListEntities})
		if want := []string{"Gustave Eiffel", "Paris", "France", "1889"}; err != nil || !cmp.Equal(list, want) {
			t.Errorf("entities %q, %v; want %q", list, err, want)
		}
		match := judge.Ask{Prompt: "claims/match", Text: "Cover starts in May 2024.", Items: []string{"Cover starts in May 2024.", "Cover starts in May 2023.", "Dogs bark."}, Labels: judge.FaithfulnessLabels()}
		verdicts, err := j.Verdicts(t.Context(), match)
		if err != nil || verdicts[0].Label != judge.Supported || verdicts[1].Label != judge.Contradicted || verdicts[2].Label != judge.NotFound {
			t.Errorf("match %+v, %v", verdicts, err)
		}
		agree := judge.Ask{Prompt: "hallucination/agreement", Response: "Cover starts in May 2024.", Items: []string{"Cover starts in May 2023.", "Dogs bark."}, Labels: judge.AgreementLabels()}
		verdicts, err = j.Verdicts(t.Context(), agree)
		if err != nil || verdicts[0].Label != judge.Contradicted || verdicts[1].Label != judge.Consistent {
			t.Errorf("agreement %+v, %v", verdicts, err)
		}
	}
}
