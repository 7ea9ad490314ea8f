// Package cache keeps bytes under a 32-byte key on disk, in one SQLite file
// that several processes may share.
//
// It holds what was paid for: the replies of a judge, under the SHA-256 of the
// request. It knows nothing of requests and replies; *Disk satisfies the Store
// that the llm package declares.
//
// What it promises:
//
//   - Put returns when its entry survives kill -9 of every process. A power cut
//     may lose the entries of the last moments, never older ones, and never
//     leaves a broken file (write-ahead log, synchronous=NORMAL).
//   - A value that Get returns is the value that was put under that key: every
//     entry carries a SHA-256 over key, time and value that is checked on each
//     read. A damaged entry is a miss, is counted, and is removed.
//   - A damaged database file is moved aside, with a warning, and an empty one
//     takes its place, so that a bad disk block does not end a night's run. A
//     file of another program or of a newer ragjudge is refused and untouched.
//   - Files have mode 0600 and the folders that it makes 0700, whatever the
//     umask. With ReadOnly nothing in the folder is created or removed, and
//     nothing is written but, if it may be, the index that readers and writers
//     of a live log share (-shm).
//
// Writes of concurrent callers are committed in groups by one goroutine, with
// no delay added; reads go through a few connections of their own and do not
// wait for writes.
package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// FileName is the name of the cache's database file inside a cache folder.
const FileName = "judge.db"

// MaxValue is the largest value that Put takes, in bytes (64 MiB).
const MaxValue = 64 << 20

// The errors that a caller may branch on, with errors.Is.
var (
	// ErrClosed is returned by every method after Close.
	ErrClosed = errors.New("the cache is closed")
	// ErrReadOnly is returned by what would write, on a cache opened with
	// ReadOnly.
	ErrReadOnly = errors.New("the cache is opened for reading only")
	// ErrForeign is returned by Open for a SQLite file that is not a cache of
	// ragjudge, and for a cache written by a newer version of it.
	ErrForeign = errors.New("not a cache of this version of ragjudge")
	// ErrDamaged is returned where a damaged file can't be replaced by an empty
	// one: by Open with ReadOnly, and where the folder can't be written.
	ErrDamaged = errors.New("the cache file is damaged")
)

// Options of Open. The zero value opens for reading and writing and says
// nothing.
type Options struct {
	// ReadOnly opens an existing cache without touching anything in its folder,
	// which may be on a read-only file system. Put returns ErrReadOnly.
	ReadOnly bool
	// Warn is told, in one sentence without a line end, what went wrong and was
	// dealt with: a damaged entry or file, permissions that were too wide. It
	// may be called from any goroutine. Nil drops the warnings.
	Warn func(msg string)
}

// Disk is a cache on disk. It is safe for concurrent use.
type Disk struct {
	path     string
	readOnly bool
	warn     func(string)

	// closing is held for reading while a request is handed to the writer, so
	// that Close can't close the channel under a sender.
	closing sync.RWMutex
	closed  bool
	reqs    chan request
	writer  sync.WaitGroup

	// swap is held for reading while the connections are in use, for writing
	// while they are exchanged for those of a new file.
	swap  sync.RWMutex
	conns *conns

	corrupt  atomic.Int64
	warnOnce sync.Once
}

// Open opens the cache in the database file at path, and makes the file and its
// folder if they are missing. See the package comment for what happens to a
// damaged file.
//
// With ReadOnly, a missing file is an error that wraps fs.ErrNotExist: an
// empty cache there would mean paying for everything again.
func Open(path string, opt Options) (*Disk, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the cache %s: %w", path, err)
	}
	d := &Disk{path: abs, readOnly: opt.ReadOnly, warn: opt.Warn}
	if d.warn == nil {
		d.warn = func(string) {}
	}
	if d.readOnly {
		d.conns, err = openReadOnly(abs, d.warn)
	} else {
		d.conns, err = openOrReplace(abs, d.warn)
	}
	if err != nil {
		return nil, fmt.Errorf("open the cache %s: %w", abs, err)
	}
	if !d.readOnly {
		d.reqs = make(chan request, maxBatch)
		d.writer.Go(d.write)
	}
	return d, nil
}

// Path returns the absolute path of the database file.
func (d *Disk) Path() string { return d.path }

// Get returns the value under key, the time at which it was put in Unix
// milliseconds, and whether there is one. A damaged entry is not there; it is
// counted and removed. An error means that the file could not be read at all,
// or that ctx is done or the cache closed.
func (d *Disk) Get(ctx context.Context, key [32]byte) (value []byte, putAt int64, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, false, err
	}
	e, err := d.lookup(key)
	if d.readOnly && (err != nil || e == nil) && d.refreshReadOnly() {
		e, err = d.lookup(key)
	}
	switch {
	case isDamage(err):
		d.corrupt.Add(1)
		d.warnOnce.Do(func() {
			d.warn(fmt.Sprintf("the cache %s is damaged (%v): what can't be read counts as missing; run `ragjudge cache verify`", d.path, err))
		})
		return nil, 0, false, nil
	case errors.Is(err, ErrClosed):
		return nil, 0, false, err
	case err != nil:
		return nil, 0, false, fmt.Errorf("read the cache %s: %w", d.path, err)
	case e == nil:
		return nil, 0, false, nil
	}
	if !e.intact() {
		d.dropDamaged(ctx, e)
		return nil, 0, false, nil
	}
	return e.value, e.putAt, true, nil
}

// lookup reads one entry, unchecked; nil if there is none.
func (d *Disk) lookup(key [32]byte) (*entry, error) {
	d.swap.RLock()
	defer d.swap.RUnlock()
	if d.conns == nil {
		return nil, ErrClosed
	}
	e := entry{key: key}
	// A context that can be cancelled costs a goroutine per query; one look-up
	// takes microseconds.
	err := d.conns.get.QueryRowContext(context.Background(), key[:]).Scan(&e.putAt, &e.sum, &e.value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// dropDamaged counts a damaged entry and removes it, unless somebody has
// replaced it meanwhile.
func (d *Disk) dropDamaged(ctx context.Context, e *entry) {
	d.corrupt.Add(1)
	if d.readOnly {
		d.warn(fmt.Sprintf("entry %x of the cache %s is damaged and counts as missing", e.key, d.path))
		return
	}
	d.warn(fmt.Sprintf("entry %x of the cache %s was damaged and has been removed", e.key, d.path))
	if err := d.do(ctx, func(c *conns) error { return c.remove(e) }); err != nil && !errors.Is(err, ErrClosed) {
		d.warn(fmt.Sprintf("remove a damaged entry from the cache %s: %v", d.path, err))
	}
}

// Put stores the value under key, over any earlier one, and returns when it
// would survive kill -9. If ctx ends while Put waits it returns the context's
// error and the value may or may not be stored. An error names the file: a
// full disk, a folder that can't be written, another process that holds the
// file for longer than a minute.
func (d *Disk) Put(ctx context.Context, key [32]byte, value []byte) error {
	if d.readOnly {
		return fmt.Errorf("store in the cache %s: %w", d.path, ErrReadOnly)
	}
	if len(value) > MaxValue {
		return fmt.Errorf("store in the cache %s: the value has %d bytes, more than the %d allowed", d.path, len(value), MaxValue)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// The value is copied: if ctx ends first, the writer may still have it
	// when the caller goes on to use its buffer.
	e := newEntry(key, time.Now().UnixMilli(), bytes.Clone(value))
	if err := d.submit(ctx, request{put: e, done: make(chan error, 1)}); err != nil {
		return err
	}
	return nil
}

// Close commits what is being put, closes the file and releases it. It returns
// the first error of closing. A second Close does nothing.
func (d *Disk) Close() error {
	d.closing.Lock()
	if d.closed {
		d.closing.Unlock()
		return nil
	}
	d.closed = true
	if d.reqs != nil {
		close(d.reqs)
	}
	d.closing.Unlock()
	d.writer.Wait()

	d.swap.Lock()
	defer d.swap.Unlock()
	c := d.conns
	d.conns = nil
	if c == nil {
		return nil
	}
	if err := c.close(); err != nil {
		return fmt.Errorf("close the cache %s: %w", d.path, err)
	}
	return nil
}

// entry is one row: a value with its key, time and checksum.
type entry struct {
	key   [32]byte
	putAt int64
	sum   []byte
	value []byte
}

// newEntry returns an entry with its checksum.
func newEntry(key [32]byte, putAt int64, value []byte) *entry {
	return &entry{key: key, putAt: putAt, sum: checksum(key, putAt, value), value: blob(value)}
}

// intact reports whether the entry is as it was put.
func (e *entry) intact() bool {
	return bytes.Equal(e.sum, checksum(e.key, e.putAt, e.value))
}

// checksum is the SHA-256 over key, time and value. The key is in it so that a
// damaged index that leads to another key's row does not pass for a hit.
func checksum(key [32]byte, putAt int64, value []byte) []byte {
	h := sha256.New()
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(putAt))
	h.Write(key[:])
	h.Write(at[:])
	h.Write(value)
	return h.Sum(nil)
}
