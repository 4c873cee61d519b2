package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// folder is where a cluster lives. It belongs to whoever holds its lock.
type folder struct {
	name string
	dir  string
	lock *filelock.Lock
}

// clusters is the folder that holds all clusters' folders.
func clusters(cache string) string { return filepath.Join(cache, "clusters") }

// guard keeps runs from making and removing clusters' folders at the same
// time: between the two steps of making one and locking it, it looks dead.
func guard(ctx context.Context, cache string) (*filelock.Lock, error) {
	return filelock.Wait(ctx, filepath.Join(clusters(cache), ".lock"), nil)
}

// claim makes a new folder for a cluster.
func claim(ctx context.Context, cache, name string) (*folder, error) {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return nil, fmt.Errorf("cluster name %q: %s", name, strings.Join(wrong, "; "))
	}
	if strings.ContainsAny(cache, " \t\n\"'`$") {
		return nil, fmt.Errorf("the cache's folder %q has a blank, quote or dollar sign in its path, "+
			"which the commands that start the cluster can't carry: set PLUMBLINE_CACHE to a path without", cache)
	}
	g, err := guard(ctx, cache)
	if err != nil {
		return nil, err
	}
	defer g.Release()

	f := &folder{name: name, dir: filepath.Join(clusters(cache), name)}
	err = os.Mkdir(f.dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("a cluster named %q is in use by another run (%s)", name, f.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("folder of cluster %s: %w", name, err)
	}
	if f.lock, err = filelock.Try(f.path("lock")); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	return f, nil
}

// path is a path within the folder.
func (f *folder) path(elem ...string) string {
	return filepath.Join(append([]string{f.dir}, elem...)...)
}

// remove removes the folder and gives up its lock.
func (f *folder) remove() error {
	err := errors.Join(f.removeKubeconfigs(), os.RemoveAll(f.dir))
	f.lock.Release()
	return err
}

// removeKubeconfigs removes what e2e-framework may have left in the system's
// folder for temporary files if it was interrupted.
func (f *folder) removeKubeconfigs() error {
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "kwok-cluster-"+f.name+"-kubecfg*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// reap ends and removes the clusters that nobody holds the lock of.
func reap(ctx context.Context, cache string) (removed []string, err error) {
	g, err := guard(ctx, cache)
	if err != nil {
		return nil, err
	}
	defer g.Release()
	entries, err := os.ReadDir(clusters(cache))
	if err != nil {
		return nil, fmt.Errorf("look for clusters of dead runs: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := &folder{name: e.Name(), dir: filepath.Join(clusters(cache), e.Name())}
		f.lock, err = filelock.Try(f.path("lock"))
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		if err == nil {
			// Nobody is left who could want their last words.
			err = process.End(ctx, f.dir, 0)
		}
		if err == nil {
			err = f.remove()
		} else if f.lock != nil {
			f.lock.Release()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cluster %s of a dead run: %w", f.name, err))
			continue
		}
		removed = append(removed, f.name)
	}
	return removed, errors.Join(errs...)
}
