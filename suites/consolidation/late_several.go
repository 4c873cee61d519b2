package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget that is lowered while Karpenter is about to replace several nodes by one counts for
// all of these nodes together. Otherwise it would hold for the first of them alone, and users
// lose more nodes at once than they have just allowed. Here the budget becomes one while two
// nodes are about to go. So they go one after the other.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Control Flow" and "NodePool
// Disruption Budgets".
var _ = Suite.Add(e2e.Spec{
	Name: "removes no more of several nodes at once than a budget allows that was just lowered",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		one, two, app := launchLargeNodes(ctx, env, pool)

		before := env.Mark()
		env.Delete(ctx, one, two)
		env.Observe(ctx, karpenter.ConsolidationBegun)
		env.Change(ctx, pool.Budget("1"))
		env.Await(ctx, 1, check.DisruptedNodes(pool))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Await(ctx, 1, check.Nodes(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.BudgetedNodes(pool))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
	},
})
