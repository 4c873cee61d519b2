package kind

import (
	"cmp"
	"context"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// Backend returns the backend that makes kind clusters.
func Backend() cluster.Backend {
	return cluster.Backend{
		Name: "kind", Prepare: Prepare, Start: Start, Containers: true, NodeImages: true, Services: true,
		Kubernetes: func(o cluster.Options) (string, error) {
			return Kubernetes(cmp.Or(o.Kubernetes, cluster.DefaultKubernetes), o.NodeImage)
		},
		Reap: func(ctx context.Context, _ cluster.Options) ([]string, error) { return Reap(ctx) },
	}
}
