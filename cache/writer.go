package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// One group commit takes at most so many entries and bytes: enough to make the
// commit's own cost small, little enough to keep the write lock short.
const (
	maxBatch      = 256
	maxBatchBytes = 8 << 20
)

// busyTries is how often a transaction waits for the write lock, each time for
// the busy timeout of 10 seconds.
const busyTries = 6

// request asks the writer to store one entry, or to run one function with its
// connection.
type request struct {
	put  *entry
	fn   func(*conns) error
	done chan error
}

// submit hands a request to the writer and waits for its outcome.
func (d *Disk) submit(ctx context.Context, r request) error {
	if err := d.enqueue(ctx, r); err != nil {
		return err
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *Disk) enqueue(ctx context.Context, r request) error {
	d.closing.RLock()
	defer d.closing.RUnlock()
	if d.closed {
		return ErrClosed
	}
	select {
	case d.reqs <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do runs fn on the writer's goroutine, between two groups.
func (d *Disk) do(ctx context.Context, fn func(*conns) error) error {
	if d.readOnly {
		return ErrReadOnly
	}
	r := request{fn: fn, done: make(chan error, 1)}
	if err := d.enqueue(ctx, r); err != nil {
		return err
	}
	// To the end, even if ctx ends: fn writes to variables of the caller.
	return <-r.done
}

// write is the writer's goroutine: it takes what is waiting, commits it as one
// group, and tells everybody. It ends when Close closes the channel.
func (d *Disk) write() {
	var batch []request
	for r := range d.reqs {
		var next request
		batch, next = d.gather(append(batch[:0], r))
		d.commit(batch)
		if next.fn != nil {
			next.done <- d.runFn(next.fn)
		}
		clear(batch)
	}
}

// gather adds what is waiting to the group, without waiting for more. A
// function ends the group and is returned apart, to be run after it.
func (d *Disk) gather(batch []request) (group []request, next request) {
	if batch[0].fn != nil {
		return batch[:0], batch[0]
	}
	size := len(batch[0].put.value)
	for len(batch) < maxBatch && size < maxBatchBytes {
		select {
		case r, ok := <-d.reqs:
			switch {
			case !ok:
				return batch, request{}
			case r.fn != nil:
				return batch, r
			}
			batch = append(batch, r)
			size += len(r.put.value)
		default:
			return batch, request{}
		}
	}
	return batch, request{}
}

// commit stores a group in one transaction. If the file turns out to be
// damaged it is replaced and the group is stored in the new one.
func (d *Disk) commit(batch []request) {
	if len(batch) == 0 {
		return
	}
	err := d.inPlace(func(c *conns) error { return c.putAll(batch) })
	if isDamage(err) {
		if _, err = d.replaceDamaged(err); err == nil {
			err = d.inPlace(func(c *conns) error { return c.putAll(batch) })
		}
	}
	if err != nil {
		err = fmt.Errorf("store in the cache %s: %w", d.path, explain(err))
	}
	for _, r := range batch {
		r.done <- err
	}
}

func (d *Disk) runFn(fn func(*conns) error) error {
	return explain(d.inPlace(fn))
}

// inPlace runs fn on the connections of the file that is at the path now. If
// somebody removed or replaced the file since it was opened, SQLite would go on
// writing to a file that nobody will ever read again; so it is opened anew.
func (d *Disk) inPlace(fn func(*conns) error) error {
	if !d.conns.at(d.path) {
		d.warn(fmt.Sprintf("the cache %s was removed or replaced while in use: it is opened anew", d.path))
		if err := d.reopen(); err != nil {
			return err
		}
	}
	// Only this goroutine exchanges the connections, so that it may use them
	// without the lock.
	return fn(d.conns)
}

// reopen exchanges the connections for those of the file now at the path.
func (d *Disk) reopen() error {
	d.swap.Lock()
	defer d.swap.Unlock()
	fresh, err := openOrReplace(d.path, d.warn)
	if err != nil {
		return err
	}
	// The old file is gone or broken: that it can't be closed well says nothing
	// new.
	_ = d.conns.close()
	d.conns = fresh
	return nil
}

// replaceDamaged moves the file aside, unless another process has done so, and
// opens an empty one. It returns the new name of the damaged file, if it moved
// it.
func (d *Disk) replaceDamaged(cause error) (aside string, err error) {
	d.swap.Lock()
	defer d.swap.Unlock()
	d.corrupt.Add(1)
	unlock, err := lockFolder(d.path)
	if err != nil {
		return "", errors.Join(cause, err)
	}
	defer unlock()
	mine := d.conns.at(d.path)
	// Before the move, so that SQLite finds its files under their names.
	_ = d.conns.close()
	if mine {
		if aside, err = moveAside(d.path, cause, d.warn); err != nil {
			return "", err
		}
	}
	fresh, err := openLocked(d.path, d.warn)
	if err != nil {
		return "", err
	}
	d.conns = fresh
	return aside, nil
}

// at reports whether the file at path is still the one that was opened.
func (c *conns) at(path string) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(c.file, now)
}
