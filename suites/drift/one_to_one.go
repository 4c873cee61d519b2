package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches one replacement for each drifted node, and no more nodes for the
// pods that move. Users notice the cost of three nodes in place of one.
//
// Source: designs/drift.md.
var _ = Suite.Add(e2e.Spec{
	Name: "launches one replacement for each node",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(5).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 5, check.RunningPods(app))
		env.Await(ctx, 1, check.ReadyNodes(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 5, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})
