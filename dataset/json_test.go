package dataset_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

// FuzzJSONL: whatever is accepted is JSON by encoding/json's judgement, with
// the same texts; reading never panics, and counts every line once.
func FuzzJSONL(f *testing.F) {
	f.Add(`{"id":1,"question":"q","answer":"a\u00e9\ud83d\ude00","contexts":["c"]}`)
	f.Add("{\"question\":\"q\"}\r\n\n{\"question\":\"q\",}\n[1]\n{\"question\":1e9,\"x\":[{}]}")
	f.Add("{\n\"question\":\"q\"\n}\n{\"question\":\"}\"}")
	f.Add(`{"contexts":"['a', \"b\"]","relevant_ids":{"a":1.5}}`)
	f.Fuzz(func(t *testing.T, line string) {
		for _, text := range []string{line, "{\"id\":\"first\",\"question\":\"q\"}\n" + line} {
			r, err := dataset.Open(write(t, "a.jsonl", text), dataset.Options{Format: dataset.JSONL, SkipBadLines: true})
			if err != nil {
				continue
			}
			defer r.Close()
			for {
				s, err := r.Next()
				if err != nil {
					break
				}
				checkSample(t, s)
				if !strings.Contains(line, "\n") && s.ID != "first" {
					sameAsStandard(t, line, s)
				}
			}
		}
	})
}

func checkSample(t *testing.T, s *eval.Sample) {
	t.Helper()
	if s.ID == "" || s.Row < 1 {
		t.Errorf("no id or row: %+v", s)
	}
	for _, text := range append([]string{s.ID, s.UserInput, s.Response, s.Reference, s.Category}, s.RetrievedContexts...) {
		if !utf8.ValidString(text) {
			t.Errorf("%q is not UTF-8", text)
		}
	}
	for name, raw := range s.Metadata {
		if !json.Valid(raw) {
			t.Errorf("metadata %q is not JSON: %q", name, raw)
		}
	}
}

func sameAsStandard(t *testing.T, line string, s *eval.Sample) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "\ufeff")), &m); err != nil {
		return // an array, or several objects on one line
	}
	var q string
	if raw, ok := m["question"]; ok && json.Unmarshal(raw, &q) == nil && raw[0] == '"' && q != s.UserInput {
		t.Errorf("%q: question %q, encoding/json has %q", line, s.UserInput, q)
	}
}

// FuzzLineIsJSON: a line is accepted only if encoding/json accepts it, and
// refused for its grammar only if that does too.
func FuzzLineIsJSON(f *testing.F) {
	for _, s := range []string{`{"question":"q"}`, `{"question":"q","x":-1.5e+3}`, `{"question":"\ud800"}`, `{"question":[[]]}`, `{"question":"q","x":01}`, `{"question" :null , "x":true}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n") || strings.TrimSpace(line) == "" || !utf8.ValidString(line) {
			return
		}
		// The good line ahead makes it a file of lines.
		r, err := dataset.Open(write(t, "a.jsonl", "{\"id\":\"first\",\"question\":\"q\"}\n"+line+"\n"), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		_, err = r.Next()
		if err == io.EOF {
			t.Fatalf("%q is passed over", line)
		}
		// encoding/json can't nest as deep as its own limit allows for here.
		grammar := err != nil && strings.Contains(err.Error(), "invalid JSON") && !strings.Contains(err.Error(), "nested more")
		if valid := json.Valid([]byte(line)); valid && grammar || !valid && err == nil {
			t.Errorf("%q: %v, but valid by encoding/json: %t", line, err, valid)
		}
	})
}

// FuzzJSONArray: the items of an array are the lines of a JSONL file.
func FuzzJSONArray(f *testing.F) {
	f.Add(`{"question":"q"}`, `{"question":"]}","x":{"y":["\""]}}`)
	f.Add(`{"question":"\\"}`, `null`)
	f.Add(`12`, `"x"`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsAny(a+b, "\r\n") || !json.Valid([]byte(a)) || !json.Valid([]byte(b)) {
			return
		}
		array, badArray := readAll(t, write(t, "a.json", "[ "+a+" ,\n"+b+"]\n"), dataset.Options{})
		// The good line ahead makes it a file of lines.
		lines, badLines := readAll(t, write(t, "a.jsonl", "{\"id\":\"first\",\"question\":\"q\"}\n"+a+"\n"+b+"\n"), dataset.Options{})
		if len(badLines) > 0 && strings.Contains(badLines[0].Error(), "invalid JSON") {
			return // nested too deep
		}
		if want := ids(lines)[1:]; !slices.Equal(ids(array), want) || len(badArray) != len(badLines) {
			t.Errorf("array %v (bad %v), lines %v (bad %v)", ids(array), badArray, want, badLines)
		}
	})
}

// TestListsAreReadWhole reads lists whose items are of several kinds, which the
// decoder keeps from its first look at them.
func TestListsAreReadWhole(t *testing.T) {
	s := one(t, "a.jsonl", `{"question":"q","doc_ids":[1,"a",2,"b"],"contexts":["w",{"text":"x"},{"text":"y","n":[1,[2,"z"],{"k":[]}]},"v"],"metadata":{"l":[1,"a"],"m":{}}}`)
	if got := strings.Join(s.RetrievedContextIDs, " "); got != "1 a 2 b" {
		t.Errorf("ids %s", got)
	}
	if got := strings.Join(s.RetrievedContexts, " "); got != "w x y v" {
		t.Errorf("contexts %s", got)
	}
	if string(s.Metadata["l"]) != `[1,"a"]` || string(s.Metadata["m"]) != "{}" {
		t.Errorf("metadata %s", s.Metadata)
	}
}
