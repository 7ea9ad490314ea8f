package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// wholeReplies are replies to three items, in every shape that is understood;
// each says supported, contradicted, not found.
var wholeReplies = map[string]string{
	"as asked":      `{"verdicts":[{"id":1,"reason":"a","verdict":"supported"},{"id":2,"reason":"b","verdict":"contradicted"},{"id":3,"reason":"c","verdict":"not_found"}]}`,
	"spread":        "{\n  \"verdicts\": [\n    {\"id\": 1, \"verdict\": \"supported\"},\n    {\"id\": 2, \"verdict\": \"contradicted\"},\n    {\"id\": 3, \"verdict\": \"not_found\"}\n  ]\n}",
	"another order": `{"verdicts":[{"verdict":"not_found","id":3},{"verdict":"supported","id":1},{"verdict":"contradicted","id":2}]}`,
	"bare list":     `[{"id":1,"verdict":"supported"},{"id":2,"verdict":"contradicted"},{"id":3,"verdict":"not_found"}]`,
	"map":           `{"1":"supported","2":"contradicted","3":"not_found"}`,
	"map inside":    `{"verdicts":{"item 1":{"verdict":"supported"},"item 2":{"verdict":"contradicted"},"item 3":{"verdict":"not_found"}}}`,
	"Python":        `{'verdicts': [{'id': 1, 'verdict': True}, {'id': 2, 'verdict': 'contradicted'}, {'id': 3, 'verdict': False, 'more': None}]}`,
	"JavaScript":    "{verdicts: [{id: 1, verdict: 'yes',}, // first\n {id: 2, verdict: 'contradicted',}, /* third */ {id: 3, verdict: 'no',},],}",
	"under a name":  `{"output":{"verdicts":[{"id":"#1","verdict":"supported"},{"id":"2.","verdict":"contradicted"},{"id":3.0,"verdict":"not_found"}]}}`,
}

// wordLists are the shapes that are understood only where nothing is around
// them but marks.
var wordLists = map[string]string{
	"words":   `["supported","contradicted","not_found"]`,
	"objects": `[{"verdict":"supported"},{"verdict":"contradicted"},{"verdict":"not_found"}]`,
}

const wholeAnswer = "scn"

func decoded3(reply string) string {
	v, p := decodeVerdicts(reply, FaithfulnessLabels(), itemsOf(3), nil)
	return showVerdicts(v, p, 3)
}

// TestCutAtEveryByte: what is left of a reply that was cut gives no verdict on
// all items, unless nothing but marks and blanks was cut off.
func TestCutAtEveryByte(t *testing.T) {
	for name, reply := range wholeReplies {
		for _, around := range [][2]string{{"", ""}, {"```json\n", "\n```"}, {"<think>short</think>\n", ""}, {"Here it is: ", " Done."}} {
			whole := around[0] + reply + around[1]
			if got := decoded3(whole); got != wholeAnswer {
				t.Errorf("%s: the whole reply gave %s", name, got)
			}
			for n := range len(around[0]) + len(reply) {
				if got := decoded3(whole[:n]); strings.Count(got, "-") == 0 && len(got) == 3 {
					t.Errorf("%s, cut after %d bytes, still gave %s: %q", name, n, got, whole[:n])
				}
			}
		}
	}
	for name, reply := range wordLists {
		for n := range len(reply) {
			if got := decoded3(reply[:n]); len(got) == 3 {
				t.Errorf("%s, cut after %d bytes, gave %s", name, n, got)
			}
		}
	}
	// A list that was cut says nothing about what it would have held.
	for n := range len(wholeReplies["as asked"]) {
		if got := decoded3(wholeReplies["as asked"][:n]); len(got) == 3 {
			t.Errorf("a cut list gave %s", got)
		}
	}
}

// TestEveryWrapping: whatever is around the JSON, in any combination, the
// verdicts are the same.
func TestEveryWrapping(t *testing.T) {
	const draft = `{"verdicts":[{"id":1,"verdict":"no"},{"id":2,"verdict":"yes"},{"id":3,"verdict":"yes"}]}`
	fences := []string{"%s", "```json\n%s\n```", "```JSON\r\n%s\r\n```\r\n", "~~~\n%s\n~~~", "```\n%s", "```json title=\"x\"\n%s\n```", "``` json5 \n\n%s```"}
	thoughts := []string{
		"%s", "<think>\n" + draft + "\n</think>\n%s", "I see " + draft + "\n</think>\n%s", "<THINKING>x</THINKING>%s", "[THINK]{\"a[/THINK]%s", "<think></think>\n\n%s",
		"\u25c1think\u25b7" + draft + "\u25c1/think\u25b7%s", "<reasoning>'\"`{[</reasoning>%s",
		"<|channel|>analysis<|message|>" + draft + "<|end|><|start|>assistant<|channel|>final<|message|>%s<|return|>",
		"analysisI see " + draft + "assistantfinal%s",
	}
	marks := []string{"%s", "\ufeff%s", "\u200b\n%s\u2060\n", "\r\n\t%s \r\n"}
	words := []string{"%s", "Here you go:\n%s", "%s\nI hope it helps, see [1] and {so on}."}
	nested := []string{"%s", `{"result":%s}`, `{"ok":true,"data":{"response":%s}}`}
	n := 0
	check := func(reply string) {
		n++
		if got := decoded3(reply); got != wholeAnswer && !t.Failed() {
			t.Errorf("%q gave %s", reply, got)
		}
	}
	for _, reply := range wholeReplies {
		for _, nest := range nested {
			if nest != "%s" && reply == wholeReplies["under a name"] {
				continue
			}
			for _, fence := range fences {
				for _, thought := range thoughts {
					for _, mark := range marks {
						for _, word := range words {
							if strings.HasPrefix(thought, "I see") && strings.HasPrefix(word, "%s\n") {
								continue // it could be an answer with a quotation behind it: asked again
							}
							inner := fmt.Sprintf(fence, fmt.Sprintf(nest, reply))
							check(fmt.Sprintf(mark, fmt.Sprintf(thought, fmt.Sprintf(word, inner))))
						}
					}
				}
			}
		}
		text, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		check(string(text))
		check("\ufeff" + string(text) + "\n")
	}
	for _, reply := range wordLists {
		for _, fence := range fences {
			for _, thought := range thoughts {
				for _, mark := range marks {
					check(fmt.Sprintf(mark, fmt.Sprintf(thought, fmt.Sprintf(fence, reply))))
				}
			}
		}
	}
	if n < 5000 {
		t.Errorf("tried %d wrappings only", n)
	}
}

// TestOneByteChanged: a reply in which one byte is lost, doubled or turned into
// a mark of JSON gives the same verdicts, fewer, or none: never another one on
// an item, but for bytes of the very words and numbers that say it.
func TestOneByteChanged(t *testing.T) {
	reply := `{"verdicts":[{"id":1,"reason":"it is so","verdict":"supported"},{"id":2,"reason":"it isn't","verdict":"not_found"},{"id":3,"reason":"b","verdict":"not_found"}]}`
	for i := range len(reply) {
		for _, put := range []string{"", reply[i:i+1] + reply[i:i+1], `"`, "'", "{", "}", "[", "]", ",", ":", "\\", "/", "#", "<", "`", "\n", "\x00", "\xff", " "} {
			changed := reply[:i] + put + reply[i+1:]
			got := decoded3(changed)
			if len(got) != 3 {
				continue
			}
			for n, want := range []byte("snn") {
				if got[n] != '-' && got[n] != want && got[n] == 's' {
					t.Errorf("%q turned item %d to %s", changed, n+1, got)
				}
			}
		}
	}
}

// TestLargeRepliesAreFast: 256 KB of anything that opens, closes or quotes, and a
// megabyte of the plainest, are done at once. With the square of their length
// they would outlast the test's time limit.
func TestLargeRepliesAreFast(t *testing.T) {
	data := strings.Repeat("some data of the ask. ", 5000)
	holds := func(text string) bool { return strings.Contains(data, text) }
	decode := func(part string, size int) {
		decodeVerdicts(strings.Repeat(part, size/len(part)), FaithfulnessLabels(), itemsOf(50), holds)
	}
	for _, part := range []string{
		"]", "}", "'", "```", "~~~", "```a=b ", "<think>", "< think ", "<think x", "</", "[/", "[think", "\u25c1", "<|channel|>", "<|channel|>analysis", "<|channel|>final", "<|", "analysisA",
		"assistantfinal", "{.a}", "x\n</think>{}", "\u200b", "{\"a\":1} w ", "{\"verdicts\":[]} w ", "{\"id\":1,\"verdict\":1} w ", "{\"data\":", "{\"data\":\"{", "[{\"verdict\":1},", "\uff1a", "a:b,", "#\n", "//", "/*", "\\", "\\\"", "\x00", "\xff",
	} {
		decode(part, 1<<18)
	}
	for _, part := range []string{"[", "{", `"`, "`", "<", "</think>\n"} {
		decode(part, maxReply)
	}
}
