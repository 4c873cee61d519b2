// Package owned keeps folders that belong to the process that made them for as
// long as it lives. What a cluster has on this machine lies in such a folder, or is
// named after it, so that a later run can tell what a dead one left behind from what
// belongs to a living one, and from what is none of ours.
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

// Folder belongs to whoever holds its lock.
type Folder struct {
	Name string
	Dir  string
	lock *filelock.Lock
}

// lockRoot keeps runs from making, removing and looking at folders at the same time:
// between being made and being locked one looks dead, and whoever tries the lock of
// one that is being removed makes it anew.
func lockRoot(ctx context.Context, root string) (*filelock.Lock, error) {
	return filelock.Wait(ctx, filepath.Join(root, ".lock"), nil)
}

// Acquire makes a new folder in root, readable by its owner only. The name must be
// a DNS label, and none that another run uses.
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

// removeWithin is how long Remove waits for another run that removes what dead runs left,
// which takes seconds.
const removeWithin = time.Minute

// Remove removes the folder and gives it up. It goes on when ctx ends, for a minute
// at most; if it fails, the folder is there for the next run to remove.
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

// Release gives the folder up, as the end of its owner's process does: what it
// stands for is there for others to remove.
func (f *Folder) Release() { f.lock.Release() }

// Reap removes the folders that nobody owns any more, each after end has ended
// what it stands for. It returns their names, also if it returns an error about others.
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
