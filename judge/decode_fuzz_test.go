package judge

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// The oracle of the fuzz tests doesn't use the decoder: it looks at the reply's
// text only. The items carry numbers that are no words of a verdict, so that
// what stands for an item can't pass for what is said about it.
var fuzzItems = []Item{{N: 11, Text: "first item"}, {N: 12, Text: "second item"}}

var unicodeEscape = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}`)

// flat is the reply's text with the escapes of JSON undone, one form of each
// letter, and none of what makes no difference to a word.
func flat(s string) string {
	for range 2 { // a text in a text is escaped twice
		s = unicodeEscape.ReplaceAllStringFunc(strings.ReplaceAll(s, `\\`, `\`), func(e string) string {
			n, err := strconv.ParseUint(e[2:], 16, 16)
			if err != nil {
				return e
			}
			return string(rune(n))
		})
	}
	return spelling("x" + norm.NFKC.String(s) + "x")
}

// positives are all words that stand for "supported".
var positives = func() []string {
	words := []string{spelling(Supported)}
	for _, table := range []map[string]meaning{plainTable, supportTable} {
		for w, m := range table {
			if m == yes {
				words = append(words, w)
			}
		}
	}
	return words
}()

// saysYes reports whether some word of the text, numbers of items taken out,
// could stand for "supported".
func saysYes(content string) bool {
	text := flat(content)
	for _, id := range []string{"11", "12"} {
		text = strings.ReplaceAll(text, id, " ")
	}
	for _, w := range positives {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

func holdsNumber(content, n string) bool { return strings.Contains(flat(content), n) }

var seedReplies = []string{
	`{"verdicts":[{"id":11,"reason":"r","verdict":"supported"},{"id":12,"verdict":"no"}]}`,
	"<think>x</think>```json\n{'11': True, '12': None,}\n```", `[1,0]`, `{"claims":["a",{"claim":"b"}]}`,
	`{"reason":"r","rating":"4.0"}`, "a\n</think>{\"rating\":5}", "{\"verdicts\":[{\"id\":11,\"verdict\":1", `"{\"rating\":1}"`,
	`{"id":11,"verdict":"yes"},{"id":12,"verdict":"idk"}`, "[/*{//\n\u201c", "```json a=b\n[\"yes\",\"no\"]", `{"output":{"verdicts":[{"claim":"second item","verdict":"\u0079es"}]}}`,
	"<|channel|>analysis<|message|>{\"11\":1}<|channel|>final<|message|>{\"11\":0,\"12\":1}", "analysisX{\"11\":1}assistantfinal{\"11\":\"belegt\"}",
	`{"data":"{\"verdicts\":\"[{\\\"id\\\":11,\\\"verdict\\\":1}]\"}"}`, "{\"verdicts\"：[{\"id\"：\"１１\"，\"verdict\"：\"支持\"}]}", "<think {\"11\":1}", "[THINK]{\"11\":1}[/THINK]{\"12\":0}",
	`{"verdicts":[{"id":11,"verdict":"yes","label":"no"}]}`, `{"11":"not supported","12":"✅"}`, "I say {\"11\":1}\n</think>\n{\"11\":0,\"12\":0}",
}

// FuzzDecode: for any bytes, what comes out was really there, or the problem
// says why nothing does.
func FuzzDecode(f *testing.F) {
	for _, s := range seedReplies {
		f.Add(s)
	}
	labels := FaithfulnessLabels()
	f.Fuzz(func(t *testing.T, content string) {
		v, p := decodeVerdicts(content, labels, fuzzItems, nil)
		if (p == nil) != (len(v.by) > 0) {
			t.Errorf("%q gave %v and %v", content, v.by, p)
		}
		for id, got := range v.by {
			if id != 11 && id != 12 || got.Item != fuzzItems[id-11].Text {
				t.Fatalf("%q gave a verdict on %d: %+v", content, id, got)
			}
			if got.Label == Supported && !saysYes(content) {
				t.Errorf("%q says yes to item %d, and no word in it does", content, id)
			}
			// A verdict belongs to its number or to its text; without both there
			// are as many as items.
			if !holdsNumber(content, strconv.Itoa(id)) && !strings.Contains(flat(strings.ToLower(content)), strings.ReplaceAll(got.Item, " ", "")) && len(v.by)+len(v.bad) != len(fuzzItems) {
				t.Errorf("%q gave a verdict on item %d, which it doesn't name", content, id)
			}
		}
		// A reply that is one object is no answer if its end is cut off.
		if _, end, err := parseValue(content, 0); err == nil && content[0] == '{' && end == len(content) {
			for _, n := range []int{len(content) - 1, len(content) / 2} {
				if cut, p := decodeVerdicts(content[:n], labels, fuzzItems, nil); p == nil {
					t.Errorf("%q, cut, still gave %v", content[:n], cut.by)
				}
			}
		}
		if claims, p := decodeClaims(content, nil); p == nil {
			for _, c := range claims {
				if c == "" {
					t.Errorf("%q gave an empty claim", content)
				}
			}
		}
		if r, p := decodeRating(content, 1, 5, nil); p == nil && (r.Rating < 1 || r.Rating > 5 || !strings.Contains(flat(content), strconv.Itoa(r.Rating))) {
			t.Errorf("%q gave the rating %d", content, r.Rating)
		}
	})
}

// FuzzDecodeChunks: every number that comes out is that of a chunk, stands in
// the reply, and belongs to an item that the reply names, or to the only one of
// its place.
func FuzzDecodeChunks(f *testing.F) {
	for _, s := range seedReplies {
		f.Add(s)
	}
	for _, s := range []string{
		`{"verdicts":[{"id":11,"reason":"r","chunks":[31,33]},{"id":12,"chunks":[]}]}`, `{"11":[31],"12":"none"}`, `{"verdicts":[{"id":11,"chunks":"31, 33"},{"id":12,"chunks":99}]}`,
		`[[31],[32]]`, `[31,32]`, `{"id":11,"chunks":["passage 31"]}{"id":12,"passages":["[32]"]}`, `{"verdicts":[{"claim":"second item","chunks":[31]}]}`, `{"verdicts":[{"chunks":[31]},{"chunks":[]}]}`,
		`{"verdicts":[{"id":11,"chunks":[31],"passages":[32]}]}`, "<think>{\"11\":[31]}</think>{\"11\":[32]", `{"11":[31.0,"３２"]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		form := chunksForm(33, 0, fuzzItems, nil)
		v, p := form.decode(content)
		if (p == nil) != (len(v.by) > 0) {
			t.Errorf("%q gave %v and %v", content, v.by, p)
		}
		for id, got := range v.by {
			if id != 11 && id != 12 || got.Item != fuzzItems[id-11].Text || got.Said != "" {
				t.Fatalf("%q gave a verdict on %d: %+v", content, id, got)
			}
			if !holdsNumber(content, strconv.Itoa(id)) && !strings.Contains(flat(strings.ToLower(content)), strings.ReplaceAll(got.Item, " ", "")) && len(v.by)+len(v.bad) != len(fuzzItems) {
				t.Errorf("%q gave a verdict on item %d, which it doesn't name", content, id)
			}
			if got.Label == noChunk {
				continue
			}
			last := 0
			for n := range strings.SplitSeq(got.Label, ",") {
				k, err := strconv.Atoi(n)
				if err != nil || k <= last || k > 33 || !holdsNumber(content, n) {
					t.Errorf("%q gave the chunks %s", content, got.Label)
				}
				last = k
			}
		}
		if _, end, err := parseValue(content, 0); err == nil && content[0] == '{' && end == len(content) {
			for _, n := range []int{len(content) - 1, len(content) / 2} {
				if cut, p := form.decode(content[:n]); p == nil {
					t.Errorf("%q, cut, still gave %v", content, cut.by)
				}
			}
		}
	})
}

// FuzzThinking: what stands in thinking is never looked at, and thinking that
// doesn't end leaves nothing.
func FuzzThinking(f *testing.F) {
	for i, s := range seedReplies {
		f.Add(s, seedReplies[(i+1)%len(seedReplies)])
	}
	labels := FaithfulnessLabels()
	decode := func(s string) string {
		v, p := decodeVerdicts(s, labels, fuzzItems, nil)
		if p != nil {
			return p.code
		}
		return v.by[11].Label + "/" + v.by[12].Label
	}
	f.Fuzz(func(t *testing.T, thought, answer string) {
		if strings.Contains(strings.ToLower(thought), "think") {
			return // it may end the thinking
		}
		if got, want := decode("<think>"+thought+"</think>"+answer), decode("<think></think>"+answer); got != want {
			t.Errorf("with the thought %q, %q gave %s, else %s", thought, answer, got, want)
		}
		if got := decode("<think>" + thought); strings.Contains(got, "/") {
			t.Errorf("the thought %q gave %s", thought, got)
		}
		if got := decode("<|channel|>analysis<|message|>" + thought); strings.Contains(got, "/") && !strings.Contains(thought, "<|channel|>") {
			t.Errorf("the analysis %q gave %s", thought, got)
		}
	})
}
