package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod with a volume waits for a node that is starting if the node is in one of the zones that reach
// the volume, and gets a node of its own otherwise. A second node costs money for nothing. A node
// that can't reach the volume never runs the pod. Here a startup taint keeps the node starting.
//
// Source: nodeSelectorTerms in nodeAffinity of the PersistentVolume API, of which one must match;
// https://karpenter.sh/docs/concepts/scheduling, "Persistent volume topology".
var _ = e2e.Table(Suite, map[string]reach{
	"second-zone": {"launches no node for a pod if one starts in the second zone of its volume", 1, func(
		here, there string,
	) *fixtures.ZonalVolume {
		return fixtures.BoundZonalVolume(there, here)
	}, firstAlternative},
	"other-zone": {"launches a node for a pod although one starts that can't reach its volume", 2, func(
		_, there string,
	) *fixtures.ZonalVolume {
		return fixtures.BoundZonalVolume(there)
	}, nil},
}, func(row reach) e2e.Spec {
	return e2e.Spec{
		Name:  row.what,
		Known: row.known,
		Needs: []providers.Capability{providers.NodePools, providers.Zones},
		Run: func(ctx context.Context, env *e2e.Env) {
			here, there := env.TwoZones(ctx, fixtures.NodePool())
			starting := fixtures.Key("starting")
			pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
			first, app := fixtures.Deployment(1).On(pool).Select(zone, here), fixtures.Deployment(1).On(pool)
			disks := mounted(app, row.disk(here, there))
			env.Create(ctx, disks...)

			before := env.Mark()
			env.Create(ctx, pool, first)
			env.Await(ctx, 1, check.StartingNodes(pool, starting))
			env.Create(ctx, app)
			env.Observe(ctx, karpenter.Settled)
			waiting := env.Since(before)
			env.KeepUntainted(ctx, check.Nodes(pool), starting)
			env.Await(ctx, 1, check.RunningPods(app))

			env.Expect(waiting, check.EndsWith(app, check.Exactly(row.nodes, check.NodeClaims(pool))))
			env.Expect(env.Since(before), check.Always(check.AtMost(row.nodes, check.NodeClaims(pool))))
		},
	}
})

// reach is a volume that a pod mounts while a node starts, and how many nodes there are with the pod's.
type reach struct {
	what  string
	nodes int
	disk  func(here, there string) *fixtures.ZonalVolume
	known []e2e.Known
}
