package dataset

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPythonLiterals(t *testing.T) {
	for _, c := range []struct{ py, json string }{
		{`[]`, `[]`}, {`[ ]`, `[]`}, {`['a']`, `["a"]`}, {`["it's", 'say "x"']`, `["it's","say \"x\""]`}, {`['a', ]`, `["a"]`}, {`('a', 'b')`, `["a","b"]`},
		{`[None, True, False, 1, -2.5, 1e3]`, `[null,true,false,1,-2.5,1e3]`},
		{`[{'id': 'x', 'n': [1]}, {}]`, `[{"id":"x","n":[1]},{}]`},
		{`['\n\t\r\\\'\"\a\b\f\v']`, `["\n\t\r\\'\"\u0007\b\f\u000b"]`},
		{`['\x41\xe9\u00e9\U0001F600\101\0']`, `["Aéé😀A\u0000"]`},
		{`['\d+ \ ']`, `["\\d+ \\ "]`},
		{`[u'a', '''it's''', """b"c"""]`, `["a","it's","b\"c"]`},
		{"['two\nlines', 'a\\\nb']", `["two\nlines","ab"]`},
		{`['\ud83d']`, `["\ud83d"]`},
		{`[nan, 'a']`, `[null,"a"]`},
		{`[Document(id='1', metadata={'n': 1}, page_content="it's"), Document()]`, `[{"id":"1","metadata":{"n":1},"page_content":"it's"},{}]`},
		{`['é東']`, `["é東"]`},
	} {
		got, f := pyToJSON([]byte(c.py))
		if f != nil || string(got) != c.json {
			t.Errorf("%s: %s, want %s (%v)", c.py, got, c.json, f)
		}
	}
	for _, py := range []string{
		``, `[`, `['a`, `['a'`, `['a',`, `['a' 'b']`, `[a]`, `['a']x`, `[f'a']`, `[b'a']`, `[1 2]`, `[0.5 -1]`, `[1_000]`, `[0x1]`, `['a', ...]`, `[array(['a'])]`,
		`['\x4']`, `['\U00110000']`, `['\Uffffffff']`, `['\N{DASH}']`, `['\`, `[Document('a')]`, `[Document(page_content='a']`, `[Node(text='a')]`, `[Document(page_content=open('x'))]`, `[{1: 'a'}]`, `[{'a' 1}]`, `[{'a': 1`,
		`[__import__('os')]`, `[{'a'}]`, strings.Repeat("[", 5000),
	} {
		if got, f := pyToJSON([]byte(py)); f == nil {
			t.Errorf("%.40s is accepted as %.40s", py, got)
		}
	}
}

func FuzzPythonLiteral(f *testing.F) {
	for _, s := range []string{`['a', "b\n", '\u00e9', None]`, `[{'id': 'x'}]`, `['a' 'b']`, `[Document(page_content='a', metadata={})]`, `('\x00',)`, `["""x"""]`, `['\ud800', -1e9]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, py string) {
		if !utf8.ValidString(py) {
			return
		}
		js, fault := pyToJSON([]byte(py))
		if fault != nil {
			return
		}
		if !json.Valid(js) {
			t.Fatalf("%q became %q, which is not JSON", py, js)
		}
		if v, f := parseValue(js); f != nil {
			t.Errorf("%q became %q: %v", py, js, f.reason)
		} else if v.kind == kindArray {
			for range v.items() {
				continue
			}
		}
	})
}
