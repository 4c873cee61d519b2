package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/existing"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/kind"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
)

// backends are what CLUSTER may say; the first is the default.
func backends() []cluster.Backend {
	return []cluster.Backend{
		local.Backend(),
		kind.Backend(),
		existing.Backend(),
	}
}

// selectedBackend returns the backend that CLUSTER names, or the default and an error
// with those that there are.
func selectedBackend() (cluster.Backend, error) {
	name := os.Getenv("CLUSTER")
	var known []string
	for _, b := range backends() {
		if b.Name == name || name == "" {
			return b, nil
		}
		known = append(known, b.Name)
	}
	return backends()[0], fmt.Errorf("CLUSTER=%s: there is no such backend; known: %s", name, strings.Join(known, ", "))
}

// backendsThat says how to choose a backend that can do something.
func backendsThat(can func(cluster.Backend) bool) string {
	var names []string
	for _, b := range backends() {
		if can(b) {
			names = append(names, "CLUSTER="+b.Name)
		}
	}
	return strings.Join(names, " or ")
}

// Reap ends what dead runs left behind, on every backend that makes clusters and on the
// cluster that the configuration names, and returns the names of the clusters, also if it
// returns an error about others.
func (c Config) Reap(ctx context.Context) (removed []string, err error) {
	for _, b := range backends() {
		if b.Guest != nil && b.Name != c.backend.Name {
			continue
		}
		names, failed := b.Reap(ctx, c.options())
		removed = append(removed, names...)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("ending what dead runs left behind on %s: %w", b.Name, failed))
		}
	}
	return removed, err
}
