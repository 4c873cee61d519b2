package local

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// Reap ends the processes of dead runs' clusters and removes their folders. It leaves alone
// clusters of living runs, and processes whose program isn't in such a folder. It returns the
// names of the removed clusters, even with an error about others.
func Reap(ctx context.Context) (removed []string, err error) {
	cache, err := build.Open(nil)
	if err != nil {
		return nil, fmt.Errorf("look for clusters of dead runs: %w", err)
	}
	return removeDead(ctx, cache.Dir)
}
