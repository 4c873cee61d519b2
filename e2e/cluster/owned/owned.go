// Package owned keeps folders that belong to the process that made them, as long as it lives.
// What a cluster has on this machine is in such a folder or named after it. So a later run can
// recognize what a dead run left, and leaves alone what belongs to living runs or to others.
package owned

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

// Folder is a folder that belongs to the process that holds its lock.
type Folder struct {
	Name string
	Dir  string
	lock *filelock.Lock
}

// lockRoot prevents concurrent creation, removal and inspection of folders. A new folder looks
// dead until it is locked, and a lock attempt recreates a folder that is being removed.
func lockRoot(ctx context.Context, root string) (*filelock.Lock, error) {
	return filelock.Wait(ctx, filepath.Join(root, ".lock"), nil)
}

// Acquire makes a new folder in root, readable by its owner only. The name must be a DNS label
// that no other run uses.
func Acquire(ctx context.Context, root, name string) (*Folder, error) {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return nil, fmt.Errorf("cluster name %q: %s", name, strings.Join(wrong, "; "))
	}
	g, err := lockRoot(ctx, root)
	if err != nil {
		return nil, err
	}
	defer g.Release()

	f := &Folder{Name: name, Dir: filepath.Join(root, name)}
	err = os.Mkdir(f.Dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("a cluster named %q is in use by another run (%s)", name, f.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("folder of cluster %s: %w", name, err)
	}
	if f.lock, err = filelock.Try(f.Path("lock")); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	return f, nil
}

// Path returns a path within the folder.
func (f *Folder) Path(elem ...string) string {
	return filepath.Join(append([]string{f.Dir}, elem...)...)
}

// removeWithin is how long Remove waits for another run's cleanup, which takes seconds.
const removeWithin = time.Minute

// Remove removes the folder and releases it, even if ctx ends. It waits for a minute at most.
// If it fails, the next run removes the folder.
func (f *Folder) Remove(ctx context.Context) error {
	defer f.Release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	g, err := lockRoot(ctx, filepath.Dir(f.Dir))
	if err != nil {
		return err
	}
	defer g.Release()
	return os.RemoveAll(f.Dir)
}

// Release gives the folder up, as the end of its process does. Others may then remove it and
// what it stands for.
func (f *Folder) Release() { f.lock.Release() }

// Reap removes the folders without an owner. For each it first calls end, which ends what the
// folder stands for. It returns their names, even with an error about others.
func Reap(ctx context.Context, root string, end func(context.Context, *Folder) error) (removed []string, err error) {
	g, err := lockRoot(ctx, root)
	if err != nil {
		return nil, err
	}
	defer g.Release()
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("look for clusters of dead runs: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := &Folder{Name: e.Name(), Dir: filepath.Join(root, e.Name())}
		f.lock, err = filelock.Try(f.Path("lock"))
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		if err == nil {
			err = end(ctx, f)
			if err == nil {
				err = os.RemoveAll(f.Dir)
			}
			f.Release()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cluster %s of a dead run: %w", f.Name, err))
			continue
		}
		removed = append(removed, f.Name)
	}
	return removed, errors.Join(errs...)
}
