package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A static pool keeps its nodes over an upgrade, and has neither more nor fewer of them at any
// moment. The new controller must know them before it counts. At the end the pool grows, to show that
// it does count.
//
// Source: spec.replicas of the NodePool API; designs/static-capacity.md.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps the nodes of a static pool",
	Needs:  []providers.Capability{providers.NodePools, providers.StaticCapacity},
	Gate:   "StaticCapacity",
	Since:  e2e.Since{Karpenter: karpenter.StaticCapacitySince},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(3)
		env.Create(ctx, pool)
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))
		env.Await(ctx, 3, check.InitializedNodes(pool))

		before := env.Mark()
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		upgraded := env.Since(before)
		env.Change(ctx, pool.Replicas(4))
		env.Await(ctx, 4, check.InitializedNodeClaims(pool))

		env.Expect(upgraded, check.Always(check.Exactly(3, check.NodeClaims(pool).Staying().Old(before))),
			check.Always(check.Exactly(3, check.NodeClaims(pool))))
		env.Expect(env.Since(before), check.Finally(check.Exactly(3, check.ReadyNodes(pool).Old(before))))
		env.Change(ctx, pool.Replicas(0)) // the clean-up deletes pools and NodeClaims at once
		env.Await(ctx, 0, check.NodeClaims(pool))
	},
})
