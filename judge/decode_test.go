package judge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// itemsOf numbers n items from 1.
func itemsOf(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{N: i + 1, Text: fmt.Sprintf("item %d", i+1)}
	}
	return items
}

// show writes the verdicts on n items in one line: s, c or n for the labels of
// faithfulness, - for none; or the code of the problem.
func showVerdicts(v verdicts, p *problem, n int) string {
	if p != nil {
		return p.code
	}
	var b strings.Builder
	for _, it := range itemsOf(n) {
		if got, ok := v.by[it.N]; ok {
			b.WriteString(got.Label[:1])
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func TestDecodeVerdicts(t *testing.T) {
	const und, amb, oos = CodeUndecodable, CodeAmbiguous, CodeOutOfScale
	one := `{"verdicts":[{"id":1,"reason":"r","verdict":"supported"}]}`
	tests := []struct {
		name  string
		items int
		in    string
		want  string
	}{
		{"as asked", 2, `{"verdicts":[{"id":1,"reason":"r","verdict":"supported"},{"id":2,"reason":"r","verdict":"contradicted"}]}`, "sc"},
		{"another order", 2, `{"verdicts":[{"id":2,"verdict":"not_found"},{"id":1,"verdict":"supported"}]}`, "sn"},
		{"one missing", 2, `{"verdicts":[{"id":2,"verdict":"not_found"}]}`, "-n"},
		{"extra", 1, `{"verdicts":[{"id":1,"verdict":"supported"},{"id":7,"verdict":"not_found"}]}`, "s"},

		// What stands around the JSON.
		{"fence", 1, "```json\n" + one + "\n```", "s"},
		{"fence, other case, CRLF, words", 1, "Here you go:\r\n```JSON\r\n" + one + "\r\n```\r\nDone.", "s"},
		{"fence without an end", 1, "```\n" + one, "s"},
		{"tildes", 1, "~~~json5\n" + one + "\n~~~", "s"},
		{"BOM and zero width", 1, "\ufeff\u200b" + one + "\u200d\n", "s"},
		{"words around", 1, "My verdict [1] for {item}: " + one + " I hope it helps {really}.", "s"},
		{"JSON in a string", 1, `"{\"verdicts\":[{\"id\":1,\"verdict\":\"supported\"}]}"`, "s"},
		{"list around", 1, "[" + one + "]", "s"},
		{"said twice alike", 1, one + "\n" + one, "s"},
		{"fence with attributes", 2, "```json title=\"a b\" {.numbers}\r\n[1,0]\r\n```", "sn"},
		{"fence on one line", 2, "```json [1,0] ```", "sn"},
		{"fence, highlighted lines", 1, "```json {1,3}\n" + one + "\n```", "s"},
		{"four backticks", 1, "````json5\n" + one + "\n````", "s"},
		{"tag of its own", 1, "<answer>" + one + "</answer>", "s"},
		{"marks of a chat", 2, "<|im_start|>assistant\n[1,0]<|im_end|>", "sn"},
		{"end of a turn", 2, "[1,0]</s>", "sn"},
		{"soft hyphen, direction, joiner", 1, "\u202a\u00ad" + one + "\u2069\u200d", "s"},
		{"under a name", 2, `{"result":{"verdicts":[{"id":1,"verdict":1},{"id":2,"verdict":0}]}}`, "sn"},
		{"under two names", 2, `{"status":"ok","output":{"data":{"verdicts":[{"id":1,"verdict":1},{"id":2,"verdict":0}]}}}`, "sn"},
		{"list under a name", 2, `{"response":[{"id":1,"verdict":1},{"id":2,"verdict":0}]}`, "sn"},
		{"a call's arguments", 1, `{"name":"verdicts","arguments":"{\"verdicts\":[{\"id\":1,\"verdict\":\"supported\"}]}"}`, "s"},
		{"list as a text", 1, `{"verdicts":"[{\"id\":1,\"verdict\":\"supported\"}]"}`, "s"},
		{"two names", 1, `{"output":` + one + `,"data":{"verdicts":[{"id":1,"verdict":"no"}]}}`, und},
		{"a draft beside it", 1, `{"draft":{"verdicts":[{"id":1,"verdict":"no"}]},"final":` + one + `}`, und},
		{"the top counts before a name", 1, `{"output":` + one + `,"verdicts":[{"id":1,"verdict":"no"}]}`, "n"},
		{"under too many names", 1, `{"data":{"data":{"data":{"data":` + one + `}}}}`, und},
		{"full-width marks", 2, "{\"verdicts\"：[{\"id\"：1，\"verdict\"：\"支持\"}，{\"id\"：2，\"verdict\"：\"不支持\"}]}", "sn"},
		{"keys of another language", 1, `{"verdicts":[{"id":1,"urteil":"belegt"}]}`, "s"},
		{"keys spelt otherwise", 2, `{"Verdicts":[{"Item ID":"1","VERDICT":"yes"},{"item-id":"#2","verdict ":"no"}]}`, "sn"},

		// Thinking.
		{"thinking", 1, "<think>{\"verdicts\":[{\"id\":1,\"verdict\":\"not_found\"}]}</think>" + one, "s"},
		{"thinking in capitals", 1, "<THINKING>hm</THINKING>\n" + one, "s"},
		{"thinking in brackets", 1, "[THINK]it says {\"a\n[/THINK]" + one, "s"},
		{"thinking never ends", 1, "<think>maybe " + one + " but wait", und},
		{"thinking never ends behind an answer", 1, one + "<think>but", und},
		{"only the closing tag", 1, "Let me check. {\"verdicts\":[{\"id\":1,\"verdict\":\"not_found\"}]} would be wrong.\n</think>\n\n" + one, "s"},
		{"only the closing tag, broken draft", 1, "Perhaps {\"verdicts\": [...]} then.</think>" + one, "s"},
		{"only the closing tag, cut draft", 1, "Perhaps {\"verdicts\": [{ then.\n</think>" + one, "s"},
		{"two closing tags", 1, "<think>a</think> b {\"verdicts\":[{\"id\":1,\"verdict\":\"no\"}]}\n</think>\n" + one, "s"},
		{"tag in a reason", 1, `{"verdicts":[{"id":1,"reason":"it says </think> {\"verdicts\":[]}","verdict":"not_found"}]}`, "n"},
		{"opening tag in a reason", 1, `{"verdicts":[{"id":1,"reason":"it says <think>","verdict":"not_found"}]}`, "n"},
		{"thinking of many names", 1, "<Inner_Monologue>a</inner_monologue><reasoning effort=\"high\">b</reasoning >< think >c</ think >\u25c1think\u25b7d\u25c1/think\u25b7<|begin_of_thought|>e<|end_of_thought|><|START_THINKING|>f<|END_THINKING|><seed:think>g</seed:think><think/>" + one, "s"},
		{"thinking ends under another name", 1, "<think>x</reasoning>" + one, und},
		{"half a tag", 1, "<think\n" + one, und},
		{"draft between tags", 1, "<draft>{\"verdicts\":[{\"id\":1,\"verdict\":\"no\"}]}</draft>" + one, "s"},
		{"nothing but thinking", 1, "<think>" + one + "</think>\n", CodeInReasoning},
		{"nothing behind the closing tag", 1, "I say\n" + one + "\n</think>", CodeInReasoning},
		{"words about thinking", 1, "[thinking about it] <reasons> <thinker>" + one, "s"},
		{"channels", 1, "<|channel|>analysis<|message|>perhaps {\"verdicts\":[{\"id\":1,\"verdict\":\"no\"}]}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>" + one + "<|return|>", "s"},
		{"only the final channel", 1, "<|start|>assistant<|channel|>final<|message|>" + one, "s"},
		{"no final channel", 1, "<|channel|>analysis<|message|>so " + one + "<|end|>", und},
		{"a call's channel", 1, "<|channel|>commentary to=f <|constrain|>json<|message|>" + one + "<|call|>", und},
		{"channels without marks", 1, "analysisThe claim {\"verdicts\":[{\"id\":1,\"verdict\":\"no\"}]}assistantfinal" + one, "s"},
		{"no final channel, without marks", 1, "analysisWe need " + one, und},
		{"analysis as a word", 1, "Analysis: it is so. " + one, "s"},
		{"hostile tag behind the answer", 1, `{"verdicts":[{"id":1,"verdict":"not_found"}]} It says </think>` + one, amb},
		{"hostile tag behind words and the answer", 1, `So: {"verdicts":[{"id":1,"verdict":"not_found"}]} It says </think>` + one, amb},
		{"hostile tag on its own line", 1, "So: {\"verdicts\":[{\"id\":1,\"verdict\":\"not_found\"}]} It says\n</think>" + one + " which I ignore", amb},

		// Other spellings of JSON.
		{"Python", 1, `{'verdicts': [{'id': 1, 'verdict': True, 'reason': "it's stated"}], 'note': None}`, "s"},
		{"JavaScript", 2, "{verdicts: [{id: 1, verdict: 'yes',}, /* second */ {id: 2, verdict: \"no\"},],} // done", "sn"},
		{"hash comment", 1, "{\"verdicts\": [ # all\n{\"id\":1,\"verdict\":\"supported\"}]}", "s"},
		{"typographic quotes", 1, "{\u201cverdicts\u201d: [{\u201cid\u201d: 1, \u201cverdict\u201d: \u201csupported\u201d}]}", "s"},
		{"raw newline and tab", 1, "{\"verdicts\":[{\"id\":1,\"verdict\":0,\"reason\":\"line one\nline\ttwo\"}]}", "n"},
		{"unknown escape", 1, `{"verdicts":[{"id":1,"verdict":"no","reason":"\alpha it\'s \u00e9 \uD83D\uDE00 \uD83D \u12"}]}`, "n"},
		{"unescaped quotes", 1, `{"verdicts":[{"id":1,"reason":"he said "yes" to it","verdict":"supported"}]}`, und},
		{"two commas", 1, `{"verdicts":[{"id":1,,"verdict":"supported"}]}`, und},
		{"arithmetic", 1, `{"verdicts":[{"id":1,"verdict":1/1}]}`, und},
		{"bare word", 1, `{"verdicts":[{"id":1,"verdict":supported}]}`, und},
		{"deep", 1, strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100) + one, und},

		// Cut replies are never closed.
		{"cut", 3, `{"verdicts":[{"id":1,"verdict":1},{"id":2,"verd`, und},
		{"cut behind a verdict", 3, `{"verdicts":[{"id":1,"verdict":1},{"id":2,"verdict":1}`, und},
		{"cut before the last brace", 1, `{"verdicts":[{"id":1,"verdict":1}]`, und},
		{"cut list", 2, `[{"id":1,"verdict":1}`, und},
		{"cut list of words", 2, `["yes","yes"`, und},
		{"cut list of numbers", 2, `[1, 1`, und},
		{"cut behind a whole answer", 1, one + `{"verdicts":[{"id":1,`, und},
		{"broken before a whole answer", 1, `{"verdicts":[{"id":1,"verdict":4/5}]}` + one, und},
		{"nested inside a broken one", 1, `{"a": 4/5, "b": ` + one + `}`, und},

		// Other forms.
		{"bare list", 2, `[{"id":1,"verdict":1},{"id":2,"verdict":0}]`, "sn"},
		{"bare list in words", 2, `Well: [{"id":1,"verdict":1},{"id":2,"verdict":0}].`, "sn"},
		{"map", 2, `{"1":1,"2":0}`, "sn"},
		{"map of objects", 2, `{"verdicts":{"item 1":{"verdict":"yes","reason":"r"},"item-2":{"verdict":"no"}}}`, "sn"},
		{"map with another id inside", 2, `{"1":{"id":2,"verdict":"yes"},"2":{"id":2,"verdict":"no"}}`, amb},
		{"numbers in order", 2, `[1,0]`, "sn"},
		{"numbers in order, fenced", 2, "```json\n[1,0]\n```", "sn"},
		{"numbers among words", 2, `As [1,0] says, it is supported.`, und},
		{"a citation", 1, `It stands in [1].`, und},
		{"words in order", 2, `{"verdicts":["yes","not found"]}`, "sn"},
		{"in order, too few", 2, `[1]`, und},
		{"in order, too many", 2, `[1,1,1]`, und},
		{"objects without ids", 2, `{"verdicts":[{"verdict":"yes"},{"verdict":"no"}]}`, "sn"},
		{"objects without ids, too few", 2, `{"verdicts":[{"verdict":"yes"}]}`, und},
		{"some with ids", 2, `{"verdicts":[{"id":1,"verdict":"yes"},{"verdict":"no"}]}`, und},
		{"mixed", 2, `{"verdicts":[{"id":1,"verdict":"yes"},"no"]}`, und},
		{"counted from 0", 2, `{"verdicts":[{"id":0,"verdict":"yes"},{"id":1,"verdict":"no"}]}`, und},
		{"single object, one item", 1, `{"verdict":1}`, "s"},
		{"single object, two items", 2, `{"verdict":1}`, und},
		{"JSON lines", 2, "{\"id\":1,\"verdict\":\"yes\"}\n{\"id\":2,\"verdict\":\"no\"}", "sn"},
		{"JSON lines with words between", 2, "{\"id\":1,\"verdict\":\"yes\"} and {\"id\":2,\"verdict\":\"no\"}", "-n"},
		{"ids as texts", 2, `{"verdicts":[{"id":"1","verdict":"yes"},{"ID":"Item 2","Verdict":"no"}]}`, "sn"},
		{"ids with marks", 3, `{"verdicts":[{"id":"1.","verdict":"yes"},{"id":"#2","verdict":"no"},{"id":3.0,"verdict":"no"}]}`, "snn"},
		{"more ids with marks", 4, `{"verdicts":[{"id":"(1)","verdict":"yes"},{"id":"[2]","verdict":"no"},{"id":"claim_3:","verdict":"no"},{"id":"Ｎｏ．４","verdict":"yes"}]}`, "snns"},
		{"ids that are none", 1, `{"verdicts":[{"id":"-1","verdict":"yes"}]}`, und},
		{"half an id", 1, `{"verdicts":[{"id":1.5,"verdict":"yes"}]}`, und},
		{"two numbers in an id", 2, `{"verdicts":[{"id":"1-2","verdict":"yes"}]}`, und},
		{"number under the item's name", 2, `{"verdicts":[{"claim":1,"verdict":"yes"},{"claim":"2","verdict":"no"}]}`, "sn"},
		{"items repeated in another order", 2, `{"verdicts":[{"claim":"Item  2","verdict":"no"},{"claim":"item 1","verdict":"yes"}]}`, "sn"},
		{"id and text of different items", 2, `{"verdicts":[{"id":1,"claim":"item 2","verdict":"no"},{"id":2,"claim":"item 1","verdict":"yes"}]}`, amb},
		{"a list of numbers of items", 2, `{"verdicts":[1,2]}`, und},
		{"a bare list of numbers of items", 3, `[1,2,3]`, und},
		{"grouped", 2, `{"verdicts":{"supported":[1],"not_found":[2]}}`, und},
		{"id that is none", 1, `{"verdicts":[{"id":"first","verdict":"yes"}]}`, und},
		{"other names", 1, `{"results":[{"claim_id":1,"label":"yes"}]}`, "s"},
		{"only the top counts", 1, `{"note":{"verdicts":[{"id":1,"verdict":"yes"}]}}`, und},
		{"inside a comment's object", 1, "{#\n\"a\":" + one + "}", und},
		{"inside what is no JSON", 1, `{result => ` + one + `}`, und},
		{"inside a broken list", 1, `[1/2, ` + one + `]`, und},
		{"behind balanced brackets", 1, `In [1, see {x}] and (a]: ` + one, "s"},
		{"empty list", 1, `{"verdicts":[]}`, und},
		{"other JSON", 1, `{"claims":["a"]}`, und},
		{"nothing", 1, " \ufeff\n", CodeEmpty},

		// Contradictions.
		{"id twice alike", 1, `{"verdicts":[{"id":1,"verdict":"yes"},{"id":1,"verdict":"supported"}]}`, "s"},
		{"id twice", 1, `{"verdicts":[{"id":1,"verdict":"yes"},{"id":1,"verdict":"no"}]}`, amb},
		{"id twice, once unknown", 1, `{"verdicts":[{"id":1,"verdict":"yes"},{"id":1,"verdict":"purple"}]}`, amb},
		{"key twice", 1, `{"verdicts":[{"id":1,"verdict":"yes","verdict":"no"}]}`, amb},
		{"key twice in other case", 1, `{"verdicts":[{"id":1,"verdict":"yes","Verdict":"no"}]}`, amb},
		{"key twice alike", 1, `{"verdicts":[{"id":1,"verdict":"yes","Verdict":"Yes."}]}`, "s"},
		{"two names for the verdict", 1, `{"verdicts":[{"id":1,"verdict":"yes","label":"no"}]}`, amb},
		{"two names, alike", 1, `{"verdicts":[{"id":1,"verdict":"yes","label":"supported"}]}`, "s"},
		{"two names, one of them something else", 1, `{"verdicts":[{"id":1,"verdict":"yes","label":"first claim"}]}`, "s"},
		{"two ids", 2, `{"verdicts":[{"id":1,"Id":2,"verdict":"yes"}]}`, amb},
		{"number twice in a map", 1, `{"1":"yes","1":"no"}`, amb},
		{"list twice", 1, `{"verdicts":[{"id":1,"verdict":"yes"}],"Verdicts":[{"id":1,"verdict":"no"}]}`, amb},
		{"two answers", 1, one + ` or {"verdicts":[{"id":1,"verdict":"no"}]}`, amb},
		{"what only a draft says is no verdict", 2, `{"verdicts":[{"id":2,"verdict":"yes"}]} or rather {"verdicts":[{"id":1,"verdict":"no"}]}`, "n-"},
		{"form repeated before the answer", 1, `{"verdicts":[{"id":1,"reason":"...","verdict":"<label>"}]} ` + one, "s"},

		// Words that are no verdict.
		{"unsure", 2, `{"verdicts":[{"id":1,"verdict":"yes"},{"id":2,"verdict":"idk"}]}`, "sn"},
		{"unknown word", 1, `{"verdicts":[{"id":1,"verdict":"purple"}]}`, oos},
		{"unknown word beside a known one", 2, `{"verdicts":[{"id":1,"verdict":"purple"},{"id":2,"verdict":"no"}]}`, "-n"},
		{"null", 1, `{"verdicts":[{"id":1,"verdict":null}]}`, oos},
		{"blank", 1, `{"verdicts":[{"id":1,"verdict":" "}]}`, oos},
		{"ellipsis", 3, `{"verdicts":[{"id":1,"verdict":"yes"}, ...]}`, und},
		{"no verdict in it", 1, `{"verdicts":[{"id":1,"reason":"supported"}]}`, und},
		{"half a point", 1, `{"verdicts":[{"id":1,"verdict":0.5}]}`, oos},
		{"not finite", 1, `{"verdicts":[{"id":1,"verdict":NaN}]}`, oos},
		{"prose", 1, `I can't format this, but it would probably PASS a quick check.`, und},
		{"prose in the verdict", 1, `{"verdicts":[{"id":1,"verdict":"It is supported by context 2"}]}`, oos},
		{"bare word", 1, `supported`, und},
		{"bare number", 1, `1`, und},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, p := decodeVerdicts(tt.in, FaithfulnessLabels(), itemsOf(tt.items), nil)
			if got := showVerdicts(v, p, tt.items); got != tt.want {
				t.Errorf("got %s (%v), want %s", got, p, tt.want)
			}
		})
	}
}

func TestDecodeVerdictsKeepsReasonsAndWords(t *testing.T) {
	v, p := decodeVerdicts(`{"verdicts":[{"id":3,"reason":" because\n\u00e9 ","verdict":"yes"},{"id":5,"explanation":"x","verdict":"Partially"},{"id":9,"verdict":"no"}]}`,
		FaithfulnessLabels(), []Item{{3, "three"}, {5, "five"}}, nil)
	if p != nil {
		t.Fatal(p)
	}
	want := map[int]Verdict{
		3: {Item: "three", Label: Supported, Reason: "because\n\u00e9"},
		5: {Item: "five", Label: NotFound, Reason: "x", Said: "Partially"},
	}
	if d := cmp.Diff(want, v.by); d != "" {
		t.Error(d)
	}
	if v.extra != 1 {
		t.Errorf("counted %d extra verdicts, want 1", v.extra)
	}
}

func TestDecodeClaims(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want []string // nil for a problem
		code string
	}{
		{"as asked", `{"claims":["a","b"]}`, []string{"a", "b"}, ""},
		{"under a name", `{"output":{"claims":["a","b"]}}`, []string{"a", "b"}, ""},
		{"as a text", `{"claims":"[\"a\",\"b\"]"}`, []string{"a", "b"}, ""},
		{"none", `{"claims":[]}`, []string{}, ""},
		{"objects", `{"claims":[{"claim":"a"},{"id":2,"text":"b"},{"statement":"c"}]}`, []string{"a", "b", "c"}, ""},
		{"twice", `{"claims":["a","b","a"," a "]}`, []string{"a", "b"}, ""},
		{"other name", "```json\n{'Statements': ['a',]}\n```", []string{"a"}, ""},
		{"bare list", `["a","b"]`, []string{"a", "b"}, ""},
		{"bare empty list", `[]`, []string{}, ""},
		{"numbered", `{"1":"a","2":"b"}`, []string{"a", "b"}, ""},
		{"numbered inside", `{"claims":{"1":"a","2":"b"}}`, []string{"a", "b"}, ""},
		{"list among words", `The claims ["a"] are these.`, nil, CodeUndecodable},
		{"cut", `{"claims":["a","b`, nil, CodeUndecodable},
		{"cut behind a claim", `{"claims":["a"`, nil, CodeUndecodable},
		{"a text", `{"claims":"a"}`, nil, CodeUndecodable},
		{"an empty object", `{"claims":{}}`, nil, CodeUndecodable},
		{"an empty list of something", `{"result":[]}`, nil, CodeUndecodable},
		{"a list of something", `{"data":["a"]}`, nil, CodeUndecodable},
		{"null", `{"claims":null}`, nil, CodeUndecodable},
		{"a number among them", `{"claims":["a",1]}`, nil, CodeUndecodable},
		{"no word in it", `{"claims":["...","..."]}`, nil, CodeUndecodable},
		{"a blank one", `{"claims":["a",""]}`, nil, CodeUndecodable},
		{"two lists", `{"claims":["a"]} or {"claims":["b"]}`, nil, CodeAmbiguous},
		{"two lists in one", `{"claims":["a"],"Claims":["b"]}`, nil, CodeAmbiguous},
		{"two lists alike", `{"claims":["a"]} {"claims":["a"]}`, []string{"a"}, ""},
		{"prose", `There are no claims.`, nil, CodeUndecodable},
		{"other JSON", `{"rating":1}`, nil, CodeUndecodable},
		{"nothing", ``, nil, CodeEmpty},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, p := decodeClaims(tt.in, nil)
			if p != nil && p.code != tt.code || p == nil && tt.code != "" {
				t.Fatalf("got %v (%v), want %q", got, p, tt.code)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDecodeRating(t *testing.T) {
	tests := []struct {
		name, in string
		want     int // 0 for a problem
		code     string
	}{
		{"as asked", `{"reason":"r","rating":4}`, 4, ""},
		{"under a name", `{"evaluation":{"reason":"r","rating":4}}`, 4, ""},
		{"two names", `{"rating":4,"score":5}`, 0, CodeAmbiguous},
		{"in thinking", `<think>{"rating":5}</think>{"reason":"r","rating":2}`, 2, ""},
		{"word", `{"rating":"four"}`, 0, CodeOutOfScale},
		{"stars", `{"rating":"★★★★☆"}`, 0, CodeOutOfScale},
		{"decimal comma", `{"rating":"4,0"}`, 0, CodeOutOfScale},
		{"range", `{"rating":"3-4"}`, 0, CodeOutOfScale},
		{"text", `{"reason":"r","rating":"4"}`, 4, ""},
		{"point zero", `{"reason":"r","rating":5.0}`, 5, ""},
		{"bold", `{"reason":"r","rating":"**3**"}`, 3, ""},
		{"full width", `{"reason":"r","rating":"３"}`, 3, ""},
		{"other name", `{"reason":"r","Score":2}`, 2, ""},
		{"the name asked for decides", `{"reason":"r","score":0.8,"rating":4}`, 4, ""},
		{"only the top counts", `{"reason":"r","rating":4,"parts":{"style":{"rating":1}}}`, 4, ""},
		{"only inside", `{"parts":{"rating":1}}`, 0, CodeUndecodable},
		{"list of one", `[{"reason":"r","rating":1}]`, 1, ""},
		{"too high", `{"rating":6}`, 0, CodeOutOfScale},
		{"too low", `{"rating":0}`, 0, CodeOutOfScale},
		{"negative", `{"rating":-4}`, 0, CodeOutOfScale},
		{"between", `{"rating":3.5}`, 0, CodeOutOfScale},
		{"nearly", `{"rating":3.9999999999999999999}`, 0, CodeOutOfScale},
		{"huge", `{"rating":1e999}`, 0, CodeOutOfScale},
		{"long", `{"rating":99999999999999999999999}`, 0, CodeOutOfScale},
		{"not a number", `{"rating":NaN}`, 0, CodeOutOfScale},
		{"infinite", `{"rating":-Infinity}`, 0, CodeOutOfScale},
		{"fraction as text", `{"rating":"4/5"}`, 0, CodeOutOfScale},
		{"fraction", `{"rating":4/5}`, 0, CodeUndecodable},
		{"in words", `{"rating":"4 out of 5"}`, 0, CodeOutOfScale},
		{"null", `{"rating":null}`, 0, CodeUndecodable},
		{"boolean", `{"rating":true}`, 0, CodeUndecodable},
		{"case-varied", `{"rating":1,"Rating":5}`, 0, CodeAmbiguous},
		{"twice alike", `{"rating":5,"Rating":"5"}`, 5, ""},
		{"two answers", `{"rating":1} no, {"rating":5}`, 0, CodeAmbiguous},
		{"prose", `I would give it a rating of 5 out of 5.`, 0, CodeUndecodable},
		{"bare number", `5`, 0, CodeUndecodable},
		{"cut", `{"reason":"r","rating":5`, 0, CodeUndecodable},
		{"nothing", "\n", 0, CodeEmpty},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, p := decodeRating(tt.in, 1, 5, nil)
			if p != nil && p.code != tt.code || p == nil && tt.code != "" || got.Rating != tt.want {
				t.Fatalf("got %v (%v), want %d %q", got, p, tt.want, tt.code)
			}
			if strings.Contains(tt.in, `"r"`) && p == nil && got.Reason != "r" {
				t.Errorf("the reason is %q", got.Reason)
			}
		})
	}
}

// The replies that broke other tools, with what should become of them.
func TestWildReplies(t *testing.T) {
	f, err := os.Open("../../shared/cases/wild.jsonl")
	if err != nil {
		t.Skip("the collected cases are not beside the repository")
	}
	defer f.Close()
	ran := 0
	for r := bufio.NewReader(f); ; {
		line, readErr := r.ReadBytes('\n')
		var c struct {
			ID    string
			Input struct {
				JudgeContent string   `json:"judge_content"`
				Contents     []string `json:"contents"`
				Claims       int
				Metric       string
			}
			Expect struct {
				Class    string
				Verdicts json.RawMessage
			}
		}
		if json.Unmarshal(line, &c) == nil && c.Input.Claims > 0 && c.Input.Metric == "" {
			ran += wildReply(t, c.ID, c.Input.Claims, c.Input.JudgeContent, c.Expect.Class, c.Expect.Verdicts)
			var lists []json.RawMessage
			if json.Unmarshal(c.Expect.Verdicts, &lists) == nil {
				for i, content := range c.Input.Contents {
					ran += wildReply(t, c.ID, c.Input.Claims, content, "ok", lists[i])
				}
			}
		}
		if readErr != nil {
			break
		}
	}
	if ran < 10 {
		t.Errorf("ran %d cases only", ran)
	}
}

func wildReply(t *testing.T, id string, items int, content, class string, verdictList json.RawMessage) int {
	if content == "" {
		return 0
	}
	v, p := decodeVerdicts(content, PrecisionLabels(), itemsOf(items), nil)
	var want []int
	switch {
	case class == "ok" && json.Unmarshal(verdictList, &want) == nil && len(want) == items:
		for i, w := range want {
			label := PrecisionLabels()[1-w]
			if p != nil || v.by[i+1].Label != label {
				t.Errorf("%s: %q gave %v, %v, want %v", id, content, v.by, p, want)
			}
		}
	case class == "reask" || class == "adapt":
		if p == nil {
			t.Errorf("%s: %q gave %v, want a problem", id, content, v.by)
		}
	default:
		return 0
	}
	return 1
}

// A reply full of what opens something takes no longer than its length: with
// its square, the 256 KB replies here would outlast the test's time limit.
func TestDecodingIsLinear(t *testing.T) {
	for _, part := range []string{
		"{", "[", "[[", "{\"a\":", "[1,", "[{", "{'", "[/*", "{/*", "{//", "{#", "[\u201c", "{a ", "<think", "</think>", "x</think>{\"a\":/*", "y {'a':'</think> ", "\"", "`", "\ufeff", "[1,\"[", "{\"1\":1,",
		"{\"id\":1,\"verdict\":1}", "{} ", "[] ", "\\u", "{\"\\",
	} {
		for _, head := range []string{"", "w ", "<think>"} {
			reply := head + strings.Repeat(part, (1<<18)/len(part))
			if v, p := decodeVerdicts(reply, FaithfulnessLabels(), itemsOf(3), nil); p == nil && len(v.by) != 1 {
				t.Errorf("%q gave verdicts on %d items", part, len(v.by))
			}
			if claims, p := decodeClaims(reply, nil); p == nil {
				t.Errorf("%q gave %d claims", part, len(claims))
			}
		}
	}
}
