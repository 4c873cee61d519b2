package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer has room on one node for pods that can share it, and says that all of them have
// room. Most pods are smaller than nodes, and a node for each would cost more than the pods.
//
// Source: designs/capacity-buffers.md; condition Provisioning of the CapacityBuffer API.
var _ = Suite.Add(e2e.Spec{
	Name: "has room on one node for pods that can share it",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(0).CPU("1").On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(3)
		env.Create(ctx, pool, app)

		before := env.Mark()
		env.Create(ctx, buffer)
		env.Await(ctx, 1, check.The(buffer).In(provisioned))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.LeadsTo(check.AtLeast(1, check.The(buffer)),
				check.Exactly(1, check.InitializedNodeClaims(pool).With("for three pods", check.RequestingCPUs("3")))))
	},
})
