package dataset_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readAll reads a file to its end, keeping what is wrong with lines apart.
func readAll(t testing.TB, path string, opt dataset.Options) (samples []*eval.Sample, bad []*dataset.LineError) {
	t.Helper()
	r, err := dataset.Open(path, opt)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	for {
		s, err := r.Next()
		var le *dataset.LineError
		switch {
		case err == io.EOF:
			return samples, bad
		case errors.As(err, &le):
			bad = append(bad, le)
			if le.Fatal() {
				return samples, bad
			}
		case err != nil:
			t.Fatal(err)
		default:
			samples = append(samples, s)
		}
	}
}

// one reads a file that holds one good record.
func one(t testing.TB, name, text string) *eval.Sample {
	t.Helper()
	samples, bad := readAll(t, write(t, name, text), dataset.Options{})
	if len(bad) > 0 {
		t.Fatalf("bad line: %v", bad[0])
	}
	if len(samples) != 1 {
		t.Fatalf("%d samples, want 1", len(samples))
	}
	return samples[0]
}

func ids(samples []*eval.Sample) []string {
	var out []string
	for _, s := range samples {
		out = append(out, s.ID)
	}
	return out
}

func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts {
		if i > 0 && parts[0] != "" && p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

func TestEveryAliasLoads(t *testing.T) {
	values := map[eval.Field]string{
		eval.FieldRetrievedContexts: `["c"]`, eval.FieldReferenceContexts: `["c"]`,
		eval.FieldRetrievedContextIDs: `["c"]`, eval.FieldReferenceContextIDs: `["c"]`, eval.FieldMetadata: `{"k":1}`,
	}
	for _, a := range dataset.Aliases {
		for _, name := range a.Names {
			for _, spelt := range []string{name, camel(name), strings.ToUpper(name)} {
				v := values[a.Field]
				if v == "" {
					v = `"x"`
				}
				extra := `"question"`
				if a.Field == eval.FieldUserInput {
					extra = `"answer"`
				}
				text := fmt.Sprintf(`{%q: %s, %s: "other"}`, spelt, v, extra)
				if s := one(t, "a.jsonl", text); !s.Has(a.Field) {
					t.Errorf("%s does not feed %s: %+v", spelt, a.Field, s)
				}
			}
		}
	}
}

func TestAliasesInAnyMixAndFormat(t *testing.T) {
	want := &eval.Sample{
		ID: "7", Row: 1, UserInput: "why?", Response: "so", RetrievedContexts: []string{"a", "b"}, RetrievedContextIDs: []string{"d1", "d2"},
		Reference: "thus", ReferenceContexts: []string{"a"}, ReferenceContextIDs: map[string]float64{"d1": 1}, Category: "x",
	}
	for name, text := range map[string]string{
		"a.jsonl": `{"queryId":7,"question":"why?","actual_output":"so","retrievalContext":["a","b"],"docIds":["d1","d2"],"groundTruth":"thus","gold_contexts":["a"],"relevant_docs":["d1"],"topic":"x"}`,
		"a.json":  ` [ {"qid":"7","query":"why?","output":"so","documents":[{"id":"d1","text":"a"},{"id":"d2","page_content":"b","score":0.3}],"ground_truths":["thus"],"referenceContexts":"a","relevantIds":{"d1":1},"tag":"x"} ] `,
		"a.csv":   "_id,prompt,generatedAnswer,context,retrieved_ids,expected_output,reference_contexts,relevant_chunk_ids,slice\n7,why?,so,\"['a', 'b']\",\"[\"\"d1\"\",\"\"d2\"\"]\",thus,a,d1,x\n",
		"a.tsv":   "sample_id\tinput\tanswer\tretrieved_docs\tretrieved_chunk_ids\treference_answer\tgold_contexts\trelevant_ids\tcategory\r\n7\twhy?\tso\t[\"a\",\"b\"]\t['d1','d2']\tthus\ta\t{\"d1\":1}\tx\r\n",
	} {
		if diff := cmp.Diff(want, one(t, name, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestClashesNameBothColumns(t *testing.T) {
	for _, c := range []struct{ text, both string }{
		{`{"question":"q","query":"r"}`, `"question" and "query"`},
		{`{"answer":"real","Answer":"old"}`, `"answer" and "Answer"`},
		{`{"question":"q","url":1,"URL":2}`, `"url" and "URL"`},
		{"question,answer,response\nq,a,b\n", `"answer" and "response"`},
		{"question,answer,Answer\nq,a,b\n", `"answer" and "Answer"`},
	} {
		_, err := dataset.Scan(write(t, "a", c.text), dataset.Options{})
		if err == nil || !strings.Contains(err.Error(), c.both) {
			t.Errorf("%s: %v, want both of %s", c.text, err, c.both)
		}
	}
}

func TestColumnsMapping(t *testing.T) {
	text := `{"frage":"q","answer":"new","response":"old","prompt":"template","contexts":["c"]}`
	opt := dataset.Options{Columns: map[string]string{"user_input": "frage", "response": "answer", "retrieved_contexts": ""}}
	samples, bad := readAll(t, write(t, "a.jsonl", text), opt)
	if len(bad) > 0 {
		t.Fatal(bad[0])
	}
	s := samples[0]
	if s.UserInput != "q" || s.Response != "new" || s.RetrievedContexts != nil || string(s.Metadata["response"]) != `"old"` {
		t.Errorf("%+v", s)
	}
	for _, m := range []map[string]string{
		{"respnse": "x"}, {"metadata": "x"}, {"id": "x", "category": "x"},
	} {
		if _, err := dataset.Open(write(t, "a.jsonl", text), dataset.Options{Columns: m}); err == nil {
			t.Errorf("the mapping %v is accepted", m)
		}
	}
	for _, text := range []string{`{"question":"q"}`, "question,answer\nq,a\n"} {
		_, err := dataset.Scan(write(t, "a", text), dataset.Options{Columns: map[string]string{"reference": "truthh"}})
		if err == nil || !strings.Contains(err.Error(), `"truthh"`) {
			t.Errorf("a mapped column that is not there: %v", err)
		}
	}
}

func TestMetadataIsUntouched(t *testing.T) {
	s := one(t, "a.jsonl", `{"question":"q","n":9007199254740993,"o":{"a":[1, 2.50]},"metadata":{"o":"inner","k":1e3}}`)
	got := map[string]string{}
	for k, v := range s.Metadata {
		got[k] = string(v)
	}
	want := map[string]string{"n": "9007199254740993", "o": `{"a":[1, 2.50]}`, "metadata.o": `"inner"`, "k": "1e3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	s = one(t, "a.csv", ",question,note\n0,q,\"say \"\"hi\"\"\ttab\"\n")
	if string(s.Metadata["note"]) != `"say \"hi\"\u0009tab"` || string(s.Metadata["column 1"]) != `"0"` {
		t.Errorf("%q", s.Metadata)
	}
}

func TestContexts(t *testing.T) {
	for _, c := range []struct {
		json string
		want []string
	}{
		{`["a","b"]`, []string{"a", "b"}},
		{`"[\"a\",\"b\"]"`, []string{"a", "b"}},
		{`" ['a', \"it's b\"] "`, []string{"a", "it's b"}},
		{`"[{'text': 'a', 'id': None}, {'content': 'b'}]"`, []string{"a", "b"}},
		{`"just text, with { and ]"`, []string{"just text, with { and ]"}},
		{`"{\"text\":\"a\"}"`, []string{`{"text":"a"}`}},
		{`null`, []string{}}, {`""`, []string{}}, {`" \n"`, []string{}}, {`[]`, []string{}}, {`"[]"`, []string{}},
		{`"None"`, []string{}}, {`"nan"`, []string{}},
		{`[""]`, []string{""}},
	} {
		s := one(t, "a.jsonl", `{"question":"q","contexts":`+c.json+`}`)
		if diff := cmp.Diff(c.want, s.RetrievedContexts); diff != "" {
			t.Errorf("%s: %s", c.json, diff)
		}
	}
	if s := one(t, "a.jsonl", `{"question":"q"}`); s.RetrievedContexts != nil || s.RetrievedContextIDs != nil {
		t.Errorf("no column is not the same as nothing retrieved: %+v", s)
	}
}

func TestContextIDs(t *testing.T) {
	for _, c := range []struct {
		record string
		texts  []string
		ids    []string
	}{
		{`"contexts":[{"id":1,"text":"a"},{"id":"x","pageContent":"b"}]`, []string{"a", "b"}, []string{"1", "x"}},
		{`"contexts":[{"id":1,"text":"a"},"b"]`, []string{"a", "b"}, nil},
		{`"contexts":[{"id":1,"text":"a"}],"doc_ids":["1"]`, []string{"a"}, []string{"1"}},
		{`"contexts":["a"],"doc_ids":[1,2]`, []string{"a"}, []string{"1", "2"}},
		{`"contexts":[]`, []string{}, []string{}},
		{`"contexts":[],"doc_ids":null`, []string{}, []string{}},
		{`"contexts":null,"doc_ids":["a"]`, nil, []string{"a"}},
		{`"doc_ids":[]`, nil, []string{}},
		{`"doc_ids":""`, nil, nil},
		{`"doc_ids":17`, nil, []string{"17"}},
	} {
		s := one(t, "a.jsonl", `{"question":"q",`+c.record+`}`)
		if diff := cmp.Diff(c.texts, s.RetrievedContexts); diff != "" {
			t.Errorf("%s: texts %s", c.record, diff)
		}
		if diff := cmp.Diff(c.ids, s.RetrievedContextIDs); diff != "" {
			t.Errorf("%s: ids %s", c.record, diff)
		}
	}
}

func TestGrades(t *testing.T) {
	for _, c := range []struct {
		json string
		want map[string]float64
	}{
		{`["a",7,"a"]`, map[string]float64{"a": 1, "7": 1}},
		{`{"a":2,"b":0,"c":-1,"d":0.5}`, map[string]float64{"a": 2, "b": 0, "c": -1, "d": 0.5}},
		{`"{\"a\":2}"`, map[string]float64{"a": 2}},
		{`"['a']"`, map[string]float64{"a": 1}},
		{`"a"`, map[string]float64{"a": 1}},
		{`[]`, map[string]float64{}}, {`{}`, map[string]float64{}}, {`null`, nil}, {`""`, nil},
	} {
		s := one(t, "a.jsonl", `{"question":"q","relevant_ids":`+c.json+`}`)
		if diff := cmp.Diff(c.want, s.ReferenceContextIDs); diff != "" {
			t.Errorf("%s: %s", c.json, diff)
		}
	}
}

func TestTextFields(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`null`, ""}, {`"  \n"`, "  \n"}, {`42`, "42"}, {`1.50e3`, "1.50e3"}, {`true`, "true"},
		{`" \u00e9\ud83d\ude00\/\b\f\t\"\\ "`, " é😀/\b\f\t\"\\ "},
		{`"nul \u0000"`, "nul \x00"},
		{`"half \ud83d"`, "half \uFFFD"},
		{`"half \ud83dx\ude00"`, "half \uFFFDx\uFFFD"},
		{`"[not a list"`, "[not a list"},
	} {
		if s := one(t, "a.jsonl", `{"question":"q","answer":`+c.json+`}`); s.Response != c.want {
			t.Errorf("%s: %q, want %q", c.json, s.Response, c.want)
		}
	}
	for _, c := range []struct{ record, want string }{
		{`"ground_truths":["t"]`, "t"}, {`"ground_truths":[]`, ""}, {`"ground_truths":"['t']"`, "t"},
		{`"reference":["t"]`, "t"}, {`"reference":"['t']"`, "['t']"}, {`"ground_truths":"t"`, "t"},
	} {
		if s := one(t, "a.jsonl", `{"question":"q",`+c.record+`}`); s.Reference != c.want {
			t.Errorf("%s: %q, want %q", c.record, s.Reference, c.want)
		}
	}
}

// TestBadRecords holds everything that is an error, with its column and a part
// of its reason.
func TestBadRecords(t *testing.T) {
	for _, c := range []struct{ text, column, reason string }{
		{`{"question":"q","answer":{"text":"a"}}`, "answer", "is an object"},
		{`{"question":["q"]}`, "question", "is a list"},
		{`{"id":[1]}`, "id", "is a list"},
		{`{"reference":["a",["b"]]}`, "reference", "is a list"},
		{`{"contexts":{"a":"b"}}`, "contexts", "is an object"},
		{`{"contexts":7}`, "contexts", "is a number"},
		{`{"contexts":["a",null]}`, "contexts", "context 2 is null"},
		{`{"contexts":[["a"]]}`, "contexts", "context 1 is a list"},
		{`{"contexts":[{"id":"x"}]}`, "contexts", "context 1 is an object without text"},
		{`{"contexts":[{"text":"a","content":"b"}]}`, "contexts", `both "text" and "content"`},
		{`{"contexts":[{"text":null}]}`, "contexts", "is null"},
		{`{"contexts":"[1] see the manual"}`, "contexts", "neither a JSON list"},
		{`{"contexts":"['a', b]"}`, "contexts", "neither a JSON list"},
		{`{"contexts":"['a' 'b']"}`, "contexts", "data is missing"},
		{`{"contexts":"['a'\n 'b']"}`, "contexts", "data is missing"},
		{`{"contexts":"array(['a', 'b'], dtype=object)"}`, "contexts", "data is missing"},
		{`{"contexts":"[array(['a'])]"}`, "contexts", "data is missing"},
		{`{"contexts":"['a', ...]"}`, "contexts", "data is missing"},
		{`{"contexts":[],"doc_ids":["a"]}`, "contexts", "names 1 chunk"},
		{`{"contexts":[{"id":"a","text":"t"}],"doc_ids":["b"]}`, "contexts", "disagree"},
		{`{"doc_ids":"a, b"}`, "doc_ids", "one id or several"},
		{`{"doc_ids":["a",null]}`, "doc_ids", "id 2 of the list is null"},
		{`{"doc_ids":["a"," "]}`, "doc_ids", "id 2 of the list is blank"},
		{`{"doc_ids":{"a":1}}`, "doc_ids", "is an object"},
		{`{"relevant_ids":{"a":"1"}}`, "relevant_ids", "is a text, where a number"},
		{`{"relevant_ids":{"a":1e400}}`, "relevant_ids", "too large"},
		{`{"relevant_ids":{"a":1,"a":2}}`, "relevant_ids", "stands twice"},
		{`{"relevant_ids":{"":1}}`, "relevant_ids", "blank"},
		{`{"relevant_ids":[true]}`, "relevant_ids", "is a boolean"},
		{`{"question":"q","question":"r"}`, "question", "stands twice"},
		{`{"question":"q","x":1,"\u0078":2}`, "x", "stands twice"},
		{`{"foo":1}`, "", "no column is known"},
		{`{}`, "", "no column is known"},
		{`{"question":"q"} {"question":"r"}{`, "", "found '{'"},
		{`{"question":"q",}`, "", "a comma stands before"},
		{`{"contexts":["a",]}`, "", "a comma stands before"},
		{`{"question" "q"}`, "", "expected a colon"},
		{`{question:"q"}`, "", "a name in double quotes"},
		{`{"question":'q'}`, "", "expected a value"},
		{`{"question":"q","score":NaN}`, "", "found 'N'"},
		{`{"question":"q","score":01}`, "", "found '1'"},
		{`{"question":"q","score":-}`, "", "a digit"},
		{`{"question":"q","score":1.}`, "", "a digit"},
		{`{"question":"\x"}`, "", "unknown escape"},
		{`{"question":"\u12g4"}`, "", "unknown escape"},
		{"{\"question\":\"a\tb\"}", "", "control character 0x09"},
		{`{"question":"q"`, "", "the record ends"},
		{`{"question":"q`, "", "ends inside a text"},
		{`"text"`, "", "is a text, where an object"},
		{`{"question":` + strings.Repeat("[", 2000), "", "nested more than"},
	} {
		good := `{"question":"first"}` + "\n"
		samples, bad := readAll(t, write(t, "a.jsonl", good+c.text+"\n"+`{"question":"last"}`), dataset.Options{})
		if len(bad) != 1 || len(samples) != 2 {
			t.Errorf("%s: %d samples, bad %v", c.text, len(samples), bad)
			continue
		}
		if b := bad[0]; b.Line != 2 || b.Row != 2 || b.Column != c.column || !strings.Contains(b.Reason, c.reason) {
			t.Errorf("%s: %v", c.text, b)
		}
		if samples[1].Row != 3 {
			t.Errorf("%s: the row after it is %d", c.text, samples[1].Row)
		}
	}
}

func TestOffsetsPointAtTheFault(t *testing.T) {
	_, bad := readAll(t, write(t, "a.jsonl", "{\"answer\":\"caf\xe9\"}\n"), dataset.Options{})
	if bad[0].Line != 1 || bad[0].Offset != 15 || !strings.Contains(bad[0].Hint, "encoding") {
		t.Errorf("%v, offset %d", bad[0], bad[0].Offset)
	}
	_, bad = readAll(t, write(t, "a.json", "[\n {\"question\": \"q\"},\n {\"question\":\n   'q'}\n]"), dataset.Options{})
	if bad[0].Line != 4 || bad[0].Offset != 4 || bad[0].Row != 2 {
		t.Errorf("%v", bad[0])
	}
	_, bad = readAll(t, write(t, "a.csv", "question,answer\r\nq,\"a\r\nb\xff\"\r\n"), dataset.Options{})
	if bad[0].Line != 3 || bad[0].Offset != 2 || bad[0].Row != 1 {
		t.Errorf("%v", bad[0])
	}
	if got, want := bad[0].Error(), ":3:2: row 1: the byte 0xff is not UTF-8"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want the end %s", got, want)
	}
}

func TestLayouts(t *testing.T) {
	for name, text := range map[string]string{
		"lines":        "{\"id\":1,\"question\":\"q\"}\n{\"id\":2,\"question\":\"q\"}\n",
		"CRLF, blanks": "\r\n \n{\"id\":1,\"question\":\"q\"}\r\n\r\n{\"id\":2,\"question\":\"q\"}",
		"BOM":          "\ufeff{\"id\":1,\"question\":\"q\"}\n{\"id\":2,\"question\":\"q\"}",
		"BOM, array":   "\ufeff\n[{\"id\":1,\"question\":\"q\"},{\"id\":2,\"question\":\"q\"}]\n\n",
		"array":        "[\n{\"id\":1,\n\"question\":\"]}\\\"\"}\n,{\"id\":2,\"question\":\"q\"}]",
		"pretty":       "{\n  \"id\": 1,\n  \"question\": \"}{\"\n}\n{\n  \"id\": 2,\n  \"question\": \"q\"\n}\n",
		"side by side": "{\"id\":1,\"question\":\"q\"} {\"id\":2,\"question\":\"q\"}",
		"csv":          "\ufeffid,question\r\n1,q\r\n\r\n2,q",
		"semicolon":    "id;question, long;answer\n1;q;a\n2;q;a\n",
		"bar":          "id|question\n1|q,;\n2|q",
		"tab":          "id\tquestion\n1\tq\n2\tq\n",
		"quoted head":  "\"id\",\"my;question\",answer\n1,q,a\n2,q,a\n",
		"no ending":    "id , question\n1,q\n2,q\n",
	} {
		for _, ending := range []string{"a.jsonl", "a.json", "a.csv", "a"} {
			samples, bad := readAll(t, write(t, ending, text), dataset.Options{})
			if len(bad) > 0 || !slices.Equal(ids(samples), []string{"1", "2"}) {
				t.Errorf("%s in %s: ids %v, bad %v", name, ending, ids(samples), bad)
			}
		}
	}
}
