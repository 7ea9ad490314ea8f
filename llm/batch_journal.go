package llm

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// A batchJournal says which requests are in which batch at the provider. Each
// line is on the disk before what it tells of is done. A line that a crash has
// cut short tells of something that was not done yet.
type batchJournal struct {
	path string

	mu      sync.Mutex
	file    *os.File
	entries map[string]*batchEntry // by token, what is to be kept
	order   []string
}

// batchEntry is a line of the journal: a batch that is about to be made (no
// Batch), was made, or is over.
type batchEntry struct {
	Schema int    `json:"schema"`
	Token  string `json:"token"`
	Batch  string `json:"batch,omitempty"`
	// Keys are the requests of the batch, in the order of its lines, in
	// hexadecimal. They stand in the first line of a token only.
	Keys []string `json:"keys,omitempty"`
	Over bool     `json:"over,omitempty"`
}

const batchJournalSchema = 1

// newToken makes the name by which a batch is found again whose making was not
// answered.
func newToken() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // it never fails
	return "ragjudge-" + hex.EncodeToString(b)
}

// openBatchJournal opens a journal, and returns the batches of which it does
// not say that they are over.
func openBatchJournal(path string) (*batchJournal, []*shipment, error) {
	j := &batchJournal{path: path, entries: map[string]*batchEntry{}}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the journal of batches: %w", err)
	}
	if err := j.read(data); err != nil {
		return nil, nil, err
	}
	if err := j.rewrite(); err != nil { // without what is over, and without a torn end
		return nil, nil, err
	}
	var old []*shipment
	for _, token := range j.order {
		e := j.entries[token]
		s := &shipment{token: token, id: e.Batch, old: true}
		for _, text := range e.Keys {
			k, err := parseKey(text)
			if err != nil {
				return nil, nil, fmt.Errorf("read the journal of batches %s: %w", path, err)
			}
			s.keys = append(s.keys, k)
		}
		old = append(old, s)
	}
	return j, old, nil
}

// BatchNote is a batch in a journal.
type BatchNote struct {
	// ID is the provider's name of it; empty while it is not known whether it
	// was made.
	ID string
	// Requests is how many requests it has.
	Requests int
}

// BatchNotes reads the journal of a run without touching it: the batches that
// it still has to do with. A journal that is not there has none.
func BatchNotes(path string) ([]BatchNote, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of batches: %w", err)
	}
	j := &batchJournal{path: path, entries: map[string]*batchEntry{}}
	if err := j.read(data); err != nil {
		return nil, err
	}
	var notes []BatchNote
	for _, token := range j.order {
		notes = append(notes, BatchNote{ID: j.entries[token].Batch, Requests: len(j.entries[token].Keys)})
	}
	return notes, nil
}

func parseKey(text string) (k Key, err error) {
	if hex.DecodedLen(len(text)) != len(k) {
		return k, fmt.Errorf("%q is no key", text)
	}
	_, err = hex.Decode(k[:], []byte(text))
	return k, err
}

func (j *batchJournal) read(data []byte) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if !bytes.HasSuffix(line, []byte("\n")) {
			return nil // cut short by a crash
		}
		var e batchEntry
		if err := json.Unmarshal(line, &e); err != nil || e.Token == "" {
			return fmt.Errorf("read the journal of batches %s: line %d is damaged; batches that it tells of may still be paid for: see them at the provider, and move the file away", j.path, n)
		}
		if e.Schema != batchJournalSchema {
			return fmt.Errorf("read the journal of batches %s: line %d has schema %d, this program knows %d", j.path, n, e.Schema, batchJournalSchema)
		}
		j.take(e)
	}
	return nil
}

// take adds what a line tells to what is known.
func (j *batchJournal) take(e batchEntry) {
	known := j.entries[e.Token]
	switch {
	case e.Over:
		delete(j.entries, e.Token)
		for i, t := range j.order {
			if t == e.Token {
				j.order = append(j.order[:i:i], j.order[i+1:]...)
				break
			}
		}
	case known == nil:
		j.entries[e.Token] = &e
		j.order = append(j.order, e.Token)
	default:
		known.Batch = e.Batch
	}
}

// note writes a line, and returns when it is on the disk.
func (j *batchJournal) note(e batchEntry) error {
	e.Schema = batchJournalSchema
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err = j.file.Write(append(b, '\n')); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write the journal of batches: %w", err)
	}
	j.take(e)
	return nil
}

// rewrite writes what is to be kept into a new file in the place of the old one.
func (j *batchJournal) rewrite() (err error) {
	tmp := j.path + ".new"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the journal of batches: %w", err)
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, token := range j.order {
		if err = enc.Encode(j.entries[token]); err != nil {
			break
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(tmp, j.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the journal of batches: %w", err), f.Close())
	}
	if j.file != nil {
		err = j.file.Close()
	}
	j.file = f
	// Without this a power cut could take the new name away, and with it what is
	// paid for. Not every file system can do it.
	if d, oerr := os.Open(filepath.Dir(j.path)); oerr == nil {
		_ = d.Sync()
		err = errors.Join(err, d.Close())
	}
	return err
}

// close leaves the file with what is still open, or takes it away if that is
// nothing.
func (j *batchJournal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.order) > 0 {
		return errors.Join(j.rewrite(), j.file.Close())
	}
	return errors.Join(j.file.Close(), os.Remove(j.path))
}
