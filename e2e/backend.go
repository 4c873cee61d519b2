package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/existing"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/kind"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
)

// backend is a way to come by clusters. A new one is a package in e2e/cluster and an
// entry in backends.
type backend struct {
	name string
	// kubernetes completes the version that K8S asks for, empty if it asks for none.
	kubernetes func(o cluster.Options) (version string, err error)
	// prepare makes sure that clusters can be started, and builds what they need.
	prepare func(ctx context.Context, c *build.Cache, o cluster.Options) error
	start   func(ctx context.Context, c *build.Cache, o cluster.Options) (cluster.Cluster, error)
	// reap ends what dead runs left behind.
	reap func(ctx context.Context) (removed []string, err error)
	// containers: its nodes run images whatever this machine's system is.
	containers bool
	// guest is how to behave on a cluster that is somebody else's, of which there is but
	// one; nil: clusters are made.
	guest *guest
}

// guest is what a backend does for which no cluster is made.
type guest struct {
	// look says all that is in the way, before anything is built. The image is the
	// provider's, empty if that is built.
	look func(ctx context.Context, o cluster.Options, image string) error
	// try makes sure that the cluster would take these objects, without storing any.
	try func(ctx context.Context, kubeconfig string, objects []*unstructured.Unstructured) error
	// namespace is where the provider goes, whatever its adapter says.
	namespace string
}

// defaultKubernetes is the minor version of clusters that are made.
const defaultKubernetes = "1.36"

// backends are what CLUSTER may say; the first is the default.
func backends() []backend {
	return []backend{
		{
			name: "local", start: local.Start, reap: local.Reap,
			kubernetes: func(o cluster.Options) (string, error) {
				return build.Kubernetes(cmp.Or(o.Kubernetes, defaultKubernetes))
			},
			prepare: func(ctx context.Context, c *build.Cache, o cluster.Options) error {
				return local.Prepare(ctx, c, o.Kubernetes)
			},
		},
		{
			name: "kind", start: kind.Start, reap: kind.Reap, containers: true,
			kubernetes: func(o cluster.Options) (string, error) {
				return kind.Kubernetes(cmp.Or(o.Kubernetes, defaultKubernetes), o.NodeImage)
			},
			prepare: func(ctx context.Context, c *build.Cache, _ cluster.Options) error { return kind.Prepare(ctx, c) },
		},
		{
			name: "existing", start: existing.Start, reap: reapExisting, prepare: existing.Prepare, containers: true,
			guest:      &guest{look: existing.Check, try: existing.Try, namespace: existing.ProviderNamespace},
			kubernetes: func(o cluster.Options) (string, error) { return existing.Kubernetes(o.Kubeconfig, o.Kubernetes) },
		},
	}
}

// reapExisting looks at the cluster of KUBECONFIG, if that is what is worked on.
func reapExisting(ctx context.Context) (removed []string, err error) {
	if os.Getenv("CLUSTER") != "existing" {
		return nil, nil
	}
	return existing.Reap(ctx, os.Getenv("KUBECONFIG"))
}

// procs is how many clusters keep so many CPUs busy, see Speed.procs. A whole node
// for each takes more of them than processes alone.
func (b backend) procs(s Speed, cpus int, memory uint64) int {
	switch n := s.procs(cpus, memory); {
	case b.guest != nil:
		return 1
	case b.containers:
		return min(n, cpus)
	default:
		return n
	}
}

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
