package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool has as many nodes as replicas, before any pod exists, and never more. It
// is for users that can't wait for a node, and that pay for each node.
//
// Source: spec.replicas of the NodePool API; designs/static-capacity.md.
var _ = Suite.Add(e2e.Spec{
	Name: "has a node for each replica, without any pod",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(3)

		before := env.Mark()
		env.Create(ctx, pool)
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		replicas := check.AtMost(3, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(replicas), replicas.Reached(),
			check.Finally(check.Exactly(3, check.ReadyNodes(pool))))
		removeNodes(ctx, env, pool)
	},
})
