package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// clusters returns the folder that holds all clusters' folders.
func clusters(cache string) string { return filepath.Join(cache, "clusters") }

// newFolder makes a new folder for a cluster.
func newFolder(ctx context.Context, cache, name string) (*owned.Folder, error) {
	if strings.ContainsAny(cache, " \t\n\"'`$") {
		return nil, fmt.Errorf("the cache's folder %q has a blank, quote or dollar sign in its path, "+
			"which the commands that start the cluster can't carry: set PLUMBLINE_CACHE to a path without", cache)
	}
	return owned.Acquire(ctx, clusters(cache), name)
}

// remove removes a cluster's folder, and what lies outside.
func remove(ctx context.Context, f *owned.Folder) error {
	return errors.Join(removeKubeconfigs(f.Name), f.Remove(ctx))
}

// removeKubeconfigs removes what e2e-framework may have left in the system's
// folder for temporary files if it was interrupted.
func removeKubeconfigs(cluster string) error {
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "kwok-cluster-"+cluster+"-kubecfg*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// reap ends and removes the clusters that nobody holds the lock of.
func reap(ctx context.Context, cache string) (removed []string, err error) {
	return owned.Reap(ctx, clusters(cache), func(ctx context.Context, f *owned.Folder) error {
		// Nobody is left who could want their last words.
		return errors.Join(process.End(ctx, f.Dir, 0), removeKubeconfigs(f.Name))
	})
}
