package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a drifted node without pods even if its pool doesn't consolidate. It
// launches no replacement, because no pod needs the room. An unused node must not keep an
// old image. Before it drifts, the node stays.
//
// Source: designs/drift.md; spec.disruption.consolidateAfter of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "removes empty nodes and launches nothing, though consolidation is off",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ConsolidateAfter("Never")
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Change(ctx, app.Replicas(0))
		env.Await(ctx, 0, check.PodsOf(app))
		idle := env.Observe(ctx, karpenter.Settled)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(idle, check.Always(check.None(check.DisruptedNodes(pool))))
		env.Expect(env.Since(before), check.ActsOnDrift(pool), check.Always(check.None(check.NodeClaims(pool).New(before))))
	},
})
