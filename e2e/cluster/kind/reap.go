package kind

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// Reap removes the clusters of dead runs, and returns their names, also if it
// returns an error about others. It touches none that isn't ours.
func Reap(ctx context.Context) (removed []string, err error) {
	cache, err := build.Open(nil)
	if err != nil {
		return nil, fmt.Errorf("look for clusters of dead runs: %w", err)
	}
	return owned.Reap(ctx, clusters(cache.Dir), func(ctx context.Context, f *owned.Folder) error {
		e, err := findEngine(ctx) // which nobody needs who has left nothing
		if err != nil {
			return err
		}
		return newProvider(e, f.Name, f.Path("kubeconfig")).destroy()
	})
}
