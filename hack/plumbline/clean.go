package main

import (
	"context"
	"os"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/existing"
)

// cleanExisting removes what a dead run has left on a cluster of somebody's.
func cleanExisting(ctx context.Context, _ []string) error {
	removed, err := existing.Reap(ctx, os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	if len(removed) == 0 {
		step("there is nothing of ours on the cluster")
	}
	for _, name := range removed {
		step("removed what a dead run has left on " + name)
	}
	return nil
}

// clean removes artifacts and what dead runs have left; living runs keep
// theirs, and the cache of builds stays.
func clean(ctx context.Context, _ []string) error {
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	reaped, err := c.Reap(ctx)
	if err != nil {
		return err
	}
	for _, name := range reaped {
		step("ended what a dead run left behind: " + name)
	}
	step("removing " + c.Artifacts)
	return os.RemoveAll(c.Artifacts)
}
