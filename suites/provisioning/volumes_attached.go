package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod gets a new node if its volume is one too many for the node with room for it.
// Machines can attach only so many disks, and the driver says how many. The scheduler
// keeps to it, so a pod that Karpenter means for the full node stays pending.
//
// Source: https://kubernetes.io/docs/concepts/storage/storage-limits;
// allocatable.count of the CSINode API; Karpenter: pkg/scheduling/volumeusage.go.
var _ = Suite.Add(e2e.Spec{
	Name: "counts the volumes that a node can attach",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		volume, claim := fixtures.DriverVolume()
		more, moreClaim := fixtures.DriverVolume()
		running, late := fixtures.Deployment(1).On(pool).Mount(claim), fixtures.Deployment(1).On(pool).Mount(moreClaim)
		env.Create(ctx, pool, volume, claim, more, moreClaim, running)
		env.Await(ctx, 1, check.RunningPods(running))
		node := env.Await(ctx, 1, check.ReadyNodes(pool))[0]
		env.Create(ctx, fixtures.CSINode(node.Name, 1))
		env.Observe(ctx, karpenter.Settled)
		env.Annotate(ctx, node, fixtures.Key("drivers"), "1") // Karpenter reads limits when a node changes

		before := env.Mark()
		env.Create(ctx, late)
		env.Await(ctx, 1, check.RunningPods(late))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			neverNominated(late, node))
	},
})
