package dataset_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragjudge/ragjudge/dataset"
)

func TestCSVKeepsEveryByte(t *testing.T) {
	answers := []string{
		"a\r\nb", "a\nb", "a\rb", "\r\n", "\n", "x\r", "\"", "\"\"quoted\"\"", ",;|\t", " leading and trailing ", "nul \x00", "é東京",
	}
	for _, end := range []string{"\n", "\r\n"} {
		var b strings.Builder
		b.WriteString("question,answer,note" + end)
		for _, a := range answers {
			b.WriteString("q,\"" + strings.ReplaceAll(a, `"`, `""`) + "\",n" + end)
		}
		samples, bad := readAll(t, write(t, "a.csv", b.String()), dataset.Options{})
		if len(bad) > 0 {
			t.Fatal(bad[0])
		}
		var got []string
		for _, s := range samples {
			got = append(got, s.Response)
		}
		if diff := cmp.Diff(answers, got); diff != "" {
			t.Errorf("line end %q: %s", end, diff)
		}
	}
}

func TestCSVUnquotedText(t *testing.T) {
	samples, bad := readAll(t, write(t, "a.csv", "question,answer\n5\" pipe, \"no\" \nq,\n,\"\"\n"), dataset.Options{})
	if len(bad) > 0 {
		t.Fatal(bad[0])
	}
	if samples[0].UserInput != `5" pipe` || samples[0].Response != ` "no" ` || samples[1].Response != "" || samples[2].Response != "" {
		t.Errorf("%q %q", samples[0].UserInput, samples[0].Response)
	}
}

func TestCSVBadRows(t *testing.T) {
	for _, c := range []struct {
		row, reason string
		offset      int
	}{
		{"q", "has 1 field, but the header has 2", 0},
		{"q,a,b", "has 3 fields, but the header has 2", 0},
		{"\"q\"x,a", "text follows the closing quote", 4},
		{"q,\"a\"\"\" ", "text follows the closing quote", 8},
		{"q,\xff", "0xff is not UTF-8", 3},
	} {
		samples, bad := readAll(t, write(t, "a.csv", "id,answer\n1,\"a\nb\"\n\n"+c.row+"\n2,a\n"), dataset.Options{})
		if !slices.Equal(ids(samples), []string{"1", "2"}) || len(bad) != 1 {
			t.Errorf("%q: %v %v", c.row, ids(samples), bad)
			continue
		}
		if b := bad[0]; b.Line != 5 || b.Row != 2 || b.Offset != c.offset || !strings.Contains(b.Reason, c.reason) {
			t.Errorf("%q: %v", c.row, b)
		}
		if samples[1].Row != 3 {
			t.Errorf("%q: the row after it is %d", c.row, samples[1].Row)
		}
	}
}

func TestCSVDelimiterCanBeNamed(t *testing.T) {
	samples, bad := readAll(t, write(t, "a.csv", "id~question\n1~a,b\n"), dataset.Options{Delimiter: '~'})
	if len(bad) > 0 || samples[0].UserInput != "a,b" || samples[0].ID != "1" {
		t.Errorf("%v %v", samples, bad)
	}
	if _, err := dataset.Open(write(t, "a.csv", "id,question\n"), dataset.Options{Delimiter: '"'}); err == nil {
		t.Error("a quote is accepted as the delimiter")
	}
}

func TestCSVMoreCellsThanOnce(t *testing.T) {
	// Long cells make the reader's buffer move while earlier cells are held.
	long := strings.Repeat("y\n", 5000)
	s := one(t, "a.csv", "id,question,answer,reference\nfirst,second,\""+long+"\",\""+long+"z\"\n")
	if s.ID != "first" || s.UserInput != "second" || s.Response != long || s.Reference != long+"z" {
		t.Error("cells are mixed up")
	}
}

// FuzzCSV compares with encoding/csv where that is to be compared: valid
// input without carriage returns, which it folds.
func FuzzCSV(f *testing.F) {
	f.Add("id,question\n1,q\n")
	f.Add("id,question\n\"1\",\"a\"\"b\nc\"\n\n2,\n")
	f.Add("id;contexts;answer\n1;['a', \"b\"];\"x;y\"\r\n")
	f.Add("question,answer\nq,\"never closed\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, "a.csv", text)
		r, err := dataset.Open(path, dataset.Options{Format: dataset.CSV, Delimiter: ',', SkipBadLines: true})
		if err != nil {
			return
		}
		defer r.Close()
		var got []string
		for {
			s, err := r.Next()
			if err != nil {
				break
			}
			got = append(got, s.UserInput)
		}
		if _, bad := r.Bad(); bad > 0 || strings.ContainsRune(text, '\r') {
			return
		}
		in := csv.NewReader(bytes.NewReader([]byte(strings.TrimPrefix(text, "\ufeff"))))
		rows, err := in.ReadAll()
		if err != nil || len(rows) == 0 {
			return
		}
		column := slices.IndexFunc(rows[0], func(n string) bool { return strings.TrimSpace(n) == "question" })
		if column < 0 || len(got) != len(rows)-1 {
			if column >= 0 {
				t.Fatalf("%d rows, encoding/csv has %d", len(got), len(rows)-1)
			}
			return
		}
		for i, row := range rows[1:] {
			if row[column] != got[i] {
				t.Errorf("row %d: %q, encoding/csv has %q", i+1, got[i], row[column])
			}
		}
	})
}
