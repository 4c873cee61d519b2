package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool at its limit of nodes drifts nevertheless: Karpenter ends a node, and
// launches its successor in its place. Users with a fixed quota, such as reserved
// machines, have no room for a replacement, and would keep their old images for ever.
//
// Source: feature gate TerminateFirstDrift, since Karpenter 1.15; Karpenter's suite
// "disruption", "terminates first when drifting an at-limit static NodePool".
var _ = Suite.Add(e2e.Spec{
	Name:  "drifts at a limit of nodes by ending a node before its successor is launched",
	Gate:  "TerminateFirstDrift",
	Since: e2e.Since{Karpenter: "1.15"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(2).Limit("nodes", "2").Budget("1")
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.InitializedNodeClaims(pool).New(before))
		awaitRest(ctx, env, pool, before)

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.Always(check.AtMost(2, check.NodeClaims(pool).Staying())),
			check.Always(check.AtLeast(1, check.ReadyNodes(pool).Staying())),
			check.While(check.NodeClaims(pool).New(before), check.AtMost(1, check.NodeClaims(pool).Staying().Old(before))))
		removeNodes(ctx, env, pool)
	},
})
