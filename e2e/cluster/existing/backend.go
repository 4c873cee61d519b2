package existing

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// Backend returns the backend that uses the cluster of KUBECONFIG.
func Backend() cluster.Backend {
	return cluster.Backend{
		Name: "existing", Prepare: Prepare, Start: Start, Containers: true, Services: true,
		Guest: &cluster.Guest{Look: Check, Try: Try, Namespace: ProviderNamespace},
		Kubernetes: func(o cluster.Options) (string, error) {
			return Kubernetes(o.Kubeconfig, o.Kubernetes)
		},
		Reap: func(ctx context.Context, o cluster.Options) ([]string, error) { return Reap(ctx, o.Kubeconfig) },
	}
}
