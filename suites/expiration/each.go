package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Each node expires at its own age. Nodes launched together expire together, however many
// they are. Nodes launched later expire later. Nothing spreads expiration over time, so
// administrators know how old a node can get.
//
// Source: spec.expireAfter of the NodeClaim API; designs/forceful-expiration.md.
var _ = Suite.Add(e2e.Spec{
	Name: "comes to each node at its own age, however many there are",
	Run: func(ctx context.Context, env *e2e.Env) {
		disk := fixtures.Key("disk")
		pool := fixtures.NodePool().ExpireAfter(ttl.String()).Budget("1").Require(disk, fixtures.In, "slow", "fast")
		first := fixtures.Deployment(4).Select(disk, "slow").On(pool).OnePodPerNode()
		second := fixtures.Deployment(2).Select(disk, "fast").On(pool).OnePodPerNode()
		env.Create(ctx, pool, first)
		env.Await(ctx, 4, check.RunningPods(first))
		env.Observe(ctx, karpenter.Settled)
		env.Create(ctx, second)
		env.Await(ctx, 6, check.InitializedNodes(pool))

		before := env.Mark()
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))

		leaving := check.NodeClaims(pool).Deleting()
		env.Expect(env.Since(before), expires(pool),
			check.Always(check.Each(leaving, "are as old as expireAfter says", check.DeletedAt(ttl, tolerated))),
			check.LeadsTo(check.AtLeast(1, leaving), check.None(check.NodeClaims(pool).Old(before))))
	},
})
