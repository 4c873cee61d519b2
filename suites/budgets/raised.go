package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget that is raised during a disruption applies at once. So a user can speed up a
// slow update before it is over. Nodes that are disrupted under the old budget still
// count.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "can be raised while nodes are being disrupted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("1")
		app := lingeringPods(pool, 3)
		env.Launch(ctx, 3, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 3, outdatedNodeClaims(pool))
		env.Await(ctx, 1, check.BudgetedNodes(pool))
		env.Observe(ctx, pressed)
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.BudgetedNodes(pool))), usedUp(1, pool))

		raised := env.Mark()
		env.Change(ctx, pool.NoBudgets().Budget("2"))
		env.Await(ctx, 2, check.BudgetedNodes(pool))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Expect(env.Since(raised), check.Always(check.AtMost(2, check.BudgetedNodes(pool))))
	},
})
