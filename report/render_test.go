package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/eval"
	"github.com/ragjudge/ragjudge/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t testing.TB, s *report.Summary, format string, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Render(&b, s, format, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", name, d)
	}
}

func TestGolden(t *testing.T) {
	s := sample(t)
	golden(t, "summary.txt", render(t, s, "text", 0))
	golden(t, "summary.width80.txt", render(t, s, "text", 80))
	golden(t, "summary.md", render(t, s, "md", 0))
	golden(t, "summary.json", render(t, s, "json", 0))
	golden(t, "summary.csv", render(t, s, "csv", 0))
}

// No rendering for people lets the data act on the terminal.
func TestDataCannotActOnTheTerminal(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x2100; r++ {
		all.WriteRune(r)
	}
	evil := all.String() + "\xff\ufeff\U000e0041|</td>"
	s := summarizer(t, report.Options{}, faithfulness)
	r := result(1, evil[:900], eval.Without(eval.Failed, "%s", evil[400:]).Of(faithfulness))
	r.ID = evil
	add(t, s, r)
	sum := s.Summary()
	sum.Dataset.Name = evil
	sum.Judge = &report.Judge{Provider: evil, Model: evil, Served: []string{evil}, Note: evil}
	sum.Usage.CostReason = evil
	for _, format := range []string{"text", "md"} {
		out := render(t, sum, format, 0)
		if !utf8.ValidString(out) {
			t.Errorf("%s: not UTF-8", format)
		}
		for _, r := range out {
			if r != '\n' && r != 0x200c && r != 0x200d && !unicode.IsGraphic(r) {
				t.Errorf("%s: has %U", format, r)
				break
			}
		}
	}
}

// A cell of Markdown can't be left from within.
func TestMarkdownCellsHold(t *testing.T) {
	s := summarizer(t, report.Options{}, faithfulness)
	for i, c := range []string{"a|b", `a\|b`, "a`|`b", "<img src=x>", "\n|x|\n", "_x_", "[l](u)"} {
		add(t, s, result(i+1, c, eval.Value(float64(i)/10).Of(faithfulness)))
	}
	out := render(t, s.Summary(), "md", 0)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "<img") || strings.Contains(line, "[l](u)") || strings.Contains(line, " _x_ ") {
			t.Errorf("markup of the data is alive in %s", line)
		}
	}
	_, table, _ := strings.Cut(out, "## Categories")
	table, _, _ = strings.Cut(table, "## ")
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		// A pipe that an even number of backslashes precedes ends a cell.
		pipes, slashes := 0, 0
		for _, r := range line {
			switch {
			case r == '\\':
				slashes++
				continue
			case r == '|' && slashes%2 == 0:
				pipes++
			}
			slashes = 0
		}
		if pipes != 4 {
			t.Errorf("%d pipes in %s", pipes, line)
		}
	}
}

// Figures are never cut, whatever the width; text fits where it can.
func TestTextWidth(t *testing.T) {
	s := sample(t)
	for _, width := range []int{1, 20, 40, 80, 100, 200} {
		out := render(t, s, "text", width)
		for _, m := range s.Metrics {
			if !strings.Contains(out, " "+strconv.FormatFloat(*m.Mean, 'f', 3, 64)+" ") {
				t.Errorf("width %d: the mean of %s is not whole", width, m.Metric)
			}
		}
		if width >= 80 {
			for line := range strings.Lines(out) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("width %d: a line of %d: %s", width, n, line)
				}
			}
		}
	}
}

func TestOfflineMarkIsEverywhere(t *testing.T) {
	s := sample(t)
	// Whoever encodes it, without JSON's help.
	if raw, err := json.Marshal(s); err != nil || !strings.Contains(string(raw), report.OfflineNote) {
		t.Errorf("encoded elsewhere it has no mark (%v)", err)
	}
	for format, mark := range map[string]string{
		"text": report.OfflineNote, "md": report.OfflineNote, "json": report.OfflineNote, "csv": "lexical (offline)",
	} {
		if !strings.Contains(render(t, s, format, 0), mark) {
			t.Errorf("%s does not say that the offline judge made it", format)
		}
	}
	s.Judge = &report.Judge{Provider: "openai", Model: "gpt-4.1-mini", Served: []string{"gpt-4.1-mini-2025-04-14"}}
	for _, format := range report.Formats {
		if strings.Contains(render(t, s, format, 0), "offline lexical") {
			t.Errorf("%s calls a real judge offline", format)
		}
	}
	if !strings.Contains(render(t, s, "text", 0), "Judge: openai gpt-4.1-mini, served by gpt-4.1-mini-2025-04-14.") {
		t.Error("the served model is not named")
	}
}

func TestUsageLines(t *testing.T) {
	base := func() *report.Summary {
		s := sample(t)
		s.Usage = report.Usage{Calls: 2, Tokens: report.Tokens{Prompt: 10, Completion: 3}, CostUSD: ptr(0.00012)}
		s.LastExecution = &report.Execution{Usage: s.Usage, RowsScored: 7, Exit: "done"}
		return s
	}
	for _, c := range []struct {
		name      string
		change    func(*report.Summary)
		has, lack string
	}{
		{"one execution", func(*report.Summary) {}, "2 judge calls, 0 cache hits; tokens: 10 prompt, 3 completion; cost $0.0001.", "This time"},
		{"nothing new", func(s *report.Summary) {
			s.LastExecution = &report.Execution{RowsReused: 7, Exit: "done"}
		}, "No judge call was made: all 7 rows were already scored.", "in the cache"},
		{"nothing new, not complete", func(s *report.Summary) {
			s.Complete = false
			s.LastExecution = &report.Execution{RowsReused: 7, Exit: "interrupted", ExitReason: "by SIGTERM"}
		}, "Stopped: interrupted (by SIGTERM).", "all 7 rows"},
		{"from the cache", func(s *report.Summary) {
			s.Usage = report.Usage{CacheHits: 28, CostUSD: ptr(0.0)}
			s.LastExecution = &report.Execution{Usage: s.Usage, RowsScored: 7}
		}, "No judge call was made: what 7 rows needed of the judge was in the cache (28 hits).", "already"},
		{"a part", func(s *report.Summary) {
			s.LastExecution = &report.Execution{Usage: report.Usage{Calls: 1, CostUSD: ptr(0.5)}, RowsScored: 1, RowsReused: 6}
		}, "This time: 1 judge call, 0 cache hits; tokens: 0 prompt, 0 completion; cost $0.5000; 1 row scored, 6 reused.", "No judge call"},
		{"unknown cost", func(s *report.Summary) { s.CostUSD, s.CostReason = nil, "no price for m"; s.LastExecution = nil }, "cost unknown (no price for m)", "$0"},
		{"unknown cost, no reason", func(s *report.Summary) { s.CostUSD = nil; s.LastExecution = nil }, "cost unknown.", "$0"},
		{"not judged", func(s *report.Summary) {
			s.Metrics = report.Metrics{{Metric: "mrr"}}
			s.Usage, s.LastExecution = report.Usage{CostUSD: ptr(0.0)}, &report.Execution{Usage: report.Usage{CostUSD: ptr(0.0)}, RowsScored: 7}
		}, "No judge call was made: no metric asks a judge.", "unknown"},
		{"tiny cost", func(s *report.Summary) { s.CostUSD = ptr(1.23e-6) }, "cost $1.2e-06", "$0.00;"},
	} {
		s := base()
		c.change(s)
		out := render(t, s, "text", 0)
		if !strings.Contains(out, c.has) || strings.Contains(out, c.lack) {
			t.Errorf("%s: want %q and not %q in\n%s", c.name, c.has, c.lack, out)
		}
	}
}

func TestFiguresAreNotRoundedIntoALie(t *testing.T) {
	vs := make([]float64, 4000)
	for i := range vs {
		vs[i] = 1
	}
	vs[0] = 0
	for _, c := range []struct {
		values []float64
		want   string
	}{{vs, " 0.9998 "}, {[]float64{0.0002, 0.0002}, " 0.0002 "}, {[]float64{1, 1}, " 1.000 "}, {[]float64{0, 0}, " 0.000 "}, {[]float64{1e300, 1e300}, " 1e+300 "}} {
		s := summarizer(t, report.Options{}, faithfulness)
		for i, v := range c.values {
			add(t, s, result(i+1, "", eval.Value(v).Of(faithfulness)))
		}
		out := render(t, s.Summary(), "text", 0)
		if !strings.Contains(out, c.want) {
			t.Errorf("no %q in\n%s", c.want, out)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	want := sample(t)
	text := render(t, want, "json", 0)
	got, err := report.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want.Judge.Note = report.OfflineNote
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("decoded again (-want +got):\n%s", d)
	}
	if again := render(t, got, "json", 0); again != text {
		t.Error("encoded again, the text differs")
	}
	for _, format := range report.Formats {
		if render(t, got, format, 0) != render(t, want, format, 0) {
			t.Errorf("%s differs after a round trip", format)
		}
	}
	if !strings.Contains(text, "<b>") {
		t.Error("< and > are escaped")
	}
	var order []string
	for _, m := range got.Metrics {
		order = append(order, m.Metric)
	}
	if d := cmp.Diff([]string{"faithfulness", "answer_relevance", "recall@5", "lexical_faithfulness"}, order); d != "" {
		t.Errorf("order of metrics (-want +got):\n%s", d)
	}
}

// The keys that SPEC 7 promises to scripts.
func TestJSONKeys(t *testing.T) {
	var s struct {
		Schema  int
		Metrics map[string]struct {
			Mean                                         *float64
			CI95                                         []float64
			Scored, Undefined, Skipped, Unscored, Failed *int
		}
		Calls, CacheHits *int
	}
	var raw map[string]json.RawMessage
	text := []byte(render(t, sample(t), "json", 0))
	if err := errors.Join(json.Unmarshal(text, &s), json.Unmarshal(text, &raw)); err != nil {
		t.Fatal(err)
	}
	f := s.Metrics["faithfulness"]
	if s.Schema != 1 || f.Mean == nil || len(f.CI95) != 2 || *f.Scored != 5 || *f.Undefined != 1 || *f.Skipped+*f.Unscored != 0 || *f.Failed != 1 {
		t.Errorf("%+v", s)
	}
	for _, key := range []string{"calls", "cache_hits", "tokens", "cost_usd", "last_execution", "rows", "rows_done", "complete", "judge", "gates", "dataset"} {
		if _, ok := raw[key]; !ok {
			t.Errorf("no key %q", key)
		}
	}
	empty := render(t, &report.Summary{}, "json", 0)
	for _, want := range []string{`"schema": 1`, `"cost_usd": null`, `"metrics": {}`, `"gates": []`, `"rows": null`} {
		if !strings.Contains(empty, want) {
			t.Errorf("an empty summary lacks %s:\n%s", want, empty)
		}
	}
	bad := &report.Summary{Usage: report.Usage{CostUSD: ptr(math.NaN())}}
	var b bytes.Buffer
	if err := report.JSON(&b, bad); err == nil || b.Len() > 0 {
		t.Errorf("a cost of NaN: %v, wrote %q", err, &b)
	}
}

func TestCSVReadsBack(t *testing.T) {
	lines, err := csv.NewReader(strings.NewReader(render(t, sample(t), "csv", 0))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1+4+5*4 || lines[1][0] != "all" || lines[1][2] != "faithfulness" || lines[5][0] != "category" {
		t.Errorf("%d lines: %v", len(lines), lines)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, report.FileName)
	if _, err := report.Load(dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]string{
		``:               "unexpected end",
		`{}`:             "no schema",
		`{"schema":2}`:   "schema 2 and this ragjudge reads schema 1",
		`{"schema":"1"}`: "decode",
		`[]`:             "decode",
		`{"schema":1}{}`: "invalid character",
		`{"schema":1,"metrics":{"a":{"mean":1,"ci95":[1]}}}`: "needs 2 bounds and has 1",
		`{"schema":1,"metrics":{"a":{},"a":{}}}`:             "metric a stands there twice",
		`{"schema":1,"metrics":[]}`:                          "must be an object",
		`{"schema":1,"metrics":{"a":{"mean":"high"}}}`:       "metric a",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := report.Load(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one with %q and the path", text, err, want)
		}
	}
	if err := os.WriteFile(path, []byte(render(t, sample(t), "json", 0)), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := report.Load(dir); err != nil || s.RowsDone != 7 {
		t.Errorf("%v, %v", s, err)
	}
}

func TestRenderErrors(t *testing.T) {
	if err := report.Render(&bytes.Buffer{}, sample(t), "html", 0); err == nil || !strings.Contains(err.Error(), "text, md, json, csv") {
		t.Errorf("unknown format: %v", err)
	}
	for _, format := range report.Formats {
		if err := report.Render(full{}, sample(t), format, 0); !errors.Is(err, errFull) {
			t.Errorf("%s: a full disk gives %v", format, err)
		}
	}
}

var errFull = errors.New("no space left on device")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// Whatever stands in a summary.json, it is refused or can be rendered.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(render(f, sample(f), "json", 0)))
	f.Add([]byte(`{"schema":1,"metrics":{"a":{"ci95":[1,2],"ci95_method":"x","rows":-5}},"categories":[{"metrics":null}],"worst":{"samples":[{"scores":[{}]}]}}`))
	f.Add([]byte(`{"schema":1,"judge":{"offline":true},"lacking":{"total":3,"samples":null},"gates":[{"outcome":""}],"last_execution":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := report.Decode(data)
		if err != nil {
			return
		}
		for _, format := range report.Formats {
			if err := report.Render(&bytes.Buffer{}, s, format, len(data)%120); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
		for i := range s.Metrics {
			rs, err := report.Evaluate(s, []report.Gate{{Metric: s.Metrics[i].Metric, Min: ptr(0.5)}})
			if err != nil || !s.Complete && rs[0].Outcome != report.PartialRun {
				t.Errorf("%v, %v", rs, err)
			}
		}
	})
}
