package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/ragjudge/ragjudge/eval"
)

// The files of a run directory.
const (
	manifestName = "manifest.json"
	resultsName  = "results.jsonl"
	journalName  = "journal.jsonl"
	lockName     = ".lock"
	costsName    = "costs.jsonl"
	// SummaryName is the file that the caller writes the aggregate to.
	SummaryName = "summary.json"
)

// Dir is a run directory in the hands of this process.
type Dir struct {
	// Manifest is written back by Finish.
	Manifest *Manifest
	// Expected is noted with this execution; may be nil.
	Expected *Expected

	path    string
	lock    *flock.Flock
	index   *index
	results *os.File // nil until there is a results.jsonl
	journal *journal
	number  int   // of this execution
	carried Usage // what a killed process had spent on rows in the journal
	started time.Time
}

// Open creates the run directory at path, or takes up the run that it holds.
// A run of another identity gives a *DiffersError; a run that another process
// is at work on, or files that are damaged, give an error that says what to do.
// fresh describes the run: its identity, dataset and configuration.
func Open(path string, fresh Manifest) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("create the run directory: %w", err)
	}
	d := &Dir{path: path, lock: flock.New(filepath.Join(path, lockName), flock.SetPermissions(0o600)), started: time.Now().UTC()}
	ok, err := d.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the run directory %s: %w", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("the run in %s is being worked on by another process; wait for it, or choose another directory with --out", path)
	}
	if err := d.load(fresh); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Dir) load(fresh Manifest) error {
	m, err := ReadManifest(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Results without the manifest that explains them are somebody else's.
		for _, name := range []string{resultsName, journalName} {
			if _, err := os.Stat(filepath.Join(d.path, name)); err == nil {
				return fmt.Errorf("%s has a %s but no %s, so it can't be told what was run; choose another directory with --out", d.path, name, manifestName)
			}
		}
		fresh.Schema, fresh.Started, fresh.Executions = ManifestSchema, d.started, []Execution{}
		d.Manifest = &fresh
	case err != nil:
		return err
	default:
		if diffs := diff(m.Identity, fresh.Identity); diffs != nil {
			return &DiffersError{Dir: d.path, Diffs: diffs}
		}
		m.Config, m.PriceDate, m.Dataset = fresh.Config, fresh.PriceDate, fresh.Dataset
		d.Manifest = m
	}
	if d.Manifest.Served == nil {
		d.Manifest.Served = []string{}
	}
	d.number = 1
	if n := len(d.Manifest.Executions); n > 0 {
		d.number = d.Manifest.Executions[n-1].Number + 1
	}
	if err := d.writeManifest(); err != nil {
		return err
	}
	d.index = newIndex(max(d.Manifest.Dataset.Rows, d.Manifest.Dataset.LastRow))
	if err := d.openResults(); err != nil {
		return err
	}
	return d.openJournal()
}

// openResults indexes results.jsonl. The file is only ever written whole, so
// that anything odd in it is an error.
func (d *Dir) openResults() error {
	path := filepath.Join(d.path, resultsName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the results: %w", err)
	}
	d.results = f
	r := bufio.NewReaderSize(f, 1<<20)
	var off int64
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: line %d: %w", path, n, err)
		}
		var head struct {
			Row int `json:"row"`
		}
		if err := json.Unmarshal(line, &head); err != nil || !d.index.has(head.Row) {
			return fmt.Errorf("read %s: line %d is no result of this run; move the file away to make it anew from the cache", path, n)
		}
		d.index.set(head.Row, place{file: inResults, off: off, n: int32(len(line))})
		off += int64(len(line))
	}
}

func (d *Dir) openJournal() error {
	path := filepath.Join(d.path, journalName)
	var end int64
	open := map[int]entry{} // rows that a killed process had in hand
	f, err := os.Open(path)
	if err == nil && d.settled(f) {
		f.Close()
		d.journal, err = openJournal(path, 0, d.number, d.index)
		return err
	}
	if err == nil {
		end, err = replay(f, path, func(e entry, off int64, n int) {
			if e.SoFar {
				open[e.Row] = e
				return
			}
			delete(open, e.Row)
			if e.Usage != nil {
				d.carried = d.carried.Add(*e.Usage)
			}
			if e.Result != nil && d.index.has(e.Row) {
				d.index.set(e.Row, place{file: inJournal, off: off, n: int32(n)})
			}
		})
		f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if d.journal, err = openJournal(path, end, d.number, d.index); err != nil {
		return err
	}
	return d.abandon(open)
}

// abandon books what rows have cost that a killed process had in hand: they will
// be begun again, and their costs counted anew.
func (d *Dir) abandon(open map[int]entry) error {
	for _, row := range slices.Sorted(maps.Keys(open)) {
		e := open[row]
		e.SoFar = false
		if err := d.journal.line(e); err != nil {
			return d.journal.wrap(err)
		}
		if e.Usage != nil {
			d.carried = d.carried.Add(*e.Usage)
		}
	}
	return d.journal.sync()
}

// settled reports a journal of an execution that the manifest counts already:
// its rows are in the results, and the crash came before it was removed. It
// leaves the file at its start.
func (d *Dir) settled(f *os.File) bool {
	var head entry
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &head)
	}
	if _, serr := f.Seek(0, io.SeekStart); serr != nil || err != nil {
		return false
	}
	return head.Execution > 0 && head.Execution < d.number
}

// Done returns how many rows have a result.
func (d *Dir) Done() int { return d.index.done }

// Has reports whether a row has a result.
func (d *Dir) Has(row int) bool {
	_, ok := d.index.get(row)
	return ok
}

// Carried is the cost of rows that a killed process had left in the journal.
func (d *Dir) Carried() Usage { return d.carried }

// Path returns the directory.
func (d *Dir) Path() string { return d.path }

// result returns what the run has for a row, nil if nothing.
func (d *Dir) result(row int) (*eval.Result, error) {
	p, ok := d.index.get(row)
	if !ok {
		return nil, nil
	}
	_, r, err := d.read(row, p)
	return r, err
}

// read gives the bytes and the content of a result.
func (d *Dir) read(row int, p place) ([]byte, *eval.Result, error) {
	f, name := d.results, resultsName
	if p.file == inJournal {
		f, name = d.journal.f, journalName
	}
	b := make([]byte, p.n)
	if _, err := f.ReadAt(b, p.off); err != nil {
		return nil, nil, fmt.Errorf("read row %d from %s: %w", row, filepath.Join(d.path, name), err)
	}
	if p.file == inJournal {
		var e entry
		if err := json.Unmarshal(b, &e); err != nil {
			return nil, nil, fmt.Errorf("read row %d from %s: %w", row, filepath.Join(d.path, name), err)
		}
		b = append(e.Result, '\n')
	}
	var r eval.Result
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, nil, fmt.Errorf("read row %d from %s: %w", row, filepath.Join(d.path, name), err)
	}
	if r.Row != row {
		return nil, nil, fmt.Errorf("read row %d from %s: row %d stands there; has something else written to the file?", row, filepath.Join(d.path, name), r.Row)
	}
	return b, &r, nil
}

// Settle writes results.jsonl with every finished row in input order and calls
// each with every result. Rows that are not done are not in it.
func (d *Dir) Settle(each func(*eval.Result) error) (err error) {
	if err := d.journal.sync(); err != nil {
		return err
	}
	path := filepath.Join(d.path, resultsName)
	out, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600), renameio.IgnoreUmask())
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	defer out.Cleanup() //nolint:errcheck // without effect once the file is in place
	w := bufio.NewWriterSize(out, 1<<20)
	for row := 1; row < len(d.index.rows); row++ {
		p, ok := d.index.get(row)
		if !ok {
			continue
		}
		b, r, err := d.read(row, p)
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("write %s: %w; the journal keeps every row, and the same command goes on from it", path, err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write %s: %w; the journal keeps every row, and the same command goes on from it", path, err)
	}
	if err := out.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w; the journal keeps every row, and the same command goes on from it", path, err)
	}
	return d.settleCosts()
}

// Finish records the execution in the manifest and drops the journal, whose
// rows Settle has put in place. It is the last step of an execution.
func (d *Dir) Finish(outcome string, st Stats) error {
	d.Manifest.Executions = append(d.Manifest.Executions, Execution{
		Number: d.number, Started: d.started, Finished: time.Now().UTC(), Outcome: outcome,
		Scored: st.Scored, Reused: st.Reused, Expected: d.Expected, Usage: st.Usage.Add(d.carried),
	})
	if err := d.writeManifest(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(d.path, journalName)); err != nil {
		return fmt.Errorf("remove the journal: %w", err)
	}
	return nil
}

// Close lets go of the directory. The run can be taken up from its journal,
// whether or not Settle and Finish were called.
func (d *Dir) Close() error {
	var errs []error
	if d.journal != nil {
		errs = append(errs, d.journal.close())
	}
	if d.results != nil {
		errs = append(errs, d.results.Close())
	}
	return errors.Join(append(errs, d.lock.Close())...)
}

// place is where a result stands.
type place struct {
	off  int64
	n    int32
	file int8
}

// The files that a place can be in; the zero place is nowhere.
const (
	inResults int8 = iota + 1
	inJournal
)

// index says where each row's result is. It is filled before workers start;
// after that only the journal's writer sets a row, once, and only the worker
// that has the row in hand asks for it before that: no lock is needed.
type index struct {
	rows []place // by row; 0 unused
	done int
}

func newIndex(rows int) *index { return &index{rows: make([]place, rows+1)} }

func (ix *index) has(row int) bool { return row >= 1 && row < len(ix.rows) }

func (ix *index) get(row int) (place, bool) {
	if !ix.has(row) || ix.rows[row].file == 0 {
		return place{}, false
	}
	return ix.rows[row], true
}

func (ix *index) set(row int, p place) {
	if !ix.has(row) {
		return
	}
	if ix.rows[row].file == 0 {
		ix.done++
	}
	ix.rows[row] = p
}
