package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/ragjudge/ragjudge/eval"
)

// RowCost is a line of costs.jsonl: what a row has cost in one execution. A row
// that cost nothing and saved nothing has none; one that was made again has
// several.
type RowCost struct {
	Execution int `json:"execution"`
	Row       int `json:"row"`
	// ID and Category are those of the result; empty for a row that was begun and
	// abandoned.
	ID       string `json:"id,omitempty"`
	Category string `json:"category,omitempty"`
	Usage    Usage  `json:"usage"`
	// Parts add up to Usage.
	Parts []Part `json:"parts,omitempty"`
}

// settleCosts writes what the journal says of this execution to costs.jsonl, in
// place of what an attempt before a crash has written of it.
func (d *Dir) settleCosts() (err error) {
	path := filepath.Join(d.path, costsName)
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	out, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600), renameio.IgnoreUmask())
	if err != nil {
		return err
	}
	defer out.Cleanup() //nolint:errcheck // without effect once the file is in place
	w := bufio.NewWriterSize(out, 1<<16)
	put := func(c RowCost) error {
		b, err := eval.MarshalJSON(c)
		if err == nil {
			_, err = w.Write(append(b, '\n'))
		}
		return err
	}
	err = ReadCosts(d.path, func(c RowCost) error {
		if c.Execution == d.number {
			return nil
		}
		return put(c)
	})
	if err != nil {
		return err
	}
	j, err := os.Open(d.journal.path)
	if err != nil {
		return err
	}
	defer j.Close()
	var failed error
	_, err = replay(j, d.journal.path, func(e entry, _ int64, _ int) {
		if e.Row == 0 || e.SoFar || e.Usage == nil || *e.Usage == (Usage{}) || failed != nil {
			return
		}
		c := RowCost{Execution: d.number, Row: e.Row, Usage: *e.Usage, Parts: e.Parts}
		var head struct{ ID, Category string }
		if json.Unmarshal(e.Result, &head) == nil {
			c.ID, c.Category = head.ID, head.Category
		}
		failed = put(c)
	})
	if err := cmpErr(failed, err, w.Flush()); err != nil {
		return err
	}
	return out.CloseAtomicallyReplace()
}

// ReadCosts reads the costs.jsonl of the run in dir, in no order of rows. A run
// without one has no costs.
func ReadCosts(dir string, each func(RowCost) error) error {
	f, err := os.Open(filepath.Join(dir, costsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the costs: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the costs: %w", err)
		}
		var c RowCost
		if err := json.Unmarshal(line, &c); err != nil {
			return fmt.Errorf("read the costs %s: line %d is damaged; the file can be moved away, and nothing but costs is lost", f.Name(), n)
		}
		if err := each(c); err != nil {
			return err
		}
	}
}
