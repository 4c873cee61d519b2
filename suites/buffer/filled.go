package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer has room for as many pods as it specifies before any pod exists, and no more.
// Its users cannot wait for a node, and they pay for each node.
//
// Source: spec.replicas of the CapacityBuffer API; designs/capacity-buffers.md;
// Karpenter's regression suite, "should provision buffer capacity using scalableRef
// with fixed replicas".
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nodes before there is any pod",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(2)
		env.Create(ctx, pool, app)

		before := env.Mark()
		env.Create(ctx, buffer)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.LeadsTo(check.AtLeast(1, check.The(buffer)), check.Exactly(2, check.ReadyNodes(pool))))
	},
})
