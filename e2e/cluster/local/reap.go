package local

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// Reap ends what dead runs left behind: the processes of clusters whose runner
// is gone, and their folders. It leaves alone what a living run owns, and every
// process whose program doesn't lie in such a folder. It returns the names of
// the clusters that it removed, also if it returns an error about others.
func Reap(ctx context.Context) (removed []string, err error) {
	cache, err := build.Open(nil)
	if err != nil {
		return nil, fmt.Errorf("look for clusters of dead runs: %w", err)
	}
	return reap(ctx, cache.Dir)
}
