package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragjudge/ragjudge/dataset"
	"github.com/ragjudge/ragjudge/eval"
)

// The texts of testdata/shapes, in which every tool says the same.
const (
	kettleQuestion  = "How long is the warranty of the kettle?"
	kettleAnswer    = "The kettle has a warranty of two years."
	kettleReference = "Two years."
	kettleWarranty  = "Every kettle comes with a warranty of two years."
	kettleVolume    = "The kettle holds 1.7 litres."
)

// TestShapes loads what other tools write, unchanged.
func TestShapes(t *testing.T) {
	both, ideal := []string{kettleWarranty, kettleVolume}, []string{kettleWarranty}
	for name, c := range map[string]struct {
		shape    dataset.Format
		want     eval.Sample
		metadata string // the names, in order
	}{
		"ragas-old.jsonl":          {dataset.Plain, eval.Sample{Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference}, ""},
		"ragas-ground-truth.jsonl": {dataset.Plain, eval.Sample{Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference}, ""},
		"ragas-new.jsonl": {dataset.Plain, eval.Sample{Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference, ReferenceContexts: ideal,
			RetrievedContextIDs: []string{"k1", "k2"}, ReferenceContextIDs: map[string]float64{"k1": 1}}, ""},
		"ragas-testset.jsonl": {dataset.RagasTestset, eval.Sample{Reference: kettleReference, ReferenceContexts: ideal}, "episode_done evolution_type metadata"},
		"deepeval-goldens.json": {dataset.DeepEval, eval.Sample{Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference, ReferenceContexts: ideal},
			"additional_metadata comments custom_column_key_values expected_tools name source_file tools_called"},
		"deepeval-goldens.csv": {dataset.DeepEval, eval.Sample{Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference, ReferenceContexts: ideal},
			"comments name source_file"},
		"deepeval-test-run.json": {dataset.DeepEval, eval.Sample{Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference, ReferenceContexts: ideal},
			"metricsData name order runDuration success"},
		"deepeval-dataset.json":  {dataset.DeepEval, eval.Sample{Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference, ReferenceContexts: ideal}, ""},
		"promptfoo-config.json":  {dataset.Promptfoo, eval.Sample{RetrievedContexts: both, Reference: kettleReference, Category: "kettle"}, "assert description"},
		"promptfoo-results.json": {dataset.Promptfoo, eval.Sample{ID: "6f1d0d3e-0001", Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference, Category: "kettle"}, promptfooRest},
		"langfuse-api.json":      {dataset.Langfuse, eval.Sample{ID: "trace-1", Response: kettleAnswer}, "metadata name projectId sessionId"},
		"squad-v1.json":          {dataset.SQuAD, eval.Sample{ID: "5700", Reference: "two years", ReferenceContexts: []string{kettleWarranty + " " + kettleVolume}}, "title"},
		"squad-v2.json":          {dataset.SQuAD, eval.Sample{ID: "5700", Reference: "two years", ReferenceContexts: []string{kettleWarranty + " " + kettleVolume}}, "title"},
		"wrapped.json":           {dataset.Plain, eval.Sample{Response: kettleAnswer, RetrievedContexts: both}, ""},
		"promptfoo-tests.json":   {dataset.Promptfoo, eval.Sample{RetrievedContexts: both, Reference: kettleReference, Category: "kettle"}, "assert description"},
		"promptfoo-tests.csv":    {dataset.Promptfoo, eval.Sample{RetrievedContexts: ideal, Reference: kettleReference}, "__description __expected"},
		"promptfoo-results.jsonl": {dataset.Promptfoo, eval.Sample{ID: "6f1d0d3e-0001", Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference, Category: "kettle"},
			promptfooRest},
		"trulens-records.jsonl": {dataset.TruLens, eval.Sample{ID: "record_hash_1", Response: kettleAnswer, RetrievedContexts: both},
			"Groundedness app_id app_name app_version latency record_json tags total_cost total_tokens ts"},
		"trulens-ground-truth.jsonl": {dataset.TruLens, eval.Sample{ID: "1", Reference: kettleReference, ReferenceContexts: ideal}, ""},
		"phoenix-spans.jsonl": {dataset.Phoenix, eval.Sample{ID: "s1", Response: kettleAnswer, RetrievedContexts: both, RetrievedContextIDs: []string{"k1", "k2"}},
			"context.trace_id name parent_id span_kind status_code"},
		"phoenix-nested.jsonl": {dataset.Phoenix, eval.Sample{ID: "s1", Response: kettleAnswer, RetrievedContexts: both, RetrievedContextIDs: []string{"k1", "k2"}},
			"attributes.input.mime_type context.trace_id name span_kind"},
		"phoenix-spans.csv": {dataset.Phoenix, eval.Sample{ID: "s1", Response: kettleAnswer, RetrievedContexts: both, RetrievedContextIDs: []string{"k1", "k2"}}, "name"},
		"phoenix-qa.csv":    {dataset.Phoenix, eval.Sample{ID: "s1", Response: kettleAnswer, RetrievedContexts: ideal}, ""},
		"langsmith-runs.jsonl": {dataset.LangSmith, eval.Sample{ID: "run-1", Response: kettleAnswer, RetrievedContexts: both, RetrievedContextIDs: []string{"k1", "k2"}},
			"error name parent_run_id reference_example_id run_type start_time tags trace_id"},
		"langsmith-experiment.jsonl": {dataset.LangSmith, eval.Sample{ID: "run-1", Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference}, ""},
		"langsmith-experiment.csv": {dataset.LangSmith, eval.Sample{ID: "run-1", Response: kettleAnswer, RetrievedContexts: both, Reference: kettleReference},
			"column 1 error example_id execution_time feedback.correctness"},
		"langsmith-examples.jsonl": {dataset.LangSmithExamples, eval.Sample{ID: "ex-1", Reference: kettleReference}, "created_at dataset_id dataset_split source_run_id"},
		"langsmith-chat.jsonl": {dataset.LangSmith, eval.Sample{ID: "run-1", Response: kettleAnswer, RetrievedContexts: both},
			"inputs.messages outputs.messages run_type"},
		"langfuse-traces.jsonl": {dataset.Langfuse, eval.Sample{ID: "trace-1", Response: kettleAnswer, RetrievedContexts: both},
			"htmlPath latency model name sessionId tags timestamp userId"},
		"langfuse-dataset.jsonl": {dataset.Langfuse, eval.Sample{ID: "item-1", Reference: kettleReference},
			"datasetId datasetName sourceObservationId sourceTraceId status topic"},
		"langfuse-export.csv": {dataset.Langfuse, eval.Sample{ID: "obs-1", Response: kettleAnswer, RetrievedContexts: both}, "metadata name traceId"},
	} {
		t.Run(name, func(t *testing.T) {
			checkShape(t, filepath.Join("testdata", "shapes", name), c.shape, c.want, c.metadata)
		})
	}
}

// promptfooRest stands for the many members of a result.
const promptfooRest = "assert"

func checkShape(t *testing.T, path string, shape dataset.Format, want eval.Sample, metadata string) {
	t.Helper()
	info, err := dataset.Scan(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if info.Shape != shape {
		t.Errorf("read as %q, want %q", info.Shape, shape)
	}
	samples, bad := readAll(t, path, dataset.Options{})
	if len(bad) > 0 || len(samples) == 0 {
		t.Fatalf("%d samples, bad %v", len(samples), bad)
	}
	if want.UserInput == "" {
		want.UserInput = kettleQuestion
	}
	got := *samples[0]
	ignore := []cmp.Option{cmpopts.IgnoreFields(eval.Sample{}, "Row", "Metadata")}
	if want.ID == "" {
		ignore = append(ignore, cmpopts.IgnoreFields(eval.Sample{}, "ID"))
	}
	if diff := cmp.Diff(want, got, ignore...); diff != "" {
		t.Error(diff)
	}
	if kept := strings.Join(metaNames(&got), " "); metadata != promptfooRest && kept != metadata {
		t.Errorf("metadata %q, want %q", kept, metadata)
	}
}

func metaNames(s *eval.Sample) []string {
	var names []string
	for name := range s.Metadata {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestSQuADTellsImpossibleQuestions: they have no reference, and say why.
func TestSQuADTellsImpossibleQuestions(t *testing.T) {
	samples, bad := readAll(t, filepath.Join("testdata", "shapes", "squad-v2.json"), dataset.Options{})
	if len(bad) > 0 || len(samples) != 2 {
		t.Fatalf("%d samples, %v", len(samples), bad)
	}
	if s := samples[1]; s.Reference != "" || string(s.Metadata["is_impossible"]) != "true" || s.Row != 2 {
		t.Errorf("%+v", s)
	}
	_, bad = readAll(t, write(t, "a.json", `{"data":[{"title":"t","paragraphs":[{"qas":[{"id":"1","question":"q","answers":[]}]}]}]}`), dataset.Options{})
	if len(bad) != 1 || !strings.Contains(bad[0].Reason, "lacks its context") {
		t.Errorf("%v", bad)
	}
}

// TestDocuments: records inside one object are found, read one at a time, and
// what stands beside them is told.
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		text string
		rows int
		says string
	}{
		{`{"rows":[{"row_idx":0,"row":{"question":"q","answer":"a"},"truncated_cells":[]}],"num_rows_total":1}`, 1, ""},
		{`{"meta":{"n":2},"result":{"items":[{"question":"q"},{"question":"r"}]}}`, 2, ""},
		{"{\n \"samples\": [\n  {\"question\": \"q\"},\n  {\"question\": 1,}\n ]}", 0, ":4:18: row 2: invalid JSON"},
		{`{"a":[{"question":"q"}],"b":[{"question":"q"}]}`, 0, `those under "a" or those under "b"`},
		{`{"goldens":[{"input":"q","expected_output":"a"}],"test_cases":[{"input":"q","actual_output":"a"}]}`, 0, `"test_cases" or those under "goldens"`},
		{`{"samples":[{"question":"q"}`, 0, "the record ends"},
		{`{"samples":[{"question":"q"}]} x`, 0, "invalid JSON"},
		{`{"question":"q","retrieved_docs":[{"text":"c","id":"1"}]}`, 1, ""},
		{`{"question":"q"}{"question":"r"}`, 2, ""},
		{`{"samples":[]}`, 0, "no column is known"},
		{`{"question":["q","r"],"answer":["a","b"]}`, 0, "one object per row"},
	} {
		info, err := dataset.Scan(write(t, "a.json", c.text), dataset.Options{})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error()+hintOf(err), c.says) {
			t.Errorf("%s: %v, want %q", c.text, err, c.says)
		}
		if err == nil && info.Rows != c.rows {
			t.Errorf("%s: %d rows", c.text, info.Rows)
		}
	}
	info, err := dataset.Scan(filepath.Join("testdata", "shapes", "promptfoo-results.json"), dataset.Options{})
	if err != nil || !slices.ContainsFunc(info.Warnings, func(w dataset.Warning) bool { return w.Kind == "beside_records" }) {
		t.Errorf("what stands beside the records is not told: %+v, %v", info.Warnings, err)
	}
}

func TestBEIR(t *testing.T) {
	dir := filepath.Join("testdata", "beir")
	for _, path := range []string{dir, filepath.Join(dir, "qrels", "test.tsv")} {
		info, err := dataset.Scan(path, dataset.Options{})
		if err != nil || info.Shape != dataset.BEIR || info.Rows != 2 {
			t.Fatalf("%s: %+v, %v", path, info, err)
		}
	}
	samples, _ := readAll(t, dir, dataset.Options{})
	want := &eval.Sample{
		ID: "q1", Row: 1, UserInput: kettleQuestion, ReferenceContextIDs: map[string]float64{"k1": 2, "k2": 0},
		ReferenceContexts:   []string{"Warranty\n" + kettleWarranty},
		RetrievedContextIDs: []string{"k2", "k1"}, // a tie, by descending id
		RetrievedContexts:   []string{kettleVolume, "Warranty\n" + kettleWarranty},
	}
	if diff := cmp.Diff(want, samples[0], cmpopts.IgnoreFields(eval.Sample{}, "Metadata")); diff != "" {
		t.Error(diff)
	}
	files := map[string]string{
		"corpus.jsonl": `{"_id":"d","text":"t"}`, "queries.jsonl": `{"_id":"q","text":"why"}`, "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\td\t1\n",
	}
	for _, c := range []struct{ file, text, says string }{
		{"qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\tmany\n", "test.tsv:2: the score"},
		{"qrels/test.tsv", "q\td\t1\nq\td\t2\n", "judged twice"},
		{"qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "no judgements"},
		{"qrels/test.tsv", "q\td\n", "has 2 columns"},
		{"queries.jsonl", `{"_id":"other","text":"why"}`, `judges the query "q"`},
		{"queries.jsonl", `{"_id":"q","text":"why",}`, "queries.jsonl:1: invalid JSON"},
		{"corpus.jsonl", "{\"_id\":\"d\",\"text\":\"t\"}\n{\"_id\":\"d\",\"text\":\"u\"}", "stands twice"},
		{"run.trec", "q Q0 d 1 x demo\n", "run.trec:1: the score"},
		{"run.trec", "q Q0 d 1 1 demo\nq Q0 d 2 0 demo\n", "stands twice"},
		{"run.trec", "q d 1\n", "has 3 columns"},
	} {
		bad := t.TempDir()
		if err := os.Mkdir(filepath.Join(bad, "qrels"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if name == c.file {
				continue
			}
			if err := os.WriteFile(filepath.Join(bad, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(bad, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.Open(bad, dataset.Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %q: %v, want %s", c.file, c.text, err, c.says)
		}
	}
}

// TestAmbiguousShapes: where two readings are possible, both are named and
// nothing is read.
func TestAmbiguousShapes(t *testing.T) {
	for _, c := range []struct{ text, says, hint string }{
		{`{"inputs":{"question":"q"},"outputs":{"answer":"a"}}`, "run of LangSmith", `"langsmith" or "langsmith-examples"`},
		{`{"record_id":"1","app_id":"a","traceId":"t","input":"q","output":"a","vars":{"query":"q"}}`, "TruLens records or of promptfoo", "dataset.format"},
		{`{"scenario":"s","turns":[{"role":"user","content":"q"}]}`, "conversation", "each turn"},
		{`{"_id":"1","title":"t","text":"x"}`, "corpus of a BEIR dataset", "folder"},
		{"input,reference,document_score,document_position\nq,c,0.5,0\n", "one row for each retrieved document", "get_qa_with_reference"},
		{`{"id":"1","run_type":"chain","inputs":{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]},"outputs":{"answer":"x"}}`, "conversation with 2 questions", "each turn"},
	} {
		path := write(t, "a", c.text)
		_, err := dataset.Scan(path, dataset.Options{})
		var le *dataset.LineError
		if !errors.As(err, &le) || !strings.Contains(err.Error(), firstOf(c.says)) || !strings.Contains(le.Hint, c.hint) {
			t.Errorf("%s: %v (hint %q), want %s and %s", c.text, err, hintOf(err), c.says, c.hint)
		}
	}
	path := write(t, "a.jsonl", `{"inputs":{"question":"q"},"outputs":{"answer":"a"}}`)
	for format, want := range map[dataset.Format]eval.Sample{
		dataset.LangSmith: {UserInput: "q", Response: "a"}, dataset.LangSmithExamples: {UserInput: "q", Reference: "a"},
	} {
		samples, bad := readAll(t, path, dataset.Options{Format: format})
		if len(bad) > 0 || samples[0].UserInput != "q" || samples[0].Response != want.Response || samples[0].Reference != want.Reference {
			t.Errorf("forced %s: %+v, %v", format, samples, bad)
		}
	}
}

func hintOf(err error) string {
	var le *dataset.LineError
	if errors.As(err, &le) {
		return le.Hint
	}
	return ""
}

// firstOf lets the order of two readings be either.
func firstOf(s string) string {
	a, _, _ := strings.Cut(s, " or of ")
	return a
}

// TestLangfuseWithoutItsMarks: objects tell what they are by their members.
func TestLangfuseWithoutItsMarks(t *testing.T) {
	s := one(t, "a.jsonl", `{"input":{"question":"q"},"output":{"answer":"a","contexts":["c"]},"expected_output":{"answer":"r"}}`)
	if s.UserInput != "q" || s.Response != "a" || s.Reference != "r" || len(s.RetrievedContexts) != 1 {
		t.Errorf("%+v", s)
	}
}

// TestPlainReadsByNamesAlone: the shape can be switched off.
func TestPlainReadsByNamesAlone(t *testing.T) {
	path := write(t, "a.jsonl", `{"input":"q","context":["c"],"tools_called":[],"actual_output":"a"}`)
	samples, _ := readAll(t, path, dataset.Options{})
	if s := samples[0]; s.RetrievedContexts != nil || len(s.ReferenceContexts) != 1 {
		t.Errorf("not DeepEval: %+v", s)
	}
	samples, _ = readAll(t, path, dataset.Options{Format: dataset.Plain})
	if s := samples[0]; len(s.RetrievedContexts) != 1 || s.ReferenceContexts != nil {
		t.Errorf("not plain: %+v", s)
	}
}

func TestPathsIntoObjects(t *testing.T) {
	text := `{"row":{"frage":"q","id":"x","n":{"a":["c1"]}},"out":"{\"text\":\"a\",\"cost\":1}","metadata":{"gold":"g","k":2},"a.b":"flat"}`
	opt := dataset.Options{Columns: map[string]string{
		"user_input": "row.frage", "retrieved_contexts": "row.n.a", "response": "out.text", "reference": "metadata.gold", "category": "a.b",
	}}
	for _, name := range []string{"a.jsonl", "a.csv"} {
		if name == "a.csv" {
			text = "row,out,metadata,a.b\n\"{\"\"frage\"\":\"\"q\"\",\"\"id\"\":\"\"x\"\",\"\"n\"\":{\"\"a\"\":[\"\"c1\"\"]}}\",\"{'text': 'a', 'cost': 1}\",\"{\"\"gold\"\":\"\"g\"\",\"\"k\"\":2}\",flat\n"
		}
		path := write(t, name, text)
		samples, bad := readAll(t, path, opt)
		if len(bad) > 0 {
			t.Fatalf("%s: %v", name, bad)
		}
		s := samples[0]
		if s.UserInput != "q" || s.Response != "a" || s.Reference != "g" || s.Category != "flat" || len(s.RetrievedContexts) != 1 {
			t.Errorf("%s: %+v", name, s)
		}
		if got := strings.Join(metaNames(s), " "); got != "metadata.k out.cost row.id" {
			t.Errorf("%s: metadata %s", name, got)
		}
		opt2 := dataset.Options{Columns: map[string]string{"user_input": "row.frage", "response": "out.txt"}}
		if _, err := dataset.Scan(path, opt2); err == nil || !strings.Contains(err.Error(), `"out.txt"`) {
			t.Errorf("%s: a path that leads nowhere: %v", name, err)
		}
	}
}

func TestContextObjects(t *testing.T) {
	for _, c := range []struct {
		json, text, id string
	}{
		{`[{"chunk":"c","chunk_id":"1"}]`, "c", "1"},
		{`[{"document":"c","doc_id":7}]`, "c", "7"},
		{`[{"text":"c","document":"file.pdf"}]`, "c", ""},
		{`[{"document":{"page_content":"c","metadata":{}},"score":0.5,"id":"x"}]`, "c", "x"},
		{`[{"lc":1,"type":"constructor","id":["langchain","schema","Document"],"kwargs":{"page_content":"c","metadata":{"source":"s"}}}]`, "c", ""},
		{`[{"node":{"id_":"n","text":"c"},"score":1}]`, "c", "n"},
		{`"[Document(id='9', metadata={'source': 'a'}, page_content='c')]"`, "c", "9"},
		{`"Document(page_content='c', metadata={})"`, "c", ""},
		{`[{"text":"c","doc_id":"d","chunk_id":"k"}]`, "c", ""},
	} {
		s := one(t, "a.jsonl", `{"question":"q","contexts":`+c.json+`}`)
		if len(s.RetrievedContexts) != 1 || s.RetrievedContexts[0] != c.text || strings.Join(s.RetrievedContextIDs, " ") != c.id {
			t.Errorf("%s: %q %q", c.json, s.RetrievedContexts, s.RetrievedContextIDs)
		}
	}
	for _, c := range []struct{ json, says string }{
		{`"['a' 'b']"`, "data is missing"}, {`"['a'\n 'b']"`, "data is missing"}, {`"array(['a'], dtype=object)"`, "data is missing"},
		{`"['a', 'b', ...]"`, "was cut"}, {`"['a' ... 'b']"`, "was cut"}, {`"[1 2]"`, "data is missing"}, {`"[Document(page_content='a"`, "not closed"},
		{`[null]`, "context 1 is null"}, {`"[nan, 'a']"`, "context 1 is null"}, {`[{"title":"x"}]`, "object without text"}, {`[{"chunk":"a","body":"b"}]`, "has both"},
	} {
		_, bad := readAll(t, write(t, "a.jsonl", `{"question":"q","contexts":`+c.json+`}`), dataset.Options{})
		if len(bad) != 1 || !strings.Contains(bad[0].Reason, c.says) {
			t.Errorf("%s: %v, want %s", c.json, bad, c.says)
		}
	}
}

func TestOddValuesAreTold(t *testing.T) {
	for kind, text := range map[string]string{
		"printed_null":    "question,answer\nq,nan\n",
		"float_id":        "id,question\n1.0,q\n",
		"several_ids":     `{"question":"q","contexts":[{"text":"c","doc_id":"d","chunk_id":"k"}]}`,
		"joined_contexts": "input,actual_output,retrieval_context,context\nq,a,c1|c2,c1\n",
	} {
		info, err := dataset.Scan(write(t, "a", text), dataset.Options{})
		if err != nil || len(info.Warnings) != 1 || info.Warnings[0].Kind != kind || info.Warnings[0].Count != 1 {
			t.Errorf("%s: %+v, %v", kind, info.Warnings, err)
		}
	}
}

// FuzzShapes: whatever a record looks like, reading it does not panic, and two
// passes give the same.
func FuzzShapes(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "shapes", "*"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "a")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range []dataset.Format{"", dataset.LangSmith, dataset.Langfuse, dataset.TruLens, dataset.Promptfoo} {
			r, err := dataset.Open(path, dataset.Options{SkipBadLines: true, Format: format, MaxRecord: 1 << 16})
			if err != nil {
				continue
			}
			info, err := r.Scan()
			if err == nil {
				if got := len(rest(t, r)); got != info.Rows {
					t.Errorf("%d rows in the scan, %d after it", info.Rows, got)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
