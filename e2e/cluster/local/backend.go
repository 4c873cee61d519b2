package local

import (
	"cmp"
	"context"
	"runtime"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// Backend returns the backend whose clusters are processes of this machine.
func Backend() cluster.Backend {
	return cluster.Backend{
		Name: "local", Prepare: Prepare, Start: Start, Bends: clock.Supported,
		Services: runtime.GOOS == "linux", // see serviceAddresses
		Kubernetes: func(o cluster.Options) (string, error) {
			return build.Kubernetes(cmp.Or(o.Kubernetes, cluster.DefaultKubernetes))
		},
		Reap: func(ctx context.Context, _ cluster.Options) ([]string, error) { return Reap(ctx) },
	}
}
