package main

import (
	"context"
	"os"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/existing"
)

// cleanExisting removes what dead runs left on the cluster of KUBECONFIG.
func cleanExisting(ctx context.Context, _ []string) error {
	removed, err := existing.Reap(ctx, os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	if len(removed) == 0 {
		step("the cluster has nothing that a run left")
	}
	for _, name := range removed {
		step("removed what a dead run left on " + name)
	}
	return nil
}

// clean removes artifacts and what dead runs left. It keeps living runs and the build cache.
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
