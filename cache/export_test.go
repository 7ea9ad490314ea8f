package cache

import (
	"context"
	"database/sql"
)

// ExecForTest runs SQL on the writing connection, to damage or limit a cache.
func (d *Disk) ExecForTest(query string, args ...any) error {
	return d.do(context.Background(), func(c *conns) error {
		_, err := c.conn.ExecContext(context.Background(), query, args...)
		return err
	})
}

// QueryForTest reads one value on the writing connection.
func (d *Disk) QueryForTest(query string, to any) error {
	return d.do(context.Background(), func(c *conns) error {
		return c.conn.QueryRowContext(context.Background(), query).Scan(to)
	})
}

// RawForTest opens the file without any of the cache's checks.
func RawForTest(path string) (*sql.DB, error) { return sql.Open("sqlite", dsn(path, "mode=rwc")) }
