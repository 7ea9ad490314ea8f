package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ragjudge/ragjudge/eval"
)

// JSON writes the summary as summary.json holds it: indented, keys in a fixed
// order, metrics in the configured one, every float in its shortest exact form,
// <, > and & unescaped. It sets the schema, and writes an empty list instead of
// null. A cost that isn't a finite number is an error, and nothing is written.
func JSON(w io.Writer, s *Summary) error {
	out := *s
	out.Schema = Schema
	out.Categories = notNil(out.Categories)
	out.Worst.By = notNil(out.Worst.By)
	out.Worst.Samples = notNil(out.Worst.Samples)
	out.Lacking.Samples = notNil(out.Lacking.Samples)
	out.Gates = notNil(out.Gates)
	raw, err := eval.MarshalJSON(&out)
	if err != nil {
		return fmt.Errorf("encode the summary: %w", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("indent the summary: %w", err)
	}
	b.WriteByte('\n')
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// judgeNote returns the note to show for a judge.
func judgeNote(j *Judge) string {
	if j.Note == "" && j.Offline {
		return OfflineNote
	}
	return j.Note
}

// Load reads the summary of a run directory.
func Load(dir string) (*Summary, error) {
	path := filepath.Join(dir, FileName)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the summary of a run: %w (is %s a run directory, and has its run ended?)", err, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read the summary of a run: %w", err)
	}
	s, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

// Decode decodes what [JSON] wrote. Another schema is an error; an unknown key
// is not, so that a later version can add one.
func Decode(data []byte) (*Summary, error) {
	var head struct {
		Schema *int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("decode the summary: %w", err)
	}
	switch {
	case head.Schema == nil:
		return nil, errors.New("decode the summary: it has no schema, so it is no summary of ragjudge")
	case *head.Schema != Schema:
		return nil, fmt.Errorf("decode the summary: it has schema %d and this ragjudge reads schema %d: use the version that wrote it, or run again", *head.Schema, Schema)
	}
	var s Summary
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("decode the summary: %w", err)
	}
	return &s, nil
}

// MarshalJSON adds [OfflineNote] to an offline judge without a note, so that
// whoever encodes a summary, the mark is there.
func (j Judge) MarshalJSON() ([]byte, error) {
	type plain Judge
	p := plain(j)
	p.Note = judgeNote(&j)
	return eval.MarshalJSON(p)
}

// MarshalJSON writes [lo, hi].
func (iv Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]float64{iv.Lo, iv.Hi})
}

// UnmarshalJSON reads [lo, hi]; any other number of bounds is an error.
func (iv *Interval) UnmarshalJSON(data []byte) error {
	var b []float64
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	if len(b) != 2 {
		return fmt.Errorf("an interval needs 2 bounds and has %d", len(b))
	}
	iv.Lo, iv.Hi = b[0], b[1]
	return nil
}

// MarshalJSON writes an object keyed by metric name, in the order of the list.
func (m Metrics) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := eval.MarshalJSON(m[i].Metric)
		if err != nil {
			return nil, err
		}
		value, err := eval.MarshalJSON(&m[i])
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", m[i].Metric, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object keyed by metric name and keeps its order. A
// metric that stands there twice is an error.
func (m *Metrics) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return fmt.Errorf("metrics must be an object keyed by metric name, not %v", open)
	}
	list := Metrics{}
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var one Metric
		if err := dec.Decode(&one); err != nil {
			return fmt.Errorf("metric %v: %w", key, err)
		}
		one.Metric = key.(string) // the decoder gives nothing else as a key
		if seen[one.Metric] {
			return fmt.Errorf("metric %s stands there twice", one.Metric)
		}
		seen[one.Metric] = true
		list = append(list, one)
	}
	*m = list
	return nil
}
