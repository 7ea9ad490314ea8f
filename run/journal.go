package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ragjudge/ragjudge/eval"
)

func indent(w *strings.Builder, b []byte) error {
	var buf bytes.Buffer
	if err := json.Indent(&buf, b, "", "  "); err != nil {
		return err
	}
	buf.WriteByte('\n')
	w.Write(buf.Bytes())
	return nil
}

// entry is a line of the journal. The first line is the header: it holds only
// the number of the execution that the journal belongs to.
type entry struct {
	Execution int             `json:"execution,omitempty"`
	Row       int             `json:"row,omitempty"`
	Usage     *Usage          `json:"usage,omitempty"`
	Parts     []Part          `json:"parts,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	// SoFar says that the row was still in hand: the usage is what it had cost by
	// then, and a later line of the row stands in its place.
	SoFar bool `json:"so_far,omitempty"`
}

// syncEvery bounds what a power cut can take: rows kept for longer are on disk.
const syncEvery = 2 * time.Second

// journal appends finished rows to a file. It has one user at a time.
type journal struct {
	path   string
	f      *os.File
	w      *bufio.Writer
	end    int64 // where the next line begins
	synced time.Time
	index  *index
}

// openJournal opens the journal for appending after its first end bytes, and
// starts it with a header if it is new.
func openJournal(path string, end int64, execution int, ix *index) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &journal{path: path, f: f, end: end, index: ix, synced: time.Now()}
	if err := j.start(execution); err != nil {
		f.Close()
		return nil, fmt.Errorf("open the journal %s: %w", path, err)
	}
	return j, nil
}

func (j *journal) start(execution int) error {
	if err := j.f.Truncate(j.end); err != nil {
		return err
	}
	if _, err := j.f.Seek(j.end, io.SeekStart); err != nil {
		return err
	}
	j.w = bufio.NewWriterSize(j.f, 1<<16)
	if j.end > 0 {
		return nil
	}
	if err := j.line(entry{Execution: execution}); err != nil {
		return err
	}
	return j.w.Flush()
}

func (j *journal) line(e entry) error {
	b, err := eval.MarshalJSON(e)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	n, err := j.w.Write(b)
	j.end += int64(n)
	return err
}

// append keeps one row. With flush the row outlives this process from then on;
// a row that is not flushed follows at once, since more rows are waiting.
func (j *journal) append(f finished, flush bool) error {
	if !j.index.has(f.row) {
		return fmt.Errorf("keep row %d: the dataset was said to end at row %d", f.row, len(j.index.rows)-1)
	}
	e := entry{Row: f.row, Usage: &f.usage, Parts: f.parts}
	if f.result != nil {
		b, err := eval.MarshalJSON(f.result)
		if err != nil {
			return fmt.Errorf("keep row %d: its result can't be encoded: %w", f.row, err)
		}
		e.Result = b
	}
	start := j.end
	if err := j.line(e); err != nil {
		return j.wrap(err)
	}
	if flush {
		if err := j.w.Flush(); err != nil {
			return j.wrap(err)
		}
		if time.Since(j.synced) > syncEvery {
			if err := j.sync(); err != nil {
				return err
			}
		}
	}
	if f.result != nil {
		j.index.set(f.row, place{file: inJournal, off: start, n: int32(j.end - start)})
	}
	return nil
}

func (j *journal) wrap(err error) error {
	return fmt.Errorf("keep rows in %s: %w; what is there stays, and the same command goes on from it", j.path, err)
}

// sync makes every row safe against a power cut.
func (j *journal) sync() error {
	if err := j.w.Flush(); err != nil {
		return j.wrap(err)
	}
	if err := j.f.Sync(); err != nil {
		return j.wrap(err)
	}
	j.synced = time.Now()
	return nil
}

func (j *journal) close() error {
	err := j.w.Flush()
	return errors.Join(err, j.f.Close())
}

// replay reads a journal and calls fn for each whole entry with its place. It
// returns the length of the part that is whole: a last line that was cut by a
// crash is not. A broken line before that is an error: something else than a
// crash has been at the file.
func replay(f io.Reader, name string, fn func(e entry, off int64, n int)) (end int64, err error) {
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil // what is left, if anything, is a torn line
		}
		if err != nil {
			return end, fmt.Errorf("read %s: %w", name, err)
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || (n == 1) != (e.Execution > 0) {
			if _, perr := r.Peek(1); errors.Is(perr, io.EOF) {
				return end, nil // torn by a power cut: the newline came, the rest did not
			}
			return end, fmt.Errorf("read %s: line %d is damaged; move the file away to score its rows again (the cache still has their replies)", name, n)
		}
		fn(e, end, len(line))
		end += int64(len(line))
	}
}
