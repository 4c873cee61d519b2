package local

import (
	"context"
	"path/filepath"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// Prepare builds the programs for o.Kubernetes that aren't in the cache.
func Prepare(ctx context.Context, c *build.Cache, o cluster.Options) error {
	_, err := binaries(ctx, c, o.Kubernetes)
	return err
}

// Processes returns the process IDs of a running cluster, including the provider's pods.
func Processes(c *build.Cache, name string) ([]int, error) {
	all, err := process.Within(filepath.Join(clusters(c.Dir), name))
	if err != nil {
		return nil, err
	}
	pids := make([]int, len(all))
	for i, p := range all {
		pids[i] = p.PID
	}
	return pids, nil
}
