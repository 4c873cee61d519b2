package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With the policy WhenEmpty, Karpenter removes a node only after its last pod has left
// it. Users set this policy to save on idle nodes without moving pods. Here one of three
// nodes is empty, and the pods of the other two would fit on one node.
//
// Source: spec.disruption.consolidationPolicy of the NodePool API;
// https://karpenter.sh/docs/concepts/disruption, "Consolidation".
var _ = Suite.Add(e2e.Spec{
	Name: "removes empty nodes and no others when its policy is WhenEmpty",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app, first := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool).HostPort(port)
		second, third := fixtures.Deployment(1).On(pool).HostPort(port), fixtures.Deployment(1).On(pool).HostPort(port)
		env.Create(ctx, pool, app, first)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, second, third)
		env.Await(ctx, 1, check.RunningPods(second))
		env.Await(ctx, 1, check.RunningPods(third))

		before := env.Mark()
		env.Delete(ctx, first, third)
		env.Change(ctx, pool.Consolidate(fixtures.WhenEmpty))
		env.Await(ctx, 1, check.DisruptedNodes(pool))
		env.Observe(ctx, karpenter.ConsolidationDecided)

		emptied := check.None(check.PodsOf(third))
		env.Expect(env.Since(before),
			check.Always(check.When(emptied, neverDisrupted(app, pool))),
			check.Always(check.When(emptied, neverDisrupted(second, pool))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(2, check.Nodes(pool))))
	},
})
