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

// backends returns the possible values of CLUSTER. The first is the default.
func backends() []cluster.Backend {
	return []cluster.Backend{
		local.Backend(),
		kind.Backend(),
		existing.Backend(),
	}
}

// selectedBackend returns the backend that CLUSTER names. For an unknown name it returns the
// default and an error with the known names.
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

// backendsThat returns the settings of CLUSTER for backends that can do something.
func backendsThat(can func(cluster.Backend) bool) string {
	var names []string
	for _, b := range backends() {
		if can(b) {
			names = append(names, "CLUSTER="+b.Name)
		}
	}
	return strings.Join(names, " or ")
}

// Reap ends what dead runs left behind: on every backend that creates clusters, and on the
// existing cluster if the configuration names it. It returns the clusters' names, even with an
// error about others.
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
