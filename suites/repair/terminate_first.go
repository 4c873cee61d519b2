package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A static pool at its limit of nodes gets a healthy node for an unhealthy one: Karpenter
// ends the unhealthy node, and launches its successor in its place. There is no room for
// a replacement beside it, and a broken node serves nobody.
//
// Source: feature gate TerminateFirstRepair, since Karpenter 1.15; Karpenter's suite
// "disruption", "terminates first when repairing an at-limit static NodePool".
var _ = Suite.Add(e2e.Spec{
	Name:  "ends an unhealthy node before its successor is launched at a static pool's limit",
	Needs: []providers.Capability{providers.NodePools, providers.NodeRepair, providers.StaticCapacity},
	Gate:  "TerminateFirstRepair",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(1).Limit("nodes", "1")
		env.Create(ctx, pool)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.MakeUnhealthy(ctx, env.Await(ctx, 1, check.InitializedNodes(pool))...)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool).New(before))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), unhealthyNodesGo(env, pool),
			check.Always(check.AtMost(1, check.NodeClaims(pool).Staying())))
		env.Change(ctx, pool.Replicas(0))
		env.Await(ctx, 0, check.NodeClaims(pool))
	},
})
