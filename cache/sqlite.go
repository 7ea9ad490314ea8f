package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// applicationID marks a SQLite file as a cache of ragjudge ("RAGJ").
	applicationID = 0x5241474A
	// schemaVersion is raised whenever an older binary would misread the file.
	schemaVersion = 1
)

// schema is a table with rowid: a million keys in a UNIQUE index beside it cost
// a fifth of the time and half the space of WITHOUT ROWID, which would carry
// the values inside its index.
//
//	k the key, t the put time in Unix milliseconds, s the checksum, v the value
const schema = `CREATE TABLE entries (
	k BLOB NOT NULL UNIQUE,
	t INTEGER NOT NULL,
	s BLOB NOT NULL,
	v BLOB NOT NULL
) STRICT`

const (
	putSQL = `INSERT INTO entries (k, t, s, v) VALUES (?, ?, ?, ?)
		ON CONFLICT (k) DO UPDATE SET t = excluded.t, s = excluded.s, v = excluded.v`
	getSQL    = `SELECT t, s, v FROM entries WHERE k = ?`
	removeSQL = `DELETE FROM entries WHERE k = ? AND t = ? AND s = ?`
)

// conns are the connections to one database file: one that writes, used by the
// writer's goroutine alone, and some that read. Everything is prepared once.
type conns struct {
	file os.FileInfo // of the file when it was opened; nil once closed

	writeDB *sql.DB
	conn    *sql.Conn
	put     *sql.Stmt

	readDB *sql.DB
	get    *sql.Stmt

	// For ReadOnly: whether it reads beside a writer, and the size of the log
	// when it was opened.
	live bool
	wal  int64
}

// connect opens a file for writing, makes it a cache if it is empty, and
// refuses it untouched if it is something else.
func connect(path string) (c *conns, err error) {
	c = &conns{}
	defer func() {
		if err != nil {
			_ = c.close()
			c = nil
		}
	}()
	ctx := context.Background()
	if c.writeDB, err = sql.Open("sqlite", dsn(path, "mode=rw&_txlock=immediate&_pragma=busy_timeout(10000)")); err != nil {
		return c, err
	}
	c.writeDB.SetMaxOpenConns(1)
	if c.conn, err = c.writeDB.Conn(ctx); err != nil {
		return c, err
	}
	fresh, err := identify(ctx, c.conn)
	if err != nil {
		return c, err
	}
	if err := c.prepareFile(ctx, fresh); err != nil {
		return c, err
	}
	if c.put, err = c.conn.PrepareContext(ctx, putSQL); err != nil {
		return c, err
	}
	if err := c.connectReaders(path, "mode=rw&_query_only=1&_pragma=busy_timeout(10000)&_pragma=cache_size(-8192)"); err != nil {
		return c, err
	}
	c.file, err = os.Stat(path)
	return c, err
}

// connectReadOnly opens an existing cache for reading: beside a writer if live,
// else as a file that does not change.
func connectReadOnly(path string, live bool) (c *conns, err error) {
	c = &conns{live: live}
	defer func() {
		if err != nil {
			_ = c.close()
			c = nil
		}
	}()
	query := "mode=ro&_query_only=1&_pragma=busy_timeout(10000)&_pragma=cache_size(-8192)"
	if !live {
		query += "&immutable=1"
	}
	if err := c.connectReaders(path, query); err != nil {
		return c, err
	}
	ctx := context.Background()
	conn, err := c.readDB.Conn(ctx)
	if err != nil {
		return c, err
	}
	defer conn.Close()
	fresh, err := identify(ctx, conn)
	if err == nil && fresh {
		err = fmt.Errorf("the file is empty: %w", ErrForeign)
	}
	if err != nil {
		return c, err
	}
	c.get, err = c.readDB.PrepareContext(ctx, getSQL)
	return c, err
}

// connectReaders opens the reading side. For a writing cache the schema is
// there by now, so that the look-up can be prepared.
func (c *conns) connectReaders(path, query string) (err error) {
	if c.readDB, err = sql.Open("sqlite", dsn(path, query)); err != nil {
		return err
	}
	n := min(max(runtime.GOMAXPROCS(0), 2), 8)
	c.readDB.SetMaxOpenConns(n)
	c.readDB.SetMaxIdleConns(n)
	if c.conn == nil {
		return nil
	}
	c.get, err = c.readDB.PrepareContext(context.Background(), getSQL)
	return err
}

// dsn spells a path as a SQLite URI, whatever characters it holds.
func dsn(path, query string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	return "file:" + u.EscapedPath() + "?" + query
}

// identify reports whether the database is empty, and refuses one that is not a
// cache, or one of a newer version. It only reads.
func identify(ctx context.Context, conn *sql.Conn) (fresh bool, err error) {
	var app, version, tables int64
	for _, q := range []struct {
		sql string
		to  *int64
	}{
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := conn.QueryRowContext(ctx, q.sql).Scan(q.to); err != nil {
			return false, err
		}
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return true, nil
	case app != applicationID:
		return false, fmt.Errorf("the file is a SQLite database of another program: %w: choose another path", ErrForeign)
	case version > schemaVersion:
		return false, fmt.Errorf("the file has format %d and this ragjudge knows formats up to %d: %w: use a newer ragjudge or another path", version, schemaVersion, ErrForeign)
	}
	return false, nil
}

// prepareFile sets what belongs to the file and to the writing connection, and
// creates the table in a fresh file.
func (c *conns) prepareFile(ctx context.Context, fresh bool) error {
	settings := []string{
		"PRAGMA journal_mode = WAL",
		"PRAGMA synchronous = NORMAL",
		"PRAGMA cache_size = -8192",
		// A checkpoint writes and syncs the log into the main file; every 32
		// MB instead of every 4 keeps it from ruling the put rate.
		"PRAGMA wal_autocheckpoint = 8000",
	}
	if fresh {
		// Must come before the first write. It lets Prune give space back in
		// small steps, where VACUUM would lock the file for its whole length
		// and need as much space again on a disk that may be full.
		settings = append([]string{"PRAGMA auto_vacuum = INCREMENTAL"}, settings...)
	}
	for _, s := range settings {
		if _, err := c.conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	if !fresh {
		return nil
	}
	return c.transact(func() error {
		for _, s := range []string{
			schema,
			fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			fmt.Sprintf("PRAGMA user_version = %d", schemaVersion),
		} {
			if _, err := c.conn.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// transact runs fn inside one transaction that holds the write lock from the
// start, so that it can't fail half way for want of it.
func (c *conns) transact(fn func() error) (err error) {
	ctx := context.Background()
	for range busyTries {
		if _, err = c.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); code(err) != sqlite3.SQLITE_BUSY {
			break
		}
	}
	if err != nil {
		return err
	}
	if err = fn(); err == nil {
		_, err = c.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite has rolled back by itself after some errors; then this one
		// says only that there is nothing to roll back.
		_, _ = c.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// putAll stores the entries of a group in one transaction.
func (c *conns) putAll(batch []request) error {
	return c.transact(func() error {
		for _, r := range batch {
			e := r.put
			if _, err := c.put.Exec(e.key[:], e.putAt, e.sum, e.value); err != nil {
				return err
			}
		}
		return nil
	})
}

// remove deletes an entry as it was read, not one that has replaced it.
func (c *conns) remove(e *entry) error {
	_, err := c.conn.ExecContext(context.Background(), removeSQL, e.key[:], e.putAt, blob(e.sum))
	return err
}

// blob makes of a nil slice an empty one: nil would be bound as NULL, which the
// table does not take and which equals nothing.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// close closes what is open; the last connection of all processes writes the
// log into the main file.
func (c *conns) close() error {
	c.file = nil
	var errs []error
	for _, s := range []*sql.Stmt{c.get, c.put} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if c.readDB != nil {
		errs = append(errs, c.readDB.Close())
	}
	if c.conn != nil {
		errs = append(errs, c.conn.Close())
	}
	if c.writeDB != nil {
		errs = append(errs, c.writeDB.Close())
	}
	return errors.Join(errs...)
}

// code is the primary SQLite result code of an error; 0 if it has none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// isDamage reports whether an error means that the database file itself is
// broken.
func isDamage(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ
}

// explain adds to an error of SQLite what the user can do about it.
func explain(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: free some space on the disk, or run `ragjudge cache prune`", err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%w: another process has held the file for over a minute", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return unwritable(err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w: check the disk and the space left on it", err)
	}
	return err
}
