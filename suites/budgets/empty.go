package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter never removes more empty nodes at once than the budget allows. Emptiness
// takes many nodes in one decision, so counting only between decisions would exceed the
// budget. Here two of three nodes may go at once.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "are never exceeded when empty nodes are removed",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("0").Consolidate(fixtures.WhenEmpty)
		app := fixtures.Deployment(3).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, app)
		// Karpenter may look again as soon as one node is empty long enough, and sees no other then.
		env.Await(ctx, 3, check.NodeClaims(pool).In(karpenter.Consolidatable))
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, pool.NoBudgets().Budget("2"))
		env.Await(ctx, 1, check.Nodes(pool))

		empty := check.AllOf(check.None(check.PodsOf(app)), check.AtLeast(1, check.Nodes(pool)))
		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.BudgetedNodes(pool))),
			check.LeadsTo(empty, check.Exactly(2, check.BudgetedNodes(pool))))
	},
})
