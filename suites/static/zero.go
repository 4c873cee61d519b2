package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool has no nodes at zero replicas, and has nodes again when the replicas are
// raised. Users can remove capacity for a time and keep all its configuration.
//
// Source: spec.replicas of the NodePool API; Karpenter's regression suite, "should scale
// down to zero".
var _ = Suite.Add(e2e.Spec{
	Name: "has no nodes at zero replicas, and gets them back when raised",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(2)
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.Replicas(0))
		env.Await(ctx, 0, check.Nodes(pool))
		env.Await(ctx, 0, check.NodeClaims(pool))
		parked := env.Observe(ctx, karpenter.Settled)
		env.Change(ctx, pool.Replicas(1))
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))

		env.Expect(parked, check.Always(check.None(check.NodeClaims(pool))))
		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
		removeNodes(ctx, env, pool)
	},
})
