// Package filelock locks files, so that only one process on a machine does a task at a time.
//
// The locks are from flock(2). They end with the process, and children don't inherit them (Go
// opens files with close-on-exec). Two locks of one process also exclude each other.
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

// retry is the interval between attempts to take a lock.
const retry = 50 * time.Millisecond

// ErrHeld is the error of [Try] if the lock is already held.
var ErrHeld = errors.New("held by another process")

// Lock is a held lock.
type Lock struct{ file *os.File }

// Try takes the lock at path, or returns [ErrHeld] at once. It creates the file and its folder
// if they are missing.
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

// Wait takes the lock at path, and waits while it is held. Before it waits, it calls held
// once, which may be nil. If ctx ends first, the error is ctx's cause.
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

// Release releases the lock. The file stays, unless the holder removed it.
func (l *Lock) Release() { _ = l.file.Close() }

// lock locks the file. It returns ErrHeld if the path no longer leads to the file, because a
// lock on a removed file excludes nobody.
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
		return ErrHeld // by the process that just removed it; the next Try creates it again
	}
	return err
}
