package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/kind"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
)

// backend is a way to make clusters. A new one is a package in e2e/cluster and an
// entry in backends.
type backend struct {
	name string
	// kubernetes completes the version that K8S asks for, given NODE_IMAGE.
	kubernetes func(asked, nodeImage string) (version string, err error)
	// prepare makes sure that clusters can be started, and builds what they need.
	prepare func(ctx context.Context, c *build.Cache, version string) error
	start   func(ctx context.Context, c *build.Cache, o cluster.Options) (cluster.Cluster, error)
	// reap ends what dead runs left behind.
	reap func(ctx context.Context) (removed []string, err error)
	// containers: its nodes run images whatever this machine's system is.
	containers bool
}

// backends are what CLUSTER may say; the first is the default.
func backends() []backend {
	return []backend{
		{name: "local", kubernetes: localKubernetes, prepare: local.Prepare, start: local.Start, reap: local.Reap},
		{name: "kind", kubernetes: kind.Kubernetes, prepare: kindPrepare, start: kind.Start, reap: kind.Reap, containers: true},
	}
}

// procs is how many clusters keep so many CPUs busy, see Speed.procs. A whole node
// for each takes more of them than processes alone.
func (b backend) procs(s Speed, cpus int, memory uint64) int {
	n := s.procs(cpus, memory)
	if b.containers {
		n = min(n, cpus)
	}
	return n
}

func localKubernetes(asked, _ string) (string, error) { return build.Kubernetes(asked) }

func kindPrepare(ctx context.Context, c *build.Cache, _ string) error { return kind.Prepare(ctx, c) }

// backendNamed returns the backend of that name, or the default and an error with
// those that there are.
func backendNamed(name string) (backend, error) {
	var known []string
	for _, b := range backends() {
		if b.name == name {
			return b, nil
		}
		known = append(known, b.name)
	}
	return backends()[0], fmt.Errorf("CLUSTER=%s: there is no such backend; known: %s", name, strings.Join(known, ", "))
}

// Reap ends what dead runs left behind, on every backend, and returns the names of
// the clusters, also if it returns an error about others.
func Reap(ctx context.Context) (removed []string, err error) {
	for _, b := range backends() {
		names, failed := b.reap(ctx)
		removed = append(removed, names...)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("ending what dead runs left behind on %s: %w", b.name, failed))
		}
	}
	return removed, err
}
