package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// LedgerName is the name of the ledger's database file inside a cache folder.
const LedgerName = "spend.db"

// ledgerID marks a SQLite file as a ledger of ragjudge ("RAGL").
const ledgerID = 0x5241474C

// keptDays is how many days a ledger remembers.
const keptDays = 400

// Ledger keeps what was spent on each day, in one SQLite file that several
// processes share, so that all of them together can keep within a bound. Every
// amount that Book has returned for survives kill -9. Days are strings that
// sort by time, such as "2026-12-02".
type Ledger struct {
	db   *sql.DB
	path string
}

// OpenLedger opens the ledger at path, and makes the file, with mode 0600, and
// its folder if they are missing. A file of another program is an error that
// wraps ErrForeign.
func OpenLedger(path string) (*Ledger, error) {
	l, err := openLedger(path)
	if err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", path, err)
	}
	return l, nil
}

func openLedger(path string) (l *Ledger, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(abs, "mode=rw&_txlock=immediate&_pragma=busy_timeout(10000)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	var app, tables int64
	if err := db.QueryRow("PRAGMA application_id").Scan(&app); err != nil {
		return nil, err
	}
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return nil, err
	}
	if app != ledgerID && tables > 0 {
		return nil, fmt.Errorf("the file is a SQLite database of another program: %w: move it away", ErrForeign)
	}
	for _, s := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", ledgerID),
		"PRAGMA journal_mode = WAL",
		"PRAGMA synchronous = NORMAL",
		"CREATE TABLE IF NOT EXISTS spend (day TEXT NOT NULL, holder TEXT NOT NULL, picodollars INTEGER NOT NULL, PRIMARY KEY (day, holder)) STRICT",
		fmt.Sprintf("DELETE FROM spend WHERE day < date('now', '-%d days')", keptDays),
	} {
		if _, err := db.Exec(s); err != nil {
			return nil, err
		}
	}
	return &Ledger{db: db, path: abs}, nil
}

// picodollars is how money is kept, so that sums are exact.
const picodollars = 1e12

// Book sets the amount, in US dollars, that a holder has spent or set aside on a
// day, if all holders of the day together then have at most the given amount; 0
// sets no bound. It returns what the others have, and whether the amount was
// booked. What was booked before by the same holder is replaced. An amount that
// lowers the holder's is always booked: it is what was really spent.
func (l *Ledger) Book(ctx context.Context, day, holder string, usd, most float64) (others float64, booked bool, err error) {
	if !(usd >= 0) || usd > 1e6 {
		return 0, false, fmt.Errorf("book %v US dollars: it must be from 0 to a million", usd)
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, false, fmt.Errorf("book in the ledger %s: %w", l.path, err)
	}
	defer tx.Rollback() //nolint:errcheck // without effect after Commit
	var rest, mine int64
	err = tx.QueryRowContext(ctx, "SELECT coalesce(sum(CASE WHEN holder = ? THEN 0 ELSE picodollars END), 0), coalesce(sum(CASE WHEN holder = ? THEN picodollars ELSE 0 END), 0) FROM spend WHERE day = ?",
		holder, holder, day).Scan(&rest, &mine)
	if err != nil {
		return 0, false, fmt.Errorf("read the ledger %s: %w", l.path, err)
	}
	want := int64(math.Ceil(usd * picodollars))
	if most > 0 && want > mine && rest+want > int64(most*picodollars) {
		return float64(rest) / picodollars, false, nil
	}
	if _, err = tx.ExecContext(ctx, "INSERT INTO spend (day, holder, picodollars) VALUES (?, ?, ?) ON CONFLICT (day, holder) DO UPDATE SET picodollars = excluded.picodollars", day, holder, want); err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return float64(rest) / picodollars, false, fmt.Errorf("book in the ledger %s: %w", l.path, err)
	}
	return float64(rest) / picodollars, true, nil
}

// Spent returns what all holders together have on a day, in US dollars.
func (l *Ledger) Spent(ctx context.Context, day string) (float64, error) {
	var sum int64
	if err := l.db.QueryRowContext(ctx, "SELECT coalesce(sum(picodollars), 0) FROM spend WHERE day = ?", strings.TrimSpace(day)).Scan(&sum); err != nil {
		return 0, fmt.Errorf("read the ledger %s: %w", l.path, err)
	}
	return float64(sum) / picodollars, nil
}

// Close lets go of the file.
func (l *Ledger) Close() error { return l.db.Close() }
