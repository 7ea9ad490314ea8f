package cache

import (
	"context"
	"database/sql"
	"fmt"
)

// Verified says what Verify found.
type Verified struct {
	// Checked counts the entries read, Damaged those whose checksum was wrong.
	// They have been removed, unless the cache is opened with ReadOnly.
	Checked int64 `json:"checked"`
	Damaged int64 `json:"damaged"`
	// Structure lists what SQLite says is wrong with the file itself; empty if
	// it is sound.
	Structure []string `json:"structure,omitempty"`
	// Aside is where the damaged file now is, and Saved the number of entries
	// that were taken over into the new one. Both are set only if the structure
	// was damaged and the cache may be written.
	Aside string `json:"aside,omitempty"`
	Saved int64  `json:"saved,omitempty"`
}

// OK reports whether nothing was wrong.
func (v Verified) OK() bool { return v.Damaged == 0 && len(v.Structure) == 0 }

// Verify reads the whole cache: first the structure of the file, then the
// checksum of every entry. Damaged entries are removed. A file whose structure
// is damaged is moved aside, and what can still be read and has the right
// checksum is taken over into a new one. With ReadOnly it only reports.
func (d *Disk) Verify(ctx context.Context) (Verified, error) {
	var v Verified
	err := d.verify(ctx, &v)
	if err != nil {
		return v, fmt.Errorf("verify the cache %s: %w", d.path, err)
	}
	return v, nil
}

func (d *Disk) verify(ctx context.Context, v *Verified) (err error) {
	if v.Structure, err = d.structure(ctx); err != nil {
		return err
	}
	if len(v.Structure) > 0 {
		d.corrupt.Add(1)
		if d.readOnly {
			return nil
		}
		return d.do(ctx, func(*conns) error { return d.rebuild(v) })
	}
	return d.scan(ctx, func(rows []stored) error {
		v.Checked += int64(len(rows))
		bad := damaged(rows)
		v.Damaged += int64(len(bad))
		d.corrupt.Add(int64(len(bad)))
		if len(bad) == 0 || d.readOnly {
			return nil
		}
		return d.do(ctx, func(c *conns) error { return c.removeStored(bad) })
	})
}

// structure asks SQLite to check the file, and returns what it complains of.
func (d *Disk) structure(ctx context.Context) (faults []string, err error) {
	err = d.read(func(db *sql.DB) error {
		q, err := db.QueryContext(ctx, "PRAGMA integrity_check(20)")
		if err != nil {
			return err
		}
		defer q.Close()
		for q.Next() {
			var s string
			if err := q.Scan(&s); err != nil {
				return err
			}
			if s != "ok" {
				faults = append(faults, s)
			}
		}
		return q.Err()
	})
	if isDamage(err) {
		return append(faults, err.Error()), nil
	}
	return faults, err
}

// stored is a row as it stands in the file, with a key that may be damaged.
type stored struct {
	id    int64
	key   []byte
	putAt int64
	sum   []byte
	value []byte
}

// entry returns the row as an entry, and whether it is intact.
func (s stored) entry() (*entry, bool) {
	if len(s.key) != 32 {
		return nil, false
	}
	e := &entry{key: [32]byte(s.key), putAt: s.putAt, sum: s.sum, value: s.value}
	return e, e.intact()
}

func damaged(rows []stored) (bad []stored) {
	for _, r := range rows {
		if _, ok := r.entry(); !ok {
			bad = append(bad, r)
		}
	}
	return bad
}

// scanStep is how many rows one query reads: no reader stays open for the whole
// scan, which would keep the log from being emptied.
const scanStep = 500

// scan gives fn all rows that were there when it started, in the order of their
// rowids, some at a time.
func (d *Disk) scan(ctx context.Context, fn func([]stored) error) error {
	var last sql.NullInt64
	if err := d.read(func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT max(rowid) FROM entries`).Scan(&last)
	}); err != nil {
		return err
	}
	for at := int64(-1 << 63); ; {
		var rows []stored
		err := d.read(func(db *sql.DB) (err error) {
			rows, err = readRows(ctx, db, `WHERE rowid > ? AND rowid <= ? ORDER BY rowid LIMIT ?`, at, last.Int64, scanStep)
			return err
		})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		if err := fn(rows); err != nil {
			return err
		}
		at = rows[len(rows)-1].id
	}
}

// readRows reads whole rows; with an error it returns those read before it.
func readRows(ctx context.Context, db *sql.DB, where string, args ...any) (rows []stored, err error) {
	q, err := db.QueryContext(ctx, `SELECT rowid, k, t, s, v FROM entries `+where, args...)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	for q.Next() {
		var r stored
		if err := q.Scan(&r.id, &r.key, &r.putAt, &r.sum, &r.value); err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, q.Err()
}

// removeStored deletes rows as they were read.
func (c *conns) removeStored(rows []stored) error {
	return c.transact(func() error {
		for _, r := range rows {
			if _, err := c.conn.ExecContext(context.Background(),
				`DELETE FROM entries WHERE rowid = ? AND t = ? AND s = ?`, r.id, r.putAt, blob(r.sum)); err != nil {
				return err
			}
		}
		return nil
	})
}

// rebuild moves a file of damaged structure aside and copies what is intact
// into a new one. It runs on the writer's goroutine.
func (d *Disk) rebuild(v *Verified) error {
	aside, err := d.replaceDamaged(fmt.Errorf("%s", v.Structure[0]))
	if err != nil || aside == "" {
		return err
	}
	v.Aside = aside
	old, err := sql.Open("sqlite", dsn(aside, "mode=ro"))
	if err != nil {
		return err
	}
	defer old.Close()
	// From both ends: reading stops at a broken page, and most of the rows are
	// on one side of it or the other.
	for _, order := range []string{
		`WHERE rowid > ? ORDER BY rowid LIMIT ?`,
		`WHERE rowid < ? ORDER BY rowid DESC LIMIT ?`,
	} {
		if err := d.salvage(old, order, v); err != nil {
			return err
		}
	}
	d.warn(fmt.Sprintf("%d entries of the damaged cache were saved into %s", v.Saved, d.path))
	return nil
}

// salvage copies the intact rows that can be read in one direction, up to the
// first that can't. What is in the new file already stays.
func (d *Disk) salvage(old *sql.DB, order string, v *Verified) error {
	at := int64(-1 << 63)
	if order[len("WHERE rowid ")] == '<' {
		at = 1<<63 - 1
	}
	for {
		rows, readErr := readRows(context.Background(), old, order, at, scanStep)
		if len(rows) > 0 {
			at = rows[len(rows)-1].id
			if err := d.conns.adopt(rows, v); err != nil {
				return err
			}
		}
		if readErr != nil || len(rows) == 0 {
			return nil
		}
	}
}

// adopt stores the intact ones of rows, unless their key is there.
func (c *conns) adopt(rows []stored, v *Verified) error {
	return c.transact(func() error {
		for _, r := range rows {
			e, ok := r.entry()
			if !ok {
				v.Damaged++
				continue
			}
			added, err := c.insertNew(e)
			if err != nil {
				return err
			}
			if added {
				v.Checked++
				v.Saved++
			}
		}
		return nil
	})
}

// insertNew stores an entry unless its key is there with the same or a later
// time, and reports whether it did.
func (c *conns) insertNew(e *entry) (bool, error) {
	res, err := c.conn.ExecContext(context.Background(),
		putSQL+` WHERE excluded.t > entries.t`, e.key[:], e.putAt, e.sum, e.value)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}
