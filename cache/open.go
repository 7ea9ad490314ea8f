package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockWait bounds the wait for another process that is opening or replacing the
// same file; each holds the lock for some milliseconds.
const lockWait = 30 * time.Second

// openOrReplace opens the cache for writing. A file that is damaged is moved
// aside and replaced by an empty one.
func openOrReplace(path string, warn func(string)) (*conns, error) {
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return nil, unwritable(err)
	}
	unlock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, err := openLocked(path, warn)
	if !isDamage(err) {
		return c, err
	}
	if _, err := moveAside(path, err, warn); err != nil {
		return nil, err
	}
	return openLocked(path, warn)
}

// openLocked opens or creates the file. The caller holds the lock.
func openLocked(path string, warn func(string)) (*conns, error) {
	if err := makeFile(path); err != nil {
		return nil, unwritable(err)
	}
	c, err := connect(path)
	if err != nil {
		return nil, err
	}
	if err := narrow(path, warn); err != nil {
		_ = c.close()
		return nil, err
	}
	return c, nil
}

// narrow takes the rights of group and others from the cache's files. SQLite
// gives -wal and -shm the mode that the database had when they were made.
func narrow(path string, warn func(string)) error {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(name, 0o600); err != nil {
			return fmt.Errorf("make the cache private: %w", err)
		}
		warn(fmt.Sprintf("the cache file %s could be read by others (mode %04o): its mode is now 0600", name, info.Mode().Perm()))
	}
	return nil
}

// makeFolder makes the folder and its missing parents with mode 0700. It sets
// the mode of those it made once more, for a umask that would take the owner's
// own rights away.
func makeFolder(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil // another process was quicker
		}
		return err
	}
	return os.Chmod(dir, 0o700)
}

// makeFile creates the database file with mode 0600 if it is missing. An
// existing file is never opened here: closing it would drop the locks that
// SQLite holds on it elsewhere in this process.
func makeFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(f.Chmod(0o600), f.Close())
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: give the path of the cache's database file", path)
	}
	return nil
}

// lockFolder keeps other processes from opening, creating or replacing the
// file at the same time. It does not keep them from using it.
func lockFolder(path string) (unlock func(), err error) {
	l := flock.New(path+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := l.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("another process has held %s.lock for %v", path, lockWait)
		}
		return nil, unwritable(err)
	}
	// The umask may have narrowed the mode; that the file is not ours to change
	// does not matter.
	_ = os.Chmod(path+".lock", 0o600)
	return func() { _ = l.Close() }, nil
}

// moveAside gives a damaged database, with its write-ahead log, a name that
// tells when, says so, and returns that name. The caller holds the lock.
func moveAside(path string, cause error, warn func(string)) (aside string, err error) {
	aside = path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000000Z")
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("%w (%w), and it can't be moved aside: %w", ErrDamaged, cause, err)
	}
	// The log belongs to the damaged file: next to the new one SQLite would
	// take it for the new one's.
	if err := os.Rename(path+"-wal", aside+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("move the log of the damaged cache aside: %w", err)
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("remove the index of the damaged cache: %w", err)
	}
	warn(fmt.Sprintf("the cache %s is damaged (%v): it is now %s, and an empty one takes its place", path, cause, aside))
	return aside, nil
}

// unwritable adds to an error of the file system what the user can do.
func unwritable(err error) error {
	return fmt.Errorf("%w: choose a folder that can be written (--cache-dir, RAGJUDGE_CACHE), or switch the cache off", err)
}

// openReadOnly opens an existing cache without touching its folder.
//
// SQLite reads a database with a write-ahead log only together with its shared
// index (-shm), which it would create. So: where a live log with its index is
// there, the file is opened as a reader beside the writer; otherwise the main
// file holds everything and is opened as one that does not change (immutable).
// refreshReadOnly notices when it does after all.
func openReadOnly(path string, warn func(string)) (*conns, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: give the path of the cache's database file", path)
	}
	wal := walSize(path)
	_, shmErr := os.Stat(path + "-shm")
	live := wal > 0 && shmErr == nil
	if wal > 0 && !live {
		warn(fmt.Sprintf("the cache %s has a log of %d bytes that can't be read without writing: its newest entries count as missing", path, wal))
	}
	c, err := connectReadOnly(path, live)
	if isDamage(err) {
		return nil, fmt.Errorf("%w (%w): open it for writing once to have it replaced by an empty one", ErrDamaged, err)
	}
	if err != nil {
		return nil, err
	}
	c.file, c.wal = info, wal
	return c, nil
}

// walSize is the size of the write-ahead log; 0 where there is none.
func walSize(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// refreshReadOnly opens the file anew if it has changed since it was opened,
// and reports whether it did. It is asked only at a miss, which costs a paid
// call otherwise.
func (d *Disk) refreshReadOnly() bool {
	d.swap.Lock()
	defer d.swap.Unlock()
	c := d.conns
	if c == nil || !c.stale(d.path) {
		return false
	}
	fresh, err := openReadOnly(d.path, func(string) {})
	if err != nil {
		return false
	}
	_ = c.close()
	d.conns = fresh
	return true
}

// stale reports whether what was opened for reading is no longer what is there.
func (c *conns) stale(path string) bool {
	now, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !os.SameFile(c.file, now) {
		return true
	}
	if c.live {
		return false
	}
	return now.Size() != c.file.Size() || !now.ModTime().Equal(c.file.ModTime()) || walSize(path) != c.wal
}
