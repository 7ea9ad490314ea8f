package tokens_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ragjudge/ragjudge/tokens"
)

// golden is a line of testdata/texts.jsonl or files.jsonl, made by the reference
// code through testdata/golden.js: a count of tokens and a hash of their ids.
type golden struct {
	Text  string    `json:"t"`
	File  string    `json:"file"`
	Lines int       `json:"lines"`
	O     [2]uint32 `json:"o"`
	C     [2]uint32 `json:"c"`
}

func readGolden(t *testing.T, name string) []golden {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []golden
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var g golden
		if err := dec.Decode(&g); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
}

const fnvStart = uint32(0x811c9dc5)

func fnv(hash uint32, ids []int) uint32 {
	for _, id := range ids {
		for shift := 0; shift < 32; shift += 8 {
			hash = (hash ^ uint32(id>>shift)&255) * 0x01000193
		}
	}
	return hash
}

// TestReferenceTexts compares count and ids with the reference's. Set
// RAGJUDGE_TOKENS_GOLDEN to a further file made by testdata/golden.js to
// compare more texts than are kept here.
func TestReferenceTexts(t *testing.T) {
	all := readGolden(t, "testdata/texts.jsonl")
	if len(all) < 1000 {
		t.Fatalf("only %d golden texts", len(all))
	}
	if more := os.Getenv("RAGJUDGE_TOKENS_GOLDEN"); more != "" {
		all = append(all, readGolden(t, more)...)
	}
	wrong := 0
	for _, g := range all {
		for _, c := range []struct {
			enc  *tokens.Encoding
			want [2]uint32
		}{{tokens.O200kBase(), g.O}, {tokens.CL100kBase(), g.C}} {
			ids := c.enc.Encode(g.Text)
			got := [2]uint32{uint32(len(ids)), fnv(fnvStart, ids)}
			if n := c.enc.Count(g.Text); got != c.want || n != len(ids) {
				if wrong++; wrong <= 20 {
					t.Errorf("%s of %q: ids %v (hash %d), count %d, want %d ids (hash %d)", c.enc.Name(), g.Text, ids, got[1], n, c.want[0], c.want[1])
				}
			}
		}
	}
	t.Logf("%d disagreements in %d texts, each in two encodings", wrong, len(all))
}

// TestReferenceFiles compares the sum over the lines of real files, where they
// are there.
func TestReferenceFiles(t *testing.T) {
	for _, g := range readGolden(t, "testdata/files.jsonl") {
		t.Run(g.File, func(t *testing.T) {
			found, err := filepath.Glob(filepath.Join("../../shared/*", g.File))
			if more, _ := filepath.Glob(filepath.Join("../../shared", g.File)); len(more) > 0 {
				found = more
			}
			if err != nil || len(found) == 0 {
				t.Skipf("%s is not beside this repository", g.File)
			}
			data, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(data), "\n")
			if len(lines) != g.Lines {
				t.Skipf("%s has %d lines, not the %d of which the golden sums were made", g.File, len(lines), g.Lines)
			}
			o, c := [2]uint32{0, fnvStart}, [2]uint32{0, fnvStart}
			for _, line := range lines {
				ids := tokens.O200kBase().Encode(line)
				o = [2]uint32{o[0] + uint32(len(ids)), fnv(o[1], ids)}
				ids = tokens.CL100kBase().Encode(line)
				c = [2]uint32{c[0] + uint32(len(ids)), fnv(c[1], ids)}
			}
			if o != g.O || c != g.C {
				t.Errorf("o200k_base %v, want %v; cl100k_base %v, want %v", o, g.O, c, g.C)
			}
		})
	}
}

func TestCount(t *testing.T) {
	// Values published in OpenAI's cookbook "How to count tokens with tiktoken".
	for _, c := range []struct {
		text          string
		o200k, cl100k int
	}{
		{"", 0, 0},
		{"tiktoken is great!", 6, 6},
		{"antidisestablishmentarianism", 6, 6},
		{"2 + 2 = 4", 7, 7},
		{"お誕生日おめでとう", 8, 9},
	} {
		if got := tokens.O200kBase().Count(c.text); got != c.o200k {
			t.Errorf("o200k_base of %q: %d, want %d", c.text, got, c.o200k)
		}
		if got := tokens.CL100kBase().Count(c.text); got != c.cl100k {
			t.Errorf("cl100k_base of %q: %d, want %d", c.text, got, c.cl100k)
		}
	}
}

func TestInvalidUTF8IsReplacedByteForByte(t *testing.T) {
	for _, bad := range []string{"\xff", "a\xff\xfeb", "\xed\xa0\x80", "\xe6\x97", "ok\xc3", "\xf4\x90\x80\x80 \n\xff"} {
		b, err := json.Marshal(bad) // the form in which it would be sent
		if err != nil {
			t.Fatal(err)
		}
		var sent string
		if err := json.Unmarshal(b, &sent); err != nil {
			t.Fatal(err)
		}
		for _, enc := range []*tokens.Encoding{tokens.O200kBase(), tokens.CL100kBase()} {
			if got, want := enc.Encode(bad), enc.Encode(sent); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s of %q: %v, want %v as of %q", enc.Name(), bad, got, want, sent)
			}
		}
	}
}

func TestSpecialTokensAreOrdinaryText(t *testing.T) {
	ids := tokens.O200kBase().Encode("<|endoftext|>")
	if len(ids) < 3 {
		t.Errorf("ids %v: taken for a special token", ids)
	}
	if _, ok := tokens.O200kBase().Decode([]int{199999}); ok {
		t.Error("the special token 199999 was decoded")
	}
	if _, ok := tokens.O200kBase().Decode([]int{-1}); ok {
		t.Error("id -1 was decoded")
	}
}

// TestLongRuns holds that no text takes time with its square: 100,000 letters
// of one run took other encoders 6 to 8 s, so that the million here would outlast
// the test's time limit.
func TestLongRuns(t *testing.T) {
	enc := tokens.O200kBase()
	enc.Count("unpack the vocabulary first")
	for _, unit := range []string{"a", "ab", "aB", "A", "日", "日A", " ", "\n", " \n", "=", "\u0301", "7", "é", "'s", "\xff"} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		n := enc.Count(text)
		if n < len(text)/128 {
			t.Errorf("1 MB of %q: %d tokens, fewer than can be", unit, n)
		}
	}
}

func TestForModel(t *testing.T) {
	for _, c := range []struct {
		model, enc string
		exact      bool
	}{
		{"gpt-4o", "o200k_base", true},
		{"gpt-4o-mini-2024-07-18", "o200k_base", true},
		{"gpt-4.1-mini", "o200k_base", true},
		{"openai/gpt-4.1-mini", "o200k_base", true},
		{"openrouter/openai/gpt-5-mini", "o200k_base", true},
		{"gpt-5.1", "o200k_base", true},
		{"GPT-5", "o200k_base", true},
		{"gpt-4.5-preview", "o200k_base", true},
		{"chatgpt-4o-latest", "o200k_base", true},
		{"o1", "o200k_base", true},
		{"o3-mini", "o200k_base", true},
		{"o4-mini-2025-04-16", "o200k_base", true},
		{"openai/gpt-oss-120b", "o200k_base", true},
		{"gpt-oss:20b", "o200k_base", true},
		{"ft:gpt-4o-mini:acme::abc", "o200k_base", true},
		{"gpt-4", "cl100k_base", true},
		{"gpt-4-turbo", "cl100k_base", true},
		{"azure/gpt-4-32k", "cl100k_base", true},
		{"gpt-3.5-turbo", "cl100k_base", true},
		{"ft:gpt-3.5-turbo:acme", "cl100k_base", true},
		{"gpt-35-turbo", "cl100k_base", true},
		{"text-embedding-3-small", "cl100k_base", true},
		{"text-embedding-ada-002", "cl100k_base", true},
		{"gpt-4x", "o200k_base", false},
		{"gpt-50", "o200k_base", false},
		{"gpt-6", "o200k_base", false},
		{"marco-o1", "o200k_base", false},
		{"o1x", "o200k_base", false},
		{"claude-sonnet-4-5", "o200k_base", false},
		{"llama3.1:8b", "o200k_base", false},
		{"gpt-4/", "o200k_base", false},
		{"", "o200k_base", false},
	} {
		enc, exact := tokens.ForModel(c.model)
		if enc.Name() != c.enc || exact != c.exact {
			t.Errorf("%q: %s, exact %t, want %s, %t", c.model, enc.Name(), exact, c.enc, c.exact)
		}
	}
}

// FuzzEncode holds that nothing is lost or added, that Count and Encode agree,
// and that any text is done with in bounded time.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{
		"", "a", "Hello, world's END'LL ſ 'ſ", "a\n  ", "\r\n \r \t\n  x", "日本ABCde\u0301\u0301F", "<|endoftext|>", "\xff\xfe a\xed\xa0\x80",
		"1234567 ½²١", " \u3000\u2028\u0085", strings.Repeat("ab", 60), strings.Repeat("\u0301A", 40), "a//\r\n/b ///",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := string([]rune(s))
		for _, enc := range []*tokens.Encoding{tokens.O200kBase(), tokens.CL100kBase()} {
			ids := enc.Encode(s)
			if got, ok := enc.Decode(ids); !ok || got != want {
				t.Fatalf("%s: decoded %q, want %q", enc.Name(), got, want)
			}
			if n := enc.Count(s); n != len(ids) {
				t.Fatalf("%s: count %d, %d ids", enc.Name(), n, len(ids))
			}
		}
	})
}

func benchmarkText(b *testing.B, name string) string {
	switch name {
	case "english":
		return strings.Repeat("The response is faithful if every claim in it can be inferred from the retrieved contexts; "+
			"contradictions, unsupported numbers and invented sources count against it.\n\nCustomers' contracts (2024-25) cover 80% of it. ", 500)
	case "mixed":
		data, err := os.ReadFile("testdata/texts.jsonl")
		if err != nil {
			b.Fatal(err)
		}
		return string(bytes.ToValidUTF8(data[:min(len(data), 200_000)], nil))
	case "run":
		return strings.Repeat("a", 100_000)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		b.Skipf("%s is not beside this repository", name)
	} else if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

func BenchmarkCount(b *testing.B) {
	for _, name := range []string{"english", "mixed", "run", "../../shared/data/azure_rag/baseline.eval_results.jsonl"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			text, enc := benchmarkText(b, name), tokens.O200kBase()
			n := enc.Count(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				enc.Count(text)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
		})
	}
}
