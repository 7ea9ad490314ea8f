package cache

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"
)

// Stats describes a cache.
type Stats struct {
	// Path is the absolute path of the database file.
	Path string `json:"path"`
	// Entries is the number of entries.
	Entries int64 `json:"entries"`
	// Bytes is the size of all values, in bytes.
	Bytes int64 `json:"bytes"`
	// Oldest and Newest are the put times at both ends; zero if it is empty.
	Oldest time.Time `json:"oldest,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
	// FileSize is what the database and its log take on disk, in bytes.
	FileSize int64 `json:"file_size"`
	// Corrupt counts the damaged entries and files met since Open.
	Corrupt int64 `json:"corrupt"`
}

// Stats counts the entries. It reads the whole table: about a second for a
// million entries.
func (d *Disk) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Path: d.path, Corrupt: d.corrupt.Load()}
	var oldest, newest sql.NullInt64
	err := d.read(func(db *sql.DB) error {
		return db.QueryRowContext(ctx,
			`SELECT count(*), coalesce(sum(length(v)), 0), min(t), max(t) FROM entries`).
			Scan(&s.Entries, &s.Bytes, &oldest, &newest)
	})
	if err != nil {
		return Stats{}, fmt.Errorf("read the cache %s: %w", d.path, err)
	}
	if oldest.Valid {
		s.Oldest, s.Newest = time.UnixMilli(oldest.Int64), time.UnixMilli(newest.Int64)
	}
	s.FileSize = d.fileSize()
	return s, nil
}

// Corrupt counts the damaged entries and files met since Open, without reading
// the table.
func (d *Disk) Corrupt() int64 { return d.corrupt.Load() }

func (d *Disk) fileSize() int64 {
	size := walSize(d.path)
	if info, err := os.Stat(d.path); err == nil {
		size += info.Size()
	}
	return size
}

// read runs fn with the reading connections.
func (d *Disk) read(fn func(*sql.DB) error) error {
	d.swap.RLock()
	defer d.swap.RUnlock()
	if d.conns == nil {
		return ErrClosed
	}
	return fn(d.conns.readDB)
}

// Pruned says what Prune removed.
type Pruned struct {
	// Entries and Bytes count the entries removed and the size of their values.
	Entries int64 `json:"entries"`
	Bytes   int64 `json:"bytes"`
	// FileSize is what the cache takes on disk afterwards, in bytes.
	FileSize int64 `json:"file_size"`
}

const (
	// pruneLook is how many of the oldest entries one query fetches: a full
	// scan each, so not too few.
	pruneLook = 20_000
	// pruneStep is how many entries one transaction deletes, and freeStep how
	// many pages one gives back: between two, other writers get their turn.
	pruneStep = 500
	freeStep  = 2_000
)

// Prune removes the entries put before the given time, then the oldest ones
// until the file fits into maxBytes, and gives the space back to the file
// system. A zero time or maxBytes <= 0 leaves that limit out. It works in small
// transactions: other users of the cache are not kept waiting, and what is put
// meanwhile stays.
func (d *Disk) Prune(ctx context.Context, before time.Time, maxBytes int64) (Pruned, error) {
	var p Pruned
	err := d.prune(ctx, before, maxBytes, &p)
	if err == nil {
		err = d.giveBack(ctx)
	}
	p.FileSize = d.fileSize()
	if err != nil {
		return p, fmt.Errorf("prune the cache %s: %w", d.path, err)
	}
	return p, nil
}

func (d *Disk) prune(ctx context.Context, before time.Time, maxBytes int64, p *Pruned) error {
	if d.readOnly {
		return ErrReadOnly
	}
	for {
		old, err := d.oldest(ctx, pruneLook)
		if err != nil || len(old) == 0 {
			return err
		}
		removed := false
		for len(old) > 0 {
			step, err := d.pruneable(ctx, old, before, maxBytes)
			if err != nil {
				return err
			}
			if len(step) == 0 {
				return nil
			}
			if err := d.do(ctx, func(c *conns) error { return c.removeRows(step, p) }); err != nil {
				return err
			}
			old, removed = old[len(step):], true
		}
		if !removed {
			return nil
		}
	}
}

// row tells an entry's place, time and size, without its value.
type row struct{ id, putAt, size int64 }

// oldest returns the n entries put first, oldest first.
func (d *Disk) oldest(ctx context.Context, n int) (rows []row, err error) {
	err = d.read(func(db *sql.DB) error {
		q, err := db.QueryContext(ctx, `SELECT rowid, t, length(v) FROM entries ORDER BY t, rowid LIMIT ?`, n)
		if err != nil {
			return err
		}
		defer q.Close()
		for q.Next() {
			var r row
			if err := q.Scan(&r.id, &r.putAt, &r.size); err != nil {
				return err
			}
			rows = append(rows, r)
		}
		return q.Err()
	})
	return rows, err
}

// pruneable returns the head of old that the next transaction may delete: what
// is too old, or, as long as the file is too large, about as many as it takes.
func (d *Disk) pruneable(ctx context.Context, old []row, before time.Time, maxBytes int64) ([]row, error) {
	n := 0
	for n < min(len(old), pruneStep) && !before.IsZero() && old[n].putAt < before.UnixMilli() {
		n++
	}
	if n > 0 || maxBytes <= 0 {
		return old[:n], nil
	}
	used, err := d.usedBytes(ctx)
	if err != nil {
		return nil, err
	}
	// Sizes of values understate what their rows take, so that this removes a
	// little more than needed only within the last step.
	for excess := used - maxBytes; n < min(len(old), pruneStep) && excess > 0; n++ {
		excess -= old[n].size + rowOverhead
	}
	return old[:n], nil
}

// rowOverhead is about what an entry takes beside its value: key, time,
// checksum, its place in the index and headers.
const rowOverhead = 140

// usedBytes is the size of the pages in use: what the file will take once free
// pages are given back.
func (d *Disk) usedBytes(ctx context.Context) (int64, error) {
	var pages, free, size int64
	err := d.read(func(db *sql.DB) error {
		return db.QueryRowContext(ctx,
			`SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).
			Scan(&pages, &free, &size)
	})
	return (pages - free) * size, err
}

// removeRows deletes entries, unless they were put anew since they were read.
func (c *conns) removeRows(rows []row, p *Pruned) error {
	ctx := context.Background()
	entries, bytes := int64(0), int64(0)
	err := c.transact(func() error {
		for _, r := range rows {
			res, err := c.conn.ExecContext(ctx, `DELETE FROM entries WHERE rowid = ? AND t = ?`, r.id, r.putAt)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			entries += n
			bytes += n * r.size
		}
		return nil
	})
	if err == nil {
		p.Entries += entries
		p.Bytes += bytes
	}
	return err
}

// giveBack returns free pages to the file system, in steps, and empties the
// log.
func (d *Disk) giveBack(ctx context.Context) error {
	for {
		var free int64
		err := d.do(ctx, func(c *conns) error {
			q, err := c.conn.QueryContext(context.Background(), fmt.Sprintf("PRAGMA incremental_vacuum(%d)", freeStep))
			if err != nil {
				return err
			}
			// It frees one page each time it is stepped.
			for q.Next() {
			}
			if err := q.Close(); err != nil {
				return err
			}
			return c.conn.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&free)
		})
		if err != nil {
			return err
		}
		if free == 0 {
			break
		}
	}
	return d.do(ctx, func(c *conns) error {
		// While others read, the log can't be emptied; that is no fault, the
		// last one to close does it.
		var busy, log, moved int64
		return c.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved)
	})
}

// Clear removes every entry, gives the space back, and returns how many there
// were.
func (d *Disk) Clear(ctx context.Context) (int64, error) {
	var n int64
	err := d.do(ctx, func(c *conns) error {
		return c.transact(func() error {
			// DELETE without a condition drops the pages whole and may not
			// count what was on them.
			if err := c.conn.QueryRowContext(context.Background(), `SELECT count(*) FROM entries`).Scan(&n); err != nil {
				return err
			}
			_, err := c.conn.ExecContext(context.Background(), `DELETE FROM entries`)
			return err
		})
	})
	if err == nil {
		err = d.giveBack(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("clear the cache %s: %w", d.path, err)
	}
	return n, nil
}
