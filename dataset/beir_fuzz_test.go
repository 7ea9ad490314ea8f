package dataset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ragjudge/ragjudge/dataset"
)

// FuzzBEIR: whatever the files of a BEIR folder hold, reading it does not
// panic, and two passes give the same.
func FuzzBEIR(f *testing.F) {
	const corpus = `{"_id":"d1","title":"Kettle","text":"It holds 1.7 l."}` + "\n" + `{"_id":"d2","text":"Two years."}` + "\n"
	const queries = `{"_id":"q1","text":"How much?","metadata":{"a":1}}` + "\n" + `{"_id":"q2","text":"How long?"}` + "\n"
	const qrels = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n"
	const run = "q1 Q0 d1 1 2.5 r\nq2 Q0 d1 1 2.5 r\nq2 Q0 d2 2 2.5 r\n"
	f.Add([]byte(corpus), []byte(queries), []byte(qrels), []byte(run))
	f.Add([]byte(corpus), []byte(queries), []byte("q1 0 d1 1\n"), []byte(""))
	f.Add([]byte("\ufeff{\"_id\":\"d1\",\"text\":null}"), []byte(queries), []byte("\ufeff"+qrels), []byte("q1 Q0 d1 1 nan r"))
	f.Add([]byte("{"), []byte("[]\n"), []byte("q1\td1\t-1\nq1\td1\t1e9\n"), []byte("q1\td1\n"))
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "qrels"), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, corpus, queries, qrels, run []byte) {
		for name, b := range map[string][]byte{"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels/test.tsv": qrels, "run.trec": run} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := dataset.Open(dir, dataset.Options{SkipBadLines: true, MaxRecord: 1 << 16})
		if err != nil {
			return
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
	})
}
