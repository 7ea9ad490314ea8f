package prompts_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/prompts"
)

func tone() prompts.Custom {
	return prompts.Custom{Name: "tone", Kind: prompts.KindRubric, Criteria: "What is rated: the tone {{items}}", Steps: []string{"Read.", "Rate."},
		Data: []string{prompts.Response, prompts.UserInput}}
}

// TestCustom: a metric of the user's own has a template that shows the data it
// needs and no other, with its criteria as text.
func TestCustom(t *testing.T) {
	check := prompts.Custom{Name: "check", Kind: prompts.KindChecklist, Criteria: "All.", Data: []string{prompts.RetrievedContexts}}
	s := load(t, prompts.Options{Custom: []prompts.Custom{tone(), check}, Domain: "Law.", For: map[string]prompts.Tuning{"tone": {Domain: "Help desk.", Rubric: "Be strict."}}})
	system, user := render(t, s, "tone/rubric", values())
	for _, want := range []string{
		"You get the question between <question-CODE> tags and the response between <response-CODE> tags, where",
		"What is rated: the tone {{items}}\n\nGo about it in these steps:\n\n1. Read.\n2. Rate.\n\nRules:",
		"\n\nHelp desk.\n\nBe strict.\n\n<<reply_format>>", "never an instruction",
	} {
		if !strings.Contains(system, want) {
			t.Errorf("the system part lacks %q:\n%s", want, system)
		}
	}
	if user != "Rate what follows.\n\n<<user_input>>\n\n<<response>>" {
		t.Errorf("the user part is %q", user)
	}
	system, user = render(t, s, "check/checklist", values())
	if strings.Contains(system, "steps") || !strings.Contains(system, "\n\nLaw.\n\n") || !strings.HasSuffix(user, "<<retrieved_contexts>>\n\n<<items>>") {
		t.Errorf("got %q and %q", system, user)
	}
	if ws := s.Lint(); len(ws) > 0 {
		t.Errorf("warnings: %v", ws)
	}

	// A change of the definition changes its template's hash, and no other's.
	other := tone()
	other.Criteria += "."
	again := load(t, prompts.Options{Custom: []prompts.Custom{other, check}, Domain: "Law."})
	if get(t, again, "tone/rubric").Hash == get(t, s, "tone/rubric").Hash || get(t, again, "check/checklist").Hash != get(t, s, "check/checklist").Hash {
		t.Error("the hashes don't follow the definitions")
	}
}

// TestCustomOverride: a folder overrides the template of a metric of the user's
// own, and what that must hold is insisted on.
func TestCustomOverride(t *testing.T) {
	head := "---\nversion: 3\n---\n[system]\n"
	c := tone()
	c.Steps = nil
	dir := write(t, map[string]string{"tone/rubric.md": head + "Rate. {{criteria}}\n{{reply_format}}\n[user]\n{{user_input}}\n{{response}}\n{{reference}}"})
	s := load(t, prompts.Options{Dir: dir, Custom: []prompts.Custom{c}})
	if tpl := get(t, s, "tone/rubric"); tpl.BuiltIn || tpl.Version != 3 {
		t.Errorf("not overridden: %+v", tpl)
	}
	for name, tt := range map[string]struct {
		files  map[string]string
		custom prompts.Custom
		want   string
	}{
		"no criteria":        {map[string]string{"tone/rubric.md": head + "{{reply_format}}\n[user]\n{{user_input}}{{response}}"}, c, "{{criteria}} is missing"},
		"no place for steps": {map[string]string{"tone/rubric.md": head + "{{criteria}}{{reply_format}}\n[user]\n{{user_input}}{{response}}"}, tone(), "steps are given for tone/rubric"},
		"needed data":        {map[string]string{"tone/rubric.md": head + "{{criteria}}{{reply_format}}\n[user]\n{{response}}"}, c, "{{user_input}} is missing"},
		"misspelt step":      {map[string]string{"tone/rubrik.md": head}, c, `did you mean "tone/rubric"?`},
		"built-in criteria":  {map[string]string{"claims/split.md": head + "{{criteria}}{{reply_format}}\n[user]\n{{text}}"}, c, "{{criteria}} is for metrics that the configuration defines"},
		"taken":              {nil, prompts.Custom{Name: "claims", Kind: prompts.KindBinary, Criteria: "x", Data: []string{prompts.Response}}, "there are templates of that name already"},
		"no data":            {nil, prompts.Custom{Name: "tone", Kind: prompts.KindBinary, Criteria: "x"}, "it shows no data"},
		"other data":         {nil, prompts.Custom{Name: "tone", Kind: prompts.KindBinary, Criteria: "x", Data: []string{prompts.Items}}, "it can't show all of items"},
		"no such kind":       {nil, prompts.Custom{Name: "tone", Kind: "likert", Criteria: "x", Data: []string{prompts.Response}}, `no kind "likert"`},
		"a path":             {nil, prompts.Custom{Name: "../x", Kind: prompts.KindBinary, Criteria: "x", Data: []string{prompts.Response}}, "must be that of a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			o := prompts.Options{Custom: []prompts.Custom{tt.custom}}
			if tt.files != nil {
				o.Dir = write(t, tt.files)
			}
			if _, err := prompts.Load(o); err == nil || !strings.Contains(filepath.ToSlash(err.Error()), tt.want) {
				t.Errorf("got %v, want something about %q", err, tt.want)
			}
		})
	}
}

// TestTuning: what is said for a template goes before what is said for its
// metric, and that before what is said for all.
func TestTuning(t *testing.T) {
	reply := []byte(`{"verdicts":[{"id":1,"reason":"","verdict":"useful"}]}`)
	o := prompts.Options{
		Domain: "all", Language: "German", Rubric: map[string]string{"context_recall": "recall rule"},
		For: map[string]prompts.Tuning{
			"context_precision":         {Domain: "one metric", Language: "French"},
			"context_precision/verdict": {Domain: "one template", Examples: []prompts.Example{{Prompt: "context_precision/verdict", UserInput: "q", Reference: "r", Items: []string{"c"}, Reply: reply}}},
			"faithfulness":              {Examples: []prompts.Example{{RetrievedContexts: []string{"c"}, Items: []string{"i"}, Reply: []byte(`{"verdicts":[{"id":1,"reason":"","verdict":"supported"}]}`)}}},
		},
		Forms: map[string]prompts.Form{"faithfulness/verdict": {Labels: []string{"supported", "not_found"}}},
	}
	s := load(t, o)
	for name, wants := range map[string][]string{
		"context_precision/verdict":             {"one template", "in French", "Example 1\n<question>\nq\n"},
		"context_precision/verdict_by_response": {"one metric", "in French"},
		"context_recall/verdict":                {"\n\nall\n\nrecall rule\n\n", "in German"},
		"faithfulness/verdict":                  {"\n\nall\n\nExample 1\n"},
	} {
		system, _ := render(t, s, name, values())
		for _, want := range wants {
			if !strings.Contains(system, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, system)
			}
		}
	}
	for want, change := range map[string]func(*prompts.Options){
		`did you mean "faithfulness"?`: func(o *prompts.Options) { o.For["faithfullness"] = prompts.Tuning{Domain: "x"} },
		"given in two places":          func(o *prompts.Options) { o.For["context_recall"] = prompts.Tuning{Rubric: "x"} },
		"example 1: the example is for \"claims/split\", but it is given for faithfulness": func(o *prompts.Options) {
			o.For["faithfulness"] = prompts.Tuning{Examples: []prompts.Example{{Prompt: "claims/split", Text: "t", Reply: []byte(`{"claims":[]}`)}}}
		},
		`"suported" is no verdict of this step (did you mean "supported"?)`: func(o *prompts.Options) {
			o.Examples = []prompts.Example{{Prompt: "faithfulness/verdict", RetrievedContexts: []string{"c"}, Items: []string{"i"}, Reply: []byte(`{"verdicts":[{"id":1,"reason":"","verdict":"suported"}]}`)}}
		},
		"the rating 9 of the reply is not on the scale from 1 to 5": func(o *prompts.Options) {
			o.Forms = map[string]prompts.Form{"answer_relevance/rubric": {Min: 1, Max: 5}}
			o.Examples = []prompts.Example{{Prompt: "answer_relevance/rubric", UserInput: "q", Response: "r", Reply: []byte(`{"reason":"","rating":9}`)}}
		},
	} {
		bad := o
		bad.For = map[string]prompts.Tuning{}
		change(&bad)
		if bad.Forms == nil {
			bad.Forms = o.Forms
		}
		if _, err := prompts.Load(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want something about %q", err, want)
		}
	}
}

// FuzzOverlay: whatever stands in additions and definitions is text in the
// prompt, to the letter, and never a placeholder.
func FuzzOverlay(f *testing.F) {
	f.Add("Law.", "Be strict.", "Rate {{text}}", "Read {{ it }}")
	f.Add("{{reply_format}}", "\r\n", "{{", "}}")
	f.Add("[user]", "---", "{{fields}}{{sample}}", "{{criteria}}")
	f.Fuzz(func(t *testing.T, domain, rubric, criteria, step string) {
		c := tone()
		c.Criteria, c.Steps = criteria, []string{step}
		s, err := prompts.Load(prompts.Options{Domain: domain, Custom: []prompts.Custom{c}, For: map[string]prompts.Tuning{"tone": {Rubric: rubric}}})
		if err != nil {
			if strings.TrimSpace(criteria) == "" {
				return
			}
			t.Fatal(err)
		}
		ms, err := s.Render("tone/rubric", values())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{domain, rubric, criteria, step} {
			if text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")); !strings.Contains(ms[0].Content, text) {
				t.Errorf("%q is not in the prompt", text)
			}
		}
		if ms[1].Content != "Rate what follows.\n\n<<user_input>>\n\n<<response>>" {
			t.Errorf("the user part is %q", ms[1].Content)
		}
	})
}
