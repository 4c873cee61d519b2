package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter replaces an unhealthy node of a static pool, and its replacement comes first. Users
// count on the replicas, whether pods run on them or not. What it reserves of the pool's limit
// of nodes for that is given back: the pool can grow up to its limit afterwards.
//
// Source: designs/making-node-repair-voluntary.md; designs/static-capacity.md; Karpenter:
// pkg/controllers/disruption/repair.go, computeCommands.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces an unhealthy node, and can then grow up to its limit",
	Needs: []providers.Capability{providers.NodePools, providers.NodeRepair, providers.StaticCapacity},
	Gate:  "NodeRepair",
	Since: e2e.Since{Karpenter: "1.15"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(1).Limit("nodes", "3")
		env.Create(ctx, pool)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.MakeUnhealthy(ctx, env.Await(ctx, 1, check.InitializedNodes(pool))...)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool).New(before))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		repaired := env.Since(before)
		env.Change(ctx, pool.Replicas(3))
		env.Await(ctx, 3, check.InitializedNodeClaims(pool).New(before))

		unhealthy := check.Nodes(pool).With("that are unhealthy", env.Unhealthy())
		env.Expect(repaired, check.LeadsTo(check.AtLeast(1, unhealthy), check.None(unhealthy)),
			check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.While(check.NodeClaims(pool).Deleting().Old(before),
				check.AtLeast(1, check.InitializedNodeClaims(pool).New(before))))
		removeNodes(ctx, env, pool)
	},
})
