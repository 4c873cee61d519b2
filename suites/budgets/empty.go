package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Nodes that have become empty are removed, but never more of them at once than
// the budget allows: emptiness takes many in one decision, so that counting
// between decisions only would break the promise. Of three here two may go.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "are never exceeded when empty nodes are removed",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("2")
		app := fixtures.Deployment(3).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, app)
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, pool.Consolidate(fixtures.WhenEmpty))
		env.Await(ctx, 1, check.Nodes(pool))

		empty := check.AllOf(check.None(check.PodsOf(app)), check.AtLeast(1, check.Nodes(pool)))
		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, disrupting(pool))),
			check.LeadsTo(empty, check.Exactly(2, disrupting(pool))))
	},
})
