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

// clusters returns the parent of all clusters' folders.
func clusters(cache string) string { return filepath.Join(cache, "clusters") }

// newFolder makes a new folder for a cluster.
func newFolder(ctx context.Context, cache, name string) (*owned.Folder, error) {
	if strings.ContainsAny(cache, " \t\n\"'`$") {
		return nil, fmt.Errorf("the cache's folder %q has a blank, quote or dollar sign in its path, "+
			"which the commands that start the cluster can't carry: set PLUMBLINE_CACHE to a path without", cache)
	}
	return owned.Acquire(ctx, clusters(cache), name)
}

// remove removes a cluster's folder and its files elsewhere.
func remove(ctx context.Context, f *owned.Folder) error {
	return errors.Join(removeKubeconfigs(f.Name), f.Remove(ctx))
}

// removeKubeconfigs removes temporary files that an interrupted e2e-framework may have left.
func removeKubeconfigs(cluster string) error {
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "kwok-cluster-"+cluster+"-kubecfg*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// removeDead ends and removes the clusters without a held lock.
func removeDead(ctx context.Context, cache string) (removed []string, err error) {
	return owned.Reap(ctx, clusters(cache), func(ctx context.Context, f *owned.Folder) error {
		// No grace period: nobody needs the end of their logs.
		return errors.Join(process.End(ctx, f.Dir, 0), removeKubeconfigs(f.Name))
	})
}
