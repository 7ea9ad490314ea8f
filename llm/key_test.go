package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// encoderKey is the key by encoding/json, which defines it.
func encoderKey(t testing.TB, r *Request) Key {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(keyVersion)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		t.Fatal(err)
	}
	if got := string(r.appendJSON(nil)) + "\n"; got != strings.TrimPrefix(b.String(), keyVersion) {
		t.Errorf("the JSON is\n%s\nand by the encoder\n%s", got, b.String())
	}
	return sha256.Sum256(b.Bytes())
}

func TestKeyIsThatOfTheEncoder(t *testing.T) {
	zero, warm, tiny, big, seed := 0.0, 0.7, 1e-9, 1e21, -3
	every := strings.Builder{}
	for c := range 0x80 {
		every.WriteByte(byte(c))
	}
	for name, r := range map[string]*Request{
		"empty":    {},
		"no chat":  {Messages: []Message{}},
		"all":      {Endpoint: "openai http://h/v1", Model: "m", Messages: []Message{{System, "a"}, {User, "b"}}, Temperature: &warm, MaxTokens: 5, Seed: &seed, Trial: 2, Schema: &Schema{"s", json.RawMessage(` {"a" : [1, "<b>"]} `)}, Extra: json.RawMessage(`{"x":{"y":1}}`)},
		"ascii":    {Messages: []Message{{User, every.String()}}},
		"unicode":  {Messages: []Message{{User, "ä 漢 \u2028\u2029 \ufffd 🙂 <&>"}}},
		"broken":   {Messages: []Message{{User, "a\xff\xc3(\xe2\x80"}}},
		"cold":     {Temperature: &zero},
		"tiny":     {Temperature: &tiny},
		"big":      {Temperature: &big},
		"no JSON":  {Schema: &Schema{Name: "s"}},
		"odd JSON": {Schema: &Schema{"s", json.RawMessage("{\"\u2028\":\"\xff<\"}")}},
	} {
		if got, want := r.Key(), encoderKey(t, r); got != want {
			t.Errorf("%s: key %v, want %v", name, got, want)
		}
		if again := encoderKey(t, r); r.Key() != again { // from a buffer that was used
			t.Errorf("%s: another key the second time", name)
		}
	}
}

// A field that the encoder would write must be written here too.
func TestKeyHasEveryField(t *testing.T) {
	one, n := 1.0, 1
	r := &Request{Endpoint: "e", Model: "m", Messages: []Message{{User, "x"}}, Temperature: &one, MaxTokens: 1, Seed: &n, TopLogprobs: 20, Trial: 1,
		Schema: &Schema{"s", json.RawMessage("{}")}, Extra: json.RawMessage(`{"a":1}`), Embed: []string{"a\"", "b"}}
	v := reflect.ValueOf(*r)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("json") != "-" && v.Field(i).IsZero() {
			t.Errorf("the field %s is not in this test", f.Name)
		}
	}
	encoderKey(t, r)
}

func FuzzKey(f *testing.F) {
	f.Add("e", "m", "text \x00\x1f\x7f\xff\u2028", 0.5, 3, `{"a": 1}`)
	f.Fuzz(func(t *testing.T, endpoint, model, content string, temperature float64, n int, schema string) {
		r := &Request{Endpoint: endpoint, Model: model, Messages: []Message{{User, content}, {Role(model), endpoint}}, MaxTokens: n, Trial: n, Seed: &n}
		if temperature-temperature == 0 { // neither NaN nor infinite
			r.Temperature = &temperature
		}
		if json.Valid([]byte(schema)) {
			r.Schema = &Schema{Name: content, JSON: json.RawMessage(schema)}
		}
		if got, want := r.Key(), encoderKey(t, r); got != want {
			t.Errorf("key %v, want %v", got, want)
		}
	})
}

func BenchmarkKey(b *testing.B) {
	cold := 0.0
	r := &Request{Endpoint: "openai https://api.openai.com/v1", Model: "gpt-4.1-mini", Temperature: &cold,
		Messages: []Message{{System, strings.Repeat("Judge each claim.\n", 60)}, {User, strings.Repeat("Employees have 20 days of \"paid\" leave.\n", 100)}},
		Schema:   &Schema{"verdicts", json.RawMessage(`{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object"}}}}`)}}
	for b.Loop() {
		r.Key()
	}
}

// BenchmarkKeyByTheEncoder is what BenchmarkKey is to be compared with.
func BenchmarkKeyByTheEncoder(b *testing.B) {
	r := &Request{Endpoint: "e", Model: "m", Messages: []Message{{System, strings.Repeat("Judge each claim.\n", 60)}, {User, strings.Repeat("Employees have 20 days of \"paid\" leave.\n", 100)}}}
	for b.Loop() {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r); err != nil {
			b.Fatal(err)
		}
		sha256.Sum256(buf.Bytes())
	}
}
