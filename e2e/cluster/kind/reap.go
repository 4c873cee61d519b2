package kind

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// Reap removes the clusters of dead runs, and returns their names, even with an error about
// others. It touches no other clusters.
func Reap(ctx context.Context) (removed []string, err error) {
	cache, err := build.Open(nil)
	if err != nil {
		return nil, fmt.Errorf("look for clusters of dead runs: %w", err)
	}
	return owned.Reap(ctx, clusters(cache.Dir), func(ctx context.Context, f *owned.Folder) error {
		e, err := findEngine(ctx) // only needed if there are leftovers
		if err != nil {
			return err
		}
		return newProvider(e, f.Name, f.Path("kubeconfig")).destroy()
	})
}
