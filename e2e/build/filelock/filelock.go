// Package filelock keeps several processes of one machine from doing the same
// thing at once: a lock is a file, held for as long as its holder lives.
//
// The locks are flock(2)'s. They end with the process that holds them, however
// it ends, they're never inherited by its children (Go opens files with
// close-on-exec), and two locks of one process exclude each other as those of
// two processes do.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// retry is how often a lock that is held elsewhere is tried again.
const retry = 50 * time.Millisecond

// ErrHeld is what [Try] returns while somebody else holds the lock.
var ErrHeld = errors.New("held by another process")

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// Try takes the lock at path, or returns [ErrHeld] at once. The file, and the
// folder in which it lies, are made if they aren't there.
func Try(path string) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := lock(file); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{file: file}, nil
}

// Wait takes the lock at path. While somebody else holds it, it waits, having
// told so once by calling held, which may be nil. The error is ctx's cause if
// ctx ends first.
func Wait(ctx context.Context, path string, held func()) (*Lock, error) {
	tick := time.NewTicker(retry)
	defer tick.Stop()
	for {
		l, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		if held != nil {
			held()
			held = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for lock %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// Release gives the lock up. The file stays, unless the holder removed it.
func (l *Lock) Release() { _ = l.file.Close() }

// lock locks the file, if it's still the one that its path leads to: a lock
// on a file that its last holder removed excludes nobody.
func lock(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			return ErrHeld
		}
		if err != nil {
			return err
		}
		break
	}
	ours, err := file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(file.Name())
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(ours, there) {
		return ErrHeld // by the one who removed it a moment ago; the next try makes it anew
	}
	return err
}
